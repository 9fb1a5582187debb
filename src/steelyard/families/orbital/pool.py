"""The pool that items with real dynamics draw from: objects, a window, and every close approach in it.

Made once a process for the same arguments and then shared by all families, as screening takes seconds.
Synthetic by default (`sky`), or a seeded part of the user's catalogue. Only objects that have a state in all of the
window and an epoch at most `MOST_AGE_DAYS` before it are in a pool.
Windows begin at `start`, else at midnight UTC: of the synthetic sky's reference, or after the catalogue's median epoch.
Not covered: windows that begin between two whole seconds, which prompts cannot print.
Easy to break: `pool` is cached by its arguments: never change what it returns.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from random import Random

import msgspec

from steelyard.errors import InputError
from steelyard.families.orbital import sky
from steelyard.families.orbital.dynamics import age_days
from steelyard.families.orbital.elements import Elements, perigee_altitude_km
from steelyard.families.orbital.screening import Screening, screen
from steelyard.families.orbital.snapshots import licence_of

OBJECTS = 5000
HOURS = 24.0
LONGEST_HOURS = 240.0  # beyond ten days element sets say little, and every pair meets more than once
THRESHOLD_KM = 5.0
MOST_AGE_DAYS = 3.0
ANONYMOUS_ID = 99_999
_LEAST_PERIGEE_KM = 120.0


class Pool(msgspec.Struct, frozen=True):
    """Objects by catalogue number, the window's start (UTC) and hours, what screening found, provenance, licence.

    `real` says that the objects exist, so that their numbers, names and designators must not be shown (`shown`).
    """

    objects: dict[int, Elements]
    start: datetime
    hours: float
    screening: Screening
    provenance: str
    license: str
    real: bool

    def shown(self, elements: Elements, number: int = ANONYMOUS_ID) -> Elements:
        """The elements as a prompt may print them, with nothing that is remembered; `number` replaces a real one."""
        if not self.real:
            return elements
        return msgspec.structs.replace(elements, norad_id=number, designator="", name="", revolution=0, element_set=0)


def pool(
    seed: int | str = 0,
    *,
    catalogue: str | Path | None = None,
    objects: int = OBJECTS,
    hours: float = HOURS,
    threshold_km: float = THRESHOLD_KM,
    start: str = "",
) -> Pool:
    """The screened pool of a seed: `objects` of the synthetic sky, or of the user's catalogue (all, if it has fewer).

    `start` is where the window begins, UTC in ISO 8601; InputError when fewer than two objects have an epoch near it.
    5,000 synthetic objects and 24 h hold about 1,500 approaches under 5 km and take about 8 s of one core.
    """
    if type(objects) is not int or objects < 2:
        raise InputError(f"objects must be a whole number of at least 2, got {objects!r}")
    if isinstance(hours, bool) or not isinstance(hours, int | float) or not 0 < hours <= LONGEST_HOURS:
        raise InputError(f"hours must be a number above 0 and at most {LONGEST_HOURS:g}, got {hours!r}")
    path = None if catalogue is None else str(catalogue)
    begin = _begin(str(start)) if start else None  # a year alone comes from the command line as a number
    return _pool(str(seed), path, objects, hours, threshold_km, begin)


def _begin(text: str) -> datetime:
    """An instant in whole seconds, as prompts print them; without an offset it is taken for UTC."""
    try:
        when = datetime.fromisoformat(text)
        when = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InputError(f'start must be a time such as 2026-07-01T06:00:00Z, got "{text}"') from error
    if when.microsecond:
        raise InputError(f'start must be in whole seconds, got "{text}"')
    return when


@lru_cache(maxsize=4)
def _pool(
    seed: str, catalogue: str | None, most: int, hours: float, threshold_km: float, begin: datetime | None
) -> Pool:
    if catalogue is None:
        start, provenance = begin or sky.REFERENCE, sky.PROVENANCE
        members: Sequence[Elements] = [e for e in sky.catalogue(seed, most) if _fresh(e, start)]
        _refuse_few(members, "the synthetic sky", start)
    else:
        members, start, provenance = _sampled(catalogue, seed, most, begin)
    found = screen(members, start, hours, threshold_km)
    failed = {one.norad_id for one in found.failed}
    return Pool(
        objects={e.norad_id: e for e in members if e.norad_id not in failed},
        start=start,
        hours=hours,
        screening=msgspec.structs.replace(
            found, events=[e for e in found.events if e.a not in failed and e.b not in failed]
        ),
        provenance=provenance,
        license=licence_of(catalogue),
        real=catalogue is not None and not licence_of(catalogue),
    )


def _fresh(elements: Elements, start: datetime) -> bool:
    return abs(age_days(elements, start)) <= MOST_AGE_DAYS


def _refuse_few(members: Sequence[Elements], where: str, start: datetime) -> None:
    if len(members) < 2:
        raise InputError(
            f"{where} has {len(members)} usable objects with epochs near {start:%Y-%m-%d}; at least 2 needed"
        )


def _sampled(catalogue: str, seed: str, most: int, begin: datetime | None) -> tuple[Sequence[Elements], datetime, str]:
    from steelyard.families.orbital.catalogue import load_catalogue  # needs the extra "orbital"

    loaded = load_catalogue(catalogue)
    start = begin or midnight_after([e.epoch for e in loaded.objects])
    fit = sorted(
        (
            e
            for e in loaded.objects
            if e.norad_id not in loaded.sgp4_errors and _fresh(e, start) and perigee_altitude_km(e) > _LEAST_PERIGEE_KM
        ),
        key=lambda e: e.norad_id,
    )
    _refuse_few(fit, catalogue, start)
    some = fit if len(fit) <= most else Random(f"pool/{seed}").sample(fit, most)
    return some, start, f"snapshot:{loaded.sha256[:12]}"


def midnight_after(epochs: Sequence[datetime]) -> datetime:
    """The first midnight UTC after the median epoch: most sets are then fresh."""
    middle = datetime.fromtimestamp(statistics.median(e.timestamp() for e in epochs), UTC)
    return middle.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
