"""Prove a suite, or a family: null fails, reference passes, spoils fail as named, right answers in other forms pass.

SUITE is a folder or a JSONL file; `path.py[:name]` or an installed name proves a few fresh items of that family.
Stored witnesses are decided again; --probe grades stored changes again, --replay runs stored calls again.
Exit code 0 when all items are proven, 1 when some are refuted or unchecked.
"""

from __future__ import annotations

import argparse
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from steelyard.cli.progress import Progress
from steelyard.cli.sandboxes import add_sandbox_arguments, sandbox_of
from steelyard.errors import InputError, RefusedError
from steelyard.family import Family
from steelyard.kit import ProbeKit
from steelyard.plugins import family_names, find_family, is_file_reference
from steelyard.ports import Sandbox
from steelyard.proof import Mode, Proof
from steelyard.proving import ProofReport, keep_proofs, prove_family, prove_suite, write_proofs
from steelyard.suite import family_references, load


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `steelyard prove`."""
    parser.add_argument("suite", metavar="SUITE", help="suite folder, JSONL file, family name or path.py[:name]")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--probe", action="store_true", help="gather the stored witnesses' evidence again")
    mode.add_argument("--replay", action="store_true", help="run the stored references' calls again")
    mode.add_argument("--fresh", action="store_true", help="make every witness anew (needs the families)")
    parser.add_argument("--family", action="append", default=[], metavar="REF", help="where to find a local family")
    parser.add_argument("--n", type=int, default=10, help="items to make when proving a family (default 10)")
    parser.add_argument("--seed", default="0", help="seed when proving a family (default 0)")
    add_sandbox_arguments(parser)
    parser.add_argument("--trust", action="store_true", help="load code that the suite names (verifiers, families)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Prove and print; exit 0 only when everything is proven."""
    sandbox = sandbox_of(args)
    path = Path(args.suite)
    if is_file_reference(args.suite) or (not path.exists() and args.suite in family_names()):
        family = find_family(args.suite)
        report = prove_family(family, sandbox=sandbox, n=args.n, seed=args.seed)
    else:
        report = _prove_suite(args, path, sandbox)
    print(msgspec.json.encode(_summary(report)).decode() if args.json else _rendered(report))
    return 0 if report.all_proven else 1


def _prove_suite(args: argparse.Namespace, path: Path, sandbox: Sandbox | None) -> ProofReport:
    suite = load(path, trust=args.trust)
    local = {family.name: family for family in map(find_family, args.family)}
    if args.trust:
        local |= {family.name: family for family in map(find_family, family_references(suite))}

    @cache
    def family_of(name: str) -> Family | None:
        if name in local:
            return local[name]
        return find_family(name) if name in family_names() else None

    mode: Mode = "probe" if args.probe else "replay" if args.replay else "decide"
    done: list[Proof] = []
    try:
        with Progress("items") as progress:

            def told(proof: Proof) -> None:
                done.append(proof)
                progress.told(len(done), len(suite.items))

            kit = ProbeKit(suite.store(), sandbox)
            report = prove_suite(suite, kit, family_of, mode=mode, fresh=args.fresh, told=told)
    except KeyboardInterrupt:
        keep_proofs(suite, done)
        message = f"interrupted after {len(done)} of {len(suite.items)} items; their proofs are kept: run it again"
        raise RefusedError(message) from None
    try:
        write_proofs(suite, report, sandbox.name if sandbox else "")
    except OSError as error:
        raise InputError(f"cannot write proofs into {path}: {error.strerror}") from error
    return report


def _summary(report: ProofReport) -> dict[str, Any]:
    return {
        "states": report.states,
        "references_from_target": report.unsolved,
        "floor": msgspec.to_builtins(report.floor),
        "items": [{"id": p.item, "state": p.state, "reasons": p.reasons, "witnesses": p.counts} for p in report.proofs],
    }


def _rendered(report: ProofReport) -> str:
    lines = [f"{p.state:<10} {p.item}: {'; '.join(p.reasons)}" for p in report.proofs if p.state != "proven"]
    legs = {leg: sum(p.counts[leg] for p in report.proofs) for leg in report.proofs[0].counts}
    states = ", ".join(f"{n} {state}" for state, n in report.states.items() if n)
    lines.append(
        f"{states} of {len(report.proofs)} items; witnesses: " + ", ".join(f"{n} {leg}" for leg, n in legs.items())
    )
    if report.unsolved:
        lines.append(
            f"{report.unsolved} references are the target itself, as no family solves those items: "
            "their verifiers are proven, their gold is not re-derived"
        )
    lines.append(f"floor {report.floor.rate:.3f} ({report.floor.baseline}); {len(report.floor.flagged)} items flagged")
    return "\n".join(lines)
