"""The exact normal form of a scalar tree: a quotient of two polynomials over independent atoms (see `math_polys`).

Roots of rationals, logarithms of rationals, powers with symbolic exponents, sines of twelfths of a turn, factorials,
binomials and determinants have forms of their own; anything else is an atom, told by its normalised arguments.
Not covered: nested radicals and trigonometric identities (their forms are not sure).
Easy to break: a power of a variable may only be split where both sides are defined alike; |x| is not x.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from steelyard.parsing.latex_tree import Node, const, fn, mul, neg, num
from steelyard.parsing.math_polys import (
    MOST_TERMS,
    ONE,
    Form,
    Poly,
    TooBigError,
    add_forms,
    add_poly,
    as_rational,
    atom,
    factors,
    inverse,
    key,
    mul_forms,
    negative,
    poly_power,
    rational,
    reduce_mono,
    same_form,
)

MOST_FACTORIAL = 3000
_MOST_EXPONENT = 60


@lru_cache(maxsize=4096)
def form_of(node: Node) -> Form:
    """The normal form of a scalar; TooBigError past the limits, ZeroDivisionError where it is undefined."""
    if node.op == "num" and isinstance(node.value, Fraction):
        return rational(node.value)
    if node.op == "sym":
        return atom(f"s:{node.value}")
    if node.op == "const":
        return atom(f"c:{node.value}", sure=node.value in ("pi", "e", "i"))
    build = _BUILD.get(node.op)
    return build(node) if build else _opaque(node)


def _opaque(node: Node) -> Form:
    """An atom of its own for what has no normal form; its children are normalised, so equal ones look alike."""
    parts = [key(form_of(a)) for a in node.args]
    return atom(f"f:{node.op}:{node.value}({';'.join(parts)})", sure=False)


def _add(node: Node) -> Form:
    total = form_of(node.args[0])
    for arg in node.args[1:]:
        total = add_forms(total, form_of(arg))
    return total


def _mul(node: Node) -> Form:
    total = form_of(node.args[0])
    for arg in node.args[1:]:
        total = mul_forms(total, form_of(arg))
    return total


def _div(node: Node) -> Form:
    return mul_forms(form_of(node.args[0]), inverse(form_of(node.args[1])))


def _pow(node: Node) -> Form:
    base, exponent = node.args
    power = form_of(exponent)
    constant = as_rational(power)
    if constant is not None:
        return _rational_power(form_of(base), constant, node)
    if power.den != ONE or len(power.num) > 8:
        return _opaque(node)
    return _symbolic_power(base, power, node)


def _root(node: Node) -> Form:
    degree = as_rational(form_of(node.args[1]))
    body = form_of(node.args[0])
    if degree is None or degree.denominator != 1 or not 2 <= degree <= _MOST_EXPONENT:
        return _opaque(node)
    value = as_rational(body)
    if value is not None and value < 0 and degree % 2:
        return negative(_rational_power(rational(-value), 1 / degree, node))
    return _rational_power(body, 1 / degree, Node("pow", (node.args[0], num(1 / degree))))


def _rational_power(base: Form, exponent: Fraction, node: Node) -> Form:
    if exponent.denominator == 1:
        return _whole_power(base, int(exponent), node)
    value = as_rational(base)
    if value is not None:
        return _root_of_rational(value, exponent, node)
    if len(base.num) == 1 and base.den == ONE:
        ((mono, coefficient),) = base.num.items()
        if coefficient > 0 and all(
            a[:2] in ("p:", "b:") or a in ("c:e", "c:pi") or (a[:2] == "s:" and e == 1) for a, e in mono
        ):
            sign, scaled = reduce_mono({a: e * exponent for a, e in mono})
            root = _root_of_rational(coefficient, exponent, node)
            return mul_forms(root, Form({scaled: sign}, ONE, base.sure))
    return _opaque(node)


def _whole_power(base: Form, exponent: int, node: Node) -> Form:
    if exponent < 0:
        return inverse(_whole_power(base, -exponent, node))
    if exponent == 0:
        return rational(1)
    for poly in (base.num, base.den):
        if len(poly) == 1:
            continue
        if len(poly) > 1 and math.comb(exponent + len(poly) - 1, len(poly) - 1) > MOST_TERMS:
            return _opaque(node) if node.op == "pow" else _opaque(Node("pow", (node, num(exponent))))
    return Form(poly_power(base.num, exponent), poly_power(base.den, exponent), base.sure)


def _root_of_rational(value: Fraction, exponent: Fraction, node: Node) -> Form:
    if value == 0:
        if exponent < 0:
            raise ZeroDivisionError("zero to a negative power")
        return rational(0)
    if value < 0:
        if exponent.denominator != 2:
            return _opaque(node)
        turned = _whole_power(atom("c:i"), exponent.numerator % 4, node)
        return mul_forms(turned, _root_of_rational(-value, exponent, node))
    merged: dict[str, Fraction] = {}
    sure = True
    for part, sign in ((value.numerator, 1), (value.denominator, -1)):
        for prime, count, proven in factors(part):
            merged[f"p:{prime}"] = merged.get(f"p:{prime}", Fraction(0)) + exponent * count * sign
            sure = sure and proven
    factor, mono = reduce_mono(merged)
    return Form({mono: factor}, ONE, sure)


def _symbolic_power(base: Node, power: Form, node: Node) -> Form:
    """b^(c1 m1 + c2 m2 + c0) as b^c0 times one atom for each m, with the exponent c on it."""
    bases = _power_bases(base)
    if bases is None:
        return _opaque(node)
    total = rational(1)
    for name, count, root in bases:
        merged: dict[str, Fraction] = {}
        for mono, coefficient in power.num.items():
            if mono:
                merged[f"b:{name}^{'*'.join(f'{a}^{e}' for a, e in mono)}"] = coefficient * count
            elif coefficient:
                total = mul_forms(
                    total, _rational_power(root, coefficient * count, Node("pow", (base, num(coefficient))))
                )
        _, mono = reduce_mono(merged)
        total = mul_forms(total, Form({mono: Fraction(1)}, ONE, sure=False))
    return total


def _power_bases(base: Node) -> list[tuple[str, int, Form]] | None:
    """A base that is positive or a variable, as (name, count, form) of its factors."""
    form = form_of(base)
    value = as_rational(form)
    if value is not None and value > 0:
        parts = [(p, n) for p, n, _ in factors(value.numerator)] + [(p, -n) for p, n, _ in factors(value.denominator)]
        return [(str(p), n, rational(p)) for p, n in parts]
    if (
        form.num in ({(("c:e", Fraction(1)),): Fraction(1)}, {(("c:pi", Fraction(1)),): Fraction(1)})
        and form.den == ONE
    ):
        return [(str(base.value), 1, form)]
    if base.op == "sym":
        return [(f"s:{base.value}", 1, form)]
    return None


def _fact(node: Node) -> Form:
    value = as_rational(form_of(node.args[0]))
    if value is None or value.denominator != 1 or value < 0:
        return _opaque(node)
    if value > MOST_FACTORIAL:
        raise TooBigError("a large factorial")
    return rational(math.factorial(int(value)))


def _abs(node: Node) -> Form:
    value = as_rational(form_of(node.args[0]))
    if value is not None:
        return rational(abs(value))
    form = form_of(node.args[0])
    flipped = negative(form)
    smaller = min(key(form), key(flipped))
    return atom(f"f:abs({smaller})", sure=False)


def _function(node: Node) -> Form:
    name = str(node.value)
    if name == "det":
        return _determinant(node.args[0])
    values = [as_rational(form_of(a)) for a in node.args]
    exact = _EXACT.get(name)
    if exact and all(v is not None for v in values):
        result = exact([v for v in values if v is not None])
        if result is not None:
            return rational(result)
    if name == "binom" and values[1] is not None and values[1].denominator == 1 and 0 <= values[1] <= 12:
        return _falling(form_of(node.args[0]), int(values[1]))
    if name in ("ln", "log"):
        return _logarithm(node)
    if name in ("sin", "cos", "tan", "cot", "sec", "csc") and len(node.args) == 1:
        return _trigonometric(name, node)
    if name in ("arcsin", "arccos", "arctan") and len(node.args) == 1:
        return _arc(name, node)
    return _opaque(node)


def _falling(top: Form, count: int) -> Form:
    total = rational(Fraction(1, math.factorial(count)))
    for k in range(count):
        total = mul_forms(total, add_forms(top, rational(-k)))
    return total


def _logarithm(node: Node) -> Form:
    over = _ln(node.args[0])
    if node.value == "ln":
        return over
    base = node.args[1]
    if base == const("logbase"):
        return mul_forms(over, inverse(atom("f:ln(logbase)", sure=False)))
    return mul_forms(over, inverse(_ln(base)))


def _ln(node: Node) -> Form:
    form = form_of(node)
    if not form.num:
        raise ZeroDivisionError("the logarithm of zero")
    if len(form.num) != 1 or form.den != ONE:
        return _opaque(fn("ln", node))
    ((mono, coefficient),) = form.num.items()
    if coefficient <= 0 or any(a != "c:e" and a[:2] not in ("p:", "b:") for a, _ in mono):
        return _opaque(fn("ln", node))
    if any(a[:2] == "b:" and not a.startswith("b:e^") for a, _ in mono):
        return _opaque(fn("ln", node))
    total: Poly = {}
    for part, sign in ((coefficient.numerator, 1), (coefficient.denominator, -1)):
        for prime, count, _ in factors(part):
            total = add_poly(total, {((f"l:{prime}", Fraction(1)),): Fraction(count * sign)})
    for name, exponent in mono:
        if name == "c:e":
            total = add_poly(total, {(): exponent})
        elif name.startswith("p:"):
            total = add_poly(total, {((f"l:{name[2:]}", Fraction(1)),): exponent})
        else:
            return _opaque(fn("ln", node))
    return Form(total, ONE, sure=False)


def _trigonometric(name: str, node: Node) -> Form:
    turns = _over_pi(form_of(node.args[0]))
    if turns is None:
        return _opaque(node)
    sine, cosine = _sine(turns), _sine(turns + Fraction(1, 2))
    if sine is None or cosine is None:
        return _opaque(node)
    over, under = {
        "sin": (sine, rational(1)), "cos": (cosine, rational(1)), "tan": (sine, cosine), "cot": (cosine, sine),
        "sec": (rational(1), cosine),
        "csc": (rational(1), sine),
    }[name]  # fmt: skip
    return mul_forms(over, inverse(under))


def _over_pi(form: Form) -> Fraction | None:
    """Q where the form is q pi."""
    if not form.num:
        return Fraction(0)
    if list(form.num) != [(("c:pi", Fraction(1)),)] or list(form.den) != [()]:
        return None
    return form.num[(("c:pi", Fraction(1)),)] / form.den[()]


_QUARTERS = {
    Fraction(0): num(0), Fraction(1, 6): num(Fraction(1, 2)),
    Fraction(1, 4): Node("div", (Node("root", (num(2), num(2))), num(2))),
    Fraction(1, 3): Node("div", (Node("root", (num(3), num(2))), num(2))), Fraction(1, 2): num(1),
}  # fmt: skip


def _sine(halves: Fraction) -> Form | None:
    """sin(q pi) for q with a denominator of 1, 2, 3, 4 or 6."""
    q = halves % 2
    flip = q >= 1
    q = q - 1 if flip else q
    node = _QUARTERS.get(1 - q if q > Fraction(1, 2) else q)
    if node is None:
        return None
    form = form_of(node)
    return negative(form) if flip else form


def _arc(name: str, node: Node) -> Form:
    wanted = form_of(node.args[0])
    for quarter in (Fraction(n, 12) for n in range(-12, 13)):
        if (name in ("arcsin", "arctan") and abs(quarter) > Fraction(1, 2)) or (name == "arccos" and quarter < 0):
            continue
        if name == "arctan" and abs(quarter) == Fraction(1, 2):
            continue
        sine, cosine = _sine(quarter), _sine(quarter + Fraction(1, 2))
        if sine is None or cosine is None:
            continue
        value = {"arcsin": sine, "arccos": cosine}.get(name) or mul_forms(sine, inverse(cosine))
        if same_form(value, wanted):
            return form_of(mul(num(quarter), const("pi")))
    return _opaque(node)


def _determinant(matrix: Node) -> Form:
    rows = [list(r.args) for r in matrix.args]
    if len(rows) != len(rows[0]) or len(rows) > 4:
        raise TooBigError("a large determinant")
    return form_of(_laplace(rows))


def _laplace(rows: list[list[Node]]) -> Node:
    if len(rows) == 1:
        return rows[0][0]
    parts = []
    for column, head in enumerate(rows[0]):
        minor = _laplace([r[:column] + r[column + 1 :] for r in rows[1:]])
        part = mul(head, minor)
        parts.append(neg(part) if column % 2 else part)
    return Node("add", tuple(parts))


def _whole(values: list[Fraction]) -> bool:
    return all(v.denominator == 1 for v in values)


def _choose(values: list[Fraction]) -> Fraction | None:
    top, bottom = values
    if not _whole(values) or not 0 <= top <= MOST_FACTORIAL or not bottom >= 0:
        return None
    return Fraction(math.comb(int(top), int(bottom)))


_EXACT: dict[str, Callable[[list[Fraction]], Fraction | None]] = {
    "binom": _choose,
    "floor": lambda v: Fraction(math.floor(v[0])) if len(v) == 1 else None,
    "ceil": lambda v: Fraction(math.ceil(v[0])) if len(v) == 1 else None,
    "max": lambda v: max(v, default=None),
    "min": lambda v: min(v, default=None),
    "gcd": lambda v: Fraction(math.gcd(*(int(x) for x in v))) if _whole(v) else None,
    "lcm": lambda v: Fraction(math.lcm(*(int(x) for x in v))) if _whole(v) else None,
    "sign": lambda v: Fraction((v[0] > 0) - (v[0] < 0)) if len(v) == 1 else None,
}

_BUILD: dict[str, Callable[[Node], Form]] = {
    "add": _add, "mul": _mul, "div": _div, "pow": _pow, "root": _root, "fact": _fact, "abs": _abs, "fn": _function,
    "neg": lambda node: negative(form_of(node.args[0])),
    "deg": lambda node: form_of(node.args[0]),
}  # fmt: skip
