"""Runs a job of `code_runner` in a session and brings its report, from inside or made here.

Where all cases share one process, the sandbox forks that process where it can, and what it says is heard here: nothing
stands between it and the host, and nothing of the host's is in it. Any other job runs under the runner, which forks a
process for each case and reports.
Not covered: what a report means; `code` decides.
Easy to break: handing the runner anything that says what is right.
"""

from __future__ import annotations

import importlib.util
import marshal
import secrets
import sys
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import msgspec

from steelyard.item import Item
from steelyard.ports import ExecResult, Kit, Session
from steelyard.store import Store
from steelyard.verifiers import forked
from steelyard.verifiers.runner import report_of, run_main, run_watched

_RUNNER_DIR = "/steelyard"
_MODULE = f"{_RUNNER_DIR}/code_runner.py"
_FLAGS = ("-S", "-s", "-B")
_START = (
    f"import os, sys; sys.path[0] = {_RUNNER_DIR!r}; import code_runner; del sys.path[0]; os._exit(code_runner.main())"
)
_START_S = 1.5  # the sandbox's and the runner's own start and end, on top of the program's time
_ESCAPED = 8  # a character of a report takes at most this many bytes once it is written as JSON
_KEPT = ("collections", "copy", "functools", "heapq", "itertools", "math", "re", "string", "typing")
"""Modules that programs mostly import, loaded once for all programs."""


def execute(item: Item, kit: Kit, job: dict[str, Any]) -> tuple[ExecResult, dict[str, Any] | None]:
    """Run a job; the report is None where the runner never wrote one."""
    body = marshal.dumps(job, 2)
    sent = b"%08d%s" % (len(body), body)
    wall_s = job["total_s"] + _START_S
    mounts = {_RUNNER_DIR: _mounted(kit.store)}
    session = kit.session(_with_limits(item, wall_s, job["report_bytes"]), kit.base(item), mounts)
    try:
        if _is_one_process(job):
            seen = _run_alone(session, job, sent, wall_s)
            if seen is not None:
                return seen
        nonce = secrets.token_hex(16)
        result = run_main(
            session,
            ["python3", *_FLAGS, "-c", _START],
            flags=_FLAGS,
            module=_MODULE,
            preload=_KEPT,
            stdin=sent + nonce.encode(),
            wall_s=wall_s,
        )
        return result, report_of(result.output, nonce)
    finally:
        session.close()


def _is_one_process(job: dict[str, Any]) -> bool:
    """Whether all cases share a process, whatever becomes of it."""
    kinds = {case["kind"] for case in job["cases"]}
    return len(job["cases"]) == 1 or (job["together"] and not job["keep_going"] and kinds == {"calls"})


def _run_alone(
    session: Session, job: dict[str, Any], sent: bytes, wall_s: float
) -> tuple[ExecResult, dict[str, Any]] | None:
    """Run a job's one process right where the sandbox forks it, and report here; None where that does not work."""

    def look(result: int, output: int, ended: int) -> forked.Seen:
        seen = forked.Seen(job, job["cases"][0]["kind"])
        return seen.collect(result, output, ended, seen.times[0] + job["total_s"])

    token = secrets.token_hex(16).encode()
    stdin = sent + token
    found = run_watched(
        session, look, flags=_FLAGS, module=_MODULE, entry="alone", preload=_KEPT, stdin=stdin, wall_s=wall_s
    )
    if found is None:
        return None
    seen, code, result = found
    reports = seen.reports(len(job["cases"]), code, token)
    if sum(len(report["said"]) + len(report.get("stdout", "")) for report in reports) > job["report_bytes"]:
        return result, {"cases": [], "stopped": "too-much-output"}
    return result, {"cases": reports, "stopped": ""}


@lru_cache(4)
def _mounted(store: Store) -> dict[str, str]:
    """The runner's files by path as digests, in this store."""
    return {path: store.put(data) for path, data in _runner().items()}


@cache
def _runner() -> dict[str, bytes]:
    """The runner's files by path: sources, and their code for a Python of this version, which then need not compile.

    The code is unchecked and hash-based (PEP 552), because the time stamps of a mounted file mean nothing.
    """
    files: dict[str, bytes] = {}
    for name in ("code_runner", "forked"):
        source = Path(__file__).with_name(f"{name}.py").read_bytes()
        code = compile(source, f"{_RUNNER_DIR}/{name}.py", "exec", dont_inherit=True)
        head = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + importlib.util.source_hash(source)
        files[f"{name}.py"] = source
        files[f"__pycache__/{name}.{sys.implementation.cache_tag}.pyc"] = head + marshal.dumps(code)
    return files


def _with_limits(item: Item, wall_s: float, report_bytes: int) -> Item:
    """The item with room in its limits for the cases' own ones, which the runner keeps."""
    environment = dict(item.environment or {})
    limits = environment.get("limits", {})
    if isinstance(limits, dict):  # anything else is refused, in its own words, where limits are read
        environment["limits"] = {**limits, "wall_s": wall_s, "output_bytes": _ESCAPED * report_bytes}
    return msgspec.structs.replace(item, environment=environment)


class _Told(msgspec.Struct, frozen=True):
    late: str
    code: int
    said: str
    ms: int
    stdout: str | msgspec.UnsetType = msgspec.UNSET


class _Report(msgspec.Struct, frozen=True):
    cases: list[_Told]
    stopped: str


def is_report(report: Any, mode: str) -> bool:
    """Whether a report is one that the runner writes; a program that found its way to the report may write any."""
    try:
        found = msgspec.convert(report, _Report)
    except msgspec.ValidationError:
        return False
    return mode != "stdin" or all(case.stdout is not msgspec.UNSET for case in found.cases)
