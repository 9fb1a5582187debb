"""Long alternations that are scanned for fast: only the alternatives whose own words are in the text are tried.

Python's `re` tries an alternation at every character, one alternative after the other, which for some forty answer
labels costs more than all the rest of reading a reply. `str.find` is a hundred times faster, so it looks first for
what each alternative cannot match without; an alternative whose words are absent could match nowhere, so leaving it out
changes no match. What is left is searched for one by one, each with its own fast prefix. Cue words are lower case,
over lower-case text.
Easy to break: a `needs` that a match can do without, which loses matches silently (a test compares with the full
pattern).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heapreplace
from typing import NamedTuple

_SHORT = 150
"""Below so many characters the whole alternation costs less than looking for words."""


class Alternative(NamedTuple):
    """One alternative and its words: every match holds, of each group, at least one text."""

    pattern: str
    needs: tuple[tuple[str, ...], ...]


class Alternatives:
    """An ordered alternation of `parts`, each followed by `after`; only parts whose words a text holds are tried."""

    def __init__(self, parts: Sequence[Alternative], after: str = "") -> None:
        self.parts = tuple(parts)
        self.after = after
        self._groups = tuple(dict.fromkeys(group for part in self.parts for group in part.needs))
        at = {group: i for i, group in enumerate(self._groups)}
        self._all = tuple(
            (tuple(at[group] for group in part.needs), re.compile(f"(?:{part.pattern}){after}")) for part in self.parts
        )
        self._ascii = tuple(one for one in self._all if all(any(map(str.isascii, self._groups[i])) for i in one[0]))
        self._whole = re.compile(f"(?:{'|'.join(part.pattern for part in self.parts)}){after}")

    def finditer(self, low: str, start: int, end: int) -> Iterator[re.Match[str]]:
        """The matches in [start, end) of lower-case text, as the whole alternation would give them."""
        if end - start < _SHORT:
            return self._whole.finditer(low, start, end)
        present = self._present(low if start == 0 and end == len(low) else low[start:end])
        if len(present) == 1:
            return present[0].finditer(low, start, end)
        return _merged(present, low, start, end)

    def _present(self, low: str) -> list[re.Pattern[str]]:
        """The parts whose words stand in a text, of each group one; a group that parts share is looked for once."""
        known: list[bool | None] = [None] * len(self._groups)
        present = []
        for needs, pattern in self._ascii if low.isascii() else self._all:
            for i in needs:
                held = known[i]
                if held is None:
                    held = False
                    for text in self._groups[i]:  # no call, no generator: this runs dozens of times for every reply
                        if text in low:
                            held = True
                            break
                    known[i] = held
                if not held:
                    break
            else:
                present.append(pattern)
        return present


def _merged(patterns: list[re.Pattern[str]], low: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """The matches of an alternation of `patterns`: the leftmost, of several there the first; then on from its end."""
    found = [(match.start(), i, match) for i, one in enumerate(patterns) if (match := one.search(low, start, end))]
    heapify(found)
    while found:
        match = found[0][2]
        yield match
        at = match.end()
        while found and found[0][0] < at:
            i = found[0][1]
            later = patterns[i].search(low, at, end)
            if later:
                heapreplace(found, (later.start(), i, later))
            else:
                heappop(found)


def words(*texts: str) -> list[Alternative]:
    """Alternatives that are plain texts."""
    return [Alternative(re.escape(text), ((text,),)) for text in texts]
