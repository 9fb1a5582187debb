"""How much work an expression of a test may take when it is worked out outside of any sandbox.

Not covered: time; every bound is a number of steps, of items or of bits.
Easy to break: an operator whose result grows with the value, not the length, of what a program chose.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable
from typing import Any

MOST = 1_000_000  # items or bits that arithmetic may make
_STEPS = 3_000_000  # nodes that are worked out for one expression, or for one whole test
BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.RShift: operator.rshift,
}


class UnsupportedError(Exception):
    """Something that is not worked out outside."""


FAULTS = (UnsupportedError, ArithmeticError, ValueError, TypeError, LookupError, RecursionError, AttributeError)
"""What working out an expression may raise; nothing of it is a fault of this module."""


def walk(node: ast.AST) -> list[ast.AST]:
    """A node and all below it, like `ast.walk` but several times as fast; parents come before their children."""
    found = [node]
    for one in found:  # grows while it is gone through
        for part in vars(one).values():
            kind = type(part)
            if kind is list:
                found += [inner for inner in part if isinstance(inner, ast.AST)]
            elif kind is not int and kind is not str and isinstance(part, ast.AST):
                found.append(part)
    return found


class Steps:
    """How much work is left."""

    def __init__(self, left: int = _STEPS) -> None:
        self._left = left

    def take(self, count: int = 1) -> None:
        """Use up steps; UnsupportedError when there are none left."""
        self._left -= count
        if self._left < 0:
            raise UnsupportedError("too much work")


def bounded(items: Iterable[Any]) -> list[Any]:
    """The items as a list; UnsupportedError where there are too many."""
    found = []
    for item in items:
        found.append(item)
        if len(found) > MOST:
            raise UnsupportedError("too many items")
    return found


def unpacked(target: ast.expr, value: Any) -> dict[str, Any]:
    """The names that assigning a value to a target binds; UnsupportedError for attributes, items and stars."""
    if isinstance(target, ast.Name):
        return {target.id: value}
    if not isinstance(target, ast.Tuple | ast.List):
        raise UnsupportedError
    found: dict[str, Any] = {}
    for part, item in zip(target.elts, bounded(value), strict=True):
        found |= unpacked(part, item)
    return found


def combined(op: ast.operator, left: Any, right: Any) -> Any:
    """What a binary operator gives; UnsupportedError where it could take more than it is worth."""
    if type(op) not in BINARY or _is_unbounded(op, left, right):
        raise UnsupportedError
    return BINARY[type(op)](left, right)


def _is_unbounded(op: ast.operator, left: Any, right: Any) -> bool:
    """Whether an operation on values that a program chose could take more than it is worth."""
    if isinstance(op, ast.Mod) and isinstance(left, str | bytes):
        text = left if isinstance(left, str) else left.decode("latin-1")
        return text.count("%") > _MOST_FIELDS or bool(_WIDE.search(text))
    if isinstance(op, ast.Pow) and isinstance(left, int) and isinstance(right, int):
        return abs(right) * max(1, abs(left).bit_length()) > MOST
    if isinstance(op, ast.Mult):
        sizes = [len(side) for side in (left, right) if isinstance(side, str | bytes | list | tuple)]
        factors = [abs(side) for side in (left, right) if isinstance(side, int)]
        return bool(sizes and factors) and sizes[0] * factors[0] > MOST
    return False


_MOST_FIELDS = 100
_WIDE = re.compile(r"%(?:\([^)]*\))?[^a-zA-Z%]*(?:\*|\d{4})")  # a field of a width that is given, or of 1000 and more


def check_joined(separator: Any, *parts: Any) -> None:
    """Refuse to join so many parts by so long a text."""
    if parts and hasattr(parts[0], "__len__") and len(separator) * len(parts[0]) > MOST:
        raise UnsupportedError("too long a text")
