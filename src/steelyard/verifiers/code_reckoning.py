"""Works out the expressions of a test over known values, outside of any sandbox; never by `eval`.

Understood are literals, names that are bound, arithmetic, comparisons, `and`, `or`, `not`, indexing, conditional
expressions, comprehensions, lambdas, the builtins in `_FUNCTIONS`, the functions of `math`, and the methods in
`_METHODS` of builtin values; `==`, `!=`, `in` and `not in` go by the rules of `code_values`.
Not covered: anything else; `check_supported` says so before a value is known, and whatever it lets through has the
value that it has in Python, or raises what Python raises, but for work without a bound.
Easy to break: work that grows with a value which a program chose. Every node counts as a step, and steps are bounded.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from steelyard.verifiers.code_values import Rules, same
from steelyard.verifiers.code_work import (
    BINARY,
    MOST,
    Steps,
    UnsupportedError,
    bounded,
    check_joined,
    combined,
    unpacked,
    walk,
)

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
_ALL_METHODS = frozenset(
    (
        *("count", "endswith", "find", "index", "isalnum", "isalpha", "isdigit", "islower", "isspace", "isupper"),
        *("join", "lower", "lstrip", "rstrip", "split", "splitlines", "startswith", "strip", "title", "upper"),
        *("copy", "get", "items", "keys", "values"),
        *("isdisjoint", "issubset", "issuperset", "union", "intersection", "difference", "symmetric_difference"),
    )
)
_METHODS: dict[type, frozenset[str]] = {
    kind: _ALL_METHODS & set(dir(kind)) for kind in (str, bytes, list, tuple, range, dict, set, frozenset)
}
"""None of them changes what it is called on."""
_UNBOUNDED = ("factorial", "comb", "perm")
MATH = {name: value for name, value in vars(math).items() if not name.startswith("_") and name not in _UNBOUNDED}
"""The functions and constants of `math` that may be used."""
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
}
_PLAIN_NODES = (
    *(ast.Attribute, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.BoolOp, ast.IfExp, ast.Subscript),
    *(ast.Slice, ast.keyword, ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.Constant),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension, ast.Lambda, ast.arguments, ast.arg),
    ast.Starred,
)


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
    inner = walk(node)
    known = {*bound, *(n.id for n in inner if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))}
    known |= {n.arg for n in inner if isinstance(n, ast.arg)}
    called = {id(n.func) for n in inner if isinstance(n, ast.Call)}
    modules = {id(n.value) for n in inner if isinstance(n, ast.Attribute)}
    slices = {id(n.slice) for n in inner if isinstance(n, ast.Subscript)}
    for one in inner:
        if isinstance(one, ast.Name):
            is_module = one.id in ("math", "copy") and id(one) in modules
            fine = one.id in known or one.id in _VALUES or id(one) in called or is_module
        elif isinstance(one, ast.Call):
            fine = _is_known_call(one, known)
        elif isinstance(one, ast.Slice):
            fine = id(one) in slices
        elif isinstance(one, ast.Lambda):
            fine = ast.unparse(one.args) == ", ".join(argument.arg for argument in one.args.args)
        elif isinstance(one, ast.comprehension):
            fine = not one.is_async and _is_plain_target(one.target)
        elif isinstance(one, ast.BinOp):
            fine = type(one.op) in BINARY
        elif isinstance(one, ast.Compare):
            fine = all(_is_known_comparison(op, right) for op, right in zip(one.ops, one.comparators, strict=True))
        elif isinstance(one, ast.Attribute):
            fine = id(one) in called or isinstance(MATH.get(name_of(one).removeprefix("math.")), float)
        else:
            fine = isinstance(one, _PLAIN_NODES)
        if not fine:
            raise UnsupportedError


def _is_known_call(node: ast.Call, bound: set[str]) -> bool:
    name = name_of(node.func)
    if name in bound or any(word.arg is None for word in node.keywords):
        return False
    if name in _FUNCTIONS or name in _COPIES or (name.startswith("math.") and callable(MATH.get(name[5:]))):
        return True
    if name.startswith("math."):
        return False
    return isinstance(node.func, ast.Attribute) and node.func.attr in _ALL_METHODS


def _is_plain_target(target: ast.expr) -> bool:
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    return isinstance(target, ast.Name) or (bool(parts) and all(map(_is_plain_target, parts)))


def _is_known_comparison(op: ast.cmpop, right: ast.expr) -> bool:
    if not isinstance(op, ast.Is | ast.IsNot):
        return True
    if isinstance(right, ast.Name):
        return right.id in _VALUES
    return isinstance(right, ast.Constant) and (right.value is None or isinstance(right.value, bool))


_COPIES = frozenset(("copy.copy", "copy.deepcopy", "deepcopy"))
"""Values are never changed here, so a copy is the value itself."""


class Reckoner:
    """Works out an author's expression over known values; knows nothing that could reach beyond them.

    Without `rules` equality is Python's own, as between values of an author alone. With `is_lenient` values that
    Python calls equal are equal too, whatever the rules say.
    """

    def __init__(
        self, known: Mapping[str, Any], rules: Rules | None, steps: Steps | None = None, *, is_lenient: bool = False
    ) -> None:
        self._known, self._rules, self._steps, self._is_lenient = known, rules, steps or Steps(), is_lenient

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
        return Reckoner({**self._known, **names}, self._rules, self._steps, is_lenient=self._is_lenient)

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
        found: dict[Any, Any] = {}
        for key, part in zip(node.keys, node.values, strict=True):
            if key is None:  # `**part`
                found |= _mapping(self.value(part))
            else:
                found[self.value(key)] = self.value(part)
        return found

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
            return self._are_equal(left, right) is isinstance(op, ast.Eq)
        if isinstance(op, ast.In | ast.NotIn):
            return self._is_in(left, right) is isinstance(op, ast.In)
        if isinstance(op, ast.Is | ast.IsNot):
            return (left is right) is isinstance(op, ast.Is)
        return bool(_COMPARE[type(op)](left, right))

    def _are_equal(self, left: Any, right: Any) -> bool:
        if self._rules is None:
            return bool(left == right)
        return same(left, right, self._rules) or (self._is_lenient and bool(left == right))

    def _is_in(self, left: Any, right: Any) -> bool:
        """Whether a value is among others: equal to one of them, where they are no text."""
        found = left in right  # raises what Python raises
        if self._rules is None or isinstance(right, str | bytes) or (self._is_lenient and found):
            return found
        if not found and not self._rules.float_tol:
            return False
        if isinstance(right, range):
            return type(left) is int or self._rules.equal_numbers
        self._steps.take(len(right))
        return any(self._are_equal(left, one) for one in right)

    def _Call(self, node: ast.Call) -> Any:  # noqa: N802
        function = self._function(node.func)
        words = {word.arg: self.value(word.value) for word in node.keywords if word.arg is not None}
        if len(words) != len(node.keywords):
            raise UnsupportedError
        arguments = self._parts(node.args)
        if function is range and len(range(*arguments)) > MOST:
            raise UnsupportedError
        if function is pow and (len(arguments) != 3 or not all(isinstance(n, int) for n in arguments)):
            return combined(ast.Pow(), *arguments)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "join":
            check_joined(getattr(function, "__self__", ""), *arguments)
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


def _mapping(value: Any) -> dict[Any, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"a {type(value).__name__} is no mapping")
    return value
