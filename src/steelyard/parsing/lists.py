"""Lists that replies give: JSON arrays, list lines, and items in a row.

`items_of` finds, in this order: the last JSON array; the lines of a list after a marked answer or at the end; the
items in the committed line, parted as the caller says.
Not covered: tables, nested lists.
Easy to break: an item such as `Trinidad and Tobago`; `and` is left to the caller, who knows what is expected.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from steelyard.parsing.prose import Candidate, Part, committed, undecorated

_BULLET = re.compile(r"[ \t]{0,8}(?:[-*•–]|\(?\d{1,3}[.):]|\(?[a-z][.)])[ \t]+(?=\S)")
_NUMBER = re.compile(r"[ \t]{0,8}\(?\d{1,3}[.):][ \t]+(?=\S)")
_LEAD_IN = re.compile(r"[^:：\n]{0,200}[:：][ \t]*(?=\S)")
_MOST_ARRAYS = 50
_MOST_ITEMS = 2_000
_LONGEST_PLAIN = 4_000


class Items(NamedTuple):
    """Items as found: JSON values under the rule `json`, texts under any other; the span is of the whole reply."""

    values: list[Any]
    rule: str
    span: tuple[int, int]


def items_of(part: Part, separator: re.Pattern[str]) -> Items | None:
    """The list that a part commits to, its texts parted by `separator` where it is given in a row; None when empty."""
    found = _json_array(part)
    if found or not part.text.strip():
        return found
    candidates = committed(part)
    return _lines(part, candidates) or _row(candidates, separator)


def _json_array(part: Part) -> Items | None:
    text = part.text
    if "[" not in text:
        return None
    decoder = json.JSONDecoder(parse_constant=_refuse)
    found, at = None, text.find("[")
    for _ in range(_MOST_ARRAYS):
        if at < 0:
            break
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            if value or text.strip() == text[at:end]:
                found = Items(value, "json", (part.offset + at, part.offset + end))
        at = text.find("[", end)
    return found


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


def _lines(part: Part, candidates: list[Candidate]) -> Items | None:
    """The last block of at least two list lines with nothing but list lines and blanks in it."""
    blocks: list[list[tuple[int, str]]] = [[]]
    at = 0
    for line in part.text.splitlines(keepends=True):
        bullet = _BULLET.match(line)
        if bullet:
            blocks[-1].append((at + bullet.end(), line[bullet.end() :]))
        elif line.strip() and blocks[-1]:
            blocks.append([])
        at += len(line)
    block = next((b for b in reversed(blocks) if len(b) > 1), None)
    if block is None:
        return None
    last_start, last_text = block[-1]
    tail = part.text[last_start + len(last_text) :].strip()
    if any(
        c.rule not in ("bold", "last-line", "whole") and c.span[0] >= part.offset + last_start for c in candidates
    ) or (len(tail) > 200):
        return None
    span = (part.offset + block[0][0], part.offset + last_start + len(last_text.rstrip()))
    return Items([_clean(text) for _, text in block], "lines", span)


def _row(candidates: list[Candidate], separator: re.Pattern[str]) -> Items | None:
    plain_lines = bool(candidates) and candidates[-1].rule == "whole" and _is_lines(candidates[-1].text)
    for candidate in candidates:
        if plain_lines and candidate.rule in ("bold", "last-line"):
            continue
        text = undecorated(candidate.text)
        if candidate.rule in ("bold", "last-line", "whole"):
            lead = _LEAD_IN.match(text)
            text = text[lead.end() :] if lead else text
        values = [_clean(piece) for piece in separator.split(text.strip().rstrip(".。"), _MOST_ITEMS)]
        values = [value for value in values if value]
        if values:
            return Items(values, candidate.rule, candidate.span)
    return None


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
