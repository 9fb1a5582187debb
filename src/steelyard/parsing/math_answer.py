"""Where a reply gives its mathematical answer: the source text, the rule that found it, and its span.

Candidates come from `prose`, best first. A box is taken as it stands; boxes or formulas that `and`, `or` or a comma
joins belong together, and a per cent sign directly after one belongs to it. In other candidates the whole text counts
when it can be read; else the formula that opens a marked answer, or the last formula; else what follows the last `is`
or the like, when that can be read. Nothing is cut out of a formula.
`!` after a number is a factorial in a formula, in a box and where the whole text is mathematics; in prose it exclaims.
Not covered: answers that only several sentences together give, and alignments over several lines.
Easy to break: linear time; formulas are found in one pass.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from steelyard.parsing.latex import read_math
from steelyard.parsing.latex_spelling import LONGEST
from steelyard.parsing.latex_tree import Unreadable
from steelyard.parsing.prose import Candidate, Part, committed

_MARKED = frozenset(("tag", "hashes", "label", "phrase", "correction"))
_DELIMITER = re.compile(r"\\\\|\\\$|\$\$|\$|\\\(|\\\)|\\\[|\\\]")
_CLOSERS = {"$": "$", "$$": "$$", "\\(": "\\)", "\\[": "\\]"}
_JOIN = re.compile(r"\s*(?:(?:,|;)\s*(?:and|or|und|oder)?|and|or|und|oder|&)\s*", re.IGNORECASE)
_PERCENT = re.compile(r"\s?\\?%")
_DEGREES = re.compile(r"\s?(?:°|degrees?\b)")
_CUE = re.compile(
    r"(?:\b(?:is|are|be|equals?|gives?|gets?|got|have|has|obtains?|yields?|becomes?|thus|hence|therefore|so|then|to|answer|result|that)\b"
    r"|[:：⇒∴])[\s,:]*(?:\b(?:exactly|just|simply|equal to|about|approximately)\b)?\s*(?=\S)",
    re.IGNORECASE,
)
_PROSE_TAIL = re.compile(
    r"\s*[,;—–(]?\s*\b(?:since|because|as (?:we|you|it|the|required|desired|expected|shown|above|claimed)"
    r"|which|so that|given that"
    r"|by (?:the|our|symmetry)|where)\b.*$|\s*\((?=[^()]*[a-z]{3}|i\.e\.|or\b|≈|=)[^()]*\)\s*[.]?$",
    re.IGNORECASE | re.DOTALL,
)
_OPENING = re.compile(
    r"[\s*_`'\":]*(?:(?:the|a|an|just|simply|exactly|precisely|indeed|therefore|thus|then|equal to|about"
    r"|approximately|roughly|around)\s)*[\s*_`'\":]*",
    re.IGNORECASE,
)
_BEFORE_ANSWER = re.compile(
    r"\s*(?:(?:therefore|thus|hence|so|then)[,\s]\s{0,2})?(\S.{0,80}?)"
    r" is (?:the|our|my) (?:final |correct |right )?(?:answer|solution|result|value)[.!]?\s*",
    re.IGNORECASE,
)
_BOLD = re.compile(r"\*\*([^*\n]{1,80})\*\*")
_SHOUTED = re.compile(r"(?<=\d)!+$")
_FACTORIAL = re.compile(r"!(?=[ \t]{0,2}[=+*/^×·-])[^.!?\n]{1,80}|!(?=\s|$)")
_MOSTLY_FACTORIAL = frozenset(")nkmN")
_TAIL = 6000


class Answer(NamedTuple):
    """An answer's source text and its span in the reply."""

    text: str
    rule: str
    span: tuple[int, int]


def find_answer(part: Part, response: str) -> Answer | None:
    """The answer that a part of a reply commits to; None where there is nothing that could be one."""
    last = _box_at_end(part)
    if last is not None:
        return _boxed(last, part, response)
    fallback: Answer | None = None
    for candidate in committed(part):
        if candidate.rule == "box":
            return _boxed(candidate, part, response)
        found = _formula(_with_factorial(candidate, response), response)
        if candidate.rule in _MARKED or (found is not None and is_readable(found.text)):
            return found or Answer(candidate.text, candidate.rule, candidate.span)
        fallback = fallback or found or Answer(candidate.text, candidate.rule, candidate.span)
    return fallback


def is_readable(text: str) -> bool:
    """Whether a text is mathematics, or words, as a whole."""
    try:
        read_math(text)
    except Unreadable:
        return False
    return True


_AFTER_BOX = re.compile(r"[\s$.)\]*_\\]*")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)


def _box_at_end(part: Part) -> Candidate | None:
    """The box with which a text ends, if it does: nothing after it can withdraw it, so no other mark is looked for."""
    text = part.text
    start = text.rfind("\\boxed{")
    if start < 0 or text.rfind("\\boxed", start + 1) > 0 or text.rfind("\\boxed{", max(0, start - 40), start) >= 0:
        return None
    depth, low = 0, start + len("\\boxed{")
    for brace in _BRACE.finditer(text, low - 1, low + LONGEST):
        depth += {"{": 1, "}": -1}.get(brace.group(), 0)
        if depth == 0:
            if not _AFTER_BOX.fullmatch(text, brace.end()) or not text[low : brace.start()].strip():
                return None
            raw = text[low : brace.start()]
            at = part.offset + low + len(raw) - len(raw.lstrip())
            return Candidate(raw.strip(), (at, at + len(raw.strip())), "box")
    return None


def _boxed(candidate: Candidate, part: Part, response: str) -> Answer:
    """A box's content, together with boxes that are joined to it and a sign after it."""
    start, end = candidate.span
    opened = response.rfind("\\", part.offset, start)
    closed = response.find("}", end)
    if opened < 0 or not 0 <= closed - end <= 4 or response[end:closed].strip():
        return Answer(candidate.text, "box", candidate.span)
    tail = _sign_end(response, closed + 1)
    head = _joined_head(part, opened - part.offset) + part.offset
    if tail == closed + 1 and head == opened:
        return Answer(candidate.text, "box", candidate.span)
    return Answer(response[head:tail], "box", (head, tail))


_BOX_BEFORE = re.compile(
    r"(?:\\boxed|\\fbox)\s*\{[^{}]{0,200}\}[$\s]*(?:\\[\])])?\s*(?:,|;|and|or|,\s*and|,\s*or)\s*(?:\\[\[(])?[$\s]*$",
    re.IGNORECASE,
)


def _joined_head(part: Part, start: int) -> int:
    """Where a chain of joined boxes that ends at `start` begins."""
    for _ in range(12):
        low = max(0, start - 300)
        at = max(part.text.rfind("\\boxed", low, start), part.text.rfind("\\fbox", low, start))
        if at < 0 or not _BOX_BEFORE.fullmatch(part.text, at, start):
            break
        start = at
    return start


def _sign_end(text: str, at: int) -> int:
    """Past a per cent or degree sign that stands directly after a formula, else `at`."""
    closers = re.compile(r"\s?(?:\$|\\\)|\\\])?").match(text, at)
    for start in {at, closers.end() if closers else at}:
        match = _PERCENT.match(text, start) or _DEGREES.match(text, start)
        if match:
            return match.end()
    return at


def _with_factorial(candidate: Candidate, response: str) -> Candidate:
    """The candidate with the factorial at which its sentence seemed to end (`5! = 120`, `n!`), without exclamations."""
    low, high = candidate.span
    shouted = (
        _SHOUTED.search(candidate.text) if candidate.rule in _MARKED and response[high : high + 1] == "!" else None
    )
    if shouted:
        return Candidate(candidate.text[: shouted.start()], (low, low + shouted.start()), candidate.rule)
    sign = _FACTORIAL.match(response, high) if candidate.rule in _MARKED else None
    if sign is None or (sign[0] == "!" and candidate.text[-1] not in _MOSTLY_FACTORIAL):
        return candidate
    text = candidate.text + sign[0]
    return Candidate(text, (low, low + len(text)), candidate.rule) if is_readable(text) else candidate


def _formula(candidate: Candidate, response: str) -> Answer | None:
    """The answer inside a candidate that is prose, formula or both."""
    text, start = candidate.text, candidate.span[0]
    whole = candidate.rule == "whole"
    if len(text) > _TAIL:
        start += len(text) - _TAIL
        text = text[-_TAIL:]
    if not whole and len(text) <= LONGEST and is_readable(text):
        return Answer(text, candidate.rule, (start, start + len(text)))
    opening = _OPENING.match(text)
    low = opening.end() if opening else 0
    if not whole and 0 < low < len(text) <= LONGEST and is_readable(text[low:]):
        return Answer(text[low:], candidate.rule, (start + low, start + len(text)))
    runs = _runs(text)
    if runs:
        first = candidate.rule in _MARKED and runs[0][0] <= low
        low, high = runs[0 if first else -1]
        high = _sign_end(response, start + high) - start
        return Answer(response[start + low : start + high], candidate.rule, (start + low, start + high))
    if whole:
        return None
    bold = list(_BOLD.finditer(text))
    if len(bold) == 1 and any(map(str.isdigit, bold[0][1])) and is_readable(bold[0][1]):
        return Answer(bold[0][1], candidate.rule, (start + bold[0].start(1), start + bold[0].end(1)))
    return _prose_value(text, candidate.rule, start)


def _prose_value(text: str, rule: str, start: int) -> Answer | None:
    """A value in prose without formulas: without a reason after it, or after the last `is` and the like."""
    tail = _PROSE_TAIL.search(text)
    if tail:
        text = text[: tail.start()]
        if text.strip() and is_readable(text):
            return Answer(text, rule, (start, start + len(text)))
    before = _BEFORE_ANSWER.fullmatch(text)
    if before and is_readable(before[1]):
        return Answer(before[1], rule, (start + before.start(1), start + before.end(1)))
    cues = [m.end() for m in _CUE.finditer(text[-400:])]
    offset = max(0, len(text) - 400)
    for cue in reversed(cues[-3:]):
        value = _SHOUTED.sub("", text[offset + cue :].strip(" *_`"))
        if value and any(c.isdigit() or c in "\\√π∞" for c in value) and is_readable(value):
            at = text.index(value, offset + cue)
            return Answer(value, rule, (start + at, start + at + len(value)))
    return None


def _runs(text: str) -> list[tuple[int, int]]:
    """Spans of formulas between delimiters, those that are joined to each other as one."""
    found: list[tuple[int, int]] = []
    opened: tuple[str, int] | None = None
    for mark in _DELIMITER.finditer(text):
        sign = mark.group()
        if opened is None:
            if sign in _CLOSERS:
                opened = (_CLOSERS[sign], mark.start())
        elif sign == opened[0]:
            if text[opened[1] : mark.end()].strip("$\\()[] \n"):
                found.append((opened[1], mark.end()))
            opened = None
        elif sign == "$$" and opened[0] == "$":
            opened = None
    joined: list[tuple[int, int]] = []
    for low, high in found:
        if joined and low - joined[-1][1] <= 12 and _JOIN.fullmatch(text, joined[-1][1], low):
            joined[-1] = (joined[-1][0], high)
        else:
            joined.append((low, high))
    return joined
