"""List verifiers: the settings that each takes, the misses that it raises, and seed aliases."""

from __future__ import annotations

import argparse
from typing import Any

import msgspec

from steelyard.verifiers.registry import ALIASES, MODULES, find


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `steelyard verifiers`."""
    parser.add_argument("name", nargs="?", help="one verifier, in full")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Print what every verifier, or one, takes and raises."""
    found = [_described(name) for name in ([args.name] if args.name else sorted(MODULES))]
    if args.json:
        print(msgspec.json.encode({"verifiers": found, "aliases": ALIASES}).decode())
        return 0
    for verifier in found:
        print(f"{verifier['name']}  {verifier['about']}")
        print(f"    settings: {', '.join(verifier['settings']) or 'none'}")
        print(f"    misses:   {', '.join(verifier['misses'])}")
    if not args.name:
        print("aliases: " + ", ".join(f"{alias} = {preset['name']}" for alias, preset in sorted(ALIASES.items())))
    return 0


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
