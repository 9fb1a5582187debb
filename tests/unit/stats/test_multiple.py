"""Corrections for several tests against the reference table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import InputError
from steelyard.stats.multiple import benjamini_hochberg, bonferroni, familywise_error, holm

PVALUES = [0.001, 0.01, 0.03, 0.2, 0.5]


def test_benjamini_hochberg_of_the_reference() -> None:
    """The third comparison, .03 <= .03, is exactly on the boundary. [T-37]"""
    found = benjamini_hochberg(PVALUES)
    assert [True, True, True, False, False] == found.reject
    assert pytest.approx([0.005, 0.025, 0.05, 0.25, 0.5]) == found.adjusted
    assert 3 == found.k_star


def test_bonferroni_of_the_reference() -> None:
    """Two of five. [T-37]"""
    found = bonferroni(PVALUES)
    assert [True, True, False, False, False] == found.reject
    assert pytest.approx([0.005, 0.05, 0.15, 1, 1]) == found.adjusted


def test_the_familywise_error_of_five_tests() -> None:
    """.226219. [T-37]"""
    assert pytest.approx(0.226219, abs=1e-6) == familywise_error(5)


def test_no_tests_are_no_rejections() -> None:
    """An empty table of strata is no error."""
    assert [[], [], []] == [correct([]).reject for correct in (bonferroni, holm, benjamini_hochberg)]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_lies_between_bonferroni_and_benjamini_hochberg(pvalues: list[float]) -> None:
    """Adjusted values in order, none below the raw one, none above 1. [T-37]"""
    for raw, low, middle, high in zip(
        pvalues, benjamini_hochberg(pvalues).adjusted, holm(pvalues).adjusted, bonferroni(pvalues).adjusted, strict=True
    ):
        assert raw <= low + 1e-15
        assert low <= middle + 1e-12
        assert middle <= high + 1e-12
        assert high <= 1


def test_a_value_that_is_no_p_value_is_refused() -> None:
    """With the value."""
    with pytest.raises(InputError, match=r"in \[0, 1\], got 1.5"):
        holm([0.1, 1.5])
