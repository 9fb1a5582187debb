"""Approximate values with a bound on their error: enough to prove that two scalars differ, never that they agree.

A ball is (value, error) in complex floating point; every operation widens the error by more than it can have rounded.
Variables take a few fixed points. `log_size` gives the logarithm of |x| for numbers too large for a float.
Not covered: values beyond 1e300 other than by `log_size`.
Easy to break: domains. Over the reals a root of a negative number is undefined, so such points are skipped for
expressions in variables.
"""

from __future__ import annotations

import cmath
import math
import zlib
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from steelyard.parsing.latex_tree import Node, has, symbols, walk

_EPS = 4e-15
N_POINTS = 5


class NotNumericError(ValueError):
    """A value is undefined, too large, or of no known function."""


class Ball(NamedTuple):
    """A complex number and a bound on how far it is off."""

    value: complex
    error: float


def points(node: Node, other: Node) -> list[dict[str, float]]:
    """Values for the variables of two expressions: positive, mixed, whole; one empty point without variables."""
    names = sorted(symbols(node) | symbols(other))
    if not names:
        return [{}]
    found = []
    for n in range(N_POINTS):
        seeds = {name: zlib.crc32(f"{name}/{n}".encode()) / 2**32 for name in names}
        if n < 2:
            found.append({name: 0.37 + 2.1 * s for name, s in seeds.items()})
        elif n < 4:
            found.append(
                {name: (0.4 + 1.7 * s) * (-1 if s * 64 % 2 < 1 or len(names) == 1 else 1) for name, s in seeds.items()}
            )
        else:
            found.append({name: float(2 + k + int(3 * s)) for k, (name, s) in enumerate(seeds.items())})
    return found


def differ(a: Node, b: Node, logbase: float = 10.0) -> bool:
    """Whether two scalars are proven to have different values, or at some point where both are defined."""
    complex_is_meant = any(n.value == "i" for n in (*walk(a), *walk(b)) if n.op == "const")
    for point in points(a, b):
        try:
            left, right = ball(a, point, logbase), ball(b, point, logbase)
        except (NotNumericError, OverflowError, ZeroDivisionError, ValueError):
            continue
        if (
            point
            and not complex_is_meant
            and (abs(left.value.imag) > left.error + 1e-9 or abs(right.value.imag) > right.error + 1e-9)
        ):
            continue
        if abs(left.value - right.value) > left.error + right.error:
            return True
    return False


def real_value(node: Node) -> Ball | None:
    """A constant that is real, as a ball; None for others."""
    try:
        found = ball(node, {})
    except (NotNumericError, OverflowError, ZeroDivisionError, ValueError):
        return None
    return found if abs(found.value.imag) <= found.error else None


def ball(node: Node, point: dict[str, float], logbase: float = 10.0) -> Ball:
    """The value of a scalar at a point."""
    if node.op == "num" and isinstance(node.value, Fraction):
        value = float(node.value)
        return _checked(value, abs(value) * _EPS)
    if node.op == "sym":
        return Ball(point[str(node.value)], 0.0)
    if node.op == "const":
        known = {"pi": math.pi, "e": math.e, "i": 1j, "logbase": logbase}.get(str(node.value))
        if known is None:
            raise NotNumericError(f"{node.value} has no value")
        return Ball(complex(known), 0.0 if known == 1j else 1e-15)
    build = _OPS.get(node.op)
    if build is None:
        raise NotNumericError(f"{node.op} has no value")
    args = [ball(a, point, logbase) for a in node.args]
    return build(args, str(node.value))


def _checked(value: complex, error: float) -> Ball:
    if not (cmath.isfinite(value) and math.isfinite(error)) or abs(value) > 1e290:
        raise NotNumericError("too large")
    return Ball(value, error + abs(value) * _EPS + 1e-300)


def _add(args: list[Ball], _: str) -> Ball:
    total = sum(a.value for a in args)
    return _checked(total, sum(a.error + abs(a.value) * _EPS for a in args))


def _mul(args: list[Ball], _: str) -> Ball:
    value, error = complex(1), 0.0
    for arg in args:
        error = abs(value) * arg.error + abs(arg.value) * error + error * arg.error
        value *= arg.value
    return _checked(value, error + abs(value) * _EPS * len(args))


def _inverse(arg: Ball) -> Ball:
    size = abs(arg.value) - arg.error
    if size <= 0:
        raise NotNumericError("division by what may be zero")
    return _checked(1 / arg.value, arg.error / (size * abs(arg.value)))


def _div(args: list[Ball], _: str) -> Ball:
    return _mul([args[0], _inverse(args[1])], "")


def _exp(arg: Ball) -> Ball:
    value = cmath.exp(arg.value)
    return _checked(value, abs(value) * (math.expm1(min(arg.error, 700.0)) + _EPS * (1 + abs(arg.value))))


def _ln(arg: Ball) -> Ball:
    size = abs(arg.value) - arg.error
    if size <= 0:
        raise NotNumericError("the logarithm of what may be zero")
    if arg.value.real < 0 and abs(arg.value.imag) <= arg.error and arg.error:
        arg = Ball(complex(arg.value.real, 0.0), arg.error)
    value = cmath.log(arg.value)
    return Ball(value, arg.error / size + _EPS * (1 + abs(value)))


def _pow(args: list[Ball], _: str) -> Ball:
    base, exponent = args
    power = exponent.value
    if power.imag == 0 and power.real == int(power.real) and exponent.error < 1e-9 and abs(power.real) <= 64:
        result = _mul([base] * abs(int(power.real)), "") if power else Ball(complex(1), 0.0)
        return result if power.real >= 0 else _inverse(result)
    if abs(base.value) <= base.error:
        if power.real - exponent.error > 0 and base.error == 0:
            return Ball(complex(0), 0.0)
        if power.real - exponent.error > 0 and base.error < 1e-200:
            return Ball(complex(0), 1e-60)
        raise NotNumericError("a power of what may be zero")
    return _exp(_mul([_ln(base), exponent], ""))


def _root(args: list[Ball], _: str) -> Ball:
    body, degree = args
    if body.value.imag == 0 and body.value.real < 0 and degree.value.real % 2 == 1:
        found = _root([Ball(-body.value, body.error), degree], "")
        return Ball(-found.value, found.error)
    return _pow([body, _inverse(degree)], "")


def _fact(args: list[Ball], _: str) -> Ball:
    value, error = args[0].value.real, args[0].error
    if args[0].value.imag or not 0 <= value <= 160 or error > 1e-6:
        raise NotNumericError("the factorial of no small number")
    found = math.gamma(value + 1)
    return _checked(complex(found), found * (1e-13 + 6 * error))


def _abs(args: list[Ball], _: str) -> Ball:
    return Ball(complex(abs(args[0].value)), args[0].error + abs(args[0].value) * _EPS)


def _function(args: list[Ball], name: str) -> Ball:
    if name == "log" and len(args) == 2:
        return _div([_ln(args[0]), _ln(args[1])], "")
    if name == "ln":
        return _ln(args[0])
    if name == "binom":
        return _binom(args)
    if len(args) != 1 or name not in _SMOOTH:
        raise NotNumericError(f"{name} is unknown")
    function, slope = _SMOOTH[name]
    arg = args[0]
    if arg.value.imag == 0 or abs(arg.value.imag) <= arg.error:
        arg = Ball(complex(arg.value.real), arg.error)
    value = function(arg.value)
    steep = slope(arg.value)
    if steep * arg.error > 1e-3:
        raise NotNumericError("too uncertain")
    return _checked(value, 2 * steep * arg.error + _EPS * (1 + steep * abs(arg.value)))


def _binom(args: list[Ball]) -> Ball:
    top, bottom = (a.value for a in args)
    if any(a.imag or a.real != int(a.real) or not 0 <= a.real <= 500 for a in (top, bottom)):
        raise NotNumericError("a binomial of no small whole numbers")
    return _checked(complex(math.comb(int(top.real), int(bottom.real))), 0.0)


def _reciprocal(function: Callable[[complex], complex]) -> Callable[[complex], complex]:
    return lambda z: 1 / function(z)


_SMOOTH: dict[str, tuple[Callable[[complex], complex], Callable[[complex], float]]] = {
    "sin": (cmath.sin, lambda z: math.cosh(z.imag)),
    "cos": (cmath.cos, lambda z: math.cosh(z.imag)),
    "tan": (cmath.tan, lambda z: abs(1 / cmath.cos(z)) ** 2),
    "cot": (_reciprocal(cmath.tan), lambda z: abs(1 / cmath.sin(z)) ** 2),
    "sec": (_reciprocal(cmath.cos), lambda z: abs(1 / cmath.cos(z)) ** 2),
    "csc": (_reciprocal(cmath.sin), lambda z: abs(1 / cmath.sin(z)) ** 2),
    "arcsin": (cmath.asin, lambda z: 1 / abs(cmath.sqrt(1 - z * z))),
    "arccos": (cmath.acos, lambda z: 1 / abs(cmath.sqrt(1 - z * z))),
    "arctan": (cmath.atan, lambda z: 1 / abs(1 + z * z)),
    "sinh": (cmath.sinh, lambda z: abs(cmath.cosh(z)) + 1),
    "cosh": (cmath.cosh, lambda z: abs(cmath.sinh(z)) + 1),
    "tanh": (cmath.tanh, lambda _: 1.0),
    "arsinh": (cmath.asinh, lambda _: 1.0),
    "arcosh": (cmath.acosh, lambda z: 1 / abs(cmath.sqrt(z * z - 1))),
    "artanh": (cmath.atanh, lambda z: 1 / abs(1 - z * z)),
}
_OPS: dict[str, Callable[[list[Ball], str], Ball]] = {
    "add": _add, "mul": _mul, "div": _div, "pow": _pow, "root": _root, "fact": _fact, "abs": _abs, "fn": _function,
    "neg": lambda args, _: Ball(-args[0].value, args[0].error),
    "deg": lambda args, _: args[0],
}  # fmt: skip


def log_size(node: Node) -> float | None:
    """Ln |x| of a constant that may be far beyond a float, possibly infinite; None where that is not plain to see."""
    if node.op == "fact" and not has(node, "sym"):
        inner = log_size(node.args[0])
        if inner is not None and inner > 5:
            return math.inf if inner > 700 else math.exp(inner) * (inner - 1)
    if node.op in ("add", "fn", "fact", "sym") or has(node, "sym"):
        found = real_value(node) if not has(node, "sym") else None
        return math.log(abs(found.value)) if found and abs(found.value) > found.error else None
    if node.op == "num" and isinstance(node.value, Fraction):
        value = node.value
        return math.log(abs(value.numerator)) - math.log(value.denominator) if value else None
    parts = [log_size(a) for a in node.args]
    if node.op == "const":
        return {"pi": math.log(math.pi), "e": 1.0}.get(str(node.value))
    if node.op == "pow":
        power = log_size(node.args[1])
        if parts[0] is None or power is None or (real_value(node.args[1]) is None and power < 600):
            return None
        sign = -1 if node.args[1].op == "neg" or (node.args[1].op == "num" and float(node.args[1].value) < 0) else 1
        return sign * parts[0] * (math.exp(power) if power < 700 else math.inf)
    if any(p is None for p in parts):
        return None
    known = [p for p in parts if p is not None]
    if node.op == "mul" and not (math.inf in known and -math.inf in known):
        return sum(known)
    if node.op == "div" and not math.isinf(known[1]):
        return known[0] - known[1]
    return known[0] if node.op in ("neg", "deg", "abs") else None
