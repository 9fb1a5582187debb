r"""What a mathematical statement means: a value, a set, an ordered list, named values, a region, a relation.

- `x = 5` names a value; several names are `Named`; one name with several values is a set.
- A bare, `and` or `or` list is a set, unless it has dots (then it is ordered); `\pm` stands for two values.
- A chain `a = b = c` means its last member, for the name on its left where there is one; what follows an
  approximation sign is dropped.
- Inequalities, memberships and builders in one variable are regions of the real line (`Bounds` until they are solved).
- `k \in \mathbb{Z}` beside something else only says what k is, and is dropped.
Not covered: systems of inequalities in several variables.
Easy to break: a pair in round brackets is a tuple until it is compared with a region.
"""

from __future__ import annotations

from typing import NamedTuple

from steelyard.parsing.latex_tree import Node, const, has, neg, num, replace, symbols
from steelyard.parsing.latex_words import FUNCTIONS


class Value(NamedTuple):
    """One thing: a scalar, tuple, interval, matrix, ratio or words."""

    node: Node


class Finite(NamedTuple):
    """A set of things."""

    items: tuple[Node, ...]


class Ordered(NamedTuple):
    """A list in which order counts."""

    items: tuple[Node, ...]


class Assigned(NamedTuple):
    """A name and what it equals; `relation` is the equation itself. A function's name does not count."""

    name: str
    meaning: Meaning
    relation: Node
    function: bool = False


class Named(NamedTuple):
    """Several names with one value each, in the order of the names."""

    values: dict[str, Node]


class Bounds(NamedTuple):
    """Relations in one variable that are joined by `and` or `or` (or a comma); they describe a region."""

    name: str
    parts: tuple[Node, ...]
    joined: str


class Equation(NamedTuple):
    """A relation that is not solved for a name: left, sign, right."""

    left: Node
    sign: str
    right: Node


class System(NamedTuple):
    """Several relations that hold together."""

    parts: tuple[Node, ...]


Meaning = Value | Finite | Ordered | Assigned | Named | Bounds | Equation | System

_SETS = frozenset("RZNQC")
_ORDER = frozenset(("<", ">", "<=", ">=", "!=", "in"))
DOTS = const("dots")


def meaning_of(node: Node) -> Meaning:
    """What a tree means."""
    if node.op == "list":
        return _list(node)
    if node.op == "rel":
        return _relation(node)
    if node.op in ("set", "pm", "mp") or (
        node.op not in ("tuple", "interval", "union", "inter", "minus", "builder", "matrix") and has(node, "pm", "mp")
    ):
        items = node.args if node.op == "set" else (node,)
        if node.op == "set" and any(a.op == "rel" for a in items):
            return _list(Node("list", items, ","))
        return Finite(tuple(v for item in items for v in variants(item)))
    return Value(node)


def variants(node: Node) -> tuple[Node, ...]:
    """A thing without its plus-minus signs: itself, or the upper and the lower reading."""
    if not has(node, "pm", "mp"):
        return (node,)

    def reading(upper: bool) -> Node:
        def change(n: Node) -> Node | None:
            if n.op not in ("pm", "mp"):
                return None
            inner = replace(n.args[0], change)
            return inner if (n.op == "pm") == upper else neg(inner)

        return replace(node, change)

    return reading(True), reading(False)


def _is_domain(node: Node) -> bool:
    r"""`k \in \mathbb{Z}`."""
    return (
        node.op == "rel"
        and node.value == "in"
        and node.args[0].op == "sym"
        and node.args[1].op == "const"
        and node.args[1].value in _SETS
    )


def _list(node: Node) -> Meaning:
    parts = tuple(p for p in node.args if not _is_domain(p)) or node.args
    if len(parts) == 1:
        return meaning_of(parts[0])
    if DOTS in parts or any(p.op == "rel" and DOTS in p.args for p in parts):
        return Ordered(parts)
    meanings = [meaning_of(p) for p in parts]
    if isinstance(meanings[0], Assigned) and all(isinstance(m, (Value, Finite)) for m in meanings[1:]):
        first = meanings[0]
        items = [i for m in (first.meaning, *meanings[1:]) for i in things(m)]
        return first._replace(meaning=Finite(tuple(items)), relation=num(0))
    if all(isinstance(m, Assigned) for m in meanings):
        return _assignments([m for m in meanings if isinstance(m, Assigned)], str(node.value), parts)
    if all(isinstance(m, (Value, Finite)) for m in meanings):
        return Finite(tuple(i for m in meanings for i in things(m)))
    names = {n for p in parts for n in symbols(p)}
    if len(names) == 1 and all(isinstance(m, (Bounds, Assigned, Equation)) for m in meanings):
        return Bounds(names.pop(), parts, str(node.value))
    return System(parts)


def things(meaning: Meaning) -> tuple[Node, ...]:
    """The elements of a value or a set."""
    if isinstance(meaning, Value):
        return (meaning.node,)
    return meaning.items if isinstance(meaning, (Finite, Ordered)) else ()


def _assignments(found: list[Assigned], joined: str, parts: tuple[Node, ...]) -> Meaning:
    names = [a.name for a in found]
    if len(set(names)) == 1:
        items = tuple(i for a in found for i in things(a.meaning))
        return Assigned(names[0], Finite(items), num(0), found[0].function)
    values = {a.name: things(a.meaning) for a in found}
    if len(set(names)) == len(names) and joined != "or" and all(len(v) == 1 for v in values.values()):
        return Named({name: values[name][0] for name in sorted(values)})
    return System(parts)


def _relation(node: Node) -> Meaning:
    signs = str(node.value).split()
    members = node.args
    if "~" in signs:
        cut = signs.index("~")
        members, signs = (
            (members[: cut + 1], signs[:cut])
            if cut or members[0].op not in ("sym", "words")
            else (members, ["="] * len(signs))
        )
        if not signs:
            return meaning_of(members[0])
    if set(signs) == {"="}:
        return _equation(members)
    if signs == ["in"]:
        return _membership(node, members)
    names = symbols(node)
    if len(names) == 1 and set(signs) <= _ORDER - {"in"} | {"="}:
        return Bounds(next(iter(names)), tuple(Node("rel", members[n : n + 2], s) for n, s in enumerate(signs)), "and")
    if len(signs) == 1:
        return Equation(members[0], signs[0], members[1])
    return System(tuple(Node("rel", members[n : n + 2], s) for n, s in enumerate(signs)))


def _membership(node: Node, members: tuple[Node, ...]) -> Meaning:
    left, right = members
    if left.op == "sym" and right.op in ("set", "interval", "tuple", "union", "inter", "minus", "const", "builder"):
        return Assigned(str(left.value), meaning_of(right), node)
    return System((node,))


def _function_name(node: Node) -> str:
    """`f` of `f(x)` on the left of an equation, else nothing."""
    known = node.op == "fn" and node.args and all(a.op == "sym" for a in node.args) and node.value not in FUNCTIONS
    return str(node.value) if known else ""


def _equation(members: tuple[Node, ...]) -> Meaning:
    first, last = members[0], members[-1]
    relation = Node("add", (first, neg(members[1])))
    rest = set().union(*(symbols(m) for m in members[1:]))
    if first.op in ("sym", "words") and str(first.value) not in rest:
        return Assigned(str(first.value), meaning_of(last), relation)
    if (
        first.op == "tuple"
        and all(a.op == "sym" for a in first.args)
        and last.op == "tuple"
        and len(last.args) == len(first.args)
    ):
        values = dict(zip((str(a.value) for a in first.args), last.args, strict=True))
        return Named({name: values[name] for name in sorted(values)})
    if last.op == "sym" and len(members) == 2 and str(last.value) not in symbols(first):
        return Assigned(str(last.value), meaning_of(first), relation)
    if (name := _function_name(first)) and name not in rest:
        return Assigned(name, meaning_of(last), relation, function=True)
    if not symbols(last) and not any(symbols(m) for m in members):
        return meaning_of(last)
    if len(members) == 2 and not any(
        has(m, "pm", "mp", "tuple", "set", "interval", "matrix", "words") for m in members
    ):
        return Equation(first, "=", last)
    if len(members) > 2 and not symbols(last) - symbols(first):
        return meaning_of(last)
    return System((Node("rel", members, " ".join("=" * (len(members) - 1))),))
