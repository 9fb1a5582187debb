"""The closest approach of two objects over a window, by SGP4 (WGS 72) in its own frame (TEME).

Method: the distance on a 30 s grid; around every grid minimum that could still hold the least one, two finer grids of
400 points. In low orbits two objects close at up to 15.7 km/s, so a grid value is off by at most 15.7 km/s x 15 s.
Not covered: all-against-all screening, covariance, a second engine.
Easy to break: an SGP4 error or a not-a-number state anywhere in the window must raise, never read as "far apart".
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from steelyard.errors import InputError
from steelyard.families.orbital.elements import SGP4_EPOCH, Elements, satrec

GRID_S = 30.0
_LOCAL_POINTS = 400
_GRID_SLACK_KM = 15.7 * GRID_S / 2  # closing speed in km/s, half a step
_JULIAN_DAY_OF_SGP4_EPOCH = 2433281.5


class Approach(msgspec.Struct, frozen=True):
    """The least distance in km, minutes after the start of the window, and whether it lies at the window's edge."""

    distance_km: float
    after_min: float
    at_edge: bool


def closest_approach(a: Elements, b: Elements, start: datetime, hours: float = 24.0) -> Approach:
    """The least distance between two objects in [start, start + hours]; InputError when SGP4 gives no state."""
    import numpy as np  # heavy, in the extra "orbital"; only this search needs it

    records = (a, satrec(a)), (b, satrec(b))
    end_min = hours * 60
    grid = np.linspace(0.0, end_min, round(end_min * 60 / GRID_S) + 1)
    coarse = _distances(records, start, grid)
    inner = np.concatenate(([np.inf], coarse, [np.inf]))
    low = np.flatnonzero((coarse <= inner[:-2]) & (coarse <= inner[2:]) & (coarse <= coarse.min() + _GRID_SLACK_KM))
    best = min((_refined(records, start, grid, int(place)) for place in low), key=lambda found: found[0])
    edge_min = GRID_S / 60 / _LOCAL_POINTS
    return Approach(best[0], best[1], at_edge=best[1] < edge_min or best[1] > end_min - edge_min)


def _refined(records: Any, start: datetime, grid: Any, place: int) -> tuple[float, float]:
    import numpy as np  # as above

    low, high = grid[max(place - 1, 0)], grid[min(place + 1, len(grid) - 1)]
    for _ in range(2):
        local = np.linspace(low, high, _LOCAL_POINTS)
        distances = _distances(records, start, local)
        least = int(distances.argmin())
        low, high = local[max(least - 1, 0)], local[min(least + 1, _LOCAL_POINTS - 1)]
    return float(distances[least]), float(local[least])


def _distances(records: Any, start: datetime, minutes: Any) -> Any:
    import numpy as np  # as above

    since = start - SGP4_EPOCH
    days = np.full(len(minutes), _JULIAN_DAY_OF_SGP4_EPOCH + since.days)
    fractions = (since.seconds + since.microseconds / 1e6) / 86400 + minutes / 1440
    positions = []
    for elements, record in records:
        codes, position, _ = record.sgp4_array(days, fractions)
        if codes.any() or not np.isfinite(position).all():
            bad = int(np.flatnonzero(codes | ~np.isfinite(position).all(axis=1))[0])
            raise InputError(
                f"SGP4 gives no state of object {elements.norad_id} {minutes[bad]:.1f} min into the window "
                f"(error code {codes[bad]})"
            )
        positions.append(position)
    return np.linalg.norm(positions[0] - positions[1], axis=1)
