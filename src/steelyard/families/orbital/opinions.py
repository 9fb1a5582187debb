"""Second opinions on a gold: the other set of constants (WGS 84), and another implementation of SGP4.

The other implementation is astroz where it is installed, else the pure-Python model that sgp4 carries: the first is a
compiled program of its own, the second shares sgp4's authors and not its code. Both are asked with WGS 72.
Measured on 246 encounters of a synthetic pool: WGS 84 moves the miss distance by 11 m (median), 42 m (90 %) and 117 m
(most) and the time by 25 ms at most, astroz by 0.24 m and 0.03 ms at most. What differs by more than 50 m is dropped,
so the band of 0.1 km + 1 % is twice what defensible oracles leave.
An opinion without a state is a different opinion: it drops the item and never stops the making.
Not covered: other theories than SGP4; the truth.
Easy to break: both implementations must be given the same constants, or they differ as WGS 84 does.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Mapping
from typing import Any, Literal

from steelyard.errors import InputError
from steelyard.families.orbital.approach import Approach, range_rate, turning_points
from steelyard.families.orbital.dynamics import Model, record, states_of
from steelyard.families.orbital.elements import Elements
from steelyard.families.orbital.encounters import Meeting, Window, meeting

AGREE_KM = 0.05
AGREE_S = 0.25
_HALF_MIN = 0.5

Engine = Literal["astroz", "python"]
Opinion = Literal["wgs84", "engine"]

PROPAGATED = "WGS 84 constants and another implementation of SGP4 give the same answer, or the item is dropped"
SECOND_OPINIONS: Mapping[str, str] = {
    "orbital-conjunction": PROPAGATED,
    "orbital-encounter": PROPAGATED,
    "orbital-partner": PROPAGATED,
    "orbital-pass": PROPAGATED,
    "orbital-decay": PROPAGATED,
    "orbital-correlation": PROPAGATED,
    "orbital-altitude": "nothing is propagated; SGP4's own (Brouwer) axis with WGS 72 and with WGS 84 constants gives "
    "altitudes inside the band, or the object is refused",
    "orbital-period": "nothing is propagated; SGP4's own (Brouwer) period lies inside the band for every orbit above "
    "120 km, with either set of constants",
    "orbital-compare": "nothing is propagated; the answer follows from the printed numbers, and leads by more than any "
    "convention moves it",
    "orbital-extreme": "nothing is propagated; the answer is one of the printed numbers, and leads by more than any "
    "convention moves it",
    "orbital-malformed": "malformed sets are not propagated; the faults that reading finds are those that were made, "
    "or the item is refused",
}
"""For each family, what stands beside its gold."""


def second_engine() -> Engine:
    """The other implementation that this environment has."""
    return "astroz" if importlib.util.find_spec("astroz") else "python"


def dissent(same: Callable[[Model], bool]) -> Opinion | None:
    """The first second opinion under which `same` is false, or for which there is no state; None when there is none."""
    models: tuple[tuple[Opinion, Model], ...] = (("wgs84", "wgs84"), ("engine", second_engine()))
    for opinion, model in models:
        try:
            agrees = same(model)
        except InputError:
            agrees = False
        if not agrees:
            return opinion
    return None


def disagreement(a: Elements, b: Elements, window: Window, met: Meeting) -> Opinion | None:
    """Which second opinion differs by more than `AGREE_KM` or `AGREE_S`: "wgs84" or "engine"; None when none does."""
    return dissent(lambda model: _agree(met.nearest, _nearest_by(model, a, b, window, met)))


def by_engine(a: Elements, b: Elements, window: Window, met: Meeting, engine: Engine) -> Approach | None:
    """The nearest approach by another implementation, None where it finds no such minimum or no state."""
    try:
        return _nearest_by(engine, a, b, window, met)
    except InputError:
        return None


def _nearest_by(model: Model, a: Elements, b: Elements, window: Window, met: Meeting) -> Approach:
    """The nearest approach of the window; by the slow model, the one around that of the reference."""
    if model == "python":
        return nearby([record(e, model) for e in (a, b)], window, met.nearest)
    return meeting(a, b, window, model).nearest


def opinions_km(a: Elements, b: Elements, window: Window) -> list[float]:
    """The least distance by the reference, and by both second opinions around the same time.

    InputError where one of them finds no minimum there.
    """
    met = meeting(a, b, window).nearest
    others = [[record(e, model) for e in (a, b)] for model in ("wgs84", second_engine())]
    return [met.distance_km, *(nearby(records, window, met).distance_km for records in others)]


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
