"""The expression tree that answers in mathematical notation are read into.

A node has an `op`, children and, for leaves and named things, a value:
`num` (a Fraction), `sym`, `const` (pi, e, i, inf, dots, R, Z, N, Q, C), `neg add mul div pow root` (root: radicand and
degree), `pm mp` (plus-minus and its opposite), `fact abs`, `fn` (value = name), `deg`, `unit` (value = unit text),
`tuple set interval` (interval: value = its two brackets), `union inter minus`, `builder`, `matrix row`, `ratio`,
`rel` (value = relation signs, parted by blanks), `list` (value = `or`, `and` or `,`), `words` (value = text; its child,
where there is one, is the same letters read as a product).
Not covered: integrals, sums, limits, derivatives, piecewise definitions.
Easy to break: nodes are compared and hashed as tuples, so a value must be a Fraction or text, never a float.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import NamedTuple


class Unreadable(ValueError):  # noqa: N818  # a finding about a text, not a fault
    """A text is not mathematics that the reader knows, and why."""


class Node(NamedTuple):
    """One node of an expression tree."""

    op: str
    args: tuple[Node, ...] = ()
    value: Fraction | str = ""


SCALARS = frozenset(
    ("num", "sym", "const", "neg", "add", "mul", "div", "pow", "root", "fact", "abs", "fn", "deg", "pm", "mp")
)
"""The operations that make one number of numbers."""


def num(value: int | Fraction) -> Node:
    """A number."""
    return Node("num", (), Fraction(value))


def sym(name: str) -> Node:
    """A variable."""
    return Node("sym", (), name)


def const(name: str) -> Node:
    """A named constant."""
    return Node("const", (), name)


def neg(node: Node) -> Node:
    """The negative; of a number it is a number."""
    if node.op == "num" and isinstance(node.value, Fraction):
        return num(-node.value)
    return Node("neg", (node,))


def add(*nodes: Node) -> Node:
    """A sum."""
    return nodes[0] if len(nodes) == 1 else Node("add", nodes)


def mul(*nodes: Node) -> Node:
    """A product."""
    return nodes[0] if len(nodes) == 1 else Node("mul", nodes)


def fn(name: str, *nodes: Node) -> Node:
    """A function applied to arguments."""
    return Node("fn", nodes, name)


def walk(node: Node) -> Iterator[Node]:
    """Every node of a tree, without recursion."""
    pending = [node]
    while pending:
        found = pending.pop()
        yield found
        pending.extend(found.args)


def depth(node: Node) -> int:
    """How many nodes the longest way down has."""
    deepest, pending = 0, [(node, 1)]
    while pending:
        found, at = pending.pop()
        deepest = max(deepest, at)
        pending.extend((a, at + 1) for a in found.args)
    return deepest


def symbols(node: Node) -> set[str]:
    """Names of the variables in a tree."""
    return {str(n.value) for n in walk(node) if n.op == "sym"}


def has(node: Node, *ops: str) -> bool:
    """Whether a node of one of these kinds occurs."""
    return any(n.op in ops for n in walk(node))


def replace(node: Node, change: Callable[[Node], Node | None]) -> Node:
    """The tree with every node for which `change` gives another replaced, from the top down."""
    other = change(node)
    if other is not None:
        return other
    return node._replace(args=tuple(replace(a, change) for a in node.args)) if node.args else node


def put(node: Node, name: str, value: Node) -> Node:
    """The tree with a variable replaced."""
    return replace(node, lambda n: value if n.op == "sym" and n.value == name else None)
