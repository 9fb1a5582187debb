"""Families orbital-conjunction, -encounter and -partner: what they have in common, and the miss distance itself."""

import json
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

import msgspec
import pytest

from judged import verdict_of
from steelyard.errors import InputError
from steelyard.families.orbital import encounter_items, encounter_prompts, sky, tle
from steelyard.families.orbital.ambiguity import RULES
from steelyard.families.orbital.catalogue import catalogue_text
from steelyard.families.orbital.conjunction_items import conjunction
from steelyard.families.orbital.encounter_items import encounter
from steelyard.families.orbital.encounters import Window, meeting, rough_minima_km, taken_for_brouwer
from steelyard.families.orbital.partner_items import partner
from steelyard.item import Item
from steelyard.verifiers.registry import bind, declared_misses

pytest.importorskip("sgp4", reason="needs the extra orbital")

SMALL = {"objects": 700}
FAMILIES = [conjunction, encounter, partner]
IDS = [family.name for family in FAMILIES]
N = 4


@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
def test_the_first_items_do_not_depend_on_how_many_are_taken(family) -> None:
    """`make` is prefix-stable, and ids do not repeat. [T-3]"""
    few, many = (list(islice(family.make(5, **SMALL), n)) for n in (2, N))
    assert few == many[:2]
    assert len({item.id for item in many}) == len({item.prompt for item in many}) == N


@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
def test_solve_never_reads_the_target_and_passes(family) -> None:
    """With the target blanked the reference is the same, and the item's verifier accepts it. [T-4]"""
    for item in islice(family.make(5, **SMALL), N):
        answer = family.solve(msgspec.structs.replace(item, target=""))
        assert verdict_of(item, answer).passed is True, (item.id, answer)


@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
def test_every_spoil_that_applies_fails_as_named(family) -> None:
    """A wrong attempt raises one of its misses, and every spoil applies to some item. [T-3]"""
    tried: Counter[str] = Counter()
    for item in islice(family.make(5, **SMALL), N):
        declared = declared_misses(bind(item))
        for name, spoil in family.spoil.items():
            answer = spoil.make(item)
            if answer is None:
                continue
            tried[name] += 1
            verdict = verdict_of(item, answer)
            assert set(spoil.misses) <= declared, name
            assert verdict.passed is False, (name, answer, item.target)
            assert {miss.name for miss in verdict.misses} & set(spoil.misses), (name, answer, verdict)
    assert {name for name in family.spoil if not name.endswith("-says-yes")} <= set(tried)  # seldom: test_conjunction


@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
def test_right_answers_in_unusual_forms_pass(family) -> None:
    """Every vary that applies is accepted, and every one applies to some item. [T-3]"""
    tried: Counter[str] = Counter()
    for item in islice(family.make(5, **SMALL), N):
        for name, vary in family.vary.items():
            answer = vary(item)
            if answer is not None:
                tried[name] += 1
                assert verdict_of(item, answer).passed is True, (name, answer, item.target)
    assert set(tried) == set(family.vary)


@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
def test_synthetic_items_say_where_they_come_from_and_how_hard_they_are(family) -> None:
    """Items of the made-up sky are CC0, number their objects from 100000, and keep objects in one group. [T-39]"""
    items = list(islice(family.make(5, **SMALL), N))
    assert {(i.provenance, i.license, i.domain) for i in items} == {("synthetic-sky:1", "CC0-1.0", "conjunction")}
    assert {i.difficulty for i in items} <= {"easy", "medium", "hard"}
    assert all(re.fullmatch(r"objects:5:1\d{5}(-1\d{5})?", i.group) for i in items)
    assert all(e.norad_id >= 100_000 for i in items for e in encounter_prompts.read(i.prompt).objects)


@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
def test_prompts_state_units_frame_scale_model_and_form(family) -> None:
    """Nothing that the answer depends on is left to convention. [T-38]"""
    for item in islice(family.make(5, **SMALL), 3):
        for word in ("km", "TEME", "UTC", "SGP4", "WGS 72", "Window: from 2026-07-01T00:00:00Z", "JSON object"):
            assert word in item.prompt, word


@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
def test_a_level_and_a_form_that_are_none_are_refused_when_make_is_called(family) -> None:
    """The error comes before the first item and names the nearest one. [T-3]"""
    with pytest.raises(InputError, match='did you mean "medium"'):
        family.make(5, level="medum", **SMALL)
    with pytest.raises(InputError, match="form must be tle or omm"):
        family.make(5, form="tel", **SMALL)


@pytest.fixture(scope="module")
def users_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven hundred objects with names, five-digit numbers and designators, as a provider would give them."""
    objects = [
        msgspec.structs.replace(e, norad_id=20_000 + k, name=f"FENGYUN {k}", designator=f"{k % 300:05d}C")
        for k, e in enumerate(sky.catalogue(5, 700))
    ]
    path = tmp_path_factory.mktemp("users") / "mine.csv"
    path.write_text(catalogue_text(objects, ".csv"))
    return path


@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
def test_items_from_a_users_catalogue_hide_who_the_objects_are(family, users_file: Path) -> None:
    """There is no licence, and no name, number or designator is printed; the group still names the objects. [T-39]"""
    for item in islice(family.make(0, catalogue=str(users_file), **SMALL), 2):
        assert (item.provenance.partition(":")[0], item.license) == ("snapshot", "")
        assert re.fullmatch(r"objects:20\d{3}(-20\d{3})?", item.group)
        printed = encounter_prompts.read(item.prompt).objects
        assert all(e.norad_id in range(90_000, 100_000) for e in printed)
        assert {(e.name, e.designator, e.revolution, e.element_set) for e in printed} == {("", "", 0, 0)}
        assert "FENGYUN" not in item.prompt
        assert verdict_of(item, family.solve(item)).passed is True


def test_refused_candidates_are_counted_by_rule() -> None:
    """The counts belong to the items that were taken, and each reason has its words. [T-3]"""
    first, more = (encounter_items.refusals(5, n, **SMALL) for n in (2, 10**6))
    assert set(more) <= set(RULES)
    assert sum(more.values()) > 0
    assert all(n <= more[rule] for rule, n in first.items())
    assert len(list(encounter.make(5, **SMALL))) + sum(more.values()) == len(_pairs_below(4.5))


def _pairs_below(km: float) -> set[tuple[int, int]]:
    from steelyard.families.orbital.pool import pool

    return {(e.a, e.b) for e in pool(5, **SMALL).screening.events if e.distance_km < km}


def test_both_forms_print_the_same_elements() -> None:
    """TLE and OMM of a made-up object are read back to what they were written from. [T-38]"""
    objects = sky.catalogue(5, 20)
    assert (
        tuple(objects) == encounter_prompts.as_printed(objects, "tle") == encounter_prompts.as_printed(objects, "omm")
    )


def test_a_number_too_large_for_a_tle_is_printed_as_omm() -> None:
    """A TLE holds numbers to 339999. [T-38]"""
    (large,) = sky.catalogue(5, 1)
    assert encounter_prompts.form_for("tle", [msgspec.structs.replace(large, norad_id=340_000)]) == "omm"


IRIDIUM_33 = (
    "1 24946U 97051C   09040.78448243  .00000153  00000-0  47668-4 0  4775",
    "2 24946  86.3994 121.7028 0002288  85.1644 274.9812 14.34219863597336",
)
COSMOS_2251 = (
    "1 22675U 93036A   09040.49834364 -.00000001  00000-0  95251-5 0  7411",
    "2 22675  74.0355  19.4646 0016027  98.7014 261.5952 14.31135643817415",
)


def test_the_collision_of_2009_is_solved_as_published() -> None:
    """Iridium 33 and Cosmos 2251: SGP4 gives 0.69872 km at 16:55:59.80 UTC (Bennett et al., RMIT), to 2 m. [T-12]"""
    objects = [tle.elements_from_lines(*lines) for lines in (IRIDIUM_33, COSMOS_2251)]
    window = Window(datetime(2009, 2, 10, tzinfo=UTC), 24.0)
    prompt = encounter_prompts.text(objects, "tle", window, "How close?")
    answer = json.loads(encounter.solve(Item(id="x", input=prompt, verifier={"name": "fields"})))
    assert abs(answer["miss_distance_km"] - 0.69872) < 0.002
    assert answer["tca"] == "2009-02-10T16:55:59.796Z"


def test_a_prompt_of_another_family_is_refused() -> None:
    """Reading back a prompt without element sets is an error. [T-3]"""
    with pytest.raises(InputError, match="two element sets or more"):
        encounter.solve(Item(id="x", input="How close?", verifier={"name": "fields"}))


def test_the_rough_look_is_within_4_km_of_the_minimum() -> None:
    """Straight lines between samples may not hide what should be judged. [T-38]"""
    asked, *others = sky.catalogue(5, 25)
    window = Window(sky.REFERENCE, 24.0)
    for rough, other in zip(rough_minima_km(asked, others, window), others, strict=True):
        assert abs(rough - meeting(asked, other, window).distance_km) <= 4.0


def test_the_printed_mean_motion_flown_as_brouwers_is_another_orbit() -> None:
    """SGP4's own mean motion then equals the printed one, and the object is kilometres away after a day. [T-38]"""
    from steelyard.families.orbital.dynamics import record, state

    (given,) = sky.catalogue(5, 1)
    changed = taken_for_brouwer(given)
    revolutions = 0.0743669161331734 / record(changed).a ** 1.5 * 1440 / 6.283185307179586
    assert abs(revolutions - given.mean_motion_rev_per_day) < 1e-5
    later = given.epoch + timedelta(days=1)
    assert sum((x - y) ** 2 for x, y in zip(state(given, later)[0], state(changed, later)[0], strict=True)) > 1.0
