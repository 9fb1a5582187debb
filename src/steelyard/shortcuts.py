"""No-work baselines over a whole suite: what answering without reading the question scores.

The best baseline's rate is the suite's printed *floor*; items that some baseline passes are flagged, not refuted.
Baselines look at targets and at the prompt's surface only. Probing items count as failed by every baseline.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import msgspec

from steelyard.attempt import Attempt
from steelyard.item import Item
from steelyard.judging import judge
from steelyard.verifiers.registry import Bound

_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Floor(msgspec.Struct, frozen=True):
    """The best no-work pass rate in [0, 1], which baseline reaches it, and the ids that some baseline passes."""

    rate: float
    baseline: str
    flagged: list[str]


def shortcut_floor(items: Sequence[Item], bound: Mapping[str, Bound]) -> Floor:
    """The suite's floor: every baseline answers every item, each item's own verifier judges."""
    passed: dict[str, set[str]] = {}
    for name, answer in _baselines(items).items():
        passed[name] = {i.id for i in items if _passes(i, bound[i.id], answer(i))}
    best = max(passed, key=lambda name: len(passed[name]))
    flagged = set[str]().union(*passed.values())
    return Floor(len(passed[best]) / len(items), best, [i.id for i in items if i.id in flagged])


def _passes(item: Item, bound: Bound, answer: str | None) -> bool:
    if answer is None or bound.probes:
        return False
    return judge(item, bound, Attempt(answer=answer)).verdict.passed is True


def _baselines(items: Sequence[Item]) -> dict[str, Callable[[Item], str | None]]:
    common, _ = Counter(i.target for i in items).most_common(1)[0]
    baselines: dict[str, Callable[[Item], str | None]] = {
        "most common target": lambda _: common,
        "first number of the prompt": lambda item: _number(item, 0),
        "last number of the prompt": lambda item: _number(item, -1),
        "echo of the prompt": lambda item: item.prompt,
        "constant yes": lambda _: "yes",
        "constant no": lambda _: "no",
        "constant 0": lambda _: "0",
    }
    for index in range(max((len(i.choices or ()) for i in items), default=0)):
        letter = _LETTERS[index]
        baselines[f"always {letter}"] = lambda item, letter=letter: letter if item.choices else None  # type: ignore[misc]
    return baselines


def _number(item: Item, index: int) -> str | None:
    numbers = _NUMBER.findall(item.prompt)
    return numbers[index] if numbers else None
