"""How many items a comparison needs, and what a number of items can show.

    steelyard size --delta 0.08 --discordant 0.25 --n 300
    steelyard size --from RUN_A RUN_B

The discordant rate is the share of items on which two models differ. --from estimates it from two runs and says what
the next comparison needs. The tests need different numbers of items, so each is named.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from steelyard.compare.sizing import METHODS, chosen, discordant_rate, mean_size, sizes
from steelyard.errors import InputError
from steelyard.stats.results import check_level

DELTA = 0.08
DISCORDANT = 0.25


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `steelyard size`."""
    parser.add_argument("--delta", type=float, help="difference of pass rates to find (default 0.08, or the suite's)")
    parser.add_argument("--discordant", type=float, help="share of items on which the sides differ (default 0.25)")
    parser.add_argument("--n", type=int, help="a number of items that you choose: what it can show")
    parser.add_argument("--alpha", type=float, default=0.05, help="two-sided level of the test (default 0.05)")
    parser.add_argument("--power", type=float, default=0.80, help="chance to find the difference (default 0.80)")
    parser.add_argument(
        "--from", dest="runs", nargs=2, type=Path, metavar=("RUN_A", "RUN_B"), help="estimate from runs"
    )
    parser.add_argument("--allow", metavar="SETTING", action="append", default=[], help="a setting that may differ")
    parser.add_argument("--suite", type=Path, help="where the runs' suite lies now")
    parser.add_argument("--trust", action="store_true", help="load verifiers from files that the suite names")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Print the sizes."""
    check_level(args.alpha, "--alpha"), check_level(args.power, "--power")
    if args.n is not None and args.n < 1:
        raise InputError(f"--n must be at least 1, got {args.n}")
    found = _from_runs(args) if args.runs else _assumed(args)
    print(msgspec.json.encode(found).decode() if args.json else "\n".join(_lines(found)))
    return 0


def _assumed(args: argparse.Namespace) -> dict[str, Any]:
    delta = DELTA if args.delta is None else args.delta
    return _sizes(args, delta, DISCORDANT if args.discordant is None else args.discordant)


def _sizes(args: argparse.Namespace, delta: float, discordant: float) -> dict[str, Any]:
    asked = {"delta": delta, "discordant": discordant, "alpha": args.alpha, "power": args.power}
    found = asked | {"required_n": sizes(delta, discordant, args.alpha, args.power)}
    return found | ({"chosen": chosen(args.n, delta, discordant, args.alpha, args.power)} if args.n else {})


def _from_runs(args: argparse.Namespace) -> dict[str, Any]:
    from steelyard.cli.judge import suite_of_run  # reading runs loads suites and verifiers, plain sizing does not
    from steelyard.compare.comparison import margin_of
    from steelyard.compare.runs import join

    if args.discordant is not None:
        raise InputError("--from estimates the discordant rate; leave out --discordant")
    suite = suite_of_run(args.runs[0], args.suite, trust=args.trust, judged_with=True)
    delta = margin_of(suite) if args.delta is None else args.delta
    pairs = join(args.runs, suite, args.allow).pairs()
    estimate = discordant_rate(pairs, 1 - args.alpha)
    low, high = estimate["interval"]["low"], estimate["interval"]["high"]
    # Two runs that never differ estimate 0, from which no size follows; then the interval's upper end stands in.
    found = _sizes(args, delta, estimate["rate"] or high) | {"from": estimate}
    found["required_n_low"] = sizes(delta, low, args.alpha, args.power) if low > 0 else None
    found["required_n_high"] = sizes(delta, high, args.alpha, args.power)
    found["paired_mean"] = mean_size(pairs, delta, args.alpha, args.power)
    return found


_NAMES = {"asymptotic": "McNemar, asymptotic", "exact": "McNemar, exact", "midp": "McNemar, mid-p"}


def _lines(found: dict[str, Any]) -> Iterator[str]:
    estimate = found.get("from")
    if estimate:
        low, high = estimate["interval"]["low"], estimate["interval"]["high"]
        yield (
            f"discordant rate {estimate['rate']:.3f}  [{low:.3f}, {high:.3f}] over {estimate['n_items']} items: "
            "how often one rollout of A and one of B differ"
        )
    yield (
        f"to find a difference of {found['delta']:g} with power {found['power']:g}, two-sided alpha "
        f"{found['alpha']:g}, discordant rate {found['discordant']:.3g}:"
    )
    yield f"  {'test':<22}{'items':>8}" + (f"  {'at the ends of the interval':>28}" if estimate else "")
    for method in METHODS:
        line = f"  {_NAMES[method]:<22}{_count(found['required_n'][method]):>8}"
        if estimate:
            ends = [_count(one[method]) if one else "-" for one in (found["required_n_low"], found["required_n_high"])]
            line += f"  {' to '.join(ends):>28}"
        yield line
    if found["delta"] > found["discordant"]:
        yield "  a difference cannot exceed the discordant rate: only the asymptotic formula gives a figure here"
    if found.get("paired_mean"):
        mean = found["paired_mean"]
        yield f"  {'paired means':<22}{mean['n']:>8}  with as many rollouts an item as here (sd {mean['sd']:.3f})"
    if "chosen" in found:
        yield from _chosen_lines(found)


def _chosen_lines(found: dict[str, Any]) -> Iterator[str]:
    one = found["chosen"]
    yield f"with {one['n']} items:"
    yield f"  {'test':<22}{'least detectable difference':>28}  {'power at ' + format(found['delta'], 'g'):>16}"
    for method in METHODS:
        mde, power = one["mde"][method], one["power"][method]
        shown = [f"{mde:.4f}" if mde is not None else "none", f"{power:.4f}" if power is not None else "-"]
        yield f"  {_NAMES[method]:<22}{shown[0]:>28}  {shown[1]:>16}"


def _count(n: int | None) -> str:
    return "-" if n is None else str(n)
