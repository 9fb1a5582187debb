"""kill -9 in the middle of a run, then --resume: what is lost, what is asked again, and how soon it goes on.

    python bench/kill.py [--n 2000] [--rounds 3] [--latency-ms 50] [--concurrency 64]

The run is killed when about a third of its rollouts are in the journal. Lost is what the journal held before the kill
and does not hold after; asked again is what both processes asked, less the number of items: at most what was in flight.
The time to the first new request runs from the start of the resuming process to the moment the server saw it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median

from measure import Row, machine, save, server
from runs import LIGHT_ENV, steelyard_argv
from samples import write_suite


def once(folder: Path, n: int, latency_ms: float, concurrency: int) -> Row:
    """One killed and resumed run."""
    suite, out = write_suite(folder / "suite.jsonl", n), folder / "run"
    journal, env = out / "rollouts.jsonl", {**os.environ, **LIGHT_ENV}
    with server(latency_ms) as first:
        argv = [str(one) for one in steelyard_argv(suite, first.url, out, concurrency)]
        process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
        while _lines(journal) < n // 3:
            if process.poll() is not None:
                raise RuntimeError("the run ended before it could be killed")
            time.sleep(0.01)
        process.kill()
        process.wait()
    before = journal.read_bytes().split(b"\n")[:-1]
    with server(latency_ms) as second:
        argv = [*(str(one) for one in steelyard_argv(suite, second.url, out, concurrency)), "--resume"]
        began, cpu = time.time(), os.times()
        subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env, check=True)
        used = os.times()
    after = journal.read_bytes().split(b"\n")[:-1]
    return {
        "finished_at_kill": len(before),
        "lost": len(set(before) - set(after)),
        "finished_in_the_end": len(after),
        "asked_again": first.facts["requests"] + second.facts["requests"] - n,
        "first_request_s": round(second.facts["first_s"] - began, 2),
        "resume_cpu_s": round(used.children_user + used.children_system - cpu.children_user - cpu.children_system, 2),
    }


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def main() -> None:
    """Kill and resume, some times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--latency-ms", type=float, default=50)
    parser.add_argument("--concurrency", type=int, default=64)
    asked = parser.parse_args()
    began, rounds = machine(), []
    for _ in range(asked.rounds):
        with tempfile.TemporaryDirectory() as folder:
            rounds.append(once(Path(folder), asked.n, asked.latency_ms, asked.concurrency))
    row: Row = {"side": "steelyard", "samples": asked.n, "in_flight": asked.concurrency}
    row |= {name: median(one[name] for one in rounds) for name in rounds[0]}
    row["lost"] = max(one["lost"] for one in rounds)
    save("kill", began, "kill -9 in the middle, then --resume", GOAL, [row], NOTES)


GOAL = "0 finished rollouts lost, only those in flight asked again, <= 0.5 s to the first new request"
NOTES = [
    "The time to the first request is wall time, so a busy machine stretches it; most of it is start-up and the suite.",
    "Inspect and lm-eval were not killed here.",
]

if __name__ == "__main__":
    main()
