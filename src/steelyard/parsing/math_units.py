"""Units after a value in mathematical notation: which words are units, and comparing two of them.

A unit that only one side has is dropped, so a word after a number needs no list; the list decides where letters could
be variables too (`5 m`), and converts where both sides have units of one dimension.
Not covered: products of units beyond what `units` reads.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from steelyard.parsing.units import Unit, find_unit

UNIT_LETTERS = frozenset("mgshLlNJWVAKCFtd")
_GLUED = frozenset((
    "km", "cm", "mm", "dm", "nm", "kg", "mg", "ml", "mL", "cl", "ft", "yd", "mi", "lb", "lbs", "oz", "min", "hr",
    "hrs", "sec", "ms", "Hz", "kHz", "MHz", "kW", "kJ", "Pa", "kPa", "mol", "mph", "rad", "deg", "cents",
    "st", "nd", "rd", "th",
))  # fmt: skip
_POWER = re.compile(r"\s*\^\s*")
_SPACE = re.compile(r"[\s~]+")


def is_unit_text(text: str) -> bool:
    """Whether letters that are glued to a number are a unit rather than variables."""
    return text in _GLUED


@lru_cache(maxsize=1024)
def unit_of(text: str) -> Unit | None:
    """The unit that a text names, None for other words."""
    plain = _SPACE.sub(" ", _POWER.sub("^", text)).strip(" .")
    found = find_unit(plain, 0, glued=False)
    return found.unit if found and found.end == len(plain) else None


def factor_between(left: str, right: str) -> Fraction | None:
    """What a value of unit `left` is multiplied by to be in unit `right`; None where they cannot be compared."""
    a, b = unit_of(left), unit_of(right)
    if a is not None and b is not None:
        same = a.dimension == b.dimension and a.offset == b.offset
        return a.factor / b.factor if same else None
    return Fraction(1) if _word(left) == _word(right) else None


def _word(text: str) -> str:
    """A unit word without case, full stops and a plural s."""
    plain = _SPACE.sub(" ", text.casefold()).strip(" .").replace(".", "")
    return plain.removesuffix("s")
