"""Print a run's report: pass rates with their denominators, intervals and bounds, and what they were judged under."""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec

from steelyard.cli.judge import collect_rarely, suite_of_run
from steelyard.errors import InputError
from steelyard.report import build_report, render_report, write_report
from steelyard.run.failure import clear_failure
from steelyard.run.stored import folder_errors


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `steelyard report`."""
    parser.add_argument("run", metavar="RUN", type=Path, help="run folder")
    parser.add_argument("--k", type=int, help="k of pass@k and pass^k, only printed (default: rollouts an item)")
    parser.add_argument("--suite", type=Path, help="where the run's suite lies now")
    parser.add_argument("--trust", action="store_true", help="load verifiers from files that the suite names")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Print the report and write report.json; one under another --k is only printed."""
    if args.k is not None and args.k < 1:
        raise InputError(f"--k must be at least 1, got {args.k}")
    collect_rarely()
    with folder_errors(args.run):
        suite = suite_of_run(args.run, args.suite, trust=args.trust, judged_with=True)
        report = build_report(args.run, suite, args.k)
        if args.k is None:
            write_report(args.run, report)
            clear_failure(args.run, ("report",))
    print(msgspec.json.encode(report).decode() if args.json else render_report(report))
    return 0
