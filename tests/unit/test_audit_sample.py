"""Drawing a stratified sample, and the arithmetic of its estimates against a hand-computed example."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.audit.sample import Counted, Rollout, Share, Stratum, Word, allocate, draw, estimate, wrong_share
from steelyard.errors import InputError

# passed: W = .8, .2; p = .8 * 1/8 + .2 * 0 = .1; n_eff = 1 / (.64/8 + .04/2) = 10
PASSED = [Counted("passed", "a", 80, 8, 1), Counted("passed", "b", 20, 2, 0)]
# failed: W = .8, .2; p = .8 * 2/4 + .2 * 0 = .4; n_eff = 1 / (.64/4 + .04/1) = 5
FAILED = [Counted("failed", "a", 40, 4, 2), Counted("failed", "b", 10, 1, 0)]
ROUNDED = 5e-4  # the hand computation keeps four digits

words = st.sampled_from(["passed", "failed", "void"])
sizes = st.dictionaries(st.tuples(words, st.sampled_from("abc")), st.integers(1, 400), min_size=1)


def _close(share: Share | None, rate: float, low: float, high: float, n: int) -> bool:
    assert share is not None
    return (rate, low, high, n) == pytest.approx((share.rate, share.low, share.high, share.n), abs=ROUNDED)


def test_a_share_of_wrong_verdicts_is_weighted_back_to_the_strata() -> None:
    """Wilson's interval of 1 in 10 is [.0179, .4042], of 2 in 5 [.1176, .7693] (Newcombe 1998, method 3)."""
    assert _close(wrong_share(PASSED), 0.1, 0.0179, 0.4042, 10)
    assert _close(wrong_share(FAILED), 0.4, 0.1176, 0.7693, 5)


def test_error_rates_over_answers_join_both_verdicts() -> None:
    """FN = 50 * .4 = 20 of 20 + 100 * .9 right answers; FP = 100 * .1 = 10 of 10 + 50 * .6 wrong ones.

    At 97.5 % (z = 2.2414) a is in [.0997, .8005] and b in [.0147, .4528], hence the ends:
    4.985 / (4.985 + 98.53), 40.03 / (40.03 + 54.72), 1.47 / (1.47 + 45.02) and 45.28 / (45.28 + 9.97).
    """
    found = estimate([*PASSED, *FAILED], skipped=3)
    assert _close(found.false_negative_rate, 20 / 110, 0.0482, 0.4225, 15)
    assert _close(found.false_positive_rate, 10 / 40, 0.0316, 0.8195, 15)
    assert (["passed", "failed"], 3) == (list(found.wrong_among), found.skipped)


def test_without_a_verdict_of_one_kind_the_other_decides_alone() -> None:
    """All passed: no right answer was failed; every wrong one was passed."""
    found = estimate(PASSED)
    assert found.false_negative_rate is not None
    assert found.false_positive_rate is not None
    assert (0.0, 1.0) == (found.false_negative_rate.rate, found.false_positive_rate.rate)
    assert 0.0 == found.false_negative_rate.high


def test_voids_are_in_neither_rate() -> None:
    """A void refuses and accepts nothing; its own share is reported."""
    with_voids = estimate([*PASSED, *FAILED, Counted("void", "a", 30, 3, 3)])
    assert estimate([*PASSED, *FAILED]).false_negative_rate == with_voids.false_negative_rate
    void = with_voids.wrong_among["void"]
    assert void is not None
    assert 1.0 == void.rate


def test_what_no_label_tells_is_not_guessed() -> None:
    """No labels of one verdict: both rates are unknown."""
    found = estimate([*PASSED, Counted("failed", "a", 40, 0, 0)])
    assert (None, None, None) == (found.wrong_among["failed"], found.false_negative_rate, found.false_positive_rate)


def test_a_stratum_without_labels_is_taken_to_be_like_the_others_of_its_verdict() -> None:
    """The estimate goes on while a person is still labelling."""
    part = wrong_share([*PASSED, Counted("passed", "c", 900, 0, 0)])
    assert wrong_share(PASSED) == part


def test_small_strata_get_two_and_the_rest_goes_by_size() -> None:
    """2 + 2 + 2 first, the other four to the stratum furthest below its share."""
    found = allocate({("passed", "a"): 90, ("failed", "a"): 8, ("void", "a"): 2}, 10)
    assert {("passed", "a"): 6, ("failed", "a"): 2, ("void", "a"): 2} == found


def test_too_small_a_sample_is_refused() -> None:
    """Every stratum needs a verdict, or the estimate would not cover the run."""
    with pytest.raises(InputError, match=r"--sample 2 cannot cover the 3 strata"):
        allocate({("passed", "a"): 90, ("failed", "a"): 8, ("void", "a"): 2}, 2)


@given(sizes, st.integers(9, 500))
def test_an_allocation_has_the_asked_size_and_some_of_each(found: dict[Stratum, int], n: int) -> None:
    """min(n, all) verdicts, at least one a stratum and never more than it has."""
    drawn = allocate(found, n)
    assert min(n, sum(found.values())) == sum(drawn.values())
    assert all(1 <= drawn[s] <= found[s] for s in found)


def test_a_draw_depends_on_its_seed_alone_and_a_larger_one_extends_it() -> None:
    """The same seed draws the same; so labels of a small sample serve the larger one."""
    kinds: tuple[Word, ...] = ("passed", "failed")
    verdicts: dict[Stratum, list[Rollout]] = {(w, "a"): [(f"{w}-{i}", 0) for i in range(100)] for w in kinds}
    small, large = draw(verdicts, 20, "0"), draw(verdicts, 40, "0")
    assert small == draw({s: list(reversed(r)) for s, r in verdicts.items()}, 20, "0")
    assert set() == set(small) - set(large)
    assert set(small) != set(draw(verdicts, 20, "1"))
    assert 10 == sum(item.startswith("passed") for item, _ in small)
