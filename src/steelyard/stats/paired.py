"""Tests for paired outcomes: McNemar's four variants, the paired t test and the sign-flip test.

Throughout, `a` and `b` are outcomes on the same items in the same order and the effect is mean(a) - mean(b); in a
paired table b counts "first passes, second fails" and c the reverse. McNemar's tests are pure Python and assume
independent pairs; where items share groups or have several rollouts, `sign_flip` takes the groups' differences.
Sources: McNemar 1947, Psychometrika 12, 153-157; Edwards 1948 (correction); Fagerland, Lydersen and Laake 2013, BMC
Med. Res. Methodol. 13:91 (mid-p). Easy to break: p must be 1.0, not NaN, when no pair is discordant.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, erfc, sqrt
from typing import Any, Literal, get_args

from steelyard.errors import InputError, did_you_mean
from steelyard.stats.intervals import check_table
from steelyard.stats.needs import numpy, special
from steelyard.stats.results import TestResult

McnemarMethod = Literal["exact", "midp", "asymptotic", "corrected"]
ENUMERATED = 14
"""Up to this many differences, all sign patterns are looked at; 2^14 is quick and exact."""


def mcnemar_p(b: int, c: int, method: McnemarMethod = "exact") -> float:
    """Two-sided p of McNemar's test from the two discordant counts; 1.0 when both are 0.

    exact: doubled binomial tail P(X <= min(b, c)) at 1/2, at most 1. midp: the same less P(X = min(b, c)).
    asymptotic: chi-square (b - c)^2/(b + c), 1 degree of freedom. corrected: Edwards' (|b - c| - 1)^2/(b + c).
    """
    check_table(b, c, max(1, b + c))
    if method not in get_args(McnemarMethod):
        raise InputError(f'no McNemar test "{method}"{did_you_mean(method, get_args(McnemarMethod))}')
    if b + c == 0:
        return 1.0
    if method in ("asymptotic", "corrected"):
        return erfc(sqrt(mcnemar_chi2(b, c, corrected=method == "corrected") / 2))
    point, tail = _half_binomial(min(b, c), b + c)
    return min(1.0, 2 * tail - (point if method == "midp" else 0.0))


def mcnemar_chi2(b: int, c: int, *, corrected: bool = False) -> float:
    """McNemar's chi-square statistic; 0.0 when no pair is discordant."""
    if b + c == 0:
        return 0.0
    away = max(0, abs(b - c) - 1) if corrected else abs(b - c)
    return away * away / (b + c)


def _half_binomial(k: int, m: int) -> tuple[float, float]:
    """P(X = k) and P(X <= k) of a fair binomial of m, for k <= m/2: the largest term, then ratios of neighbours."""
    point = comb(m, k) / 2**m
    term = total = 1.0
    for i in range(k, 0, -1):
        term *= i / (m - i + 1)
        total += term
        if term < total * 1e-17:
            break
    return point, point * total


def mcnemar(
    a: Sequence[float], b: Sequence[float], exact: bool = True, *, method: McnemarMethod | None = None
) -> TestResult:
    """McNemar's test on two lists of 0/1 outcomes of the same items; the effect is mean(a) - mean(b).

    `exact=False` is the continuity-corrected chi-square; `method` names any of the four. `extra` holds the discordant
    counts b and c and their rate. InputError for lists of different length, empty ones, and values other than 0 and 1.
    """
    _check_pairs(a, b)
    for value in (*a, *b):
        if value not in (0, 1):
            raise InputError(f"McNemar's test needs outcomes that are 0 or 1, got {value!r}")
    first = sum(bool(x) and not y for x, y in zip(a, b, strict=True))
    second = sum(bool(y) and not x for x, y in zip(a, b, strict=True))
    return mcnemar_test(first, second, len(a), method or ("exact" if exact else "corrected"))


_NAMES = {
    "exact": "mcnemar_exact",
    "midp": "mcnemar_midp",
    "asymptotic": "mcnemar_chi2",
    "corrected": "mcnemar_chi2_cc",
}


def mcnemar_test(b: int, c: int, n: int, method: McnemarMethod = "exact") -> TestResult:
    """McNemar's test from the paired table; the statistic is min(b, c), or chi-square for the two that use it."""
    check_table(b, c, n)
    p = mcnemar_p(b, c, method)
    counted = method in ("exact", "midp")
    statistic = float(min(b, c)) if counted else mcnemar_chi2(b, c, corrected=method == "corrected")
    extra = {"b": b, "c": c, "discordant_rate": (b + c) / n}
    return TestResult("mcnemar", statistic, p, (b - c) / n, _NAMES[method], n, extra)


def paired_t(a: Sequence[float], b: Sequence[float]) -> TestResult:
    """Student's paired t test; the effect is mean(a) - mean(b), `extra` holds the standard deviation and df.

    Source: Student 1908, Biometrika 6, 1-25. Assumes independent differences, near normal or many. With no spread at
    all p is 1.0 for a mean of 0 and 0.0 otherwise. Needs two pairs or more. On scipy.special.
    """
    _check_pairs(a, b)
    if len(a) < 2:
        raise InputError("a paired t test needs at least two pairs")
    np = numpy()
    differences = np.asarray(a, float) - np.asarray(b, float)
    n, mean, sd = len(differences), float(differences.mean()), float(differences.std(ddof=1))
    extra = {"sd_diff": sd, "df": n - 1}
    if sd == 0.0:
        return TestResult(
            "paired_t", 0.0 if mean == 0 else float("inf") * mean, float(mean == 0), mean, "paired_t", n, extra
        )
    t = mean / (sd / sqrt(n))
    return TestResult("paired_t", t, 2 * float(special().stdtr(n - 1, -abs(t))), mean, "paired_t", n, extra)


def sign_flip(differences: Sequence[float], n_flips: int = 19_999, seed: int = 0) -> TestResult:
    """Sign-flip test that differences (one a cluster) are symmetric about 0; the effect is their mean.

    p is the share of sign patterns whose |sum| reaches the observed one: exactly where all differences have one size
    (McNemar's exact test is that case) or up to 14 are not 0, else of `n_flips` random patterns, counting the
    observed one (Phipson and Smyth 2010, Stat. Appl. Genet. Mol. Biol. 9:39). Source: Fisher 1935, The Design of
    Experiments, section 21. Assumes independent clusters; needs no normality and is valid however few there are.
    """
    np = numpy()
    values = np.asarray(differences, float)
    if not len(values):
        raise InputError("the sign-flip test needs at least one difference")
    sizes = np.sort(np.abs(values[values != 0]))
    observed = abs(float(values.sum()))
    p, method = _flip_p(np, sizes, observed, n_flips, seed)
    return TestResult("sign_flip", observed, p, float(values.mean()), method, len(values), {"nonzero": len(sizes)})


def _flip_p(np: Any, sizes: Any, observed: float, n_flips: int, seed: int) -> tuple[float, str]:
    if not len(sizes):
        return 1.0, "sign_flip, no difference"
    reached = observed - 1e-9 * float(sizes.sum())  # sums of the same differences in another order must still reach it
    distinct, counts = np.unique(np.round(sizes, 12), return_counts=True)
    if len(distinct) == 1:
        m = len(sizes)
        smaller = round((m - observed / float(distinct[0])) / 2)
        return mcnemar_p(smaller, m - smaller), "sign_flip, exact binomial"
    if len(sizes) <= ENUMERATED:
        patterns = 1 - 2 * ((np.arange(2 ** len(sizes))[:, None] >> np.arange(len(sizes))) & 1)
        return float((np.abs(patterns @ sizes) >= reached).mean()), "sign_flip, all patterns"
    rng, hits, block = np.random.default_rng(seed), 0, max(1, 2_000_000 // len(distinct))
    for start in range(0, n_flips, block):
        plus = rng.binomial(counts, 0.5, size=(min(block, n_flips - start), len(counts)))
        hits += int((np.abs((2 * plus - counts) @ distinct) >= reached).sum())
    return (hits + 1) / (n_flips + 1), f"sign_flip, {n_flips} random patterns"


def _check_pairs(a: Sequence[float], b: Sequence[float]) -> None:
    if len(a) != len(b) or not len(a):
        raise InputError(f"paired outcomes need two lists of the same length, got {len(a)} and {len(b)}")
