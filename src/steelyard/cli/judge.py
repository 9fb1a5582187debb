"""Judge a stored run again under today's ruler, keep the old judgement, and list every flip.

Stored evidence is used, so a sandboxed run needs no sandbox; what is missing is gathered in one, or the judgement is
refused and the old one stays. --probe gathers all evidence again from stored changes.
--suite judges with another version of the suite, allowed when every question is the same.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import msgspec

from steelyard.errors import InputError
from steelyard.kit import ProbeKit
from steelyard.proving import read_proofs
from steelyard.report import build_report, short, write_report
from steelyard.run.journal import Journal
from steelyard.run.judgements import NOT_DETERMINISTIC, JudgedRun, judge_run, read_current
from steelyard.run.plan import read_header
from steelyard.run.start import clear_failure
from steelyard.run.stored import folder_errors
from steelyard.sandbox.choose import open_sandbox
from steelyard.store import Store
from steelyard.suite import Suite, load

_WORDS = {True: "passed", False: "failed", None: "void"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `steelyard judge`."""
    parser.add_argument("run", metavar="RUN", type=Path, help="run folder")
    parser.add_argument("--suite", type=Path, help="suite to judge with (default: the run's own)")
    parser.add_argument("--probe", action="store_true", help="gather evidence again in fresh sandboxes")
    parser.add_argument("--sandbox", default="auto", help="auto (default), bubblewrap, docker, none or unsafe-process")
    parser.add_argument("--allow-unsafe", action="store_true", help="permit the unsafe-process sandbox")
    parser.add_argument("--image", default="python", help="image of the docker sandbox (default python)")
    parser.add_argument("--trust", action="store_true", help="load verifiers from files that the suite names")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Judge and print the flips."""
    suite = suite_of_run(args.run, args.suite, trust=args.trust)
    journal = Journal(args.run)
    try:
        with folder_errors(args.run):
            sandbox = open_sandbox(args.sandbox, allow_unsafe=args.allow_unsafe, image=args.image)
            kit = ProbeKit(Store(args.run / "files", others=[suite.files]), sandbox)
            judged = judge_run(
                args.run,
                suite,
                kit=kit,
                probe=args.probe,
                proofs=read_proofs(suite),
                need_evidence=True,
                keep=journal.append_evidence,
            )
            write_report(args.run, build_report(args.run, suite))
            clear_failure(args.run, ("judge", "report"))
    finally:
        journal.close()
    print(msgspec.json.encode(judged, enc_hook=str).decode() if args.json else _rendered(judged))
    if journal.dropped:
        print(
            f"an unfinished last line of {journal.dropped} bytes was dropped from the journal; "
            "its rollout is made again by: steelyard run ... --resume",
            file=sys.stderr,
        )
    return 0 if judged.deterministic else 1


def suite_of_run(folder: Path, other: Path | None, *, trust: bool = False, judged_with: bool = False) -> Suite:
    """The suite that a run asked, from where its header says or from `other`.

    With `judged_with` it is the one of the newest judgement, where there is one.
    """
    header = read_header(folder)
    if other is not None:
        return load(other, trust=trust)
    current = read_current(folder) if judged_with else None
    path = Path((current.suite_path if current else "") or header.plan.suite_path)
    if not path.exists():
        raise InputError(f"the run's suite is no longer at {path}; give --suite DIR")
    return load(path, trust=trust)


def _rendered(judged: JudgedRun) -> str:
    lines = [f"{f.item} [{f.rollout}]  {_WORDS[f.before]} -> {_WORDS[f.after]}" for f in judged.flips]
    if judged.unreadable:
        lines.append(f"flips are unknown: the last judgement cannot be compared ({judged.unreadable})")
    elif judged.previous == judged.ruler:
        changed = f"{len(judged.flips)} flips" if judged.flips else "unchanged"
        lines.append(f"ruler {short(judged.ruler)}: {changed}")
    elif judged.previous:
        lines.append(f"ruler {short(judged.previous)} -> {short(judged.ruler)}: {len(judged.flips)} flips")
    if not judged.deterministic:
        lines.append(NOT_DETERMINISTIC)
    lines.append(f"{judged.judged} items judged: {judged.path}")
    return "\n".join(lines)
