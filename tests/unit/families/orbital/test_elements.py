"""Quantities of an element set, with the reference values of the seed's two objects."""

import math

import msgspec
import pytest

from steelyard.families.orbital import tle
from steelyard.families.orbital.elements import (
    LOCAL_ID,
    apogee_altitude_km,
    out_of_range,
    perigee_altitude_km,
    period_from_axis_min,
    period_min,
    satrec,
    semi_major_axis_km,
)

from .test_tle import SEED_A1, SEED_A2, SEED_B1, SEED_B2

A = tle.elements_from_lines(SEED_A1, SEED_A2)
B = tle.elements_from_lines(*tle.respaced(SEED_B1, SEED_B2))


def test_object_a_of_seed_000_has_its_reference_values() -> None:
    """Period, axis, apogee and perigee of SAT_A as measured from the printed mean motion. [T-38]"""
    assert period_min(A) == pytest.approx(92.89869678521208, abs=1e-12)
    assert A.mean_motion_rev_per_day == 15.50075566
    assert semi_major_axis_km(A) == pytest.approx(6794.642234910185, abs=1e-8)
    assert apogee_altitude_km(A) == pytest.approx(419.76395, abs=5e-6)
    assert perigee_altitude_km(A) == pytest.approx(413.24652, abs=5e-6)


def test_object_b_of_seed_000_has_its_reference_values() -> None:
    """Period, apogee and perigee of SAT_B, whose elements line is readable. [T-38]"""
    assert period_min(B) == pytest.approx(92.9679914478693, abs=1e-12)
    assert apogee_altitude_km(B) == pytest.approx(425.25339, abs=5e-6)
    assert perigee_altitude_km(B) == pytest.approx(414.51388, abs=5e-6)


def test_axis_and_period_are_inverse_to_each_other() -> None:
    """Kepler's third law there and back. [T-38]"""
    assert period_from_axis_min(semi_major_axis_km(A)) == pytest.approx(period_min(A), rel=1e-14)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("eccentricity", 1.0, "eccentricity must be in"),
        ("bstar", math.nan, "bstar is nan"),
        ("inclination_deg", 180.5, "inclination must be in"),
        ("raan_deg", -1.0, "raan_deg must be in"),
        ("mean_motion_rev_per_day", 0.0, "mean motion must be positive"),
        ("mean_anomaly_deg", math.inf, "mean_anomaly_deg is inf"),
    ],
)
def test_values_that_are_no_closed_orbit_are_named(field: str, value: float, words: str) -> None:
    """Ranges of T-39 (eccentricity [0, 1), inclination [0, 180]) and finiteness. [T-39]"""
    assert words in str(out_of_range(msgspec.structs.replace(A, **{field: value})))


def test_elements_in_range_have_nothing_wrong() -> None:
    """A real set passes. [T-39]"""
    assert out_of_range(A) is None


def test_a_nine_digit_number_propagates_under_a_local_one() -> None:
    """sgp4 takes no number above 339999; the state must not depend on it. [T-38]"""
    pytest.importorskip("sgp4", reason="needs the extra orbital")
    large = satrec(msgspec.structs.replace(A, norad_id=799_999_999))
    assert large.satnum == LOCAL_ID
    assert large.sgp4_tsince(60.0) == satrec(A).sgp4_tsince(60.0)
