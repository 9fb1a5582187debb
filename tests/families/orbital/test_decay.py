"""Family orbital-decay: times of decay, the choice of sets, and the shortcuts that must fail."""

from __future__ import annotations

import json
from datetime import timedelta
from itertools import islice, pairwise

import msgspec
import pytest

from steelyard.errors import InputError
from steelyard.families.orbital import decay_items, sky
from steelyard.families.orbital.decay_items import LETTERS, PLANS, apart, decay, inert, read_prompt, refusal
from steelyard.families.orbital.decaying import decay_days
from steelyard.families.orbital.dynamics import states
from steelyard.families.orbital.elements import EARTH_RADIUS_KM, Elements, perigee_altitude_km

np = pytest.importorskip("numpy", reason="needs the extra orbital")
pytest.importorskip("sgp4", reason="needs the extra orbital")

FALLING = Elements(
    norad_id=100_000,
    epoch=sky.REFERENCE - timedelta(days=1),
    mean_motion_rev_per_day=15.9,
    eccentricity=0.001,
    inclination_deg=51.0,
    raan_deg=10.0,
    arg_perigee_deg=0.0,
    mean_anomaly_deg=0.0,
    bstar=5e-4,
)
LATE_SHARE = 0.02  # the gap between objects is 50 % at least


@pytest.fixture(scope="module")
def items():
    return list(islice(decay.make(0), 2))


@pytest.mark.parametrize(("eccentricity", "bstar"), [(0.001, 5e-4), (0.02, 1e-3), (0.06, 6e-3)])
def test_the_time_of_decay_is_that_of_a_half_minute_scan(eccentricity: float, bstar: float) -> None:
    """Every half minute from the start on, the first state below 120 km or with an error comes no earlier. [T-4]"""
    rise = 1 / (1 - eccentricity) ** 1.5
    elements = msgspec.structs.replace(
        FALLING, eccentricity=eccentricity, mean_motion_rev_per_day=15.9 / rise, bstar=bstar
    )
    days = decay_days(elements, sky.REFERENCE)
    assert days is not None
    minutes = np.arange(0, days * 1440 + 1, 0.5)
    found = states([elements], sky.REFERENCE, minutes)
    altitude = np.linalg.norm(found.position_km[0], axis=1) - EARTH_RADIUS_KM
    first = minutes[np.flatnonzero((found.codes[0] != 0) | (altitude < 120))[0]] / 1440
    assert first <= days <= first * (1 + LATE_SHARE)


def test_more_drag_means_an_earlier_decay_and_none_is_seen_without_drag() -> None:
    """Doubling B* about halves the time; an object without drag outlives the search. [T-4]"""
    slow, fast = (decay_days(msgspec.structs.replace(FALLING, bstar=b), sky.REFERENCE) for b in (5e-4, 1e-3))
    assert 1.7 < slow / fast < 2.3
    assert decay_days(msgspec.structs.replace(FALLING, bstar=0.0), sky.REFERENCE) is None


def test_an_object_that_has_decayed_before_the_start_is_refused() -> None:
    """There is no time after the start to give. [T-38]"""
    with pytest.raises(InputError, match="no orbit at 2026-07-01"):
        decay_days(msgspec.structs.replace(FALLING, bstar=0.5), sky.REFERENCE)


def test_successive_decays_are_apart_by_the_levels_gap(items) -> None:
    """Times from the printed elements differ by x1.5 or x2 at least, and the letters follow them. [T-3]"""
    for item in items:
        days = decay_items._days(item.prompt)
        size, gap = PLANS[item.difficulty]
        ranked = sorted(days)
        assert len(days) == size
        assert all(b / a >= gap for a, b in pairwise(ranked))
        assert json.loads(item.target) == [LETTERS[days.index(one)] for one in ranked]


def test_no_single_printed_quantity_sorts_them_right(items) -> None:
    """ndot, mean motion, B* and perigee each give a wrong order, whichever is taken. [T-3]"""
    keys = {
        "ndot": lambda e: -e.mean_motion_dot,
        "mean motion": lambda e: -e.mean_motion_rev_per_day,
        "B*": lambda e: -e.bstar,
        "perigee": perigee_altitude_km,
    }
    for item in items:
        objects = read_prompt(item.prompt).objects
        for key in keys.values():
            order = [LETTERS[k] for k in sorted(range(len(objects)), key=lambda k, key=key: key(objects[k]))]
            assert order != json.loads(item.target)


def test_sets_that_a_shortcut_orders_are_refused_by_its_name() -> None:
    """Objects that differ in drag alone decay in the order of ndot; equal ndot leaves the next shortcut. [T-3]"""
    days = [10.0, 20.0, 40.0]
    drags = [
        msgspec.structs.replace(FALLING, bstar=b, mean_motion_dot=n)
        for b, n in ((4e-3, 3e-3), (2e-3, 2e-3), (1e-3, 1e-3))
    ]
    assert refusal(drags, days, sky.REFERENCE) == "ndot-order"
    flat = [msgspec.structs.replace(e, mean_motion_dot=k / 1000) for k, e in enumerate(drags)]
    assert refusal(flat, days, sky.REFERENCE) == "mean-motion-order"
    assert apart(days, 2.0)
    assert not apart(days, 2.1)


def test_constants_that_give_another_time_refuse_the_set() -> None:
    """A time that WGS 84 does not confirm to a tenth is no gold. [T-4]"""
    objects = [
        msgspec.structs.replace(FALLING, bstar=b, mean_motion_dot=n, mean_motion_rev_per_day=m)
        for b, n, m in ((1e-3, 1e-3, 15.8), (2e-3, 2e-3, 15.9))
    ]
    assert refusal(objects, [1.0, 2.0], sky.REFERENCE) == "wgs84-differs"


def test_debris_and_rocket_bodies_are_inert_by_name() -> None:
    """Payloads are not, as they are manoeuvred. [T-38]"""
    names = ("COSMOS 2251 DEB", "SL-16 R/B", "STARLINK-1007", "")
    assert [inert(msgspec.structs.replace(FALLING, name=name)) for name in names] == [True, True, False, False]


def test_a_prompt_of_another_family_is_refused() -> None:
    """Reading back a text without objects is an error. [T-3]"""
    with pytest.raises(InputError, match="no objects with element sets"):
        read_prompt("What is the period?")
