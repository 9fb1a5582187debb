"""Works out the expressions of a test over known values, outside of any sandbox; never by `eval`.

Understood are literals, names that are bound, arithmetic, comparisons, `and`, `or`, `not`, indexing, conditional
expressions, comprehensions, lambdas, the builtins in `_FUNCTIONS`, the functions of `math`, and the methods in
`_METHODS` of texts, lists and dicts; `==` and `!=` go by the rules of `code_values`.
Not covered: anything else; `check_supported` says so before a value is known.
Easy to break: work that grows with a value which a program chose. Every node counts as a step, and steps are bounded.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from steelyard.verifiers.code_values import Rules, same

_MOST = 1_000_000  # items or bits that arithmetic may make
_STEPS = 3_000_000  # nodes that are worked out for one expression, or for one whole test
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        *(abs, all, any, bool, chr, dict, divmod, enumerate, filter, float, frozenset, int, isinstance, len, list, map),
        *(max, min, ord, pow, range, reversed, round, set, sorted, str, sum, tuple, zip),
    )
}


def _type_of(value: object) -> type:
    return type(value)


_FUNCTIONS["type"] = _type_of
_VALUES: dict[str, Any] = {
    f.__name__: f
    for f in (
        *(abs, bool, chr, dict, float, frozenset, int, len, list, max, min, ord, set, sorted, str, sum, tuple),
        *(bytes, complex, object),
    )
}
"""Names of functions and types that are values themselves: `key=len`, `isinstance(x, int)`."""
_LAZY = (zip, enumerate, reversed, map, filter)
_METHODS: dict[type, frozenset[str]] = {
    str: frozenset(
        (
            *("count", "endswith", "find", "index", "isalpha", "isdigit", "islower", "isupper", "join", "lower"),
            *("lstrip", "rstrip", "split", "splitlines", "startswith", "strip", "title", "upper"),
        )
    ),
    list: frozenset(("copy", "count", "index")),
    tuple: frozenset(("count", "index")),
    dict: frozenset(("copy", "get", "items", "keys", "values")),
    set: frozenset(("copy", "isdisjoint", "issubset", "issuperset", "union", "intersection", "difference")),
}
_ALL_METHODS = frozenset().union(*_METHODS.values())
_UNBOUNDED = ("factorial", "comb", "perm")
MATH = {name: value for name, value in vars(math).items() if not name.startswith("_") and name not in _UNBOUNDED}
"""The functions and constants of `math` that may be used."""
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.RShift: operator.rshift,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.Not: operator.not_,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda x, y: x in y,
    ast.NotIn: lambda x, y: x not in y,
}
_PLAIN_NODES = (
    *(ast.Attribute, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.BoolOp, ast.IfExp, ast.Subscript),
    *(ast.Slice, ast.keyword, ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.Constant),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension, ast.Lambda, ast.arguments, ast.arg),
    ast.Starred,
)


class UnsupportedError(Exception):
    """Something that is not worked out outside."""


FAULTS = (UnsupportedError, ArithmeticError, ValueError, TypeError, LookupError, RecursionError, AttributeError)
"""What working out an expression may raise; nothing of it is a fault of this module."""


def name_of(node: ast.AST) -> str:
    """The dotted name of a node, `f`, `math.pi` or `Solution().f`; empty where it has none."""
    if isinstance(node, ast.Attribute):
        owner = name_of(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    if isinstance(node, ast.Call) and not node.args and not node.keywords:
        owner = name_of(node.func)
        return f"{owner}()" if owner else ""
    return node.id if isinstance(node, ast.Name) else ""


def check_supported(node: ast.AST, bound: Iterable[str]) -> None:
    """Raise UnsupportedError for an expression that would not be worked out, whatever the values of `bound` names."""
    inner = list(ast.walk(node))
    known = {*bound, *(n.id for n in inner if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))}
    known |= {n.arg for n in inner if isinstance(n, ast.arg)}
    called = {id(n.func) for n in inner if isinstance(n, ast.Call)}
    for one in inner:
        if isinstance(one, ast.Name):
            fine = one.id in known or one.id in _VALUES or id(one) in called or one.id in ("math", "copy")
        elif isinstance(one, ast.Call):
            fine = _is_known_call(one, known)
        elif isinstance(one, ast.BinOp):
            fine = type(one.op) in _BINARY
        elif isinstance(one, ast.Compare):
            fine = all(_is_known_comparison(op, right) for op, right in zip(one.ops, one.comparators, strict=True))
        elif isinstance(one, ast.Attribute):
            fine = id(one) in called or (name_of(one).startswith("math.") and one.attr in MATH)
        else:
            fine = isinstance(one, _PLAIN_NODES)
        if not fine:
            raise UnsupportedError


def _is_known_call(node: ast.Call, bound: set[str]) -> bool:
    name = name_of(node.func)
    if name in bound:
        return False
    if name in _FUNCTIONS or name.removeprefix("math.") in MATH or name in _COPIES:
        return True
    return isinstance(node.func, ast.Attribute) and node.func.attr in _ALL_METHODS


def _is_known_comparison(op: ast.cmpop, right: ast.expr) -> bool:
    if not isinstance(op, ast.Is | ast.IsNot):
        return True
    if isinstance(right, ast.Name):
        return right.id in _VALUES
    return isinstance(right, ast.Constant) and (right.value is None or isinstance(right.value, bool))


_COPIES = frozenset(("copy.copy", "copy.deepcopy", "deepcopy"))
"""Values are never changed here, so a copy is the value itself."""


class Steps:
    """How much work is left."""

    def __init__(self, left: int = _STEPS) -> None:
        self._left = left

    def take(self, count: int = 1) -> None:
        """Use up steps; UnsupportedError when there are none left."""
        self._left -= count
        if self._left < 0:
            raise UnsupportedError("too much work")


class Reckoner:
    """Works out an author's expression over known values; knows nothing that could reach beyond them.

    Without `rules` equality is Python's own, as between values of an author alone.
    """

    def __init__(self, known: Mapping[str, Any], rules: Rules | None, steps: Steps | None = None) -> None:
        self._known, self._rules, self._steps = known, rules, steps or Steps()

    def value(self, node: ast.AST) -> Any:
        """The value of an expression; raises one of FAULTS where it has none here."""
        if isinstance(node, ast.Constant):
            return node.value
        self._steps.take()
        method = getattr(self, f"_{type(node).__name__}", None)
        if method is None:
            raise UnsupportedError
        return method(node)

    def _with(self, names: Mapping[str, Any]) -> Reckoner:
        return Reckoner({**self._known, **names}, self._rules, self._steps)

    def _Name(self, node: ast.Name) -> Any:  # noqa: N802  named after the node
        if node.id in self._known:
            return self._known[node.id]
        if node.id in _VALUES:
            return _VALUES[node.id]
        raise UnsupportedError(node.id)

    def _Attribute(self, node: ast.Attribute) -> Any:  # noqa: N802
        name = name_of(node)
        if name.startswith("math.") and isinstance(MATH.get(name[5:]), float):
            return MATH[name[5:]]
        raise UnsupportedError

    def _parts(self, nodes: list[ast.expr]) -> list[Any]:
        if len(nodes) > 1:
            self._steps.take(len(nodes))
        found: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                found += bounded(self.value(node.value))
            else:
                found.append(self.value(node))
        return found

    def _List(self, node: ast.List) -> Any:  # noqa: N802
        return self._parts(node.elts)

    def _Tuple(self, node: ast.Tuple) -> Any:  # noqa: N802
        return tuple(self._parts(node.elts))

    def _Set(self, node: ast.Set) -> Any:  # noqa: N802
        return set(self._parts(node.elts))

    def _Dict(self, node: ast.Dict) -> Any:  # noqa: N802
        if None in node.keys:
            raise UnsupportedError
        return {self.value(k): self.value(v) for k, v in zip(node.keys, node.values, strict=True) if k is not None}

    def _UnaryOp(self, node: ast.UnaryOp) -> Any:  # noqa: N802
        return _UNARY[type(node.op)](self.value(node.operand))

    def _BinOp(self, node: ast.BinOp) -> Any:  # noqa: N802
        return combined(node.op, self.value(node.left), self.value(node.right))

    def _BoolOp(self, node: ast.BoolOp) -> Any:  # noqa: N802
        value: Any = None
        for part in node.values:
            value = self.value(part)
            if bool(value) is isinstance(node.op, ast.Or):
                return value
        return value

    def _IfExp(self, node: ast.IfExp) -> Any:  # noqa: N802
        return self.value(node.body if self.value(node.test) else node.orelse)

    def _Subscript(self, node: ast.Subscript) -> Any:  # noqa: N802
        if isinstance(node.slice, ast.Slice):
            ends = [self.value(end) if end else None for end in (node.slice.lower, node.slice.upper, node.slice.step)]
            return self.value(node.value)[slice(*ends)]
        return self.value(node.value)[self.value(node.slice)]

    def _Compare(self, node: ast.Compare) -> bool:  # noqa: N802
        left = self.value(node.left)
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.value(right_node)
            if not self._holds(op, left, right):
                return False
            left = right
        return True

    def _holds(self, op: ast.cmpop, left: Any, right: Any) -> bool:
        if isinstance(op, ast.Eq | ast.NotEq):
            equal = bool(left == right) if self._rules is None else same(left, right, self._rules)
            return equal is isinstance(op, ast.Eq)
        if isinstance(op, ast.Is | ast.IsNot):
            return (left is right) is isinstance(op, ast.Is)
        return bool(_COMPARE[type(op)](left, right))

    def _Call(self, node: ast.Call) -> Any:  # noqa: N802
        function = self._function(node.func)
        words = {word.arg: self.value(word.value) for word in node.keywords if word.arg is not None}
        if len(words) != len(node.keywords):
            raise UnsupportedError
        arguments = self._parts(node.args)
        if function is range and len(range(*arguments)) > _MOST:
            raise UnsupportedError
        if function is pow and (len(arguments) != 3 or not all(isinstance(n, int) for n in arguments)):
            return combined(ast.Pow(), *arguments)
        self._steps.take(sum(len(part) for part in arguments if isinstance(part, list | tuple | set | dict)))
        value = function(*arguments, **words)
        return bounded(value) if isinstance(value, _LAZY) else value

    def _function(self, node: ast.expr) -> Callable[..., Any]:
        name = name_of(node)
        if name in _COPIES and name not in self._known:
            return lambda value: value
        bare = name.removeprefix("math.")
        if name in self._known:
            raise UnsupportedError
        function = _FUNCTIONS.get(name) or (MATH.get(bare) if name != bare else None)
        if function is None and isinstance(node, ast.Attribute):
            owner = self.value(node.value)
            if node.attr in _METHODS.get(type(owner), ()):
                function = getattr(owner, node.attr)
        if not callable(function):
            raise UnsupportedError
        return function

    def _Lambda(self, node: ast.Lambda) -> Any:  # noqa: N802
        names = [argument.arg for argument in node.args.args]
        if ast.unparse(node.args) != ", ".join(names):
            raise UnsupportedError
        return lambda *values: self._with(dict(zip(names, values, strict=True))).value(node.body)

    def _ListComp(self, node: ast.ListComp) -> Any:  # noqa: N802
        return [inner.value(node.elt) for inner in self.each(node.generators)]

    def _GeneratorExp(self, node: ast.GeneratorExp) -> Any:  # noqa: N802
        return [inner.value(node.elt) for inner in self.each(node.generators)]

    def _SetComp(self, node: ast.SetComp) -> Any:  # noqa: N802
        return {inner.value(node.elt) for inner in self.each(node.generators)}

    def _DictComp(self, node: ast.DictComp) -> Any:  # noqa: N802
        return {inner.value(node.key): inner.value(node.value) for inner in self.each(node.generators)}

    def each(self, generators: list[ast.comprehension]) -> Iterator[Reckoner]:
        """A reckoner for each round of a comprehension, with its names bound."""
        first, *rest = generators
        if first.is_async:
            raise UnsupportedError
        for item in bounded(self.value(first.iter)):
            inner = self._with(unpacked(first.target, item))
            if all(inner.value(test) for test in first.ifs):
                if rest:
                    yield from inner.each(rest)
                else:
                    yield inner


def bounded(items: Iterable[Any]) -> list[Any]:
    """The items as a list; UnsupportedError where there are too many."""
    found = []
    for item in items:
        found.append(item)
        if len(found) > _MOST:
            raise UnsupportedError("too many items")
    return found


def unpacked(target: ast.expr, value: Any) -> dict[str, Any]:
    """The names that assigning a value to a target binds; UnsupportedError for attributes, items and stars."""
    if isinstance(target, ast.Name):
        return {target.id: value}
    if not isinstance(target, ast.Tuple | ast.List):
        raise UnsupportedError
    found: dict[str, Any] = {}
    for part, item in zip(target.elts, bounded(value), strict=True):
        found |= unpacked(part, item)
    return found


def combined(op: ast.operator, left: Any, right: Any) -> Any:
    """What a binary operator gives; UnsupportedError where it could take more than it is worth."""
    if type(op) not in _BINARY or _is_unbounded(op, left, right):
        raise UnsupportedError
    return _BINARY[type(op)](left, right)


def _is_unbounded(op: ast.operator, left: Any, right: Any) -> bool:
    """Whether an operation on values that a program chose could take more than it is worth."""
    if isinstance(op, ast.Mod):
        return not isinstance(left, int | float)
    if isinstance(op, ast.Pow) and isinstance(left, int) and isinstance(right, int):
        return abs(right) * max(1, abs(left).bit_length()) > _MOST
    if isinstance(op, ast.Mult):
        sizes = [len(side) for side in (left, right) if isinstance(side, str | bytes | list | tuple)]
        factors = [abs(side) for side in (left, right) if isinstance(side, int)]
        return bool(sizes and factors) and sizes[0] * factors[0] > _MOST
    return False
