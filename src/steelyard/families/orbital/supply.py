"""What a screened pool supplies to items: pairs that meet, neighbours in height, and how a prompt may call objects.

Source of the filter: the apogee/perigee test (Hoots, Crawford and Roehrich 1984); it leaves a fifth of all pairs, so
passing it is no sign of a meeting, and every negative passes it.
Not covered: which pairs are no question (`ambiguity`).
Easy to break: the order of pairs depends on the seed and the pool alone, so that the first items never change.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from steelyard.families.orbital.dynamics import grid_minutes, states
from steelyard.families.orbital.elements import Elements, apogee_altitude_km, perigee_altitude_km
from steelyard.families.orbital.encounters import LAZY_STEP_S, Window
from steelyard.families.orbital.pool import Pool

FILTER_PAD_KM = 5.0
_AT_ONCE = 200
_REAL_NUMBERS = range(90_000, 100_000)  # analysts' range, no catalogued object


def window_of(pool: Pool) -> Window:
    """The window that the pool was screened over."""
    return Window(pool.start, pool.hours)


def pairs_met(pool: Pool, rng: Random, below_km: float) -> list[tuple[Elements, Elements]]:
    """Pairs that come closer than `below_km` at least once, in a drawn order, each once and either object first."""
    pairs = sorted({(event.a, event.b) for event in pool.screening.events if event.distance_km < below_km})
    rng.shuffle(pairs)
    return [_either_way(pool.objects[a], pool.objects[b], rng) for a, b in pairs]


def _either_way(a: Elements, b: Elements, rng: Random) -> tuple[Elements, Elements]:
    return (a, b) if rng.random() < 0.5 else (b, a)


def neighbours(pool: Pool, asked: Elements, rng: Random) -> Iterator[Elements]:
    """Other objects in a drawn order that pass the apogee/perigee filter with `asked`."""
    numbers = list(pool.objects)
    rng.shuffle(numbers)
    return (
        e for e in map(pool.objects.__getitem__, numbers) if e.norad_id != asked.norad_id and heights_meet(e, asked)
    )


def heights_meet(a: Elements, b: Elements) -> bool:
    """The apogee/perigee filter: whether the ranges of height overlap when `FILTER_PAD_KM` is allowed."""
    lower = max(perigee_altitude_km(a), perigee_altitude_km(b))
    return lower - min(apogee_altitude_km(a), apogee_altitude_km(b)) <= FILTER_PAD_KM


class Samples:
    """Where all objects of a pool are at every minute, to ask which come near one of them by a coarse look.

    60 s is what a hurried solver samples at. 5,000 objects and 24 h take 86 MB and 4 s of one core, once.
    """

    def __init__(self, pool: Pool) -> None:
        import numpy as np  # heavy, in the extra "orbital"

        grid = grid_minutes(pool.hours, LAZY_STEP_S)
        objects = list(pool.objects.values())
        self._place = {e.norad_id: place for place, e in enumerate(objects)}
        self._km = np.empty((len(objects), len(grid), 3), dtype=np.float32)
        for k in range(0, len(objects), _AT_ONCE):
            some = objects[k : k + _AT_ONCE]
            self._km[k : k + len(some)] = states(some, pool.start, grid).position_km

    def nearest(self, asked: Elements, others: Sequence[Elements], most: int) -> list[Elements]:
        """Those of `others` whose least sampled distance from `asked` is smallest, at most so many, nearest first."""
        import numpy as np  # as above

        at = self._km[self._place[asked.norad_id]]
        found: list[tuple[float, int, Elements]] = []
        for k in range(0, len(others), _AT_ONCE):
            some = others[k : k + _AT_ONCE]
            apart = self._km[[self._place[e.norad_id] for e in some]] - at
            squared = np.einsum("nti,nti->nt", apart, apart).min(axis=1)
            found += zip(squared.tolist(), (e.norad_id for e in some), some, strict=True)
        return [e for squared_km, _, e in sorted(found) if math.isfinite(squared_km)][:most]


def shown(pool: Pool, objects: Sequence[Elements], rng: Random) -> list[Elements]:
    """The objects as a prompt may print them; real ones get numbers that are made up for this item."""
    numbers = rng.sample(_REAL_NUMBERS, len(objects))
    return [pool.shown(e, number) for e, number in zip(objects, numbers, strict=True)]


def about(pool: Pool, seed: int | str, objects: Sequence[Elements]) -> dict[str, Any]:
    """Fields that items of one pool share: group, domain, provenance, licence.

    A made-up object is known by its number and the seed of its sky, a real one by its number.
    """
    numbers = "-".join(str(n) for n in sorted(e.norad_id for e in objects))
    group = f"objects:{numbers}" if pool.real else f"objects:{seed}:{numbers}"
    return {"group": group, "domain": "conjunction", "provenance": pool.provenance, "license": pool.license}
