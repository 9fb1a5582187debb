"""Items on which two runs differ, with one answer of each side next to the other.

The pair shown is the first rollout that speaks for the difference: a passed one of the side that passes more and a
failed one of the other. Only items that are listed are read again from the journals.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from steelyard.compare.figures import Counts
from steelyard.compare.runs import Joined, Side
from steelyard.item import Item
from steelyard.run.journal import RolloutIndex
from steelyard.run.judged import read_judgements


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """One side of a flip: its counts, and of one rollout the answer, what was read, the misses, changed paths."""

    passed: int
    judged: int
    rollout: int
    answer: str
    prediction: Any = None
    misses: list[str] = []
    changed: list[str] = []


class ItemFlip(msgspec.Struct, frozen=True):
    """An item whose pass rate differs: `change` is B - A in [-1, 1]."""

    item: str
    change: float
    prompt: str
    target: str
    a: Answer
    b: Answer


def flips(joined: Joined, i: int = 0, j: int = 1) -> Iterator[ItemFlip]:
    """Items that run j passes less than run i, then those that it passes more, each in suite order."""
    a, b = joined.sides[i], joined.sides[j]
    changed = [(item, _change(a.counts(item.id), b.counts(item.id))) for item in joined.items]
    listed = [(item, change) for item, change in changed if change < 0] + [pair for pair in changed if pair[1] > 0]
    names = {item.id for item, _ in listed}
    read_a, read_b = _readings(a, names), _readings(b, names)
    index_a, index_b = RolloutIndex(a.folder), RolloutIndex(b.folder)
    try:
        for item, change in listed:
            left = _answer(item, a, index_a, read_a, passed=change < 0)
            right = _answer(item, b, index_b, read_b, passed=change > 0)
            yield ItemFlip(item.id, change, item.prompt, item.target, left, right)
    finally:
        index_a.close()
        index_b.close()


def _change(a: Counts, b: Counts) -> float:
    return b.rate - a.rate if a.judged and b.judged else 0.0


_Readings = dict[tuple[str, int], tuple[Any, list[str]]]


def _readings(side: Side, names: set[str]) -> _Readings:
    """What was read of each rollout, and the names of its misses."""
    found: _Readings = {}
    for line in read_judgements(side.folder, side.ruler):
        if line.id not in names:
            continue
        values = {p.index: p.prediction for p in line.postprocess_result.rollouts}
        for one in line.feedback_result.rollouts:
            misses = [
                str(miss.get("name", "")) for miss in (one.extra or {}).get("misses", []) if isinstance(miss, dict)
            ]
            found[line.id, one.index] = values.get(one.index), misses
    return found


def _answer(item: Item, side: Side, index: RolloutIndex, readings: _Readings, *, passed: bool) -> Answer:
    outcomes, counts = side.outcomes[item.id], side.counts(item.id)
    number = next((n for n in sorted(outcomes) if outcomes[n] is passed), min(outcomes))
    attempt = next((r.attempt for r in index.of(item.id) if r.rollout == number), None)
    prediction, misses = readings.get((item.id, number), (None, []))
    changed = sorted(attempt.workspace.changes) if attempt and attempt.workspace else []
    text = attempt.answer if attempt else ""
    return Answer(counts.passed, counts.judged, number, text, prediction, misses, changed)
