"""List verifiers with their settings, misses and seed aliases, or prove them on the rows that each ships."""

from __future__ import annotations

import argparse
from typing import Any

import msgspec

from steelyard.verifiers.prove_rows import RowsReport, prove_rows
from steelyard.verifiers.registry import ALIASES, MODULES, find


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `steelyard verifiers`."""
    parser.add_argument("name", nargs="?", help="one verifier, in full")
    parser.add_argument("--prove", action="store_true", help="judge the rows that it must pass, fail and survive")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Print what every verifier, or one, takes and raises; with --prove whether it meets its rows (1 if not)."""
    names = [args.name] if args.name else sorted(MODULES)
    if args.prove:
        return _prove(names, as_json=args.json)
    found = [_described(name) for name in names]
    if args.json:
        print(msgspec.json.encode({"verifiers": found, "aliases": ALIASES}).decode())
        return 0
    for verifier in found:
        print(f"{verifier['name']}  {verifier['about']}")
        print(f"    settings: {', '.join(verifier['settings']) or 'none'}")
        print(f"    misses:   {', '.join(verifier['misses']) or 'those of its verifiers'}")
    if not args.name:
        print("aliases: " + ", ".join(f"{alias} = {preset['name']}" for alias, preset in sorted(ALIASES.items())))
    return 0


def _prove(names: list[str], *, as_json: bool) -> int:
    reports = []
    for name in names:
        find(name)  # the nearest known name where there is no such verifier
        reports.append(prove_rows(name))
        if not as_json:
            _print_report(reports[-1])
    if as_json:
        print(msgspec.json.encode({"verifiers": reports}).decode())
    return 1 if any(report.faults for report in reports) else 0


def _print_report(report: RowsReport) -> None:
    counts = ", ".join(f"{n} {must}" for must, n in report.counts.items() if n)
    print(f"{report.name}: {counts}" + (f"; {len(report.faults)} not met" if report.faults else ""))
    for title, faults in (("not met", report.faults), ("known", report.known)):
        for fault in faults:
            print(f"    {title}  {fault.place}  {fault.reason} ({fault.why})")


def _described(name: str) -> dict[str, Any]:
    import importlib

    verifier = find(name)
    module = importlib.import_module(f"steelyard.verifiers.{MODULES[name]}")
    return {
        "name": name,
        "about": (module.__doc__ or "").strip().splitlines()[0],
        "settings": [field.name for field in msgspec.structs.fields(verifier.config)],
        "misses": ["no-answer", *verifier.misses] if verifier.read else list(verifier.misses),
        "probes": verifier.probe is not None,
        "spoils": sorted(verifier.spoil),
        "varies": sorted(verifier.vary),
    }
