"""Peak memory of whole runs whose number of rollouts grows tenfold: 10,000 items once, and ten times each.

    python bench/memory.py [--items 10000] [--rollouts 1 10]

One `steelyard run` a row, against the local server at 0 ms, with judging and report. Memory grows with the items of a
suite, which is held whole; with rollouts it must not.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

from measure import Row, cost, machine, save, server
from runs import LIGHT_ENV, steelyard_argv
from samples import write_suite


def main() -> None:
    """A run a row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--rollouts", type=int, nargs="*", default=[1, 10])
    asked = parser.parse_args()
    began, rows = machine(), []
    with tempfile.TemporaryDirectory() as name:
        suite = write_suite(Path(name) / "suite.jsonl", asked.items)
        for rollouts in asked.rollouts:
            out = Path(name) / f"run-{rollouts}"
            with server() as at:
                spent = cost([*steelyard_argv(suite, at.url, out, 128), "--rollouts", str(rollouts)], LIGHT_ENV)
            row: Row = {"items": asked.items, "rollouts": asked.items * rollouts, "exit_code": spent.code}
            row |= {"cpu_s": round(spent.cpu_s, 1), "wall_s": round(spent.wall_s, 1)}
            row |= {"peak_mib": round(spent.peak_mib, 1)}
            row["times_first"] = round(row["peak_mib"] / (rows[0]["peak_mib"] if rows else row["peak_mib"]), 2)
            rows.append(row)
            save("memory", began, "memory of whole runs", "100,000 rollouts within 1.2 times the peak of 10,000", rows)


if __name__ == "__main__":
    os.environ["PYTHONDONTWRITEBYTECODE"] = ""
    main()
