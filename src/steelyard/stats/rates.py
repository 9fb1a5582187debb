"""Rates of one run: pass@k, pass^k and intervals that know about groups. Pure.

Shapes: `counts` holds one pair (n, c) an item: n judged rollouts, c of them passed. Rates are in [0, 1].
Not covered: paired differences, power, item statistics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb, inf, sqrt
from statistics import NormalDist

import msgspec

from steelyard.errors import InputError


class Interval(msgspec.Struct, frozen=True):
    """A two-sided confidence interval with the method that made it."""

    low: float
    high: float
    level: float
    method: str


def pass_at_k(n: int, c: int, k: int) -> float:
    """Chance that at least one of k draws without replacement passes: 1 - C(n-c, k)/C(n, k).

    Source: Chen et al. 2021, arXiv 2107.03374, equation 1. Assumes exchangeable rollouts; needs 1 <= k <= n.
    """
    _check(n, c, k)
    return 1.0 - comb(n - c, k) / comb(n, k)


def pass_hat_k(n: int, c: int, k: int) -> float:
    """Chance that all of k draws without replacement pass: C(c, k)/C(n, k).

    Source: Yao et al. 2024 (tau-bench), arXiv 2406.12045. Assumes exchangeable rollouts; needs 1 <= k <= n.
    """
    _check(n, c, k)
    return comb(c, k) / comb(n, k)


def _check(n: int, c: int, k: int) -> None:
    if not 0 <= c <= n or not 1 <= k <= n:
        raise InputError(f"need 0 <= c <= n and 1 <= k <= n, got n={n}, c={c}, k={k}")


def mean_rate(counts: Sequence[tuple[int, int]], groups: Sequence[str] | None = None, level: float = 0.95) -> Interval:
    """Interval for the pooled pass rate sum(c)/sum(n), clustered by group.

    Wilson's score interval at the effective sample size n_eff = p(1-p)/v, where v is the variance of the ratio
    estimate linearised over clusters with the factor g/(g-1); with one rollout an item and every item its own group
    this is Wilson's interval up to that factor. Where p is 0 or 1, v says nothing and n_eff is the number of clusters.
    Sources: Wilson 1927; Franco, Little, Louis and Slud 2019, J. Surv. Stat. Methodol. 7(3), 334-364 (effective size
    in Wilson's interval). Assumes independent clusters; fewer than about 20 clusters make it optimistic.
    """
    total = sum(n for n, _ in counts)
    if total == 0:
        raise InputError("no judged rollouts: a rate of nothing has no interval")
    labels = list(groups) if groups is not None else [str(i) for i in range(len(counts))]
    if len(labels) != len(counts):
        raise InputError(f"got {len(counts)} items but {len(labels)} groups")
    rate = sum(c for _, c in counts) / total
    size = effective_size(counts, labels, rate)
    low, high = wilson(rate, size, level)
    return Interval(low, high, level, "wilson, effective n clustered by group")


def effective_size(counts: Sequence[tuple[int, int]], labels: Sequence[str], rate: float) -> float:
    """How many independent rollouts the clustered ones are worth, at most their number."""
    sums: dict[str, list[int]] = {}
    for (n, c), label in zip(counts, labels, strict=True):
        cell = sums.setdefault(label, [0, 0])
        cell[0] += n
        cell[1] += c
    clusters = [cell for cell in sums.values() if cell[0]]
    total, g = sum(cell[0] for cell in clusters), len(clusters)
    if g < 2 or rate in (0.0, 1.0):
        return float(g)
    residual = sum((c - rate * n) ** 2 for n, c in clusters)
    variance = g / (g - 1) * residual / total**2
    size = rate * (1 - rate) / variance if variance > 0 else inf
    return min(float(total), size)


def wilson(rate: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval for a rate of n (not necessarily whole) independent trials."""
    z = NormalDist().inv_cdf(0.5 + level / 2)
    centre = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)


def bounds(passed: int, judged: int, unknown: int) -> tuple[float, float]:
    """The rate if all unknown (void or error) rollouts had failed, and if all had passed."""
    total = judged + unknown
    if total == 0:
        raise InputError("no rollouts at all: there is nothing to bound")
    return passed / total, (passed + unknown) / total


def over_items(counts: Mapping[str, tuple[int, int]], k: int) -> tuple[float | None, float | None, int]:
    """Mean pass@k and pass^k over items with n >= k, and how many items are short.

    An item is short when errors or voids left it fewer than k rollouts; k above every n is an error.
    """
    full = [(n, c) for n, c in counts.values() if n >= k]
    if not full:
        if counts:
            raise InputError(f"k={k} is more than any item's judged rollouts ({max(n for n, _ in counts.values())})")
        return None, None, 0
    at = sum(pass_at_k(n, c, k) for n, c in full) / len(full)
    hat = sum(pass_hat_k(n, c, k) for n, c in full) / len(full)
    return at, hat, len(counts) - len(full)
