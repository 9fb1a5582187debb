"""What a new judgement changes: flips against the newest one, and other verdicts under the very same ruler.

Only rollouts that both judgements hold are compared, so a journal that grew says nothing of a verifier. A damaged old
judgement never stops a new one: its flips are unknown, and that is told.
Not covered: comparing two runs.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from pathlib import Path

import msgspec

from steelyard.errors import FormatError
from steelyard.records import JudgedItem, RolloutJudgement

Place = tuple[str, int]
"""An item's id and a rollout's index."""

Word = tuple[bool | None, float | None, tuple[str, ...]]
"""What a verdict says: passed, score, names of the misses."""


class Flip(msgspec.Struct, frozen=True):
    """A rollout whose verdict differs between two rulers; None is void."""

    item: str
    rollout: int
    before: bool | None
    after: bool | None


class Changes:
    """Takes a new judgement line by line; memory holds a verdict a rollout of the old ones, not their lines."""

    def __init__(
        self, read: Callable[[str], Iterator[JudgedItem] | None], newest: Callable[[], str], ruler: str, folder: Path
    ) -> None:
        self.previous, self.unreadable, self.deterministic = "", "", True
        self.flips: list[Flip] = []
        try:
            self.previous = newest()
        except FormatError as error:
            self.unreadable = str(error)
        self._last: dict[Place, Word] = {}
        try:
            found = read(self.previous) if self.previous else None
            self._last = _words(found or iter(()))
            if self.previous and found is None:
                self.unreadable = f"{folder}: the judgement under ruler {self.previous} is gone"
        except FormatError as error:
            self.unreadable = str(error)
        self._same = self._last
        if self.previous != ruler:
            try:
                self._same = _words(read(ruler) or iter(()))
            except FormatError:  # it is written again now
                self._same = {}

    def add(self, new: JudgedItem, fresh: Container[Place]) -> None:
        """Compare one item. Evidence that is `fresh` may turn a void into a verdict or back: that is no fault."""
        for one in new.feedback_result.rollouts:
            place, word = (new.id, one.index), _word(one)
            before = self._last.get(place)
            if before is not None and before[0] != one.correct:
                self.flips.append(Flip(new.id, one.index, before[0], one.correct))
            same = self._same.get(place)
            if same is not None and same != word and not (place in fresh and None in (same[0], word[0])):
                self.deterministic = False


def _words(lines: Iterator[JudgedItem]) -> dict[Place, Word]:
    return {(line.id, one.index): _word(one) for line in lines for one in line.feedback_result.rollouts}


def _word(one: RolloutJudgement) -> Word:
    misses = (one.extra or {}).get("misses", [])
    names = tuple(str(miss.get("name", "")) for miss in misses if isinstance(miss, dict))
    return one.correct, one.score, names
