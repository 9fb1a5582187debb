"""Paired tests against the reference tables, and what they refuse."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import InputError
from steelyard.stats.paired import mcnemar, mcnemar_chi2, mcnemar_p, mcnemar_test, paired_t, sign_flip


@pytest.mark.parametrize(
    ("b", "c", "p"),
    [
        (0, 0, 1.0),
        (5, 0, 0.0625),
        (6, 0, 0.03125),
        (10, 2, 0.038574),
        (12, 6, 0.237885),
        (20, 10, 0.098737),
        (49, 25, 0.007084),
    ],
)
def test_the_reference_table_of_the_exact_test(b: int, c: int, p: float) -> None:
    """Six digits, either way round; p is 1.0 without a discordant pair. [T-37]"""
    assert (pytest.approx(p, abs=1e-6), mcnemar_p(b, c)) == (mcnemar_p(b, c), mcnemar_p(c, b))


def test_the_corrected_chi_square_of_the_reference_table() -> None:
    """(10, 2) gives 4.083333. [T-37]"""
    assert pytest.approx(4.083333, abs=1e-6) == mcnemar_chi2(10, 2, corrected=True)


def test_the_published_example_of_the_mid_p_test() -> None:
    """Airway reactivity, 1 and 7 of 21: asymptotic .034, exact .070, mid-p .039 (Fagerland et al. 2013, table 4)."""
    found = [round(mcnemar_p(1, 7, method), 3) for method in ("asymptotic", "exact", "midp")]
    assert [0.034, 0.070, 0.039] == found


def test_a_result_carries_its_table_and_its_method() -> None:
    """The effect is (b - c)/n, first minus second. [T-37]"""
    result = mcnemar([1, 1, 1, 0, 0], [0, 0, 1, 1, 0])
    assert ("mcnemar", 1.0, 1.0, 0.2, "mcnemar_exact", 5) == (
        result.name,
        result.statistic,
        result.pvalue,
        result.effect,
        result.method,
        result.n,
    )
    assert {"b": 2, "c": 1, "discordant_rate": 0.6} == result.extra
    assert "mcnemar_chi2_cc" == mcnemar([1, 0], [0, 1], exact=False).method
    assert {"name", "statistic", "pvalue", "effect", "method", "n", "extra"} == set(result.to_dict())


def test_pairs_that_all_agree_give_a_p_of_one_under_every_method() -> None:
    """No NaN, no division by zero. [T-37]"""
    assert [1.0] * 4 == [mcnemar_test(0, 0, 9, m).pvalue for m in ("exact", "midp", "asymptotic", "corrected")]


def test_many_discordant_pairs_stay_exact() -> None:
    """A tail of 60,000 fair coins needs no big sums, and half of them gives 1."""
    assert 1.0 == mcnemar_p(30_000, 30_000)
    assert 0 < mcnemar_p(29_000, 31_000) < 1e-15


@pytest.mark.parametrize(("a", "b"), [([1], [1, 0]), ([], []), ([2], [1]), ([0.5], [1])])
def test_outcomes_that_are_not_paired_zeros_and_ones_are_refused(a: list[float], b: list[float]) -> None:
    """Lists of other lengths, empty ones, other values."""
    with pytest.raises(InputError):
        mcnemar(a, b)


def test_an_unknown_method_is_named_with_what_is_meant() -> None:
    """A spelling mistake is no other test."""
    with pytest.raises(InputError, match='no McNemar test "mid-p"; did you mean "midp"'):
        mcnemar_p(1, 2, "mid-p")  # type: ignore[arg-type]


def test_a_paired_t_test_without_spread_says_certain_or_nothing() -> None:
    """No NaN where all differences are equal."""
    assert 1.0 == paired_t([1, 2], [1, 2]).pvalue
    assert 0.0 == paired_t([2, 3], [1, 2]).pvalue
    with pytest.raises(InputError, match="at least two pairs"):
        paired_t([1], [2])


def test_the_sign_flip_test_is_mcnemars_where_all_differences_have_one_size() -> None:
    """The same p to the last bit. [O-17]"""
    for b, c in product(range(8), range(8)):
        differences = [1.0] * b + [-1.0] * c + [0.0] * 3
        assert mcnemar_p(b, c) == sign_flip(differences).pvalue


def test_the_sign_flip_test_looks_at_every_pattern_of_few_differences() -> None:
    """Against a count by hand."""
    values = [0.5, 0.25, -0.125, 1.0, 0.75]
    hits = [
        abs(sum(s * v for s, v in zip(signs, values, strict=True))) >= 2.375 for signs in product((1, -1), repeat=5)
    ]
    assert sum(hits) / 32 == sign_flip(values).pvalue


def test_random_patterns_agree_with_all_patterns() -> None:
    """Both on 14 differences, within four Monte-Carlo errors."""
    values = np.random.default_rng(3).normal(0.3, 1, 14)
    exact, drawn = sign_flip(values).pvalue, sign_flip([*values, 1e-12]).pvalue
    assert abs(exact - drawn) < 4 * (exact * (1 - exact) / 19_999) ** 0.5


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), min_size=1, max_size=30))
def test_turning_all_signs_keeps_the_p_of_the_sign_flip_test(values: list[float]) -> None:
    """The test does not know which side is called first. [O-17]"""
    turned, found = sign_flip([-v for v in values]), sign_flip(values)
    assert (found.pvalue, -found.effect) == (turned.pvalue, turned.effect)
    assert 0 < found.pvalue <= 1
