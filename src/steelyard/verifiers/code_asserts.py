"""Turns the assertions of a test into calls to make inside a sandbox and an expression to work out outside of it.

`assert candidate([1, 2], 0.3) == True` becomes the call `candidate([1, 2], 0.3)` and a check of what it returned; the
expected value never enters the process of the program. Understood are literals, arithmetic, comparisons, `and`, `or`,
`not`, indexing, conditional expressions, the builtins in `_FUNCTIONS` and the functions of `math`; `==` and `!=` go by
the rules of `code_values`. HumanEval's `check(candidate)` with assertions alone is understood whole.
Not covered: loops, assignments, random inputs, helpers of the program: such a test is run as it stands, inside, which
is weaker and is said so.
Easy to break: an argument that is worked out from another call's result, which no sandbox is asked for.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from steelyard.errors import InputError
from steelyard.verifiers.code_values import Rules, same

Place = tuple[int, int, int | None, int | None]
Call = tuple[tuple[Any, ...], dict[str, Any]]
_MOST = 1_000_000  # items or bits that an author's arithmetic may make
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        *(abs, all, any, bool, chr, dict, enumerate, float, frozenset, int, isinstance, len, list, max, min, ord),
        *(range, reversed, round, set, sorted, str, sum, tuple, zip),
    )
}
_TYPES = {"bool": bool, "int": int, "float": float, "str": str, "list": list, "tuple": tuple, "dict": dict, "set": set}
_UNBOUNDED = ("factorial", "comb", "perm")
_MATH = {name: value for name, value in vars(math).items() if not name.startswith("_") and name not in _UNBOUNDED}
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


class Assertion(msgspec.Struct, frozen=True):
    """The calls that one assertion needs, in its order, and the expression over what they return."""

    calls: list[Call]
    expression: Any
    positions: dict[Place, int]
    text: str


class _UnsupportedError(Exception):
    """Something that is not worked out outside."""


def assertions_of(program: str, entry_point: str) -> list[Assertion] | None:
    """The assertions of a test, or None where it does more than assert; InputError when it is no Python.

    A test is a list of assertions, or a function `check(candidate)` that holds nothing else.
    """
    try:
        body = ast.parse(program).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"the tests are no Python: {error}") from error
    names = {entry_point}
    checks = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == "check"]
    if len(checks) == 1 and len(checks[0].args.args) == 1:
        if not all(node is checks[0] or _is_idle(node) or _calls_check(node) for node in body):
            return None
        names.add(checks[0].args.args[0].arg)
        body = checks[0].body
    try:
        found = [_assertion(node, names) for node in body if not _is_idle(node)]
    except (_UnsupportedError, ArithmeticError, ValueError, TypeError, LookupError, RecursionError):
        return None
    return [assertion for assertion in found if assertion is not None]


def _is_idle(node: ast.stmt) -> bool:
    """Statements that decide nothing: docstrings, `pass`, `import math`, constants such as METADATA."""
    if isinstance(node, ast.Import):
        return all(alias.name == "math" and alias.asname is None for alias in node.names)
    if isinstance(node, ast.Assign):
        return [t.id for t in node.targets if isinstance(t, ast.Name)] == ["METADATA"]
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _calls_check(node: ast.stmt) -> bool:
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "check"


def _assertion(node: ast.stmt, names: set[str]) -> Assertion | None:
    """One assertion; None for one that calls nothing and holds."""
    if not isinstance(node, ast.Assert):
        raise _UnsupportedError
    calls: list[Call] = []
    positions: dict[Place, int] = {}
    outside = _Reckoner({}, Rules(), names)
    for inner in ast.walk(node.test):
        if isinstance(inner, ast.Call) and _name(inner.func) in names:
            keywords = {word.arg: outside.value(word.value) for word in inner.keywords if word.arg is not None}
            if len(keywords) != len(inner.keywords):
                raise _UnsupportedError
            positions[_place(inner)] = len(calls)
            calls.append((tuple(outside.value(argument) for argument in inner.args), keywords))
    if not calls:
        if not outside.value(node.test):
            raise _UnsupportedError
        return None
    _Reckoner(dict.fromkeys(positions), Rules(), names).look(node.test)
    return Assertion(calls, node.test, positions, ast.unparse(node.test))


def holds(assertion: Assertion, values: list[Any], rules: Rules, entry_point: str) -> bool:
    """Whether an assertion holds for what its calls returned; what cannot be worked out does not hold."""
    known = {place: values[index] for place, index in assertion.positions.items()}
    try:
        return bool(_Reckoner(known, rules, {entry_point}).value(assertion.expression))
    except (_UnsupportedError, ArithmeticError, ValueError, TypeError, LookupError, RecursionError):
        return False


def _place(node: ast.expr) -> Place:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_name(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


class _Reckoner:
    """Works out an author's expression over known values; knows nothing that could reach beyond them."""

    def __init__(self, known: Mapping[Place, Any], rules: Rules, names: set[str]) -> None:
        self._known, self._rules, self._names = known, rules, names

    def look(self, node: ast.expr) -> None:
        """Raise _UnsupportedError for an expression that `value` would not work out, whatever the values."""
        for inner in ast.walk(node):
            if isinstance(inner, ast.Call) and _place(inner) not in self._known:
                name = _name(inner.func)
                if name not in _FUNCTIONS and name.removeprefix("math.") not in _MATH:
                    raise _UnsupportedError
            elif not isinstance(inner, _KNOWN_NODES):
                raise _UnsupportedError

    def value(self, node: ast.expr) -> Any:
        """The value of an expression."""
        if isinstance(node, ast.Call) and _place(node) in self._known:
            return self._known[_place(node)]
        method = getattr(self, f"_{type(node).__name__}", None)
        if method is None:
            raise _UnsupportedError
        return method(node)

    def _Constant(self, node: ast.Constant) -> Any:  # noqa: N802  named after the node
        return node.value

    def _Name(self, node: ast.Name) -> Any:  # noqa: N802
        if node.id in _TYPES:
            return _TYPES[node.id]
        raise _UnsupportedError

    def _Attribute(self, node: ast.Attribute) -> Any:  # noqa: N802
        name = _name(node)
        if name.startswith("math.") and isinstance(_MATH.get(name[5:]), float):
            return _MATH[name[5:]]
        raise _UnsupportedError

    def _List(self, node: ast.List) -> Any:  # noqa: N802
        return [self.value(part) for part in node.elts]

    def _Tuple(self, node: ast.Tuple) -> Any:  # noqa: N802
        return tuple(self.value(part) for part in node.elts)

    def _Set(self, node: ast.Set) -> Any:  # noqa: N802
        return {self.value(part) for part in node.elts}

    def _Dict(self, node: ast.Dict) -> Any:  # noqa: N802
        if None in node.keys:
            raise _UnsupportedError
        return {self.value(k): self.value(v) for k, v in zip(node.keys, node.values, strict=True) if k is not None}

    def _UnaryOp(self, node: ast.UnaryOp) -> Any:  # noqa: N802
        return _UNARY[type(node.op)](self.value(node.operand))

    def _BinOp(self, node: ast.BinOp) -> Any:  # noqa: N802
        left, right = self.value(node.left), self.value(node.right)
        if type(node.op) not in _BINARY or _is_unbounded(node.op, left, right):
            raise _UnsupportedError
        return _BINARY[type(node.op)](left, right)

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
            if not self._holds(op, left, right, right_node):
                return False
            left = right
        return True

    def _holds(self, op: ast.cmpop, left: Any, right: Any, right_node: ast.expr) -> bool:
        if isinstance(op, ast.Eq | ast.NotEq):
            return same(left, right, self._rules) is isinstance(op, ast.Eq)
        if isinstance(op, ast.Is | ast.IsNot):
            if not (isinstance(right_node, ast.Constant) and right in (None, True, False)):
                raise _UnsupportedError
            return (left is right) is isinstance(op, ast.Is)
        return bool(_COMPARE[type(op)](left, right))

    def _Call(self, node: ast.Call) -> Any:  # noqa: N802
        name = _name(node.func)
        bare = name.removeprefix("math.")
        function = _FUNCTIONS.get(name) or (_MATH.get(bare) if name != bare else None)
        if not callable(function):
            raise _UnsupportedError
        words = {word.arg: self.value(word.value) for word in node.keywords if word.arg is not None}
        arguments = [self.value(argument) for argument in node.args]
        if function is range and len(range(*arguments)) > _MOST:
            raise _UnsupportedError
        return function(*arguments, **words)


_KNOWN_NODES = (
    *(
        ast.Constant,
        ast.Name,
        ast.Attribute,
        ast.List,
        ast.Tuple,
        ast.Set,
        ast.Dict,
        ast.UnaryOp,
        ast.BinOp,
        ast.BoolOp,
    ),
    *(ast.IfExp, ast.Subscript, ast.Slice, ast.Compare, ast.Call, ast.keyword, ast.expr_context, ast.operator),
    *(ast.unaryop, ast.boolop, ast.cmpop),
)


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
