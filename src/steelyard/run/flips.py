"""What a new judgement changes: flips against the newest one, and other verdicts under the very same ruler.

Only rollouts that both judgements hold are compared, so a journal that grew says nothing of a verifier. A damaged old
judgement never stops a new one: its flips are unknown, and that is told.
The old judgement is read line by line beside the new one, and a line that says the same in the same bytes is not even
decoded, so that memory is flat and judging again costs little more than judging.
Not covered: comparing two runs.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from pathlib import Path

import msgspec

from steelyard.errors import FormatError
from steelyard.records import JudgedItem, RolloutJudgement
from steelyard.run.judged import JudgedOutcomes
from steelyard.run.stored import decode

Place = tuple[str, int]
"""An item's id and a rollout's index."""

Word = tuple[bool | None, float | None, tuple[str, ...]]
"""What a verdict says: passed, score, names of the misses."""

Said = dict[int, Word]
"""What was said of an item's rollouts."""


class Flip(msgspec.Struct, frozen=True):
    """A rollout whose verdict differs between two rulers; None is void."""

    item: str
    rollout: int
    before: bool | None
    after: bool | None


class Changes:
    """Takes a new judgement line by line; `finish` when all are given, `close` in any case."""

    def __init__(self, path_of: Callable[[str], Path], newest: Callable[[], str], ruler: str, folder: Path) -> None:
        self.previous, self.unreadable, self.deterministic = "", "", True
        self.flips: list[Flip] = []
        try:
            self.previous = newest()
        except FormatError as error:
            self.unreadable = str(error)
        self._same = _Old(path_of(ruler))
        self._last = self._same if self.previous == ruler else _Old(path_of(self.previous) if self.previous else None)
        if self.previous and not self._last.exists:
            self.unreadable = f"{folder}: the judgement under ruler {self.previous} is gone"

    def add(self, new: JudgedItem, line: bytes, fresh: Container[Place]) -> None:
        """Compare one item. Evidence that is `fresh` may turn a void into a verdict or back: that is no fault."""
        last = self._said(self._last, new.id, line)
        same = last if self._same is self._last else self._said(self._same, new.id, line)
        if not last and not same:
            return
        for one in new.feedback_result.rollouts:
            word = one.correct, one.score, _misses(one)
            before, told = last.get(one.index), same.get(one.index)
            if before is not None and before[0] != one.correct:
                self.flips.append(Flip(new.id, one.index, before[0], one.correct))
            if told is None or told == word:
                continue
            if not ((new.id, one.index) in fresh and None in (told[0], word[0])):
                self.deterministic = False

    def finish(self) -> None:
        """Read what is left of the old judgements, so that damage is told wherever it stands."""
        for old in (self._last, self._same):
            try:
                old.keep_rest()
            except FormatError as error:
                self._lose(old, error)

    def close(self) -> None:
        """Close the old judgements; safe to call twice."""
        self._last.close()
        self._same.close()

    def _said(self, old: _Old, name: str, line: bytes) -> Said:
        try:
            return old.said(name, line)
        except FormatError as error:
            self._lose(old, error)
            return {}

    def _lose(self, old: _Old, error: FormatError) -> None:
        """Forget a damaged judgement, and what was compared with it."""
        old.drop()
        if old is self._last:
            self.flips, self.unreadable = [], str(error)
        if old is self._same:  # it is written again now
            self.deterministic = True


class _Old:
    """An old judgement, which has its items in the order of the suite, as the new one has.

    So the next line is nearly always the one that is asked for; at the first that is not, all that are left are kept.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._file = path.open("rb") if path is not None and path.exists() else None
        self.exists = self._file is not None
        self._decoder = msgspec.json.Decoder(JudgedOutcomes)
        self._number = 0
        self._rest: dict[str, Said] | None = None
        self._line = self._next()

    def said(self, name: str, line: bytes) -> Said:
        """What was said of an item's rollouts; empty where nothing was, and where it is what `line` says."""
        if self._rest is None and self._line:
            if _says_the_same(self._line, line):
                self._line = self._next()
                return {}
            found = self._decoded()
            if found.id == name:
                self._line = self._next()
                return _said(found)
            self.keep_rest()
        return self._rest.pop(name, {}) if self._rest else {}

    def keep_rest(self) -> None:
        """Read all that has not been asked for."""
        rest = self._rest or {}
        while self._line:
            found = self._decoded()
            rest[found.id] = _said(found)
            self._line = self._next()
        self._rest = rest

    def drop(self) -> None:
        """Say nothing from now on."""
        self._line, self._rest = b"", {}

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def _next(self) -> bytes:
        """The next line that is not blank; empty at the end."""
        line = b" "
        while self._file is not None and line.isspace():
            line, self._number = self._file.readline(), self._number + 1
        return line.strip()

    def _decoded(self) -> JudgedOutcomes:
        return decode(self._decoder, self._line, self._path or Path(), self._number, "a judgement")


_REVISION = b'"revision":"'
_REVISION_CHARS = len(_REVISION) + 64


def _says_the_same(old: bytes, new: bytes) -> bool:
    """Whether two lines are the same but for the revision, which stands behind the id."""
    if old == new:
        return True
    at = new.find(_REVISION)
    after = at + _REVISION_CHARS
    return at > 0 and len(old) == len(new) and old[:at] == new[:at] and old[after:] == new[after:]


def _said(line: JudgedOutcomes) -> Said:
    return {
        one.index: (one.correct, one.score, tuple([m.name for m in one.extra.misses]) if one.extra is not None else ())
        for one in line.feedback_result.rollouts
    }


def _misses(one: RolloutJudgement) -> tuple[str, ...]:
    """The names of the misses in a new judgement."""
    return tuple([miss["name"] for miss in one.extra.get("misses", ())]) if one.extra else ()
