"""Whether two mathematical statements say the same: value by value, set by set, relation by relation.

`same(a, b, ask)` is symmetric and three-valued; None means that neither the exact rules nor `ask` could tell.
A set of one thing is that thing. A column or row of a matrix is a tuple. A unit on one side only is dropped; units of
one dimension convert. Words equal words with the same letters, in any case.
Not covered: see `math_meaning` and `math_relations`.
Easy to break: symmetry. Every rule that looks at a pair of kinds is tried in both directions.
"""

from __future__ import annotations

from fractions import Fraction

from steelyard.parsing.latex_tree import SCALARS, Node, const, has, mul, num, sym, symbols
from steelyard.parsing.math_inequalities import solve_one
from steelyard.parsing.math_meaning import (
    Assigned,
    Bounds,
    Equation,
    Finite,
    Meaning,
    Named,
    Ordered,
    System,
    Value,
    meaning_of,
)
from steelyard.parsing.math_region_of import NoRegionError, is_region, region_of
from steelyard.parsing.math_regions import (
    same_region,
)
from steelyard.parsing.math_relations import product_of_roots, same_equation, standard
from steelyard.parsing.math_scalars import Ask, UnknownError, all3, any3, equal_scalars
from steelyard.parsing.math_units import factor_between

_MOST_ITEMS = 60


def same(a: Node, b: Node, ask: Ask) -> bool | None:
    """Whether two statements are the same."""
    if a == b:
        return True
    a, b = _without_units(a, b)
    if a == b:
        return True
    if "words" in (a.op, b.op):
        return _same_words(a, b, ask)
    try:
        return _same_meaning(meaning_of(a), meaning_of(b), ask)
    except UnknownError:
        return None


def _without_units(a: Node, b: Node) -> tuple[Node, Node]:
    """Both sides without their units; where both have one, the first is converted or keeps what cannot be."""
    left, right = _unit(a), _unit(b)
    if left and right:
        factor = factor_between(left, right)
        if factor is None:
            return Node("words", (), f"{left} is not {right}"), b
        return _scaled(_bare(a), factor), _bare(b)
    if left and _variable_product(a, b):
        return _as_product(a), b
    if right and _variable_product(b, a):
        return a, _as_product(b)
    return _bare(a), _bare(b)


def _unit(node: Node) -> str:
    if node.op == "unit":
        return str(node.value)
    if node.op in ("rel", "list") and node.args:
        return _unit(node.args[-1])
    return ""


def _bare(node: Node) -> Node:
    if node.op == "unit":
        return node.args[0]
    if node.op in ("rel", "list", "tuple", "set", "interval") and has(node, "unit"):
        return node._replace(args=tuple(_bare(x) for x in node.args))
    return node


def _scaled(node: Node, factor: Fraction) -> Node:
    if factor == 1:
        return node
    if node.op in ("rel", "list"):
        return node._replace(args=(*node.args[:-1], _scaled(node.args[-1], factor)))
    return mul(node, num(factor))


def _variable_product(node: Node, other: Node) -> bool:
    """Whether a one-letter `unit` is a variable of the other side."""
    return node.op == "unit" and len(str(node.value)) == 1 and str(node.value) in symbols(other)


def _as_product(node: Node) -> Node:
    return mul(node.args[0], sym(str(node.value)))


def _same_words(a: Node, b: Node, ask: Ask) -> bool | None:
    left, right = _word_text(a), _word_text(b)
    if left and left == right:
        return True
    for one, text in ((a, right), (b, left)):
        if (one == const("empty") and text in _NOTHING) or (one == const("R") and text in _ALL):
            return True
    if a.op == b.op == "words" and not (a.args and b.args):
        return False
    products = [x.args[0] if x.op == "words" and x.args else x for x in (a, b)]
    if any(p.op == "words" for p in products):
        return False
    return same(products[0], products[1], ask)


_NOTHING = frozenset(
    (
        "no solution",
        "no solutions",
        "no real solution",
        "no real solutions",
        "empty set",
        "the empty set",
        "none",
        "there is no solution",
    )
)
_ALL = frozenset(("all real numbers", "all reals", "all real values", "the real numbers", "real numbers"))


def _word_text(node: Node) -> str:
    if node.op == "words":
        return str(node.value)
    if node.op == "sym":
        return str(node.value).casefold()
    if node.op == "rel" and node.value == "=" and node.args[1].op == "words":
        return str(node.args[1].value)
    return {"e": "e", "i": "i"}.get(str(node.value), "") if node.op == "const" else ""


def _same_meaning(a: Meaning, b: Meaning, ask: Ask) -> bool | None:
    if isinstance(a, Assigned) and isinstance(b, Assigned):
        return _same_assigned(a, b, ask)
    if isinstance(a, Named) or isinstance(b, Named):
        return _same_named(a, b, ask)
    if isinstance(a, Ordered) or isinstance(b, Ordered):
        if type(a) is not type(b) or not isinstance(a, Ordered) or not isinstance(b, Ordered):
            return False
        return _in_order(a.items, b.items, ask)
    relations = _as_equation(a), _as_equation(b)
    if (isinstance(a, (Equation, Bounds)) or isinstance(b, (Equation, Bounds))) and relations[0] and relations[1]:
        return _same_relation(relations[0], relations[1], ask)
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Assigned) and isinstance(other, (Value, Finite)):
            return _same_meaning(one.meaning, other, ask)
    if isinstance(a, System) and isinstance(b, System):
        return _matched(a.parts, b.parts, ask)
    if is_region(a) or is_region(b):
        return _same_as_regions(a, b, ask)
    if isinstance(a, Value) and isinstance(b, Value):
        return _same_values(a.node, b.node, ask)
    if isinstance(a, (Value, Finite)) and isinstance(b, (Value, Finite)):
        return _matched(_items(a), _items(b), ask)
    return _same_as_system(a, b, ask)


def _same_as_system(a: Meaning, b: Meaning, ask: Ask) -> bool | None:
    """A system against a tuple (its variables in the order of their names); other kinds are never the same."""
    for one, other in ((a, b), (b, a)):
        if isinstance(one, System) and isinstance(other, Value) and other.node.op == "tuple":
            names = sorted(symbols(_system(one)))
            if len(names) == len(other.node.args):
                return _same_named(Named(dict(zip(names, other.node.args, strict=True))), one, ask)
    return False


def _items(meaning: Value | Finite) -> tuple[Node, ...]:
    return meaning.items if isinstance(meaning, Finite) else (meaning.node,)


def _same_assigned(a: Assigned, b: Assigned, ask: Ask) -> bool | None:
    if a.function and b.function and a.name.count("'") != b.name.count("'"):
        return False  # a derivative is not the function
    if a.name == b.name or a.function or b.function:
        return _same_meaning(a.meaning, b.meaning, ask)
    if num(0) in (a.relation, b.relation) or a.relation.op == "rel" or b.relation.op == "rel":
        return False
    if not symbols(a.relation) - {a.name} or has(a.relation, "pm", "mp") or has(b.relation, "pm", "mp"):
        return False
    return same_equation(a.relation, b.relation, ask)


def _same_named(a: Meaning, b: Meaning, ask: Ask) -> bool | None:
    for one, other in ((a, b), (b, a)):
        if not isinstance(one, Named):
            continue
        values = tuple(one.values.values())
        if isinstance(other, Named):
            return (
                False
                if list(one.values) != list(other.values)
                else _in_order(values, tuple(other.values.values()), ask)
            )
        if isinstance(other, Assigned):
            other = other.meaning
        if isinstance(other, Value) and other.node.op == "tuple":
            return _in_order(values, other.node.args, ask)
        if isinstance(other, Value) and other.node.op == "matrix":
            return _in_order(values, _vector(other.node), ask)
        if isinstance(other, System):
            return ask("relation", _joined(one), _system(other))
    return False


def _joined(named: Named) -> Node:
    return Node("list", tuple(Node("rel", (sym(n), v), "=") for n, v in named.values.items()), "and")


def _system(system: System) -> Node:
    return Node("list", system.parts, "and")


def _in_order(a: tuple[Node, ...], b: tuple[Node, ...], ask: Ask) -> bool | None:
    if len(a) != len(b):
        return False
    return all3(same(x, y, ask) for x, y in zip(a, b, strict=True))


def _matched(a: tuple[Node, ...], b: tuple[Node, ...], ask: Ask) -> bool | None:
    """Whether every element of each has its equal in the other."""
    if all(x.op == "num" for x in (*a, *b)):
        return {x.value for x in a} == {x.value for x in b}
    if len(a) > _MOST_ITEMS or len(b) > _MOST_ITEMS:
        raise UnknownError(f"a set of more than {_MOST_ITEMS} expressions")
    table = [[same(x, y, ask) for y in b] for x in a]
    rows = all3(any3(row) for row in table)
    return rows if rows is False else all3((rows, all3(any3(row[n] for row in table) for n in range(len(b)))))


def _same_values(a: Node, b: Node, ask: Ask) -> bool | None:
    if a.op in SCALARS and b.op in SCALARS:
        if _is_matrix_sum(a) or _is_matrix_sum(b):
            return _same_matrices(a, b, ask)
        if any(has(n, "tuple", "interval", "set", "list", "rel", "words", "unit") for n in (a, b)):
            return False
        return equal_scalars(a, b, ask)
    if a.op == b.op == "tuple":
        return _in_order(a.args, b.args, ask)
    if a.op == b.op == "ratio":
        return _same_ratio(a, b, ask)
    if "matrix" in (a.op, b.op) or _is_matrix_sum(a) or _is_matrix_sum(b):
        return _same_matrices(a, b, ask)
    return False


def _is_matrix_sum(node: Node) -> bool:
    return node.op in ("mul", "add", "neg", "div") and has(node, "matrix") and not has(node, "fn")


def _same_ratio(a: Node, b: Node, ask: Ask) -> bool | None:
    """Entry by entry; ratios that cannot be clock times may be scaled."""
    plain = _in_order(a.args, b.args, ask)
    if plain or len(a.args) != len(b.args) or (_is_clock(a) and _is_clock(b)):
        return plain
    lead = equal_scalars(b.args[0], num(0), ask)
    if lead is not False or equal_scalars(a.args[0], num(0), ask) is not False:
        return plain
    pairs = zip(a.args[1:], b.args[1:], strict=True)
    return all3(equal_scalars(mul(x, b.args[0]), mul(y, a.args[0]), ask) for x, y in pairs)


def _is_clock(node: Node) -> bool:
    """Whether a ratio may be a time of day: two digits after the colon, all below 60."""
    values = [x.value for x in node.args]
    return node.value == "clock" and all(isinstance(v, Fraction) and 0 <= v < 60 for v in values)


def _vector(node: Node) -> tuple[Node, ...]:
    """The entries of a matrix with one column or one row, else none."""
    rows = node.args
    if len(rows) == 1:
        return rows[0].args
    return tuple(r.args[0] for r in rows) if len(rows[0].args) == 1 else ()


def _same_matrices(a: Node, b: Node, ask: Ask) -> bool | None:
    for one, other in ((a, b), (b, a)):
        if one.op == "tuple":
            matrix = _worked_out(other)
            return _in_order(one.args, _vector(matrix), ask) if matrix else False
    left, right = _worked_out(a), _worked_out(b)
    if left is None or right is None or len(left.args) != len(right.args):
        return False
    return all3(_in_order(x.args, y.args, ask) for x, y in zip(left.args, right.args, strict=True))


def _worked_out(node: Node) -> Node | None:
    """A matrix, or a sum or multiple of matrices, as one matrix."""
    if node.op == "matrix":
        return node
    if node.op == "neg":
        return _multiple(num(-1), _worked_out(node.args[0]))
    if node.op == "div":
        return _multiple(Node("div", (num(1), node.args[1])), _worked_out(node.args[0]))
    if node.op == "mul":
        inner = [x for x in node.args if has(x, "matrix")]
        return (
            _multiple(mul(*(x for x in node.args if x not in inner), num(1)), _worked_out(inner[0]))
            if len(inner) == 1
            else None
        )
    if node.op == "add":
        parts = [_worked_out(x) for x in node.args]
        first = parts[0]
        if first is None or any(p is None or _shape(p) != _shape(first) for p in parts):
            return None
        known = [p for p in parts if p]
        rows = zip(*(p.args for p in known), strict=True)
        return Node(
            "matrix",
            tuple(
                Node("row", tuple(Node("add", entry) for entry in zip(*(r.args for r in row), strict=True)))
                for row in rows
            ),
        )
    return None


def _shape(matrix: Node) -> tuple[int, int]:
    return len(matrix.args), len(matrix.args[0].args)


def _multiple(factor: Node, matrix: Node | None) -> Node | None:
    if matrix is None:
        return None
    return Node("matrix", tuple(r._replace(args=tuple(mul(factor, x) for x in r.args)) for r in matrix.args))


def _as_equation(meaning: Meaning) -> Equation | None:
    """The one relation that a statement is, where it is one."""
    if isinstance(meaning, Equation):
        return meaning
    if isinstance(meaning, Bounds) and len(meaning.parts) == 1 and len(str(meaning.parts[0].value).split()) == 1:
        part = meaning.parts[0]
        return Equation(part.args[0], str(part.value), part.args[1])
    if isinstance(meaning, Assigned):
        if isinstance(meaning.meaning, Finite) and len(meaning.meaning.items) <= _MOST_ITEMS:
            return Equation(product_of_roots(meaning.name, meaning.meaning.items), "=", num(0))
        if meaning.relation.op != "rel" and isinstance(meaning.meaning, Value) and meaning.relation != num(0):
            return Equation(meaning.relation, "=", num(0))
    return None


def _same_relation(a: Equation, b: Equation, ask: Ask) -> bool | None:
    left, sign = standard(a.left, a.sign, a.right)
    right, other = standard(b.left, b.sign, b.right)
    if any(has(n, "matrix", "tuple", "set", "words", "interval", "ratio") for n in (left, right)):
        return all3((same(a.left, b.left, ask), same(a.right, b.right, ask))) if a.sign == b.sign else False
    if sign != other:
        return False
    found = same_equation(left, right, ask, sign)
    if found is not None or sign in ("=", "!="):
        return found
    names = symbols(left)
    if len(names) == 1:
        return _inequalities(a, b, names.pop(), ask)
    return ask("relation", Node("rel", (a.left, a.right), a.sign), Node("rel", (b.left, b.right), b.sign))


def _inequalities(a: Equation, b: Equation, name: str, ask: Ask) -> bool | None:
    try:
        regions = [solve_one(r.left, r.sign, r.right, name, ask) for r in (a, b)]
        return same_region(regions[0], regions[1], ask)
    except UnknownError:
        return ask("relation", Node("rel", (a.left, a.right), a.sign), Node("rel", (b.left, b.right), b.sign))


def _same_as_regions(a: Meaning, b: Meaning, ask: Ask) -> bool | None:
    names = _name_of(a), _name_of(b)
    if names[0] and names[1] and names[0] != names[1]:
        return False
    try:
        left, right = region_of(a, ask), region_of(b, ask)
    except NoRegionError:
        return False
    except UnknownError:
        return ask("region", _node_of(a), _node_of(b))
    return same_region(left, right, ask)


def _name_of(meaning: Meaning) -> str:
    return meaning.name if isinstance(meaning, (Assigned, Bounds)) else ""


def _node_of(meaning: Meaning) -> Node:
    """A statement about one variable as a tree again, for `ask`."""
    if isinstance(meaning, Assigned):
        return _node_of(meaning.meaning)
    if isinstance(meaning, Bounds):
        return Node("list", meaning.parts, "or" if meaning.joined == "or" else "and")
    return (
        Node("set", meaning.items)
        if isinstance(meaning, Finite)
        else meaning.node
        if isinstance(meaning, Value)
        else num(0)
    )
