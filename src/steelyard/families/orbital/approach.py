"""The closest approaches of two objects over a window, by SGP4 (WGS 72) in its own frame (TEME).

Method: a minimum of the distance lies where the range rate turns from approaching to receding. The turns are found on
a 30 s grid and narrowed by the Illinois method until they stand still to a hundredth of a millisecond.
SGP4's velocity is not quite the derivative of its position: minima of deep orbits come out up to 0.7 s off the least
distance, which is then 0.3 m less at most where the objects are thousands of km apart, and 12 mm below 50 km.
Not covered: all-against-all screening (`screening`), covariance, probability.
Easy to break: an SGP4 error or a not-a-number state anywhere in the window must raise, never read as "far apart".
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec

from steelyard.families.orbital.dynamics import (
    GRID_S,
    Model,
    States,
    grid_minutes,
    record,
    refuse_failures,
    states_of,
)
from steelyard.families.orbital.elements import Elements

_STILL_MIN = 1e-5 / 60
_MOST_STEPS = 60


class Approach(msgspec.Struct, frozen=True):
    """A local minimum of the distance: km, minutes after the start, whether the window's end makes it, and km/s."""

    distance_km: float
    after_min: float
    at_edge: bool
    speed_km_s: float = 0.0


def closest_approach(
    a: Elements, b: Elements, start: datetime, hours: float = 24.0, model: Model = "wgs72"
) -> Approach:
    """The nearest of `closest_approaches`; InputError when SGP4 gives no state somewhere in the window."""
    return min(closest_approaches(a, b, start, hours, model), key=lambda one: one.distance_km)


def closest_approaches(
    a: Elements, b: Elements, start: datetime, hours: float = 24.0, model: Model = "wgs72"
) -> list[Approach]:
    """Every local minimum of the distance in [start, start + hours] in time order, never none.

    An end of the window counts, as `at_edge`, when the objects recede from the start or still approach at the end.
    InputError when SGP4 gives no state somewhere in the window.

    >>> [(round(x.distance_km, 3), round(x.after_min, 2)) for x in closest_approaches(a, b, start, 2) if not x.at_edge]
    """
    import numpy as np  # heavy, in the extra "orbital"

    objects = (a, b)
    records = [record(e, model) for e in objects]
    grid = grid_minutes(hours, GRID_S)
    found = states_of(records, start, grid)
    refuse_failures(found, objects, grid)
    rate = range_rate(found)
    turns = np.flatnonzero((rate[:-1] < 0) & (rate[1:] >= 0))
    inner = turning_points(
        lambda minutes: range_rate(states_of(records, start, minutes)),
        (grid[turns], rate[turns]),
        (grid[turns + 1], rate[turns + 1]),
    )
    first, last = bool(rate[0] >= 0), bool(rate[-1] < 0)
    minutes = np.concatenate((grid[:1][:first], inner, grid[-1:][:last]))
    met = states_of(records, start, minutes)
    distance, speed = (np.linalg.norm(x[1] - x[0], axis=1).tolist() for x in (met.position_km, met.velocity_km_s))
    edge = [first, *[False] * (len(minutes) - 2), last] if len(minutes) > 1 else [first or last]
    return [Approach(d, t, e, v) for d, t, e, v in zip(distance, minutes.tolist(), edge, speed, strict=True)]


def range_rate(found: States) -> Any:
    """Distance times its rate, km^2/s, of the second object from the first at each time; negative = approaching."""
    import numpy as np  # as above

    return np.einsum(
        "ti,ti->t", found.position_km[1] - found.position_km[0], found.velocity_km_s[1] - found.velocity_km_s[0]
    )


def turning_points(rate: Callable[[Any], Any], low: tuple[Any, Any], high: tuple[Any, Any]) -> Any:
    """Minutes at which `rate` is zero between `low` and `high`, each (minutes, rate): negative there, then not.

    Illinois method (Dowell and Jarratt 1971): the secant, where the value of an end that stays twice is halved.
    """
    import numpy as np  # as above

    (t_low, f_low), (t_high, f_high) = low, high
    side = np.zeros(len(t_low), dtype=int)
    at = t_high
    for _ in range(_MOST_STEPS):
        newer = t_high - f_high * (t_high - t_low) / (f_high - f_low)
        still = np.abs(newer - at) < _STILL_MIN
        at = newer
        if still.all():
            break
        now = rate(at)
        below = now < 0
        f_high = np.where(below, np.where(side < 0, f_high / 2, f_high), now)
        f_low = np.where(below, now, np.where(side > 0, f_low / 2, f_low))
        t_low, t_high = np.where(below, at, t_low), np.where(below, t_high, at)
        side = np.where(below, -1, 1)
    return at
