"""When an object has decayed under SGP4: the first time below 120 km, or with an error.

Altitude here is the distance from the Earth's centre less 6378.137 km. The search has two steps: states every six hours
until the osculating perigee is low or a state fails, then every two minutes from there on. Osculating perigees swing by
about 10 km around the mean one, so nothing before the first low one can be below 120 km.
SGP4 is a model: its drag knows neither the Sun's activity nor the object. It orders inert objects well and dates them
badly.
Not covered: manoeuvres; a first dip below 120 km between two samples (it made times 0.6 % late at most, where tried).
Easy to break: SGP4 recovers from errors with nonsense, so the first failure counts and never the last state.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from steelyard.errors import InputError
from steelyard.families.orbital.dynamics import Model, record, states_of
from steelyard.families.orbital.elements import EARTH_RADIUS_KM, MU_EARTH_KM3_S2, Elements

DECAYED_BELOW_KM = 120.0
HORIZON_DAYS = 500.0
_COARSE_MIN = 360.0
_FINE_MIN = 2.0
_CHUNK = 1024  # samples at a time
_LOW_PERIGEE_KM = 140.0
_DAY_MIN = 1440.0


def decay_days(
    elements: Elements, start: datetime, horizon_days: float = HORIZON_DAYS, model: Model = "wgs72"
) -> float | None:
    """Days after `start` at which the object has decayed, or None when it has not within the horizon.

    InputError when there is no state at `start`, or the object is below 120 km by then.
    """
    one = record(elements, model)
    failed, altitude, _ = _heights(one, start, [0.0])
    if failed[0] or altitude[0] < DECAYED_BELOW_KM:
        raise InputError(f"object {elements.norad_id} has no orbit at {start:%Y-%m-%dT%H:%M}Z: it decayed before")
    horizon_min = horizon_days * _DAY_MIN
    first = _first(
        one, start, (0.0, horizon_min), _COARSE_MIN, lambda failed, _, perigee: failed | (perigee < _LOW_PERIGEE_KM)
    )
    if first is None:
        return None
    found = _first(
        one,
        start,
        (max(first - _COARSE_MIN, 0.0), horizon_min),
        _FINE_MIN,
        lambda failed, altitude, _: failed | (altitude < DECAYED_BELOW_KM),
    )
    return None if found is None else found / _DAY_MIN


def _first(
    one: Any, start: datetime, span_min: tuple[float, float], step_min: float, marked: Callable[[Any, Any, Any], Any]
) -> float | None:
    """The first sample of a span that is marked (from what `_heights` gives), in minutes; a chunk at a time."""
    import numpy as np  # heavy, in the extra "orbital"

    chunk_min = _CHUNK * step_min
    for begin in np.arange(span_min[0], span_min[1], chunk_min):
        minutes = np.arange(begin, min(begin + chunk_min, span_min[1]), step_min)
        found = np.flatnonzero(marked(*_heights(one, start, minutes)))
        if len(found):
            return float(minutes[found[0]])
    return None


def _heights(one: Any, start: datetime, minutes: Any) -> tuple[Any, Any, Any]:
    """Whether there is no state, the altitude, and the osculating perigee's altitude in km, at each time."""
    import numpy as np  # as above

    found = states_of([one], start, minutes)
    failed, position, velocity = found.codes[0] != 0, found.position_km[0], found.velocity_km_s[0]
    with np.errstate(invalid="ignore"):
        radius = np.linalg.norm(position, axis=1)
        momentum = np.linalg.norm(np.cross(position, velocity), axis=1)
        inverse_axis = 2 / radius - np.einsum("ti,ti->t", velocity, velocity) / MU_EARTH_KM3_S2
        squared = np.clip(1 - momentum**2 * inverse_axis / MU_EARTH_KM3_S2, 0, None)
        perigee = (1 - np.sqrt(squared)) / inverse_axis - EARTH_RADIUS_KM
    return failed, radius - EARTH_RADIUS_KM, perigee
