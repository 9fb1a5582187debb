"""What the exact rules of `math` leave open: scalars by many digits, relations by `solving`. Runs in a worker.

Two scalars that agree to more than a hundred digits at every sample point count as equal; the digits grow with the
literals in them, so that two written constants of ordinary size cannot agree by chance.
Source: mpmath (BSD).
Not covered: functions that mpmath lacks; then the answer is None, which becomes void.
Easy to break: sizes are checked before a power is taken, and only a real value counts for an expression in variables.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath

from steelyard.parsing.latex_tree import Node, symbols, walk
from steelyard.parsing.math_scalars import UnknownError

_DIGITS = 120
_MOST_DIGITS = 3000


def ask_slowly(kind: str, a: Node, b: Node) -> bool | None:
    """Whether two scalars, relations or regions are the same; None where that cannot be told."""
    try:
        if kind == "scalar":
            return _same_scalars(a, b)
        from steelyard.verifiers import solving  # sympy takes half a second to import, and most cases need none

        return solving.same_sets(a, b) if kind == "region" else solving.same_relations(a, b)
    except (UnknownError, NotImplementedError, ValueError, TypeError, ArithmeticError, AttributeError):
        return None  # sympy and mpmath raise these for what they cannot do


def _same_scalars(a: Node, b: Node) -> bool | None:
    digits = _DIGITS + _literal_digits(a) + _literal_digits(b)
    if digits > _MOST_DIGITS:
        return None
    agreed = 0
    names = sorted(symbols(a) | symbols(b))
    imaginary = any(n.op == "const" and n.value == "i" for n in (*walk(a), *walk(b)))
    for at in _points(names):
        with mpmath.workdps(digits + 30):
            try:
                x, y = _value(a, at), _value(b, at)
            except (UnknownError, ZeroDivisionError, ValueError, OverflowError):
                continue
            size = max(abs(x), abs(y), mpmath.mpf(10) ** -digits)
            small = mpmath.mpf(10) ** (-digits)
            if names and not imaginary and (abs(mpmath.im(x)) > size * small or abs(mpmath.im(y)) > size * small):
                continue
            if abs(x - y) > size * small:
                return False
        agreed += 1
    return True if agreed else None


def _literal_digits(node: Node) -> int:
    total = 0
    for found in walk(node):
        if found.op == "num" and isinstance(found.value, Fraction):
            total += found.value.numerator.bit_length() + found.value.denominator.bit_length()
    return int(1.3 * total)


def _points(names: list[str]) -> list[dict[str, Any]]:
    if not names:
        return [{}]
    found: list[dict[str, Any]] = []
    for n in range(8):
        shift = Fraction(37 + 101 * n, 89)
        at = {name: shift + Fraction(71 * k + 13 * n + 5, 127) for k, name in enumerate(names)}
        if n in (2, 5):
            at = {name: -value for name, value in at.items()}
        if n in (3, 4):
            at = {name: value * (-1) ** k for k, (name, value) in enumerate(at.items())}
        if n >= 6:
            at = {name: Fraction(n - 2 + 3 * k) for k, name in enumerate(names)}
        found.append(dict(at))
    return found


_VALUES: dict[str, Callable[..., Any]] = {
    "neg": lambda x: -x, "add": lambda *x: mpmath.fsum(x), "mul": lambda *x: mpmath.fprod(x), "div": lambda x, y: x / y,
    "abs": abs, "deg": lambda x: x, "fact": lambda x: mpmath.gamma(x + 1),
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sin": mpmath.sin, "cos": mpmath.cos, "tan": mpmath.tan, "cot": mpmath.cot, "sec": mpmath.sec, "csc": mpmath.csc,
    "arcsin": mpmath.asin, "arccos": mpmath.acos, "arctan": mpmath.atan, "arccot": mpmath.acot,
    "arcsec": mpmath.asec, "arccsc": mpmath.acsc, "sinh": mpmath.sinh, "cosh": mpmath.cosh, "tanh": mpmath.tanh,
    "coth": mpmath.coth, "sech": mpmath.sech, "csch": mpmath.csch, "arsinh": mpmath.asinh, "arcosh": mpmath.acosh,
    "artanh": mpmath.atanh, "ln": mpmath.log, "log": lambda x, b: mpmath.log(x) / mpmath.log(b),
    "binom": mpmath.binomial, "floor": mpmath.floor, "ceil": mpmath.ceil, "max": max, "min": min,
    "sign": mpmath.sign,
}  # fmt: skip


def _value(node: Node, at: dict[str, Any]) -> Any:
    """A scalar at a point, in mpmath's working precision."""
    if node.op == "num" and isinstance(node.value, Fraction):
        return mpmath.mpf(node.value.numerator) / node.value.denominator
    if node.op == "sym":
        value = at[str(node.value)]
        return mpmath.mpf(value.numerator) / value.denominator
    if node.op == "const":
        return {"pi": +mpmath.pi, "e": +mpmath.e, "i": mpmath.mpc(0, 1)}[str(node.value)]
    args = [_value(a, at) for a in node.args]
    if node.op == "pow":
        return _power(*args)
    if node.op == "root":
        body, degree = args
        if mpmath.im(body) == 0 and mpmath.re(body) < 0 and degree % 2 == 1:
            return -((-body) ** (1 / degree))
        return _power(body, 1 / degree)
    build = _VALUES.get(node.op) or _FUNCTIONS.get(str(node.value))
    if build is None:
        raise UnknownError(f"{node.op} {node.value}")
    return build(*args)


def _power(base: Any, exponent: Any) -> Any:
    """Base ** exponent, unless its number of digits is beyond reason."""
    if abs(exponent) > 1e9 or abs(exponent) * abs(mpmath.log(abs(base) + mpmath.mpf("1e-50"))) > 1e12:
        raise UnknownError("a power beyond reason")
    return base**exponent
