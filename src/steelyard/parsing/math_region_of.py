"""The set of real numbers that a statement stands for: an interval, a union, a condition on one variable.

Not covered: sets that hold anything but real numbers; those raise NoRegionError.
Easy to break: a comma between conditions means both, unless no number meets both.
"""

from __future__ import annotations

from steelyard.parsing.latex_tree import SCALARS, Node, const, symbols
from steelyard.parsing.math_inequalities import solve_one
from steelyard.parsing.math_meaning import Assigned, Bounds, Finite, Meaning, Value, meaning_of
from steelyard.parsing.math_regions import (
    EVERYTHING,
    Region,
    complement,
    intersection,
    is_constant,
    point,
    segment,
    union,
)
from steelyard.parsing.math_scalars import Ask, UnknownError

_REGIONS = frozenset(("interval", "union", "inter", "minus", "builder"))


def is_region(meaning: Meaning) -> bool:
    """Whether a statement can only mean a set of real numbers."""
    if isinstance(meaning, Assigned):
        return is_region(meaning.meaning)
    if isinstance(meaning, Value):
        node = meaning.node
        return node.op in _REGIONS or node == const("R") or node == const("empty")
    return isinstance(meaning, Bounds)


class NoRegionError(Exception):
    """A meaning that is no set of real numbers."""


def region_of(meaning: Meaning, ask: Ask) -> Region:
    """The set that a statement stands for; UnknownError where it cannot be worked out, NoRegionError for others."""
    if isinstance(meaning, Assigned):
        return region_of(meaning.meaning, ask)
    if isinstance(meaning, Bounds):
        return _bounds_region(meaning, ask)
    if isinstance(meaning, Finite):
        return union([s for item in meaning.items for s in _node_region(item, ask)], ask)
    if isinstance(meaning, Value):
        return _node_region(meaning.node, ask)
    raise NoRegionError


def _bounds_region(bounds: Bounds, ask: Ask) -> Region:
    parts = [_part_region(p, bounds.name, ask) for p in bounds.parts]
    if bounds.joined == "or":
        return union([s for p in parts for s in p], ask)
    both = parts[0]
    for part in parts[1:]:
        both = intersection(both, part, ask)
    if not both and bounds.joined == ",":
        return union([s for p in parts for s in p], ask)
    return both


def _part_region(node: Node, name: str, ask: Ask) -> Region:
    meaning = meaning_of(node)
    if isinstance(meaning, Bounds) and len(meaning.parts) > 1:
        return _bounds_region(meaning, ask)
    if isinstance(meaning, Assigned):
        return region_of(meaning.meaning, ask)
    if node.op != "rel":
        raise NoRegionError
    return solve_one(node.args[0], str(node.value), node.args[1], name, ask)


def _node_region(node: Node, ask: Ask) -> Region:
    if node == const("R"):
        return [EVERYTHING]
    if node == const("empty"):
        return []
    if node.op in ("interval", "tuple") and len(node.args) == 2:
        if not all(is_constant(x) for x in node.args):
            raise UnknownError("an interval with variables")
        return segment(node.args[0], node.args[1], str(node.value) or "()", ask)
    if node.op == "set":
        return region_of(meaning_of(node), ask)
    if node.op in ("union", "inter", "minus"):
        left, right = (_node_region(x, ask) for x in node.args)
        if node.op == "union":
            return union(left + right, ask)
        return intersection(left, right if node.op == "inter" else complement(right, ask), ask)
    if (
        node.op == "add"
        and len(node.args) == 2
        and node.args[1].op == "neg"
        and node.args[1].args[0].op in ("set", "interval")
    ):
        return intersection(
            _node_region(node.args[0], ask), complement(_node_region(node.args[1].args[0], ask), ask), ask
        )
    if node.op == "builder":
        return _builder_region(node, ask)
    if node.op in SCALARS and is_constant(node):
        return point(node)
    raise NoRegionError


def _builder_region(node: Node, ask: Ask) -> Region:
    first, condition = node.args
    domain = [EVERYTHING]
    if first.op == "rel" and first.value == "in":
        domain = _node_region(first.args[1], ask)
        first = first.args[0]
    if first.op != "sym" or symbols(condition) != {str(first.value)}:
        raise NoRegionError
    return intersection(domain, region_of(meaning_of(condition), ask), ask)
