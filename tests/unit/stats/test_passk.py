"""Figures of several rollouts from tables of outcomes."""

from __future__ import annotations

from statistics import mean, pstdev, stdev

import pytest

from steelyard.errors import InputError
from steelyard.stats.passk import AtK, maj_at_k, majority, pass_table, self_consistency


def test_a_table_gives_every_k_with_its_short_items() -> None:
    """A void leaves an item short; it is counted, never read as a failure. [O-13] [S-17] [S-18]"""
    table = pass_table({"a": [True, False], "b": [True, None], "c": [True, True]})
    assert [AtK(1, (0.5 + 1 + 1) / 3, (0.5 + 1 + 1) / 3, 3, 0), AtK(2, 1.0, 0.5, 2, 1)] == table


def test_k_above_every_item_is_an_error_and_so_is_an_empty_table() -> None:
    """Decision 7. [O-13] [S-17]"""
    with pytest.raises(InputError, match="k=3 is more than"):
        pass_table({"a": [True, False]}, [3])
    with pytest.raises(InputError, match="no judged rollouts"):
        pass_table({"a": [None]})
    with pytest.raises(InputError, match="k must be at least 1, got 0"):
        pass_table({"a": [True]}, [0])


def test_seed_001s_table_of_three_seeds() -> None:
    """40 tasks: 2, 1 and 0 passes give .050, .025, .000, spread .025 (population .0204124), pass^3 0. [O-13] [O-17]"""
    outcomes = {f"t{i}": [i < 2, i < 1, False] for i in range(40)}
    per_seed = [mean(found[seed] for found in outcomes.values()) for seed in range(3)]
    assert [0.05, 0.025, 0.0] == per_seed
    assert pytest.approx((0.025, 0.025, 0.0204124), abs=1e-7) == (mean(per_seed), stdev(per_seed), pstdev(per_seed))
    table = pass_table(outcomes)
    assert (0.025, 0.0) == (pytest.approx(table[0].pass_hat_k), table[2].pass_hat_k)


def test_the_documented_table_of_four_draws() -> None:
    """Two of four right: pass@1 50, pass@2 83.3, pass^2 16.7 per cent. [S-17]"""
    table = pass_table({"a": [True, True, False, False]})
    found = [100 * table[0].pass_at_k, 100 * table[1].pass_at_k, 100 * table[1].pass_hat_k]
    assert [50.0, 83.3, 16.7] == [round(x, 1) for x in found]


def test_a_tie_is_not_a_majority() -> None:
    """Nor is a vote that could not be read. [S-18]"""
    assert ("a", None, None, "a") == (
        majority(["a", "b", "a"]),
        majority(["a", "b"]),
        majority([None, None]),
        majority([None, None, "a"]),
    )


def test_the_majority_answer_decides_each_item() -> None:
    """Two items of three are right by majority; a void does not vote. [S-18]"""
    votes = {
        "right": [("4", True), ("4", True), ("5", False)],
        "tied": [("4", True), ("5", False)],
        "void": [("7", None), ("8", True)],
        "nothing": [("1", None)],
    }
    assert pytest.approx(2 / 3) == maj_at_k(votes)
    with pytest.raises(InputError, match="nothing to vote on"):
        maj_at_k({"a": []})


def test_self_consistency_is_the_share_of_the_most_frequent_answer() -> None:
    """An unread answer agrees with nothing. [S-18]"""
    assert pytest.approx((2 / 3 + 1 / 2) / 2) == self_consistency(
        {"a": [("4", True), ("4", True), ("5", False)], "b": [("1", True), (None, False)]}
    )


def test_ones_and_zeros_of_any_kind_are_outcomes_and_nothing_else_is() -> None:
    """Stored rewards are often 1.0 and 0.0; a half is no outcome and must not become a silent zero. [O-13]"""
    expected = pass_table({"a": [True, False, True], "b": [True, True, True]})
    assert expected == pass_table({"a": [1, 0, 1], "b": [1.0, 1.0, 1.0]})
    with pytest.raises(InputError, match=r'item "a": an outcome is .*, got 0\.5'):
        pass_table({"a": [0.5, 1]})
