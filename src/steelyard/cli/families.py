"""List installed families and the command groups that they bring."""

from __future__ import annotations

import argparse

import msgspec

from steelyard.plugins import command_groups, family_names


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `steelyard families`."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Print the names; nothing is imported."""
    families, groups = family_names(), sorted(command_groups())
    if args.json:
        print(msgspec.json.encode({"families": families, "commands": groups}).decode())
        return 0
    print("families: " + (", ".join(families) or "none installed"))
    print("commands: " + (", ".join(groups) or "none"))
    return 0
