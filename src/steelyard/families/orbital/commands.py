"""Command group `orbital`: `check FILE` derives the golds of a suite again."""

from __future__ import annotations

import argparse
import sys

import msgspec


def add_commands(parser: argparse.ArgumentParser) -> None:
    """Add this group's commands to its parser; each sets `run`, a function from the arguments to an exit code."""
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    check = commands.add_parser(
        "check",
        help="derive every gold of a suite again from the elements that its items print",
        description="Derive every gold of a suite again from the elements that its items print. "
        "Exit code 1 when a gold does not follow or stands on refused elements.",
    )
    check.add_argument("file", metavar="FILE", help="a .jsonl file of items, or a suite's folder")
    check.add_argument("--json", action="store_true", help="print one JSON array instead of lines")
    check.set_defaults(run=_check)


def _check(arguments: argparse.Namespace) -> int:
    from steelyard.families.orbital.check import check_file  # heavy parts only when the command runs

    checks = check_file(arguments.file)
    bad = sum(check.bad for check in checks)
    if arguments.json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(checks), indent=2).decode() + "\n")
        return 1 if bad else 0
    for check in checks:
        derived = f", derived {check.derived!r}" if check.derived else ""
        reason = f": {check.reason}" if check.reason else ""
        sys.stdout.write(f"{check.status:13s} {check.id} (gold {check.expected!r}{derived}){reason}\n")
    sys.stdout.write(f"{len(checks)} golds, {bad} bad\n")
    return 1 if bad else 0
