"""Type I error, power and coverage by simulation: what the statistics promise, on data made to the promise.

Every figure is checked within three Monte-Carlo standard errors of what is claimed. All seeds are fixed.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pytest

from steelyard.compare.figures import Counts, Criteria, Pair, figures
from steelyard.stats.bootstrap import BootstrapMethod, bootstrap_mean, bootstrap_ratio
from steelyard.stats.clustered import clustered_mean
from steelyard.stats.intervals import clopper_pearson, paired_difference, tango
from steelyard.stats.multiple import benjamini_hochberg, holm
from steelyard.stats.paired import mcnemar_p, sign_flip
from steelyard.stats.power import PowerMethod, power_mcnemar
from steelyard.stats.rates import mean_rate, wilson
from steelyard.stats.tost import tost_paired

pytestmark = pytest.mark.slow


def within(observed: float, claimed: float, trials: int, more: float = 0.0) -> bool:
    """Whether a share of trials is at most three Monte-Carlo errors, and `more`, from what is claimed."""
    return abs(observed - claimed) <= 3 * sqrt(claimed * (1 - claimed) / trials) + more


def _tables(n: int, psi: float, delta: float, trials: int, seed: int) -> Any:
    """Discordant counts (b, c) of `trials` paired tables."""
    cells = [(psi + delta) / 2, (psi - delta) / 2, 1 - psi]
    return np.random.default_rng(seed).multinomial(n, cells, trials)[:, :2].tolist()


@pytest.mark.parametrize("n", [30, 100, 305])
def test_mcnemar_rejects_no_more_than_it_says(n: int) -> None:
    """Exact never above alpha, mid-p and asymptotic near it, at a discordant rate of .25. [T-19] [T-37]"""
    tables = _tables(n, 0.25, 0.0, 6000, n)
    error = 3 * sqrt(0.05 * 0.95 / 6000)
    share = {m: np.mean([mcnemar_p(b, c, m) <= 0.05 for b, c in tables]) for m in ("exact", "midp", "asymptotic")}
    assert share["exact"] <= 0.05 + error
    assert share["midp"] <= 0.055 + error
    assert share["asymptotic"] <= 0.06 + error


@pytest.mark.parametrize(("method", "n"), [("asymptotic", 305), ("exact", 324), ("midp", 302)])
def test_a_sized_comparison_has_the_power_that_it_was_sized_for(method: PowerMethod, n: int) -> None:
    """.80 at eight points, and for each test what `power_mcnemar` computes. [T-19] [T-20]"""
    rejected = np.mean([mcnemar_p(b, c, method) <= 0.05 for b, c in _tables(n, 0.25, 0.08, 8000, n)])
    assert within(rejected, 0.80, 8000, 0.004)
    if method != "asymptotic":
        assert within(rejected, power_mcnemar(n, 0.08, method=method), 8000)


@pytest.mark.parametrize(("n", "psi", "delta"), [(40, 0.3, 0.0), (100, 0.25, 0.08), (300, 0.1, -0.05)])
def test_intervals_of_a_paired_difference_cover(n: int, psi: float, delta: float) -> None:
    """Tango near .95, the widened one not below it. [O-17] [T-37]"""
    tables = _tables(n, psi, delta, 1200, n)
    score = [tango(b, c, n) for b, c in tables]
    wide = [paired_difference(b, c, n) for b, c in tables]
    assert within(np.mean([i.low <= delta <= i.high for i in score]), 0.95, 1200, 0.01)
    assert np.mean([i.low <= delta <= i.high for i in wide]) >= 0.95 - 3 * sqrt(0.95 * 0.05 / 1200)


@pytest.mark.parametrize("rate", [0.05, 0.5, 0.9])
def test_intervals_of_a_rate_cover(rate: float) -> None:
    """100 trials: Clopper-Pearson at least .95, Wilson near it. [T-37]"""
    hits = np.random.default_rng(1).binomial(100, rate, 3000).tolist()
    exact, score = [clopper_pearson(c, 100) for c in hits], [wilson(c / 100, 100) for c in hits]
    assert np.mean([i.low <= rate <= i.high for i in exact]) >= 0.95 - 3 * sqrt(0.95 * 0.05 / 3000)
    assert within(np.mean([low <= rate <= high for low, high in score]), 0.95, 3000, 0.02)


def _clustered(rng: Any, groups: int, size: int) -> tuple[Any, list[int]]:
    """Scores in [0, 1] of true mean .5: half of their spread belongs to the group."""
    levels = np.repeat(rng.beta(2, 2, groups), size)
    return rng.binomial(1, levels).astype(float), np.repeat(np.arange(groups), size).tolist()


@pytest.mark.parametrize("method", ["percentile", "expanded", "bca"])
def test_a_clustered_bootstrap_covers_and_one_that_ignores_groups_does_not(method: BootstrapMethod) -> None:
    """60 groups of 8: near .95 by groups, far below it over single scores. [T-37]"""
    rng, covered, naive = np.random.default_rng(2), 0, 0
    for trial in range(600):
        scores, groups = _clustered(rng, 60, 8)
        found = bootstrap_mean(scores, groups, n_boot=999, seed=trial, method=method)
        alone = bootstrap_mean(scores, n_boot=999, seed=trial, method=method)
        covered += found.ci_low <= 0.5 <= found.ci_high
        naive += alone.ci_low <= 0.5 <= alone.ci_high
    assert within(covered / 600, 0.95, 600, 0.012)
    assert naive / 600 < 0.85


def test_the_expanded_bootstrap_covers_with_few_clusters_where_the_plain_one_does_not() -> None:
    """Ten clusters. [T-37]"""
    rng, covered = np.random.default_rng(3), {"percentile": 0, "expanded": 0}
    for trial in range(1000):
        sums = rng.normal(0, 1, 10)
        for method in covered:
            found = bootstrap_ratio(sums, np.ones(10), n_boot=999, seed=trial, method=method)  # type: ignore[arg-type]
            covered[method] += found.ci_low <= 0 <= found.ci_high
    assert covered["percentile"] / 1000 < 0.93
    assert within(covered["expanded"] / 1000, 0.95, 1000, 0.015)


def test_clustered_t_and_rate_intervals_cover() -> None:
    """60 groups of 8, for the standard error and for the report's own interval. [T-37]"""
    rng, t, rate = np.random.default_rng(4), 0, 0
    for _ in range(1500):
        scores, groups = _clustered(rng, 60, 8)
        found = clustered_mean(scores, groups)
        t += found.ci_low <= 0.5 <= found.ci_high
        wide = mean_rate([(1, int(s)) for s in scores], list(map(str, groups)))
        rate += wide.low <= 0.5 <= wide.high
    assert within(t / 1500, 0.95, 1500, 0.005)
    assert within(rate / 1500, 0.95, 1500, 0.01)


@pytest.mark.parametrize("n", [6, 20, 60])
def test_the_sign_flip_test_holds_its_level_however_few_the_clusters(n: int) -> None:
    """Skewed sizes, symmetric signs. [O-17]"""
    rng, rejected = np.random.default_rng(n), 0
    for trial in range(1000):
        values = rng.exponential(1, n) * rng.choice([-1, 1], n)
        rejected += sign_flip(values, n_flips=499, seed=trial).pvalue <= 0.05
    assert rejected / 1000 <= 0.05 + 3 * sqrt(0.05 * 0.95 / 1000)


def _simulated(rng: Any, items: int, rollouts: int, gain: float, group: int = 1) -> list[Pair]:
    """Pairs of counts whose items differ in difficulty; B passes `gain` more often than A."""
    levels = np.repeat(rng.beta(2, 2, -(-items // group)), group)[:items] * (1 - gain)
    a, b = rng.binomial(rollouts, levels), rng.binomial(rollouts, levels + gain)
    return [
        Pair(f"i{i}", f"g{i // group}", Counts(int(x), rollouts - int(x)), Counts(int(y), rollouts - int(y)))
        for i, (x, y) in enumerate(zip(a, b, strict=True))
    ]


@pytest.mark.parametrize(("items", "rollouts", "group"), [(8, 1, 1), (60, 1, 1), (60, 4, 1), (60, 2, 5), (8, 3, 1)])
def test_two_runs_of_one_model_are_called_different_no_more_often_than_alpha(
    items: int, rollouts: int, group: int
) -> None:
    """One and several rollouts, with groups and without, few items and many. [O-17] [T-37]"""
    rng, called, trials = np.random.default_rng(items * rollouts), 0, 500
    for trial in range(trials):
        found = figures(_simulated(rng, items, rollouts, 0.0, group), Criteria(n_boot=499, seed=trial))
        called += found.word in ("better", "worse")
    assert called / trials <= 0.05 + 3 * sqrt(0.05 * 0.95 / trials)


def test_a_run_that_is_better_by_the_detectable_effect_is_called_better_about_four_times_in_five() -> None:
    """Several rollouts: measured .74 of 1,000, since the exact test on few distinct sums is cautious. [T-20] [O-17]"""
    rng, called, detectable = np.random.default_rng(5), 0, []
    for trial in range(400):
        found = figures(_simulated(rng, 80, 4, 0.102), Criteria(n_boot=499, seed=trial))
        called += found.word == "better"
        detectable.append(found.mde)
    assert within(called / 400, 0.745, 400)
    assert pytest.approx(0.102, abs=0.004) == np.mean(detectable)


def test_corrections_hold_their_error_rates() -> None:
    """Ten true nulls: Holm at most .05 of families; BH at most .05 false among rejections with half of them real."""
    rng, families, shares = np.random.default_rng(6), 0, []
    for _ in range(3000):
        families += any(holm(rng.random(10).tolist()).reject)
        pvalues = [*rng.random(5), *(rng.random(5) * 0.01)]
        reject = benjamini_hochberg(pvalues).reject
        shares.append(sum(reject[:5]) / max(1, sum(reject)))
    assert families / 3000 <= 0.05 + 3 * sqrt(0.05 * 0.95 / 3000)
    assert np.mean(shares) <= 0.05 + 3 * np.std(shares) / sqrt(3000)


def test_equivalence_is_claimed_no_more_than_alpha_at_the_margin() -> None:
    """A true difference of exactly the margin. [T-37]"""
    rng = np.random.default_rng(7)
    claimed = np.mean([tost_paired(rng.normal(0.2, 1, 300), np.zeros(300), 0.2).pvalue <= 0.05 for _ in range(2000)])
    assert within(claimed, 0.05, 2000)
