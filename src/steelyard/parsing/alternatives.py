"""Long alternations that are scanned for fast: only the alternatives whose own words are in the text are tried.

Python's `re` tries an alternation at every character, one alternative after the other, which for some forty answer
labels costs more than all the rest of reading a reply. `str.find` is a hundred times faster, so it looks first for
what each alternative cannot match without; an alternative whose words are absent could match nowhere, so leaving it out
changes no match. Cue words are lower case, over lower-case text.
Easy to break: a `needs` that a match can do without, which loses matches silently (a test compares with the full
pattern).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

_SHORT = 150
"""Below so many characters the whole alternation costs less than compiling a shorter one for the first time."""


class Alternative(NamedTuple):
    """One alternative and its words: every match holds, of each group, at least one text."""

    pattern: str
    needs: tuple[tuple[str, ...], ...]


class Alternatives:
    """An ordered alternation of `parts`, each followed by `after`, compiled for what a text holds."""

    def __init__(self, parts: Sequence[Alternative], after: str = "") -> None:
        self.parts = tuple(parts)
        self.after = after
        self._all = tuple(enumerate(part.needs for part in self.parts))
        self._ascii = tuple((i, needs) for i, needs in self._all if all(any(map(str.isascii, g)) for g in needs))
        self._compiled = lru_cache(maxsize=128)(self._compile)
        self._whole = self._compile(tuple(range(len(self.parts))))

    def finditer(self, low: str, start: int, end: int) -> Iterator[re.Match[str]]:
        """The matches in [start, end) of lower-case text, as the whole alternation would give them."""
        if end - start < _SHORT:
            return self._whole.finditer(low, start, end)
        chosen = self._ascii if low.isascii() else self._all
        part = low if start == 0 and end == len(low) else low[start:end]
        present = tuple([i for i, needs in chosen if _holds(part, needs)])
        return self._compiled(present).finditer(low, start, end) if present else iter(())

    def _compile(self, present: tuple[int, ...]) -> re.Pattern[str]:
        return re.compile(f"(?:{'|'.join(self.parts[i].pattern for i in present)}){self.after}")


def words(*texts: str) -> list[Alternative]:
    """Alternatives that are plain texts."""
    return [Alternative(re.escape(text), ((text,),)) for text in texts]


def _holds(low: str, needs: tuple[tuple[str, ...], ...]) -> bool:
    for group in needs:  # no generators: this runs a few dozen times for every reply
        for text in group:
            if text in low:
                break
        else:
            return False
    return True
