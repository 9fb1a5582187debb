"""A family's items as one tape: each is made once however often it is asked for, with why candidates were refused.

`make` and `refusals` of a family read the same tape, so that counting refusals draws nothing a second time.
Easy to break: a tape that depends on how many items were taken; it only ever goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import count

from steelyard.errors import InputError, did_you_mean
from steelyard.item import Item

LEVELS = ("easy", "medium", "hard")
_TAPES = 8  # kept at once, of each family

Draw = Callable[[str, str | None, str], Iterator[Item | str]]
"""(seed, catalogue, level) -> items and, between them, the names of the rules that refused a candidate."""


def known_level(level: str) -> str:
    """`level` if it is empty or one of `LEVELS`; InputError with the nearest known one otherwise."""
    if level and level not in LEVELS:
        raise InputError(f'level must be easy, medium or hard, got "{level}"{did_you_mean(level, LEVELS)}')
    return level


def places(level: str) -> Iterator[tuple[int, str]]:
    """Numbers from 0 on with the level of each: the given one, or the three in turn."""
    return ((k, level or LEVELS[k % len(LEVELS)]) for k in count())


class Tape:
    """Items in order, each made once however often they are asked for, and why candidates between them were refused."""

    def __init__(self, outcomes: Iterator[Item | str]) -> None:
        self._outcomes = outcomes
        self._kept: list[Item | str] = []

    def __iter__(self) -> Iterator[Item]:
        return (one for one in self._all() if isinstance(one, Item))

    def refusals(self, n: int) -> dict[str, int]:
        """Refused candidates by rule until `n` items were there, the most frequent first."""
        counts: Counter[str] = Counter()
        items = 0
        for one in self._all():
            if isinstance(one, str):
                counts[one] += 1
            else:
                items += 1
            if items >= n:
                break
        return dict(counts.most_common())

    def _all(self) -> Iterator[Item | str]:
        place = 0
        while True:
            while place < len(self._kept):
                yield self._kept[place]
                place += 1
            found = next(self._outcomes, None)
            if found is None:
                return
            self._kept.append(found)


class Tapes:
    """A family's tapes by seed, catalogue and level; `make` and `refusals` are the family's own."""

    def __init__(self, draw: Draw) -> None:
        self._tape = lru_cache(maxsize=_TAPES)(lambda seed, catalogue, level: Tape(draw(seed, catalogue, level)))

    def make(self, seed: int | str = 0, *, catalogue: str | None = None, level: str = "") -> Iterator[Item]:
        """The items of a seed, until a catalogue is used up; `level` keeps to easy, medium or hard."""
        return iter(self._tape(str(seed), catalogue, known_level(level)))

    def refusals(
        self, seed: int | str = 0, n: int = 120, *, catalogue: str | None = None, level: str = ""
    ) -> dict[str, int]:
        """How many candidates each of the family's rules refused before the first `n` items were there."""
        return self._tape(str(seed), catalogue, known_level(level)).refusals(n)

    def forget(self) -> None:
        """Drop what was made, so that it is made afresh."""
        self._tape.cache_clear()
