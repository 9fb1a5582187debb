"""Sieves: every pair and time that may be a close approach, for `screening` to judge. No number leaves from here.

Two, which know nothing of each other. "astroz" (its own SIMD propagation and spatial index; another implementation of
SGP4, 0.34 m from sgp4's) is the quick one. "grid" is sgp4 states at the middle of short intervals, a cell index, and
straight-line motion with a bound on what its curvature can hide; it needs nothing but numpy.
Both see one block of time at once, so memory does not grow with the window.
Not covered: pairs without a minimum of distance inside the window; `screening` looks at its two ends.
Easy to break: astroz puts near-earth objects before deep ones, so results are mapped through `.satnums`; its loader
takes JSON text for a TLE when it finds "1 " and "2 " in it, so the text has no blanks.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

import msgspec

from steelyard.errors import InputError
from steelyard.families.orbital.dynamics import States, states_of
from steelyard.families.orbital.elements import Elements

Name = Literal["astroz", "grid"]
BLOCK_MIN = 30.0
_ASTROZ_STEP_MIN = 0.5
_ASTROZ_MARGIN_KM = 0.5  # its states differ from sgp4's by 0.34 m a day from epoch; this leaves room for old elements
_ASTROZ_HALF_S = 5.0
_GRID_STEP_S = 20.0
_STRONGEST_GRAVITY_KM_S2 = 0.0099  # mu / r^2 at 6350 km: no orbit comes deeper
_TRIPLES = [(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)]
_FORWARD = [t for t in _TRIPLES if t > (0, 0, 0)]  # half of a cell's neighbours: every pair of cells once
_CELL_BITS = 21
_FEW = 100  # points among which all pairs are cheaper than cells


class Candidates(msgspec.Struct, frozen=True):
    """Places of two objects and the middle of an interval in minutes after the start (arrays), and half its length.

    `wide_min` is half of a longer interval to look in where the first holds no turn of the range rate; 0 = none.
    """

    first: Any
    second: Any
    after_min: Any
    half_min: float
    wide_min: float = 0.0


class Block(msgspec.Struct, frozen=True):
    """A stretch of the window in minutes after its start, and what may happen in it."""

    from_min: float
    to_min: float
    candidates: Candidates


Sieve = Callable[[Sequence[Elements], Sequence[Any], datetime, float, float], Iterator[Block]]


def best() -> Name:
    """The quickest sieve that this environment has."""
    return "astroz" if importlib.util.find_spec("astroz") else "grid"


def sieve(name: Name) -> Sieve:
    """The sieve: (objects, their sgp4 records, start, minutes, threshold km) -> blocks in time order."""
    return {"astroz": _astroz_blocks, "grid": _grid_blocks}[name]


def _spans(minutes: float) -> Iterator[tuple[float, float]]:
    at = 0.0
    while at < minutes:
        yield at, min(at + BLOCK_MIN, minutes)
        at += BLOCK_MIN


def _astroz_blocks(
    objects: Sequence[Elements], _records: Sequence[Any], start: datetime, minutes: float, threshold_km: float
) -> Iterator[Block]:
    import numpy as np  # heavy, in the extra "orbital"

    try:
        astroz = importlib.import_module("astroz")
    except ImportError as error:
        raise InputError('the sieve "astroz" needs the package astroz; install it, or take the sieve "grid"') from error
    constellation = astroz.Constellation(omm_text(objects))
    places = np.array(constellation.satnums, dtype=np.int64) - 1
    if sorted(places.tolist()) != list(range(len(objects))):
        raise InputError(f'astroz loaded {len(places)} objects of {len(objects)}; take the sieve "grid"')
    for low, high in _spans(minutes):
        found = astroz.screen(
            constellation,
            high - low + _ASTROZ_STEP_MIN,  # blocks overlap; what is found twice is one event
            threshold=threshold_km + _ASTROZ_MARGIN_KM,
            step=_ASTROZ_STEP_MIN,
            start_time=start + timedelta(minutes=low),
        )
        middles = found.time + low
        half_min = _ASTROZ_HALF_S / 60
        yield Block(low, high, Candidates(places[found.i], places[found.j], middles, half_min, _ASTROZ_STEP_MIN))


def omm_text(objects: Sequence[Elements]) -> str:
    """OMM as JSON without blanks; objects are numbered from 1 in order, as real numbers may be too large."""
    rows = [
        {
            "NORAD_CAT_ID": place,
            "OBJECT_NAME": "",
            "OBJECT_ID": "",
            "EPOCH": f"{one.epoch:%Y-%m-%dT%H:%M:%S.%f}",
            "MEAN_MOTION": one.mean_motion_rev_per_day,
            "ECCENTRICITY": one.eccentricity,
            "INCLINATION": one.inclination_deg,
            "RA_OF_ASC_NODE": one.raan_deg,
            "ARG_OF_PERICENTER": one.arg_perigee_deg,
            "MEAN_ANOMALY": one.mean_anomaly_deg,
            "EPHEMERIS_TYPE": 0,
            "CLASSIFICATION_TYPE": "U",
            "ELEMENT_SET_NO": 1,
            "REV_AT_EPOCH": 0,
            "BSTAR": one.bstar,
            "MEAN_MOTION_DOT": 0,
            "MEAN_MOTION_DDOT": 0,
        }
        for place, one in enumerate(objects, 1)
    ]
    return msgspec.json.encode(rows).decode()


def _grid_blocks(
    _objects: Sequence[Elements], records: Sequence[Any], start: datetime, minutes: float, threshold_km: float
) -> Iterator[Block]:
    import numpy as np  # as above

    half_min = _GRID_STEP_S / 120
    for low, high in _spans(minutes):
        parts = [(np.empty(0, dtype=np.int64),) * 2 + (np.empty(0),)]
        middles = np.arange(low + half_min, high + half_min, 2 * half_min)
        for some in np.array_split(middles, max(len(middles) // 30, 1)):
            found = states_of(records, start, some)
            for step, at in enumerate(some):
                first, second = _near(found, step, threshold_km)
                parts.append((first, second, np.full(len(first), at)))
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        yield Block(low, high, Candidates(columns[0], columns[1], columns[2], half_min))


def _near(found: States, step: int, threshold_km: float) -> tuple[Any, Any]:
    """Pairs that may come within the threshold in the interval around one step."""
    import numpy as np  # as above

    half_s = _GRID_STEP_S / 2
    good = np.flatnonzero(found.codes[:, step] == 0)
    position, velocity = found.position_km[good, step], found.velocity_km_s[good, step]
    curvature_km = _STRONGEST_GRAVITY_KM_S2 * half_s**2  # two objects, half of g t^2 each
    fastest = np.sort(np.einsum("ni,ni->n", velocity, velocity))[-2:]
    reach_km = threshold_km + curvature_km + float(np.sqrt(fastest).sum()) * half_s
    first, second = pairs_within(position, reach_km)
    apart, moving = position[second] - position[first], velocity[second] - velocity[first]
    squared = np.maximum(np.einsum("ni,ni->n", moving, moving), 1e-12)
    when = np.clip(-np.einsum("ni,ni->n", apart, moving) / squared, -half_s, half_s)
    least = apart + moving * when[:, None]
    keep = np.einsum("ni,ni->n", least, least) <= (threshold_km + curvature_km) ** 2
    return good[first[keep]], good[second[keep]]


def pairs_within(position_km: Any, reach_km: float) -> tuple[Any, Any]:
    """Every pair of rows at most `reach_km` apart, each once, by a grid of cells of that size."""
    import numpy as np  # as above

    first, second = _all_pairs(position_km) if len(position_km) <= _FEW else _neighbours(position_km, reach_km)
    apart = position_km[second] - position_km[first]
    keep = np.einsum("ni,ni->n", apart, apart) <= reach_km**2
    return first[keep], second[keep]


def _all_pairs(position_km: Any) -> tuple[Any, Any]:
    import numpy as np  # as above

    first, second = np.triu_indices(len(position_km), k=1)
    return first, second


def _neighbours(position_km: Any, reach_km: float) -> tuple[Any, Any]:
    """Every pair of rows in one cell or in two cells that touch."""
    import numpy as np  # as above

    cells = np.floor((position_km - position_km.min(axis=0)) / reach_km).astype(np.int64) + 1
    keys = (cells[:, 0] << (2 * _CELL_BITS)) + (cells[:, 1] << _CELL_BITS) + cells[:, 2]
    order = np.argsort(keys, kind="stable")
    filled, begin, count = np.unique(keys[order], return_index=True, return_counts=True)
    parts = [_within_cells(begin, count)]
    for x, y, z in _FORWARD:
        wanted = filled + (x << (2 * _CELL_BITS)) + (y << _CELL_BITS) + z
        at = np.minimum(np.searchsorted(filled, wanted), len(filled) - 1)
        here = np.flatnonzero(filled[at] == wanted)
        parts.append(_across_cells(begin[here], count[here], begin[at[here]], count[at[here]]))
    first, second = (order[np.concatenate(side)] for side in zip(*parts, strict=True))
    return first, second


def _across_cells(begin_a: Any, count_a: Any, begin_b: Any, count_b: Any) -> tuple[Any, Any]:
    """All members of each cell of a list with all members of its partner."""
    import numpy as np  # as above

    sizes = count_a * count_b
    which = np.repeat(np.arange(len(sizes)), sizes)
    inside = np.arange(len(which)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    width = count_b[which]
    return begin_a[which] + inside // width, begin_b[which] + inside % width


def _within_cells(begin: Any, count: Any) -> tuple[Any, Any]:
    """All pairs inside each cell, the lower place first."""
    first, second = _across_cells(begin, count, begin, count)
    keep = first < second
    return first[keep], second[keep]
