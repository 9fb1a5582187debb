"""Resampling whole clusters: what it gives, that it mirrors, and that memory and method do not change it."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.errors import InputError
from steelyard.stats import bootstrap
from steelyard.stats.agreement import cohen_kappa
from steelyard.stats.bootstrap import bootstrap_mean, bootstrap_paired_diff, bootstrap_ratio, bootstrap_statistic


def test_an_estimate_carries_everything_that_it_was_made_with() -> None:
    """Name, level, method, size, draws, seed, and the standard error of the draws. [T-37]"""
    found = bootstrap_mean([0, 1] * 50, n_boot=500, seed=7, name="accuracy")
    assert ("accuracy", 0.5, 0.95, "bootstrap_percentile", 100, 500, 7) == (
        found.name, found.point, found.level, found.method, found.n, found.n_boot, found.seed,
    )  # fmt: skip
    assert pytest.approx(0.05, abs=0.006) == found.extra["boot_se"]
    assert {
        "accuracy.point": 0.5,
        "accuracy.ci_low": found.ci_low,
        "accuracy.ci_high": found.ci_high,
    } == found.as_mlflow()
    assert found.to_dict()["extra"] == found.extra


def test_the_same_seed_gives_the_same_interval() -> None:
    """And another one gives another. [T-37]"""
    scores = np.random.default_rng(0).random(40)
    assert bootstrap_mean(scores, seed=1) == bootstrap_mean(scores, seed=1)
    assert bootstrap_mean(scores, seed=1) != bootstrap_mean(scores, seed=2)


def test_rollouts_of_an_item_are_one_cluster_without_being_told() -> None:
    """Sixteen equal rollouts are worth one; in a flat list they would pretend to be sixteen. [T-37]"""
    column = np.arange(40) % 2
    table = np.repeat(column[:, None], 16, axis=1)
    once, many, flat = bootstrap_mean(column), bootstrap_mean(table), bootstrap_mean(table.ravel())
    assert (once.ci_low, once.ci_high) == (many.ci_low, many.ci_high)
    assert flat.ci_high - flat.ci_low < 0.3 * (many.ci_high - many.ci_low)


def test_groups_are_resampled_whole() -> None:
    """Ten copies of each of 20 scores, told as groups, are worth 20. [T-37]"""
    scores = np.arange(20) % 2
    found = bootstrap_mean(np.repeat(scores, 10), groups=[i // 10 for i in range(200)])
    assert "cluster_bootstrap_percentile" == found.method
    assert pytest.approx(bootstrap_mean(scores).extra["boot_se"], rel=0.05) == found.extra["boot_se"]


def test_drawing_by_counts_and_by_index_is_the_same_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both on scores with few values, to Monte-Carlo error."""
    scores = np.random.default_rng(5).choice([0.0, 0.25, 1.0], 80)
    nudged = scores + np.arange(80) * 1e-9  # 80 distinct values, so drawn by index
    by_counts, by_index = bootstrap_mean(scores, n_boot=20_000), bootstrap_mean(nudged, n_boot=20_000)
    assert pytest.approx((by_counts.ci_low, by_counts.ci_high), abs=0.004) == (by_index.ci_low, by_index.ci_high)
    whole = bootstrap_mean(nudged)
    monkeypatch.setattr(bootstrap, "BLOCK", 1000)
    blocks = bootstrap_mean(nudged)
    assert pytest.approx((whole.ci_low, whole.ci_high), abs=1e-12) == (blocks.ci_low, blocks.ci_high)


def test_memory_stays_bounded_at_ten_thousand_items_of_sixteen_rollouts() -> None:
    """Less than 100 MB beyond the table, which holds 160,000 scores. [T-37]"""
    table = np.random.default_rng(1).random((10_000, 16))
    tracemalloc.start()
    try:
        bootstrap_mean(table, n_boot=400)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100e6


def test_an_item_that_one_side_lacks_is_dropped_and_counted() -> None:
    """NaN is a rollout that was not judged. [O-13]"""
    nan = float("nan")
    found = bootstrap_paired_diff([[1, 1], [nan, nan], [0, nan]], [[0, 1], [1, 1], [0, 0]])
    assert (0.25, 2, 1) == (found.point, found.n, found.extra["dropped"])


outcome = st.sampled_from([0.0, 0.25, 0.5, 1.0])
table = st.lists(st.tuples(outcome, outcome, st.sampled_from("abcdefgh")), min_size=2, max_size=25)


@pytest.mark.parametrize("method", ["percentile", "expanded"])
@settings(max_examples=60)
@given(table)
def test_swapping_the_sides_mirrors_the_interval_to_the_last_bit(
    method: str, rows: list[tuple[float, float, str]]
) -> None:
    """With groups and without. [O-17]"""
    a, b, groups = zip(*rows, strict=True)
    for labels in (None, groups):
        one = bootstrap_paired_diff(a, b, labels, n_boot=200, method=method)  # type: ignore[arg-type]
        other = bootstrap_paired_diff(b, a, labels, n_boot=200, method=method)  # type: ignore[arg-type]
        assert (-one.point, -one.ci_high, -one.ci_low) == (other.point, other.ci_low, other.ci_high)


def test_the_expanded_interval_is_wider_by_about_what_few_clusters_cost() -> None:
    """Ten clusters: t on 9 degrees of freedom and sqrt(10/9), about 1.22 times."""
    scores = np.random.default_rng(2).random(10)
    narrow, wide = bootstrap_mean(scores, n_boot=50_000), bootstrap_mean(scores, n_boot=50_000, method="expanded")
    assert pytest.approx(1.217, abs=0.06) == (wide.ci_high - wide.ci_low) / (narrow.ci_high - narrow.ci_low)


def test_any_statistic_of_records_can_be_resampled() -> None:
    """Kappa of pairs of labels; resamples on which it is undefined are counted. [T-37] [T-42]"""
    pairs = [("a", "a")] * 12 + [("b", "b")] * 6 + [("a", "b")] * 3
    found = bootstrap_statistic(pairs, lambda rows: cohen_kappa(*zip(*rows, strict=True)).point, n_boot=300)
    assert found.ci_low < found.point < found.ci_high
    with pytest.raises(InputError, match="undefined on"):
        bootstrap_statistic([("a", "a")] * 9 + [("b", "b")], lambda _: cohen_kappa(["a"], ["a"]).point, n_boot=50)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: bootstrap_mean([]), "no scores"),
        (lambda: bootstrap_mean([float("nan")]), "no scores"),
        (lambda: bootstrap_mean([float("inf")]), "finite"),
        (lambda: bootstrap_mean([1, 2], groups=["a"]), "2 rows of scores but 1 groups"),
        (lambda: bootstrap_mean([1, 2], level=1.0), "level must lie strictly"),
        (lambda: bootstrap_mean([1, 2], n_boot=1), "n_boot must be at least 2"),
        (lambda: bootstrap_ratio([1.0], [1.0], method="bc"), 'did you mean "bca"'),  # type: ignore[arg-type]
        (lambda: bootstrap_paired_diff([1], [1, 2]), "the same items on both sides, got 1 and 2"),
    ],
)
def test_what_cannot_be_resampled_is_refused(call: object, words: str) -> None:
    """With the value that is wrong. [T-37]"""
    with pytest.raises(InputError, match=words):
        call()  # type: ignore[operator]
