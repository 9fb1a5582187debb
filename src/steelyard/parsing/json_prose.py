"""Strict JSON, found in the text of a reply, and the typed comparison of two JSON values.

Sources: RFC 8259 (the grammar), RFC 7493 section 2.3 (duplicate names are an error), CommonMark 0.31 (fences).
A value is looked for in this order: the text as it stands, so that a fence inside a string is never stripped; the
last fenced block that holds JSON; with `tolerant`, the one object in the prose. Whatever is found is read strictly:
no duplicate names, NaN, trailing commas or comments. A broken object is never searched for a whole one inside it.
Numbers keep their written value: integers exactly at any size (`Decimal` past 4300 digits), other numbers as floats.
Not covered: reasoning blocks (`prose.final_part` removes them first), JSON5, repair of broken JSON, several objects
in prose that differ (refused: nothing says which one counts).
Easy to break: linear time on hostile text, and the depth cap that keeps Python's own parser from overflowing.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from itertools import accumulate
from typing import Any

import msgspec

from steelyard.errors import InputError

MAX_DEPTH = 256
"""Deepest nesting that is read; deeper text is refused before Python's recursive parser sees it."""

_MAX_INT_DIGITS = 4300  # CPython's default limit on int <-> text conversion, so ints stay printable
_EXACT_FLOAT = 2**53  # above it a float may not be the integer that was written
_MOST_OBJECTS = 20_000
_WHITE = " \t\r\n"


class JsonFound(msgspec.Struct, frozen=True):
    """A JSON value and where it stands in the text; `rule` is `text`, `fence` or `prose`."""

    value: Any
    span: tuple[int, int]
    rule: str


def strict_json(text: str) -> Any:
    """The value of a whole JSON text; InputError says why it is not one."""
    if _depth(text) > MAX_DEPTH:
        raise InputError(f"nested deeper than {MAX_DEPTH}")
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{error.msg} at character {error.pos}") from error


def json_in(text: str, tolerant: bool = True) -> JsonFound | str:
    """The JSON value that a reply gives, or why there is none; without `tolerant` only the text as it stands."""
    start, end = _trim(text, 0, len(text))
    try:
        return JsonFound(strict_json(text[start:end]), (start, end), "text")
    except InputError as error:
        whole = str(error)
    if not tolerant:
        return whole
    blocks = list(fenced_blocks(text))
    labelled = [block for block in blocks if block[2] == "json"]
    plain = [block for block in blocks if not block[2] and text[block[0] : block[1]].lstrip()[:1] in ("{", "[")]
    if labelled or plain:
        return _in_fence(text, *_trim(text, *(labelled or plain)[-1][:2]))
    return _in_prose(text) or whole


def typed_equal(left: Any, right: Any) -> bool:
    """Whether two JSON values are equal: 1 == 1.0, but 1 != true and "1" != 1; lists in order, objects by name."""
    pending = [(left, right)]
    while pending:
        a, b = pending.pop()
        if isinstance(a, dict) and isinstance(b, dict):
            if a.keys() != b.keys():
                return False
            pending.extend((value, b[name]) for name, value in a.items())
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return False
            pending.extend(zip(a, b, strict=True))
        elif json_type(a) != json_type(b) or a != b:
            return False
    return True


def json_type(value: Any) -> str:
    """The JSON name of a value's type: null, boolean, number, string, array or object."""
    if value is None:
        return "null"
    for name, kind in (("boolean", bool), ("number", (int, float, Decimal)), ("string", str), ("array", list)):
        if isinstance(value, kind):
            return name
    return "object"


def storable(value: Any) -> bool:
    """Whether a JSON value survives being written to a record: no number or character that UTF-8 JSON would lose."""
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, dict):
            pending.extend((*one.keys(), *one.values()))
        elif isinstance(one, list):
            pending.extend(one)
        elif isinstance(one, Decimal) or (isinstance(one, str) and _SURROGATE.search(one)):
            return False
    return True


_SURROGATE = re.compile("[\ud800-\udfff]")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise InputError(f'duplicate key "{name}"')
        found[name] = value
    return found


def _integer(digits: str) -> int | Decimal:
    return int(digits) if len(digits) <= _MAX_INT_DIGITS else Decimal(digits)


def _number(text: str) -> int | float | Decimal:
    near = float(text)
    if abs(near) < _EXACT_FLOAT:
        return near
    try:
        exact = Decimal(text)
    except InvalidOperation as error:
        raise InputError(f"a number is out of range: {text[:40]}") from error
    if exact.adjusted() >= _MAX_INT_DIGITS:
        return exact
    if exact == exact.to_integral_value():
        return int(exact)
    return exact if math.isinf(near) else near


def _constant(name: str) -> Any:
    raise InputError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_number, parse_constant=_constant
)


_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_STEPS = {ord("{"): 1, ord("["): 1, ord("}"): -1, ord("]"): -1}
_NO_BRACKETS = bytes(set(range(256)) - _STEPS.keys())


def _depth(text: str) -> int:
    """Deepest nesting of a text read as JSON; 0 where it cannot come near the cap."""
    if text.count("{") + text.count("[") <= MAX_DEPTH:
        return 0
    brackets = _STRING.sub("", text).encode("utf-8", "surrogatepass").translate(None, _NO_BRACKETS)
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0)


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and (text[start] in _WHITE or text[start] == "\ufeff"):
        start += 1
    while end > start and text[end - 1] in _WHITE:
        end -= 1
    return start, end


def _strictly(text: str, start: int, end: int, rule: str) -> JsonFound | str:
    try:
        return JsonFound(strict_json(text[start:end]), (start, end), rule)
    except InputError as error:
        return str(error)


def _in_fence(text: str, start: int, end: int) -> JsonFound | str:
    found = _strictly(text, start, end, "fence")
    if isinstance(found, str) and text[start : start + 1] == "{":
        # The closing fence may stand on the object's own line, where Markdown does not see it.
        close = balanced_end(text, start)
        if _FENCE.match(text, close):
            return _strictly(text, start, close, "fence")
    return found


_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_OPENING = re.compile(r"[ \t>]*(`{3,}|~{3,})[ \t]*([^`\n]*)")


def fenced_blocks(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, label in lower case) of each fenced block; one that is never closed runs to the end of the text."""
    if "```" not in text and "~~~" not in text:
        return
    mark, start, at, label = "", 0, 0, ""
    for line in text.splitlines(keepends=True):
        opening = _OPENING.match(line)
        if not mark and opening:
            mark, start, label = opening[1], at + len(line), opening[2].strip().lower()
        elif mark and _closes(line, mark):
            yield start, at, label
            mark = ""
        at += len(line)
    if mark:
        yield min(start, len(text)), len(text), label


def _closes(line: str, mark: str) -> bool:
    bare = line.strip(" \t\r\n>")
    return len(bare) >= len(mark) and set(bare) == {mark[0]}


_OBJECT_LIKE = re.compile(r"""\{\s*(?:["'}]|[A-Za-z_]\w*\s*:)""")
# Pairs of a backslash and a character are one token, so that a run of \" is never tried as many strings.
_LENIENT = re.compile(r'"(?:[^"\\\n]|\\.)*+"|\\.|[{}]', re.DOTALL)


def _in_prose(text: str) -> JsonFound | str | None:
    """The one object in prose; None when nothing looks like an object."""
    found: JsonFound | None = None
    broken: str | None = None
    at, before = 0, ""
    for _ in range(_MOST_OBJECTS):
        match = _OBJECT_LIKE.search(text, at)
        if match is None:
            return found or broken
        end = balanced_end(text, match.start())
        if found is not None and text[match.start() : end] == before:  # a loop says the same object over and over
            found, at = JsonFound(found.value, (match.start(), end), "prose"), end
            continue
        before = text[match.start() : end]
        one = _outside(text, match.start(), end) or _strictly(text, match.start(), end, "prose")
        if isinstance(one, str):
            broken = one
        elif found is not None and not typed_equal(found.value, one.value):
            return "several objects that differ"
        else:
            found = one
        at = end
    return f"more than {_MOST_OBJECTS} objects"


_BEFORE = re.compile(r"[\[{][ \t\n]{0,20}$")
_AFTER = re.compile(r"[ \t\n]{0,20}\}")


def _outside(text: str, start: int, end: int) -> str:
    """What is wrong with the text around an object: it stands in a list or in a brace, or one brace too many closes."""
    if _BEFORE.search(text, max(0, start - 21), start):
        return "the object stands inside another bracket"
    return "a closing brace too many" if _AFTER.match(text, end) else ""


def balanced_end(text: str, start: int) -> int:
    """Where the brace that opens at `start` closes, or the end of the text; braces in strings do not count."""
    depth = 0
    for match in _LENIENT.finditer(text, start):
        if match[0] == "{":
            depth += 1
        elif match[0] == "}":
            depth -= 1
            if depth == 0:
                return match.end()
    return len(text)
