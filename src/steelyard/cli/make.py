"""Make a suite from families.

A FAMILY is an installed name (see `steelyard families`), `path.py:name`, or `path.py` when it holds one family.
Options of a family are given as `--set FAMILY.OPTION=VALUE` (FAMILY is as you wrote it, or the family's own name; the
value is JSON, or text when it is not).
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from steelyard.errors import InputError, did_you_mean
from steelyard.family import Family
from steelyard.making import Order, make_suite
from steelyard.plugins import find_family, is_file_reference
from steelyard.suite import SPLITS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `steelyard make`."""
    parser.add_argument("families", nargs="+", metavar="FAMILY")
    parser.add_argument("--n", type=int, help="items of each family (default 20), all in one split")
    parser.add_argument("--test", type=int, metavar="N", help="items of each family in the split test, in place of --n")
    parser.add_argument("--dev", type=int, metavar="N", help="and so many in dev; no group is in both")
    parser.add_argument("--seed", default="0", help="seed text; the first items of a seed never change (default 0)")
    parser.add_argument("--out", type=Path, required=True, help="new folder for the suite")
    parser.add_argument("--name", default="", help="the suite's name (default: the folder's)")
    parser.add_argument("--split", choices=SPLITS, help="split that --n is written to (default dev)")
    parser.add_argument("--set", action="append", default=[], metavar="FAMILY.OPTION=VALUE", help="a family's option")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Make the suite and say where it is."""
    n, split, dev = _sizes(args)
    families = {reference: find_family(reference) for reference in args.families}
    options = _options(args.set, families)
    orders = [Order(ref, families[ref], n, args.seed, options.get(ref, {})) for ref in args.families]
    made = make_suite(orders, args.out, name=args.name, split=split, dev=dev)
    if args.json:
        print(msgspec.json.encode(made, enc_hook=str).decode())
        return 0
    for order in made.orders:
        few = f" (all there are; {order.asked} were asked)" if order.n < order.asked else ""
        left_out = f"; {order.repeated} repeated questions left out" if order.repeated else ""
        if order.elsewhere:
            left_out += f"; {order.elsewhere} left out, as their groups are in the other split"
        print(f"{order.family}: {order.n} items{few}{left_out}")
        if order.refused:
            print("  refused by rule: " + ", ".join(f"{rule} {n}" for rule, n in sorted(order.refused.items())))
    local = [word for ref in families if is_file_reference(ref) for word in ("--family", ref)]
    print(f"suite {made.path}  {made.revision[:18]}")
    print("next: " + shlex.join(["steelyard", "prove", str(made.path), *local]))
    return 0


def _sizes(args: argparse.Namespace) -> tuple[int, str, int]:
    """Items of each family, their split, and the items of dev beside them."""
    if args.test is None and args.dev is None:
        sizes = (20 if args.n is None else args.n, args.split or "dev", 0)
    elif args.test is None or args.n is not None or args.split is not None:
        raise InputError("--test and --dev stand for themselves: --test N --dev M, without --n and --split")
    else:
        sizes = (args.test, "test", args.dev or 0)
    for name, value in (("--test" if args.test is not None else "--n", sizes[0]), ("--dev", args.dev)):
        if value is not None and value < 1:
            raise InputError(f"{name} must be at least 1, got {value}")
    return sizes


def _options(settings: list[str], families: Mapping[str, Family]) -> dict[str, dict[str, Any]]:
    """Each family's options, by its reference; a setting may name the reference or the family's own name."""
    found: dict[str, dict[str, Any]] = {}
    for setting in settings:
        left, equals, text = setting.partition("=")
        named, dot, option = left.rpartition(".")
        if not (equals and dot):
            raise InputError(f'--set takes FAMILY.OPTION=VALUE, got "{setting}"')
        meant = [ref for ref, family in families.items() if named in (ref, family.name)]
        if not meant:
            known = {*families, *(family.name for family in families.values())}
            raise InputError(f'--set names family "{named}"{did_you_mean(named, known)}')
        try:
            value = msgspec.json.decode(text)
        except msgspec.DecodeError:
            value = text
        for reference in meant:
            found.setdefault(reference, {})[option] = value
    return found
