"""Screening: every close approach of every two objects of a catalogue in a window, as SGP4 (WGS 72) has it.

A sieve (`sieves`) proposes pairs and times; each is then judged by the package sgp4: a minimum of distance counts where
the range rate of sgp4's states turns from approaching to receding, and every printed number comes from those states.
Named apart instead of dropped: pairs that move together (slower than `SLOW_KM_S` where they are nearest, or with the
same elements, for which "the" closest approach means little) and pairs that the window's ends cut.
Source of the columns: CelesTrak's SOCRATES (time, range, relative speed, days since both epochs).
Not covered: covariance and probability, which element sets do not have; objects against a chosen few.
Easy to break: an object without a state is listed in `failed`, never read as "far from everything".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import msgspec

from steelyard.errors import InputError
from steelyard.families.orbital import sieves
from steelyard.families.orbital.approach import turning_points
from steelyard.families.orbital.dynamics import (
    age_days,
    julian,
    moment,
    reason,
    record,
    states_of,
    utc_text,
)
from steelyard.families.orbital.elements import Elements, perigee_altitude_km

SLOW_KM_S = 0.01
FIRST_YEAR, LAST_YEAR = 1957, 2199  # beyond them nobody has element sets, and dates end
_SAME_EVENT_MIN = 0.5 / 60
_LOW_PERIGEE_KM = 200.0  # mean elements; the true perigee is within tens of km of it
_NOT_DYNAMIC = ("norad_id", "name", "designator", "classification", "element_set", "revolution")

Progress = Callable[[float, float, int], None]


class Event(msgspec.Struct, frozen=True):
    """One close approach: catalogue numbers, UTC, minutes after the start, km, km/s, days since each epoch."""

    a: int
    b: int
    tca: str
    after_min: float
    distance_km: float
    speed_km_s: float
    age_a_days: float
    age_b_days: float


class Together(msgspec.Struct, frozen=True):
    """A pair that is named apart, at its nearest in the window.

    `kind`: "identical" (the same elements), "co-moving" (slower than 0.01 km/s where it is nearest) or "edge" (the
    window starts after, or ends before, the pair is nearest).
    """

    kind: Literal["identical", "co-moving", "edge"]
    nearest: Event


class Failed(msgspec.Struct, frozen=True):
    """An object that SGP4 gives no state of from some minute of the window on, or in all of it (0)."""

    norad_id: int
    code: int
    reason: str
    after_min: float


class Screening(msgspec.Struct, frozen=True):
    """What a screening found, events in time order; `proposed` is how many the sieve gave to judge."""

    start: str
    hours: float
    threshold_km: float
    objects: int
    sieve: str
    events: list[Event]
    together: list[Together]
    failed: list[Failed]
    proposed: int


class _Met(msgspec.Struct, frozen=True):
    """Minima as arrays: places of the objects, minutes, km, km/s."""

    first: Any
    second: Any
    after_min: Any
    distance_km: Any
    speed_km_s: Any

    def only(self, which: Any) -> _Met:
        return _Met(*(getattr(self, name)[which] for name in self.__struct_fields__))


class _Window(msgspec.Struct, frozen=True):
    """The objects that have states, their sgp4 records, and the window."""

    objects: Sequence[Elements]
    records: Sequence[Any]
    start: datetime
    hours: float
    threshold_km: float


def screen(
    objects: Sequence[Elements],
    start: datetime,
    hours: float = 24.0,
    threshold_km: float = 5.0,
    *,
    sieve: sieves.Name | None = None,
    progress: Progress | None = None,
) -> Screening:
    """Every approach within `threshold_km` in [start, start + hours]; the quickest sieve here unless one is named.

    `progress` hears of every block done: (minutes done, minutes in all, events so far). InputError on a window or a
    threshold that is not positive, a window outside 1957 to 2199, and catalogue numbers that occur twice.
    """
    if not (0 < hours < math.inf and 0 < threshold_km < math.inf):
        raise InputError(f"a screening needs hours > 0 and a threshold > 0 km, got {hours} h and {threshold_km} km")
    left_hours = (datetime(LAST_YEAR + 1, 1, 1, tzinfo=UTC) - start) / timedelta(hours=1)
    if start.year < FIRST_YEAR or left_hours < hours:
        raise InputError(
            f"a screening lies within the years {FIRST_YEAR} to {LAST_YEAR}, got {start.isoformat()} and {hours:g} h"
        )
    if len({e.norad_id for e in objects}) < len(objects):
        raise InputError("a catalogue number occurs twice among the objects to screen")
    chosen = sieve or sieves.best()
    records = [record(e) for e in objects]
    failed, dead = _failures(objects, records, start, hours)
    alive = [place for place in range(len(objects)) if place not in dead]
    window = _Window([objects[p] for p in alive], [records[p] for p in alive], start, hours, threshold_km)
    found, proposed = _judged_blocks(window, chosen, progress)
    slow = found.speed_km_s < SLOW_KM_S
    together = _together(window, found.only(slow))
    events = found.only(~slow)
    return Screening(
        start=utc_text(start),
        hours=hours,
        threshold_km=threshold_km,
        objects=len(objects),
        sieve=chosen,
        events=[_event(window, events, k) for k in range(len(events.first))],
        together=together,
        failed=failed,
        proposed=proposed,
    )


def _failures(
    objects: Sequence[Elements], records: Sequence[Any], start: datetime, hours: float
) -> tuple[list[Failed], set[int]]:
    """Objects without a state somewhere, with the minute of the first failure; the places of those never good.

    Decay goes on for hours, so every hour is looked at; what dips below the ground is down for minutes around its
    perigee, so low perigees are looked at every minute.
    """
    import numpy as np  # heavy, in the extra "orbital"

    marks = np.linspace(0.0, hours * 60, math.ceil(hours) + 1)
    parts = [states_of(records[k : k + 1000], start, marks).codes for k in range(0, len(records), 1000)]
    codes = np.vstack([np.empty((0, len(marks)), dtype=np.uint8), *parts])
    failed, dead = [], set()
    low = [perigee_altitude_km(e) < _LOW_PERIGEE_KM for e in objects]
    minutes = np.arange(0.0, hours * 60 + 0.5)
    for place in np.flatnonzero(codes.any(axis=1) | np.array(low, dtype=bool)).tolist():
        closely = states_of(records[place : place + 1], start, minutes).codes[0]
        bad = np.flatnonzero(closely)
        if not len(bad) and not codes[place].any():
            continue
        at = int(bad[0]) if len(bad) else len(minutes) - 1
        code = int(closely[at]) or int(codes[place].max())
        failed.append(Failed(objects[place].norad_id, code, reason(code), float(minutes[at])))
        if closely.all():
            dead.add(place)
    return failed, dead


def _judged_blocks(window: _Window, chosen: sieves.Name, progress: Progress | None) -> tuple[_Met, int]:
    """All minima within the threshold in time order, each once, and how many proposals were judged."""
    import numpy as np  # as above

    minutes = window.hours * 60
    nobody, nothing = np.empty(0, dtype=np.int64), np.empty(0)
    parts = [_Met(nobody, nobody, nothing, nothing, nothing)]
    proposed = 0
    blocks = sieves.sieve(chosen)(window.objects, window.records, window.start, minutes, window.threshold_km)
    for block in blocks if len(window.objects) > 1 else ():
        proposed += len(block.candidates.first)
        parts.append(_judged(window, block.candidates))
        if progress is not None:
            progress(block.to_min, minutes, sum(len(part.first) for part in parts))
    met = _joined(parts)
    met = met.only(np.lexsort((met.after_min, met.second, met.first)))
    met = met.only(_starts(met) | (np.diff(met.after_min, prepend=-np.inf) > _SAME_EVENT_MIN))
    return met.only(np.argsort(met.after_min, kind="stable")), proposed


def _judged(window: _Window, candidates: sieves.Candidates) -> _Met:
    """The proposals that sgp4 confirms: a turn of the range rate near the time, inside window and threshold."""
    import numpy as np  # as above

    swap = candidates.first > candidates.second
    pairs = _Pairs(
        window, np.where(swap, candidates.second, candidates.first), np.where(swap, candidates.first, candidates.second)
    )
    after_min = _confirmed(pairs, candidates.after_min, candidates.half_min)
    rest = np.flatnonzero(np.isnan(after_min))
    if candidates.wide_min and len(rest):
        after_min[rest] = _confirmed(pairs.only(rest), candidates.after_min[rest], candidates.wide_min)
    good = np.flatnonzero((after_min >= 0) & (after_min <= window.hours * 60))  # never so where it is not a number
    pairs, after_min = pairs.only(good), after_min[good]
    position, velocity = pairs.relative(after_min)
    distance, speed = np.linalg.norm(position, axis=1), np.linalg.norm(velocity, axis=1)
    return _Met(pairs.first, pairs.second, after_min, distance, speed).only(distance <= window.threshold_km)


def _confirmed(pairs: _Pairs, middle_min: Any, half_min: float) -> Any:
    """The minute where the range rate turns, in the interval around each proposal; not a number where it does not."""
    import numpy as np  # as above

    low, high = middle_min - half_min, middle_min + half_min
    at_low, at_high = pairs.rate(low), pairs.rate(high)
    turns = np.flatnonzero((at_low < 0) & (at_high >= 0))
    found = np.full(len(low), np.nan)
    inner = pairs.only(turns)
    found[turns] = turning_points(inner.rate, (low[turns], at_low[turns]), (high[turns], at_high[turns]))
    return found


class _Pairs:
    """Many pairs, each at its own time: states are asked of each object for all of its times at once."""

    def __init__(self, window: _Window, first: Any, second: Any) -> None:
        import numpy as np  # as above

        self.first, self.second, self._window = first, second, window
        members = np.concatenate((first, second))
        self._order = np.argsort(members, kind="stable")
        places, begin = np.unique(members[self._order], return_index=True)
        self._groups = [*zip(places.tolist(), begin.tolist(), np.append(begin, len(members))[1:].tolist(), strict=True)]

    def only(self, which: Any) -> _Pairs:
        """The pairs at some places."""
        return _Pairs(self._window, self.first[which], self.second[which])

    def relative(self, minutes: Any) -> tuple[Any, Any]:
        """Position (km) and velocity (km/s) of the second from the first; not a number where one has no state."""
        import numpy as np  # as above

        days, fractions = julian(self._window.start, np.concatenate((minutes, minutes))[self._order])
        position, velocity = np.empty((len(days), 3)), np.empty((len(days), 3))
        for place, low, high in self._groups:
            codes, position[low:high], velocity[low:high] = self._window.records[place].sgp4_array(
                days[low:high], fractions[low:high]
            )
            position[low:high][codes != 0] = np.nan
        back = np.empty_like(self._order)
        back[self._order] = np.arange(len(back))
        a, b = back[: len(self.first)], back[len(self.first) :]
        return position[b] - position[a], velocity[b] - velocity[a]

    def rate(self, minutes: Any) -> Any:
        """Distance times its rate, km^2/s; negative = approaching."""
        import numpy as np  # as above

        return np.einsum("ni,ni->n", *self.relative(minutes))


def _together(window: _Window, slow: _Met) -> list[Together]:
    """Pairs that are named apart: those with a slow minimum, and those that an end of the window cuts."""
    import numpy as np  # as above

    cut = [_cut(window, at_min, ending=ending) for at_min, ending in ((0.0, False), (window.hours * 60, True))]
    creep = _joined([slow, *(c.only(c.speed_km_s < SLOW_KM_S) for c in cut)])
    creep = creep.only(np.lexsort((creep.distance_km, creep.second, creep.first)))
    nearest = creep.only(_starts(creep))
    edges = _joined([c.only(c.speed_km_s >= SLOW_KM_S) for c in cut])
    found = [
        Together("identical" if _same(window, nearest, k) else "co-moving", _event(window, nearest, k))
        for k in range(len(nearest.first))
    ]
    return found + [Together("edge", _event(window, edges, k)) for k in range(len(edges.first))]


def _cut(window: _Window, at_min: float, *, ending: bool) -> _Met:
    """Pairs within the threshold at one end of the window whose minimum lies beyond it."""
    import numpy as np  # as above

    found = states_of(window.records, window.start, [at_min])
    good = np.flatnonzero(found.codes[:, 0] == 0)
    position, velocity = found.position_km[good, 0], found.velocity_km_s[good, 0]
    first, second = sieves.pairs_within(position, window.threshold_km)
    first, second = np.minimum(first, second), np.maximum(first, second)
    apart, moving = position[second] - position[first], velocity[second] - velocity[first]
    rate = np.einsum("ni,ni->n", apart, moving)
    distance, speed = np.linalg.norm(apart, axis=1), np.linalg.norm(moving, axis=1)
    met = _Met(good[first], good[second], np.full(len(first), at_min), distance, speed)
    return met.only(rate < 0 if ending else rate >= 0)


def _joined(parts: Sequence[_Met]) -> _Met:
    import numpy as np  # as above

    return _Met(*(np.concatenate([getattr(p, name) for p in parts]) for name in _Met.__struct_fields__))


def _starts(met: _Met) -> Any:
    """Where a new pair begins in minima that are sorted by pair."""
    import numpy as np  # as above

    changes = (np.diff(met.first) != 0) | (np.diff(met.second) != 0)
    return np.concatenate((np.ones(len(met.first[:1]), dtype=bool), changes))


def _same(window: _Window, met: _Met, k: int) -> bool:
    a, b = (window.objects[int(side[k])] for side in (met.first, met.second))
    blank = {name: type(getattr(a, name))() for name in _NOT_DYNAMIC}
    return msgspec.structs.replace(a, **blank) == msgspec.structs.replace(b, **blank)


def _event(window: _Window, met: _Met, k: int) -> Event:
    a, b = (window.objects[int(side[k])] for side in (met.first, met.second))
    after_min = float(met.after_min[k])
    when = moment(window.start, after_min)
    return Event(
        a=a.norad_id,
        b=b.norad_id,
        tca=utc_text(when),
        after_min=after_min,
        distance_km=float(met.distance_km[k]),
        speed_km_s=float(met.speed_km_s[k]),
        age_a_days=age_days(a, when),
        age_b_days=age_days(b, when),
    )
