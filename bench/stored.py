"""A stored run judged again, reported, and read into a data frame, beside Inspect on a stored log of its own.

    python bench/stored.py [--n 10000] [--peer-n 500] [--rounds 3]

Every side is a process from its first import to its last byte. Inspect scores and reads a log of `--peer-n` samples
that it wrote before; scoring again is quadratic there, so we stand beside it with as many rollouts.
`polars alone` is `import polars` and nothing else: what a frame cannot cost less than.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from measure import HERE, Cost, Row, cost, in_turns, machine, python_of, save, server, table, version_of
from runs import LIGHT_ENV, STEELYARD
from samples import write_questions
from stored_runs import write_run


def _frame(run: Path, form: str) -> list[str | Path]:
    code = f"import steelyard; steelyard.read_run({str(run)!r}, as_={form!r})"
    return [sys.executable, "-c", code]


def _inspect_log(folder: Path, n: int) -> Path | None:
    python = python_of("inspect")
    if not python.exists():
        return None
    questions, log = write_questions(folder / "questions.jsonl", n), folder / "log"
    with server() as at:
        made = cost([python, HERE / "runs_peer.py", "inspect-run", questions, at.url, log, "128"], LIGHT_ENV)
    if made.code:
        print(made.err.strip().splitlines()[-1], file=sys.stderr)
        return None
    return log


def main() -> None:
    """Make the stored runs, then let the sides take turns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--peer-n", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    began = machine()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        many, few = (write_run(folder / f"r{n}", n) for n in (asked.n, asked.peer_n))
        for run in (many, few):
            cost([STEELYARD, "judge", run], LIGHT_ENV)
        log = _inspect_log(folder, asked.peer_n)
        peer: list[str | Path] = [python_of("inspect"), HERE / "runs_peer.py"]

        def side(*argv: str | Path) -> Callable[[], Cost]:
            return lambda: cost(list(argv), LIGHT_ENV)

        n, m = asked.n, asked.peer_n
        judging = {f"steelyard judge, {m}": side(STEELYARD, "judge", few)}
        if log:
            judging[f"inspect score, {m}"] = side(*peer, "inspect-score", log)
        judging[f"steelyard judge, {n}"] = side(STEELYARD, "judge", many)
        judging[f"steelyard report, {n}"] = side(STEELYARD, "report", many)
        reading = {
            f"read_run polars, {n}": side(*_frame(many, "polars")),
            "polars alone": side(sys.executable, "-c", "import polars"),
            f"read_run arrow, {n}": side(*_frame(many, "arrow")),
            f"read_run pandas, {n}": side(*_frame(many, "pandas")),
        }
        if log:
            reading[f"inspect samples_df, {m}"] = side(*peer, "inspect-frame", log)
        versions = {
            name: version_of(python_of("inspect"), "inspect-ai") for name in (*judging, *reading) if "insp" in name
        }
        versions |= {name: f"polars {version('polars')}" for name in reading if "polars" in name}
        rows: list[Row] = table(in_turns(judging, asked.rounds), f"steelyard judge, {m}", versions)
        rows += table(in_turns(reading, asked.rounds), f"read_run polars, {n}", versions)
    if not log:
        rows.append({"side": "inspect", "cpu_s": "not run here"})
    save("stored", began, "a stored run judged again and read", GOAL, rows, NOTES)


GOAL = "judge 10,000 again <= 0.5 CPU-s and <= 60 MB (string verifiers); 10,000 rollouts into a frame <= 0.6 s"
NOTES = [
    "times_ours compares with the first row of its group (judging: ours of the peer's size; reading: polars).",
    "steelyard judge loads the suite, judges, looks for flips and anomalies and writes the report as well.",
]

if __name__ == "__main__":
    os.environ["PYTHONDONTWRITEBYTECODE"] = ""
    main()
