"""What every benchmark shares: the cost of a process, rounds that take turns, the machine, and the JSON that is kept.

A benchmark's JSON has one form, from which scripts/write_performance.py makes docs/performance.md: `job`, `goal`,
`command`, `machine` (with the load before and after), `rows` (flat objects: the keys are the table's columns) and
`notes`. CPU seconds are of a process and of everything below it that has ended; peak memory is of the largest single
process among them, as the kernel counts it (resident, with shared pages).
Easy to break: comparing sides from different runs. Sides take turns, round by round.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import NamedTemporaryFile, TemporaryFile
from typing import Any, NamedTuple

HERE = Path(__file__).parent
ENVS = HERE / ".envs"
RESULTS = HERE / "results"
Row = dict[str, Any]


class Cost(NamedTuple):
    """What one process cost; `out` is what it printed."""

    cpu_s: float
    wall_s: float
    peak_mib: float
    code: int
    out: str
    err: str


def cost(argv: Sequence[str | Path], env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Cost:
    """Run a command to its end."""
    with TemporaryFile("w+b") as out, TemporaryFile("w+b") as err, NamedTemporaryFile("r") as said:
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-I", "-S", "-c", _LAUNCH, said.name, *(str(one) for one in argv)],
            stdout=out, stderr=err, stdin=subprocess.DEVNULL, cwd=cwd, env={**os.environ, **(env or {})}, check=True,
        )  # fmt: skip
        wall_s = time.perf_counter() - began
        cpu_s, peak_kib, code = said.read().split()
        out.seek(0)
        err.seek(0)
        texts = out.read().decode(errors="replace"), err.read().decode(errors="replace")
    return Cost(float(cpu_s), wall_s, int(peak_kib) / 1024, int(code), *texts)


# A process counts the memory of whoever started it as its own peak, so something small has to start it.
_LAUNCH = """
import os, sys
pid = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, used = os.wait4(pid, 0)
with open(sys.argv[1], "w") as out:
    print(used.ru_utime + used.ru_stime, used.ru_maxrss, os.waitstatus_to_exitcode(status), file=out)
"""


def middle(costs: Sequence[Cost]) -> Row:
    """Medians of some runs of one command."""
    return {
        "cpu_s": round(median(one.cpu_s for one in costs), 3),
        "wall_s": round(median(one.wall_s for one in costs), 3),
        "peak_mib": round(median(one.peak_mib for one in costs), 1),
    }


def in_turns(sides: Mapping[str, Callable[[], Cost]], rounds: int) -> dict[str, list[Cost]]:
    """Run every side once a round; a side that fails is told and left out from then on."""
    found: dict[str, list[Cost]] = {name: [] for name in sides}
    failed: set[str] = set()
    for _ in range(rounds):
        for name, side in sides.items():
            if name in failed:
                continue
            one = side()
            if one.code:
                failed.add(name)
                last = (one.err.strip() or one.out.strip() or "no output").splitlines()[-1]
                print(f"{name}: exit code {one.code}: {last[:300]}", file=sys.stderr)
            else:
                found[name].append(one)
    return found


def table(found: Mapping[str, Sequence[Cost]], ours: str, versions: Mapping[str, str]) -> list[Row]:
    """A row a side with its ratio to ours (how many times the CPU); a side that was not run says so."""
    rows = []
    base = median(one.cpu_s for one in found[ours])
    for name, costs in found.items():
        row: Row = {"side": name, "version": versions.get(name, "")}
        if costs:
            row |= middle(costs)
            row["times_ours"] = round(row["cpu_s"] / base, 2)
        else:
            row["cpu_s"] = "not run here"
        rows.append(row)
    return rows


def machine() -> dict[str, Any]:
    """What machine is at work, and its load now."""
    model = [line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    memory = [line.split()[1] for line in _lines("/proc/meminfo") if line.startswith("MemTotal")]
    return {
        "cpu": model[0] if model else platform.processor(),
        "cores": os.cpu_count(),
        "memory_gib": round(int(memory[0]) / 2**20, 1) if memory else None,
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "load_before": round(os.getloadavg()[0], 2),
    }


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


def version_of(python: Path, package: str) -> str:
    """The version of a package in another environment; "not installed" where it is not."""
    code = f"from importlib.metadata import version; print(version({package!r}))"
    if not python.exists():
        return "not installed"
    done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "not installed"


def python_of(name: str) -> Path:
    """The interpreter of a peer's environment, whether it is there or not."""
    return ENVS / name / "bin" / "python"


def save(name: str, began: dict[str, Any], job: str, goal: str, rows: list[Row], notes: Sequence[str] = ()) -> None:
    """Print the rows and keep them under bench/results/NAME.json."""
    facts = {
        "job": job,
        "goal": goal,
        "command": " ".join(["python", f"bench/{Path(sys.argv[0]).name}", *sys.argv[1:]]),
        "machine": began | {"load_after": round(os.getloadavg()[0], 2)},
        "rows": rows,
        "notes": list(notes),
    }
    for row in rows:
        print("  ".join(f"{key}={value}" for key, value in row.items()))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(facts, indent=2) + "\n", "utf-8")


class Server(NamedTuple):
    """A local endpoint in a process of its own; `facts` is filled when the block ends."""

    url: str
    facts: dict[str, Any]


@contextmanager
def server(latency_ms: float = 0, text: str = "42") -> Iterator[Server]:
    """A local endpoint (`local_server.py`) while the block runs."""
    argv = [sys.executable, str(HERE / "local_server.py"), "--latency-ms", str(latency_ms), "--text", text]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("the local server has no pipes")
    found = Server(f"http://127.0.0.1:{int(process.stdout.readline())}/v1", {})
    try:
        yield found
    finally:
        process.stdin.close()
        said = process.stdout.read()
        process.wait()
        if said.strip():
            found.facts.update(json.loads(said))
