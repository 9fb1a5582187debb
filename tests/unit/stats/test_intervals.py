"""Intervals of rates and of paired differences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import InputError
from steelyard.stats.intervals import clopper_pearson, exact_difference, paired_difference, rate_se, tango
from steelyard.stats.paired import mcnemar_p

tables = st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(0, 60)).filter(lambda t: sum(t) > 0)


def test_tango_agrees_with_its_published_example() -> None:
    """1 and 7 discordant of 21: -0.517 to -0.026 (Fagerland, Lydersen and Laake 2014, Stat. Med. 33, table IV)."""
    found = tango(1, 7, 21)
    assert (-0.517, -0.026) == (round(found.low, 3), round(found.high, 3))


def test_tango_without_a_discordant_pair_is_as_wide_as_its_formula() -> None:
    """z^2/(n + z^2) on both sides: agreement of a few items proves little."""
    assert pytest.approx((-0.0369935, 0.0369935), abs=1e-7) == (tango(0, 0, 100).low, tango(0, 0, 100).high)


def test_clopper_pearson_of_nothing_and_of_all() -> None:
    """0 of 10 and 10 of 10: 1 - .025^(1/10)."""
    edge = 1 - 0.025**0.1
    assert pytest.approx((0.0, edge)) == (clopper_pearson(0, 10).low, clopper_pearson(0, 10).high)
    assert pytest.approx((1 - edge, 1.0)) == (clopper_pearson(10, 10).low, clopper_pearson(10, 10).high)


def test_the_standard_error_of_the_reference() -> None:
    """SE(.7, n=200) is .0324037. [T-37]"""
    assert pytest.approx(0.0324037, abs=1e-7) == rate_se(0.7, 200)


@given(tables)
def test_the_interval_of_a_paired_difference_agrees_with_both_tests(table: tuple[int, int, int]) -> None:
    """Tango's excludes 0 where the asymptotic test rejects, the exact one where the exact test does. [O-17]"""
    b, c, rest = table
    n = b + c + rest
    score, exact, both = tango(b, c, n), exact_difference(b, c, n), paired_difference(b, c, n)
    if abs(mcnemar_p(b, c, "asymptotic") - 0.05) > 1e-9:
        assert (mcnemar_p(b, c, "asymptotic") < 0.05) == (score.low > 0 or score.high < 0)
    assert (mcnemar_p(b, c) < 0.05) == (exact.low > 0 or exact.high < 0)
    assert not (both.low > 0 or both.high < 0) or mcnemar_p(b, c) < 0.05
    assert -1 <= both.low <= (b - c) / n <= both.high <= 1


@given(tables)
def test_turning_a_paired_table_around_mirrors_its_interval_to_the_last_bit(table: tuple[int, int, int]) -> None:
    """First minus second against second minus first. [O-17]"""
    b, c, rest = table
    one, other = paired_difference(b, c, b + c + rest), paired_difference(c, b, b + c + rest)
    assert (-one.high, -one.low) == (other.low, other.high)


@pytest.mark.parametrize("table", [(-1, 0, 5), (3, 3, 5), (0, 0, 0)])
def test_a_table_that_cannot_be_is_refused(table: tuple[int, int, int]) -> None:
    """More discordant pairs than pairs, negative ones, none at all."""
    with pytest.raises(InputError, match="need b >= 0"):
        paired_difference(*table)
