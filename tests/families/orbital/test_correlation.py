"""Family orbital-correlation: the measured state, the decoys, the rules that refuse, and the wrong ways."""

from __future__ import annotations

import json
import math
from itertools import islice
from pathlib import Path

import msgspec
import pytest

from steelyard.errors import InputError
from steelyard.families.orbital import correlation_items, sky, tle
from steelyard.families.orbital.correlation_items import (
    SEPARATION,
    Asked,
    correlation,
    distances_km,
    prompt,
    read_prompt,
    refusal,
)
from steelyard.families.orbital.elements import period_min
from steelyard.item import Item

pytest.importorskip("numpy", reason="needs the extra orbital")
pytest.importorskip("sgp4", reason="needs the extra orbital")


@pytest.fixture(scope="module")
def items() -> list[Item]:
    return list(islice(correlation.make(0), 30))


def _asked(items: list[Item], level: str) -> Asked:
    return read_prompt(next(i for i in items if i.difficulty == level).prompt)


def test_the_second_candidate_is_20_times_the_noise_away(items) -> None:
    """The nearest is within five standard deviations, the next far outside. [T-3]"""
    for item in items:
        asked = read_prompt(item.prompt)
        (best, number), (second, _) = distances_km(asked)[:2]
        assert best <= 5 * asked.noise_km + 0.01
        assert second >= SEPARATION * asked.noise_km
        assert json.loads(item.target) == {"object": number}


def test_the_measured_velocity_is_that_of_the_object_in_the_named_frame(items) -> None:
    """Position and velocity agree with the gold in TEME and in ITRS alike, within the noise. [T-4]"""
    for level in ("easy", "medium", "hard"):
        asked = _asked(items, level)
        number = distances_km(asked)[0][1]
        truth = [e for e in asked.candidates if e.norad_id == number]
        _, velocity = correlation_items._states(truth, asked.when, asked.frame)
        off_m_s = math.dist(velocity[0].tolist(), asked.velocity_km_s) * 1000
        assert off_m_s < 6 * asked.noise_km


def test_levels_differ_in_frame_and_number_of_candidates(items) -> None:
    """Five in TEME, twelve in TEME, twenty in ITRS. [T-3]"""
    shapes = {
        level: (len(a.candidates), a.frame) for level in ("easy", "medium", "hard") for a in [_asked(items, level)]
    }
    assert shapes == {"easy": (5, "TEME"), "medium": (12, "TEME"), "hard": (20, "ITRS")}


def test_candidates_are_distinct_and_in_no_telling_place(items) -> None:
    """No number repeats, and the right one stands in many places. [T-3]"""
    places = set()
    for item in items:
        numbers = [e.norad_id for e in read_prompt(item.prompt).candidates]
        assert len(set(numbers)) == len(numbers)
        places.add(numbers.index(json.loads(item.target)["object"]) / len(numbers))
    assert len(places) > 8


def test_the_shape_and_the_plane_alone_do_not_answer(items) -> None:
    """Of the medium items, most are answered wrongly by size alone and by plane alone. [T-3]"""
    medium = [i for i in items if i.difficulty == "medium"]
    for name in ("size-alone", "plane-alone"):
        misled = sum(correlation.spoil[name].make(item) is not None for item in medium)
        assert misled > len(medium) / 2, name


def test_two_families_of_orbits_stand_in_a_list(items) -> None:
    """Being one of four on an orbit does not single the object out: a neighbour has companions as well. [T-3]"""
    for item in (i for i in items if i.difficulty == "hard"):
        asked = read_prompt(item.prompt)
        periods = [round(period_min(e), 4) for e in asked.candidates]
        assert sum(periods.count(one) >= 4 for one in set(periods)) >= 2


def test_each_rule_refuses_by_its_name(items) -> None:
    """A near second, an old epoch and a candidate without a state. [T-3]"""
    asked = _asked(items, "easy")
    twin = msgspec.structs.replace(asked.candidates[0], norad_id=100_999)
    first = distances_km(msgspec.structs.replace(asked, candidates=asked.candidates[:1]))[0][0]
    near = msgspec.structs.replace(asked, candidates=[asked.candidates[0], twin], noise_km=first)
    old = msgspec.structs.replace(asked.candidates[0], epoch=asked.when.replace(month=6, day=20))
    gone = msgspec.structs.replace(asked.candidates[0], mean_motion_rev_per_day=19.0, eccentricity=0.0)
    refused = [
        refusal(one)
        for one in (
            near,
            msgspec.structs.replace(asked, candidates=[*asked.candidates, old]),
            msgspec.structs.replace(asked, candidates=[*asked.candidates, gone]),
        )
    ]
    assert refused == ["second-candidate", "stale-epoch", "no-state"]


def test_a_catalogue_of_fewer_objects_than_a_level_shows_is_refused_by_rule(tmp_path: Path) -> None:
    """One object alone gives nothing and no error; seven give the five of an easy item and nothing harder. [T-3]"""
    for count, levels in ((1, []), (7, ["easy"])):
        path = tmp_path / f"{count}.tle"
        path.write_text("\n".join(line for e in sky.catalogue("few", count) for line in tle.write_lines(e)))
        found = list(correlation.make(0, catalogue=str(path)))
        assert [item.difficulty for item in found] == levels
        assert all(len(read_prompt(item.prompt).candidates) == 5 for item in found)
        assert correlation_items.refusals(0, catalogue=str(path))["few-candidates"] > 0


def test_a_prompt_gives_back_what_it_was_made_from(items) -> None:
    """Reading a prompt and printing it again is the same text. [T-4]"""
    for item in items[:6]:
        assert prompt(read_prompt(item.prompt)) == item.prompt


def test_the_number_in_the_answer_is_the_one_that_the_element_set_carries(items) -> None:
    """Six-digit numbers stand as Alpha-5 in the sets and in digits before them. [T-38]"""
    item = items[0]
    number = json.loads(item.target)["object"]
    assert f"Object {number}:\n1 {tle.to_alpha5(number)}U" in item.prompt


def test_a_prompt_of_another_family_is_refused() -> None:
    """Reading back a text without a state is an error. [T-3]"""
    with pytest.raises(InputError, match="no measured state"):
        read_prompt("What is the period?")
