"""Objects for items that need no screening: a seeded sky without end, or the user's catalogue in a drawn order.

Item k takes block k, so no two items of a seed are about the same object (but for decoys), and the first items never
depend on how many are taken. A family says which objects are fit for it.
Not covered: encounters (`pool`).
Easy to break: a block that is shorter than asked for means that the catalogue is used up; a family then ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from steelyard.errors import InputError
from steelyard.families.orbital import sky
from steelyard.families.orbital.elements import LARGEST_SATREC_ID, Elements, perigee_altitude_km
from steelyard.families.orbital.pool import midnight_after
from steelyard.families.orbital.snapshots import licence_of

SYNTHETIC = "synthetic"
LEAST_PERIGEE_KM = 120.0  # below this an element set describes a decay, not an orbit
_FIRST_SIZE = 1024
_LARGEST_SIZE = 1 << 17  # of the numbers from 100000 on a TLE holds the first 240,000
_REAL_NUMBERS = range(90_000, 100_000)  # analysts' range, no catalogued object

Fit = Callable[[Elements], bool]


class Population(msgspec.Struct, frozen=True):
    """`first(n)` gives the first n fit objects, fewer when there are no more; `start` is when their windows may begin.

    `real` says that the objects exist, so that their numbers, names and designators must not be shown.
    """

    first: Callable[[int], Sequence[Elements]]
    start: datetime
    provenance: str
    license: str
    real: bool
    seed: str

    def block(self, index: int, size: int) -> list[Elements]:
        """Objects [index * size, (index + 1) * size); shorter when the catalogue is used up."""
        return list(self.first((index + 1) * size)[index * size : (index + 1) * size])

    def shown(self, objects: Sequence[Elements], rng: Random) -> list[Elements]:
        """The objects as a prompt may print them; real ones get numbers that are made up for this item."""
        if not self.real:
            return list(objects)
        numbers = rng.sample(_REAL_NUMBERS, len(objects))
        hidden = {"designator": "", "name": "", "revolution": 0, "element_set": 0}
        return [msgspec.structs.replace(e, norad_id=n, **hidden) for e, n in zip(objects, numbers, strict=True)]

    def about(self, objects: Iterable[Elements]) -> dict[str, Any]:
        """Fields of an item about these objects: group, provenance, licence.

        A made-up object is known by its number and the seed of its sky, a real one by its number.
        """
        numbers = "-".join(str(n) for n in sorted(e.norad_id for e in objects))
        group = f"objects:{numbers}" if self.real else f"objects:{self.seed}:{numbers}"
        return {"group": group, "provenance": self.provenance, "license": self.license}


def population(seed: int | str, catalogue: str | Path | None, fit: Fit, rounds: int = 1) -> Population:
    """The fit objects of a seed's synthetic sky (`catalogue` None or "synthetic"), or of the user's catalogue file.

    A catalogue's objects come `rounds` times, each time in another order; a sky's only once.
    """
    if catalogue is None or str(catalogue) == SYNTHETIC:
        return Population(_growing(str(seed), fit), sky.REFERENCE, sky.PROVENANCE, sky.LICENSE, False, str(seed))
    from steelyard.families.orbital.catalogue import load_catalogue  # needs the extra "orbital"; a sky does not

    loaded = load_catalogue(catalogue)
    licence = licence_of(catalogue)
    orbiting = [
        e
        for e in sorted(loaded.objects, key=lambda e: e.norad_id)
        if e.norad_id not in loaded.sgp4_errors
        and (not licence or e.norad_id <= LARGEST_SATREC_ID)  # numbers that are shown must fit a TLE
        and perigee_altitude_km(e) > LEAST_PERIGEE_KM
        and fit(e)
    ]
    if not orbiting:
        raise InputError(f"{catalogue} has no object of the kind that these items ask about; use a larger catalogue")
    start = midnight_after([e.epoch for e in loaded.objects])
    drawn = [e for k in range(rounds) for e in Random(f"population/{seed}/{k}").sample(orbiting, len(orbiting))]
    return Population(lambda n: drawn[:n], start, f"snapshot:{loaded.sha256[:12]}", licence, not licence, str(seed))


def _growing(seed: str, fit: Fit) -> Callable[[int], Sequence[Elements]]:
    """The fit objects of a sky that is doubled until it holds enough of them."""

    @lru_cache(maxsize=1)
    def within(size: int) -> list[Elements]:
        return [e for e in sky.catalogue(seed, size) if fit(e)]

    size = _FIRST_SIZE

    def first(n: int) -> Sequence[Elements]:
        nonlocal size
        while len(within(size)) < n and size < _LARGEST_SIZE:
            size *= 2
        return within(size)[:n]

    return first
