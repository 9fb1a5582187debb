"""Family orbital-altitude: the convention, the two readings of mean motion, and the rules that refuse."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import islice
from random import Random

import msgspec
import pytest

from judged import verdict_of
from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.families.orbital import sky
from steelyard.families.orbital.altitude_items import (
    FIELDS,
    WRONG_ALTITUDE,
    altitude,
    band_km,
    brouwer_axis_km,
    prompt,
    read_prompt,
    refusal,
    shape,
)
from steelyard.families.orbital.elements import Elements, apogee_altitude_km, perigee_altitude_km, satrec
from steelyard.families.orbital.period_items import two_body_state
from steelyard.item import Item
from steelyard.verifiers.registry import bind

RADIUS_72_KM = 6378.135
ECCENTRIC = Elements(
    norad_id=100_000,
    epoch=datetime(2026, 7, 1, tzinfo=UTC),
    mean_motion_rev_per_day=12.0,
    eccentricity=0.1,
    inclination_deg=63.4,
    raan_deg=10.0,
    arg_perigee_deg=20.0,
    mean_anomaly_deg=30.0,
)


@pytest.fixture(scope="module")
def items() -> list[Item]:
    return list(islice(altitude.make(0), 30))


def test_the_brouwer_axis_is_sgp4s_own() -> None:
    """The un-Kozai step agrees with the engine's semi-major axis on 500 objects. [T-4]"""
    pytest.importorskip("sgp4", reason="needs the extra orbital")
    for elements in sky.catalogue("brouwer", 500):
        assert brouwer_axis_km(elements) == pytest.approx(satrec(elements).a * RADIUS_72_KM, rel=1e-9)


def test_every_form_of_prompt_gives_the_altitudes_of_its_elements() -> None:
    """List, TLE and state lead to the same two numbers. [T-4]"""
    for level in ("easy", "medium", "hard"):
        orbit = read_prompt(prompt(ECCENTRIC, level, FIELDS))
        assert orbit.altitude_km(FIELDS[0]) == pytest.approx(apogee_altitude_km(ECCENTRIC), abs=2e-3)
        assert orbit.altitude_km(FIELDS[1]) == pytest.approx(perigee_altitude_km(ECCENTRIC), abs=2e-3)


def test_eccentricity_from_a_state_is_that_of_the_orbit() -> None:
    """The eccentricity vector's length, anywhere along the orbit. [T-4]"""
    rng = Random(3)
    for _ in range(50):
        e = msgspec.structs.replace(
            ECCENTRIC, eccentricity=rng.uniform(0.05, 0.8), mean_anomaly_deg=rng.uniform(0, 360)
        )
        assert shape(*two_body_state(e)) == pytest.approx(e.eccentricity, abs=1e-12)


def test_both_readings_of_mean_motion_lie_in_the_band(items) -> None:
    """Wherever a TLE is shown, what SGP4's own axis gives is accepted as well. [T-12]"""
    tried = 0
    for item in items:
        answer = altitude.vary["brouwer-axis"](item)
        if answer is None:
            continue
        tried += 1
        bound = bind(item)
        assert bound.decide(bound.read(Attempt(answer=answer))).passed is True
    assert tried >= 8


def test_every_orbit_is_eccentric_enough_that_a_circle_fails(items) -> None:
    """The semi-major axis less the radius is outside twice the band of every asked altitude. [T-3]"""
    for item in items:
        orbit = read_prompt(item.prompt)
        assert orbit.eccentricity > 0.05
        for field, right in json.loads(item.target).items():
            assert abs(orbit.axis_km - 6378.137 - right) > 2 * band_km(right), field


def test_objects_without_one_answer_are_refused_by_name() -> None:
    """A near-circle fits a circle; Brouwer's axis leaves the band of equatorial orbits, low or transfer. [T-3]"""
    circular = msgspec.structs.replace(ECCENTRIC, eccentricity=0.0005)
    low = msgspec.structs.replace(ECCENTRIC, mean_motion_rev_per_day=14.9, eccentricity=0.06, inclination_deg=0.1)
    transfer = msgspec.structs.replace(ECCENTRIC, mean_motion_rev_per_day=2.27, eccentricity=0.73, inclination_deg=2.0)
    refused = [refusal(one) for one in (circular, low, transfer, ECCENTRIC)]
    assert refused == ["circle-fits", "brouwer-differs", "brouwer-differs", None]


def test_a_ball_of_6371_km_for_the_earth_fails_for_every_item(items) -> None:
    """At any height it is 7.137 km off in every field, which no band holds. [T-3]"""
    for item in [*items, *islice(altitude.make("high"), 30)]:
        answer = altitude.spoil["spherical-earth"].make(item)
        assert answer is not None, item.id
        verdict = verdict_of(item, answer)
        assert (verdict.passed, {miss.name for miss in verdict.misses}) == (False, {WRONG_ALTITUDE}), item.id


def test_the_band_is_written_into_the_item_and_ends_below_the_radii(items) -> None:
    """5 km + 0.1 % up to 1,500 km, 6.5 km above; each field carries the width of its own altitude. [T-12]"""
    assert [band_km(h) for h in (0.0, 1000.0, 1500.0, 36_000.0)] == [5.0, 6.0, 6.5, 6.5]
    for item in items:
        for field, right in json.loads(item.target).items():
            rule = item.verifier["fields"][field]["verifier"]
            assert rule == {"name": "number", "unit": "km", "atol": band_km(right)}
            assert rule["atol"] < 6378.137 - 6371.0


def test_easy_items_ask_one_altitude_and_the_others_both(items) -> None:
    """Both of the two are asked for over the easy items. [T-3]"""
    asked = {level: {tuple(json.loads(i.target)) for i in items if i.difficulty == level} for level in ("easy", "hard")}
    assert asked == {"easy": {(FIELDS[0],), (FIELDS[1],)}, "hard": {FIELDS}}


def test_one_right_altitude_of_two_is_not_enough(items) -> None:
    """Both fields must be right. [T-12]"""
    item = next(i for i in items if i.difficulty == "medium")
    right = json.loads(item.target)
    bound = bind(item)
    for field in FIELDS:
        answer = json.dumps(right | {field: right[field] + 1.2 * band_km(right[field])})
        assert bound.decide(bound.read(Attempt(answer=answer))).passed is False


def test_a_prompt_of_another_family_is_refused() -> None:
    """Reading back a text without an orbit is an error. [T-3]"""
    with pytest.raises(InputError, match="no orbit and question"):
        read_prompt("What is the period?")
