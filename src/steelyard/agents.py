"""The figures of an agent run, from its stored transcripts: calls, turns, stops, tokens and grounded success.

Source: seed 001 (O-15, O-16, O-25). Nothing is asked of a model again; a run that was made before a figure was invented
has it too. Figures are over all finished attempts at items that offer tools, those of `by_kind` over one kind of job.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from steelyard.grounded import carries_answer
from steelyard.item import Item, kind_of
from steelyard.records import JudgedItem
from steelyard.run.journal import RolloutIndex
from steelyard.run.plan import Plan
from steelyard.solvers.tools import offered
from steelyard.suite import Suite
from steelyard.transcripts import TalkCounts, exchanges


class Grounding(msgspec.Struct):
    """Judged attempts at items whose verifier reads an answer: how many passed, and how many of these are grounded.

    Items whose answer has to be worked out (metadata `derived`) are left out and counted: no result can carry it.
    """

    judged: int = 0
    derived: int = 0
    passed: int = 0
    grounded: int = 0

    def figures(self) -> dict[str, Any]:
        """Raw and grounded success over the same attempts; None where there are none."""
        return {
            "n": self.judged,
            "n_derived": self.derived,
            "passed": self.passed,
            "grounded": self.grounded,
            "success": self.passed / self.judged if self.judged else None,
            "grounded_success": self.grounded / self.judged if self.judged else None,
        }


def agent_figures(lines: Iterable[JudgedItem], suite: Suite, index: RolloutIndex, plan: Plan) -> dict[str, Any]:
    """The figures of all items that offer tools, with `by_kind`; `lines` are the judgements to take success from."""
    by_id = {item.id: item for item in (offered(item, plan.solver) for item in suite.items) if item.tools}
    counts: dict[str, tuple[TalkCounts, Grounding]] = {"": (TalkCounts(), Grounding())}
    for line in lines:
        if line.id not in by_id:
            continue
        item = by_id[line.id]
        mine = [counts[""]]
        if kind := kind_of(item):
            mine.append(counts.setdefault(kind, (TalkCounts(), Grounding())))
        _add(item, line, suite, index, plan, mine)
    figures = {name: {**talk.figures(), "grounding": ground.figures()} for name, (talk, ground) in counts.items()}
    whole = figures.pop("")
    return {**whole, "protocol": plan.solver.protocol, "by_kind": dict(sorted(figures.items()))}


def _add(
    item: Item,
    line: JudgedItem,
    suite: Suite,
    index: RolloutIndex,
    plan: Plan,
    counts: list[tuple[TalkCounts, Grounding]],
) -> None:
    bound = suite.bound[item.id]
    verdicts = {one.index: one.correct for one in line.feedback_result.rollouts}
    for rollout in index.of(item.id):
        if rollout.attempt is None:
            continue
        made = exchanges(item, rollout.attempt, plan.solver.protocol)
        passed = verdicts.get(rollout.rollout)
        grounded = passed is True and not bound.probes and carries_answer(item, bound, made)
        for talk, ground in counts:
            talk.add(rollout.attempt, made)
            if passed is None or bound.probes:
                continue
            if item.metadata.get("derived"):
                ground.derived += 1
            else:
                ground.judged += 1
                ground.passed += passed
                ground.grounded += grounded
