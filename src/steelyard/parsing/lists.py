"""Lists that replies give: JSON and Python arrays, list lines, and items in a row.

`items_of` finds, in this order: the last array that no later marked answer replaces; the lines of a list after a marked
answer or at the end; the items in the committed line, parted as the caller says, without the brackets around them.
Not covered: tables, nested lists in other spellings than JSON's.
Easy to break: an item such as `Trinidad and Tobago`; `and`, and the words around a row (`the colours are red, ...`),
are left to the caller, who knows what is expected.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable
from itertools import islice
from typing import Any, NamedTuple

from steelyard.parsing.prose import Candidate, Part, commitments, undecorated

_BULLET = re.compile(r"[ \t]{0,8}(?:[-*•–]|\(?\d{1,3}[.):]|\(?[a-z][.)])[ \t]+(?=\S)")
_NUMBER = re.compile(r"[ \t]{0,8}\(?\d{1,3}[.):][ \t]+(?=\S)")
_NUMBERED = re.compile(r"(\d{1,3})[.):][ \t]+$")
_LEAD_IN = re.compile(r"[^:：\n]{0,200}[:：][ \t]*(?=\S)")
_RANK = re.compile(r"(?<!\S)\(?(\d{1,3})[.):][ \t]+(?=\S)")
_GROUP = re.compile(r"(?:\\left[ ]?)?(?:\\?\{|\\lbrace\b|\[)([^\[\]{}]*?)(?:\\right[ ]?)?(?:\\?\}|\\rbrace\b|\])")
_CITED = re.compile(r"(?<=\w)(?:[ ]?\[\d{1,3}\]){1,5}\.?$")
_AFTER_GROUP = re.compile(r"[\s$.。*`)\]\\}]*")
_BEFORE_ARRAY = re.compile(
    r"(?:^|[:：=\n({\[,|`>$*\"'”]|\\[(\[]|\b(?:is|are|be|get|return\w*|list|set|answer|array))\s*[`$*]*$",
    re.IGNORECASE,
)
_DENIED_ARRAY = re.compile(
    r"(?:\bnot|n['’]t(?: be)?|\binstead of|\brather than|\bother than|\bunlike)\s+(?:the \w+ )?[`$*]*$", re.IGNORECASE
)
_POINTS_BACK = re.compile(r"(?:the |as )?(?:above|shown|listed|given|this|that|these|those|correct)\b", re.IGNORECASE)
_AFTER_EMPTY = re.compile(r"[`$*.。)}\"\\]*[ \t]*(?:\n|$)")
_STYLE = re.compile(r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mathit|mbox|operatorname)\s{0,3}\{([^{}]*)\}")
_ROW_LEAD = re.compile(
    r"(?:.*(?:['’]re\b|\b(?:are|is|were|was|be|include[sd]?|contains?|comprises?|consists? of|namely|get|got|have"
    r"|obtain|order|i\.e\.|answer|follows)\b)|.*[=:：∈]|.*\\in\b)[\s,:]*",
    re.IGNORECASE | re.DOTALL,
)
_ROW_TAIL = re.compile(
    r"[\s,(]+(?:in (?:that|this|the given|exactly (?:that|this)) (?:exact |precise |very )?(?:order|sequence)"
    r"|respectively|only|alone|in total|are|is|were)\b.*$",
    re.IGNORECASE | re.DOTALL,
)
_EXPLAINED = re.compile(r"(?:[*`\"”]*\s+[-–—]{1,2}\s|[*`\"”]*[:：]|\s+\().*$", re.DOTALL)
_DENIES = re.compile(
    r"\b(?:not|no|never|none|nor|neither|except|excluding|excluded|without|other than|unlike|wrong|false|incorrect"
    r"|omit\w*|reverse\w*|opposite)\b|n['’]t\b|\(\s*(?:and|plus|also|or)\b",
    re.IGNORECASE,
)
_RANK_WORD = re.compile(
    r"\s*[A-Za-z]\w{0,3}\s*=\s*|\s*(?:and |then )?(?:the )?(?:first|second|third|fourth|fifth|sixth|seventh|eighth"
    r"|ninth|tenth|last|next|finally|lastly|\d{1,2}(?:st|nd|rd|th))(?:ly)?(?: is| comes| place)?[\s,:：]+",
    re.IGNORECASE,
)
_PYTHON_ITEM = r"(?:'(?:[^'\\\n]|\\.)*+'|\"(?:[^\"\\\n]|\\.)*+\"|-?\d{1,40}(?:\.\d{1,40})?|True|False|None)"
_PYTHON = re.compile(rf"\[\s*+({_PYTHON_ITEM}(?:\s*+,\s*+{_PYTHON_ITEM})*+),?+\s*+\]")
_ITEM = re.compile(_PYTHON_ITEM)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_CONSTANTS = {"True": True, "False": False, "None": None}
_TYPED = ("json", "python")
_UNMARKED = ("bold", "last-line", "whole")
_MOST_ARRAYS = 50
_MOST_ITEMS = 2_000
_LONGEST_PLAIN = 4_000
_MOST_LINES = 20_000
_LONGEST_TAIL = 200
_LONGEST_ITEM = 400
_LOOK_BACK = 40
_LOOSE = " $*`\"'“”‘’()"


class Items(NamedTuple):
    """Items as found; `typed` says that they are JSON values and not texts; the span is of the whole reply."""

    values: list[Any]
    rule: str
    span: tuple[int, int]

    @property
    def typed(self) -> bool:
        """Whether the values are JSON values."""
        return self.rule in _TYPED


def items_of(part: Part, separator: re.Pattern[str]) -> Items | None:
    """The list that a part commits to, its texts parted by `separator` where it is given in a row; None when empty."""
    if not part.text.strip():
        return None
    rest = commitments(part)
    best = list(islice(rest, 1))
    found = _array(part)
    if found and not (best and _replaces(best[0], found.span[1])):
        return found
    candidates = best + list(rest)
    return _lines(part, candidates) or _row(candidates, separator)


def _replaces(best: Candidate, end: int) -> bool:
    """Whether the best candidate is a marked answer behind `end` that does not point back (`the answer is above`)."""
    return best.rule not in _UNMARKED and best.span[0] >= end and _POINTS_BACK.match(best.text) is None


def _array(part: Part) -> Items | None:
    """The last array in JSON or in Python's spelling that is asserted; an empty one only where it stands alone."""
    text = part.text
    found, at = None, text.find("[")
    for _ in range(_MOST_ARRAYS):
        if at < 0:
            break
        value, end, rule = _array_at(text, at)
        if value is not None and _is_said(text, at, end, value):
            found = Items(value, rule, (part.offset + at, part.offset + end))
        at = text.find("[", end)
    return found


def _array_at(text: str, at: int) -> tuple[list[Any] | None, int, str]:
    """The array that opens at `at`, where it ends, and its spelling; no array ends behind its bracket."""
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        match = _PYTHON.match(text, at)
        if match is None:
            return None, at + 1, ""
        return [_python_value(item[0]) for item in _ITEM.finditer(match[1])], match.end(), "python"
    return value, end, "json"


def _is_said(text: str, at: int, end: int, value: list[Any]) -> bool:
    """Whether an array is what the writer says: not denied, no citation mark (`as is known [1]`), no bare `a[]`."""
    before = text[max(0, at - _LOOK_BACK) : at]
    if _DENIED_ARRAY.search(before):
        return False
    if not value:
        return bool(_BEFORE_ARRAY.search(before) and _AFTER_EMPTY.match(text, end))
    cited = len(value) == 1 and isinstance(value[0], int) and not isinstance(value[0], bool)
    return not cited or _BEFORE_ARRAY.search(before) is not None


def _python_value(item: str) -> Any:
    if item[0] in "'\"":
        return _ESCAPE.sub(r"\1", item[1:-1])
    if item in _CONSTANTS:
        return _CONSTANTS[item]
    return float(item) if "." in item else int(item)


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def _lines(part: Part, candidates: list[Candidate]) -> Items | None:
    """The last block of at least two list lines with nothing but list lines and blanks in it, near the end."""
    block = _last_block(part.text)
    if not 1 < len(block) <= _MOST_LINES:
        return None
    last_start, last_text = block[-1]
    if any(c.rule not in _UNMARKED and c.span[0] >= part.offset + last_start for c in candidates):
        return None
    span = (part.offset + block[0][0], part.offset + last_start + len(last_text.rstrip()))
    return Items([_clean(text) for text in _by_number(part.text, block)], "lines", span)


def _by_number(text: str, block: list[tuple[int, str]]) -> list[str]:
    """The lines of a block, sorted where they are numbered 1 to n in another order (a countdown)."""
    numbers = [int(match[1]) if (match := _NUMBERED.search(text, max(0, at - 8), at)) else 0 for at, _ in block]
    lines = [line for _, line in block]
    if sorted(numbers) != list(range(1, len(block) + 1)):
        return lines
    return [line for _, line in sorted(zip(numbers, lines, strict=True))]


def _last_block(text: str) -> list[tuple[int, str]]:
    """Where the items of the last block start, and their lines; at most `_LONGEST_TAIL` characters come after it."""
    block: list[tuple[int, str]] = []
    at, end = len(text), len(text.rstrip())
    for line in reversed(text.splitlines(keepends=True)):
        at -= len(line)
        bullet = _BULLET.match(line)
        if bullet:
            block.append((at + bullet.end(), line[bullet.end() :]))
        elif line.strip():
            if len(block) > 1:
                break
            if end - at > _LONGEST_TAIL:
                return []
            block = []
        if len(block) > _MOST_LINES:
            break
    return block[::-1]


def _row(candidates: list[Candidate], separator: re.Pattern[str]) -> Items | None:
    plain_lines = bool(candidates) and candidates[-1].rule == "whole" and _is_lines(candidates[-1].text)
    for candidate in candidates:
        if plain_lines and candidate.rule in ("bold", "last-line"):
            continue
        text = undecorated(_without_styles(candidate.text))
        if candidate.rule in _UNMARKED:
            lead = _LEAD_IN.match(text)
            text = text[lead.end() :] if lead else text
        text = _CITED.sub("", text)
        group = _group(text)
        if group == "":
            return Items([], candidate.rule, candidate.span)
        text = (group or text).strip().rstrip(".。")
        pieces = _ranked(text) or separator.split(text, _MOST_ITEMS)
        values = [value for value in map(_clean, pieces) if value]
        if values:
            return Items(values, candidate.rule, candidate.span)
    return None


def _without_styles(text: str) -> str:
    """LaTeX without the commands that only set words upright."""
    return _STYLE.sub(r"\1", text).replace("\\,", " ").replace("\\ ", " ") if "\\" in text else text


def _group(text: str) -> str | None:
    """What stands in the one pair of brackets with which a text ends; None where it does not end so."""
    text = text[-_LONGEST_PLAIN:]
    groups = deque(_GROUP.finditer(text), maxlen=2)
    if len(groups) != 1 or not _AFTER_GROUP.fullmatch(text, groups[0].end()):
        return None
    inner, before = groups[0][1].strip(), text[: groups[0].start()][-_LOOK_BACK:]
    if _DENIED_ARRAY.search(before) or not (inner or _BEFORE_ARRAY.search(before)):
        return None
    return inner


def _ranked(text: str) -> list[str]:
    """The items of `1) a 2) b 3) c`: numbered in one line, from 1 on, without a gap."""
    if not _RANK.match(text):
        return []
    ranks = list(islice(_RANK.finditer(text), _MOST_ITEMS))
    if len(ranks) < 2 or [int(rank[1]) for rank in ranks] != list(range(1, len(ranks) + 1)):
        return []
    ends = [rank.start() for rank in ranks[1:]] + [len(text)]
    return [text[rank.end() : end].rstrip(" ,;") for rank, end in zip(ranks, ends, strict=True)]


def _is_lines(text: str) -> bool:
    """Whether a text is a list without bullets: several short lines, none of which is a sentence or a heading."""
    lines = [line.strip() for line in text[:_LONGEST_PLAIN].splitlines() if line.strip()]
    short = len(text) <= _LONGEST_PLAIN and all(
        len(line) <= 60 and not line.endswith((":", ".", "：", "。")) for line in lines
    )
    return short and len(lines) > 1


def _clean(text: str) -> str:
    text = text.strip().rstrip(".,;。")
    return undecorated(_NUMBER.sub("", text, count=1) if _NUMBER.match(text) else text)


def without_words(values: list[str], known: Callable[[str], bool]) -> list[str]:
    """The texts of a row without the words around them, where an expected one is left.

    Before the first: `the colours are red`. After the last: `blue, in that order`, `blue are the colours`. In each: a
    word of rank (`second: red`), an explanation (`red: a warm one`, `red (warm)`) that denies nothing, marks around it.
    """
    if len(values) > _MOST_ITEMS:
        return values
    last = len(values) - 1
    return [
        value
        if len(value) > _LONGEST_PLAIN or known(value)
        else next(filter(known, _barer(value, n == 0, n == last)), value)
        for n, value in enumerate(values)
    ]


def _barer(value: str, first: bool, last: bool) -> list[str]:
    """The texts that may be meant by one of a row."""
    value = value[-_LONGEST_ITEM:] if first else value[:_LONGEST_ITEM]
    found = [value]
    lead = _ROW_LEAD.match(value) if first else None
    if lead and not _DENIES.search(lead[0]):
        found.append(value[lead.end() :])
    for pattern in (_ROW_TAIL, _EXPLAINED) if last else (_EXPLAINED,):
        cut = [text[: tail.start()] for text in found if (tail := pattern.search(text)) and not _DENIES.search(tail[0])]
        found += cut
    found += [_RANK_WORD.sub("", text, count=1) for text in found]
    return [undecorated(text.strip(" \t\n$.,;:")).strip(_LOOSE) for text in found]
