"""Values that came out of a sandbox, and how they are held against expected ones.

The runner writes JSON; what JSON has no word for is an object with one key: `{"$tuple": [...]}`, `$set`,
`$frozenset`, `$int` (hex), `$float` (nan, inf, -inf), `$bytes` (hex), `$complex`, `$dict` (pairs). Here it becomes
builtin values again, so nothing of the program's own is ever called.
Comparison is by exact type and value, in sets and keys too: True is not 1, 2.0 is not 2, a tuple is not a list. As
JSON (expected values that came as JSON have no tuples and no integer keys) a tuple is its list and an integer key its
text, but two keys that become one are no dict of JSON. Under `numbers: equal` an int equals the float of the same
value. `float_tol` holds where one side is a float: |x - y| <= tol * max(1, |y|), y expected; nan is close to nothing.
Members of sets may differ by it, keys of dicts may not. Of two printed numbers without a point or an exponent it
allows nothing.
Not covered: objects of a program's own classes.
Easy to break: a bool is an int for isinstance; an integer may be too large for a float.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Hashable, ItemsView, KeysView
from fractions import Fraction
from typing import Any

import msgspec

from steelyard.errors import InputError


class Rules(msgspec.Struct, frozen=True):
    """How values are compared; `as_json` folds what JSON cannot tell apart."""

    float_tol: float = 0.0
    equal_numbers: bool = False
    as_json: bool = False


def decode(text: str) -> Any:
    """The value that the runner's JSON stands for; InputError for anything that the runner does not write."""
    try:
        return _value(json.loads(text, parse_constant=_refuse), 0)
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError) as error:
        raise InputError(f"not a value of the runner: {error}") from error


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _value(raw: Any, depth: int) -> Any:
    if depth > _DEPTH:
        raise ValueError("nested too deeply")
    if isinstance(raw, list):
        return [_value(part, depth + 1) for part in raw]
    if not isinstance(raw, dict):
        return raw
    if len(raw) == 1:
        (key, inner) = next(iter(raw.items()))
        if key.startswith("$"):
            kind, tag = _TAGS[key]
            if type(inner) is not kind:
                raise TypeError(f"{key} holds a {type(inner).__name__}")
            return tag(inner, depth + 1)
    return {key: _value(part, depth + 1) for key, part in raw.items()}


def _complex(parts: list[Any], depth: int) -> complex:
    real, imaginary = (_value(part, depth) for part in parts)
    return complex(real, imaginary)


_DEPTH = 200  # the runner writes no value that is nested deeper
_TAGS: dict[str, tuple[type, Callable[[Any, int], Any]]] = {
    "$tuple": (list, lambda parts, depth: tuple(_value(part, depth) for part in parts)),
    "$set": (list, lambda parts, depth: {_value(part, depth) for part in parts}),
    "$frozenset": (list, lambda parts, depth: frozenset(_value(part, depth) for part in parts)),
    "$int": (str, lambda text, _depth: int(text, 16)),
    "$float": (str, lambda text, _depth: float(text)),
    "$bytes": (str, lambda text, _depth: bytes.fromhex(text)),
    "$complex": (list, _complex),
    "$dict": (list, lambda pairs, depth: {_value(key, depth): _value(part, depth) for key, part in pairs}),
}


def same(got: Any, want: Any, rules: Rules) -> bool:
    """Whether a returned value is the expected one."""
    got, want = _plain(got), _plain(want)
    if isinstance(want, list | tuple) and isinstance(got, list | tuple):
        if not rules.as_json and type(got) is not type(want):
            return False
        return len(got) == len(want) and all(same(g, w, rules) for g, w in zip(got, want, strict=True))
    if isinstance(want, dict) and isinstance(got, dict):
        return _same_dict(got, want, rules)
    if isinstance(want, set | frozenset) and isinstance(got, set | frozenset):
        return _same_set(got, want, rules)
    if _is_number(want) and _is_number(got):
        return _same_number(got, want, rules)
    return type(got) is type(want) and bool(got == want)


def _plain(value: Any) -> Any:
    """A view of a dict as the set that Python compares it as; anything else as it is."""
    return set(value) if isinstance(value, KeysView | ItemsView) else value


def _typed(value: Any, rules: Rules) -> Hashable:
    """What two members of sets or two keys have in common when they are the same in type and value."""
    if isinstance(value, tuple):
        return "tuple", tuple(_typed(part, rules) for part in value)
    if isinstance(value, frozenset):
        return "frozenset", frozenset(_typed(part, rules) for part in value)
    if rules.equal_numbers and _is_number(value):
        return "number", value
    return type(value).__name__, value


def _same_set(got: Collection[Any], want: Collection[Any], rules: Rules) -> bool:
    if len(got) != len(want):
        return False
    ours, theirs = {_typed(one, rules): one for one in got}, {_typed(one, rules): one for one in want}
    if ours.keys() == theirs.keys() or rules.float_tol <= 0:
        return ours.keys() == theirs.keys()
    left = [value for key, value in ours.items() if key not in theirs]
    wanted = [value for key, value in theirs.items() if key not in ours]
    if all(map(_is_number, left)) and all(map(_is_number, wanted)):  # the nearest pairs are then the sorted ones
        return all(same(g, w, rules) for g, w in zip(sorted(left), sorted(wanted), strict=True))
    return len(left) <= _MOST_MATCHED and _can_pair(left, wanted, rules)


_MOST_MATCHED = 200  # members that are neither numbers nor equal, for each is held against each


def _can_pair(got: list[Any], want: list[Any], rules: Rules) -> bool:
    """Whether each value can have an expected one to itself (Kuhn's bipartite matching)."""
    near = [[number for number, w in enumerate(want) if same(g, w, rules)] for g in got]
    taken: dict[int, int] = {}

    def place(index: int, tried: set[int]) -> bool:
        for number in near[index]:
            if number not in tried:
                tried.add(number)
                if number not in taken or place(taken[number], tried):
                    taken[number] = index
                    return True
        return False

    return all(place(index, set()) for index in range(len(got)))


def _same_dict(got: dict[Any, Any], want: dict[Any, Any], rules: Rules) -> bool:
    if len(got) != len(want):
        return False
    if rules.as_json:
        got = {f"{key:d}" if type(key) is int and abs(key) < _MOST_KEY else key: value for key, value in got.items()}
    ours = {_typed(key, rules): value for key, value in got.items()}
    theirs = {_typed(key, rules): value for key, value in want.items()}
    return ours.keys() == theirs.keys() and all(same(ours[key], value, rules) for key, value in theirs.items())


_MOST_KEY = 10**4000  # Python writes no integer of more than 4,300 digits


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same_number(got: float, want: float, rules: Rules) -> bool:
    both_int = type(got) is int and type(want) is int
    if got == want and (type(got) is type(want) or rules.equal_numbers):
        return True
    return not both_int and rules.float_tol > 0 and is_close(got, want, rules.float_tol)


def is_close(got: float, want: float, tol: float) -> bool:
    """|got - want| <= tol * max(1, |want|), exactly as written; False for nan and for one infinity."""
    if not (_is_finite(got) and _is_finite(want)):
        return got == want
    return _within(Fraction(got), Fraction(want), tol)


def _is_finite(number: float) -> bool:
    return isinstance(number, int) or math.isfinite(number)


def _within(x: Fraction, y: Fraction, tol: float) -> bool:
    return abs(x - y) <= Fraction(repr(tol)) * max(Fraction(1), abs(y))


_NUMBER = re.compile(
    r"(?:(?<![\w.)\]])[+-]|(?<![\w.]))(?:(?:0|[1-9]\d{0,399})(?:\.\d{1,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,3})?"
    r"(?!\w|\.\w)"
)
"""A number that is no part of a word, a version or a number with leading zeros; `-` after a word is a dash."""


def same_output(got: str, want: str, float_tol: float = 0.0) -> bool:
    """Whether printed text is the expected text: white space at the end of lines and of the output does not count.

    With `float_tol`, numbers may differ by |x - y| <= tol * max(1, |y|), y expected, unless both are written as
    integers; all else stays as it stands.
    """
    ours, theirs = _lines(got), _lines(want)
    if ours == theirs:
        return True
    if float_tol <= 0 or len(ours) != len(theirs):
        return False
    return all(x == y or _same_line(x, y, float_tol) for x, y in zip(ours, theirs, strict=True))


def _lines(text: str) -> list[str]:
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _same_line(got: str, want: str, tol: float) -> bool:
    if _NUMBER.split(got) != _NUMBER.split(want):
        return False
    pairs = zip(_NUMBER.findall(got), _NUMBER.findall(want), strict=True)
    return all(x == y or _same_printed(x, y, tol) for x, y in pairs)


def _same_printed(got: str, want: str, tol: float) -> bool:
    if got.lstrip("+-").isdigit() and want.lstrip("+-").isdigit():
        return int(got) == int(want)
    return _within(Fraction(got), Fraction(want), tol)
