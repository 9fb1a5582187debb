"""One object's mean elements, and the quantities that follow from them.

Source: the fields of a two-line element set (Spacetrack Report No. 3) and of an OMM (CCSDS 502.0-B).
Convention: mean motion is the Kozai value as printed; period and altitudes are its two-body consequences. SGP4's own
(Brouwer) values differ by up to 8 s in period and 7.5 km in apogee in low orbits, so an item must name its convention.
Not covered: frames other than TEME, osculating elements.
Easy to break: trusting SGP4's error code 0. It comes with not-a-number states; look at the state as well.
"""

from __future__ import annotations

import importlib
import math
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from steelyard.errors import InputError

MU_EARTH_KM3_S2 = 398600.4418  # gravitational parameter, km^3/s^2: WGS 84, NIMA TR8350.2
EARTH_RADIUS_KM = 6378.137  # equatorial radius, km: WGS 84, NIMA TR8350.2
MINUTES_PER_DAY = 1440.0
SECONDS_PER_DAY = 86400.0
SGP4_EPOCH = datetime(1949, 12, 31, tzinfo=UTC)  # day 0 of sgp4init, sgp4 2.27
LARGEST_SATREC_ID = 339_999  # "Z9999" in Alpha-5; sgp4 2.27 takes no larger number
SGP4_TYPES = ("", "0", "2", "3")  # ephemeris types, CCSDS 502.0-B: 2 is SGP4, 3 its deep-space part, 0 either
LOCAL_ID = 0  # what Satrec is told when the real number is too large for it


class Elements(msgspec.Struct, frozen=True, kw_only=True):
    """One element set; angles in degrees, mean motion in revolutions per day, B* per Earth radius.

    `mean_motion_dot` and `mean_motion_ddot` are as a TLE prints them (halved, and divided by six); SGP4 uses neither.
    A `datetime` holds both formats' epochs exactly: the eighth decimal of a TLE's day is 864 microseconds.
    """

    norad_id: int
    epoch: datetime
    mean_motion_rev_per_day: float
    eccentricity: float
    inclination_deg: float
    raan_deg: float
    arg_perigee_deg: float
    mean_anomaly_deg: float
    bstar: float = 0.0
    mean_motion_dot: float = 0.0
    mean_motion_ddot: float = 0.0
    element_set: int = 0
    revolution: int = 0
    classification: str = "U"
    designator: str = ""
    name: str = ""


def out_of_range(elements: Elements) -> str | None:
    """Why these elements are not a closed orbit with finite numbers, or None when they are."""
    for name in Elements.__struct_fields__:
        value = getattr(elements, name)
        if isinstance(value, float) and not math.isfinite(value):
            return f"{name} is {value}"
    if not 0 <= elements.eccentricity < 1:
        return f"eccentricity must be in [0, 1), got {elements.eccentricity}"
    if not 0 <= elements.inclination_deg <= 180:
        return f"inclination must be in [0, 180] degrees, got {elements.inclination_deg}"
    for name in ("raan_deg", "arg_perigee_deg", "mean_anomaly_deg"):
        if not 0 <= getattr(elements, name) <= 360:
            return f"{name} must be in [0, 360] degrees, got {getattr(elements, name)}"
    if elements.mean_motion_rev_per_day <= 0:
        return f"mean motion must be positive, got {elements.mean_motion_rev_per_day} rev/day"
    return None


def other_theory(ephemeris_type: str) -> str | None:
    """Why elements of this ephemeris type would be propagated wrongly by SGP4, or None when they are SGP4's own."""
    if ephemeris_type.strip() in SGP4_TYPES:
        return None
    return f"ephemeris type: expected {', '.join(SGP4_TYPES[1:])} (SGP4), got {ephemeris_type!r} (4 is SGP4-XP)"


def period_min(elements: Elements) -> float:
    """Orbital period in minutes: 1440 over the mean motion as printed (Kozai)."""
    return MINUTES_PER_DAY / elements.mean_motion_rev_per_day


def semi_major_axis_km(elements: Elements) -> float:
    """Semi-major axis in km, by Kepler's third law from the mean motion as printed."""
    return axis_from_period_km(period_min(elements))


def axis_from_period_km(period_min: float) -> float:
    """Semi-major axis in km of the two-body orbit with this period in minutes."""
    return math.cbrt(MU_EARTH_KM3_S2 * (period_min * 60 / math.tau) ** 2)


def period_from_axis_min(axis_km: float) -> float:
    """Period in minutes of the two-body orbit with this semi-major axis in km."""
    return math.tau * math.sqrt(axis_km**3 / MU_EARTH_KM3_S2) / 60


def apogee_altitude_km(elements: Elements) -> float:
    """Mean-element apogee altitude in km: a(1 + e) above the equatorial radius."""
    return semi_major_axis_km(elements) * (1 + elements.eccentricity) - EARTH_RADIUS_KM


def perigee_altitude_km(elements: Elements) -> float:
    """Mean-element perigee altitude in km: a(1 - e) above the equatorial radius; negative inside the Earth."""
    return semi_major_axis_km(elements) * (1 - elements.eccentricity) - EARTH_RADIUS_KM


def satrec(elements: Elements, model: str = "wgs72") -> Any:
    """An engine's record of these elements, improved mode: sgp4 with WGS 72 or "wgs84" constants, or another engine.

    Other engines, with WGS 72: "astroz", and "python", the model in Python that the package sgp4 carries. A number
    above 339999 does not fit sgp4, so the record then carries `LOCAL_ID`; keep the real one beside it.
    """
    record, constants = _new_record(model)
    radians = math.pi / 180
    per_minute = math.tau / MINUTES_PER_DAY
    record.sgp4init(
        constants,
        "i",
        elements.norad_id if elements.norad_id <= LARGEST_SATREC_ID else LOCAL_ID,
        (elements.epoch - SGP4_EPOCH) / timedelta(days=1),
        elements.bstar,
        elements.mean_motion_dot * per_minute / MINUTES_PER_DAY,
        elements.mean_motion_ddot * per_minute / MINUTES_PER_DAY**2,
        elements.eccentricity,
        elements.arg_perigee_deg * radians,
        elements.inclination_deg * radians,
        elements.mean_anomaly_deg * radians,
        elements.mean_motion_rev_per_day * per_minute,
        elements.raan_deg * radians,
    )
    return record


def _new_record(model: str) -> tuple[Any, Any]:
    engine = "astroz" if model == "astroz" else "sgp4"
    try:
        api = importlib.import_module(f"{engine}.api")  # heavy: numpy and a compiled engine, in the extra "orbital"
        made = importlib.import_module("sgp4.model") if model == "python" else api
    except ImportError as error:
        raise InputError(f"element sets are propagated by the package {engine}; install steelyard[orbital]") from error
    return made.Satrec(), api.WGS84 if model == "wgs84" else api.WGS72
