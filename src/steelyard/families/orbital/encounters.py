"""One pair over a window: its nearest approach and the next one, and the ways in which people get that wrong.

Source: SGP4 (WGS 72, improved mode), frame TEME, through `approach`. The mistakes are what reviews of conjunction code
find: samples without refinement, the printed (Kozai) mean motion taken for SGP4's own (Brouwer), one object's epoch
used for both, and another minimum than the nearest.
Not covered: covariance, probability, the size of objects.
Easy to break: `meeting` is cached, as an item's gold, reference and spoils all ask for the same pair.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache

import msgspec

from steelyard.errors import InputError
from steelyard.families.orbital.approach import Approach, closest_approaches
from steelyard.families.orbital.dynamics import Model, checked_states, grid_minutes, moment, record, states_of, utc_text
from steelyard.families.orbital.elements import Elements
from steelyard.families.orbital.tapes import LEVELS

LAZY_STEP_S = 60.0
ROUGH_KM = 4.0  # what gravity bends two paths apart in half a rough step
_ROUGH_STEP_S = 40.0
TT_MINUS_UTC_S = 69.184  # since 2017: 37 leap seconds and the 32.184 s from TAI to TT
_KE_PER_MIN = 0.0743669161331734  # sqrt(mu) in Earth radii^1.5 per minute, WGS 72


class Window(msgspec.Struct, frozen=True):
    """The time looked at: from `start` (UTC), `hours` long."""

    start: datetime
    hours: float

    @property
    def end(self) -> datetime:
        """The instant at which it ends."""
        return self.start + timedelta(hours=self.hours)

    def utc(self, after_min: float) -> str:
        """ISO 8601 with milliseconds of an instant inside."""
        return utc_text(moment(self.start, after_min))


class Meeting(msgspec.Struct, frozen=True):
    """The nearest approach of a pair in a window, and the next nearest of its minima (None where there is but one)."""

    nearest: Approach
    runner_up: Approach | None

    @property
    def distance_km(self) -> float:
        """Miss distance."""
        return self.nearest.distance_km


@lru_cache(maxsize=2048)
def meeting(a: Elements, b: Elements, window: Window, model: Model = "wgs72") -> Meeting:
    """The two nearest approaches of a pair; InputError when SGP4 gives no state somewhere in the window."""
    found = sorted(closest_approaches(a, b, window.start, window.hours, model), key=lambda one: one.distance_km)
    return Meeting(found[0], found[1] if len(found) > 1 else None)


def rough_minima_km(asked: Elements, others: Sequence[Elements], window: Window) -> list[float]:
    """The least distance of each from `asked` by straight lines through samples: good to 4 km, to choose what to judge.

    Infinite for an object without a state at a sample.
    """
    import numpy as np  # heavy, in the extra "orbital"

    steps = math.ceil(window.hours * 3600 / _ROUGH_STEP_S)
    half_s = window.hours * 1800 / steps
    middles = (np.arange(steps) * 2 + 1) * half_s / 60
    found = states_of([record(e) for e in (asked, *others)], window.start, middles)
    apart = found.position_km[1:] - found.position_km[0]
    moving = found.velocity_km_s[1:] - found.velocity_km_s[0]
    squared = np.maximum(np.einsum("nti,nti->nt", moving, moving), 1e-12)
    when = np.clip(-np.einsum("nti,nti->nt", apart, moving) / squared, -half_s, half_s)
    least = np.linalg.norm(apart + moving * when[..., None], axis=2).min(axis=1)
    return [float(km) for km in np.where(np.isfinite(least), least, np.inf)]


def sampled(a: Elements, b: Elements, window: Window, step_s: float = LAZY_STEP_S) -> Approach:
    """The least of the distances at every `step_s` seconds, which is not the least distance."""
    import numpy as np  # as above

    grid = grid_minutes(window.hours, step_s)
    found = checked_states((a, b), window.start, grid)
    distance = np.linalg.norm(found.position_km[1] - found.position_km[0], axis=1)
    at = int(distance.argmin())
    speed = float(np.linalg.norm(found.velocity_km_s[1, at] - found.velocity_km_s[0, at]))
    return Approach(float(distance[at]), float(grid[at]), at in (0, len(grid) - 1), speed)


def taken_for_brouwer(elements: Elements) -> Elements:
    """Elements that make SGP4 fly the printed mean motion as its own (Brouwer) one, as if it had not been Kozai's."""
    axis = float(record(elements).a)  # Earth radii
    brouwer = _KE_PER_MIN / axis**1.5 * 1440 / math.tau
    printed = elements.mean_motion_rev_per_day
    return msgspec.structs.replace(elements, mean_motion_rev_per_day=printed * printed / brouwer)


def with_epoch_of(elements: Elements, other: Elements) -> Elements:
    """The elements dated with the other object's epoch."""
    return msgspec.structs.replace(elements, epoch=other.epoch)


def _at_brouwer(a: Elements, b: Elements, window: Window) -> Approach:
    return meeting(taken_for_brouwer(a), taken_for_brouwer(b), window).nearest


def _at_one_epoch(a: Elements, b: Elements, window: Window) -> Approach:
    return meeting(a, with_epoch_of(b, a), window).nearest


def _runner_up(a: Elements, b: Elements, window: Window) -> Approach | None:
    return meeting(a, b, window).runner_up


WRONG_WAYS: Mapping[str, Callable[[Elements, Elements, Window], Approach | None]] = {
    "sampled-without-refinement": sampled,
    "kozai-for-brouwer": _at_brouwer,
    "one-epoch-for-both": _at_one_epoch,
    "another-minimum": _runner_up,
}
"""What each mistake takes for the nearest approach; InputError where it leads to no state, None where it has none."""


def wrong_way(name: str, a: Elements, b: Elements, window: Window) -> Approach | None:
    """What the mistake of that name finds; None where it finds nothing."""
    try:
        return WRONG_WAYS[name](a, b, window)
    except InputError:
        return None


def sure_step_s(distance_km: float, seen_km: float, speed_km_s: float) -> float:
    """The longest sampling step, in s, that is sure to show a distance of at most `seen_km` without refinement.

    Straight-line motion past a miss distance: half a step at this relative speed is the worst that sampling can do.
    """
    return 2 * math.sqrt(max(seen_km**2 - distance_km**2, 0.0)) / speed_km_s


def level_of(step_s: float, cuts_s: tuple[float, float]) -> str:
    """The rung of the ladder: easy down to the first cut, medium down to the second, else hard."""
    return LEVELS[(step_s < cuts_s[0]) + (step_s < cuts_s[1])]
