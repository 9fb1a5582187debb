"""What a sandbox costs to start, and how long it takes to prove forty tool jobs.

    python bench/sandbox_speed.py [--rounds 3] [--sessions 10] [--jobs 40]

Start: open a session on an empty workspace, run `true`, close it. Backends that this machine cannot give are named as
such; `unsafe-process` isolates nothing and shows what the rest of the machinery costs. Beside them, a bare
`subprocess.run(["true"])`. CPU is of this process and of all children that ended; what a container engine does in a
process of its own is not in it, which is why wall time stands beside it.
Proving: `steelyard prove` of a fresh toolshop suite, all witnesses graded again in sandboxes.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from measure import Row, cost, machine, save
from runs import LIGHT_ENV, STEELYARD

from steelyard.errors import SteelyardError
from steelyard.ports import SandboxSpec
from steelyard.sandbox.choose import open_sandbox
from steelyard.store import Store

BACKENDS = ("bubblewrap", "docker", "unsafe-process")


def _cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _timed(call: Callable[[], object], times: int) -> tuple[float, float]:
    """Mean CPU and wall seconds of a call."""
    call()
    cpu, wall = _cpu_s(), time.perf_counter()
    for _ in range(times):
        call()
    return (_cpu_s() - cpu) / times, (time.perf_counter() - wall) / times


def start(backend: str, store: Store) -> Callable[[], object]:
    """A call that opens a session, runs one program and closes it."""
    sandbox = open_sandbox(backend, allow_unsafe=True)
    if sandbox is None:
        raise SteelyardError("none here")
    spec = SandboxSpec(require=())

    def call() -> None:
        session = sandbox.open(spec, store)
        try:
            session.run(["true"])
        finally:
            session.close()

    return call


def starts(rounds: int, sessions: int, folder: Path) -> list[Row]:
    """A row a backend, rounds taking turns."""
    store, calls, rows = Store(folder / "files"), {}, []
    for backend in BACKENDS:
        try:
            calls[backend] = start(backend, store)
            calls[backend]()
        except (SteelyardError, OSError) as error:
            calls.pop(backend, None)
            rows.append({"job": "start", "side": backend, "cpu_ms": f"not here: {str(error).splitlines()[0][:120]}"})
    calls["subprocess.run"] = lambda: subprocess.run(["true"], check=True)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            found[name].append(_timed(call, sessions))
    for name, times in found.items():
        cpu, wall = (round(1000 * median(one[i] for one in times), 1) for i in (0, 1))
        rows.append({"job": "start", "side": name, "cpu_ms": cpu, "wall_ms": wall})
    return rows


def proving(rounds: int, jobs: int, folder: Path) -> Row:
    """Proving a suite of tool jobs that were made before."""
    suite = folder / "jobs"
    cost([STEELYARD, "make", "toolshop", "--n", str(jobs), "--out", suite], LIGHT_ENV)
    found = [cost([STEELYARD, "prove", suite, "--probe"], LIGHT_ENV) for _ in range(rounds)]
    last = (found[-1].out.strip() or found[-1].err.strip()).splitlines()[-1][:120]
    row: Row = {"job": f"prove {jobs} tool jobs, all witnesses", "side": "steelyard", "says": last}
    row |= {
        "cpu_s": round(median(one.cpu_s for one in found), 2),
        "wall_s": round(median(one.wall_s for one in found), 2),
    }
    return row


def main() -> None:
    """Both parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=40)
    asked = parser.parse_args()
    began = machine()
    with tempfile.TemporaryDirectory() as name:
        rows = starts(asked.rounds, asked.sessions, Path(name))
        rows.append(proving(asked.rounds, asked.jobs, Path(name)))
    save("sandboxes", began, "sandboxes and proving", GOAL, rows)


GOAL = "prove 40 tool jobs, all witnesses (over 300 gradings), <= 20 s wall on 2 cores"

if __name__ == "__main__":
    os.environ["PYTHONDONTWRITEBYTECODE"] = ""
    sys.exit(main())
