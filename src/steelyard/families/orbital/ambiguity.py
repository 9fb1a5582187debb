"""What makes an encounter no question with one answer: named rules, and a tape that counts what they refuse.

Source of the numbers: the spread of defensible oracles (other constants, another implementation, rounded fields), which
is tens of metres and hundredths of a second; every guard is several times that.
Not covered: whether the elements are good; SGP4 is a model, and its own error is kilometres a day.
Easy to break: a rule that looks at fewer than all grid points would let a state that is not a number read as "far".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from steelyard.errors import InputError
from steelyard.families.orbital.dynamics import age_days
from steelyard.families.orbital.elements import Elements
from steelyard.families.orbital.encounters import Meeting, Window, meeting
from steelyard.families.orbital.opinions import disagreement

OLDEST_DAYS = 3.0
SLOWEST_KM_S = 0.5
EDGE_MIN = 2.0
GUARD_KM = 0.25
RIVAL_KM = 0.5
RIVAL_SHARE = 0.1
MOST_AN_OBJECT = 3
MOST_A_LAUNCH = 12

RULES = {
    "no-state": "SGP4 gives an error, or a state that is not a number, somewhere in the window",
    "stale-epoch": f"an epoch lies more than {OLDEST_DAYS:g} days outside the window",
    "slow": f"the relative speed is below {SLOWEST_KM_S} km/s: co-moving, docked, or neighbours in one ring",
    "near-edge": f"the nearest approach is within {EDGE_MIN * 60:g} s of an end of the window",
    "near-threshold": f"the miss distance is within {GUARD_KM} km of the threshold",
    "second-minimum": f"another approach is within {RIVAL_KM} km or {RIVAL_SHARE:.0%} of the nearest",
    "wgs84-differs": "WGS 84 constants give another distance or time",
    "engine-differs": "another implementation of SGP4 gives another distance or time",
    "overused-object": f"an object stands already in {MOST_AN_OBJECT} items",
    "overused-launch": f"objects of one launch stand already in {MOST_A_LAUNCH} items",
    "no-counterpart": "the pool holds no objects that fit beside this encounter",
}
"""Every reason for which a candidate is refused, in words."""


def refusal(
    a: Elements, b: Elements, window: Window, *, threshold_km: float | None = None, rivals: bool = True
) -> str | None:
    """The first rule that refuses this pair, or None; `rivals` asks whether a second minimum would matter."""
    if any(_days_outside(e, window) > OLDEST_DAYS for e in (a, b)):
        return "stale-epoch"
    try:
        met = meeting(a, b, window)
    except InputError:
        return "no-state"
    return _of_meeting(met, window, threshold_km, rivals) or _of_opinions(a, b, window, met)


def _days_outside(elements: Elements, window: Window) -> float:
    """Days from the window's nearer end to the epoch; 0 for an epoch inside it."""
    return max(age_days(elements, window.start), -age_days(elements, window.end), 0.0)


def _of_meeting(met: Meeting, window: Window, threshold_km: float | None, rivals: bool) -> str | None:
    one = met.nearest
    if one.at_edge or not EDGE_MIN <= one.after_min <= window.hours * 60 - EDGE_MIN:
        return "near-edge"
    if one.speed_km_s < SLOWEST_KM_S:
        return "slow"
    if threshold_km is not None and abs(one.distance_km - threshold_km) < GUARD_KM:
        return "near-threshold"
    rival_km = one.distance_km + max(RIVAL_KM, RIVAL_SHARE * one.distance_km)
    if rivals and met.runner_up is not None and met.runner_up.distance_km < rival_km:
        return "second-minimum"
    return None


def _of_opinions(a: Elements, b: Elements, window: Window, met: Meeting) -> str | None:
    other = disagreement(a, b, window, met)
    return f"{other}-differs" if other else None


class Uses:
    """How often objects and launches stand in items so far."""

    def __init__(self) -> None:
        self._objects: Counter[int] = Counter()
        self._launches: Counter[str] = Counter()

    def refusal(self, objects: Iterable[Elements]) -> str | None:
        """Whether one more item about these objects is too many."""
        objects = list(objects)
        if any(self._objects[e.norad_id] >= MOST_AN_OBJECT for e in objects):
            return "overused-object"
        if any(self._launches[launch] >= MOST_A_LAUNCH for launch in _launches(objects)):
            return "overused-launch"
        return None

    def add(self, objects: Iterable[Elements]) -> None:
        """Count an item about these objects."""
        objects = list(objects)
        self._objects.update(e.norad_id for e in objects)
        self._launches.update(_launches(objects))


def _launches(objects: Iterable[Elements]) -> set[str]:
    """Launches by year and number, of the objects whose designator is known."""
    return {e.designator[:5] for e in objects if e.designator}
