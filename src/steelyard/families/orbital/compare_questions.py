"""What `orbital-compare` asks: quantities that follow from printed columns, each with its two directions in words.

Every question says from which columns its value follows and by how much the best must lead: a share of the larger value
(`gap`) and an absolute least (`least_gap`).
Not covered: which objects are asked about (`compare_items`).
Easy to break: questions that share their words must mean one quantity, as prompts are read back by their words.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from steelyard.families.orbital.elements import (
    EARTH_RADIUS_KM,
    Elements,
    apogee_altitude_km,
    perigee_altitude_km,
    period_min,
    semi_major_axis_km,
)


class Column(msgspec.Struct, frozen=True):
    """One printed number of an object: its label, unit, decimals and value."""

    label: str
    unit: str
    decimals: int
    value: Callable[[Elements], float]


COLUMNS = {
    column.label: column
    for column in (
        Column("mean motion", "rev/day", 3, lambda e: e.mean_motion_rev_per_day),
        Column("period", "min", 2, period_min),
        Column("eccentricity", "", 4, lambda e: e.eccentricity),
        Column("inclination", "deg", 2, lambda e: e.inclination_deg),
        Column("perigee altitude", "km", 1, perigee_altitude_km),
        Column("apogee altitude", "km", 1, apogee_altitude_km),
        Column("semi-major axis", "km", 1, semi_major_axis_km),
    )
}
Row = dict[str, float]
"""The printed numbers of one object, by label."""


class Question(msgspec.Struct, frozen=True):
    """A quantity of the printed numbers, and its two directions in words: (which-question, yes/no question).

    `needs` are the columns it is computed from; `shape` is direct (a printed number), inverse or derived.
    """

    name: str
    shape: str
    needs: tuple[str, ...]
    value: Callable[[Row], float]
    most: tuple[str, str]
    least: tuple[str, str]
    gap: float = 0.03
    least_gap: float = 0.0


def _printed(label: str) -> Callable[[Row], float]:
    return lambda row: row[label]


def _axis(sign: int) -> Callable[[Row], float]:
    return lambda row: row["semi-major axis"] * (1 + sign * row["eccentricity"]) - EARTH_RADIUS_KM


def _height_ratio(row: Row) -> float:
    """Eccentricity from the two altitudes."""
    rise = row["apogee altitude"] - row["perigee altitude"]
    return rise / (row["apogee altitude"] + row["perigee altitude"] + 2 * EARTH_RADIUS_KM)


_LONGEST = ("has the longest orbital period", "have a longer orbital period than")
_SHORTEST = ("has the shortest orbital period", "have a shorter orbital period than")
_OFTENEST = ("circles the Earth most often per day", "circle the Earth more often per day than")
_RAREST = ("circles the Earth least often per day", "circle the Earth less often per day than")
_HIGHEST = ("has the highest apogee", "have a higher apogee than")
_LOWEST_APOGEE = ("has the lowest apogee", "have a lower apogee than")
_HIGHEST_PERIGEE = ("has the highest perigee", "have a higher perigee than")
_LOWEST = ("comes closest to the Earth's surface", "come closer to the Earth's surface than")
_ROUNDEST = ("has the most circular orbit", "have a more circular orbit than")
_ECCENTRIC = ("has the most eccentric orbit", "have a more eccentric orbit than")
_TILTED = ("has the most inclined orbit", "have a more inclined orbit than")
_FLATTEST = ("has the least inclined orbit", "have a less inclined orbit than")
_POLAR = ("has the orbit closest to a polar orbit (inclination 90 deg)", "have an orbit closer to polar (90 deg) than")
_EQUATOR = ("has the orbit farthest from a polar orbit (inclination 90 deg)", "have an orbit farther from polar than")

QUESTIONS = (
    Question("period", "direct", ("period",), _printed("period"), _LONGEST, _SHORTEST),
    Question("mean motion", "direct", ("mean motion",), _printed("mean motion"), _OFTENEST, _RAREST),
    Question("apogee", "direct", ("apogee altitude",), _printed("apogee altitude"), _HIGHEST, _LOWEST_APOGEE),
    Question("perigee", "direct", ("perigee altitude",), _printed("perigee altitude"), _HIGHEST_PERIGEE, _LOWEST),
    Question("inclination", "direct", ("inclination",), _printed("inclination"), _TILTED, _FLATTEST, least_gap=2.0),
    Question(
        "eccentricity",
        "direct",
        ("eccentricity",),
        _printed("eccentricity"),
        _ECCENTRIC,
        _ROUNDEST,
        0.1,
        least_gap=0.002,
    ),
    Question("period", "inverse", ("mean motion",), lambda row: 1440 / row["mean motion"], _LONGEST, _SHORTEST),
    Question("mean motion", "inverse", ("period",), lambda row: 1440 / row["period"], _OFTENEST, _RAREST),
    Question(
        "distance from polar",
        "inverse",
        ("inclination",),
        lambda row: abs(row["inclination"] - 90),
        _EQUATOR,
        _POLAR,
        least_gap=3.0,
    ),
    Question("apogee", "derived", ("semi-major axis", "eccentricity"), _axis(+1), _HIGHEST, _LOWEST_APOGEE, 0.05),
    Question("perigee", "derived", ("semi-major axis", "eccentricity"), _axis(-1), _HIGHEST_PERIGEE, _LOWEST, 0.05),
    Question(
        "eccentricity",
        "derived",
        ("perigee altitude", "apogee altitude"),
        _height_ratio,
        _ECCENTRIC,
        _ROUNDEST,
        0.1,
        least_gap=0.002,
    ),
    Question(
        "period",
        "derived",
        ("perigee altitude", "apogee altitude"),
        lambda row: row["perigee altitude"] + row["apogee altitude"] + 2 * EARTH_RADIUS_KM,
        _LONGEST,
        _SHORTEST,
    ),
)
"""Questions that share their words mean one quantity: where a prompt's columns allow two, both answer the same."""
