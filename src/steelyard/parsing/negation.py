"""Is a phrase asserted? Two rules: seed 004's window (rules 1), and clauses with parity (rules 2).

Rules 1 (NegEx, Chapman et al. 2001, as seed 004 has it): a trigger (`not`, `no`, `never`, any word in n't) in the three
words before the phrase negates it. Its blind spot is kept: a trigger further back is not seen.

Rules 2: a negation reaches to the end of its clause and two cancel; `no doubt`, `not only`, `no other than` and their
kin are no negation. An occurrence is not asserted when it is denied before it (`it is not x`), after it (`x is wrong`),
by the next sentence (`x. That is false.`), withdrawn (`x. No wait, y`), supposed (`if it were x`), asked, or somebody
else's claim (`some say x`; what a notice, a file or a log says counts as said).
Not covered: irony, relative clauses with their own negation.
Easy to break: linear time; a look never leaves the sentence by more than one and goes no further than `_REACH`
characters. Of very many occurrences only the first and the last `_MOST` are looked at, these in the last `_TAIL`
characters.
"""

from __future__ import annotations

import re
from collections import deque
from itertools import islice
from typing import Literal

from steelyard.parsing import cues
from steelyard.parsing.markers import lowered
from steelyard.parsing.tokens import canonical, occurrences

TRIGGERS = frozenset({"not", "no", "never"})
WINDOW = 3

_REACH = 300
_MOST = 300
_TAIL = 50_000


def words(text: str) -> list[str]:
    """Words of rules 1: runs of a-z and 0-9 with inner apostrophes and hyphens, in lower case."""
    return re.findall(r"[a-z0-9]+(?:['-][a-z0-9]+)*", text.lower().replace("’", "'"))


def found(text: str, phrase: str) -> list[int]:
    """Word positions where a phrase starts under rules 1; a phrase without words is nowhere."""
    ws, target = words(text), words(phrase)
    if not target:
        return []
    return [i for i, word in enumerate(ws) if word == target[0] and ws[i : i + len(target)] == target]


def stated_in_window(text: str, phrase: str) -> bool:
    """Whether some occurrence has no trigger among the three words before it (rules 1)."""
    ws = words(text)
    return any(not any(map(_is_trigger, ws[max(0, i - WINDOW) : i])) for i in found(text, phrase))


def _is_trigger(word: str) -> bool:
    return word in TRIGGERS or word.endswith("n't")


def asserted_phrase(text: str, phrase: str) -> tuple[bool, bool]:
    """Whether a phrase stands in `text` as a whole token, and whether some occurrence is asserted (rules 2)."""
    cased = canonical(text)
    low, token = lowered(cased), lowered(canonical(phrase.strip()))
    spans = list(islice(occurrences(low, token), 2 * _MOST))
    if len(spans) == 2 * _MOST:
        tail = max(spans[-1][1], len(low) - _TAIL)
        later = deque(((a + tail, b + tail) for a, b in occurrences(low[tail:], token)), maxlen=_MOST)
        spans = spans[:_MOST] + list(later) if later else spans
    return bool(spans), any(asserts(low, start, end, cased=cased) for start, end in spans)


Stance = Literal["asserted", "denied", "open"]
"""What a writer says of a phrase: it holds, it does not, or neither (supposed, asked, withdrawn, somebody's claim)."""


def asserts(low: str, start: int, end: int, *, cased: str = "", adjacent: bool = False) -> bool:
    """Whether the writer of lower-case text `low` asserts what stands at [start, end)."""
    return stance(low, start, end, cased=cased, adjacent=adjacent) == "asserted"


def stance(low: str, start: int, end: int, *, cased: str = "", adjacent: bool = False) -> Stance:
    """The writer's stance on what stands at [start, end) of lower-case text `low`.

    `cased` is the text before it was lowered (names of people are told by their capital); `adjacent` takes a denial
    after the phrase only where it follows at once.
    """
    first, last = _sentence(low, start, end)
    before, after = low[first:start], low[end:last]
    turn = max((m.end() for m in cues.TURN.finditer(before)), default=0)
    turn_after = cues.TURN.search(after)
    part = before[turn:] + low[start:end] + (after[: turn_after.start()] if turn_after else after)
    if cues.SUPPOSED.search(before[turn:]) or cues.CONDITIONAL.search(part) or _asked(low, first, start, end, last):
        return "open"
    if cues.WRONG_LABEL.search(before) or _claimed_by_others(before[turn:], cased[first + turn : start]):
        return "open"
    clause = before[_clause_start(before, after) :]
    given_up = cues.FIRST_GUESS.match(after) or cues.INLINE.match(after) or cues.REPLACED.match(low, end, last + _REACH)
    if cues.THOUGHT.search(clause) or given_up:
        return "open"
    if cues.SAID.search(clause) and cues.EARLIER.match(after):
        return "open"
    if cues.DENIAL.match(low, last, last + _REACH) or _withdrawn(low, start, end, last):
        return "open"
    odd = _negations(clause) % 2
    if _denied_after(clause, after, adjacent):
        odd ^= 1
    return "denied" if odd else "asserted"


def _sentence(low: str, start: int, end: int) -> tuple[int, int]:
    """The sentence around a span: its start, and its end past the stop."""
    first = floor = max(0, start - _REACH)
    for stop in cues.STOP.finditer(low, floor, start):
        if not (stop[0] == "." and cues.ABBREVIATION.search(low, max(floor, stop.start() - 8), stop.start())):
            first = stop.end()
    while first < start and low[first] in " \t\n":
        first += 1
    ceiling = min(len(low), end + _REACH)
    stop_after = cues.STOP.search(low, end, ceiling)
    return first, stop_after.end() if stop_after else ceiling


def _clause_start(before: str, after: str) -> int:
    """Where in `before` the clause of the span starts."""
    start = 0
    for boundary in cues.BOUNDARY.finditer(before):
        if not (boundary[0] == "but" and cues.BUT_ONLY.search(before, 0, boundary.start())):
            start = boundary.end()
    if before.endswith((", ", " and ")) and cues.VERB.match(after.lstrip()):
        start = len(before)
    return start


def _negations(clause: str) -> int:
    count = 0
    for cue in cues.NEGATION.finditer(clause):
        if cue["again"]:
            count = 1
        elif cue["front"]:
            told = cues.SUBJECT.search(clause, cue.end()) or cues.INSTEAD.search(clause, cue.end())
            count += told is None
        elif cue["not"] or cue["other"]:
            count += 1
    return count


def _denied_after(clause: str, after: str, adjacent: bool) -> bool:
    cue = cues.AFTER_AT_ONCE.match(after)
    if not cue and not adjacent and not cues.VERB.search(clause):
        cue = cues.AFTER_SOON.match(after)
    return cue is not None and not cues.AFTER_NEVER_WRONG.search(after, max(0, cue.end() - 12), cue.end() + 30)


def _asked(low: str, first: int, start: int, end: int, last: int) -> bool:
    """Whether the sentence is a question that the next words do not confirm."""
    stop = low[end:last].rstrip("\"'”’)]*_` ")
    if not stop.endswith(("?", "？")) or not cues.ASKS.match(low, first, start):
        return False
    if cues.TAG_QUESTION.search(low[first:last].rstrip("?？\"'”’)]*_` ")):
        return False
    return not cues.CONFIRMS.match(low, last)


def _claimed_by_others(before: str, cased: str) -> bool:
    if cues.OTHERS.search(before):
        return cues.CONTRARY.search(before) is None
    named = cues.NAMED.search(cased)
    return named is not None and named[1] not in cues.NOT_NAMES


def _withdrawn(low: str, start: int, end: int, last: int) -> bool:
    """Whether a withdrawal follows in the same sentence or the next, or later one that names another of its kind."""
    following = cues.STOP.search(low, last, last + _REACH)
    near = following.end() if following else min(len(low), last + _REACH)
    cue = cues.WITHDRAWN.search(low, end, min(len(low), end + 4 * _REACH))
    if cue is None:
        return False
    if cue.start() < near:
        return True
    has_digit = any(map(str.isdigit, low[start:end]))
    return has_digit and any(map(str.isdigit, low[cue.end() : cue.end() + 60]))
