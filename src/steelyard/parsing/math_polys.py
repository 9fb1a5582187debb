"""Quotients of polynomials over independent atoms, in exact rational arithmetic: the arithmetic behind `math_form`.

Atoms are text: `s:x` a variable, `c:pi`, `c:e`, `c:i`, `p:7` a prime under a root (exponents in (0, 1)), `l:7` its
logarithm, `b:...` a power with a symbolic exponent, `f:...` anything else. Two forms are equal when the cross products
agree, so nothing is ever divided or rationalised. `sure` forms hold only atoms that are algebraically independent (for
pi with e that is taken for granted): for those a difference that is not zero is a proof.
Source: linear independence of roots of square-free numbers over the rationals (Besicovitch 1940).
Easy to break: limits. Sizes are bounded before anything is multiplied out; TooBigError says that a bound was met.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

Mono = tuple[tuple[str, Fraction], ...]


Poly = dict[Mono, Fraction]


MOST_TERMS = 300


MOST_BITS = 60_000


_TRIAL = 2000


class TooBigError(ValueError):
    """An exact form would be larger than the limits allow."""


class Form(NamedTuple):
    """num/den; `sure` says that a form which is not zero is not the number zero."""

    num: Poly
    den: Poly
    sure: bool = True


ONE: Poly = {(): Fraction(1)}


def rational(value: Fraction | int) -> Form:
    """The form of a rational number."""
    return Form({(): Fraction(value)} if value else {}, ONE)


def same_form(a: Form, b: Form) -> bool | None:
    """Whether two forms are equal: True, False where that is proven, else None."""
    if a.den == b.den:
        same = a.num == b.num
    else:
        same = mul_poly(a.num, b.den) == mul_poly(b.num, a.den)
    return True if same else False if a.sure and b.sure else None


def as_rational(form: Form) -> Fraction | None:
    """The rational number that a form is, if it is one."""
    if any(m for m in form.num) or any(m for m in form.den) or not form.den:
        return None
    return form.num.get((), Fraction(0)) / form.den[()]


def atom(name: str, exponent: Fraction = Fraction(1), sure: bool = True) -> Form:
    """One atom to a power."""
    return Form({((name, exponent),): Fraction(1)}, ONE, sure)


def key(form: Form) -> str:
    """A text that is the same for forms that are scaled alike; not canonical for every quotient."""
    lead = form.den[min(form.den)] if form.den else Fraction(1)
    return f"{_text(form.num, lead)}/{_text(form.den, lead)}"


def _text(poly: Poly, scale: Fraction) -> str:
    scaled = ((m, c / scale) for m, c in sorted(poly.items()))
    return "+".join(f"{c.numerator:x}/{c.denominator:x}*{'*'.join(f'{a}^{e}' for a, e in m)}" for m, c in scaled)


def add_forms(a: Form, b: Form) -> Form:
    """A + b."""
    sure = a.sure and b.sure
    if a.den == b.den:
        return Form(add_poly(a.num, b.num), a.den, sure)
    return Form(add_poly(mul_poly(a.num, b.den), mul_poly(b.num, a.den)), mul_poly(a.den, b.den), sure)


def negative(form: Form) -> Form:
    """-a."""
    return Form({m: -c for m, c in form.num.items()}, form.den, form.sure)


def mul_forms(a: Form, b: Form) -> Form:
    """A * b."""
    return Form(mul_poly(a.num, b.num), mul_poly(a.den, b.den), a.sure and b.sure)


def inverse(form: Form) -> Form:
    """1 / a; ZeroDivisionError for what is zero in its form."""
    if not form.num:
        raise ZeroDivisionError("division by zero")
    if len(form.num) == 1:
        ((mono, coefficient),) = form.num.items()
        sign, flipped = reduce_mono({a: -e for a, e in mono})
        return Form(mul_poly(form.den, {flipped: sign / coefficient}), ONE, form.sure)
    return Form(form.den, form.num, form.sure)


def add_poly(a: Poly, b: Poly) -> Poly:
    """The sum of two polynomials; TooBigError past the limit on terms."""
    total = dict(a)
    for mono, coefficient in b.items():
        found = total.get(mono, 0) + coefficient
        if found:
            total[mono] = found
        else:
            total.pop(mono, None)
    if len(total) > MOST_TERMS:
        raise TooBigError("too many terms")
    return total


def mul_poly(a: Poly, b: Poly) -> Poly:
    """The product of two polynomials; TooBigError past the limits."""
    if a == ONE:
        return b
    if b == ONE:
        return a
    if len(a) * len(b) > 4 * MOST_TERMS:
        raise TooBigError("too many terms")
    total: Poly = {}
    for left, x in a.items():
        for right, y in b.items():
            factor, mono = _mul_mono(left, right)
            found = total.get(mono, 0) + factor * x * y
            if found:
                total[mono] = found
            else:
                total.pop(mono, None)
    _check_bits(total)
    return total


def _check_bits(poly: Poly) -> None:
    if len(poly) > MOST_TERMS:
        raise TooBigError("too many terms")
    for value in poly.values():
        if value.numerator.bit_length() + value.denominator.bit_length() > 2 * MOST_BITS:
            raise TooBigError("too many digits")


def _mul_mono(a: Mono, b: Mono) -> tuple[Fraction, Mono]:
    if not a or not b:
        return Fraction(1), a or b
    merged = dict(a)
    for atom, exponent in b:
        merged[atom] = merged.get(atom, Fraction(0)) + exponent
    return reduce_mono(merged)


def reduce_mono(merged: dict[str, Fraction]) -> tuple[Fraction, Mono]:
    """A monomial with i and the roots of primes brought to their smallest exponents, and the factor that leaves."""
    factor = Fraction(1)
    for atom, exponent in merged.items():
        if atom == "c:i":
            turn = exponent % 4
            factor *= -1 if turn >= 2 else 1
            merged[atom] = turn % 2
        elif atom.startswith("p:"):
            whole = exponent.numerator // exponent.denominator
            if whole:
                factor *= _power_of_int(int(atom[2:]), whole)
                merged[atom] = exponent - whole
    return factor, tuple(sorted((a, e) for a, e in merged.items() if e))


def _power_of_int(base: int, exponent: int) -> Fraction:
    if base.bit_length() * abs(exponent) > MOST_BITS:
        raise TooBigError("too many digits")
    return Fraction(base**exponent) if exponent >= 0 else Fraction(1, base**-exponent)


def poly_power(poly: Poly, exponent: int) -> Poly:
    """A polynomial to a positive whole power; TooBigError past the limits."""
    if not poly or poly == ONE:
        return poly
    if len(poly) == 1:
        ((mono, coefficient),) = poly.items()
        bits = max(coefficient.numerator.bit_length(), coefficient.denominator.bit_length())
        if abs(coefficient) != 1 and bits * exponent > MOST_BITS:
            raise TooBigError("too many digits")
        factor, scaled = reduce_mono({a: e * exponent for a, e in mono})
        sign = -1 if coefficient < 0 and exponent % 2 else 1
        power = Fraction(sign) if abs(coefficient) == 1 else coefficient**exponent
        return {scaled: power * factor}
    total = ONE
    for _ in range(exponent):
        total = mul_poly(total, poly)
    return total


@lru_cache(maxsize=1024)
def factors(value: int) -> tuple[tuple[int, int, bool], ...]:
    """Prime factors of a positive number as (prime, count, whether it is proven prime), by trial up to a limit."""
    found: list[tuple[int, int, bool]] = []
    if value.bit_length() > 4000:
        raise TooBigError("too many digits under a root")
    divisor = 2
    while divisor * divisor <= value and divisor < _TRIAL:
        count = 0
        while value % divisor == 0:
            value, count = value // divisor, count + 1
        if count:
            found.append((divisor, count, True))
        divisor += 1 if divisor == 2 else 2
    if value > 1:
        root = math.isqrt(value)
        if root * root == value:
            return (*found, *((p, 2 * n, ok) for p, n, ok in factors(root)))
        found.append((value, 1, value < _TRIAL * _TRIAL))
    return tuple(found)
