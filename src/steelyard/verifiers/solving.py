"""Relations and sets of real numbers, compared by sympy: for what the exact rules of `math` leave open.

Trees become sympy expressions node by node; no text ever reaches sympy's parser, which evaluates. Equations are
compared by their irreducible factors, relations in one variable by their solution sets over the reals, systems of
polynomial equations by their Groebner bases.
Source: sympy (BSD).
Not covered: systems of inequalities, and what sympy does not solve.
Easy to break: building `9**9**9` evaluates it; sizes are checked before a power is made.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from steelyard.parsing.latex_tree import Node, add, has, neg, symbols
from steelyard.parsing.math_meaning import Finite, Value, meaning_of
from steelyard.parsing.math_numeric import log_size
from steelyard.parsing.math_scalars import UnknownError

_MOST_LOG = 20_000.0
_MOST_EXPONENT = 200


def same_relations(a: Node, b: Node) -> bool | None:
    """Whether F = 0 and G = 0 (two scalars), or two relations or lists of them, have the same solutions."""
    if has(a, "rel", "list") or has(b, "rel", "list"):
        if len(symbols(a) | symbols(b)) == 1 and symbols(a) == symbols(b):
            return same_sets(a, b)
        return _same_systems(a, b)
    left, right = _factors(a), _factors(b)
    if left is not None and right is not None:
        return left == right
    names = symbols(a) | symbols(b)
    if len(names) == 1:
        zero = Node("num", (), Fraction(0))
        return same_sets(Node("rel", (a, zero), "="), Node("rel", (b, zero), "="))
    return None


def _factors(node: Node) -> set[Any] | None:
    """The irreducible factors over the rationals of the numerator, up to constants; None for no polynomial."""
    top, _ = sympy.fraction(sympy.together(expression(node)))
    names = [_symbol(n) for n in sorted(symbols(node))]
    if not top.is_polynomial(*names) or not sympy.Poly(top, *names).domain.is_Exact:
        return None
    _, found = sympy.factor_list(top, *names)
    monic = {sympy.Poly(f, *names).monic().as_expr() for f, _ in found if f.free_symbols}
    return {f for f in monic if not _never_zero(f)}


def _never_zero(factor: Any) -> bool:
    """Whether a factor in one variable has no real root."""
    names = factor.free_symbols
    return len(names) == 1 and not sympy.Poly(factor, *names).count_roots()


def _same_systems(a: Node, b: Node) -> bool | None:
    found = []
    names = [_symbol(n) for n in sorted(symbols(a) | symbols(b))]
    for node in (a, b):
        parts = node.args if node.op == "list" else (node,)
        if any(p.op != "rel" or set(str(p.value).split()) != {"="} for p in parts):
            return None
        equations = [expression(add(x, neg(y))) for p in parts for x, y in zip(p.args, p.args[1:], strict=False)]
        if not all(e.is_polynomial(*names) for e in equations):
            return None
        found.append(sympy.groebner(equations, *names, order="lex"))
    return bool(found[0] == found[1]) or (None if any(len(g.exprs) > len(names) for g in found) else False)


def same_sets(a: Node, b: Node) -> bool | None:
    """Whether two regions or statements in one variable are the same set of real numbers."""
    left, right = _set(a), _set(b)
    if left == right:
        return True
    for one, other in ((left, right), (right, left)):
        empty = (one - other).is_empty
        if empty is not True:
            return None if empty is None else False
    return True


def _set(node: Node) -> Any:
    """The subset of the reals that a region, a finite set or a statement in one variable stands for."""
    if node.op == "list":
        parts = [_set(p) for p in node.args]
        return sympy.Union(*parts) if node.value == "or" else sympy.Intersection(*parts)
    if node.op == "rel":
        return _solutions(node)
    if node.op in ("union", "inter", "minus"):
        x, y = (_set(p) for p in node.args)
        return x | y if node.op == "union" else x & y if node.op == "inter" else x - y
    if node.op in ("interval", "tuple") and len(node.args) == 2:
        ends = str(node.value) or "()"
        low, high = (expression(p) for p in node.args)
        return sympy.Interval(low, high, ends[0] == "(", ends[1] == ")")
    if node.op == "const" and node.value in ("R", "empty"):
        return sympy.S.Reals if node.value == "R" else sympy.S.EmptySet
    if node.op == "builder":
        return _set(node.args[1])
    meaning = meaning_of(node)
    items = meaning.items if isinstance(meaning, Finite) else (meaning.node,) if isinstance(meaning, Value) else None
    if items is None or any(symbols(i) for i in items):
        raise UnknownError("no set of numbers")
    return sympy.FiniteSet(*(expression(i) for i in items))


def _solutions(node: Node) -> Any:
    names = symbols(node)
    if len(names) != 1:
        raise UnknownError("a relation in several variables")
    name = _symbol(names.pop())
    if node.value == "in":
        return _set(node.args[1])
    parts = []
    for sign, left, right in zip(str(node.value).split(), node.args, node.args[1:], strict=False):
        x, y = expression(left), expression(right)
        if sign == "=":
            parts.append(sympy.solveset(x - y, name, sympy.S.Reals))
        elif sign == "!=":
            parts.append(sympy.S.Reals - sympy.solveset(x - y, name, sympy.S.Reals))
        else:
            relation = {"<": sympy.Lt, "<=": sympy.Le, ">": sympy.Gt, ">=": sympy.Ge}[sign](x, y)
            parts.append(
                relation.as_set() if relation in (True, False) else sympy.solveset(relation, name, sympy.S.Reals)
            )
    return sympy.Intersection(*parts)


def _symbol(name: str) -> Any:
    return sympy.Symbol(name, real=True)


_SYMPY: dict[str, Callable[..., Any]] = {
    "neg": lambda x: -x, "add": sympy.Add, "mul": sympy.Mul, "div": lambda x, y: x / y, "abs": sympy.Abs,
    "deg": lambda x: x, "root": lambda x, n: sympy.real_root(x, n) if n % 2 else sympy.root(x, n),
}  # fmt: skip
_SYMPY_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sin": sympy.sin, "cos": sympy.cos, "tan": sympy.tan, "cot": sympy.cot, "sec": sympy.sec, "csc": sympy.csc,
    "arcsin": sympy.asin, "arccos": sympy.acos, "arctan": sympy.atan, "sinh": sympy.sinh, "cosh": sympy.cosh,
    "tanh": sympy.tanh, "ln": sympy.log, "log": lambda x, b: sympy.log(x) / sympy.log(b), "floor": sympy.floor,
    "ceil": sympy.ceiling, "max": sympy.Max, "min": sympy.Min,
}  # fmt: skip


def expression(node: Node) -> Any:
    """A scalar tree as a sympy expression with real variables; UnknownError for what is too large or has no like."""
    if node.op == "num" and isinstance(node.value, Fraction):
        return sympy.Rational(node.value.numerator, node.value.denominator)
    if node.op == "sym":
        return _symbol(str(node.value))
    if node.op == "const":
        known = {"pi": sympy.pi, "e": sympy.E, "i": sympy.I, "inf": sympy.oo}.get(str(node.value))
        if known is None:
            raise UnknownError(f"{node.value} is no number")
        return known
    args = [expression(a) for a in node.args]
    if node.op == "pow":
        return _sympy_power(node, args[0], args[1])
    build = _SYMPY.get(node.op) or (_SYMPY_FUNCTIONS.get(str(node.value)) if node.op == "fn" else None)
    if build is None:
        raise UnknownError(f"{node.op} {node.value}")
    return build(*args)


def _sympy_power(node: Node, base: Any, exponent: Any) -> Any:
    if not symbols(node):
        size = log_size(node)
        if size is not None and abs(size) > _MOST_LOG:
            raise UnknownError("a power beyond reason")
    elif exponent.is_number and abs(exponent) > _MOST_EXPONENT:
        raise UnknownError("a large exponent")
    return base**exponent
