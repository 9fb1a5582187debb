"""Runs named unittest tests and reports each one; sent into the grading sandbox as a program of its own.

Run as `python3 -I -B runner.py`, standard library and `forked` beside it only. The job on stdin is JSON (`tree`,
`roots`, `files` by test id, `guarded` paths, `deadline_s`), as is the report. Everything that the tests print is kept
apart.

Defences, each for an exploit that was seen: the parent never imports code of the tree, so an exit, a crash or a patch
stays in the child of one test; the nonce is read after the last child is gone, so nothing that ran could know it; the
tree stands behind the standard library on the path, so a root-level `unittest.py` shadows nothing; guarded files are
hashed before the first test and again before each; the assertion framework is compared with what it was before the
tree was imported, and must still fail a false assertion; what the framework calls of a test's own classes must stand
in a guarded file or outside the tree, so that no other TestCase slips in between.
Not covered: code under test that walks the frames of its own child to reach the result, that compiles code under
another file's name, or that returns objects whose `__eq__` is always true. In-process grading cannot be made safe; the
`oracle` strength is for that.
Easy to break: leaving `forked` where code of the tree finds it by its name.
"""
# Importing pathlib and secrets would cost each grading a tenth of its time.
# ruff: noqa: PTH100, PTH113, PTH114, PTH118, PTH120, PTH123

from __future__ import annotations

import builtins
import ctypes
import difflib
import hashlib
import importlib
import importlib.machinery
import importlib.util
import json
import math
import operator
import os
import signal
import sys
import time
import types
import unittest
import unittest.case
import unittest.loader
import unittest.result
import unittest.suite
import unittest.util
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from steelyard.verifiers import forked
else:
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import forked

    del sys.path[0], sys.modules["forked"]

DETAIL_CHARS = 400
TAIL_BYTES = 4000
_RECORD_BYTES = 16 * 1024
_PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 4, 36  # linux/prctl.h

_Fingerprint = dict[str, tuple[object, ...]]
_MODULES: tuple[types.ModuleType, ...] = (
    builtins,
    difflib,
    math,
    operator,
    unittest,
    unittest.case,
    unittest.loader,
    unittest.result,
    unittest.suite,
    unittest.util,
)
_WRAPPERS = (staticmethod, classmethod, property)
_write, _exit = os.write, os._exit  # kept from before any code under test could replace them


class _Result(unittest.TestResult):
    """Counts what unittest itself keeps no list of."""

    def __init__(self) -> None:
        super().__init__()
        self.passed = 0

    def addSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802  # unittest's name
        super().addSuccess(test)
        self.passed += 1


class _MissingTestError(Exception):
    """A test id names nothing in the tree."""


def _prctl(option: int, value: int) -> bool:
    try:
        return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def _fingerprint(namespace: Mapping[str, object]) -> _Fingerprint:
    """Every callable of a namespace with the parts of a function that can be swapped in place."""
    found: _Fingerprint = {}
    for name, value in list(namespace.items()):
        if callable(value) or isinstance(value, _WRAPPERS):
            inner = getattr(value, "__func__", value)
            if type(inner) is types.FunctionType:
                found[name] = (value, inner.__code__, inner.__defaults__, inner.__kwdefaults__)
            else:
                found[name] = (value, None, None, None)
    return found


def _changed(before: _Fingerprint, now: _Fingerprint, additions: Callable[[str], bool]) -> str:
    """The first name that differs, or that is new where `additions` minds; empty when there is none."""
    for name, parts in before.items():
        seen = now.get(name)
        if seen is None:
            return name
        for old, new in zip(parts, seen, strict=True):
            if old is not new:
                return name
    for name in now:
        if name not in before and additions(name):
            return name
    return ""


def _classes(modules: Sequence[types.ModuleType]) -> list[type]:
    found = [v for m in modules if m is not builtins for v in vars(m).values() if isinstance(v, type)]
    return [c for c in found if c.__module__.startswith("unittest")]


def _watch() -> Callable[[], str]:
    """Remember the framework as it is now; the function returned names what has changed since."""
    modules = [(module, _fingerprint(vars(module))) for module in _MODULES]
    classes = [(cls, _fingerprint(vars(cls))) for cls in _classes(_MODULES)]
    loaded = [(module.__name__, module) for module in _MODULES]

    def changed() -> str:
        for module, before in modules:  # builtins first: the rest of this check relies on them
            name = _changed(before, _fingerprint(vars(module)), lambda _: False)
            if name:
                return f"{module.__name__}.{name}"
        for cls, before in classes:
            name = _changed(before, _fingerprint(vars(cls)), lambda _: True)
            if name:
                return f"{cls.__name__}.{name}"
        for name, module in loaded:
            if sys.modules.get(name) is not module:
                return f"sys.modules[{name!r}]"
        return ""

    return changed


def _framework_names() -> frozenset[str]:
    names = [name for name in dir(unittest.TestCase) if callable(getattr(unittest.TestCase, name))]
    return frozenset({*names, "__getattr__"})


def _stranger(test: unittest.TestCase, method: str, is_trusted: Callable[[str], bool]) -> str:
    """The first thing that the framework calls of a test's classes and that no trusted file holds; empty for none."""
    kinds = type(type(test)).__mro__
    names = _framework_names() | {method}
    for cls in (*type(test).__mro__, *kinds):
        for name, value in list(vars(cls).items()):
            called = name in names or (cls in kinds and isinstance(value, (types.FunctionType, *_WRAPPERS)))
            if cls not in (object, type) and called and not _is_own(name, value, is_trusted):
                return f"{cls.__name__}.{name} is no code of the tests"
    return ""


def _is_own(name: str, value: object, is_trusted: Callable[[str], bool]) -> bool:
    """Whether a class attribute is a value that is never called, or a function whose code is in trusted files."""
    inner = value.fget if isinstance(value, property) else value
    if isinstance(inner, (staticmethod, classmethod)):
        inner = inner.__func__
    if type(inner) is not types.FunctionType:
        plain = not callable(inner) and not hasattr(type(inner), "__get__")
        return plain or (name == "failureException" and isinstance(inner, type))
    while type(inner) is types.FunctionType:
        if not is_trusted(inner.__code__.co_filename):
            return False
        inner = vars(inner).get("__wrapped__")
    return inner is None


def _trust(job: Mapping[str, Any]) -> Callable[[str], bool]:
    """Whether a file is guarded or one of the interpreter's own; asked before the tree is on the path."""
    guarded = frozenset(os.path.normpath(os.path.join(job["tree"], path)) for path in job["guarded"])
    outside = ("<frozen ", *(os.path.join(path, "") for path in sys.path if path))
    return lambda file: os.path.normpath(file) in guarded or file.startswith(outside)


def _watch_test(test: unittest.TestCase) -> Callable[[], str]:
    """The same for a test's own classes and its instance: they may grow, but never over what the framework calls."""
    classes = [c for c in type(test).__mro__ if c is not object]
    before = [(cls, _fingerprint(vars(cls))) for cls in classes]
    framework = _framework_names()

    def changed() -> str:
        for cls, was in before:
            name = _changed(was, _fingerprint(vars(cls)), framework.__contains__)
            if name:
                return f"{cls.__name__}.{name}"
        return next((f"self.{name}" for name in vars(test) if name in framework), "")

    return changed


_UNEQUAL = ((1, 2), (1.0, 2.0), ("a", "b"), ([1], [2]), ({1: 1}, {1: 2}), ({1}, {2}))
_FALSE = {"assertNotEqual": (1, 1), "assertAlmostEqual": (1.0, 2.0), "assertTrue": (0,), "assertFalse": (1,)}
_FALSE_TOO = {"assertIn": (1, []), "assertIs": (None, 0), "assertIsNone": (0,), "assertRaises": (ValueError, int)}


def _canary(test: unittest.TestCase) -> str:
    """The first false assertion that this test case lets pass; empty when all fail as they must."""
    claims = [("assertEqual", pair) for pair in _UNEQUAL]
    for name, arguments in (*claims, *_FALSE.items(), *_FALSE_TOO.items(), ("fail", ())):
        try:
            getattr(test, name)(*arguments)
        except Exception:  # noqa: BLE001, S112  # whatever an own assertion raises, the false claim did not pass
            continue
        return f"{name}{arguments} does not fail"
    return ""


def _load_top(name: str, roots: Sequence[str]) -> None:
    """Import a top-level name from the tree alone, so that `test` is never the standard library's."""
    spec = importlib.machinery.PathFinder.find_spec(name, list(roots))
    if spec is None:
        raise _MissingTestError(f"no module {name}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if spec.loader is not None:
        spec.loader.exec_module(module)


def _load_module(name: str, file: str, roots: Sequence[str]) -> types.ModuleType:
    """The test module from its own file; what code under test puts into `sys.modules` under its name is not asked."""
    package = name.rpartition(".")[0]
    if package:
        _load_top(package.split(".")[0], roots)
        importlib.import_module(package)
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise _MissingTestError(f"{file} is no Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _load(test_id: str, file: str, roots: Sequence[str]) -> unittest.TestCase:
    """The test of that id."""
    module_name, class_name, method = test_id.rsplit(".", 2)
    cls = getattr(_load_module(module_name, file, roots), class_name, None)
    if not (isinstance(cls, type) and issubclass(cls, unittest.TestCase)):
        raise _MissingTestError(f"{module_name} has no test case {class_name}")
    if not callable(getattr(cls, method, None)):
        raise _MissingTestError(f"{class_name} has no test {method}")
    return cls(method)


def _outcome(result: _Result) -> tuple[str, str]:
    problems = [("error", text) for _, text in result.errors] + [("failed", text) for _, text in result.failures]
    problems += [("failed", "unexpected success") for _ in result.unexpectedSuccesses]
    problems += [("skipped", reason) for _, reason in result.skipped]
    if problems:
        status, text = problems[0]
        lines = text.strip().splitlines()
        return status, lines[-1] if lines else ""
    if result.testsRun == 1 and result.passed + len(result.expectedFailures) == 1:
        return "passed", ""
    return "error", f"{result.testsRun} tests ran, {result.passed} passed"


def _run_test(
    test_id: str,
    file: str,
    roots: Sequence[str],
    framework_changed: Callable[[], str],
    is_trusted: Callable[[str], bool],
) -> tuple[str, str]:
    """(status, detail) of one test, in the process that imports the code under test."""
    try:
        test = _load(test_id, file, roots)
        stranger = _stranger(test, test_id.rpartition(".")[2], is_trusted)
        test_changed = _watch_test(test)
        result = _Result()
        unittest.TestSuite([test]).run(result)
        status, detail = _outcome(result)
    except _MissingTestError as error:
        return "missing", str(error)
    except BaseException as error:  # noqa: BLE001  # an exit while importing must not end this process
        changed = framework_changed()
        return ("tampered", changed) if changed else ("error", f"{type(error).__name__}: {error}")
    changed = framework_changed() or stranger or test_changed() or _canary(test)
    return ("tampered", changed) if changed else (status, detail)


def _child(
    job: Mapping[str, Any], test_id: str, token: str, record: int, output: int, framework_changed: Callable[[], str]
) -> None:
    """Everything that one test does; ends the process, and only a full record counts."""
    own = os.getpid()
    forked.place([(os.open(os.devnull, os.O_RDONLY), 0), (output, 1), (output, 2), (record, 3)])
    os.closerange(4, 1024)
    _prctl(_PR_SET_DUMPABLE, 1)
    roots = [os.path.normpath(os.path.join(job["tree"], root)) for root in job["roots"]]
    is_trusted = _trust(job)
    at = next((i for i, path in enumerate(sys.path) if path.endswith("-packages")), len(sys.path))
    sys.path[at:at] = roots
    os.chdir(job["tree"])
    file = os.path.join(job["tree"], job["files"][test_id])
    status, detail = _run_test(test_id, file, roots, framework_changed, is_trusted)
    forked.flush()
    if os.getpid() != own:  # a copy of this process that the code under test forked off and let run on
        _exit(0)
    line = " ".join(f"{status} {detail}".split())[:DETAIL_CHARS]
    _write(3, f"{token} {line}\n".encode(errors="replace"))
    _exit(0)


def _fork(
    job: Mapping[str, Any], test_id: str, deadline: float, tail: bytearray, framework_changed: Callable[[], str]
) -> tuple[str, str]:
    """Run one test in a child of its own and read its record."""
    token = os.urandom(16).hex()
    record_out, record_in = os.pipe()
    output_out, output_in = os.pipe()
    pid = forked.fork(lambda: _child(job, test_id, token, record_in, output_in, framework_changed))
    os.close(record_in)
    os.close(output_in)
    said, ended = bytearray(), os.pidfd_open(pid)
    sinks = {record_out: forked.first_of(said, _RECORD_BYTES), output_out: forked.last_of(tail, TAIL_BYTES)}
    late = forked.collect(ended, sinks, lambda: deadline)
    if late:
        os.kill(pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    forked.end_all()
    for handle in (ended, record_out, output_out):
        os.close(handle)
    return _verdict(said.decode(errors="replace"), token, code, late=bool(late))


def _verdict(said: str, token: str, code: int, *, late: bool) -> tuple[str, str]:
    if late:
        return "timeout", ""
    lines = said.splitlines()
    if not lines:
        return "crashed", f"ended with code {code} before the test was over"
    if len(lines) != 1 or not lines[0].startswith(f"{token} ") or code != 0:
        return "tampered", "something else was written to the report"
    status, _, detail = lines[0].removeprefix(f"{token} ").partition(" ")
    return status, detail


def _hashes(tree: str, paths: Sequence[str]) -> dict[str, str]:
    found = {}
    for path in paths:
        whole = os.path.join(tree, path)
        if os.path.isfile(whole) and not os.path.islink(whole):
            with open(whole, "rb") as file:
                found[path] = hashlib.sha256(file.read()).hexdigest()
    return found


def run(job: Mapping[str, Any]) -> dict[str, Any]:
    """Run every test of `job["files"]` and report `results` (id -> [status, detail]) and the `output` tail.

    Kills every process below this one between tests: only for a process that exists for nothing else.
    """
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _prctl(_PR_SET_DUMPABLE, 0)
    deadline = time.monotonic() + job["deadline_s"]
    guarded = _hashes(job["tree"], job["guarded"])
    results: dict[str, tuple[str, str]] = {}
    tail = bytearray()
    framework_changed = _watch()  # before anything of the tree is imported: children inherit what it remembers
    for test_id in job["files"]:
        changed = sorted(p for p, h in guarded.items() if _hashes(job["tree"], [p]).get(p) != h)
        if changed:
            results[test_id] = ("tampered", f"changed while the tests ran: {changed[0]}")
        else:
            results[test_id] = _fork(job, test_id, deadline, tail, framework_changed)
    return {"results": results, "output": tail.decode(errors="replace")}


def main() -> None:
    """Read the job, run it, then read the nonce and write the report."""
    sys.dont_write_bytecode = True
    sys.pycache_prefix = "/nonexistent"  # cached bytecode in the tree is never read
    forked.write_report(json.dumps(run(json.loads(forked.read_job()))))


if __name__ == "__main__":
    main()
