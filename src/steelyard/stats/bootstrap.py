"""Bootstrap intervals by resampling whole clusters: percentile, expanded percentile, and BCa.

Without `groups` each row is a cluster, so the rollouts of an item (a table of shape (n_items, n_rollouts), NaN where
there is none) are never treated as independent. Sources: Efron and Tibshirani 1993, An Introduction to the Bootstrap,
chapters 13 and 14; expanded percentile: Hesterberg 2015, Am. Stat. 69, 371-386 (the percentile interval is too narrow
by sqrt((g-1)/g) and uses z where t is due). Assumes independent clusters; below about 20 all are rough.
Equal clusters are drawn together by their counts (a multinomial draw is the same distribution), others in blocks of
bounded memory. Easy to break: resampling rows instead of clusters, which makes intervals too narrow.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from math import sqrt
from statistics import NormalDist
from typing import Any, Literal, get_args

from steelyard.errors import InputError, did_you_mean
from steelyard.stats.clustered import cluster_sums, ratio_se
from steelyard.stats.needs import numpy, special
from steelyard.stats.results import Estimate, check_level

BootstrapMethod = Literal["percentile", "expanded", "bca"]
BLOCK = 2_000_000
"""Draws held at once: 16 MB of indices and as much of sums."""


def bootstrap_mean(
    scores: Any,
    groups: Sequence[Hashable] | None = None,
    level: float = 0.95,
    n_boot: int = 10_000,
    seed: int = 0,
    name: str = "accuracy",
    method: BootstrapMethod = "percentile",
) -> Estimate:
    """Interval of the pooled mean, sum of scores over their number; `extra` holds `boot_se` and `clusters`.

    `scores` has shape (n,) or (n_items, n_rollouts); rows of one group are resampled together.
    """
    sums, sizes = cluster_sums(scores, groups)
    return bootstrap_ratio(sums, sizes, level, n_boot, seed, name, method)


def bootstrap_paired_diff(
    a: Any,
    b: Any,
    groups: Sequence[Hashable] | None = None,
    level: float = 0.95,
    n_boot: int = 10_000,
    seed: int = 0,
    name: str = "delta",
    method: BootstrapMethod = "percentile",
) -> Estimate:
    """Interval of the mean over items of mean(a) - mean(b), items in the same order; tables may differ in rollouts.

    An item without a score on either side is dropped, and `extra.dropped` counts it. Swapping a and b mirrors the
    interval exactly.
    """
    np = numpy()
    first, second = _item_means(a), _item_means(b)
    if len(first) != len(second):
        raise InputError(f"paired scores need the same items on both sides, got {len(first)} and {len(second)}")
    difference = first - second
    sums, sizes = cluster_sums(difference, groups)
    found = bootstrap_ratio(sums, sizes, level, n_boot, seed, name, method)
    found.extra["dropped"] = int(np.isnan(difference).sum())
    return found


def _item_means(scores: Any) -> Any:
    np = numpy()
    table = np.atleast_1d(np.asarray(scores, float))
    table = table.reshape(len(table), -1)
    known = ~np.isnan(table)
    counts = known.sum(axis=1)
    return np.where(counts > 0, np.where(known, table, 0.0).sum(axis=1) / np.maximum(counts, 1), np.nan)


def bootstrap_ratio(
    sums: Any,
    sizes: Any,
    level: float = 0.95,
    n_boot: int = 10_000,
    seed: int = 0,
    name: str = "ratio",
    method: BootstrapMethod = "percentile",
) -> Estimate:
    """Interval of sum(sums)/sum(sizes) over independent clusters; negating `sums` mirrors it exactly."""
    _check(level, n_boot, method)
    np = numpy()
    sums, sizes = np.asarray(sums, float), np.asarray(sizes, float)
    # Drawn in a direction that does not depend on the sign, so that swapping two sides mirrors every figure.
    sign = -1.0 if _reads_backward(np, sums, sizes) else 1.0
    sums = sign * sums
    point = float(sums.sum() / sizes.sum())
    draws = np.sort(_draws(sums, sizes, n_boot, np.random.default_rng(seed)))
    low, high = _ends(draws, _tails(draws, point, sums, sizes, level, method), n_boot)
    if sign < 0:
        low, high = -high, -low
    extra = {"boot_se": float(draws.std(ddof=1)), "clusters": len(sums), "se": ratio_se(sums, sizes)}
    kind = "" if (sizes == 1).all() else "cluster_"
    n = int(sizes.sum())
    return Estimate(name, sign * point, low, high, level, f"{kind}bootstrap_{method}", n, n_boot, seed, extra)


def _reads_backward(np: Any, sums: Any, sizes: Any) -> bool:
    """Whether the clusters, in order, come after their mirror image; no two mirror images both do."""
    ordered, mirrored = sums[np.lexsort((sizes, sums))], -sums[np.lexsort((sizes, -sums))]
    order, mirror = sizes[np.lexsort((sizes, sums))], sizes[np.lexsort((sizes, -sums))]
    differs = np.flatnonzero((ordered != mirrored) | (order != mirror))
    if not len(differs):
        return False
    first = int(differs[0])
    return bool((ordered[first], order[first]) < (mirrored[first], mirror[first]))


def _draws(sums: Any, sizes: Any, n_boot: int, rng: Any) -> Any:
    """n_boot ratios, each of as many clusters as there are, drawn with replacement."""
    np = numpy()
    g = len(sums)
    distinct, counts = np.unique(np.stack([sums, sizes], axis=1), axis=0, return_counts=True)
    by_counts, equal = 4 * len(distinct) <= g, bool((sizes == sizes[0]).all())
    block = max(1, BLOCK // (len(distinct) if by_counts else g))
    found = np.empty(n_boot)
    for start in range(0, n_boot, block):
        size = min(block, n_boot - start)
        if by_counts:
            totals = rng.multinomial(g, counts / g, size=size) @ distinct
            found[start : start + size] = totals[:, 0] / totals[:, 1]
        else:
            index = rng.integers(0, g, size=(size, g), dtype=np.uint32)
            drawn = g * sizes[0] if equal else sizes[index].sum(axis=1)
            found[start : start + size] = sums[index].sum(axis=1) / drawn
    return found


def _tails(draws: Any, point: float, sums: Any, sizes: Any, level: float, method: str) -> tuple[float, float]:
    """The shares of draws below the lower and above the upper end."""
    alpha, g, normal = (1 - level) / 2, len(sums), NormalDist()
    if method == "percentile" or g < 2:
        return alpha, alpha
    if method == "expanded":
        widened = sqrt(g / (g - 1)) * float(special().stdtrit(g - 1, alpha))
        return normal.cdf(widened), normal.cdf(widened)
    below = float((draws < point).mean() + 0.5 * (draws == point).mean())
    if not 0 < below < 1:
        return alpha, alpha  # all draws on one side: the correction is not defined
    bias, acceleration = normal.inv_cdf(below), _acceleration(sums, sizes)

    def moved(z: float) -> float:
        return normal.cdf(bias + (bias + z) / (1 - acceleration * (bias + z)))

    z = normal.inv_cdf(alpha)
    return moved(z), 1 - moved(-z)


def _acceleration(sums: Any, sizes: Any) -> float:
    """Skewness of the jackknife over clusters, divided by 6."""
    left_out = (sums.sum() - sums) / (sizes.sum() - sizes)
    away = left_out.mean() - left_out
    spread = float((away**2).sum())
    return float((away**3).sum()) / (6 * spread**1.5) if spread > 0 else 0.0


def _ends(draws: Any, tails: tuple[float, float], n_boot: int) -> tuple[float, float]:
    """Order statistics, counted from both ends alike."""
    low, high = (min(max(round(tail * (n_boot + 1)) - 1, 0), n_boot - 1) for tail in tails)
    return float(draws[low]), float(draws[n_boot - 1 - high])


def bootstrap_statistic(
    data: Sequence[Any],
    stat_fn: Callable[[list[Any]], float],
    level: float = 0.95,
    n_boot: int = 10_000,
    seed: int = 0,
    name: str = "stat",
    groups: Sequence[Hashable] | None = None,
) -> Estimate:
    """Percentile interval of any statistic of a list of records (say, Cohen's kappa); groups are resampled whole.

    A resample on which `stat_fn` raises InputError (kappa of one label only) is left out and counted in
    `extra.undefined`; where more than half are, InputError.
    """
    _check(level, n_boot, "percentile")
    if not len(data) or (groups is not None and len(groups) != len(data)):
        raise InputError("bootstrap_statistic needs records, and one group for each where groups are given")
    np = numpy()
    clusters: dict[Hashable, list[Any]] = {}
    for record, group in zip(data, range(len(data)) if groups is None else groups, strict=True):
        clusters.setdefault(group, []).append(record)
    members, rng = list(clusters.values()), np.random.default_rng(seed)
    found = []
    for _ in range(n_boot):
        chosen = rng.integers(0, len(members), size=len(members)).tolist()
        try:
            found.append(float(stat_fn([record for index in chosen for record in members[index]])))
        except InputError:
            continue
    if 2 * len(found) < n_boot:
        raise InputError(f"the statistic is undefined on {n_boot - len(found)} of {n_boot} resamples")
    draws, point = np.sort(np.asarray(found)), float(stat_fn(list(data)))
    alpha = (1 - level) / 2
    low, high = _ends(draws, (alpha, alpha), len(found))
    extra = {"boot_se": float(draws.std(ddof=1)), "clusters": len(members), "undefined": n_boot - len(found)}
    kind = "" if groups is None else "cluster_"
    return Estimate(name, point, low, high, level, f"{kind}bootstrap_percentile", len(data), n_boot, seed, extra)


def _check(level: float, n_boot: int, method: str) -> None:
    check_level(level)
    if n_boot < 2:
        raise InputError(f"n_boot must be at least 2, got {n_boot}")
    if method not in get_args(BootstrapMethod):
        raise InputError(f'no bootstrap "{method}"{did_you_mean(method, get_args(BootstrapMethod))}')
