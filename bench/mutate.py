"""Mutation testing of the verifiers: which small faults of a module its rows and its unit tests do not notice.

Each mutant is one changed place of one module. It runs in a process of its own on a copy of the package and of the
tests, first the module's rows (`verifiers/rows`), then, if it survives them, its unit tests without the slow ones.
Why own: mutmut mutates functions only, through generated twins of each (configs and tables stay untouched), and error
messages too; cosmic-ray starts the interpreter and the tests anew for every mutant. Neither draws a seeded sample
or asks the rows first, which kill most mutants in a tenth of a second. Forking a process that has pytest loaded
already leaves importing the package as the only cost.
Not covered: modules of `parsing`, two faults at once, annotations, messages for people and the names in VERIFIERS.
Easy to break: the copy must win over an installed package (it is checked in every process), and a mutated file needs
a new modification time, or Python takes the compiled form of the one before.

Run: python bench/mutate.py [--module NAME ...] [--n 40] [--seed 1] [--json OUT] [--again]
OUT has a line for every mutant; a later run with the same OUT skips what is in it; --again repeats its survivors.
"""

from __future__ import annotations

import argparse
import ast
import copy
import hashlib
import itertools
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import hypothesis  # noqa: F401 - loaded here so that no forked process has to
import pytest

ROOT = Path(__file__).parents[1]
MODULES = (
    "exact", "one_of", "set_of", "order", "yesno", "choice", "token", "states", "number", "time", "fields", "compose",
    "files", "toolcalls", "grade", "math", "ifeval", "tests",
)  # fmt: skip
NAMES = {"set_of": ("set",), "compose": ("all", "any")}
"""Verifiers of a module where they are not named as it is."""
TESTS = {"toolcalls": "toolcalls_verifier", "tests": "tests_verifier"}

SURVIVED, BY_ROWS, BY_TESTS, BY_IMPORT, NOT_THE_COPY = 0, 10, 11, 12, 13
KILLED = {BY_ROWS: "rows", BY_TESTS: "tests", BY_IMPORT: "import"}
MEMORY_BYTES = 4 << 30
REWRITTEN = "-Wignore::pytest.PytestAssertRewriteWarning"

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip
MESSAGES = {"InputError": 0, "Unread": 0, "failed": 1, "Miss": 1, "Undecided": 0, "Spoil": 1, "isinstance": 1}
"""Callable -> how many of its arguments are looked at; the rest are words for people, or types."""
WORDS = frozenset({"note", "detail", "reason", "hint"})


@dataclass(frozen=True)
class Site:
    """One possible fault: the child of `parent` at `field` (and `index`) gives way to `new`."""

    operator: str
    line: int
    before: str
    after: str
    parent: ast.AST
    field: str
    index: int | None
    new: ast.AST

    def apply(self, tree: ast.Module) -> str:
        """The source of the mutant; the tree is as before afterwards."""
        held = getattr(self.parent, self.field)
        old = held if self.index is None else held[self.index]
        self._put(self.new)
        try:
            return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
        finally:
            self._put(old)

    def _put(self, node: Any) -> None:
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


def sites(tree: ast.Module) -> list[Site]:
    """Every place of a module that can be mutated, in the order of the source."""
    return list(_sites(tree, None))


def _sites(parent: ast.AST, function: ast.FunctionDef | None) -> Iterator[Site]:
    if isinstance(parent, ast.FunctionDef):
        function = parent
    for field, index, node in _children(parent):
        for operator, new, seen in _mutants(node, parent, field, function):
            before, after = seen or (ast.unparse(node), ast.unparse(new))
            line = getattr(node, "lineno", 0) or node.target.lineno  # a comprehension has none
            yield Site(operator, line, before[:120], after[:120], parent, field, index, new)
        yield from _sites(node, function)


def _children(node: ast.AST) -> Iterator[tuple[str, int | None, Any]]:
    """The children that are code: no annotations, decorators, docstrings, imports, messages or names in VERIFIERS."""
    skipped = {"annotation", "returns", "decorator_list"} | ({"keywords"} if isinstance(node, ast.ClassDef) else set())
    most = MESSAGES.get(getattr(node.func, "id", ""), 99) if isinstance(node, ast.Call) else 99
    if isinstance(node, ast.keyword) and node.arg in {*WORDS, "name", "misses", "libraries", "resources"}:
        return
    for field, value in ast.iter_fields(node):
        if field in skipped or (field == "keys" and isinstance(node, ast.Dict) and _named(node)):
            continue
        if isinstance(value, list):
            for index, child in enumerate(value):
                if isinstance(child, ast.AST) and not _is_text(child) and not (field == "args" and index >= most):
                    yield field, index, child
        elif isinstance(value, ast.Attribute) or (_is_code(value) and field != "func"):
            yield field, None, value


def _is_code(value: Any) -> bool:
    return isinstance(value, ast.AST) and not isinstance(value, ast.JoinedStr)


def _named(node: ast.Dict) -> bool:
    """Whether a table's keys are names of spoils and variations: its values are functions."""
    return all(isinstance(value, ast.Name | ast.Call | ast.Lambda) for value in node.values)


def _is_text(node: ast.AST) -> bool:
    """Docstrings, imports and type aliases."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    alias = isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript) and node.col_offset == 0
    return alias or isinstance(node, ast.Import | ast.ImportFrom)


Mutant = tuple[str, ast.AST, tuple[str, str] | None]


def _mutants(node: ast.AST, parent: ast.AST, field: str, function: ast.FunctionDef | None) -> Iterator[Mutant]:
    """What a node may give way to: the operator's name, the new node, and what to show where that is not all of it."""
    match node:
        case ast.Compare():
            for at, kind in enumerate(node.ops):
                ops = [COMPARED[type(kind)]() if i == at else op for i, op in enumerate(node.ops)]
                yield "comparison", ast.Compare(node.left, ops, node.comparators), None
        case ast.BoolOp():
            yield "and-or", ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values), None
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield "not-removed" if isinstance(node.op, ast.Not) else "sign-removed", node.operand, None
        case ast.BinOp() if type(node.op) in COMPUTED and not _texts(node):
            yield "arithmetic", ast.BinOp(node.left, COMPUTED[type(node.op)](), node.right), None
        case ast.Constant():
            yield from _constants(node, parent, field)
        case ast.Return(value=ast.expr() as value) if function is not None:
            yield from _returns(value, function)
        case ast.AugAssign():
            yield "removed", ast.Pass(), None
        case ast.Expr(value=ast.Call()):
            yield "removed", ast.Pass(), None
        case ast.If() | ast.IfExp() | ast.While():
            for forced in (True, False)[isinstance(node, ast.While) :]:
                yield "condition", _forced(node, forced), (f"if {ast.unparse(node.test)}", f"if {forced}")
        case ast.comprehension() if node.ifs:
            new = ast.comprehension(node.target, node.iter, [], node.is_async)
            yield "filter-removed", new, (ast.unparse(node.ifs[0]), "no filter")
        case ast.AnnAssign(value=ast.Constant()) if isinstance(parent, ast.ClassDef):
            yield from _defaults(node)


def _forced(node: ast.If | ast.IfExp | ast.While, forced: bool) -> ast.AST:
    new = copy.copy(node)
    new.test = ast.Constant(forced)
    return new


def _texts(node: ast.BinOp) -> bool:
    """Joining or formatting texts: another operator is only a TypeError."""
    sides = (node.left, node.right)
    return any(
        isinstance(side, ast.JoinedStr | ast.List | ast.ListComp)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in sides
    )


def _constants(node: ast.Constant, parent: ast.AST, field: str) -> Iterator[Mutant]:
    value = node.value
    if isinstance(parent, ast.AnnAssign) and field == "value" and not isinstance(value, bool | int | float):
        return  # the default of a config's field, or a table: `default` does it
    if isinstance(value, bool):
        yield "constant", ast.Constant(not value), None
    elif isinstance(value, int | float):
        yield "constant", ast.Constant(value + 1), None
        yield "constant", ast.Constant(value - 1), None
    elif isinstance(value, str) and isinstance(parent, ast.Tuple | ast.List | ast.Set):
        yield "text-changed", ast.Constant("mutant"), None  # an empty one among several often stands in everything
    elif isinstance(value, str) and value and not isinstance(parent, ast.JoinedStr):
        yield "text-emptied", ast.Constant(""), None


def _returns(value: ast.expr, function: ast.FunctionDef) -> Iterator[Mutant]:
    made = ast.unparse(function.returns) if function.returns else "None"
    if made == "bool":
        yield "return", ast.Return(ast.UnaryOp(ast.Not(), value)), None
        return
    empty = '""' if made == "str" else "[]" if made.startswith("list") else "None"
    if ast.unparse(value) != empty:
        yield "return", ast.Return(ast.parse(empty, mode="eval").body), None


def _defaults(node: ast.AnnAssign) -> Iterator[Mutant]:
    """The next of a Literal's values in place of the default, a text in place of an empty one, 1 in place of None."""
    old = node.value.value if isinstance(node.value, ast.Constant) else None
    if isinstance(node.annotation, ast.Subscript) and ast.unparse(node.annotation.value) == "Literal":
        values = ast.literal_eval(node.annotation.slice)
        new: Any = next(value for value in values if value != old)
    elif isinstance(old, str):
        new = "" if old else "mutant"
    elif old is None:
        new = "mutant" if "str" in ast.unparse(node.annotation) else 1
    else:
        return
    yield "default", ast.AnnAssign(node.target, node.annotation, ast.Constant(new), node.simple), None


@dataclass(frozen=True)
class Result:
    """What became of a mutant. `by` says what killed it, and is empty for a survivor; `key` finds it again."""

    module: str
    key: str
    line: int
    operator: str
    before: str
    after: str
    by: str
    seconds: float

    def __str__(self) -> str:
        flat = [" ".join(text.split()) for text in (self.before, self.after)]
        return f"{self.module}.py:{self.line} {self.operator}: {flat[0]} -> {flat[1]}"


class Copy:
    """A copy of the package and the tests, in which one module at a time is mutated."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ticks = itertools.count(1_000_000_000, 2)
        ignore = shutil.ignore_patterns("__pycache__")
        for name in ("src", "tests"):
            shutil.copytree(ROOT / name, folder / name, ignore=ignore)
        for name in ("docs", "README.md", "LICENSE"):
            (folder / name).symlink_to(ROOT / name)
        shutil.copy2(ROOT / "pyproject.toml", folder)

    def write(self, module: str, source: str) -> None:
        """Put a module's source there, with a modification time that no other had."""
        path = self.folder / "src" / "steelyard" / "verifiers" / f"{module}.py"
        path.write_text(source, encoding="utf-8")
        tick = next(self.ticks)
        os.utime(path, (tick, tick))

    def start(self, work: Callable[[], int], out: Path | None = None) -> int:
        """The process id of a fork that works in the copy and exits with what `work` returns."""
        pid = os.fork()
        if pid:
            return pid
        try:
            os.setsid()
            os.chdir(self.folder)
            sys.path.insert(0, str(self.folder / "src"))
            os.environ["PYTHONPATH"] = str(self.folder / "src")
            os.environ.setdefault("STEELYARD_SHARED", str(ROOT.parent / "shared"))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
            target = os.open(out or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(target, 1)
            os.dup2(target, 2)
            os._exit(work())
        except BaseException:  # noqa: BLE001 - a mutant may raise anything, where its module is imported too
            os.write(2, traceback.format_exc().encode())
            os._exit(BY_IMPORT)


class _Failures:
    """Collects the tests that fail, by name; the newest cases, at a file's end, run first."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.reverse()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.names.append(report.nodeid)


def row_faults(module: str, first_only: bool, known: frozenset[str]) -> list[str]:
    """The rows of a module's verifiers that are not met, but for the known ones."""
    from steelyard.verifiers.prove_rows import fault_of, place, rows_of

    found = []
    for name in NAMES.get(module, (module,)):
        for number, row in enumerate(rows_of(name), 1):
            where = place(name, number)
            if not row.known and where not in known and fault_of(name, row):
                found.append(where)
                if first_only:
                    return found
    return found


def test_faults(module: str, first_only: bool, known: frozenset[str]) -> list[str]:
    """The unit tests of a module that fail, but for the known ones."""
    failures = _Failures()
    path = f"tests/unit/verifiers/test_{TESTS.get(module, module)}.py"
    options = ["-q", "-p", "no:cacheprovider", "-m", "not slow", "--tb=no", REWRITTEN, *(["-x"] if first_only else [])]
    code = pytest.main([*options, *(f"--deselect={name}" for name in sorted(known)), path], plugins=[failures])
    return failures.names or ([f"exit code {code}"] if code else [])


def baseline(there: Copy, module: str) -> tuple[frozenset[str], float, float]:
    """What fails without a mutant, and the seconds that rows and tests take; raises where the copy does not run."""
    out = there.folder / "baseline.json"

    def work() -> int:
        import steelyard

        if not str(steelyard.__file__).startswith(str(there.folder)):
            return NOT_THE_COPY
        begun = time.monotonic()
        faults = row_faults(module, False, frozenset())
        rows_s = time.monotonic() - begun
        faults += test_faults(module, False, frozenset())
        out.write_text(json.dumps([faults, rows_s, time.monotonic() - begun - rows_s]))
        return SURVIVED

    _, status = os.waitpid(there.start(work, there.folder / "baseline.txt"), 0)
    if status:
        said = (there.folder / "baseline.txt").read_text(encoding="utf-8")[-2000:]
        raise SystemExit(f"{module}: expected a run without a mutant to end well, got status {status}: {said}")
    faults, rows_s, tests_s = json.loads(out.read_text())
    if any(fault.startswith("exit code") for fault in faults):
        raise SystemExit(f"{module}: its tests do not run: {(there.folder / 'baseline.txt').read_text()[-2000:]}")
    return frozenset(faults), rows_s, tests_s


def mutant_work(there: Copy, module: str, known: frozenset[str], limits: tuple[float, float]) -> Callable[[], int]:
    """What a mutant's process does: rows, then tests, each under its limit in seconds (the alarm ends the process)."""

    def work() -> int:
        signal.setitimer(signal.ITIMER_REAL, limits[0])
        import steelyard

        if not str(steelyard.__file__).startswith(str(there.folder)):
            return NOT_THE_COPY
        importlib_module = __import__(f"steelyard.verifiers.{module}", fromlist=["VERIFIERS"])
        if not importlib_module.VERIFIERS:
            return BY_IMPORT
        if row_faults(module, True, known):
            return BY_ROWS
        signal.setitimer(signal.ITIMER_REAL, limits[1])
        return BY_TESTS if test_faults(module, True, known) else SURVIVED

    return work


def killer(status: int) -> str:
    """What killed a mutant, by its process's status."""
    if os.WIFSIGNALED(status):
        return "time" if os.WTERMSIG(status) == signal.SIGALRM else "crash"
    code = os.WEXITSTATUS(status)
    if code == NOT_THE_COPY:
        raise SystemExit("expected the copy of the package to be imported, got another one: is PYTHONPATH heeded?")
    return "" if code == SURVIVED else KILLED.get(code, "crash")


def run_module(module: str, copies: list[Copy], args: argparse.Namespace, known: dict[str, Result]) -> list[Result]:
    """Judge a sample of a module's mutants, as many at a time as there are copies."""
    source = (copies[0].folder / "src" / "steelyard" / "verifiers" / f"{module}.py").read_text(encoding="utf-8")
    tree = ast.parse(source)
    found = sites(tree)
    chosen = random.Random(f"{args.seed}:{module}").sample(range(len(found)), min(args.n, len(found)))
    digest = hashlib.sha256(source.encode()).hexdigest()[:8]
    unchanged = ast.unparse(tree) + "\n"
    mutants = [at for at in sorted(chosen) if found[at].apply(tree) != unchanged]  # "" for '' is no fault
    keys = {f"{module}:{digest}:{at}": found[at] for at in mutants}
    results = [known[key] for key in keys if key in known and (known[key].by or not args.again)]
    done = {result.key for result in results}
    waiting = [(key, site) for key, site in keys.items() if key not in done]
    if not waiting:
        return results
    faults, rows_s, tests_s = baseline(copies[0], module)
    if faults:
        print(f"  {module}: left out, for they fail without a mutant: {', '.join(sorted(faults))}")
    limits = (10 + 10 * rows_s, 30 + 4 * tests_s)
    running: dict[int, tuple[Copy, str, Site, float]] = {}
    free = list(copies)
    while waiting or running:
        while waiting and free:
            there, (key, site) = free.pop(), waiting.pop(0)
            there.write(module, site.apply(tree))
            pid = there.start(mutant_work(there, module, faults, limits))
            running[pid] = (there, key, site, time.monotonic())
        pid, status = os.wait()
        there, key, site, begun = running.pop(pid)
        free.append(there)
        _end_group(pid)
        seconds = round(time.monotonic() - begun, 2)
        result = Result(module, key, site.line, site.operator, site.before, site.after, killer(status), seconds)
        results.append(result)
        if args.json:
            with args.json.open("a", encoding="utf-8") as out:
                out.write(json.dumps(asdict(result), ensure_ascii=False) + "\n")
    for there in copies:
        there.write(module, source)
    return results


def _end_group(pid: int) -> None:
    """End what a mutant's process left behind."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _said(results: list[Result]) -> str:
    by: dict[str, int] = {}
    for result in results:
        by[result.by or "survived"] = by.get(result.by or "survived", 0) + 1
    killed = sum(bool(result.by) for result in results)
    share = f"{100 * killed / len(results):.1f} %" if results else "-"
    return f"{killed}/{len(results)} killed ({share}): " + ", ".join(f"{name} {n}" for name, n in sorted(by.items()))


def main() -> int:
    """Run the modules that were asked for; exit 1 where less than nine in ten mutants are killed."""
    parser = argparse.ArgumentParser(description="mutation testing of the verifiers")
    parser.add_argument("--module", action="append", choices=MODULES, help="a module (again for another); else all")
    parser.add_argument("--n", type=int, default=40, help="mutants a module at most (default 40)")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (default 1)")
    parser.add_argument("--json", type=Path, help="a file of results, one a line; what is in it is not run again")
    parser.add_argument("--again", action="store_true", help="run the survivors of that file again")
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    known: dict[str, Result] = {}
    if args.json and args.json.is_file():
        known = {r.key: r for r in (Result(**json.loads(line)) for line in args.json.read_text("utf-8").splitlines())}
    everything: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="mutate-") as folder:
        copies = [Copy(Path(folder) / str(number)) for number in range(args.processes)]
        for module in args.module or MODULES:
            begun = time.monotonic()
            results = run_module(module, copies, args, known)
            print(f"{module}: {_said(results)}  [{time.monotonic() - begun:.0f} s]")
            for result in sorted((r for r in results if not r.by), key=lambda r: r.line):
                print(f"  {result}")
            sys.stdout.flush()
            everything += results
    print(f"all: {_said(everything)}")
    return int(sum(bool(result.by) for result in everything) < 0.9 * len(everything))


if __name__ == "__main__":
    sys.exit(main())
