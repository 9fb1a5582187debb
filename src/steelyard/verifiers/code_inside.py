"""What a test needs that runs inside, in the process of the program: calls that a test framework would make.

Functions `test...()` and `test...(candidate)`, methods `test...` of a class `Test...`, and classes of `unittest` that
the text defines and never uses are run after it, in their order; `unittest.main()` and an exit at the end are left out,
`__name__` is `__main__`, and names from `solution` are those of the program.
What no program can meet is refused at load: an import of a module that is not in the standard library, an assertion
over literals that does not hold or raises, and test functions whose arguments nothing gives.
Not covered: fixtures and marks of pytest; `setUpModule`; a name that is bound by `exec` or `globals()`.
Easy to break: running a test twice, and taking a name that the program defines for one that nothing defines.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator

from steelyard.errors import InputError
from steelyard.verifiers.code_reckoning import Reckoner, check_supported, name_of
from steelyard.verifiers.code_slips import check_constants, shown
from steelyard.verifiers.code_work import FAULTS, Steps, walk

_MODULES = sys.stdlib_module_names | {"solution", "__main__"}
_GIVEN = frozenset(("candidate", "check", "Solution", "__builtins__", "__annotations__")) | set(dir(builtins))
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_RUN_CLASSES = """
import unittest as _unittest
_result = _unittest.TestResult()
for _class in ({classes},):
    _unittest.defaultTestLoader.loadTestsFromTestCase(_class).run(_result)
for _, _why in (*_result.errors, *_result.failures, *_result.skipped):
    raise AssertionError(str(_why).strip().splitlines()[-1])
assert not _result.unexpectedSuccesses, "a test passed that was to fail"
"""
"""A test that is skipped does not count as passed, because a program can raise `SkipTest`."""


def completed(text: str) -> str:
    """A test as it is run: with the calls that it leaves to a test framework; InputError where none can pass."""
    tree = ast.parse(text)
    _check_imports(tree.body)
    _check_literals(tree.body)
    calls = "".join(_calls_left(tree))
    rest = _Mains(tree)
    if rest.found:
        text = ast.unparse(ast.fix_missing_locations(rest.tree))
    if "__name__" in text and "__future__" not in text:
        text = f'__name__ = "__main__"\n{text}'
    return f"{text}\n{calls}" if calls else text


def unbound(text: str, entry_point: str) -> tuple[str, ...]:
    """Names that a test reads and nothing in it binds, so that the program would have to."""
    bound = {*_GIVEN, entry_point.partition(".")[0]}
    read: dict[str, None] = {}
    for node in walk(ast.parse(text)):
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                read[node.id] = None
            else:
                bound.add(node.id)
        elif isinstance(node, ast.alias):
            if node.name == "*":
                return ()
            bound.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, (*_FUNCTION, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            bound.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            bound.add(node.rest)
    return tuple(name for name in read if name not in bound and not name.startswith("__"))


def _check_imports(body: list[ast.stmt]) -> None:
    for node in body:
        if isinstance(node, _FUNCTION):
            _check_imports(node.body)
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or "."]
        for name in names:
            if name.partition(".")[0] not in _MODULES:
                raise InputError(f"{shown(node)}: no {name} is there, only the standard library and the program")


def _check_literals(body: list[ast.stmt]) -> None:
    """Refuse an assertion, outside of any `try` or `with`, over literals that does not hold or that has none."""
    for node in body:
        if not isinstance(node, ast.Assert):
            continue
        try:
            check_constants(node.test, Steps(), _reads_nothing)
            if _reads_nothing(node.test):
                check_supported(node.test, ())
                if not Reckoner({}, None).value(node.test):
                    raise InputError(f"{shown(node)} does not hold, whatever the program does")
        except (*FAULTS, MemoryError):  # what is not worked out here runs inside
            continue


def _reads_nothing(node: ast.expr) -> bool:
    return not any(isinstance(inner, ast.Name) for inner in walk(node))


def _calls_left(tree: ast.Module) -> Iterator[str]:
    """The calls that are left to a test framework, a line each."""
    used = {
        inner.id
        for node in tree.body
        for inner in walk(node)
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load) and inner.id != getattr(node, "name", "")
    }
    cases: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and _is_unittest(node, cases):
            cases.append(node.name)
        elif isinstance(node, _FUNCTION) and node.name.startswith("test") and node.name not in used:
            yield f"{node.name}{_arguments(node, 0)}\n"
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test") and node.name not in used:
            yield from _methods_left(node)
    if cases:
        yield _RUN_CLASSES.format(classes=", ".join(cases))


def _is_unittest(node: ast.ClassDef, before: list[str]) -> bool:
    return any(name_of(base).endswith("TestCase") or name_of(base) in before for base in node.bases)


def _methods_left(node: ast.ClassDef) -> Iterator[str]:
    methods = [one for one in node.body if isinstance(one, _FUNCTION)]
    if any(one.name.startswith(("setup", "teardown", "__init__")) for one in methods):
        raise InputError(f"class {node.name}: setup methods of pytest are not called here; call them in the tests")
    for one in methods:
        if one.name.startswith("test"):
            yield f"{node.name}().{one.name}{_arguments(one, 0 if _is_static(one) else 1)}\n"


def _is_static(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(name_of(decorator) == "staticmethod" for decorator in node.decorator_list)


def _arguments(node: ast.FunctionDef | ast.AsyncFunctionDef, n_bound: int) -> str:
    """The arguments to call a test function with; InputError where nothing says which."""
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    needed = names[n_bound : len(names) - len(node.args.defaults)]
    if isinstance(node, ast.AsyncFunctionDef):
        raise InputError(f"nothing runs the coroutine {node.name}; call asyncio.run({node.name}()) in the tests")
    if needed == ["candidate"]:
        return "(candidate)"
    if needed:
        raise InputError(f"nothing calls {node.name}, and nothing says what its {needed[0]} is; call it in the tests")
    return "()"


class _Mains:
    """A tree without `unittest.main()`, imports from `solution` and an exit at its end, and whether it had any."""

    def __init__(self, tree: ast.Module) -> None:
        self.found = False
        self._names = {"unittest.main"} | {
            alias.asname or alias.name
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and node.module == "unittest"
            for alias in node.names
            if alias.name == "main"
        }
        body = [self._without(node) for node in tree.body]
        if body and self._is_exit(body[-1]):
            body[-1] = self._passed()
        self.tree = ast.Module(body, [])

    def _without(self, node: ast.stmt) -> ast.stmt:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and name_of(node.value.func) in self._names:
            return self._passed()
        if isinstance(node, ast.ImportFrom) and node.module == "solution":
            given = {alias.asname: alias.name for alias in node.names if alias.asname}
            named = ast.parse(f"{', '.join(given)}, = {', '.join(given.values())},").body[0] if given else ast.Pass()
            self.found = True
            return named
        if isinstance(node, ast.If):
            node.body = [self._without(inner) for inner in node.body]
        return node

    def _passed(self) -> ast.Pass:
        self.found = True
        return ast.Pass()

    def _is_exit(self, node: ast.stmt) -> bool:
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
            return False
        codes = [getattr(argument, "value", "?") for argument in node.value.args]
        return name_of(node.value.func) in ("sys.exit", "exit", "quit") and codes in ([], [0], [None])
