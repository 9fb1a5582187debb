"""States of many objects at many times: the ground that items and screening share (`approach` has the encounters).

Source: SGP4 as the package sgp4 computes it (WGS 72, improved mode, frame TEME); `model` names a second opinion:
"wgs84" is the same code with the other constants; "astroz" (when it is installed) and "python" (slow) are others.
Times are minutes after a start in UTC. Distances in km, speeds in km/s.
Not covered: other frames, leap seconds inside a window, covariance, probability.
Easy to break: SGP4's code 0 with a not-a-number state. Such a state has the code `NOT_FINITE` here, and whatever must
not fail (`checked_states`, `state`) raises with the object and the minute.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import msgspec

from steelyard.errors import InputError, did_you_mean
from steelyard.families.orbital.elements import MINUTES_PER_DAY, SGP4_EPOCH, Elements, satrec

Model = Literal["wgs72", "wgs84", "astroz", "python"]
MODELS: tuple[Model, ...] = ("wgs72", "wgs84", "astroz", "python")
NOT_FINITE = 99  # no code of SGP4's: it said 0 and gave a state that is not a number
GRID_S = 30.0
_JULIAN_DAY_OF_SGP4_EPOCH = 2433281.5
_REASONS = {
    1: "mean eccentricity outside [0, 1) or axis too small",
    2: "mean motion not positive",
    3: "perturbed eccentricity outside [0, 1)",
    4: "semilatus rectum negative",
    6: "below the Earth's surface: decayed",
    NOT_FINITE: "a state that is not a number, with error code 0",
}


class States(msgspec.Struct, frozen=True):
    """SGP4's codes (objects, times), positions and velocities (objects, times, 3) as numpy arrays; code 0 is good."""

    codes: Any
    position_km: Any
    velocity_km_s: Any


def reason(code: int) -> str:
    """SGP4's error code in words."""
    return _REASONS.get(code, f"error code {code}")


def record(elements: Elements, model: Model = "wgs72") -> Any:
    """The engine's record of one object: `.sgp4(jd, fraction)` and `.sgp4_array(jds, fractions)`."""
    return satrec(elements, model)


def moment(start: datetime, after_min: float) -> datetime:
    """The instant `after_min` minutes after `start`, to the microsecond."""
    return start + timedelta(minutes=after_min)


def utc_text(when: datetime) -> str:
    """ISO 8601 with milliseconds and Z, rounded to the nearest: 2009-02-10T16:55:59.796Z."""
    rounded = when.astimezone(UTC) + timedelta(microseconds=500)
    return f"{rounded:%Y-%m-%dT%H:%M:%S}.{rounded.microsecond // 1000:03d}Z"


def age_days(elements: Elements, when: datetime) -> float:
    """Days from an element set's epoch to `when`; negative before it."""
    return (when - elements.epoch) / timedelta(days=1)


def julian(start: datetime, minutes: Any) -> tuple[Any, Any]:
    """Julian days and fractions of instants, split so that a fraction keeps its nanoseconds."""
    import numpy as np  # heavy, in the extra "orbital"

    since = start - SGP4_EPOCH
    places = np.atleast_1d(np.asarray(minutes, dtype=float))
    days = np.full(len(places), _JULIAN_DAY_OF_SGP4_EPOCH + since.days)
    return days, (since.seconds + since.microseconds / 1e6) / 86400 + places / MINUTES_PER_DAY


def states(objects: Sequence[Elements], start: datetime, minutes: Any, model: Model = "wgs72") -> States:
    """States of all objects at all times; failures stay in `codes` (nothing is raised), their states are not numbers.

    >>> found = states([a, b], start, [0, 10, 20])      # found.position_km.shape == (2, 3, 3)
    """
    return states_of([record(e, model) for e in objects], start, minutes)


def states_of(records: Sequence[Any], start: datetime, minutes: Any) -> States:
    """As `states`, from records that were made once (`record`)."""
    import numpy as np  # as above

    days, fractions = julian(start, minutes)
    codes = np.zeros((len(records), len(days)), dtype=np.uint8)
    position = np.empty((len(records), len(days), 3))
    velocity = np.empty_like(position)
    for place, one in enumerate(records):
        codes[place], position[place], velocity[place] = one.sgp4_array(days, fractions)
    bad = ~(np.isfinite(position).all(axis=2) & np.isfinite(velocity).all(axis=2))
    codes[bad & (codes == 0)] = NOT_FINITE
    position[codes != 0] = np.nan
    velocity[codes != 0] = np.nan
    return States(codes, position, velocity)


def checked_states(objects: Sequence[Elements], start: datetime, minutes: Any, model: Model = "wgs72") -> States:
    """As `states`, with InputError naming the first object and minute without a state."""
    found = states(objects, start, minutes, model)
    refuse_failures(found, objects, minutes)
    return found


def state(elements: Elements, when: datetime, model: Model = "wgs72") -> tuple[list[float], list[float]]:
    """Position (km) and velocity (km/s) of one object at one instant, TEME; InputError when SGP4 gives none."""
    found = checked_states([elements], when, [0.0], model)
    return found.position_km[0, 0].tolist(), found.velocity_km_s[0, 0].tolist()


def refuse_failures(found: States, objects: Sequence[Elements], minutes: Any) -> None:
    """InputError naming the first object and minute for which `found` has a code."""
    import numpy as np  # as above

    if not found.codes.any():
        return
    place, step = (int(x) for x in np.argwhere(found.codes)[0])
    code = int(found.codes[place, step])
    minute = float(np.atleast_1d(np.asarray(minutes, dtype=float))[step])
    raise InputError(
        f"SGP4 gives no state of object {objects[place].norad_id} {minute:.1f} min into the window "
        f"(error code {code}: {reason(code)})"
    )


def grid_minutes(hours: float, step_s: float = GRID_S) -> Any:
    """Evenly spaced minutes over a window, both ends included, at most `step_s` seconds apart."""
    import numpy as np  # as above

    if not 0 < hours < math.inf:
        raise InputError(f"a window must last more than 0 hours, got {hours}")
    return np.linspace(0.0, hours * 60, max(math.ceil(hours * 3600 / step_s), 1) + 1)


def known_model(name: str) -> Model:
    """`name` if it is one of `MODELS`; InputError with the nearest known one otherwise."""
    for model in MODELS:
        if name == model:
            return model
    raise InputError(f'no model "{name}"{did_you_mean(name, MODELS)}')
