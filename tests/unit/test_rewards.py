"""The verdict as a reward, and what groups of rewards are worth."""

from __future__ import annotations

import pytest

from steelyard.attempt import Attempt
from steelyard.item import Item
from steelyard.records import (
    JudgedItem,
    build_judgement_record,
    build_prediction_record,
    build_prompt_record,
    build_rollout_judgement,
)
from steelyard.rewards import Pool, pool_of, reward_of, rewards, rewards_of_run
from steelyard.verdict import PASSED, Verdict, failed, void
from steelyard.verifiers.registry import bind


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [(PASSED, 1.0), (failed("wrong"), 0.0), (void("no sandbox"), None), (void("provoked: it crashed"), 0.0)],
)
def test_a_void_is_no_reward_unless_it_was_provoked(verdict: Verdict, expected: float | None) -> None:
    """A broken grader punishes nobody; a submission that breaks it on purpose gets nothing. [O-29]"""
    assert expected == reward_of(verdict)


def test_a_group_is_judged_by_the_evals_own_verifier() -> None:
    """The same oracle judges answers and gives rewards. [O-29]"""
    item = Item(id="a", input="6 * 7?", target="42", verifier={"name": "number"})
    group = [Attempt(answer=text) for text in ("It is 42.", "41", "I cannot say.")]
    assert [1.0, 0.0, 0.0] == rewards(item, bind(item), group)


def test_uniform_groups_are_counted() -> None:
    """A group in which all pass or all fail has no advantage to learn from. [O-29]"""
    pool = pool_of([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0, None], [None], []])
    assert Pool(groups=5, mixed=1, all_passed=1, all_failed=1, empty=2, unknown=2) == pool
    assert 2 == pool.uniform


def test_a_judged_runs_rollouts_are_groups() -> None:
    """Stored judgements give the rewards that judging live would. [O-29]"""
    record = build_judgement_record(
        [
            build_rollout_judgement(0, True),
            build_rollout_judgement(1, False),
            build_rollout_judgement(2, None, extra={"note": "provoked: it crashed"}),
            build_rollout_judgement(3, None, extra={"note": "no sandbox"}),
        ]
    )
    line = JudgedItem("a", "r", build_prompt_record([]), build_prediction_record({}), record)
    assert {"a": [1.0, 0.0, 0.0, None]} == rewards_of_run([line])
