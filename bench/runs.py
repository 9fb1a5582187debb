"""A whole run beside its peers: one process each, from the first import to the last record on disk.

    python bench/runs.py [--n 10000] [--peer-n 500] [--rounds 3] [--latencies 0 50 1000] [--concurrency 128]

Sides: `steelyard run`, Inspect (bench/runs_peer.py) and lm-eval's command line, all against the same local server
(`local_server.py`, a process of its own whose CPU is not counted). Peers run `--peer-n` samples, and so do we beside
them: their cost a sample grows with the number, so the ratio at 10,000 would be larger. Every side keeps full records.
What is in flight is what the server saw, averaged over the time between its first and last request.
Not measured: making the question files, starting the server.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from measure import HERE, Cost, Row, cost, machine, middle, python_of, save, server, version_of
from samples import write_questions, write_suite

STEELYARD = Path(sys.executable).parent / "steelyard"
LIGHT_ENV = {
    "STEELYARD_API_KEY": "x", "OPENAI_API_KEY": "x", "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false", "PYTHONDONTWRITEBYTECODE": "",
}  # fmt: skip


def steelyard_argv(suite: Path, url: str, out: Path, concurrency: int) -> list[str | Path]:
    """Our command."""
    return [
        STEELYARD, "run", suite, "--model", "bench", "--base-url", url, "--split", "all", "--allow-unproven",
        "--concurrency", str(concurrency), "--max-new-tokens", "16", "--out", out,
    ]  # fmt: skip


def lm_eval_argv(tasks: Path, url: str, out: Path, concurrency: int) -> list[str | Path]:
    """lm-eval's command."""
    facts = {"model": "bench", "base_url": f"{url}/chat/completions", "num_concurrent": concurrency}
    model_args = ",".join(f"{name}={value}" for name, value in facts.items()) + ",tokenized_requests=False"
    return [
        python_of("lm-eval"), "-m", "lm_eval", "--model", "local-chat-completions", "--model_args", model_args,
        "--tasks", "bench", "--include_path", tasks, "--output_path", out, "--log_samples", "--apply_chat_template",
    ]  # fmt: skip


class Bench:
    """Question files, and one run of a side against a fresh server."""

    def __init__(self, folder: Path, concurrency: int) -> None:
        self._folder, self._concurrency = folder, concurrency

    def run(self, side: str, n: int, latency_ms: float) -> tuple[Cost, dict[str, Any]]:
        """What one run cost, what the server saw and how many bytes it left on disk."""
        out = self._folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        with server(latency_ms) as at:
            spent = cost(self._argv(side, n, at.url, out), LIGHT_ENV, cwd=self._folder)
        facts = dict(at.facts)
        facts["disk_mb"] = round(sum(p.stat().st_size for p in out.rglob("*") if p.is_file()) / 1e6, 2)
        if not spent.code and facts.get("requests", 0) < n:
            spent = spent._replace(code=1, err=f"only {facts.get('requests')} of {n} requests were sent")
        return spent, facts

    def _argv(self, side: str, n: int, url: str, out: Path) -> list[str | Path]:
        questions = self._folder / f"questions-{n}.jsonl"
        if side == "steelyard":
            suite = self._folder / f"suite-{n}.jsonl"
            if not suite.exists():
                write_suite(suite, n)
            return steelyard_argv(suite, url, out, self._concurrency)
        if not questions.exists():
            write_questions(questions, n)
        if side == "inspect":
            return [
                python_of("inspect"), HERE / "runs_peer.py", "inspect-run", questions, url, out, str(self._concurrency)
            ]  # fmt: skip
        tasks = self._folder / f"tasks-{n}"
        verb = [str(python_of("lm-eval")), str(HERE / "runs_peer.py"), "lm-eval-task", str(questions), str(tasks)]
        subprocess.run(verb, check=True)
        return lm_eval_argv(tasks, url, out, self._concurrency)


def measure(bench: Bench, job: str, cases: list[tuple[str, int]], latency_ms: float, rounds: int) -> list[Row]:
    """A row a case, sides taking turns; ratios are to our row of the same number of samples."""
    kept: dict[tuple[str, int], list[tuple[Cost, dict[str, Any]]]] = {case: [] for case in cases}
    failed: dict[tuple[str, int], str] = {}
    for _ in range(rounds):
        for case in cases:
            if case in failed or (case[0] != "steelyard" and not python_of(case[0]).exists()):
                continue
            spent, facts = bench.run(*case, latency_ms)
            if spent.code:
                failed[case] = (spent.err.strip().splitlines() or ["no output"])[-1][:160]
                print(f"{case}: {failed[case]}", file=sys.stderr)
                continue
            kept[case].append((spent, facts))
            print(case, latency_ms, round(spent.cpu_s, 2), round(spent.wall_s, 1), facts, file=sys.stderr, flush=True)
    return [_row(job, case, found, kept, latency_ms) for case, found in kept.items()]


def _row(job: str, case: tuple[str, int], found: Any, kept: Any, latency_ms: float) -> Row:
    side, n = case
    row: Row = {"job": job, "side": side, "version": VERSIONS[side](), "samples": n, "latency_ms": latency_ms}
    if not found:
        return row | {"cpu_s": "not run here"}
    row |= middle([spent for spent, _ in found])
    row |= {name: median(facts[name] for _, facts in found) for name in ("mean_in_flight", "disk_mb")}
    ours = kept.get(("steelyard", n))
    if ours:
        row["times_ours"] = round(row["cpu_s"] / median(spent.cpu_s for spent, _ in ours), 2)
    return row


def _own_version() -> str:
    import steelyard

    return steelyard.__version__


VERSIONS = {
    "steelyard": _own_version,
    "inspect": lambda: version_of(python_of("inspect"), "inspect-ai"),
    "lm-eval": lambda: version_of(python_of("lm-eval"), "lm_eval"),
}


def main() -> None:
    """Run everything and keep it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--peer-n", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--latencies", type=float, nargs="*", default=[50, 1000])
    parser.add_argument("--concurrency", type=int, default=128)
    parser.add_argument("--large", type=int, default=0, help="also one run of this many, for memory (slow)")
    asked = parser.parse_args()
    began, rows = machine(), []
    peers = ("steelyard", "inspect", "lm-eval")
    jobs: list[tuple[str, list[tuple[str, int]], float, int]] = [
        ("one sample", [(side, 1) for side in peers], 0, asked.rounds),
        ("many samples", [("steelyard", asked.n)], 0, asked.rounds),
        ("many samples", [(side, asked.peer_n) for side in peers], 0, asked.rounds),
        *(("latency", [(side, asked.peer_n) for side in peers], latency, 1) for latency in asked.latencies),
        *(
            ("in flight", [("steelyard", asked.n if latency < 500 else 1280)], latency, 1)
            for latency in asked.latencies
        ),
        *([("memory", [("steelyard", asked.large)], 0.0, 1)] if asked.large else []),
    ]
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), asked.concurrency)
        bench.run("steelyard", 1, 0)  # so that byte code is there
        for job in jobs:
            rows += measure(bench, *job)
            save("runs", began, f"whole runs, concurrency {asked.concurrency}, full records on disk", GOAL, rows, NOTES)


GOAL = (
    "1 sample <= 0.3 CPU-s; 10,000 samples <= 4 CPU-s and <= 120 MB, >= 40 times less than Inspect and >= 6 times less "
    "than lm-eval; >= 95 % of the allowed calls in flight at 50 ms"
)
NOTES = [
    "Peers and ours beside them run fewer samples than 10,000: what Inspect costs a sample grows with their number."
]

if __name__ == "__main__":
    os.environ["PYTHONDONTWRITEBYTECODE"] = ""
    main()
