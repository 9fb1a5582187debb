"""Check graders: labelled cases through their verifiers, or a sample of a run's verdicts labelled by you.

CASES is a JSONL file of {response, target, verifier, expected} rows or of the kind rows in docs/audit.md, or a CSV file
with those columns. RUN is a run folder: a stratified sample of its verdicts is shown, one after another, and the keys
r (right), w (wrong), s (skip) and q (quit) label them; labels are kept in RUN/audit.jsonl, so a second call goes on.
Exit code 1 when a case is wrong or its verifier crashed.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import msgspec

from steelyard.audit.cases import read_cases
from steelyard.audit.check import Audit, Wrong, audit
from steelyard.audit.labels import LABELS, ask_for_labels
from steelyard.audit.sample import DEFAULT_SAMPLE, Estimate, Share
from steelyard.audit.terminal import one_line
from steelyard.cli.judge import suite_of_run
from steelyard.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `steelyard audit`."""
    parser.add_argument("source", metavar="CASES|RUN", type=Path, help="cases (.jsonl, .csv) or a run folder")
    parser.add_argument("--sample", type=int, metavar="N", help=f"RUN: verdicts to draw (default {DEFAULT_SAMPLE})")
    parser.add_argument("--seed", metavar="TEXT", help="RUN: seed of the draw (default 0)")
    parser.add_argument(
        "--labels", type=Path, metavar="FILE", help=f"RUN: where labels are kept (default RUN/{LABELS})"
    )
    parser.add_argument("--suite", type=Path, help="RUN: where the run's suite lies now")
    parser.add_argument("--trust", action="store_true", help="load verifiers from files that rows or the suite name")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Audit a file of cases, or a sample of a run's verdicts."""
    if args.source.is_dir():
        return _run_sample(args)
    for name in ("sample", "seed", "labels", "suite"):
        if getattr(args, name) is not None:
            raise InputError(f"--{name} is for a run folder, and {args.source} is not one")
    done = audit(read_cases(args.source, trust=args.trust))
    print(_as_json(done) if args.json else _rendered(done))
    return 1 if done.wrong else 0


def _as_json(done: Audit) -> str:
    kinds = {
        kind: {
            "n": t.n,
            "false_negatives": t.false_negatives,
            "false_positives": t.false_positives,
            "voids": t.voids,
            "exceptions": t.exceptions,
            "slowest_s": t.slowest_s,
        }
        for kind, t in done.kinds.items()
    }
    rows = [msgspec.structs.asdict(row) for row in done.rows]
    # escaped to ASCII, because a case may hold lone surrogates, which no terminal or UTF-8 file takes
    return json.dumps({"kinds": kinds, "rows": rows}, default=str)


_COLUMNS = ("n", "false neg", "false pos", "voids", "exceptions", "slowest s", "s per 10,000")


def _rendered(done: Audit) -> str:
    lines = [_wrong_line(wrong) for wrong in done.wrong]
    if lines:
        lines.append("")
    width = max(len("kind"), *map(len, done.kinds))
    lines.append(f"{'kind':<{width}}  " + "  ".join(_COLUMNS))
    for kind, t in done.kinds.items():
        cells: list[Any] = [t.n, t.false_negatives, t.false_positives, t.voids, t.exceptions]
        pace = t.seconds_per_10_000
        cells += [f"{t.slowest_s:.3f}", "-" if pace is None else f"{pace:.2f}"]
        shown = "  ".join(f"{cell:>{len(name)}}" for cell, name in zip(cells, _COLUMNS, strict=True))
        lines.append(f"{kind:<{width}}  {shown}")
    labelled = sum(t.labelled for t in done.kinds.values())
    lines.append(f"{len(done.wrong)} of {len(done.rows)} cases wrong; {labelled} have a label")
    return "\n".join(lines)


def _wrong_line(wrong: Wrong) -> str:
    row = wrong.row
    got = (row.grade or "unparsed") if row.kind == "judge-reply" else row.verdict
    read = f"read {one_line(str(row.prediction))!r} by {row.rule}" if row.rule is not None else "nothing read"
    why = one_line(row.exception or row.reason)
    parts = [f"expected {wrong.due}, got {got}", read, *([why] if why else [])]
    return f"{wrong.fault:<14}  {wrong.place}  {one_line(row.id)} ({row.kind}): {'; '.join(parts)}"


def _run_sample(args: argparse.Namespace) -> int:
    n = DEFAULT_SAMPLE if args.sample is None else args.sample
    if n < 1:
        raise InputError(f"--sample must be at least 1, got {n}")
    suite = suite_of_run(args.source, args.suite, trust=args.trust)
    out = sys.stderr if args.json else sys.stdout  # with --json, stdout is for the report alone
    found = ask_for_labels(
        args.source,
        suite,
        n=n,
        seed="0" if args.seed is None else args.seed,
        labels=args.labels or args.source / LABELS,
        say=lambda text: print(text, file=out, flush=True),
        answer=_answer,
    )
    print(msgspec.json.encode(found).decode() if args.json else _estimate(found))
    return 0


def _answer() -> str | None:
    """One line of the person's, or None at the end of the input."""
    try:
        return input()
    except EOFError:
        return None


def _estimate(found: Estimate) -> str:
    width = max(len("verifier or family"), *(len(s.of) for s in found.strata))
    lines = ["", f"{'verdict':<8}{'verifier or family':<{width}}  verdicts  labelled  wrong"]
    lines += [f"{s.verdict:<8}{s.of:<{width}}  {s.size:>8}  {s.labelled:>8}  {s.wrong:>5}" for s in found.strata]
    lines += [f"of {v} verdicts, wrong: {_share(share)}" for v, share in found.wrong_among.items()]
    lines.append(f"false negatives, of right answers: {_share(found.false_negative_rate)}")
    lines.append(f"false positives, of wrong answers: {_share(found.false_positive_rate)}")
    labelled = sum(s.labelled for s in found.strata)
    lines.append(f"{labelled} of {sum(s.size for s in found.strata)} verdicts labelled, {found.skipped} skipped")
    if any(not s.labelled for s in found.strata):
        lines.append(
            "rows without a label are taken to be like the other rows of their verdict; label on to cover them"
        )
    return "\n".join(lines)


def _share(share: Share | None) -> str:
    if share is None:
        return "unknown, the labels are too few"
    return f"{share.rate:.3f} [{share.low:.3f}, {share.high:.3f}] ({share.n} labelled)"
