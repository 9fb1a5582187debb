"""The pure half of a comparison: figures from counts, words, bounds and their symmetries."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.compare.figures import Counts, Criteria, Figures, Pair, figures
from steelyard.compare.sizing import chosen, discordant_rate, mean_size, sizes
from steelyard.compare.words import agreed, word
from steelyard.errors import InputError
from steelyard.stats.rates import Interval

QUICK = Criteria(n_boot=200)
MIRROR = {"better": "worse", "worse": "better"}


def _pairs(*rows: tuple[Any, ...], group: bool = False) -> list[Pair]:
    """Rows of (passes of A, passes of B) for one rollout each; None is a void."""

    def counts(outcome: bool | None) -> Counts:
        return Counts(int(outcome is True), int(outcome is False), int(outcome is None))

    return [Pair(f"i{i}", f"g{i // 2 if group else i}", counts(a), counts(b)) for i, (a, b) in enumerate(rows)]


@pytest.mark.parametrize(
    ("low", "high", "want"),
    [
        (0.001, 0.2, "better"),
        (0.0, 0.2, "too small to tell"),
        (-0.2, -0.001, "worse"),
        (-0.049, 0.049, "no difference larger than 0.05 shown"),
        (-0.05, 0.01, "too small to tell"),
        (-0.01, 0.05, "too small to tell"),
        (0.01, 0.02, "better"),
    ],
)
def test_the_four_words(low: float, high: float, want: str) -> None:
    """Better and worse come before the margin; the margin's ends do not belong to it. [O-17]"""
    assert want == word(low, high, 0.05)


def test_words_that_differ_are_too_small_to_tell() -> None:
    """And so is nothing at all. [O-17]"""
    assert ("better", "too small to tell", "too small to tell") == (
        agreed(["better", "better"]),
        agreed(["better", "no difference larger than 0.05 shown"]),
        agreed([]),
    )


@pytest.mark.parametrize("margin", [0.0, -0.1, 1.5])
def test_a_margin_that_is_none_is_refused(margin: float) -> None:
    """With its value."""
    with pytest.raises(InputError, match=r"must lie in \(0, 1\], got"):
        Criteria(margin=margin)


def test_one_rollout_is_mcnemars_test() -> None:
    """Ten gained and two lost of 60. [O-17] [T-37]"""
    found = figures(_pairs(*[(False, True)] * 10, *[(True, False)] * 2, *[(True, True)] * 48), Criteria())
    assert found.mcnemar is not None
    assert (10, 2, 0.038574) == (found.mcnemar.gained, found.mcnemar.lost, round(found.mcnemar.exact, 6))
    assert ("mcnemar_exact", found.mcnemar.exact, 8 / 60) == (found.test, found.p, found.difference)
    assert "better" == found.word


def test_a_word_never_contradicts_the_exact_test() -> None:
    """Five of five gained has p .0625, so it is too small to tell, however clear it looks. [O-17]"""
    few = figures(_pairs(*[(False, True)] * 5), Criteria())
    assert (0.0625, "too small to tell") == (few.p, few.word)
    assert "better" == figures(_pairs(*[(False, True)] * 6), Criteria()).word


def test_a_few_items_that_agree_prove_nothing_and_many_do() -> None:
    """Without a discordant pair: 20 items are too small to tell, 100 show no difference above .05. [O-17]"""
    for rollouts in (1, 4):
        both = Counts(rollouts, 0)
        words = [figures([Pair(str(i), str(i), both, both) for i in range(n)], QUICK).word for n in (20, 100)]
        assert ["too small to tell", "no difference larger than 0.05 shown"] == words


def test_several_rollouts_resample_items_and_use_their_means() -> None:
    """B is one of four better on every item: the difference is .25. [O-17]"""
    found = figures(
        [Pair(str(i), str(i), Counts(1 + i % 2, 3 - i % 2), Counts(2 + i % 2, 2 - i % 2)) for i in range(30)], QUICK
    )
    assert (0.25, "better", None) == (found.difference, found.word, found.mcnemar)
    assert found.interval is not None
    assert "bootstrap_expanded" in found.interval.method


def test_groups_are_the_independent_things() -> None:
    """Twelve items gained in three groups are three observations: too small to tell. [O-17] [T-37]"""
    pair = [(False, True)] * 12
    alone = figures(_pairs(*pair), QUICK)
    grouped = figures([Pair(p.item, f"g{i % 3}", p.a, p.b) for i, p in enumerate(_pairs(*pair))], QUICK)
    assert ("better", "too small to tell", 3) == (alone.word, grouped.word, grouped.n_groups)
    assert 0.25 == grouped.p
    assert grouped.mcnemar is not None


def test_six_equal_differences_are_no_proof_that_there_is_no_spread() -> None:
    """B passes all sixteen rollouts of six items and A none: better, but not by exactly 1. [O-17]"""
    found = figures([Pair(str(i), str(i), Counts(0, 16), Counts(16, 0)) for i in range(6)], QUICK)
    assert found.interval is not None
    assert ("better", 0.03125) == (found.word, found.p)
    assert found.interval.low < 0.4


def test_a_pair_that_is_void_on_either_side_is_dropped_and_counted() -> None:
    """And the bounds of each side say what it might have been. [O-17]"""
    found = figures(_pairs((True, None), (None, True), (True, True), (False, True)), QUICK)
    assert (2, 2) == (found.n_items, found.n_dropped)
    assert found.a is not None
    assert found.b is not None
    assert ((0.5, 0.75), (0.75, 1.0)) == (found.a.bounds, found.b.bounds)
    assert {"unknown dropped", "all against B", "all for B"} == set(found.words)


def test_voids_that_could_turn_the_word_make_it_too_small_to_tell() -> None:
    """Twelve gained, ten void for B: if those had failed where A passed, B would not be better. [O-17]"""
    clear = [(False, True)] * 12 + [(True, True)] * 30
    assert "better" == figures(_pairs(*clear), QUICK).word
    found = figures(_pairs(*clear, *[(True, None)] * 10), QUICK)
    assert "better" == found.words["unknown dropped"]
    assert "too small to tell" == found.words["all against B"]
    assert "too small to tell" == found.word


def test_nothing_judged_on_both_sides_gives_no_figures() -> None:
    """None, never zero. [S-18]"""
    found = figures(_pairs((None, True), (True, None)), QUICK)
    assert (0, 2, None, None, None, "too small to tell") == (
        found.n_items,
        found.n_dropped,
        found.difference,
        found.interval,
        found.p,
        found.word,
    )


outcome = st.sampled_from([True, False, None])
single = st.lists(st.tuples(outcome, outcome), min_size=1, max_size=40).map(lambda rows: _pairs(*rows))
grouped = st.lists(st.tuples(outcome, outcome), min_size=1, max_size=40).map(lambda rows: _pairs(*rows, group=True))
counts = st.builds(Counts, st.integers(0, 4), st.integers(0, 4), st.integers(0, 2)).filter(lambda c: c.total > 0)
several = st.lists(st.tuples(counts, counts), min_size=1, max_size=25).map(
    lambda rows: [Pair(f"i{i}", f"g{i % 9}", a, b) for i, (a, b) in enumerate(rows)]
)
tables = st.one_of(single, grouped, several)


@settings(max_examples=150, deadline=None)
@given(tables)
def test_swapping_a_and_b_mirrors_every_figure_and_word(pairs: list[Pair]) -> None:
    """To the last bit: rates, difference, interval, p, counts, detectable effect, every word. [O-17]"""
    one = figures(pairs, QUICK)
    other = figures([Pair(p.item, p.group, p.b, p.a) for p in pairs], QUICK)
    assert (one.a, one.b, one.p, one.mde, one.n_items, one.n_dropped, one.test) == (
        other.b, other.a, other.p, other.mde, other.n_items, other.n_dropped, other.test,
    )  # fmt: skip
    assert MIRROR.get(one.word, one.word) == other.word
    turned = {"all against B": "all for B", "all for B": "all against B"}
    assert {turned.get(k, k): MIRROR.get(w, w) for k, w in one.words.items()} == other.words
    if one.difference is None or one.interval is None:
        assert (None, None) == (other.difference, other.interval)
        return
    interval = Interval(-one.interval.high, -one.interval.low, one.interval.level, one.interval.method)
    assert (-one.difference, interval) == (other.difference, other.interval)
    if one.mcnemar:
        assert other.mcnemar is not None
        assert (one.mcnemar.gained, one.mcnemar.lost) == (other.mcnemar.lost, other.mcnemar.gained)


@settings(max_examples=150, deadline=None)
@given(tables)
def test_dropping_a_void_never_turns_too_small_to_tell_into_better(pairs: list[Pair]) -> None:
    """A word holds only where it holds with every void failed and passed: whatever they were, it stays. [O-17]"""
    found = figures(pairs, QUICK)
    dropped = figures([Pair(p.item, p.group, p.a.read(None), p.b.read(None)) for p in pairs], QUICK)
    assert found.words["unknown dropped"] == dropped.word or not dropped.n_items
    if found.word in MIRROR:
        for on_a, on_b in ((True, False), (False, True)):
            decided = [Pair(p.item, p.group, p.a.read(on_a), p.b.read(on_b)) for p in pairs]
            assert found.word == figures(decided, QUICK).word
    if any(p.a.unknown or p.b.unknown for p in pairs) and found.word != dropped.word:
        assert "too small to tell" == found.word


@settings(max_examples=60, deadline=None)
@given(tables)
def test_an_interval_holds_its_difference_and_agrees_with_its_test(pairs: list[Pair]) -> None:
    """It lies in [-1, 1], and excludes 0 only where p is below .05. [O-17]"""
    found: Figures = figures(pairs, QUICK)
    if found.interval is None or found.difference is None or found.p is None:
        return
    assert -1 <= found.interval.low <= found.difference <= found.interval.high <= 1
    if found.word in MIRROR:
        assert found.p < 0.05


def test_sizes_name_their_test_and_leave_out_what_cannot_be() -> None:
    """A difference above the discordant rate has no exact size. [T-19] [T-20]"""
    assert {"asymptotic": 305, "exact": 324, "midp": 302} == sizes(0.08, 0.25)
    assert {"asymptotic": 37, "exact": None, "midp": None} == sizes(0.10, 0.05)
    one = chosen(300, 0.08, 0.25)
    assert (0.0806, 0.7675) == (round(one["mde"]["asymptotic"], 4), round(one["power"]["exact"], 4))
    assert None is chosen(300, 0.3, 0.25)["power"]["exact"]


def test_the_discordant_rate_of_several_rollouts_is_over_pairs_of_rollouts() -> None:
    """One of two against two of two: half of the pairs differ; void items are left out. [T-20]"""
    pairs = [
        Pair("x", "x", Counts(1, 1), Counts(2, 0)),
        Pair("y", "y", Counts(2, 0), Counts(2, 0)),
        Pair("z", "z", Counts(0, 0, 1), Counts(2, 0)),
    ]
    found = discordant_rate(pairs)
    assert (0.25, 2) == (found["rate"], found["n_items"])
    assert None is mean_size(pairs, 0.05)
    with pytest.raises(InputError, match="no item that is judged on both sides"):
        discordant_rate(pairs[2:])
