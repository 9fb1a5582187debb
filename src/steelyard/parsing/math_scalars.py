r"""Whether two scalars are equal, and which is larger: exact forms first, error-bounded floats for what differs.

Every answer is three-valued: True and False are proven, None means that the exact rules do not reach. What is left is
handed to `ask`, a slower decider (`no_help` where there is none).
`\log` without a base agrees when it does for base 10 or for base e throughout.
Not covered: identities beyond the normal forms of `math_form`; those are for `ask`.
Easy to break: a float never proves equality.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from steelyard.parsing.latex_tree import Node, const, has, neg, num, replace, walk
from steelyard.parsing.latex_words import FUNCTIONS
from steelyard.parsing.math_form import form_of
from steelyard.parsing.math_numeric import differ, log_size, real_value
from steelyard.parsing.math_polys import TooBigError, same_form

Ask = Callable[[str, Node, Node], bool | None]
"""A slower decider: `ask("scalar" or "relation", a, b)`."""

_LOG_BASE = const("logbase")
_INFINITE = const("inf")
_MADE = frozenset(("binom", "floor", "ceil", "det"))
_NO_NUMBERS = frozenset(("dots", "empty", "R", "Z", "N", "Q", "C"))


class UnknownError(Exception):
    """The exact rules do not reach; the message says what for."""


def no_help(_kind: str, _a: Node, _b: Node) -> bool | None:
    """The `ask` of the fast path: it never knows."""
    return None


def all3(values: Iterable[bool | None]) -> bool | None:
    """False if any is False, else None if any is None."""
    unknown = False
    for value in values:
        if value is False:
            return False
        unknown = unknown or value is None
    return None if unknown else True


def any3(values: Iterable[bool | None]) -> bool | None:
    """True if any is True, else None if any is None."""
    unknown = False
    for value in values:
        if value:
            return True
        unknown = unknown or value is None
    return None if unknown else False


def equal_scalars(a: Node, b: Node, ask: Ask) -> bool | None:
    """Whether two scalars are equal wherever both are defined."""
    if a == b:
        return True
    if any(n == _LOG_BASE for n in (*walk(a), *walk(b))):
        bases = (num(10), const("e"))
        return any3(equal_scalars(_with_log(a, base), _with_log(b, base), ask) for base in bases)
    if any(n.op == "const" and n.value in _NO_NUMBERS for n in (*walk(a), *walk(b))):
        return False
    if _unknown_functions(a) != _unknown_functions(b):
        return False
    signs = infinite(a), infinite(b)
    if signs != (0, 0):
        return signs[0] == signs[1] and abs(signs[0]) == 1
    known = _by_form(a, b)
    if known is not None:
        return known
    if differ(a, b) or _sizes_differ(a, b):
        return False
    return ask("scalar", a, b)


def _with_log(node: Node, base: Node) -> Node:
    return replace(node, lambda n: base if n == _LOG_BASE else None)


def infinite(node: Node) -> int:
    """1 for infinity, -1 for its negative, 2 for arithmetic with it, else 0."""
    if node == _INFINITE:
        return 1
    if node == neg(_INFINITE):
        return -1
    return 2 if any(n == _INFINITE for n in walk(node)) else 0


def _unknown_functions(node: Node) -> set[str]:
    """Names of functions that only the text itself could define."""
    return {str(n.value) for n in walk(node) if n.op == "fn" and n.value not in FUNCTIONS and n.value not in _MADE}


def _by_form(a: Node, b: Node) -> bool | None:
    try:
        left = form_of(a)
        right = form_of(b)
        return same_form(left, right)
    except TooBigError:
        return None
    except ZeroDivisionError:
        return False


def _sizes_differ(a: Node, b: Node) -> bool:
    """Whether two numbers beyond floats have clearly different logarithms."""
    if has(a, "sym") or has(b, "sym"):
        return False
    try:
        left, right = log_size(a), log_size(b)
    except (OverflowError, ValueError):
        return False
    if left is None or right is None or left == right:
        return False
    if abs(left) == abs(right):  # both infinite, one of them upside down
        return True
    return abs(left - right) > 1e-9 * max(1.0, min(abs(left), abs(right)))


def compare(a: Node, b: Node, ask: Ask) -> int:
    """-1, 0 or 1 as a is below, equal to or above b, real or infinite; UnknownError where it cannot be told."""
    left, right = infinite(a), infinite(b)
    if (left, right) != (0, 0):
        if 2 in (left, right):
            raise UnknownError("arithmetic with infinity")
        return (left > right) - (left < right)
    x, y = real_value(a), real_value(b)
    if x is not None and y is not None and abs(x.value - y.value) > x.error + y.error:
        return 1 if x.value.real > y.value.real else -1
    if equal_scalars(a, b, ask):
        return 0
    raise UnknownError("the order of two numbers")
