"""How many items the next comparison needs, from rates that are assumed or from two runs that are there.

Each figure names its test: the asymptotic size is the usual one, the exact and mid-p sizes are what those tests need.
Assumes independent items; for groups, read "items" as groups. A guess of the discordant rate that is too low makes
every size too small, so from runs the sizes at both ends of its interval are printed too.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any, get_args

import msgspec

from steelyard.compare.figures import Pair
from steelyard.errors import InputError
from steelyard.stats.power import (
    PowerMethod,
    mde_mcnemar,
    power_mcnemar,
    required_n_mcnemar,
    required_n_paired_mean,
)
from steelyard.stats.rates import mean_rate

METHODS: tuple[PowerMethod, ...] = get_args(PowerMethod)


def sizes(delta: float, discordant: float, alpha: float = 0.05, power: float = 0.80) -> dict[str, int | None]:
    """Items for each test; the conditional tests have none (None) where delta is above the discordant rate."""
    return {
        method: required_n_mcnemar(delta, discordant, alpha, power, method)
        if method == "asymptotic" or delta <= discordant
        else None
        for method in METHODS
    }


def chosen(n: int, delta: float, discordant: float, alpha: float = 0.05, power: float = 0.80) -> dict[str, Any]:
    """What n items give: for each test the minimum detectable effect, and the power at delta where it is possible."""
    return {
        "n": n,
        "mde": {method: mde_mcnemar(n, discordant, alpha, power, method) for method in METHODS},
        "power": {
            method: power_mcnemar(n, delta, discordant, alpha, method) if delta <= discordant else None
            for method in METHODS
        },
    }


def discordant_rate(pairs: Sequence[Pair], level: float = 0.95) -> dict[str, Any]:
    """The rate at which one rollout of A and one of B differ on an item, with its interval, clustered by group.

    Over all pairs of a rollout of A with one of B; with one rollout each it is the share of discordant items.
    """
    used = [p for p in pairs if p.a.judged and p.b.judged]
    if not used:
        raise InputError("the runs share no item that is judged on both sides")
    counts = [(p.a.judged * p.b.judged, p.a.passed * p.b.failed + p.a.failed * p.b.passed) for p in used]
    rate = sum(c for _, c in counts) / sum(n for n, _ in counts)
    interval = mean_rate(counts, [p.group for p in used], level)
    return {"rate": rate, "interval": msgspec.to_builtins(interval), "n_items": len(used)}


def mean_size(pairs: Sequence[Pair], delta: float, alpha: float = 0.05, power: float = 0.80) -> dict[str, Any] | None:
    """Items for a comparison of mean rates with as many rollouts as here; None without spread or with two items."""
    found = [p.b.rate - p.a.rate for p in pairs if p.a.judged and p.b.judged]
    if len(found) < 3:
        return None
    mean = sum(found) / len(found)
    sd = sqrt(sum((one - mean) ** 2 for one in found) / (len(found) - 1))
    return {"sd": sd, "n": required_n_paired_mean(delta, sd, alpha, power)} if sd > 0 else None
