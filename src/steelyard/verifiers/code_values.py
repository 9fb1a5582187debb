"""Values that came out of a sandbox, and how they are held against expected ones.

The runner writes JSON; what JSON has no word for is an object with one key: `{"$tuple": [...]}`, `$set`,
`$frozenset`, `$int` (hex), `$float` (nan, inf, -inf), `$bytes` (hex), `$complex`, `$dict` (pairs). Here it becomes
builtin values again, so nothing of the program's own is ever called.
Comparison is by exact type and value: True is not 1, 2.0 is not 2, a tuple is not a list. As JSON (expected values
that came as JSON have no tuples and no integer keys) a tuple is its list and an integer key its text. Under
`numbers: equal` an int equals the float of the same value. `float_tol` holds where one side is a float:
|x - y| <= tol * max(1, |y|), y expected; nan is close to nothing.
Not covered: objects of a program's own classes.
Easy to break: a bool is an int for isinstance.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
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
        return _value(json.loads(text))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError(f"not a value of the runner: {error}") from error


def _value(raw: Any) -> Any:
    if isinstance(raw, list):
        return [_value(part) for part in raw]
    if not isinstance(raw, dict):
        return raw
    if len(raw) == 1:
        (key, inner) = next(iter(raw.items()))
        if key.startswith("$"):
            return _TAGS[key](inner)
    return {key: _value(part) for key, part in raw.items()}


_TAGS: dict[str, Callable[[Any], Any]] = {
    "$tuple": lambda parts: tuple(_value(part) for part in parts),
    "$set": lambda parts: {_value(part) for part in parts},
    "$frozenset": lambda parts: frozenset(_value(part) for part in parts),
    "$int": lambda text: int(text, 16),
    "$float": float,
    "$bytes": bytes.fromhex,
    "$complex": lambda parts: complex(_value(parts[0]), _value(parts[1])),
    "$dict": lambda pairs: {_value(key): _value(part) for key, part in pairs},
}


def same(got: Any, want: Any, rules: Rules) -> bool:
    """Whether a returned value is the expected one."""
    if isinstance(want, list | tuple) and isinstance(got, list | tuple):
        if not rules.as_json and type(got) is not type(want):
            return False
        return len(got) == len(want) and all(same(g, w, rules) for g, w in zip(got, want, strict=True))
    if isinstance(want, dict) and isinstance(got, dict):
        return _same_dict(got, want, rules)
    if isinstance(want, set | frozenset) and isinstance(got, set | frozenset):
        return _typed(got) == _typed(want)
    if _is_number(want) and _is_number(got):
        return _same_number(got, want, rules)
    return type(got) is type(want) and bool(got == want)


def _typed(members: set[Any] | frozenset[Any]) -> set[tuple[str, Any]]:
    return {(type(member).__name__, member) for member in members}


def _same_dict(got: dict[Any, Any], want: dict[Any, Any], rules: Rules) -> bool:
    if rules.as_json:
        got = {str(key) if type(key) is int else key: value for key, value in got.items()}
    if _typed(set(got)) != _typed(set(want)):
        return False
    return all(same(got[key], value, rules) for key, value in want.items())


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same_number(got: float, want: float, rules: Rules) -> bool:
    both_int = type(got) is int and type(want) is int
    if got == want and (type(got) is type(want) or rules.equal_numbers):
        return True
    return not both_int and rules.float_tol > 0 and is_close(got, want, rules.float_tol)


def is_close(got: float, want: float, tol: float) -> bool:
    """|got - want| <= tol * max(1, |want|), exactly as written; False for nan and for one infinity."""
    if not (math.isfinite(got) and math.isfinite(want)):
        return got == want
    return _within(Fraction(got), Fraction(want), tol)


def _within(x: Fraction, y: Fraction, tol: float) -> bool:
    return abs(x - y) <= Fraction(repr(tol)) * max(Fraction(1), abs(y))


_NUMBER = re.compile(r"[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,3})?")
_SPACE = re.compile(r"(\s+)")


def same_output(got: str, want: str, float_tol: float = 0.0) -> bool:
    """Whether printed text is the expected text: white space at the end of lines and of the output does not count.

    With `float_tol`, numbers may differ by |x - y| <= tol * max(1, |y|), y expected; all else stays as it stands.
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
    ours, theirs = _SPACE.split(got), _SPACE.split(want)
    return len(ours) == len(theirs) and all(x == y or _same_token(x, y, tol) for x, y in zip(ours, theirs, strict=True))


def _same_token(got: str, want: str, tol: float) -> bool:
    if not (_NUMBER.fullmatch(got) and _NUMBER.fullmatch(want)):
        return False
    return _within(Fraction(got), Fraction(want), tol)
