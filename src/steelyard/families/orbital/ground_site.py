"""What a station sees: TEME to ITRS, the station on the ellipsoid, geometric elevation, and passes over it.

Sources: IAU 1982 Greenwich mean sidereal time (Aoki et al. 1982); TEME to Earth-fixed by that angle alone, as in
AIAA 2006-6753, appendix C; WGS 84 ellipsoid (NIMA TR8350.2). UT1 is taken as UTC (they differ by less than 0.9 s; in
2026 by about 0.1 s, which is 50 m at the equator) and polar motion (about 10 m) is left out.
A pass is the time above the mask. Crossings are found on a grid of 10 s (60 s for periods above 225 min) and bisected;
every extremum of elevation on the grid is refined as well, so that a pass between two samples is not overlooked.
Not covered: refraction, terrain, light.
Easy to break: an SGP4 error or a not-a-number state anywhere in the window must raise, never read as "below".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec

from steelyard.errors import InputError
from steelyard.families.orbital.dynamics import Model, grid_minutes, julian, reason, record, states_of
from steelyard.families.orbital.elements import EARTH_RADIUS_KM, Elements, period_min

FLATTENING = 1 / 298.257223563  # WGS 84, NIMA TR8350.2
EARTH_RATE_RAD_S = 7.29211514670698e-5  # AIAA 2006-6753, appendix C
MEAN_RADIUS_KM = 6371.0
DEEP_SPACE_MIN = 225.0
GRID_NEAR_S = 10.0
GRID_DEEP_S = 60.0
_J2000 = 2451545.0
_DAYS_PER_CENTURY = 36525.0
_HALVINGS = 24  # of a grid step: below a microsecond from 10 s, below ten from 60 s
_FAR_BELOW_DEG = 20.0  # a turning point that much below the mask on the grid stays below it between samples
_ZOOMS = 4
_ZOOM_SAMPLES = 21  # a zoom shortens the bracket tenfold


class Site(msgspec.Struct, frozen=True):
    """A station: geodetic latitude and east longitude in degrees, height above the WGS 84 ellipsoid in metres."""

    latitude_deg: float
    longitude_deg: float
    height_m: float = 0.0


class Pass(msgspec.Struct, frozen=True):
    """Rise, highest point and set in minutes after the start of the window, and the highest elevation in degrees."""

    rise_min: float
    peak_min: float
    set_min: float
    peak_deg: float


class Sightings(msgspec.Struct, frozen=True):
    """What a station sees in a window: whole passes in time order, and what makes a window no question.

    `extrema_deg` are the turning points of elevation inside the window that are no more than 20 degrees below the mask.
    """

    passes: list[Pass]
    up_at_start: bool
    up_at_end: bool
    always_up: bool
    extrema_deg: list[float]


def sidereal_angle(days: Any, fractions: Any) -> Any:
    """Greenwich mean sidereal time in radians (IAU 1982) at Julian dates of UT1, as numbers or numpy arrays."""
    centuries = ((days - _J2000) + fractions) / _DAYS_PER_CENTURY
    seconds = (
        67310.54841 + (876600 * 3600 + 8640184.812866) * centuries + 0.093104 * centuries**2 - 6.2e-6 * centuries**3
    )
    return seconds % 86400.0 * (math.tau / 86400.0)


def itrs_position(position: Any, angle: Any) -> Any:
    """Earth-fixed position of a TEME position (..., 3) at a sidereal angle in radians (...); no polar motion."""
    import numpy as np  # heavy, in the extra "orbital"

    c, s = np.cos(angle), np.sin(angle)
    x, y = position[..., 0], position[..., 1]
    return np.stack((c * x + s * y, c * y - s * x, position[..., 2] + 0 * c), axis=-1)


def itrs_velocity(position: Any, velocity: Any, angle: Any) -> Any:
    """Earth-fixed velocity (km/s), relative to the turning Earth, of a TEME state at a sidereal angle in radians."""
    import numpy as np  # as above

    fixed = itrs_position(position, angle)
    turned = itrs_position(velocity, angle)
    return turned - np.stack(
        (-EARTH_RATE_RAD_S * fixed[..., 1], EARTH_RATE_RAD_S * fixed[..., 0], 0 * fixed[..., 2]), axis=-1
    )


def teme_position(fixed: Any, angle: Any) -> Any:
    """The inverse of `itrs_position`."""
    return itrs_position(fixed, -angle)


def site_km(site: Site) -> tuple[list[float], list[float]]:
    """A station's Earth-fixed position in km, and the unit vector towards its zenith (normal to the ellipsoid)."""
    latitude, longitude = math.radians(site.latitude_deg), math.radians(site.longitude_deg)
    up = [
        math.cos(latitude) * math.cos(longitude),
        math.cos(latitude) * math.sin(longitude),
        math.sin(latitude),
    ]
    squashed = (1 - FLATTENING) ** 2
    curvature_km = EARTH_RADIUS_KM / math.sqrt(1 - (1 - squashed) * math.sin(latitude) ** 2)
    height_km = site.height_m / 1000
    radii = (curvature_km + height_km, curvature_km + height_km, curvature_km * squashed + height_km)
    return [u * r for u, r in zip(up, radii, strict=True)], up


def spherical_site_km(site: Site) -> tuple[list[float], list[float]]:
    """What `site_km` gives when the Earth is taken for a ball of 6371 km: a common mistake, for wrong attempts."""
    up = site_km(site)[1]
    return [u * (MEAN_RADIUS_KM + site.height_m / 1000) for u in up], up


def elevation_deg(fixed: Any, site: tuple[list[float], list[float]]) -> Any:
    """Geometric elevation in degrees of Earth-fixed positions (..., 3) from a station (`site_km`)."""
    import numpy as np  # as above

    line = fixed - np.asarray(site[0])
    sine = line @ np.asarray(site[1]) / np.linalg.norm(line, axis=-1)
    return np.degrees(np.arcsin(np.clip(sine, -1.0, 1.0)))


def elevations(
    elements: Elements,
    site: tuple[list[float], list[float]],
    start: datetime,
    model: Model = "wgs72",
    *,
    turning: bool = True,
) -> Callable[[Any], Any]:
    """Elevation in degrees as a function of minutes after `start`; InputError where SGP4 gives no state.

    Without `turning` the rotation of the Earth is left out: a common mistake, for wrong attempts.
    """
    return elevations_of(record(elements, model), site, start, turning=turning)


def elevations_of(
    one: Any, site: tuple[list[float], list[float]], start: datetime, *, turning: bool = True
) -> Callable[[Any], Any]:
    """As `elevations`, from an engine's record."""

    def at(minutes: Any) -> Any:
        found = states_of([one], start, minutes)
        if found.codes.any():
            code = int(found.codes.max())
            raise InputError(f"SGP4 gives no state somewhere in the window (error code {code}: {reason(code)})")
        angle = sidereal_angle(*julian(start, minutes)) * turning
        return elevation_deg(itrs_position(found.position_km[0], angle), site)

    return at


def sightings(elevation: Callable[[Any], Any], hours: float, mask_deg: float, step_s: float) -> Sightings:
    """Whole passes above the mask in [0, hours], of an elevation function of minutes."""
    import numpy as np  # as above

    grid = grid_minutes(hours, step_s)
    seen = elevation(grid)
    minutes, heights = _extrema(elevation, grid, seen, mask_deg - _FAR_BELOW_DEG)
    every = np.argsort(np.concatenate((grid, minutes)))  # an extremum between samples may be a pass of its own
    grid, seen = np.concatenate((grid, minutes))[every], np.concatenate((seen, heights))[every]
    up = seen >= mask_deg
    rises, sets = np.flatnonzero(~up[:-1] & up[1:]), np.flatnonzero(up[:-1] & ~up[1:])
    rise = _crossings(elevation, grid[rises], grid[rises + 1], mask_deg)
    fall = _crossings(elevation, grid[sets + 1], grid[sets], mask_deg)
    fall = fall[1:] if up[0] else fall
    passes = []
    for first, last in zip(rise.tolist(), fall.tolist(), strict=False):
        inside = [(h, t) for h, t in zip(heights.tolist(), minutes.tolist(), strict=True) if first <= t <= last]
        height, when = max(inside)
        passes.append(Pass(first, when, last, height))
    return Sightings(passes, bool(up[0]), bool(up[-1]), bool(up.all()), heights.tolist())


def passes_over(
    elements: Elements, site: Site, start: datetime, hours: float, mask_deg: float, model: Model = "wgs72"
) -> Sightings:
    """What a station sees of one object above `mask_deg`; InputError where SGP4 gives no state.

    >>> [(round(p.rise_min, 2), round(p.peak_deg, 1)) for p in passes_over(e, Site(52.0, 0.0), start, 24, 10).passes]
    """
    return sightings(elevations(elements, site_km(site), start, model), hours, mask_deg, grid_step_s(elements))


def grid_step_s(elements: Elements) -> float:
    """Seconds between samples: 10 near the Earth, 60 for periods above 225 min."""
    return GRID_NEAR_S if period_min(elements) < DEEP_SPACE_MIN else GRID_DEEP_S


def _crossings(elevation: Callable[[Any], Any], below: Any, above: Any, mask_deg: float) -> Any:
    """Minutes at which elevation crosses the mask, between instants below and above it, by bisection."""
    import numpy as np  # as above

    for _ in range(_HALVINGS if len(below) else 0):
        middle = (below + above) / 2
        up = elevation(middle) >= mask_deg
        below, above = np.where(up, below, middle), np.where(up, middle, above)
    return (below + above) / 2


def _extrema(elevation: Callable[[Any], Any], grid: Any, seen: Any, least_deg: float) -> tuple[Any, Any]:
    """Minutes and degrees of the turning points of elevation: sampled ever more finely around the grid's."""
    import numpy as np  # as above

    found = []
    for sign in (1, -1):
        left, middle, right = sign * seen[:-2], sign * seen[1:-1], sign * seen[2:]
        turns = np.flatnonzero((middle >= left) & (middle > right) & (seen[1:-1] > least_deg)) + 1
        found.append(_refined(elevation, grid[turns], grid[1] - grid[0], sign))
    (maxima, heights), (minima, depths) = found
    return np.concatenate((maxima, minima)), np.concatenate((heights, depths))


def _refined(elevation: Callable[[Any], Any], near: Any, step: float, sign: int) -> tuple[Any, Any]:
    import numpy as np  # as above

    height = np.empty(0)
    for _ in range(_ZOOMS if len(near) else 0):
        samples = near[:, None] + np.linspace(-step, step, _ZOOM_SAMPLES)
        seen = elevation(samples.ravel()).reshape(samples.shape)
        best = np.argmax(sign * seen, axis=1)
        rows = np.arange(len(near))
        near, height, step = samples[rows, best], seen[rows, best], step * 2 / (_ZOOM_SAMPLES - 1)
    return near, height
