"""Turns the assertions of a test into calls to make inside a sandbox and an expression to work out outside of it.

`assert candidate([1, 2], 0.3) == True` becomes the call `candidate([1, 2], 0.3)` and a check of what it returned; the
expected value never enters the process of the program. Around assertions, assignments, `if` and `for` over what the
author's own values give are worked out here, and `for` is unrolled, an assertion each time round: of
`for x, y in zip(inputs, results): assert f(x) == y` only `f(x)` is sent. So are `check(candidate)`, functions
`test...()`, and calls in comprehensions over known values.
Where a call stands directly in a builtin such as `list` or `sum`, or its attribute, method or item is taken, that is
done inside as well, for only there is a generator or an object of the program's own what it is.
An assertion holds where it does by the rules of `code_values` and would by Python's own `==` as well, so that `!=` and
`not` are no way around a type.
What no program can meet is refused at load: an assertion over the author's own values that does not hold, and a part of
one that raises.
Not covered: random inputs, helpers of the program, `while`, `try`, a call of a call, arguments that are looked at after
a call (has it changed them?) or given to two calls: such a test is run as it stands, inside, which is weaker and is
said so. Each call gets fresh copies of its arguments; instances of `Solution` are one instance.
Easy to break: a name that is bound again, and a call that two assertions look at (they become one).
"""

from __future__ import annotations

import ast
import marshal
import re
from collections import Counter
from functools import cached_property
from typing import Any

import msgspec

from steelyard.errors import InputError
from steelyard.verifiers.code_calls import Call, Closer, Later, results_of
from steelyard.verifiers.code_reckoning import MATH, Reckoner, check_supported, name_of
from steelyard.verifiers.code_slips import check_constants, shown
from steelyard.verifiers.code_values import Rules, same
from steelyard.verifiers.code_work import FAULTS, Steps, UnsupportedError, bounded, combined, unpacked, walk

_MOST_CASES = 5_000
_PLAIN_STEPS = 4


class Assertion(msgspec.Struct):
    """The calls that one assertion needs, in their order, and the expressions over their results, all of which hold."""

    calls: dict[str, Call]
    tests: list[Any]

    @property
    def text(self) -> str:
        """What is asserted, as it was written but for the values that the author's names had."""
        text = " and ".join(ast.unparse(test) for test in self.tests)
        return re.sub(r"\$\d+", lambda name: _written(self.calls, name[0]), text)


def _written(calls: dict[str, Call], name: str) -> str:
    return ast.unparse(calls[name].node) if name in calls else name


def assertions_of(program: str, entry_point: str) -> list[Assertion] | None:
    """The assertions of a test, or None where it does more than is worked out here; InputError when it is no Python."""
    try:
        body = ast.parse(program).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"no Python: {error}") from error
    try:
        return _Test(entry_point).run(body)
    except (*FAULTS, MemoryError):
        return None


def holds(assertion: Assertion, values: list[Any], rules: Rules) -> bool:
    """Whether an assertion holds for what its calls returned; what cannot be worked out does not hold."""
    known = dict(zip(assertion.calls, values, strict=True))
    first = assertion.tests[0]
    if len(assertion.tests) == 1 and _is_plain(first):
        try:
            return same(known[first.left.id], first.comparators[0].value, rules)
        except (*FAULTS, MemoryError):
            return False
    ways = (False, True) if any(map(_could_deny, assertion.tests)) else (False,)
    try:
        reckoners = [Reckoner(known, rules, is_lenient=is_lenient) for is_lenient in ways]
        return all(reckoner.value(test) for reckoner in reckoners for test in assertion.tests)
    except (*FAULTS, MemoryError):
        return False


def _is_plain(test: Any) -> bool:
    """Whether a test is `result == value`, which most are, and needs no reckoning."""
    is_one = type(test) is ast.Compare and len(test.ops) == 1 and type(test.ops[0]) is ast.Eq
    return is_one and type(test.left) is ast.Name and type(test.comparators[0]) is ast.Constant


def _could_deny(test: ast.expr) -> bool:
    """Whether a test may hold because two values are not equal: anything but one comparison by `==` or `in`."""
    if not isinstance(test, ast.Compare) or any(not isinstance(op, ast.Eq | ast.In) for op in test.ops):
        return True
    inner = [one for side in (test.left, *test.comparators) for one in walk(side)]
    return any(isinstance(one, ast.Compare | ast.Not) for one in inner)


class _Test:
    """Works through a test and collects its assertions."""

    def __init__(self, entry_point: str) -> None:
        owner, _, method = entry_point.rpartition(".")
        self._class = owner or "Solution"
        self._names = {entry_point, f"{self._class}().{method}", "candidate"}
        self._entry = entry_point
        self._env: dict[str, Any] = {"__name__": "__main__"}
        self._aliases: dict[str, str] = {}
        self._functions: dict[str, ast.FunctionDef] = {}
        self._run: set[str] = set()
        self._running: list[str] = []
        self._steps = Steps()
        self._found: list[Assertion] = []
        self._owner: dict[str, int] = {}
        self._passed: set[str] = set()
        self._pending: dict[str, Call] = {}
        self._body: list[ast.stmt] = []
        self._n_calls = 0
        self._has_sent_changeable = False

    def run(self, body: list[ast.stmt]) -> list[Assertion]:
        """The assertions of a whole test."""
        self._body = body
        self._block(body)
        for name, function in self._functions.items():
            names = [argument.arg for argument in function.args.args]
            if name not in self._run and (
                name == "check" or (name.startswith("test") and names in ([], ["candidate"]))
            ):
                self._call_test(function, [ast.Name(self._entry, ast.Load())] * len(names))
            elif name not in self._run and name.startswith("test"):
                raise UnsupportedError
        if self._pending:
            raise UnsupportedError
        return self._found

    def _block(self, body: list[ast.stmt]) -> None:
        for node in body:
            self._steps.take()
            getattr(self, f"_{type(node).__name__}", self._refuse)(node)

    def _refuse(self, _node: ast.stmt) -> None:
        raise UnsupportedError

    def _Pass(self, _node: ast.Pass) -> None:  # noqa: N802  named after the node
        return

    def _Import(self, node: ast.Import) -> None:  # noqa: N802
        if any(alias.name not in ("math", "copy", "typing") or alias.asname for alias in node.names):
            raise UnsupportedError

    def _ImportFrom(self, node: ast.ImportFrom) -> None:  # noqa: N802
        for alias in node.names:
            name = alias.asname or alias.name
            if node.module == "math" and alias.name in MATH:
                self._aliases[name] = f"math.{alias.name}"
            elif node.module == "copy" and alias.name in ("copy", "deepcopy"):
                self._aliases[name] = f"copy.{alias.name}"
            elif node.module != "typing" and not (node.module == "solution" and name == self._entry == alias.name):
                raise UnsupportedError

    def _FunctionDef(self, node: ast.FunctionDef) -> None:  # noqa: N802
        if node.decorator_list or node.name in self._names:
            raise UnsupportedError
        self._functions[node.name] = node

    def _Expr(self, node: ast.Expr) -> None:  # noqa: N802
        if isinstance(node.value, ast.Constant | ast.Name):
            return
        if isinstance(node.value, ast.Call) and name_of(node.value.func) in self._functions:
            if node.value.keywords:
                raise UnsupportedError
            self._call_test(self._functions[name_of(node.value.func)], node.value.args)
        elif name_of(getattr(node.value, "func", node.value)) != "print" or self._has_calls(node.value):
            raise UnsupportedError

    def _call_test(self, function: ast.FunctionDef, arguments: list[ast.expr]) -> None:
        """Run a function of the test, in names of its own."""
        names = [argument.arg for argument in function.args.args]
        if ast.unparse(function.args).count(",") != max(len(names) - 1, 0) or len(names) != len(arguments):
            raise UnsupportedError
        if function.name in self._running:
            raise UnsupportedError
        kept = self._env, self._names
        targets = {n for n, argument in zip(names, arguments, strict=True) if name_of(argument) in self._names}
        values = [(n, a) for n, a in zip(names, arguments, strict=True) if n not in targets]
        given = {n: self._value_or_later(n, argument) for n, argument in values}
        self._env, self._names = {**self._env, **given}, {*(self._names - given.keys()), *targets}
        self._run.add(function.name)
        self._running.append(function.name)
        self._block(function.body)
        self._running.pop()
        self._env, self._names = kept

    def _has_calls(self, node: ast.AST) -> bool:
        return any(isinstance(inner, ast.Call) and name_of(inner.func) in self._names for inner in walk(node))

    def _If(self, node: ast.If) -> None:  # noqa: N802
        self._block(node.body if self._known(node.test) else node.orelse)

    def _For(self, node: ast.For) -> None:  # noqa: N802
        if node.orelse:
            raise UnsupportedError
        for item in bounded(self._known(node.iter)):
            self._bind(unpacked(node.target, item))
            self._block(node.body)

    def _AnnAssign(self, node: ast.AnnAssign) -> None:  # noqa: N802
        if node.value is not None:
            self._assign([node.target], node.value)

    def _Assign(self, node: ast.Assign) -> None:  # noqa: N802
        self._assign(node.targets, node.value)

    def _AugAssign(self, node: ast.AugAssign) -> None:  # noqa: N802
        if not isinstance(node.target, ast.Name) or isinstance(self._env.get(node.target.id), list | dict | set):
            raise UnsupportedError  # changing a list in place would change what other names stand for
        left = self._known(ast.Name(node.target.id, ast.Load()))
        self._bind({node.target.id: combined(node.op, left, self._known(node.value))})

    def _assign(self, targets: list[ast.expr], value: ast.expr) -> None:
        name = name_of(value)
        if name in self._names or name == f"{self._class}()":
            suffix = "" if name in self._names else f".{self._entry.rpartition('.')[2]}"
            self._names |= {f"{name_of(target)}{suffix}" for target in targets}
            return
        if len(targets) == 1 and isinstance(targets[0], ast.Name):
            self._bind({targets[0].id: self._value_or_later(targets[0].id, value)})
            return
        found = self._known(value)
        for target in targets:
            self._bind(unpacked(target, found))

    def _value_or_later(self, name: str, node: ast.expr) -> Any:
        """What a name is to stand for: a value, or an expression over results of calls, which are made later."""
        calls: dict[str, Call] = {}
        closed = self._closed(node, calls)
        if not results_of(closed):
            return Reckoner({}, None, self._steps).value(closed)
        check_supported(closed, results_of(closed))
        self._pending |= calls
        return Later(closed, calls, is_read_once=self._reads[name] == 1)

    @cached_property
    def _reads(self) -> Counter[str]:
        """How often the whole test reads each name."""
        names = (node for node in walk(ast.Module(self._body, [])) if isinstance(node, ast.Name))
        return Counter(node.id for node in names if isinstance(node.ctx, ast.Load))

    def _bind(self, names: dict[str, Any]) -> None:
        if any(name in self._names or name in self._functions for name in names):
            raise UnsupportedError
        self._passed -= names.keys()
        self._env.update(names)

    def _known(self, node: ast.expr) -> Any:
        """The value of an expression that calls nothing."""
        calls: dict[str, Call] = {}
        closed = self._closed(node, calls)
        if calls or results_of(closed):
            raise UnsupportedError
        return Reckoner({}, None, self._steps).value(closed)

    def _closed(self, node: ast.expr, calls: dict[str, Call]) -> ast.expr:
        """An expression with the values of all names put in, and a name for the result of each call."""
        closed: ast.expr = Closer(self, calls).closed(node)
        return closed

    def later(self, found: Later, calls: dict[str, Call]) -> ast.expr:
        """The expression that a name stands for; its calls are made now, unless they have been."""
        for name, call in found.calls.items():
            if name in self._pending:
                calls[name] = self._pending.pop(name)
                call.is_free = call.is_free and found.is_read_once
            elif name not in self._owner and name not in calls:
                raise UnsupportedError
            else:
                call.is_free = False
                if len(call.after) != found.n_after[name]:
                    raise UnsupportedError  # read a second time, in a loop
        return found.expression

    def call(self, node: ast.Call, calls: dict[str, Call]) -> ast.expr:
        """The name of a call's result; its arguments are worked out."""
        arguments = ast.Tuple(node.args, ast.Load())
        found = Closer(self, {}).closed(arguments)
        words: dict[str, Any] = {}
        for word in node.keywords:
            given = self._known(word.value)
            words |= given if word.arg is None else {word.arg: given}
        if results_of(found):
            raise UnsupportedError
        values = Reckoner({}, None, self._steps).value(found)
        marshal.dumps((values, words))  # raises for what cannot be sent
        self._pass([inner.id for inner in walk(node) if isinstance(inner, ast.Name) and inner.id in self._env])
        name = f"${self._n_calls}"
        self._n_calls += 1
        written: list[ast.expr] = [ast.Constant(value) for value in values]
        keywords = [ast.keyword(key, ast.Constant(value)) for key, value in words.items()]
        calls[name] = Call(values, words, [], ast.Call(node.func, written, keywords))
        return ast.Name(name, ast.Load())

    def _pass(self, names: list[str]) -> None:
        """Note that names were given to a call; one that a call may have changed cannot be given as it was."""
        changeable = [name for name in names if _is_changeable(self._env[name])]
        if len({*changeable}) < len(changeable) or self._passed.intersection(changeable):
            raise UnsupportedError
        self._has_sent_changeable |= bool(changeable)
        self._passed |= {*names}

    def is_target(self, node: ast.expr) -> bool:
        """Whether a function is what is tested."""
        return name_of(node) in self._names

    @property
    def env(self) -> dict[str, Any]:
        """The names that are bound."""
        return self._env

    @property
    def steps(self) -> Steps:
        """How much work is left."""
        return self._steps

    def alias(self, name: str) -> str:
        """What an imported name stands for; itself where it was not imported."""
        return name if name in self._env else self._aliases.get(name, name)

    def _plain(self, test: ast.expr) -> Assertion | None:
        """The assertion `f(literals) == literal`, which most are, at once; None where it is anything else."""
        if not (isinstance(test, ast.Compare) and isinstance(test.left, ast.Call)):
            return None
        call, wanted = test.left, test.comparators[0]
        is_one = len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq) and not call.keywords
        if not is_one or not self.is_target(call.func) or name_of(call.func) in self._env:
            return None
        try:
            values = tuple(ast.literal_eval(argument) for argument in call.args)
            right = ast.Constant(ast.literal_eval(wanted))
        except (ValueError, TypeError):
            return None
        self._steps.take(len(values) + _PLAIN_STEPS)
        name = f"${self._n_calls}"
        self._n_calls += 1
        written = ast.Call(call.func, [ast.Constant(value) for value in values], [])
        found = Call(values, {}, [], written)
        return Assertion({name: found}, [ast.Compare(ast.Name(name, ast.Load()), test.ops, [right])])

    def _Assert(self, node: ast.Assert) -> None:  # noqa: N802
        plain = self._plain(node.test)
        if plain is not None:
            self._owner[next(iter(plain.calls))] = len(self._found)
            self._keep(plain)
            return
        parts = node.test.values if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And) else []
        calls: dict[str, Call] = {}
        tests = []
        for part in parts or [node.test]:
            closed = self._closed(part, calls)
            results = results_of(closed)
            if results:
                check_supported(closed, results)
                check_constants(closed, self._steps)
                tests.append(closed)
                continue
            read = {inner.id for inner in walk(part) if isinstance(inner, ast.Name)}
            if any(_is_changeable(self._env.get(name)) for name in read & self._passed):
                raise UnsupportedError
            found = Reckoner({}, None, self._steps).value(closed)
            if found is False and not self._has_sent_changeable:
                raise InputError(f"{shown(node)} does not hold, whatever the program does")
            if not found:
                raise UnsupportedError
        if tests:
            self._add(Assertion(calls, tests))

    def _add(self, assertion: Assertion) -> None:
        """Keep an assertion; together with those since the first that looks at the same result."""
        used = {name for test in assertion.tests for name in results_of(test)}
        start = min((self._owner[name] for name in used if name in self._owner), default=len(self._found))
        joined = [*self._found[start:], assertion]
        del self._found[start:]
        calls = {name: call for one in joined for name, call in one.calls.items()}
        self._owner |= dict.fromkeys(calls, start)
        self._keep(Assertion(calls, [test for one in joined for test in one.tests]))

    def _keep(self, assertion: Assertion) -> None:
        self._found.append(assertion)
        if len(self._found) > _MOST_CASES:
            raise UnsupportedError


def _is_changeable(value: Any) -> bool:
    """Whether a call could change a value that it is given."""
    return isinstance(value, list | dict | set) or (isinstance(value, tuple) and any(map(_is_changeable, value)))
