"""The verdict as a reward for reinforcement learning, and what a pool of groups is worth.

Source: seed 001's public upstream (O-29: the check is the reward of GRPO; uniform groups teach nothing) and DESIGN
section 5 (a void is no reward, a provoked void is 0.0). The judge is the one that judges eval answers.
Not covered: sampling, trainers, dropping groups: this module says what they are worth.
Easy to break: taking a void for 0.0, which would punish a model for a broken grader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from steelyard.attempt import Attempt
from steelyard.item import Item
from steelyard.judging import PROVOKED, judge
from steelyard.ports import Kit
from steelyard.records import JudgedItem
from steelyard.verdict import Verdict
from steelyard.verifiers.registry import Bound


def reward_of(verdict: Verdict) -> float | None:
    """1.0 for passed, 0.0 for failed or provoked, None for a void that the submission did not provoke."""
    if verdict.passed is not None:
        return 1.0 if verdict.passed else 0.0
    return 0.0 if verdict.note.startswith(PROVOKED) else None


def rewards(
    item: Item,
    bound: Bound,
    attempts: Sequence[Attempt],
    *,
    kit: Kit | None = None,
    reference_passes: Callable[[], bool] | None = None,
) -> list[float | None]:
    """The rewards of one group, in order: n attempts at one item, judged as an eval judges them.

    `reference_passes` tells a provoked void from a broken grader, as in `judging.judge`.
    """
    judged = (judge(item, bound, attempt, kit=kit, reference_passes=reference_passes) for attempt in attempts)
    return [reward_of(one.verdict) for one in judged]


class Pool(msgspec.Struct, frozen=True):
    """What groups of rewards are worth: a uniform group (all equal) has no advantage to learn from.

    `unknown` counts rewards that are None; a group is `mixed` when its known rewards differ, else uniform, and `empty`
    when none is known.
    """

    groups: int
    mixed: int
    all_passed: int
    all_failed: int
    empty: int
    unknown: int

    @property
    def uniform(self) -> int:
        return self.all_passed + self.all_failed


def pool_of(groups: Iterable[Sequence[float | None]]) -> Pool:
    """Counts over groups of rewards."""
    counts = dict.fromkeys(("groups", "mixed", "all_passed", "all_failed", "empty", "unknown"), 0)
    for group in groups:
        known = [reward for reward in group if reward is not None]
        counts["groups"] += 1
        counts["unknown"] += len(group) - len(known)
        counts[_kind(known)] += 1
    return Pool(**counts)


def _kind(known: Sequence[float]) -> str:
    if not known:
        return "empty"
    if min(known) != max(known):
        return "mixed"
    return "all_passed" if known[0] > 0 else "all_failed"


def rewards_of_run(judged: Iterable[JudgedItem]) -> Mapping[str, list[float | None]]:
    """The rewards of a judged run's rollouts by item id: one group an item; calls that failed made no attempt."""
    return {
        line.id: [
            reward_of(Verdict(one.correct, note=str((one.extra or {}).get("note", ""))))
            for one in line.feedback_result.rollouts
        ]
        for line in judged
    }
