"""Second opinions on a meeting: the other set of constants (WGS 84), and another implementation of SGP4.

The other implementation is astroz where it is installed, else the pure-Python model that sgp4 carries, which is asked
only around the approach as it is slow. Measured on 246 encounters of a synthetic pool: WGS 84 moves the miss distance
by 11 m (median), 42 m (90 %) and 117 m (most) and the time by 25 ms at most, astroz by 0.24 m and 0.03 ms at most.
What differs by more than 50 m is dropped, so the band of 0.1 km + 1 % is twice what defensible oracles leave.
Not covered: other theories than SGP4; the truth.
Easy to break: both implementations must be given the same constants, or they differ as WGS 84 does.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
from typing import Any, Literal

from steelyard.errors import InputError
from steelyard.families.orbital.approach import Approach, range_rate, turning_points
from steelyard.families.orbital.dynamics import record, states_of
from steelyard.families.orbital.elements import LOCAL_ID, Elements
from steelyard.families.orbital.encounters import Meeting, Window, meeting

AGREE_KM = 0.05
AGREE_S = 0.25
_HALF_MIN = 0.5
_JULIAN_DAY_OF_SGP4_EPOCH = 2433281.5

Engine = Literal["astroz", "python"]


def second_engine() -> Engine:
    """The other implementation that this environment has."""
    return "astroz" if importlib.util.find_spec("astroz") else "python"


def disagreement(a: Elements, b: Elements, window: Window, met: Meeting, engine: Engine | None = None) -> str | None:
    """Which second opinion differs by more than `AGREE_KM` or `AGREE_S`: "wgs84" or "engine"; None when none does."""
    if not _agree(met.nearest, meeting(a, b, window, "wgs84").nearest):
        return "wgs84"
    other = by_engine(a, b, window, met, engine or second_engine())
    return None if other is not None and _agree(met.nearest, other) else "engine"


def by_engine(a: Elements, b: Elements, window: Window, met: Meeting, engine: Engine) -> Approach | None:
    """The nearest approach by another implementation, None where it finds no such minimum or no state."""
    try:
        if engine == "astroz":
            return meeting(a, b, window, "astroz").nearest
        return nearby([python_record(e) for e in (a, b)], window, met.nearest)
    except InputError:
        return None


def opinions_km(a: Elements, b: Elements, window: Window) -> list[float]:
    """The least distance by the reference, and by both second opinions around the same time.

    InputError where one of them finds no minimum there.
    """
    met = meeting(a, b, window).nearest
    other = [record(e, "astroz") if second_engine() == "astroz" else python_record(e) for e in (a, b)]
    asked = ([record(e, "wgs84") for e in (a, b)], other)
    return [met.distance_km, *(nearby(records, window, met).distance_km for records in asked)]


def _agree(one: Approach, other: Approach) -> bool:
    return abs(one.distance_km - other.distance_km) <= AGREE_KM and abs(one.after_min - other.after_min) * 60 <= AGREE_S


def nearby(records: list[Any], window: Window, met: Approach) -> Approach:
    """What these records make of an approach: the minimum within half a minute, or the distance where the window ends.

    InputError when there is none.
    """
    import numpy as np  # heavy, in the extra "orbital"

    at = np.array([met.after_min])
    if not met.at_edge:
        low, high = at - _HALF_MIN, at + _HALF_MIN
        at_low, at_high = (range_rate(states_of(records, window.start, end)) for end in (low, high))
        if not at_low[0] < 0 <= at_high[0]:
            raise InputError(f"no minimum within {_HALF_MIN} min of minute {met.after_min:.3f} by this engine")
        at = turning_points(
            lambda minutes: range_rate(states_of(records, window.start, minutes)), (low, at_low), (high, at_high)
        )
    there = states_of(records, window.start, at)
    distance, speed = (float(np.linalg.norm(x[1, 0] - x[0, 0])) for x in (there.position_km, there.velocity_km_s))
    if not math.isfinite(distance):
        raise InputError(f"no state at minute {met.after_min:.3f} by this engine")
    return Approach(distance, float(at[0]), met.at_edge, speed)


def python_record(elements: Elements) -> Any:
    """The record of sgp4's pure-Python model (WGS 72, improved mode), set as the compiled one is."""
    compiled = record(elements)
    model = importlib.import_module("sgp4.model")
    made = model.Satrec()
    made.sgp4init(
        importlib.import_module("sgp4.api").WGS72,
        "i",
        LOCAL_ID,
        compiled.jdsatepoch - _JULIAN_DAY_OF_SGP4_EPOCH + compiled.jdsatepochF,
        compiled.bstar,
        compiled.ndot,
        compiled.nddot,
        compiled.ecco,
        compiled.argpo,
        compiled.inclo,
        compiled.mo,
        compiled.no_kozai,
        compiled.nodeo,
    )
    return made
