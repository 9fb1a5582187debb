"""The rules by which an encounter is refused, each on a pair that it is about, and the second opinions."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from steelyard.families.orbital import tle
from steelyard.families.orbital.ambiguity import (
    MOST_A_LAUNCH,
    MOST_AN_OBJECT,
    RULES,
    Uses,
    refusal,
)
from steelyard.families.orbital.elements import Elements
from steelyard.families.orbital.encounters import Window, meeting
from steelyard.families.orbital.opinions import AGREE_KM, by_engine, disagreement, second_engine
from steelyard.families.orbital.tapes import Tape
from steelyard.item import Item

pytest.importorskip("sgp4", reason="needs the extra orbital")

DAY = Window(datetime(2009, 2, 10, tzinfo=UTC), 24.0)
A = tle.elements_from_lines(
    "1 24946U 97051C   09040.78448243  .00000153  00000-0  47668-4 0  4775",
    "2 24946  86.3994 121.7028 0002288  85.1644 274.9812 14.34219863597336",
)
B = tle.elements_from_lines(
    "1 22675U 93036A   09040.49834364 -.00000001  00000-0  95251-5 0  7411",
    "2 22675  74.0355  19.4646 0016027  98.7014 261.5952 14.31135643817415",
)


def _changed(elements: Elements, **values: object) -> Elements:
    return msgspec.structs.replace(elements, **values)


def test_the_collision_of_2009_is_no_ambiguous_case() -> None:
    """Iridium 33 and Cosmos 2251 pass every rule, with and without a threshold of 5 km. [T-3]"""
    assert refusal(A, B, DAY) is None
    assert refusal(A, B, DAY, threshold_km=5.0) is None


def test_an_old_epoch_is_refused_on_either_side_of_the_window() -> None:
    """Three days outside is too far, inside the window is not. [T-3]"""
    assert refusal(_changed(A, epoch=DAY.start - timedelta(days=3.1)), B, DAY) == "stale-epoch"
    assert refusal(A, _changed(B, epoch=DAY.end + timedelta(days=3.1)), DAY) == "stale-epoch"
    assert refusal(_changed(A, epoch=DAY.end - timedelta(hours=1)), B, DAY) != "stale-epoch"


def test_an_object_without_a_state_is_refused_and_not_read_as_far_away() -> None:
    """Heavy drag makes SGP4 give an error within the day. [T-38]"""
    assert refusal(_changed(A, bstar=0.9, mean_motion_rev_per_day=16.3), B, DAY) == "no-state"


def test_a_pair_that_drifts_along_together_is_refused() -> None:
    """Half a degree apart in inclination the two cross at some 70 m/s. [T-3]"""
    window = Window(A.epoch + timedelta(minutes=20), 24.0)
    assert refusal(A, _changed(A, inclination_deg=A.inclination_deg + 0.5), window) == "slow"


def test_an_approach_near_an_end_of_the_window_is_refused() -> None:
    """Within 120 s of the start or of the end, and where the window's end cuts the approach. [T-3]"""
    tca = DAY.start + timedelta(minutes=meeting(A, B, DAY).nearest.after_min)
    for start in (tca - timedelta(seconds=100), tca + timedelta(seconds=1), tca - timedelta(seconds=3500)):
        assert refusal(A, B, Window(start, 1.0)) == "near-edge"
    assert refusal(A, B, Window(tca - timedelta(seconds=130), 1.0)) is None


def test_a_distance_in_the_guard_band_is_refused() -> None:
    """A quarter of a kilometre on both sides of the threshold. [T-38]"""
    distance_km = meeting(A, B, DAY).distance_km
    for threshold_km, expected in ((0.24, "near-threshold"), (-0.24, "near-threshold"), (0.26, None), (-0.26, None)):
        assert refusal(A, B, DAY, threshold_km=distance_km + threshold_km) == expected


def test_a_second_approach_as_near_as_the_first_is_refused_where_the_time_matters() -> None:
    """Two orbits of one period and inclination meet twice a revolution. [T-3]"""
    ring = {"inclination_deg": 60.0, "arg_perigee_deg": 0.0, "eccentricity": 0.0, "bstar": 0.0}
    first = _changed(A, raan_deg=0.0, mean_anomaly_deg=100.3135, **ring)
    second = _changed(first, raan_deg=40.0, mean_anomaly_deg=79.6865)
    window = Window(A.epoch - timedelta(minutes=20), 6.0)
    assert refusal(first, second, window) == "second-minimum"
    assert refusal(first, second, window, rivals=False) is None


def test_second_opinions_agree_on_the_collision_and_name_who_does_not() -> None:
    """WGS 84 moves it by 3 m; a distance that is 60 m off is contradicted by the first opinion asked. [T-38]"""
    met = meeting(A, B, DAY)
    assert disagreement(A, B, DAY, met) is None
    assert 0.002 < abs(meeting(A, B, DAY, "wgs84").distance_km - met.distance_km) < 0.004
    off = msgspec.structs.replace(met.nearest, distance_km=met.distance_km + AGREE_KM + 0.01)
    assert disagreement(A, B, DAY, msgspec.structs.replace(met, nearest=off)) == "wgs84"


def test_the_python_model_is_an_engine_everywhere() -> None:
    """Where astroz is missing, sgp4's Python model is asked; both are within half a metre of the reference. [T-38]"""
    met = meeting(A, B, DAY)
    for engine in {"python", second_engine()}:
        other = by_engine(A, B, DAY, met, engine)
        assert other is not None
        assert abs(other.distance_km - met.distance_km) < 0.0005
        assert abs(other.after_min - met.nearest.after_min) * 60 < 0.001


def test_an_object_and_a_launch_are_used_only_so_often() -> None:
    """One object stands in three items at most, objects of one launch in twelve. [T-3]"""
    uses = Uses()
    for _ in range(MOST_AN_OBJECT):
        assert uses.refusal([A]) is None
        uses.add([A])
    assert uses.refusal([A, B]) == "overused-object"
    siblings = [_changed(A, norad_id=30_000 + k) for k in range(MOST_A_LAUNCH)]
    for sibling in siblings[MOST_AN_OBJECT:]:
        uses.add([sibling])
    assert uses.refusal([siblings[0]]) == "overused-launch"
    assert uses.refusal([B]) is None


def test_a_tape_makes_each_item_once_and_counts_what_was_refused_before_it() -> None:
    """Two readers share it; counts go up to the item that was asked for. [T-3]"""
    drawn: list[str] = []

    def outcomes() -> Iterator[Item | str]:
        for one in ("slow", "a", "slow", "near-edge", "b"):
            drawn.append(one)
            yield one if one in RULES else Item(id=one, input="?", verifier={"name": "number"})

    tape = Tape(outcomes())
    assert next(iter(tape)).id == "a"
    assert drawn == ["slow", "a"]
    assert tape.refusals(1) == {"slow": 1}
    assert [item.id for item in tape] == ["a", "b"]
    assert tape.refusals(2) == {"slow": 2, "near-edge": 1}
    assert len(drawn) == 5
