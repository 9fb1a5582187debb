"""Judge a stored run again under today's ruler, keep the old judgement, and list every flip.

Stored evidence is used, so a sandboxed run needs no sandbox; what is missing is gathered in one, or the judgement is
refused and the old one stays. --probe gathers all evidence again from stored changes.
--suite judges with another version of the suite, allowed when every question is the same.
"""

from __future__ import annotations

import argparse
import gc
import sys
from contextlib import closing
from pathlib import Path

import msgspec

from steelyard.cli.sandboxes import add_sandbox_arguments, sandbox_of
from steelyard.errors import InputError
from steelyard.kit import ProbeKit
from steelyard.proving import read_proofs
from steelyard.report import Tallies, build_report, short, write_report
from steelyard.run.failure import clear_failure
from steelyard.run.journal import Journal, RolloutIndex
from steelyard.run.judged import read_current
from steelyard.run.judgements import NOT_DETERMINISTIC, JudgedRun, judge_run
from steelyard.run.plan import read_header
from steelyard.run.stored import folder_errors
from steelyard.store import Store
from steelyard.suite import Suite, load

_WORDS = {True: "passed", False: "failed", None: "void"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `steelyard judge`."""
    parser.add_argument("run", metavar="RUN", type=Path, help="run folder")
    parser.add_argument("--suite", type=Path, help="suite to judge with (default: the run's own)")
    parser.add_argument("--probe", action="store_true", help="gather evidence again in fresh sandboxes")
    add_sandbox_arguments(parser)
    parser.add_argument("--trust", action="store_true", help="load verifiers from files that the suite names")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Judge and print the flips."""
    collect_rarely()
    suite = suite_of_run(args.run, args.suite, trust=args.trust)
    judged, dropped_bytes = judge_folder(args.run, suite, args, probe=args.probe)
    print(msgspec.json.encode(judged, enc_hook=str).decode() if args.json else _rendered(judged))
    if dropped_bytes:
        print(
            f"an unfinished last line of {dropped_bytes} bytes was dropped from the journal; "
            "its rollout is made again by: steelyard run ... --resume",
            file=sys.stderr,
        )
    return 0 if judged.deterministic else 1


def judge_folder(folder: Path, suite: Suite, args: argparse.Namespace, *, probe: bool = False) -> tuple[JudgedRun, int]:
    """Judge a run, write its report; also gives the bytes of an unfinished line that its journal had to drop."""
    journal = Journal(folder)
    try:
        with folder_errors(folder), closing(RolloutIndex(folder, suite.asks)) as index:
            counted = Tallies(suite)
            kit = ProbeKit(Store(folder / "files", others=[suite.files]), sandbox_of(args))
            judged = judge_run(
                folder,
                suite,
                kit=kit,
                probe=probe,
                proofs=read_proofs(suite),
                need_evidence=True,
                keep=journal.append_evidence,
                index=index,
                told=counted.add,
            )
            write_report(folder, build_report(folder, suite, index=index, counted=counted))
            clear_failure(folder, ("judge", "report"))
    finally:
        journal.close()
    return judged, journal.dropped


def collect_rarely() -> None:
    """Look for garbage in cycles rarely from here on: a command's data lives to its end, and looking costs a tenth."""
    gc.set_threshold(50_000, 20, 20)


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
