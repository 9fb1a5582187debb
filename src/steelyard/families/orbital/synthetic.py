"""Made-up element sets that look like the sky: seeded, free of any provider's terms, ids from 100000 on.

Shapes follow the usual kinds of Earth orbit; numbers within a kind are drawn, never copied from a catalogue.
Values are rounded to what a TLE prints, so an item shows exactly the numbers that its answer was computed from.
Not covered: the true joint distribution of the catalogue; drag and decay (B* is only plausible).
Easy to break: `GENERATOR_VERSION` stands in the provenance of items; any change of a draw raises it.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from random import Random

import msgspec

from steelyard.families.orbital.elements import (
    EARTH_RADIUS_KM,
    LARGEST_SATREC_ID,
    MINUTES_PER_DAY,
    Elements,
    period_from_axis_min,
)

GENERATOR_VERSION = 1
FIRST_ID = 100_000  # assigned to no object before 2026; five digits hold less
_FIRST_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_EPOCH_SPAN_DAYS = 180.0
_TLE_DAY = timedelta(microseconds=864)  # 1e-8 day


class _Kind(msgspec.Struct, frozen=True):
    """One kind of orbit: ranges of perigee and apogee altitude (km) and inclination (degrees)."""

    name: str
    weight: int
    perigee_km: tuple[float, float]
    apogee_rise_km: tuple[float, float]
    inclination_deg: tuple[float, float]
    bstar: tuple[float, float]


_KINDS = (
    _Kind("low", 30, (320, 900), (2, 40), (20, 75), (1e-5, 8e-4)),
    _Kind("sun-synchronous", 20, (480, 850), (2, 30), (96.5, 99.5), (1e-5, 4e-4)),
    _Kind("low eccentric", 20, (350, 900), (150, 6000), (25, 110), (1e-5, 1e-3)),
    _Kind("medium", 10, (7000, 23500), (20, 400), (50, 66), (0.0, 0.0)),
    _Kind("geosynchronous", 6, (35600, 35780), (5, 200), (0.1, 12), (0.0, 0.0)),
    _Kind("transfer", 8, (250, 1500), (15000, 35600), (5, 30), (1e-5, 1e-3)),
    _Kind("half-day eccentric", 6, (600, 2500), (37000, 39000), (61, 65), (1e-6, 1e-4)),
)


def draw(rng: Random) -> Elements:
    """One plausible element set; consumes a fixed number of draws of `rng`."""
    kind = rng.choices(_KINDS, [k.weight for k in _KINDS])[0]
    perigee_km = EARTH_RADIUS_KM + rng.uniform(*kind.perigee_km)
    apogee_km = perigee_km + rng.uniform(*kind.apogee_rise_km)
    axis_km = (perigee_km + apogee_km) / 2
    ticks = round(rng.random() * _EPOCH_SPAN_DAYS * timedelta(days=1) / _TLE_DAY)
    return Elements(
        norad_id=rng.randint(FIRST_ID, LARGEST_SATREC_ID),
        epoch=_FIRST_EPOCH + ticks * _TLE_DAY,
        mean_motion_rev_per_day=round(MINUTES_PER_DAY / period_from_axis_min(axis_km), 8),
        eccentricity=round((apogee_km - perigee_km) / (apogee_km + perigee_km), 7),
        inclination_deg=round(rng.uniform(*kind.inclination_deg), 4),
        raan_deg=_angle(rng),
        arg_perigee_deg=_angle(rng),
        mean_anomaly_deg=_angle(rng),
        bstar=_five_digits(rng.uniform(*kind.bstar)),
        mean_motion_dot=round(rng.uniform(0, 2e-4) if kind.bstar[1] else 0.0, 8),
        element_set=rng.randint(1, 999),
        revolution=rng.randint(1, 99_999),
    )


def _angle(rng: Random) -> float:
    return rng.randrange(3_600_000) / 10_000


def _five_digits(value: float) -> float:
    return 0.0 if value == 0 else round(value, 4 - math.floor(math.log10(abs(value))))
