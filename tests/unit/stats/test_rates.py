"""pass@k, pass^k and clustered intervals against reference values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import InputError
from steelyard.stats.rates import bounds, mean_rate, over_items, pass_at_k, pass_hat_k, wilson


@pytest.mark.parametrize(
    ("n", "c", "k", "hat", "at"),
    [
        (3, 3, 3, 1.0, 1.0),
        (3, 2, 3, 0.0, 1.0),
        (3, 2, 2, 0.333333, 1.0),
        (3, 2, 1, 0.666667, 0.666667),
        (3, 1, 2, 0.0, 0.666667),
        (4, 2, 2, 0.166667, 0.833333),
        (10, 5, 3, 0.083333, 0.916667),
        (64, 9, 8, 0.0, 0.724916),
    ],
)
def test_the_reference_table_of_pass_hat_k_and_pass_at_k(n: int, c: int, k: int, hat: float, at: float) -> None:
    """Reference values to six digits. [O-13] [S-17]"""
    assert (pytest.approx(hat, abs=1e-6), pytest.approx(at, abs=1e-6)) == (pass_hat_k(n, c, k), pass_at_k(n, c, k))


def test_items_with_fewer_than_k_rollouts_are_short_and_k_above_every_n_is_an_error() -> None:
    """Short items are counted beside the figure, never read as failures. [O-13]"""
    assert (1.0, 1.0, 1) == over_items({"a": (3, 3), "b": (2, 0)}, 3)
    with pytest.raises(InputError, match="k=4 is more than"):
        over_items({"a": (3, 3)}, 4)


def test_wilson_agrees_with_its_published_example() -> None:
    """81 of 263 gives [0.2553, 0.3662] (Newcombe 1998, table I, method 3)."""
    low, high = wilson(81 / 263, 263)
    assert (0.2553, 0.3662) == (round(low, 4), round(high, 4))


def test_an_interval_over_identical_rollouts_is_as_wide_as_one_over_their_groups() -> None:
    """Ten copies of each item are worth no more than the items: clustering removes the pretence."""
    once = mean_rate([(1, i % 2) for i in range(40)])
    copied = mean_rate([(10, 10 * (i % 2)) for i in range(40)])
    assert pytest.approx((once.low, once.high), abs=0.01) == (copied.low, copied.high)


def test_one_group_has_the_width_of_one_observation() -> None:
    """A single cluster says nothing about spread: n_eff is 1."""
    interval = mean_rate([(5, 4)] * 10, ["g"] * 10)
    assert interval.high - interval.low > 0.5


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9)), min_size=1, max_size=30))
def test_an_interval_holds_its_rate_and_stays_in_the_unit_range(cells: list[tuple[int, int]]) -> None:
    """0 <= low <= rate <= high <= 1."""
    counts = [(n, min(n, c)) for n, c in cells]
    rate = sum(c for _, c in counts) / sum(n for n, _ in counts)
    interval = mean_rate(counts)
    assert 0 <= interval.low <= rate + 1e-12
    assert rate - 1e-12 <= interval.high <= 1


def test_bounds_count_the_unknown_both_ways() -> None:
    """All failed, all passed."""
    assert (0.6, 0.8) == bounds(6, 8, 2)


@pytest.mark.parametrize(("n", "c", "k"), [(3, 4, 1), (3, -1, 1), (3, 1, 0), (3, 1, 4)])
def test_impossible_counts_are_refused(n: int, c: int, k: int) -> None:
    """0 <= c <= n and 1 <= k <= n."""
    with pytest.raises(InputError):
        pass_at_k(n, c, k)
