"""A synthetic catalogue: made-up objects that fill the sky as the real ones do, free of any provider's terms.

What ships is statistics, not rows: counts of objects in cells of perigee, apogee and inclination (four sizes of cell;
one with fewer than three objects goes to the next size, then is left out), B* and age quantiles. Redrawn for every
object: the place inside its cell, node, argument of perigee, mean anomaly, B* within its band, and the epoch.
Object k depends on the seed and on k alone, so a larger catalogue begins with the smaller one. Numbers start at
100000. Every value is rounded to what a TLE prints, so TLE and OMM hold the same elements. The objects are inert:
they are never manoeuvred, and a decay means what SGP4 makes of their drag.
Source of the drag rate: Spacetrack Report No. 3, C1 without its small J2 terms (0.7 % from sgp4's, median).
Not covered: constellations (shells are 5 km thick and 1 degree wide here), launches, families of debris, covariance.
Easy to break: `VERSION` stands in the provenance of items; any change of a draw or of sky.json raises it.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from importlib import resources
from itertools import accumulate
from random import Random

import msgspec

from steelyard.errors import InputError
from steelyard.families.orbital.elements import (
    EARTH_RADIUS_KM,
    MINUTES_PER_DAY,
    Elements,
    apogee_altitude_km,
    perigee_altitude_km,
    period_from_axis_min,
)

VERSION = 1
FIRST_ID = 100_000
LAST_ID = 999_999_999
REFERENCE = datetime(2026, 7, 1, tzinfo=UTC)  # every epoch lies in the days before it; windows start here
PROVENANCE = f"synthetic-sky:{VERSION}"
LICENSE = "CC0-1.0"
_FEWEST = 3  # objects in a cell
_SIZES = ((5, 1), (25, 2), (200, 10), (2000, 30))  # km of altitude, degrees of inclination
_LOWEST_PERIGEE_KM = 180.0
_LONGEST_AGE_DAYS = 3.0
_BANDS_KM = (0, 250, 300, 350, 400, 450, 500, 600, 800, 1000, 2000, 100_000)
_QUANTILES = 20
_RATE_SCATTER = 0.05  # standard deviation of ln(printed / computed drag rate)
_TLE_DAY = timedelta(microseconds=864)  # 1e-8 day
_KE = 0.0743669161331734  # sqrt(mu) in Earth radii^1.5 per minute, WGS 72
_RADIUS_72_KM = 6378.135


class Statistics(msgspec.Struct, frozen=True):
    """What a sky is drawn from: rows [size, perigee cell, apogee cell, inclination cell, objects], and quantiles.

    `bstar` has one row of quantiles a band of `_BANDS_KM`; `age_days` is of all objects.
    """

    version: int
    objects: int
    cells: list[tuple[int, int, int, int, int]]
    bstar: list[list[float]]
    age_days: list[float]


def catalogue(seed: int | str = 0, objects: int = 10_000) -> list[Elements]:
    """The first `objects` objects of a seeded sky, numbered from 100000; made once a process and then shared.

    InputError when there are fewer than one or more than nine-digit numbers hold.
    """
    if not 1 <= objects <= LAST_ID - FIRST_ID + 1:
        raise InputError(f"a synthetic catalogue has 1 to {LAST_ID - FIRST_ID + 1} objects, got {objects}")
    return list(_catalogue(str(seed), objects))


@lru_cache(maxsize=4)
def _catalogue(seed: str, objects: int) -> tuple[Elements, ...]:
    drawn = shipped()
    sums = list(accumulate(cell[4] for cell in drawn.cells))
    return tuple(_object(Random(f"{seed}/{k}"), FIRST_ID + k, drawn, sums) for k in range(objects))


@lru_cache(maxsize=1)
def shipped() -> Statistics:
    """The statistics that come with the package (sky.json)."""
    return msgspec.json.decode(resources.files(__package__).joinpath("sky.json").read_bytes(), type=Statistics)


def _object(rng: Random, norad_id: int, drawn: Statistics, sums: Sequence[int]) -> Elements:
    size, *cell, _ = drawn.cells[bisect_right(sums, rng.randrange(sums[-1]))]
    km, degrees = _SIZES[size]
    low, high = sorted((rng.random() + place) * km for place in cell[:2])
    low, high = max(low, _LOWEST_PERIGEE_KM), max(high, _LOWEST_PERIGEE_KM)
    axis_km = EARTH_RADIUS_KM + (low + high) / 2
    motion = round(MINUTES_PER_DAY / period_from_axis_min(axis_km), 8)
    eccentricity = round((high - low) / 2 / axis_km, 7)
    bstar = _five_digits(_quantile(rng, drawn.bstar[_band(low)]))
    age_days = min(_quantile(rng, drawn.age_days), _LONGEST_AGE_DAYS)
    rate = drag_rate(motion, eccentricity, bstar) * math.exp(rng.gauss(0.0, _RATE_SCATTER))
    return Elements(
        norad_id=norad_id,
        epoch=REFERENCE - round(age_days * timedelta(days=1) / _TLE_DAY) * _TLE_DAY,
        mean_motion_rev_per_day=motion,
        eccentricity=eccentricity,
        inclination_deg=min(round((rng.random() + cell[2]) * degrees, 4), 180.0),
        raan_deg=_angle(rng),
        arg_perigee_deg=_angle(rng),
        mean_anomaly_deg=_angle(rng),
        bstar=bstar,
        mean_motion_dot=round(max(min(rate, 0.99), -0.99), 8),
        element_set=rng.randint(1, 999),
        revolution=rng.randint(1, 99_999),
    )


def drag_rate(motion_rev_per_day: float, eccentricity: float, bstar: float) -> float:
    """Half the rate of mean motion by drag, rev/day^2, as a TLE prints it: what SGP4's density makes of B*."""
    n = motion_rev_per_day * math.tau / MINUTES_PER_DAY
    axis = (_KE / n) ** (2 / 3)
    perigee_km = (axis * (1 - eccentricity) - 1) * _RADIUS_72_KM
    base_km = 78.0 if perigee_km >= 156 else max(perigee_km - 78, 20.0)
    xi = 1 / (axis - 1 - base_km / _RADIUS_72_KM)
    eta = axis * eccentricity * xi
    density = ((120 - base_km) / _RADIUS_72_KM) ** 4 * xi**4 / abs(1 - eta * eta) ** 3.5
    c1 = bstar * density * n * axis * (1 + 1.5 * eta**2 + eccentricity * eta * (4 + eta**2))
    return float(1.5 * n * c1 * MINUTES_PER_DAY**2 / math.tau)


def _band(perigee_km: float) -> int:
    return bisect_right(_BANDS_KM, perigee_km) - 1


def _quantile(rng: Random, points: Sequence[float]) -> float:
    """A value drawn from a distribution that is given by evenly spaced quantiles."""
    place = rng.random() * (len(points) - 1)
    low = min(int(place), len(points) - 2)
    return points[low] + (points[low + 1] - points[low]) * (place - low)


def _angle(rng: Random) -> float:
    return rng.randrange(3_600_000) / 10_000


def _five_digits(value: float) -> float:
    return 0.0 if abs(value) < 1e-10 else round(value, 4 - math.floor(math.log10(abs(value))))


def statistics_of(objects: Sequence[Elements], when: datetime) -> Statistics:
    """What a catalogue at the instant `when` gives a sky to draw from; no row of it can be had back.

    B* is taken from inert objects alone (debris and rocket bodies, by their names).
    """
    rest = [e for e in objects if perigee_altitude_km(e) > 0]
    cells = []
    for size in range(len(_SIZES)):
        counts = Counter(_cell(e, size) for e in rest)
        cells += [(size, *cell, n) for cell, n in sorted(counts.items()) if n >= _FEWEST]
        rest = [e for e in rest if counts[_cell(e, size)] < _FEWEST]
    inert = [e for e in objects if " DEB" in e.name or "R/B" in e.name]
    bands = [[e.bstar for e in inert if _band(perigee_altitude_km(e)) == band] for band in range(len(_BANDS_KM) - 1)]
    return Statistics(
        version=VERSION,
        objects=sum(cell[4] for cell in cells),
        cells=cells,
        bstar=[_points(band) for band in bands],
        age_days=_points([max((when - e.epoch) / timedelta(days=1), 0.0) for e in objects]),
    )


def _cell(elements: Elements, size: int) -> tuple[int, int, int]:
    km, degrees = _SIZES[size]
    perigee, apogee = perigee_altitude_km(elements), apogee_altitude_km(elements)
    return int(perigee // km), int(apogee // km), int(elements.inclination_deg // degrees)


def _points(values: list[float]) -> list[float]:
    """Evenly spaced quantiles from 1 % to 99 %, to three digits: an extreme belongs to one object, so none is told."""
    ordered = sorted(values)
    if not ordered:
        return [0.0, 0.0]
    places = [0.01 + 0.98 * k / _QUANTILES for k in range(_QUANTILES + 1)]
    return [float(f"{ordered[round(place * (len(ordered) - 1))]:.3g}") for place in places]
