"""Compare runs of the same questions: whether B is better than A, or the difference may be chance.

Items are joined one by one; runs whose settings, questions or rulers differ are refused with the command that helps.
The word is one of: better, worse, no difference larger than the margin shown, too small to tell. It must hold however
voids, errors and unfinished rollouts would have ended. More than two runs give a matrix and a ranking with its ties.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

import msgspec

from steelyard.cli.judge import judge_folder, suite_of_run
from steelyard.cli.sandboxes import add_sandbox_arguments
from steelyard.compare.comparison import compare, margin_of
from steelyard.compare.figures import Criteria
from steelyard.compare.render import render
from steelyard.compare.runs import join
from steelyard.errors import InputError
from steelyard.run.stored import folder_errors


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `steelyard compare`."""
    parser.add_argument("runs", metavar="RUN", type=Path, nargs="+", help="run folders: the baseline A, then B, C, ...")
    parser.add_argument(
        "--margin", type=float, help="what counts as no difference (default: the suite's delta, or 0.05)"
    )
    parser.add_argument("--allow", metavar="SETTING", action="append", default=[], help="a setting that may differ")
    parser.add_argument("--flips", action="store_true", help="items that differ, with both answers side by side")
    parser.add_argument(
        "--seed-spread", action="store_true", help="does B beat A by more than A varies over its seeds?"
    )
    parser.add_argument(
        "--level", type=float, default=0.95, help="of all intervals; tests use 1 - level (default 0.95)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the resampling (default 0)")
    parser.add_argument("--suite", type=Path, help="suite with the items (default: the one A was last judged with)")
    parser.add_argument("--judge", action="store_true", help="judge all runs under today's ruler first")
    add_sandbox_arguments(parser)
    parser.add_argument("--trust", action="store_true", help="load verifiers from files that the suite names")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--markdown", action="store_true", help="print Markdown, to paste into a pull request")


def run(args: argparse.Namespace) -> int:
    """Print the comparison."""
    if len(args.runs) < 2:
        raise InputError("name at least two runs: steelyard compare A B")
    if not 0.5 <= args.level < 1:
        raise InputError(f"--level must be at least 0.5 and below 1, got {args.level}")
    suite = suite_of_run(args.runs[0], args.suite, trust=args.trust, judged_with=True)
    criteria = Criteria(
        margin=margin_of(suite) if args.margin is None else args.margin, level=args.level, seed=args.seed
    )
    if args.judge:
        for folder in args.runs:
            judged, _ = judge_folder(folder, suite, args)
            print(f"{folder}: {judged.judged} items judged, {len(judged.flips)} flips", file=sys.stderr)
    with folder_errors(args.runs[0]):
        joined = join(args.runs, suite, args.allow)
        found = compare(joined, criteria, with_flips=args.flips, with_spread=args.seed_spread)
    if args.json:
        print(msgspec.json.encode(found).decode())
    else:
        print(render(found, markdown=args.markdown, width=shutil.get_terminal_size((100, 24)).columns))
    return 0
