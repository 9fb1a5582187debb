"""Takes the calls out of an expression of a test, and puts the values of names in.

What is left is an expression over results, named `$0`, `$1` and so on, which is worked out once they are known.
Where a call stands directly in a builtin such as `list` or `sum`, or its attribute, method or item is taken, that is
done inside as well, for only there is a generator or an object of the program's own what it is. The views of a dict
come out as sets where they are compared, else as lists.
Not covered: a call in a lambda, in another call's arguments, or in a comprehension over what a call returned.
Easy to break: sending inside what may tell what is expected, such as the argument of a comparing method.
"""

from __future__ import annotations

import ast
import copy
import marshal
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import msgspec

from steelyard.verifiers.code_reckoning import Reckoner, name_of
from steelyard.verifiers.code_work import FAULTS, Steps, UnsupportedError, bounded, unpacked, walk

_LEAVES = (ast.Constant, ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
_INSIDE = frozenset(
    (
        *("abs", "all", "any", "bool", "bytes", "complex", "dict", "float", "frozenset", "int", "len", "list", "max"),
        *("min", "next", "repr", "round", "set", "sorted", "str", "sum", "tuple"),
    )
)
"""Builtins that are called inside where they stand around a call."""
_TAKE_MORE = ("round", "int")
"""Those whose other arguments go inside too; `max(f(1), 7)` might tell what is expected."""
_VIEWS = (".keys", ".items", ".values")
_ITERATE = ("map", "filter", "enumerate", "join")
"""What only iterates: a call in its arguments is made a list inside."""


class Call(msgspec.Struct):
    """One call: its arguments, and what is done with its result inside, as (name, arguments, keywords).

    A name is a builtin, `.name` for an attribute, `()` for a call of that, or `[]` for an item.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    after: list[tuple[str, tuple[Any, ...], dict[str, Any]]]
    node: Any
    is_free: bool = True
    """Whether more may be done with its result: nothing else looks at it yet."""


class Later:
    """A name that stands for an expression over results of calls."""

    def __init__(self, expression: ast.expr, calls: dict[str, Call], *, is_read_once: bool) -> None:
        self.expression, self.calls, self.is_read_once = expression, dict(calls), is_read_once
        self.n_after = {name: len(call.after) for name, call in calls.items()}


class Names(Protocol):
    """What the names of a test stand for."""

    @property
    def env(self) -> Mapping[str, Any]:
        """The names that are bound."""

    @property
    def steps(self) -> Steps:
        """How much work is left."""

    def is_target(self, node: ast.expr) -> bool:
        """Whether a function is what is tested."""

    def alias(self, name: str) -> str:
        """What an imported name stands for; itself where it was not imported."""

    def call(self, node: ast.Call, calls: dict[str, Call]) -> ast.expr:
        """The name of a call's result, which is added to `calls`."""

    def later(self, found: Later, calls: dict[str, Call]) -> ast.expr:
        """The expression that a name stands for; its calls are added to `calls` unless they have been made."""


def results_of(node: ast.AST) -> list[str]:
    """The names of results in an expression."""
    return [inner.id for inner in walk(node) if isinstance(inner, ast.Name) and inner.id.startswith("$")]


class Closer:
    """Puts the values of names into an expression and takes out its calls."""

    def __init__(self, test: Names, calls: dict[str, Call]) -> None:
        self._test, self._calls = test, calls
        self._own: list[set[str]] = []

    def closed(self, node: Any) -> Any:
        """A whole expression without names and calls; the given one stays as it is."""
        found = self.close(node)
        for name in results_of(found):
            self._end_view(name, "list")
        return found

    def close(self, node: Any) -> Any:
        """A part of an expression without names and calls."""
        self._test.steps.take()
        if isinstance(node, _LEAVES):
            return node
        if isinstance(node, ast.List | ast.Tuple | ast.Dict | ast.Set):
            try:
                return ast.Constant(ast.literal_eval(node))
            except (ValueError, TypeError):  # it holds more than literals
                return self._parts(node)
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.Call) and self._test.is_target(node.func):
            if self._own:
                raise UnsupportedError
            return self._test.call(node, self._calls)
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            return self._comprehension(node)
        if isinstance(node, ast.Lambda):
            return self._in_names({argument.arg for argument in node.args.args}, node)
        if isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
            raise UnsupportedError
        return self._inside(self._parts(node))

    def _parts(self, node: Any) -> Any:
        other = copy.copy(node)
        for field, value in ast.iter_fields(node):
            if isinstance(value, list):
                setattr(other, field, [self.close(part) if isinstance(part, ast.AST) else part for part in value])
            elif isinstance(value, ast.AST):
                setattr(other, field, self.close(value))
        return other

    def _name(self, node: ast.Name) -> ast.expr:
        if any(node.id in names for names in self._own) or node.id.startswith("$"):
            return node
        if node.id in self._test.env:
            value = self._test.env[node.id]
            return self._test.later(value, self._calls) if isinstance(value, Later) else ast.Constant(value)
        name = self._test.alias(node.id)
        if name != node.id:
            module, _, attribute = name.partition(".")
            return ast.Attribute(ast.Name(module, ast.Load()), attribute, ast.Load())
        return node

    def _in_names(self, names: set[str], node: Any) -> Any:
        self._own.append(names)
        found = self._parts(node)
        self._own.pop()
        return found

    def _comprehension(self, node: Any) -> Any:
        """One that calls is written out where what it goes over is known; any other is worked out as it is."""
        if not self._calls_in(node):
            bound = {n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            return self._in_names(bound, node)
        if self._own:
            raise UnsupportedError
        first = node.generators[0]
        if not self._calls_in(node, outside=first.iter):
            iterated = self.close(ast.Call(ast.Name("list", ast.Load()), [first.iter], []))
            other, other_first = copy.copy(node), copy.copy(first)
            other_first.iter = iterated
            other.generators = [other_first, *node.generators[1:]]
            return self._comprehension(other)
        if isinstance(node, ast.DictComp):
            raise UnsupportedError
        parts = [self.close(_bound(node.elt, names)) for names in self._rounds(node.generators, {})]
        return ast.Set(parts) if isinstance(node, ast.SetComp) and parts else ast.List(parts, ast.Load())

    def _calls_in(self, node: ast.AST, outside: ast.AST | None = None) -> bool:
        """Whether a node calls what is tested, other than in one part of it."""
        left = {id(inner) for inner in walk(outside)} if outside else set()
        calls = [inner for inner in walk(node) if isinstance(inner, ast.Call) and id(inner) not in left]
        return any(self._test.is_target(call.func) for call in calls)

    def _rounds(self, generators: list[ast.comprehension], names: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if not generators:
            yield names
            return
        first, *rest = generators
        for item in bounded(self._value(first.iter, names)):
            inner = {**names, **unpacked(first.target, item)}
            if all(self._value(test, inner) for test in first.ifs):
                yield from self._rounds(rest, inner)

    def _value(self, node: ast.expr, names: dict[str, Any]) -> Any:
        closed = self.close(_bound(node, names))
        if results_of(closed):
            raise UnsupportedError
        return Reckoner({}, None, self._test.steps).value(closed)

    def _inside(self, node: Any) -> Any:
        """The result itself, where what is done with it can be done inside."""
        step: tuple[str, ast.expr, list[ast.expr], list[ast.keyword]] | None = None
        if isinstance(node, ast.Compare | ast.BinOp):
            self._compare_views(node)
        if isinstance(node, ast.Call) and name_of(node.func) in _INSIDE and node.args:
            if name_of(node.func) not in self._test.env and (len(node.args) == 1 or name_of(node.func) in _TAKE_MORE):
                step = name_of(node.func), node.args[0], node.args[1:], node.keywords
        elif isinstance(node, ast.Attribute) and not node.attr.startswith("_"):
            step = f".{node.attr}", node.value, [], []
        elif isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            step = "[]", node.value, [node.slice], []
        elif isinstance(node, ast.Call):
            self._iterate(node)
            step = "()", node.func, node.args, node.keywords
        if step is None or not (isinstance(step[1], ast.Name) and step[1].id in self._calls):
            return node
        call = self._calls[step[1].id]
        arguments = self._arguments(step[2], step[3]) if call.is_free else None
        if arguments is None:
            return node
        if step[0] == "()" and call.after and (arguments[0] or arguments[1]):
            return self._method(node, call)
        call.after.append((step[0], *arguments))
        call.node = _around(node, call.node, step[0])
        return step[1]

    def _compare_views(self, node: ast.Compare | ast.BinOp) -> None:
        if isinstance(node, ast.BinOp):
            sides = [node.left, node.right]
        else:
            sides = [node.left, *node.comparators]
            if any(isinstance(op, ast.In | ast.NotIn) for op in node.ops):
                return
        for side in sides:
            if isinstance(side, ast.Name):
                self._end_view(side.id, "set")

    def _end_view(self, name: str, kind: str) -> None:
        """Have a view of a dict, where that is what a result is in the end, come out as a value."""
        call = self._calls.get(name)
        if call is None or not call.is_free or len(call.after) < 2:
            return
        (view, *_), (last, arguments, _) = call.after[-2:]
        if view in _VIEWS and last == "()" and not arguments:
            call.after.append(("list" if view == ".values" else kind, (), {}))
            call.node = ast.Call(ast.Name(call.after[-1][0], ast.Load()), [call.node], [])

    def _method(self, node: ast.Call, call: Call) -> ast.Call:
        """A method with arguments is called outside: one of the program's own could agree with anything."""
        name, _, _ = call.after.pop()
        call.node = call.node.value
        other = copy.copy(node)
        other.func = ast.Attribute(node.func, name.removeprefix("."), ast.Load())
        return other

    def _iterate(self, node: ast.Call) -> None:
        if getattr(node.func, "id", getattr(node.func, "attr", "")) in _ITERATE:
            for argument in node.args:
                if isinstance(argument, ast.Name) and argument.id in self._calls and self._calls[argument.id].is_free:
                    self._calls[argument.id].after.append(("list", (), {}))

    def _arguments(
        self, nodes: list[ast.expr], keywords: list[ast.keyword]
    ) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
        """Arguments that can be sent inside; None where they cannot."""
        if any(results_of(node) for node in (*nodes, *keywords)) or any(word.arg is None for word in keywords):
            return None
        reckoner = Reckoner({}, None, self._test.steps)
        try:
            found = tuple(reckoner.value(node) for node in nodes), {w.arg: reckoner.value(w.value) for w in keywords}
            marshal.dumps(found)
        except FAULTS:
            return None
        return found[0], {key: value for key, value in found[1].items() if key is not None}


def _bound(node: Any, names: dict[str, Any]) -> Any:
    """A copy of an expression with values for names."""

    class Put(ast.NodeTransformer):
        def visit_Name(self, name: ast.Name) -> ast.expr:
            return ast.Constant(names[name.id]) if name.id in names else name

    return Put().visit(copy.deepcopy(node))


def _around(node: Any, inner: ast.expr, name: str) -> ast.expr:
    """What is done with a result, written around the call."""
    other: Any = copy.copy(node)
    if name == "()":
        other.func = inner
    elif name.isidentifier():
        other.args = [inner, *node.args[1:]]
    else:
        other.value = inner
    written: ast.expr = other
    return written
