"""Reading the grade out of a grader's reply; unparsed is an outcome with its reason, never a default grade.

Rules, in this order:
1. `json`: a label `key=value` is that field of a JSON reply; of another JSON object, the field named as a verdict, else
   the only field that is a label;
2. the last of these that is meant: `line`, a line that is only a label (decoration does not count; `A: CORRECT` is one
   label), and `marker`, a label after a verdict marker (`Judgement: yes`, `<grade>B</grade>`, `I grade it as B`);
3. `only`: the only grade that the labels in the text commit to, those in the told case before others.
Labels that list the options, in quotation blocks, asked, supposed, denied or said by others do not count
(`grade_labels`). Of a very long reply the last 60,000 characters count, and where they give no grade the first 20,000.
Reasoning blocks, struck-out text and run-on examples are dropped first (`final`).
Not covered: replies that grade several answers at once.
Easy to break: labels that differ are no grade; linear time.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any

import msgspec

from steelyard.parsing.final import final_part
from steelyard.parsing.grade_cues import BOXED, LEAD, LED, LED_BACK, MARKER, TAGGED, VERB, WEAK_LINE, WORD, word_spans
from steelyard.parsing.grade_labels import (
    MINE,
    MOST,
    Found,
    Labels,
    find_labels,
    holds,
    labels_of,
    meant,
    named_together,
    said_by_others,
    share_of_most,
    without_blocks,
)
from steelyard.parsing.json_prose import JsonFound, json_in
from steelyard.parsing.markers import lowered


class Grade(msgspec.Struct, frozen=True):
    """A grade, the rule that found it, and where its label stands in the reply."""

    grade: str
    rule: str
    span: tuple[int, int]


_SENTENCE_END = re.compile(r"\n|[.!?;](?=\s|$)")
_CORRECTION = re.compile(
    r"(?<![^\W_])(?:no|wait|actually|sorry|correction|scratch that|i mean|or rather|rather|make that"
    r"|on second thoughts?"
    r"|on reflection|i take that back|oops|hmm+|my mistake|let me (?:revise|correct|change))(?![^\W_])",
    re.IGNORECASE,
)
_CONCLUDES = re.compile(
    r"(?<![^\W_])(?:so|therefore|thus|hence)[,:]?\s{1,2}(?:an? |the grade is )?[*_`\"'(\[]{0,3}$", re.IGNORECASE
)
_LISTED = re.compile(r"\W*(?:(?:or|and|/|,|vs\.?|&|to|maybe|possibly|perhaps)\W*)+(?:an?\W+)?", re.IGNORECASE)
_AT_ONCE = re.compile(
    r"[\s*_`\"'“‘”’(\[{<#$\\]*(?:(?:that )?(?:it|this|the \w{1,12})(?: is|['’]s|:)\s+)?(?:not |never "
    r"|definitely |clearly |simply |still |a |an |the )?"
    r"[\s*_`\"'“‘(\[{<$\\]*(?:text(?:bf)?\{)?",
    re.IGNORECASE,
)
_WORD_NEXT = re.compile(r"\s+(?!(?:or|and|because|since|as|for|here|with|then|vs)(?![^\W_]))[a-z]")
_CONDITION = re.compile(
    r"(?<![^\W_])(?:if|unless|whether|suppose|supposing|assuming|to be|could be|might be|would be|may be"
    r"|had been|when)(?![^\W_])[^.!?\n;,:]{0,60}$",
    re.IGNORECASE,
)
_CONDITIONS = ("if", "unless", "whether", "suppos", "assuming", " be", "when", "been")
"""One of these is in every match of `_CONDITION`."""
_SENTENCE = re.compile(r"[.!?]\s")
_OR = re.compile(r"(?<![^\W_])(?:or|and)(?![^\W_])", re.IGNORECASE)
_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,2}[.)])\s")
_NAMES_ONLY = re.compile(rf"\W*(?:(?:{LEAD})(?:{WORD}))?\W*", re.IGNORECASE)
_NAMED = re.compile(
    rf"(?:(?:final|overall|is|my|the|llm|grader|judge) )*(?:{WORD}|correct|correctness|equivalent|match|passed)",
    re.IGNORECASE,
)
_REACH = 160
_NARROW = {c: chr(c - 0xFEE0) for c in range(0xFF01, 0xFF5F)} | {c: chr(c - 0x2475) for c in range(0x24B6, 0x24D0)}
_HEAD, _TAIL = 20_000, 60_000


class _Told(msgspec.Struct, frozen=True):
    """What the grader was told, prepared: its labels, fields of JSON, and for two grades the other one."""

    labels: Labels
    fields: dict[str, dict[str, str]]
    opposite: dict[str, str]


class _Candidate(msgspec.Struct, frozen=True):
    """A label that may be the grade; without a grade, labels that differ in one place."""

    start: int
    end: int
    grade: str | None
    rule: str
    listing: bool = False


def read_grade(reply: str, labels: Mapping[str, str]) -> Grade | str:
    """The grade that a reply gives under `labels` (what the grader was to write -> grade), or why it gives none."""
    part = final_part(reply)
    if part.reason or not part.text.strip():
        return part.reason or "the reply is empty"
    text = part.text if part.text.isascii() else part.text.translate(_NARROW)
    found = _read(text, _told(tuple(labels.items())))
    if isinstance(found, str):
        return found
    start, end = found.span
    return Grade(found.grade, found.rule, (start + part.offset, end + part.offset))


@lru_cache(maxsize=64)
def _told(pairs: tuple[tuple[str, str], ...]) -> _Told:
    labels = dict(pairs)
    fields: dict[str, dict[str, str]] = {}
    for text, grade in labels.items():
        name, equals, value = text.partition("=")
        if equals and name.strip():
            fields.setdefault(name.strip().casefold(), {})[value.strip().strip("\"'").casefold()] = grade
    grades = list(dict.fromkeys(labels.values()))
    opposite = dict(zip(grades, reversed(grades), strict=True)) if len(grades) == 2 else {}
    return _Told(labels_of(labels), fields, opposite)


def _read(text: str, told: _Told) -> Grade | str:
    whole = json_in(text) if "{" in text else ""  # only an object gives a grade here
    if isinstance(whole, JsonFound) and isinstance(whole.value, dict):
        by_field = _from_json(whole, told)
        if by_field is not None or whole.rule == "text":
            return by_field or "the JSON reply names no grade"
    if len(text) <= _HEAD + _TAIL:
        return _in_text(text, 0, told)
    found = _in_text(text[-_TAIL:], len(text) - _TAIL, told)
    return found if isinstance(found, Grade) else _in_text(text[:_HEAD], 0, told)


def _in_text(text: str, offset: int, told: _Told) -> Grade | str:
    found: Grade | str = "no label that is meant stands in the reply"
    for body in filter(str.strip, without_blocks(text)):
        strong = _lines(body, told) + _markers(body, told)
        strong = strong or _weak_lines(body, told)
        if strong:
            found = _last(body, strong, told)
            break
        known = _meant(body, told)
        if known:
            found = _only(body, known)
            break
    if isinstance(found, str):
        return found
    return Grade(found.grade, found.rule, (found.span[0] + offset, found.span[1] + offset))


def _last(text: str, strong: list[_Candidate], told: _Told) -> Grade | str:
    best = max(strong, key=lambda one: (one.end, one.grade is not None))
    after = text[best.end : best.end + _REACH]
    cue = _CORRECTION.search(after[:40])
    if cue and not any(map(str.isalnum, after[: cue.start()])):
        for one in find_labels(after, told.labels, cue.end()):
            grade = meant(after, one, told.opposite, marked=True)
            if grade:
                return Grade(grade, "correction", (best.end + one.start, best.end + one.end))
    if best.grade is None:
        return f"several labels that differ: {text[best.start : best.end]!r}"
    return Grade(best.grade, best.rule, (best.start, best.end))


def _lines(text: str, told: _Told) -> list[_Candidate]:
    """Lines that are only a label, without those that list the options."""
    runs: list[list[_Candidate]] = [[]]
    at = 0
    for line in text.splitlines(keepends=True):
        found = _line(line, at, told) if len(line) <= _REACH else None
        if found is None:
            runs.append([])
        else:
            runs[-1].append(found)
        at += len(line)
    return [one for run in runs for one in _unlisted(run)]


def _unlisted(run: list[_Candidate]) -> list[_Candidate]:
    listed = [one for one in run if one.listing]
    if len({one.grade for one in listed}) > 1:
        return [one for one in run if not one.listing]
    return [] if len({one.grade for one in run}) > 2 else run


def _line(line: str, at: int, told: _Told) -> _Candidate | None:
    if "?" in line or not told.labels.may_end(line):
        return None
    found = find_labels(line, told.labels)
    if not found:
        return None
    edges = [0, *(edge for one in found for edge in (one.start, one.end)), len(line)]
    rest = [line[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True)]
    bullet = _BULLET.match(line)
    first = rest[0][bullet.end() :] if bullet and bullet.end() <= len(rest[0]) else rest[0]
    if any(map(str.isalnum, _OR.sub("", " ".join(rest[1:])))) or not _NAMES_ONLY.fullmatch(first):
        return None
    grades = {one.label.grade for one in found}
    if len(grades) > 1 and _is_key(line, found):
        found, grades = found[-1:], {found[-1].label.grade}
    listing = len(found) > 1 or bullet is not None
    grade = grades.pop() if len(grades) == 1 else None
    return _Candidate(at + found[0].start, at + found[-1].end, grade, "line", listing)


def _is_key(line: str, found: list[Found]) -> bool:
    """Whether the labels before the last one only name the field: `Correct: no`, `PASS/FAIL: FAIL`."""
    colon = line.rfind(":", found[-2].end, found[-1].start)
    if colon < 0:
        return False
    named = {one.label.grade for one in found[:-1]}
    return len(named) > 1 or (found[-1].label.kind == "reply" and found[0].label.kind == "name")


def _markers(text: str, told: _Told) -> list[_Candidate]:
    """Labels after a verdict marker, in a tag or in a box."""
    low = lowered(text)
    found: list[_Candidate | None] = []
    for start, end in deque(word_spans(MARKER, low), maxlen=MOST):
        led = LED.search(low, max(0, start - LED_BACK), start)
        if not _others(text, led.start() if led else start):
            found.append(_marked(text, end, told, at_once=False))
    for start, end in deque(word_spans(VERB, low), maxlen=MOST):
        if _may_follow(text, low, end, told) and not _others(text, start):
            found.append(_marked(text, end, told, at_once=True))
    for name, pattern in (("</", TAGGED), ("\\boxed", BOXED)):
        for held in pattern.finditer(text) if name in text else ():
            one = _line(held[held.lastindex or 1], held.start(held.lastindex or 1), told)
            found.append(_Candidate(one.start, one.end, one.grade, "marker") if one else None)
    return [one for one in found if one]


def _weak_lines(text: str, told: _Told) -> list[_Candidate]:
    """Labels after a field's name that opens a line (`Correct: yes`)."""
    markers = deque(WEAK_LINE.finditer(text), maxlen=MOST)
    found = [_marked(text, one.end(), told, at_once=False) for one in markers if not _others(text, one.start())]
    return [one for one in found if one]


def _others(text: str, at: int) -> bool:
    """Whether the words before a marker make it a supposition, a quotation or somebody else's."""
    line = text[max(0, at - _REACH, text.rfind("\n", 0, at) + 1) : at]
    before = _SENTENCE.split(line)[-1]
    if holds(before.lower(), _CONDITIONS) and _CONDITION.search(before) and not MINE.search(before):
        return True
    whole = before if len(line) == _REACH else line  # a quotation may hold full stops: `"B. B. King"`
    if whole.count('"') % 2 or whole.count("“") > whole.count("”"):
        return whole.strip(" \t*_>#-") not in ('"', "“")
    return said_by_others(before)


def _may_follow(text: str, low: str, at: int, told: _Told) -> bool:
    """Whether a label can stand directly after `at`: only then it is worth looking at the words before."""
    opening = _AT_ONCE.match(text, at, _line_end(text, at))
    if opening is None:
        return False
    first = told.labels.opening.search(low, at, opening.end() + _REACH)
    return first is not None and first.start() <= opening.end()


def _marked(text: str, at: int, told: _Told, at_once: bool) -> _Candidate | None:
    """The label that a marker which ends at `at` gives; `at_once` where it must follow directly."""
    stop = _line_end(text, at)
    if not any(map(str.isalnum, text[at:stop])):
        if at_once:
            return None
        at = stop + len(text[stop : stop + _REACH]) - len(text[stop : stop + _REACH].lstrip())
        stop = _line_end(text, at)
    if share := share_of_most(text, at, told.labels):
        return _Candidate(*share, "marker")
    found = find_labels(text, told.labels, at, stop)
    opening = _AT_ONCE.match(text, at, stop)
    if found and opening and found[0].start <= opening.end() and _is_label(text, found[0]):
        return _first(text, found, told)
    if at_once or not found:
        return None
    end = _SENTENCE_END.search(text, at, stop)
    inside = [one for one in found if not end or one.end <= end.start()]
    grades = {grade for one in inside if (grade := meant(text, one, told.opposite))}
    return _Candidate(inside[0].start, inside[-1].end, grades.pop(), "marker") if len(grades) == 1 else None


def _line_end(text: str, at: int) -> int:
    """Where the line from `at` on ends, at most `_REACH` characters further."""
    limit = min(len(text), at + _REACH)
    end = text.find("\n", at, limit)
    return limit if end < 0 else end


def _is_label(text: str, one: Found) -> bool:
    """Whether a letter right after a marker is no article: `Grade: a`, but not `Verdict: a correct answer`."""
    article = one.label.kind == "letter" and (not one.exact or one.label.text in ("A", "I"))
    return not (article and _WORD_NEXT.match(text, one.end))


def _first(text: str, found: list[Found], told: _Told) -> _Candidate | None:
    """The label right after a marker, unless another is listed beside it or put in its place."""
    best: _Candidate | None = None
    at = found[0].start
    for one in found:
        between = text[at : one.start]
        at = one.end
        listed = _LISTED.fullmatch(between) is not None or not any(map(str.isalnum, between))
        corrected = _CORRECTION.search(between) is not None
        if best is not None and not listed and not corrected:
            break
        grade = meant(text, one, told.opposite, marked=True)
        if best is not None and listed and grade not in (None, best.grade):
            return _Candidate(best.start, one.end, None, "marker")
        if grade is not None and (best is None or corrected):
            best = _Candidate(one.start, one.end, grade, "marker")
    return best


def _meant(text: str, told: _Told) -> list[tuple[Found, str]]:
    """The labels that are meant, without those that stand side by side and differ: they name the options."""
    found = find_labels(text, told.labels)
    both = {id(x) for a, b in pairwise(found) if named_together(text, a, b) for x in (a, b)}
    known = [(one, grade) for one in found if id(one) not in both and (grade := meant(text, one, told.opposite))]
    runs: list[list[tuple[Found, str]]] = []
    for one, grade in known:
        if runs and _side_by_side(text[runs[-1][-1][0].end : one.start]):
            runs[-1].append((one, grade))
        else:
            runs.append([(one, grade)])
    return [pair for run in runs if len({grade for _, grade in run}) == 1 for pair in run]


def _side_by_side(between: str) -> bool:
    listed = _LISTED.fullmatch(between) is not None or not any(map(str.isalnum, between))
    return listed and not set(between) & set(".!?\n")


def _only(text: str, known: list[tuple[Found, str]]) -> Grade | str:
    told_case = [(one, g) for one, g in known if one.exact and (one.label.text.isupper() or one.label.kind == "mark")]
    chosen = told_case or known
    grades = list(dict.fromkeys(grade for _, grade in chosen))
    last, grade = chosen[-1]
    if len(grades) > 1:
        before = [one for one, other in chosen if other != grade][-1]
        between = text[before.end : last.start]
        if not (_CORRECTION.search(between) or _CONCLUDES.search(between)):
            return f"labels that differ: {', '.join(repr(text[one.start : one.end]) for one, _ in chosen[:6])}"
    return Grade(grade, "only", (last.start, last.end))


def _from_json(found: JsonFound, told: _Told) -> Grade | str | None:
    value: dict[str, Any] = found.value
    if told.fields:
        given = {
            told.fields[name.strip().casefold()].get(_scalar(one))
            for name, one in value.items()
            if name.strip().casefold() in told.fields
        }
        if len(given) == 1 and (grade := next(iter(given))):
            return Grade(grade, "json", found.span)
        if given:
            return "the field of the verdict has no value that is a label"
    marked = [one for name, one in value.items() if _NAMED.fullmatch(re.sub(r"[\W_]+", " ", name).strip())]
    for values in (marked, list(value.values())):
        grades = {grade for one in values if (grade := _value_grade(_scalar(one), told))}
        if len(grades) == 1:
            return Grade(grades.pop(), "json", found.span)
        if grades:
            return "fields of the JSON reply name grades that differ"
    return None


def _scalar(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    value = int(value) if isinstance(value, float) and value.is_integer() else value
    return str(value).strip().casefold() if isinstance(value, str | int | float) else ""


def _value_grade(text: str, told: _Told) -> str | None:
    one = _line(text, 0, told) if len(text) <= _REACH else None
    return one.grade if one else None
