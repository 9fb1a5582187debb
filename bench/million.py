"""A journal of a million lines judged, reported, compared and read: CPU seconds, memory, and what a line costs.

    python bench/million.py [--lines 1000000] [--rollouts 10] [--no-compare]

The runs are written by `stored_runs.py`, without a model; comparing needs a second one and is left out with
`--no-compare`. One round: at this size a round takes minutes. A tenth of the lines is measured first, so that the
growth can be seen: linear is 10.
Easy to break: judging with one source tree and comparing with another; leave the sources alone while it runs.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from measure import Row, cost, machine, save
from runs import LIGHT_ENV, STEELYARD
from stored_runs import write_run


def sized(lines: int, rollouts: int, *, compare: bool) -> list[Row]:
    """Every job on runs of one size."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = write_run(folder, lines // rollouts, rollouts)
        jobs: list[tuple[str, list[str | Path]]] = [
            ("judge", [STEELYARD, "judge", run]),
            ("judge again", [STEELYARD, "judge", run]),
            ("report", [STEELYARD, "report", run]),
            ("read_run polars", [sys.executable, "-c", f"import steelyard; steelyard.read_run({str(run)!r})"]),
        ]
        if compare:
            other = write_run(folder, lines // rollouts, rollouts, 0.62, "other")
            cost([STEELYARD, "judge", other], LIGHT_ENV)
            jobs.append(("compare", [STEELYARD, "compare", run, other]))
        size_mb = round((run / "rollouts.jsonl").stat().st_size / 1e6)
        rows = []
        for job, argv in jobs:
            spent = cost(argv, LIGHT_ENV)
            ok = spent.code in (0, 1) if job == "compare" else spent.code == 0  # 1: the comparison says no
            row: Row = {"job": job, "lines": lines, "items": lines // rollouts, "journal_mb": size_mb}
            if ok:
                row |= {"cpu_s": round(spent.cpu_s, 2), "wall_s": round(spent.wall_s, 1)}
                row |= {"peak_mib": round(spent.peak_mib), "us_a_line": round(1e6 * spent.cpu_s / lines)}
            else:
                row["cpu_s"] = f"failed: {(spent.err.strip().splitlines() or ['no output'])[-1][:120]}"
            print(row, flush=True)
            rows.append(row)
    return rows


def main() -> None:
    """A tenth first, then the whole."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--rollouts", type=int, default=10)
    parser.add_argument("--no-compare", action="store_true")
    asked = parser.parse_args()
    began, rows = machine(), []
    for lines in (asked.lines // 10, asked.lines):
        rows += sized(lines, asked.rollouts, compare=not asked.no_compare)
        save("million", began, "large journals", GOAL, rows, [growth(rows)] if rows[0]["lines"] != lines else [])


GOAL = (
    "a million lines of a hundred thousand items, linear: judge <= 60 CPU-s and 300 MiB, report <= 15 CPU-s and "
    "300 MiB, compare <= 60 CPU-s and 500 MiB, a polars frame <= 40 CPU-s and 2 GiB"
)


def growth(rows: list[Row]) -> str:
    """How many times the CPU and the memory of the smaller size the larger one took."""
    small, large = ([row for row in rows if row["lines"] == n] for n in (rows[0]["lines"], rows[-1]["lines"]))
    said = [
        f"{a['job']} {b['cpu_s'] / a['cpu_s']:.1f} times the CPU and {b['peak_mib'] / a['peak_mib']:.1f} times the peak"
        for a, b in zip(small, large, strict=True)
        if "peak_mib" in a and "peak_mib" in b
    ]
    times = rows[-1]["lines"] / rows[0]["lines"]
    return f"From {rows[0]['lines']:,} lines to {rows[-1]['lines']:,}, {times:g} times as many: {'; '.join(said)}."


if __name__ == "__main__":
    os.environ["PYTHONDONTWRITEBYTECODE"] = ""
    main()
