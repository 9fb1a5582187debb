"""Relations: equations and inequalities, compared by what solves them.

`standard` brings a relation to F > 0, F >= 0, F = 0 or F != 0. Two equations are the same when their forms are
proportional (groups of terms in the variables, with constant factors). Where one is linear in a variable, a point
that solves it and not the other proves that they differ. Inequalities in one variable become regions.
Not covered: systems and equations that only factoring or solving could compare; those are for `ask`.
Easy to break: multiplying an inequality by a negative number turns it.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from steelyard.parsing.latex_tree import Node, add, mul, neg, num, put, symbols
from steelyard.parsing.math_form import form_of
from steelyard.parsing.math_numeric import NotNumericError, ball, points
from steelyard.parsing.math_polys import Form, Poly, TooBigError, as_rational, mul_forms, same_form
from steelyard.parsing.math_scalars import Ask

_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}


def difference(a: Node, b: Node) -> Node:
    """A - b, without a needless zero."""
    return a if b == num(0) else add(a, neg(b))


def standard(left: Node, sign: str, right: Node) -> tuple[Node, str]:
    """F and its relation to 0, one of `>`, `>=`, `=`, `!=`."""
    if sign in ("<", "<="):
        return difference(right, left), _TURNED[sign]
    return difference(left, right), sign


def same_equation(a: Node, b: Node, ask: Ask, sign: str = "=") -> bool | None:
    """Whether F = 0 and G = 0 have the same solutions (or F > 0 and G > 0, as `sign` says)."""
    if a == b:
        return True
    if symbols(a) != symbols(b):
        return ask("relation", a, b) if sign == "=" and _cancels(a, b) else False
    try:
        left, right = form_of(a), form_of(b)
        ratio = _proportion(left, right)
    except (TooBigError, ZeroDivisionError):
        return None
    if ratio is not None:
        if sign in ("=", "!="):
            return True
        value = real_value_of(ratio)
        if value:
            return value > 0
    if sign in ("=", "!="):
        if (_is_linear(left) and _is_linear(right)) or _point_apart(a, b) or _point_apart(b, a):
            return False
        return ask("relation", a, b)
    return None


def _cancels(a: Node, b: Node) -> bool:
    """Whether a variable of one side may vanish from its relation."""
    for node in (a, b):
        try:
            form = form_of(node)
        except (TooBigError, ZeroDivisionError):
            return True
        seen = {atom[2:] for mono in form.num for atom, _ in mono if atom.startswith("s:")}
        if any(atom[:2] not in ("s:", "p:", "c:") for mono in form.num for atom, _ in mono) or seen != symbols(node):
            return True
    return False


def _groups(poly: Poly) -> dict[tuple[tuple[str, Fraction], ...], Poly]:
    """A polynomial's constant coefficients by the part of each term that is no constant."""
    found: dict[tuple[tuple[str, Fraction], ...], Poly] = {}
    for mono, coefficient in poly.items():
        variable = tuple((a, e) for a, e in mono if a[:2] not in ("p:", "c:", "l:"))
        constant = tuple((a, e) for a, e in mono if a[:2] in ("p:", "c:", "l:"))
        found.setdefault(variable, {})[constant] = coefficient
    return found


def _proportion(a: Form, b: Form) -> tuple[Form, Form] | None:
    """(p, q) with F q = G p for constants p and q, after both are freed of common powers of variables; else None."""
    left, right = _groups(_free(a.num)), _groups(_free(b.num))
    if set(left) != set(right) or not left:
        return None
    lead = min(left)
    top, bottom = Form(left[lead], {(): Fraction(1)}), Form(right[lead], {(): Fraction(1)})
    for term in left:
        x, y = Form(left[term], {(): Fraction(1)}), Form(right[term], {(): Fraction(1)})
        if not same_form(mul_forms(x, bottom), mul_forms(y, top)):
            return None
    return top, bottom


def _free(poly: Poly) -> Poly:
    """Times powers of variables, so that no exponent is negative (their denominators are not zero)."""
    low: dict[str, Fraction] = {}
    for mono in poly:
        for atom, exponent in mono:
            if atom.startswith("s:"):
                low[atom] = min(low.get(atom, Fraction(0)), exponent)
    if not any(low.values()):
        return poly
    freed: Poly = {}
    for mono, coefficient in poly.items():
        powers = dict(mono)
        for atom, exponent in low.items():
            powers[atom] = powers.get(atom, Fraction(0)) - exponent
        freed[tuple(sorted((a, e) for a, e in powers.items() if e))] = coefficient
    return freed


def real_value_of(ratio: tuple[Form, Form]) -> float | None:
    """The sign-carrying value of a proportion whose parts are rational; None for others."""
    top, bottom = as_rational(ratio[0]), as_rational(ratio[1])
    return float(top / bottom) if top is not None and bottom else None


def _is_linear(form: Form) -> bool:
    if form.den != {(): Fraction(1)}:
        return False
    for mono in form.num:
        variables = [e for a, e in mono if a.startswith("s:")]
        if (
            len(variables) > 1
            or any(e != 1 for e in variables)
            or any(a[:2] not in ("s:", "p:", "c:") for a, _ in mono)
        ):
            return False
    return True


def linear_parts(node: Node, name: str) -> tuple[Node, Node] | None:
    """(a, b) where the node is a x + b in the variable x and a is free of it; None where it is not linear."""
    try:
        form = form_of(node)
    except (TooBigError, ZeroDivisionError):
        return None
    atom = f"s:{name}"
    if any(a != atom and name in _inner(a) for m in (*form.num, *form.den) for a, _ in m):
        return None
    if any(a == atom for m in form.den for a, _ in m) or any(a == atom and e != 1 for m in form.num for a, e in m):
        return None
    rest = put(node, name, num(0))
    return add(put(node, name, num(1)), neg(rest)), rest


def _inner(atom: str) -> str:
    """The text of an atom in which a variable may hide."""
    return atom if atom[:2] in ("f:", "b:") else ""


def _point_apart(a: Node, b: Node) -> bool:
    """Whether a point was found that solves F = 0 and is far from solving G = 0."""
    names = sorted(symbols(a))
    linear = [n for n in names if (parts := linear_parts(a, n)) is not None and not symbols(parts[0])]
    for name in (linear or names)[:2]:
        for at in points(a, b)[:3]:
            for root in _roots(a, name, at):
                try:
                    there = ball(b, {**at, name: root})
                except (NotNumericError, OverflowError, ZeroDivisionError, ValueError):
                    continue
                if abs(there.value) > _FAR + 1e6 * there.error:
                    return True
    return False


_FAR = 1e-2  # a root of multiplicity 3 is found to 1e-5 only
_GRID = [k * 0.731 - 8.043 for k in range(23)]


def _roots(node: Node, name: str, at: dict[str, float]) -> list[float]:
    """Points on a grid between which F changes its sign continuously, narrowed down; at most three."""

    def value(x: float) -> float | None:
        try:
            found = ball(node, {**at, name: x})
        except (NotNumericError, OverflowError, ZeroDivisionError, ValueError):
            return None
        return found.value.real if abs(found.value.imag) <= found.error else None

    found: list[float] = []
    values = [(x, value(x)) for x in _GRID]
    for (low, f), (high, g) in pairwise(values):
        if f is None or g is None or f * g >= 0:
            continue
        for _ in range(60):
            middle = (low + high) / 2
            h = value(middle)
            if h is None:
                break
            low, high = (middle, high) if h * f > 0 else (low, middle)
        end = value(low)
        if end is not None and abs(end) < 1e-6 * max(abs(f), abs(g)):
            found.append(low)
        if len(found) == 3:
            break
    return found


def product_of_roots(name: str, roots: tuple[Node, ...]) -> Node:
    """(x - r1)(x - r2)...: the equation that a finite set of solutions stands for."""
    return mul(*(difference(Node("sym", (), name), r) for r in roots))
