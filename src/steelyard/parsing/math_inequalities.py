"""Relations in one variable, solved exactly: products and quotients of linear and quadratic factors, absolute values.

The sign of a product is charted over the real line: it changes at a root of odd multiplicity and nowhere else.
Not covered: other functions and irreducible factors of higher degree; those raise UnknownError.
Easy to break: a root of the denominator never belongs to the solution.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cmp_to_key

from steelyard.parsing.latex_tree import Node, add, const, has, mul, neg, num, put, symbols
from steelyard.parsing.math_form import form_of
from steelyard.parsing.math_polys import TooBigError
from steelyard.parsing.math_regions import Region, Segment, complement, intersection, union
from steelyard.parsing.math_relations import difference, linear_parts
from steelyard.parsing.math_scalars import Ask, UnknownError, compare

_INF, _MINUS_INF = const("inf"), neg(const("inf"))
_ZERO = num(0)
_MOST_FACTORS = 20

Root = tuple[Node, int, bool]
"""A root, its multiplicity, and whether it is one of the denominator."""


def solve_one(left: Node, sign: str, right: Node, name: str, ask: Ask) -> Region:
    """The real numbers for which a relation in one variable holds; UnknownError for what is not covered."""
    if sign in ("<", "<=", ">", ">=") and (found := _absolute(left, sign, right, name, ask)) is not None:
        return found
    if sign in ("<", "<="):
        left, right, sign = right, left, {"<": ">", "<=": ">="}[sign]
    lead, roots = _chart(difference(left, right), name, ask)
    positive = _where_positive(lead, roots, ask)
    zeros = [Segment(r, r, low_in=True, high_in=True) for r, _, under in roots if not under]
    holes = [Segment(r, r, low_in=True, high_in=True) for r, _, under in roots if under]
    if sign == ">":
        return positive
    found = union(positive + zeros, ask) if sign == ">=" else zeros if sign == "=" else complement(zeros, ask)
    return intersection(found, complement(holes, ask), ask) if holes else union(found, ask)


def _absolute(left: Node, sign: str, right: Node, name: str, ask: Ask) -> Region | None:
    """|u| < c and its kin, for c free of the variable; None where the relation is no such thing."""
    if right.op == "abs" and left.op != "abs":
        left, right, sign = right, left, {"<": ">", "<=": ">=", ">": "<", ">=": "<="}[sign]
    if left.op != "abs" or symbols(right):
        return None
    inner = left.args[0]
    if sign in ("<", "<="):
        parts = [solve_one(inner, sign, right, name, ask), solve_one(neg(right), sign, inner, name, ask)]
        return intersection(parts[0], parts[1], ask)
    return union(solve_one(inner, sign, right, name, ask) + solve_one(neg(right), sign, inner, name, ask), ask)


def _chart(node: Node, name: str, ask: Ask) -> tuple[int, list[Root]]:
    """The sign of a product for very large values of the variable, and its real roots in order."""
    lead = 1
    roots: list[Root] = []
    for factor, power in _factors(node, 1):
        sign, found = _roots(factor, name, ask)
        lead *= sign if power % 2 else 1
        roots += [(r, abs(power) * times, power < 0) for r, times in found]
    if lead == 0:
        raise UnknownError("an inequality that the variable has no part in")
    roots.sort(key=cmp_to_key(_by_place(ask)))
    merged: list[Root] = []
    for root in roots:
        if merged and compare(merged[-1][0], root[0], ask) == 0:
            merged[-1] = (root[0], merged[-1][1] + root[1], merged[-1][2] or root[2])
        else:
            merged.append(root)
    return lead, merged


def _by_place(ask: Ask) -> Callable[[Root, Root], int]:
    """Roots from left to right."""
    return lambda a, b: compare(a[0], b[0], ask)


def _factors(node: Node, power: int) -> list[tuple[Node, int]]:
    """Factors with their exponents; a sum is one factor."""
    if node.op == "mul":
        found = [f for a in node.args for f in _factors(a, power)]
    elif node.op == "div":
        found = _factors(node.args[0], power) + _factors(node.args[1], -power)
    elif node.op == "neg":
        found = [(num(-1), 1), *_factors(node.args[0], power)]
    elif (
        node.op == "pow"
        and node.args[1].op == "num"
        and isinstance(node.args[1].value, Fraction)
        and node.args[1].value.denominator == 1
    ):
        found = _factors(node.args[0], power * int(node.args[1].value)) if node.args[1].value else []
    else:
        found = [(node, power)]
    if len(found) > _MOST_FACTORS:
        raise UnknownError("a product of many factors")
    return found


def _roots(node: Node, name: str, ask: Ask) -> tuple[int, list[tuple[Node, int]]]:
    """The sign of a factor for very large values, and its real roots with their multiplicity."""
    if not symbols(node):
        return compare(node, _ZERO, ask), []
    parts = linear_parts(node, name)
    if parts is not None and not any(symbols(p) for p in parts):
        slope = compare(parts[0], _ZERO, ask)
        if slope == 0:
            return compare(parts[1], _ZERO, ask), []
        return slope, [(Node("div", (neg(parts[1]), parts[0])), 1)]
    return _quadratic(node, name, ask)


def _quadratic(node: Node, name: str, ask: Ask) -> tuple[int, list[tuple[Node, int]]]:
    if _degree(node, name) != 2:
        raise UnknownError("a factor that is neither linear nor quadratic")
    c = put(node, name, _ZERO)
    above, below = put(node, name, num(1)), put(node, name, num(-1))
    a = Node("div", (add(above, below, mul(num(-2), c)), num(2)))
    b = Node("div", (add(above, neg(below)), num(2)))
    inner = add(mul(b, b), mul(num(-4), a, c))
    sign, kind = compare(a, _ZERO, ask), compare(inner, _ZERO, ask)
    if kind < 0:
        return sign, []
    middle = Node("div", (neg(b), mul(num(2), a)))
    if kind == 0:
        return sign, [(middle, 2)]
    step = Node("div", (Node("root", (inner, num(2))), mul(num(2), a)))
    return sign, [(add(middle, neg(step)), 1), (add(middle, step), 1)]


def _degree(node: Node, name: str) -> int:
    """The degree of a polynomial in one variable with constant coefficients; -1 for anything else."""
    try:
        form = form_of(node)
    except (TooBigError, ZeroDivisionError):
        return -1
    atom = f"s:{name}"
    if list(form.den) != [()] or has(node, "abs"):
        return -1
    degree = 0
    for mono in form.num:
        for found, exponent in mono:
            if found == atom and exponent.denominator == 1 and exponent > 0:
                degree = max(degree, int(exponent))
            elif found[:2] not in ("p:", "c:"):
                return -1
    return degree


def _where_positive(lead: int, roots: list[Root], ask: Ask) -> Region:
    """The open segments between roots on which a product is positive."""
    ends = [_MINUS_INF, *(r for r, _, _ in roots), _INF]
    sign = lead * (-1) ** sum(times for _, times, _ in roots)
    found: Region = []
    for n in range(len(ends) - 1):
        if sign > 0:
            found.append(Segment(ends[n], ends[n + 1], low_in=False, high_in=False))
        if n < len(roots) and roots[n][1] % 2:
            sign = -sign
    return union(found, ask)
