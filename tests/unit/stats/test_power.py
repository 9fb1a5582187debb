"""Sizes, power and detectable effects against the reference tables."""

from __future__ import annotations

from math import comb

import pytest

from steelyard.errors import InputError
from steelyard.stats.paired import mcnemar_p
from steelyard.stats.power import (
    PowerMethod,
    mde_mcnemar,
    mde_paired_mean,
    power_mcnemar,
    required_n_mcnemar,
    required_n_paired_mean,
)

BY_DELTA = {
    0.01: 19620, 0.02: 4904, 0.03: 2178, 0.04: 1225, 0.05: 783, 0.06: 543, 0.07: 399, 0.08: 305, 0.09: 240,
    0.10: 194, 0.12: 134, 0.15: 85, 0.20: 47, 0.25: 29,
}  # fmt: skip
BY_DISCORDANT = {
    0.05: (155, 59, 37), 0.10: (312, 121, 77), 0.15: (469, 182, 116), 0.20: (626, 243, 155), 0.30: (940, 366, 234),
    0.40: (1254, 489, 312), 0.50: (1568, 611, 391),
}  # fmt: skip


def test_the_reference_table_by_difference() -> None:
    """A discordant rate of .25, power .80, alpha .05. [T-19]"""
    assert BY_DELTA == {delta: required_n_mcnemar(delta) for delta in BY_DELTA}


def test_the_reference_table_by_discordant_rate() -> None:
    """Differences of .05, .08 and .10. [T-19]"""
    found = {psi: tuple(required_n_mcnemar(d, psi) for d in (0.05, 0.08, 0.10)) for psi in BY_DISCORDANT}
    assert BY_DISCORDANT == found


def test_the_sizes_of_a_stricter_test() -> None:
    """Alpha .01, power .9, and both. [T-19]"""
    found = [required_n_mcnemar(0.08, 0.25, *how) for how in ((0.01, 0.80), (0.05, 0.90), (0.01, 0.90))]
    assert [454, 407, 577] == found


@pytest.mark.parametrize(
    ("method", "sizes"), [("asymptotic", (194, 305, 783)), ("exact", (207, 324, 817)), ("midp", (190, 302, 779))]
)
def test_each_test_has_a_size_of_its_own(method: PowerMethod, sizes: tuple[int, ...]) -> None:
    """Sizing names its test: ten, eight and five points. [T-19] [T-20]"""
    assert sizes == tuple(required_n_mcnemar(d, 0.25, method=method) for d in (0.10, 0.08, 0.05))


def test_an_exact_size_is_the_first_that_reaches_the_power() -> None:
    """One item less does not. [T-19]"""
    for delta, method in ((0.10, "exact"), (0.08, "midp"), (0.2, "exact")):
        n = required_n_mcnemar(delta, 0.25, method=method)  # type: ignore[arg-type]
        powers = [power_mcnemar(m, delta, 0.25, method=method) for m in (n - 1, n)]  # type: ignore[arg-type]
        assert powers[0] < 0.80 <= powers[1]


def test_the_exact_test_has_less_power_at_the_asymptotic_size() -> None:
    """At 305 items it is .7745. [T-19]"""
    assert pytest.approx(0.7745, abs=5e-5) == power_mcnemar(305, 0.08, method="exact")


@pytest.mark.parametrize("method", ["exact", "midp"])
def test_conditional_power_is_the_sum_over_every_table(method: PowerMethod) -> None:
    """Against adding up all tables of 30 items by hand. [T-19]"""
    n, psi, delta = 30, 0.4, 0.3
    p10, p01 = (psi + delta) / 2, (psi - delta) / 2
    total = 0.0
    for b in range(n + 1):
        for c in range(n + 1 - b):
            if mcnemar_p(b, c, method) <= 0.05:
                total += comb(n, b) * comb(n - b, c) * p10**b * p01**c * (1 - psi) ** (n - b - c)
    assert pytest.approx(total, abs=1e-9) == power_mcnemar(n, delta, psi, method=method)


def test_the_minimum_detectable_effects_of_the_reference() -> None:
    """.080557 at 300 items and .177310 at 60. [T-20]"""
    assert (0.080557, 0.177311) == (round(mde_mcnemar(300) or 0, 6), round(mde_mcnemar(60) or 0, 6))
    assert pytest.approx(0.177310, abs=1.5e-6) == mde_mcnemar(60)


@pytest.mark.parametrize("method", ["asymptotic", "exact", "midp"])
def test_a_detectable_effect_is_found_with_just_the_power(method: PowerMethod) -> None:
    """Effect and power are inverses; where nothing can be found the answer is None. [T-20]"""
    found = mde_mcnemar(200, 0.3, method=method)
    assert found is not None
    assert pytest.approx(0.80, abs=1e-6) == power_mcnemar(200, found, 0.3, method=method)
    assert mde_mcnemar(5, 0.1, method=method) is None


def test_the_size_for_a_difference_of_means() -> None:
    """Deviation .5, difference .08: 306.597 is 307 items; and the effect at that n. [T-37]"""
    assert 307 == required_n_paired_mean(0.08, 0.5)
    assert pytest.approx(0.08) == mde_paired_mean(0.5 / 306.597**0.5).__round__(5)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0.0, 0.25), r"must lie in \(0, 1\], got 0.0"),
        ((0.08, 1.5), "got 0.08 and 1.5"),
        ((0.08, 0.25, 0.0), "alpha must lie strictly between 0 and 1, got 0.0"),
        ((0.08, 0.25, 0.05, 1.0), "power must lie strictly between 0 and 1, got 1.0"),
        ((0.3, 0.25, 0.05, 0.8, "exact"), "cannot come from a discordant rate of 0.25"),
        ((0.1, 0.25, 0.05, 0.8, "exakt"), 'did you mean "exact"'),
    ],
)
def test_impossible_sizes_are_refused(arguments: tuple[float, ...], words: str) -> None:
    """With the value that is wrong. [T-19]"""
    with pytest.raises(InputError, match=words):
        required_n_mcnemar(*arguments)  # type: ignore[arg-type]
