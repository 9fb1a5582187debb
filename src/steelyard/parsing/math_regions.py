"""Sets of real numbers as sorted, disjoint segments with exact end points: intervals, unions, complements.

A finite set is a list of segments of length zero. Regions are in normal form, so equality is end point by end point.
Not covered: sets of whole numbers and of tuples, and unbounded families such as the zeros of a sine.
Easy to break: an end point that belongs to one of two touching segments closes the gap between them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from typing import NamedTuple

from steelyard.parsing.latex_tree import Node, const, has, neg
from steelyard.parsing.math_scalars import Ask, all3, compare, equal_scalars, infinite

_INF, _MINUS_INF = const("inf"), neg(const("inf"))


class Segment(NamedTuple):
    """Real numbers from `low` to `high`, and whether the ends belong."""

    low: Node
    high: Node
    low_in: bool
    high_in: bool


Region = list[Segment]
EVERYTHING = Segment(_MINUS_INF, _INF, low_in=False, high_in=False)


def segment(low: Node, high: Node, ends: str, ask: Ask) -> Region:
    """The interval with these ends (`[)` and the like); empty where low is above high."""
    order = compare(low, high, ask)
    low_in, high_in = ends[0] == "[" and not infinite(low), ends[1] == "]" and not infinite(high)
    if order > 0 or (order == 0 and not (low_in and high_in)):
        return []
    return [Segment(low, high, low_in, high_in)]


def point(value: Node) -> Region:
    """One number."""
    return [Segment(value, value, low_in=True, high_in=True)]


def _order(ask: Ask) -> Callable[[Segment, Segment], int]:
    """Segments by where they start, those that hold their start first."""
    return lambda a, b: compare(a.low, b.low, ask) or int(b.low_in) - int(a.low_in)


def union(parts: Region, ask: Ask) -> Region:
    """Segments in any order, joined where they touch or overlap."""
    ordered = sorted(parts, key=cmp_to_key(_order(ask)))
    joined: Region = []
    for part in ordered:
        if joined:
            last = joined[-1]
            gap = compare(part.low, last.high, ask)
            if gap < 0 or (gap == 0 and (last.high_in or part.low_in)):
                end = compare(part.high, last.high, ask)
                high_in = part.high_in if end > 0 else last.high_in or (end == 0 and part.high_in)
                joined[-1] = last._replace(high=part.high if end > 0 else last.high, high_in=high_in)
                continue
        joined.append(part)
    return joined


def complement(region: Region, ask: Ask) -> Region:
    """All real numbers that a region lacks."""
    found: Region = []
    low, low_in = _MINUS_INF, False
    for part in union(region, ask):
        order = compare(low, part.low, ask)
        if order < 0 or (order == 0 and low_in and not part.low_in and not infinite(low)):
            found.append(Segment(low, part.low, low_in, not part.low_in and not infinite(part.low)))
        low, low_in = part.high, not part.high_in
    if infinite(low) != 1:
        found.append(Segment(low, _INF, low_in, high_in=False))
    return found


def intersection(a: Region, b: Region, ask: Ask) -> Region:
    """Numbers in both."""
    return complement(union(complement(a, ask) + complement(b, ask), ask), ask)


def same_region(a: Region, b: Region, ask: Ask) -> bool | None:
    """Whether two regions hold the same numbers."""
    if len(a) != len(b):
        return False
    if any((x.low_in, x.high_in) != (y.low_in, y.high_in) for x, y in zip(a, b, strict=True)):
        return False
    ends = [(x.low, y.low) for x, y in zip(a, b, strict=True)] + [(x.high, y.high) for x, y in zip(a, b, strict=True)]
    return all3(equal_scalars(x, y, ask) for x, y in ends)


def is_constant(node: Node) -> bool:
    """Whether a node is a number without variables."""
    return not has(
        node,
        "sym",
        "tuple",
        "set",
        "list",
        "rel",
        "interval",
        "matrix",
        "words",
        "union",
        "inter",
        "minus",
        "builder",
        "ratio",
    )
