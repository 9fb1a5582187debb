"""Runs one program on many inputs and reports what it returned or printed; sent into the sandbox as a program.

Standard library and `forked` only. The job on stdin is marshal data (see `run`); the report is JSON.
The job of a `calls` or `stdin` case holds inputs and never an expected value: what is right is decided outside, so
nothing that the program can reach or patch in here helps it. Each case is a fresh fork of this process, which never
runs the program itself; the assertions of one test share a fork, as they would share a process anywhere.
Where the sandbox forks this process afresh for a job of one such fork, `alone` runs the program right there, and what
it says goes to the host.
Only a `program` case (strength `tests`) is decided inside: it passes when its child reads a token after the test
program has ended and hands it back, the builtins are as they were, and the entry point was called.
Not covered: a program that finds the token's handle in a `program` case. `calls` and `stdin` need no token.
Easy to break: importing more here than is used (the start is most of the cost).
"""

from __future__ import annotations

import builtins
import gc
import marshal
import os
import sys
import time
from _json import encode_basestring_ascii as _quoted

TYPE_CHECKING = False  # typing itself would be a third of the start
if TYPE_CHECKING or __package__:
    from steelyard.verifiers import forked
else:
    import forked
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_read, _exit, _write_all = os.read, os._exit, forked.write_all  # kept from before any program could replace them
_BUILTINS = dict(vars(builtins))
_DEPTH = 200
_SAFE_INT = 2**63
_OWN_FRAMES = 10  # between the start and the program
_WARM = 16  # calls after which the interpreter has adapted a function
_DETAIL_CHARS = 300
_PR_SET_DUMPABLE = 4  # linux/prctl.h


class OtherTypeError(Exception):
    """A value that is of no builtin type."""


class NoEntryPointError(Exception):
    """The program does not define what should be called."""


def encode(value: object, depth: int = 0) -> str:
    """A value as JSON text, exact in type: what JSON has no word for is an object with one key that starts with `$`.

    Raises OtherTypeError for anything but builtin types and the dicts of `collections`; nothing of the value's own
    code is called.
    """
    kind = type(value)
    if depth > _DEPTH:
        raise OtherTypeError("a value nested too deeply")
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    if kind is int:
        return repr(value) if -_SAFE_INT < value < _SAFE_INT else f'{{"$int":"{value:#x}"}}'  # type: ignore[operator]
    if kind is float:
        return repr(value) if value - value == 0 else f'{{"$float":"{value!r}"}}'  # type: ignore[operator]
    if kind is str:
        return _quoted(value)  # type: ignore[arg-type]
    if kind is list:
        return "[" + ",".join([encode(v, depth + 1) for v in value]) + "]"  # type: ignore[attr-defined]
    if kind is tuple:
        return '{"$tuple":[' + ",".join([encode(v, depth + 1) for v in value]) + "]}"  # type: ignore[attr-defined]
    if kind is set or kind is frozenset:
        return f'{{"${kind.__name__}":[' + ",".join(sorted([encode(v, depth + 1) for v in value])) + "]}"  # type: ignore[attr-defined]
    if kind is dict or (isinstance(value, dict) and kind.__module__ == "collections"):
        return _encode_dict(value, depth + 1)  # type: ignore[arg-type]
    if kind is bytes:
        return f'{{"$bytes":"{value.hex()}"}}'  # type: ignore[attr-defined]
    if kind is complex:
        return f'{{"$complex":[{encode(value.real)},{encode(value.imag)}]}}'  # type: ignore[attr-defined]
    raise OtherTypeError(f"a value of type {kind.__name__}"[:_DETAIL_CHARS])


def _encode_dict(value: dict[Any, Any], depth: int) -> str:
    pairs = list(dict.items(value))
    if all(type(key) is str and not key.startswith("$") for key, _ in pairs):
        return "{" + ",".join([f"{_quoted(key)}:{encode(v, depth)}" for key, v in pairs]) + "}"
    return '{"$dict":[' + ",".join([f"[{encode(key, depth)},{encode(v, depth)}]" for key, v in pairs]) + "]}"


def _module(name: str) -> Any:
    """A fresh module that stands where an import by its name finds it."""
    module = type(sys)(name)
    module.__dict__["__builtins__"] = builtins
    sys.modules[name] = module
    return module


def _prelude(names: Mapping[str, str]) -> dict[str, Any]:
    """Names that a program finds without importing them, unless it binds them itself."""
    return {name: getattr(__import__(place), name) if place else __import__(name) for name, place in names.items()}


def _compiled(sources: Sequence[str]) -> Any:
    """The first source that compiles; raises what the first one raised when none does."""
    first: BaseException | None = None
    for source in sources:
        try:
            return compile(source, "<answer>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
            first = first or error
    raise first or SyntaxError("no source")


def _entry(space: Mapping[str, Any], path: str) -> Any:
    """What to call: a function, a method of a class (`Solution.f`), or a method of the class `Solution`."""
    first, _, rest = path.partition(".")
    found = space.get(first)
    if found is None and not rest and isinstance(space.get("Solution"), type):
        found, rest = space["Solution"], first
    for name in rest.split(".") if rest else ():
        if isinstance(found, type):
            found = found()
        found = getattr(found, name, None)
    if not callable(found):
        raise NoEntryPointError(path)
    return found


def _after(value: Any, steps: Sequence[tuple[str, Sequence[Any], Mapping[str, Any]]]) -> Any:
    """What a test does with a result before it compares: a builtin, an attribute, an item, a call of it."""
    for name, arguments, names in steps:
        if name == "()":
            value = value(*arguments, **names)
        elif name == "[]":
            value = value[arguments[0]]
        elif name[0] == ".":
            value = getattr(value, name[1:])
        else:
            value = _BUILTINS[name](value, *arguments, **names)
    return value


def _calls(job: Mapping[str, Any], cases: Sequence[Mapping[str, Any]], space: Mapping[str, Any], say: Any) -> None:
    """The calls of each case, a message after each; without `keep_going` a case that broke is the last."""
    function = _entry(space, job["entry"])
    for case in cases:
        texts = []
        try:
            for call in case["calls"]:
                arguments, names, steps = marshal.loads(call)  # noqa: S302  written by the host
                texts.append(_quoted(encode(_after(function(*arguments, **names), steps))))
        except BaseException as error:  # noqa: BLE001  whatever the program raises is an outcome
            say(_said(error))
            if not job["keep_going"]:
                return
        else:
            say(f"R[{','.join(texts)}]")


def _test(job: Mapping[str, Any], case: Mapping[str, Any], code: Any, space: dict[str, Any], token: int) -> str:
    """Run a test program in the program's own namespace; the token comes out only when every assertion held."""
    before = dict(vars(builtins))
    test = compile(case["program"], "<tests>", "exec", dont_inherit=True)
    canary = compile("assert 1 == 2", "<canary>", "exec", dont_inherit=True)
    exec(code, space)  # noqa: S102  running it is what this program is for
    function, calls = _entry(space, job["entry"]), [0]
    space = dict(space)  # what the test defines is in none of the program's own names

    def checked(*arguments: Any, **names: Any) -> Any:
        calls[0] += 1
        value = function(*arguments, **names)
        encode(value)  # refuses an object that says it equals everything
        return value

    plain = not isinstance(function, type)
    if plain and "." not in job["entry"]:
        space[job["entry"]] = checked
    space["candidate"] = checked if plain else function
    exec(test, space)  # noqa: S102  what the suite's author asks of the program
    if case["check"]:
        space["check"](checked if plain else function)
    if plain and not calls[0]:
        return "Tthe tests never called the entry point"
    if any(before.get(name) is not value for name, value in vars(builtins).items()) or before.keys() - vars(builtins):
        return "Tbuiltins were replaced"
    try:
        exec(canary, {})  # noqa: S102
    except AssertionError:
        return "P" + _read(token, 64).decode("ascii", "replace")
    return "Ta false assertion did not fail"


def _open_streams() -> None:
    """Those of this process; made anew, since a stream remembers whether what it was opened on can be sought in."""
    for name, handle, mode, errors in (
        ("stdin", 0, "r", "surrogateescape"),
        ("stdout", 1, "w", "surrogateescape"),
        ("stderr", 2, "w", "backslashreplace"),
    ):
        stream = open(handle, mode, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115
        vars(sys).update({name: stream, f"__{name}__": stream})


def _shut_down(space: dict[str, Any]) -> None:
    """What the interpreter does at the end of a program: wait for threads, run exit handlers, let everything go."""
    if "threading" in sys.modules:
        sys.modules["threading"]._shutdown()  # noqa: SLF001  what the interpreter calls
    if "atexit" in sys.modules:
        sys.modules["atexit"]._run_exitfuncs()  # noqa: SLF001  what the interpreter calls
    space.clear()  # files that were never closed write what they hold when they go
    gc.collect()
    forked.flush()


def _quit(code: object = None) -> None:
    raise SystemExit(code)


def _said(error: BaseException) -> str:
    """An exception as a message."""
    if isinstance(error, NoEntryPointError):
        return f"N{error}"
    if isinstance(error, OtherTypeError):
        return f"O{error}"
    if isinstance(error, SystemExit):
        return f"S{error.code!r}"[:_DETAIL_CHARS]
    try:
        text = f"{type(error).__name__}: {error}"
    except BaseException:  # noqa: BLE001  the program's own __str__ may do anything
        text = "an exception that cannot be printed"
    return "E" + text[:_DETAIL_CHARS]


def _do(job: Mapping[str, Any], cases: Sequence[Mapping[str, Any]], token: int, say: Any) -> None:
    """Everything that one process does; a message's first letter says how its case ended."""
    try:
        code = _compiled(job["sources"])
    except BaseException as error:  # noqa: BLE001  a program that does not compile is an outcome
        say("C" + _said(error)[1:])
        return
    kind = cases[0]["kind"]
    space = _module("__main__" if kind == "stdin" else "solution").__dict__
    space.update(_prelude(job["prelude"]))
    try:
        if kind == "program":
            say(_test(job, cases[0], code, space, token))
            return
        try:
            exec(code, space)  # noqa: S102  running it is what this program is for
        finally:
            if kind == "stdin":
                _shut_down(space)
        if kind == "calls":
            _calls(job, cases, space, say)
        else:
            say("R")
    except BaseException as error:  # noqa: BLE001  whatever the program raises is an outcome
        say(_said(error))


def _child(job: Mapping[str, Any], cases: Sequence[Mapping[str, Any]], handles: Sequence[int]) -> None:
    """Set up the streams of a process, run its cases, send their messages; never returns."""
    own = os.getpid()
    result, output, *token = handles
    if cases[0]["kind"] == "stdin":
        source = os.memfd_create("stdin")
        _write_all(source, cases[0]["stdin"])
        os.lseek(source, 0, 0)
    else:
        source = os.open(os.devnull, os.O_RDONLY)
    null = os.open(os.devnull, os.O_WRONLY)
    forked.place([(result, 60), *((one, 61) for one in token), (source, 0), (output, 1), (null, 2)])
    os.closerange(3, 60)
    os.closerange(61 + len(token), 1024)
    _open_streams()
    sys.setrecursionlimit(sys.getrecursionlimit() + _OWN_FRAMES)

    def say(message: str) -> None:
        if os.getpid() != own:  # a copy of this process that the program forked off and let run on
            _exit(0)
        _write_all(60, message.replace("\n", " ").encode("utf-8", "backslashreplace") + b"\n")

    _do(job, cases, 61, say)
    _exit(0)


def _sound(report: Mapping[str, Any], kind: str) -> bool:
    """Whether a case came to its end, right or wrong."""
    if report["late"] or report["code"] != 0:
        return False
    return report["said"] in ("", "R", "S0", "SNone") if kind == "stdin" else report["said"][:1] in ("R", "P")


def _run_group(job: Mapping[str, Any], cases: Sequence[Mapping[str, Any]], deadline: float) -> list[dict[str, Any]]:
    """The reports of cases that share a process, up to the one that broke it."""
    result_out, result_in = os.pipe()
    output_out, output_in = os.pipe()
    token_out, token_in = os.pipe()

    def child() -> None:
        forked.lead_group(0)
        _child(job, cases, (result_in, output_in, token_out))

    pid = forked.fork(child)
    forked.lead_group(pid)
    kind, token = cases[0]["kind"], b""
    if kind == "program":
        token = os.urandom(16).hex().encode()
        _write_all(token_in, token)
    for fd in (result_in, output_in, token_out, token_in):
        os.close(fd)
    ended = os.pidfd_open(pid)
    seen = forked.Seen(job, kind).collect(result_out, output_out, ended, deadline)
    code = forked.end_group(pid)
    for fd in (ended, result_out, output_out):
        os.close(fd)
    return seen.reports(len(cases), code, token)


def _groups(job: Mapping[str, Any]) -> list[list[Mapping[str, Any]]]:
    """The cases by the process that they share: each its own, but assertions of one test all the same."""
    groups: list[list[Mapping[str, Any]]] = []
    for case in job["cases"]:
        if job["together"] and groups and case["kind"] == groups[-1][-1]["kind"] == "calls":
            groups[-1].append(case)
        else:
            groups.append([case])
    return groups


def run(job: Mapping[str, Any]) -> dict[str, Any]:
    """Run the cases of a job in order; without `keep_going` a case that broke is the last.

    A job is `{sources, entry, cases, case_s, total_s, value_bytes, report_bytes, keep_going, together, preload,
    prelude}`; a case is `{kind: "calls", calls: [marshal of (args, kwargs, after)]}`, `{kind: "stdin", stdin}` or
    `{kind: "program", program, check}`.
    """
    deadline = time.monotonic() + job["total_s"]
    reports: list[dict[str, Any]] = []
    pending = _groups(job)[::-1]
    total = 0
    while pending:
        if time.monotonic() >= deadline:
            return {"cases": reports, "stopped": "timed-out"}
        group = pending.pop()
        found = _run_group(job, group, deadline)
        total += sum(len(report["said"]) + len(report.get("stdout", "")) for report in found)
        if total > job["report_bytes"]:
            return {"cases": reports, "stopped": "too-much-output"}
        reports += found
        if not job["keep_going"] and not all(_sound(report, group[0]["kind"]) for report in found):
            break
        if len(found) < len(group):
            pending.append(group[len(found) :])
    return {"cases": reports, "stopped": ""}


def _prepare(job: Mapping[str, Any]) -> None:
    """Load what the program imports, once for all its cases; the start of a case is then no more than a fork."""
    vars(builtins).update(exit=_quit, quit=_quit)  # the interpreter's own come with `site`, which is left out
    if any(case["kind"] == "program" for case in job["cases"]):
        import ctypes  # only where a child could gain something by looking into this process

        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    for name in job["preload"]:
        try:
            __import__(name)
        except ImportError:
            continue
    gc.freeze()


def main() -> int:
    """Read the job, run it and write the report; the exit code 3 has the host look for kills."""
    job = _job()
    forked.write_report(encode(run(job)))
    return 3


def alone() -> None:
    """Run a job whose cases share a process in this one, and end; handle 3 hears of it, a token is behind the job."""
    job = _job()
    token = (0,) if job["cases"][0]["kind"] == "program" else ()
    _child(job, job["cases"], (3, 1, *token))


def warm_up() -> None:
    """Do once what is slow the first time (types of nodes, bytecode, caches), for forks to find it done."""
    case = {"kind": "calls", "calls": [marshal.dumps(((1,), {}, []), 2)]}
    job = {"sources": ["def f(x):\n    print(end='')\n    return [x, str(x)]\n"], "entry": "f", "prelude": {}}
    for _ in range(_WARM):
        _do({**job, "keep_going": False}, [case], -1, str)
    del sys.modules["solution"]


def _job() -> dict[str, Any]:
    """The job on stdin; nothing of this program is found by its name any more."""
    for name in (__name__, forked.__name__):
        sys.modules.pop(name, None)
    job: dict[str, Any] = marshal.loads(forked.read_job())  # noqa: S302  written by the host
    _prepare(job)
    return job
