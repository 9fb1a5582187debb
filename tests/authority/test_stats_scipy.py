"""Statistics against scipy and statsmodels on seeded data: two implementations by other people.

Named tolerances: EXACT for closed forms, DRAWN for two bootstraps with seeds of their own (20,000 draws each), SOLVED
for maximum likelihood, where both stop at their own precision.
"""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pytest
from scipy import stats

from steelyard.stats.agreement import cohen_kappa
from steelyard.stats.bootstrap import bootstrap_mean, bootstrap_paired_diff
from steelyard.stats.clustered import clustered_mean
from steelyard.stats.intervals import clopper_pearson
from steelyard.stats.items import point_biserial, rasch_difficulty
from steelyard.stats.multiple import benjamini_hochberg, bonferroni, holm
from steelyard.stats.paired import mcnemar_chi2, mcnemar_p, paired_t, sign_flip
from steelyard.stats.power import required_n_paired_mean
from steelyard.stats.rates import wilson
from steelyard.stats.tost import tost_paired

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # statsmodels and pandas announce changes of theirs when they are imported
    from statsmodels.discrete.discrete_model import Logit
    from statsmodels.regression.linear_model import OLS
    from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
    from statsmodels.stats.inter_rater import cohens_kappa
    from statsmodels.stats.multitest import multipletests
    from statsmodels.stats.power import normal_sample_size_one_tail
    from statsmodels.stats.proportion import proportion_confint
    from statsmodels.stats.weightstats import ttost_paired

EXACT = 1e-12
DRAWN = 0.006
SOLVED = 1e-6
TABLES = [(0, 1), (1, 0), (3, 3), (5, 0), (10, 2), (12, 6), (49, 25), (200, 251), (0, 40)]


@pytest.mark.parametrize(("b", "c"), TABLES)
def test_mcnemar_agrees_with_scipy_and_statsmodels(b: int, c: int) -> None:
    """Exact, asymptotic and corrected, over nine tables. [T-37]"""
    table = [[7, b], [c, 9]]
    assert pytest.approx(stats.binomtest(b, b + c).pvalue, abs=EXACT) == mcnemar_p(b, c)
    assert pytest.approx(statsmodels_mcnemar(table).pvalue, abs=EXACT) == mcnemar_p(b, c)
    plain = statsmodels_mcnemar(table, exact=False, correction=False)
    assert pytest.approx(plain.pvalue, abs=EXACT) == mcnemar_p(b, c, "asymptotic")
    assert pytest.approx(plain.statistic, abs=1e-9) == mcnemar_chi2(b, c)
    if b != c:  # statsmodels corrects an even table to (0 - 1)^2, where Edwards' correction leaves 0
        corrected = statsmodels_mcnemar(table, exact=False, correction=True)
        assert pytest.approx(corrected.pvalue, abs=EXACT) == mcnemar_p(b, c, "corrected")


@pytest.mark.parametrize(("b", "c"), TABLES)
def test_mid_p_is_the_exact_p_less_the_point_probability(b: int, c: int) -> None:
    """From scipy's binomial distribution. [T-37]"""
    k, m = min(b, c), b + c
    want = min(1.0, 2 * stats.binom.cdf(k, m, 0.5) - stats.binom.pmf(k, m, 0.5))
    assert pytest.approx(want, abs=EXACT) == mcnemar_p(b, c, "midp")


def test_intervals_of_a_rate_agree_with_both() -> None:
    """Clopper-Pearson and Wilson at three levels. [T-37]"""
    for n, c, level in product((1, 7, 50, 300), (0, 1, 0.3, 1.0), (0.8, 0.95, 0.99)):
        k = min(n, c if isinstance(c, int) else round(c * n))
        exact, score = clopper_pearson(k, n, level), wilson(k / n, n, level)
        with_scipy = stats.binomtest(k, n).proportion_ci(level, "exact")
        assert pytest.approx((with_scipy.low, with_scipy.high), abs=1e-10) == (exact.low, exact.high)
        assert pytest.approx(proportion_confint(k, n, 1 - level, "beta"), abs=1e-10, nan_ok=True) == (
            exact.low,
            exact.high,
        )
        assert pytest.approx(proportion_confint(k, n, 1 - level, "wilson"), abs=1e-10) == score


def test_corrections_agree_with_both() -> None:
    """Adjusted p-values and rejections of 12 seeded lists; statsmodels collects garbage in each call. [T-37]"""
    rng = np.random.default_rng(1)
    for size in rng.integers(1, 30, 12):
        pvalues = np.round(rng.beta(0.5, 2, size), rng.integers(2, 6)).tolist()
        for ours, name in ((bonferroni, "bonferroni"), (holm, "holm"), (benjamini_hochberg, "fdr_bh")):
            reject, adjusted, *_ = multipletests(pvalues, 0.05, name)
            found = ours(pvalues)
            assert pytest.approx(adjusted.tolist(), abs=EXACT) == found.adjusted
            near = np.abs(adjusted - 0.05) < 1e-9
            assert [r for r, n in zip(reject, near, strict=True) if not n] == [
                r for r, n in zip(found.reject, near, strict=True) if not n
            ]
        assert pytest.approx(stats.false_discovery_control(pvalues).tolist(), abs=EXACT) == found.adjusted


def test_t_tests_and_equivalence_agree() -> None:
    """Paired t with scipy, two one-sided tests with statsmodels. [T-37]"""
    rng = np.random.default_rng(2)
    for n in (2, 5, 40, 400):
        a, b = rng.normal(0.1, 1, n), rng.normal(0, 1, n)
        ours, theirs = paired_t(a, b), stats.ttest_rel(a, b)
        assert pytest.approx((theirs.statistic, theirs.pvalue), abs=1e-10) == (ours.statistic, ours.pvalue)
        p, lower, upper = ttost_paired(a, b, -0.3, 0.3)
        found = tost_paired(a, b, 0.3)
        assert pytest.approx((p, lower[1], upper[1]), abs=1e-10) == (
            found.pvalue,
            found.extra["p_lower"],
            found.extra["p_upper"],
        )


def test_clustered_errors_are_those_of_a_regression_on_a_constant() -> None:
    """The clustered covariance of statsmodels, unequal clusters. [T-37]"""
    rng = np.random.default_rng(3)
    groups = np.sort(rng.integers(0, 25, 300))
    scores = rng.normal(0, 1, 300) + rng.normal(0, 1, 25)[groups]
    fit = OLS(scores, np.ones(300)).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
    found = clustered_mean(scores, groups.tolist())
    assert pytest.approx((fit.params[0], fit.bse[0]), abs=1e-10) == (found.point, found.extra["se"])
    assert pytest.approx(tuple(fit.conf_int()[0]), abs=1e-9) == (found.ci_low, found.ci_high)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_bootstrap_intervals_agree_with_scipys(method: str) -> None:
    """A skewed mean, and a paired difference; both draw with seeds of their own. [T-37]"""
    rng = np.random.default_rng(4)
    scores = rng.beta(0.5, 2, 60)
    found = bootstrap_mean(scores, n_boot=20_000, method=method)  # type: ignore[arg-type]
    theirs = stats.bootstrap((scores,), np.mean, n_resamples=20_000, method=method, rng=5).confidence_interval
    assert pytest.approx((theirs.low, theirs.high), abs=DRAWN) == (found.ci_low, found.ci_high)
    other = scores * 0.7 + rng.beta(1, 3, 60) * 0.3
    paired = bootstrap_paired_diff(scores, other, n_boot=20_000, method=method)  # type: ignore[arg-type]
    theirs = stats.bootstrap((scores - other,), np.mean, n_resamples=20_000, method=method, rng=6).confidence_interval
    assert pytest.approx((theirs.low, theirs.high), abs=DRAWN) == (paired.ci_low, paired.ci_high)


def test_a_clustered_bootstrap_agrees_with_scipys_on_cluster_sums() -> None:
    """A ratio of sums over 40 clusters of unequal size. [T-37]"""
    rng = np.random.default_rng(7)
    groups = rng.integers(0, 40, 300)
    scores = rng.random(300) + 0.5 * rng.random(40)[groups]
    found = bootstrap_mean(scores, groups.tolist(), n_boot=20_000)
    sums, sizes = np.bincount(groups, scores), np.bincount(groups).astype(float)

    def ratio(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
        return x.sum(axis=axis) / y.sum(axis=axis)

    theirs = stats.bootstrap((sums, sizes), ratio, paired=True, n_resamples=20_000, method="percentile", rng=8)
    interval = theirs.confidence_interval
    assert pytest.approx((interval.low, interval.high), abs=DRAWN) == (found.ci_low, found.ci_high)


def test_the_sign_flip_test_agrees_with_scipys_permutations() -> None:
    """All patterns of 12 differences, and random ones of 60. [O-17]"""

    def total(x: np.ndarray, axis: int) -> np.ndarray:
        return np.abs(x.sum(axis=axis))

    rng = np.random.default_rng(9)
    few, many = rng.normal(0.4, 1, 12), rng.choice([-0.5, -0.25, 0.25, 0.75], 60)
    how = {"permutation_type": "samples", "alternative": "greater"}
    exact = stats.permutation_test((few,), total, n_resamples=np.inf, **how)
    assert pytest.approx(exact.pvalue, abs=EXACT) == sign_flip(few).pvalue
    drawn = stats.permutation_test((many,), total, n_resamples=19_999, rng=10, **how)
    p = sign_flip(many).pvalue
    assert abs(drawn.pvalue - p) < 5 * (2 * p * (1 - p) / 20_000) ** 0.5 + 1e-4


def test_kappa_and_its_error_agree_with_statsmodels() -> None:
    """Three labels, 30 seeded tables. [T-42]"""
    rng = np.random.default_rng(11)
    for _ in range(30):
        a = rng.integers(0, 3, 60)
        b = np.where(rng.random(60) < 0.6, a, rng.integers(0, 3, 60))
        theirs = cohens_kappa(np.histogram2d(a, b, bins=(3, 3), range=((0, 3), (0, 3)))[0])
        found = cohen_kappa(a.tolist(), b.tolist())
        assert pytest.approx((theirs.kappa, theirs.std_kappa), abs=1e-10) == (found.point, found.extra["se"])


def test_1pl_difficulties_are_those_of_a_logistic_regression() -> None:
    """Estimates and standard errors of statsmodels' Logit on items and respondents, 4 by 9, missing cells. [T-18]"""
    rng = np.random.default_rng(12)
    tried = rng.integers(0, 12, (4, 9))
    passed = rng.binomial(tried, 1 / (1 + np.exp(np.linspace(-1, 1, 9) - np.linspace(-0.5, 0.5, 4)[:, None])))
    rows, outcomes = [], []
    for person, item in product(range(4), range(9)):
        ability = [1.0 if person == k else -1.0 if person == 3 else 0.0 for k in range(3)]
        row = [*(-1.0 if item == k else 0.0 for k in range(9)), *ability]
        n, c = int(tried[person, item]), int(passed[person, item])
        rows += [row] * n
        outcomes += [1] * c + [0] * (n - c)
    fit = Logit(np.asarray(outcomes), np.asarray(rows)).fit(disp=0)
    found = rasch_difficulty(passed, tried)
    assert pytest.approx(fit.params[:9].tolist(), abs=SOLVED) == found.difficulty
    assert pytest.approx(fit.bse[:9].tolist(), abs=SOLVED) == found.difficulty_se


def test_discrimination_agrees_with_scipys_point_biserial() -> None:
    """Each item against the mean of the others. [T-18]"""
    rng = np.random.default_rng(13)
    responses = (rng.random((40, 6)) < rng.random((40, 1))).astype(int)
    want = [
        stats.pointbiserialr(responses[:, i], np.delete(responses, i, axis=1).mean(axis=1)).statistic for i in range(6)
    ]
    assert pytest.approx(want, abs=1e-10) == point_biserial(responses)


def test_the_size_for_means_agrees_with_statsmodels() -> None:
    """The one-tail normal size at half of alpha. [T-37]"""
    want = normal_sample_size_one_tail(0.08, 0.80, 0.025, std_null=0.5)
    assert np.ceil(want) == required_n_paired_mean(0.08, 0.5)
