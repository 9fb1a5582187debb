"""Intervals for a rate and for the paired difference of two rates. Clopper-Pearson needs scipy; the rest is pure.

Shapes: a rate is c of n; a paired table is b (first passes, second fails), c (the reverse) and n pairs in all. The
difference is first minus second, (b - c)/n, in [-1, 1]. All assume independent pairs; groups need `bootstrap`.
Easy to break: Tango's interval alone may exclude 0 where the exact test does not reject.
"""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

from steelyard.errors import InputError
from steelyard.stats.needs import special
from steelyard.stats.rates import Interval
from steelyard.stats.results import check_level


def rate_se(rate: float, n: int) -> float:
    """Standard error of a rate of n independent trials: sqrt(p(1 - p)/n)."""
    if not 0.0 <= rate <= 1.0 or n < 1:
        raise InputError(f"need a rate in [0, 1] of at least one trial, got {rate} of {n}")
    return sqrt(rate * (1 - rate) / n)


def clopper_pearson(c: int, n: int, level: float = 0.95) -> Interval:
    """Clopper and Pearson's exact interval for c successes in n independent trials.

    Source: Biometrika 26 (1934), 404-413: quantiles of Beta(c, n-c+1) and Beta(c+1, n-c). Never covers less than
    `level`, so it is wider than Wilson's.
    """
    check_level(level)
    if n < 1 or not 0 <= c <= n:
        raise InputError(f"need 0 <= c <= n and n >= 1, got c={c}, n={n}")
    tail, beta = (1 - level) / 2, special().betaincinv
    low = float(beta(c, n - c + 1, tail)) if c else 0.0
    high = float(beta(c + 1, n - c, 1 - tail)) if c < n else 1.0
    return Interval(low, high, level, "clopper-pearson")


def tango(b: int, c: int, n: int, level: float = 0.95) -> Interval:
    """Tango's score interval for the paired difference (b - c)/n.

    Source: Tango 1998, Stat. Med. 17, 891-908. It inverts the score test, so it excludes 0 exactly where the
    asymptotic McNemar test rejects; with no discordant pair it is +-z^2/(n + z^2).
    """
    check_table(b, c, n)
    z = NormalDist().inv_cdf(0.5 + check_level(level) / 2)
    high = 1.0 if b == n else _root(b, c, n, z)
    low = -1.0 if c == n else -_root(c, b, n, z)
    return Interval(low, high, level, "tango score")


def _root(b: int, c: int, n: int, z: float) -> float:
    """The upper limit: where the score statistic falls to -z, by bisection."""
    low, high = (b - c) / n, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if _score(b, c, n, middle) > -z:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _score(b: int, c: int, n: int, delta: float) -> float:
    """Tango's statistic: (b - c - n*delta) over its standard error under p12 - p21 = delta."""
    beta = -b - c + (2 * n - b + c) * delta
    gamma = -c * delta * (1 - delta)
    p21 = (sqrt(max(0.0, beta * beta - 8 * n * gamma)) - beta) / (4 * n)
    variance = n * (2 * p21 + delta * (1 - delta))
    away = b - c - n * delta
    if variance <= 0:
        return 0.0 if away == 0 else float("-inf") if away < 0 else float("inf")
    return away / sqrt(variance)


def exact_difference(b: int, c: int, n: int, level: float = 0.95) -> Interval:
    """The paired difference by Clopper-Pearson on b of the b + c discordant pairs, times their share (b + c)/n.

    It excludes 0 exactly where McNemar's exact test rejects at 1 - level. Conditional on how many pairs are
    discordant, so it says nothing of a table without any: there it is [0, 0].
    """
    check_table(b, c, n)
    low, high = -_exact_high(c, b, n, level), _exact_high(b, c, n, level)
    return Interval(low, high, level, "exact, conditional on discordance")


def _exact_high(b: int, c: int, n: int, level: float) -> float:
    if b + c == 0:
        return 0.0
    return (2 * clopper_pearson(b, b + c, level).high - 1) * (b + c) / n


def paired_difference(b: int, c: int, n: int, level: float = 0.95) -> Interval:
    """The wider of Tango's score and the exact conditional interval, end by end.

    It never calls a difference that McNemar's exact test does not reject, and is not fooled by a table with few or no
    discordant pairs. Covers a little more than `level`.
    """
    score, exact = tango(b, c, n, level), exact_difference(b, c, n, level)
    low, high = min(score.low, exact.low), max(score.high, exact.high)
    return Interval(low, high, level, "tango score, widened to the exact test")


def check_table(b: int, c: int, n: int) -> None:
    """Refuse a paired table that cannot be: negative counts, or more discordant pairs than pairs."""
    if b < 0 or c < 0 or n < 1 or b + c > n:
        raise InputError(f"need b >= 0, c >= 0 and b + c <= n with n >= 1, got b={b}, c={c}, n={n}")
