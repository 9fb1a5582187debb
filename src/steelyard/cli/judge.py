"""Judge a stored run again under today's ruler, keep the old judgement, and list every flip.

Stored evidence is used, so a sandboxed run needs no sandbox; --probe gathers evidence again from stored changes.
--suite judges with another version of the suite, allowed when every question is the same.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec

from steelyard.kit import ProbeKit
from steelyard.proving import read_proofs
from steelyard.report import build_report, short, write_report
from steelyard.run.journal import Journal
from steelyard.run.judgements import JudgedRun, judge_run
from steelyard.run.plan import read_header
from steelyard.run.start import stage
from steelyard.sandbox.choose import open_sandbox
from steelyard.store import Store
from steelyard.suite import Suite, load

_WORDS = {True: "passed", False: "failed", None: "void"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `steelyard judge`."""
    parser.add_argument("run", metavar="RUN", type=Path, help="run folder")
    parser.add_argument("--suite", type=Path, help="suite to judge with (default: the run's own)")
    parser.add_argument("--probe", action="store_true", help="gather evidence again in fresh sandboxes")
    parser.add_argument("--sandbox", default="auto", help="auto, bubblewrap, none or unsafe-process (default auto)")
    parser.add_argument("--allow-unsafe", action="store_true", help="permit the unsafe-process sandbox")
    parser.add_argument("--trust", action="store_true", help="load verifiers from files that the suite names")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Judge and print the flips."""
    suite = suite_of_run(args.run, args.suite, trust=args.trust)
    journal = Journal(args.run)
    try:
        with stage(args.run, "judge"):
            sandbox = open_sandbox(args.sandbox, allow_unsafe=args.allow_unsafe) if args.probe else None
            kit = ProbeKit(Store(args.run / "files", others=[suite.files]), sandbox)
            judged = judge_run(args.run, suite, kit=kit, probe=args.probe, proofs=read_proofs(suite))
            for line in judged.evidence:
                journal.append_evidence(line)
        with stage(args.run, "report"):
            write_report(args.run, build_report(args.run, suite))
    finally:
        journal.close()
    print(msgspec.json.encode(judged, enc_hook=str).decode() if args.json else _rendered(judged))
    return 0 if judged.deterministic else 1


def suite_of_run(folder: Path, other: Path | None, *, trust: bool = False) -> Suite:
    """The suite that a run asked, from where its header says or from `other`."""
    header = read_header(folder)
    return load(other or Path(header.plan.suite_path), trust=trust)


def _rendered(judged: JudgedRun) -> str:
    lines = [f"{f.item} [{f.rollout}]  {_WORDS[f.before]} -> {_WORDS[f.after]}" for f in judged.flips]
    if judged.previous == judged.ruler:
        lines.append(f"ruler {short(judged.ruler)}: unchanged")
    elif judged.previous:
        lines.append(f"ruler {short(judged.previous)} -> {short(judged.ruler)}: {len(judged.flips)} flips")
    if not judged.deterministic:
        lines.append(
            "NOT DETERMINISTIC: the same ruler gave another judgement; a verifier depends on more than its input"
        )
    lines.append(f"{judged.judged} items judged: {judged.path}")
    return "\n".join(lines)
