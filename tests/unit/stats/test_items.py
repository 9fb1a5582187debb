"""Item statistics: difficulty, discrimination, pass-rate intervals."""

from __future__ import annotations

from math import inf, log, sqrt

import numpy as np
import pytest

from steelyard.errors import InputError
from steelyard.stats.items import pass_rate_intervals, point_biserial, rasch_difficulty


def test_one_respondent_gives_the_log_odds_of_failing() -> None:
    """Difficulty -logit(c/n) with its error 1/sqrt(n p (1-p)): what a pilot of one model can say. [T-18]"""
    found = rasch_difficulty([6, 2], [8, 8])
    assert pytest.approx([-log(3), log(3)]) == found.difficulty
    assert pytest.approx([1 / sqrt(8 * 0.75 * 0.25)] * 2) == found.difficulty_se


def test_difficulties_come_back_from_data_made_with_them() -> None:
    """Twelve respondents of 40 rollouts each: within four standard errors, mean ability 0. [T-18]"""
    rng = np.random.default_rng(11)
    ability, difficulty = np.linspace(-1.5, 1.5, 12), np.linspace(-1, 1, 30)
    tried = np.full((12, 30), 40)
    passed = rng.binomial(tried, 1 / (1 + np.exp(difficulty - ability[:, None])))
    found = rasch_difficulty(passed, tried)
    away = np.abs(np.asarray(found.difficulty) - difficulty) / np.asarray(found.difficulty_se)
    assert away.max() < 4
    assert pytest.approx(0.0, abs=1e-9) == np.mean(found.ability)
    assert 0.9 < np.corrcoef(found.ability, ability)[0, 1]


def test_items_that_all_or_none_pass_have_no_finite_difficulty() -> None:
    """They come back as -inf and inf, and do not disturb the rest. [T-18]"""
    passed, tried = [[3, 0, 2, 1], [3, 0, 1, 2]], [[3, 3, 3, 3], [3, 3, 3, 3]]
    found = rasch_difficulty(passed, tried)
    assert (-inf, inf, inf) == (found.difficulty[0], found.difficulty[1], found.difficulty_se[0])
    assert found.difficulty[2:] == rasch_difficulty([r[2:] for r in passed], [r[2:] for r in tried]).difficulty


def test_respondents_that_nothing_links_are_refused() -> None:
    """Two models on disjoint items cannot be placed on one scale. [T-18]"""
    with pytest.raises(InputError, match="parts that nothing links"):
        rasch_difficulty([[1, 2, 0, 0], [0, 0, 1, 2]], [[3, 3, 0, 0], [0, 0, 3, 3]])
    with pytest.raises(InputError, match="passed by all or by none"):
        rasch_difficulty([[3, 0]], [[3, 3]])


def test_an_item_that_the_able_pass_discriminates_and_one_that_they_fail_does_so_downward() -> None:
    """Without the item itself in the score; None without spread or a second item. [T-18]"""
    able, fair, poor = [1, 1, 1, 1, 0, 1], [1, 1, 1, 0, 0, 1], [0, 1, 0, 0, 1, 1]
    found = point_biserial([able, fair, poor, [0, 0, 0, 0, 1, 1]])
    assert found[0] is not None
    assert found[4] is not None
    assert found[0] > 0 > found[4]
    assert found[5] is None
    with pytest.raises(InputError, match="3 respondents and 2 items"):
        point_biserial([[1, 0], [0, 1]])


def test_an_item_without_rollouts_has_no_interval() -> None:
    """The others have Wilson's. [T-18]"""
    empty, full = pass_rate_intervals([(0, 0), (4, 4)])
    assert empty is None
    assert full is not None
    assert (pytest.approx(0.5101, abs=1e-4), 1.0) == (full.low, full.high)
