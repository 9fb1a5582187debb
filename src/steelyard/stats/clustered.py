"""Means of clustered scores: sums by cluster, and the standard error that knows about them.

Source: Liang and Zeger 1986, Biometrika 73, 13-22 (the sandwich), with the factor g/(g - 1); the same as a regression
on a constant with clustered errors. Assumes independent clusters; fewer than about 20 make it too small.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import sqrt
from typing import Any

from steelyard.errors import InputError
from steelyard.stats.needs import numpy, special
from steelyard.stats.results import Estimate, check_level


def cluster_sums(scores: Any, groups: Sequence[Hashable] | None = None) -> tuple[Any, Any]:
    """Arrays (sum, size) of each cluster of scores, clusters in order of their first score.

    `scores` has shape (n,) or (n_items, n_rollouts) with NaN where there is none; without `groups` each row is a
    cluster of its own, with them all rows of one label. Rows without any score are left out.
    """
    np = numpy()
    table = np.atleast_1d(np.asarray(scores, float))
    if not table.size:
        raise InputError("no scores: nothing has no mean")
    table = table.reshape(len(table), -1)
    if groups is not None and len(groups) != len(table):
        raise InputError(f"got {len(table)} rows of scores but {len(groups)} groups")
    known = ~np.isnan(table)
    sums, sizes = np.where(known, table, 0.0).sum(axis=1), known.sum(axis=1).astype(float)
    if groups is not None:
        codes: dict[Hashable, int] = {}
        index = np.fromiter((codes.setdefault(group, len(codes)) for group in groups), dtype=int, count=len(groups))
        sums, sizes = np.bincount(index, sums, len(codes)), np.bincount(index, sizes, len(codes))
    if not np.isfinite(sums).all():
        raise InputError("scores must be finite, with NaN for a missing one")
    held = sizes > 0
    if not held.any():
        raise InputError("no scores: nothing has no mean")
    return sums[held], sizes[held]


def ratio_se(sums: Any, sizes: Any) -> float:
    """Standard error of sum(sums)/sum(sizes) over independent clusters; NaN for fewer than two."""
    g = len(sums)
    if g < 2:
        return float("nan")
    residual = sums - sums.sum() / sizes.sum() * sizes
    return sqrt(g / (g - 1) * float((residual**2).sum())) / float(sizes.sum())


def clustered_mean(
    scores: Any, groups: Sequence[Hashable] | None = None, level: float = 0.95, name: str = "mean"
) -> Estimate:
    """The mean of clustered scores with a t interval on g - 1 degrees of freedom; `extra` holds `se` and `clusters`.

    Needs two clusters or more (InputError).
    """
    sums, sizes = cluster_sums(scores, groups)
    g, mean, se = len(sums), float(sums.sum() / sizes.sum()), ratio_se(sums, sizes)
    if g < 2:
        raise InputError("one cluster says nothing about the spread between clusters; two are needed")
    half = float(special().stdtrit(g - 1, 0.5 + check_level(level) / 2)) * se
    extra = {"se": se, "clusters": g}
    return Estimate(name, mean, mean - half, mean + half, level, "clustered t", int(sizes.sum()), extra=extra)
