"""Make a suite from families.

A FAMILY is an installed name (see `steelyard families`), `path.py:name`, or `path.py` when it holds one family.
Options of a family are given as `--set FAMILY.OPTION=VALUE` (the value is JSON, or text when it is not).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import msgspec

from steelyard.errors import InputError, did_you_mean
from steelyard.plugins import find_family
from steelyard.suite import SPLITS, Order, make_suite


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `steelyard make`."""
    parser.add_argument("families", nargs="+", metavar="FAMILY")
    parser.add_argument("--n", type=int, default=20, help="items of each family (default 20)")
    parser.add_argument("--seed", default="0", help="seed text; the first items of a seed never change (default 0)")
    parser.add_argument("--out", type=Path, required=True, help="new folder for the suite")
    parser.add_argument("--name", default="", help="the suite's name (default: the folder's)")
    parser.add_argument("--split", choices=SPLITS, default="dev", help="split to write (default dev)")
    parser.add_argument("--set", action="append", default=[], metavar="FAMILY.OPTION=VALUE", help="a family's option")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Make the suite and say where it is."""
    if args.n < 1:
        raise InputError(f"--n must be at least 1, got {args.n}")
    options = _options(args.set, args.families)
    orders = [Order(ref, find_family(ref), args.n, args.seed, options.get(ref, {})) for ref in args.families]
    made = make_suite(orders, args.out, name=args.name, split=args.split)
    if args.json:
        print(msgspec.json.encode(made, enc_hook=str).decode())
        return 0
    for order in orders:
        n = made.counts[order.family.name]
        print(f"{order.family.name}: {n} items" + (f" (all there are; {args.n} were asked)" if n < args.n else ""))
    for name, n in made.repeated.items():
        print(f"{name}: {n} repeated questions left out")
    print(f"suite {made.path}  {made.revision[:18]}\nnext: steelyard prove {made.path}")
    return 0


def _options(settings: list[str], families: list[str]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for setting in settings:
        left, equals, text = setting.partition("=")
        family, dot, option = left.rpartition(".")
        if not (equals and dot):
            raise InputError(f'--set takes FAMILY.OPTION=VALUE, got "{setting}"')
        if family not in families:
            raise InputError(f'--set names family "{family}"{did_you_mean(family, families)}')
        try:
            value = msgspec.json.decode(text)
        except msgspec.DecodeError:
            value = text
        found.setdefault(family, {})[option] = value
    return found
