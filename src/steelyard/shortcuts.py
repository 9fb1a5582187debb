"""No-work baselines over a whole suite: what answering without reading the question scores.

The best baseline's rate is the suite's printed *floor*; items that some baseline passes are flagged, not refuted.
Baselines look at targets and at the prompt's surface only. Probing items count as failed by every baseline.
"""

from __future__ import annotations

import platform
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from steelyard.attempt import Attempt
from steelyard.canonical import canonical_plain, digest, sha256_hex
from steelyard.item import Item
from steelyard.judging import decide, judge
from steelyard.store import write_json
from steelyard.suite import Suite
from steelyard.verdict import Reading, Unread
from steelyard.verifiers.registry import Bound, is_local, revision

FILE = "floor.json"
_SOURCES = ("shortcuts.py", "judging.py", "item.py")
_READINGS = 1_000
"""Readings that are kept at once, so that memory does not grow with the items."""
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Floor(msgspec.Struct, frozen=True):
    """The best no-work pass rate in [0, 1], which baseline reaches it, and the ids that some baseline passes."""

    rate: float
    baseline: str
    flagged: list[str]


def shortcut_floor(items: Sequence[Item], bound: Mapping[str, Bound]) -> Floor:
    """The suite's floor: every baseline answers every item, each item's own verifier judges."""
    return _floor(items, bound)[0]


def floor_of_run(folder: Path, suite: Suite, items: Sequence[Item]) -> tuple[float, str]:
    """Rate and baseline of the floor of some of a suite's items, kept in a run's folder until one of them changes.

    They are made again whenever an item, a verifier that judges one, a baseline or Python is another one than then.
    Not kept: what a void took part in, and what a user's own file judges, which may reach further than its revision.
    """
    path, key = folder / FILE, _key(suite, items)
    with suppress(OSError, msgspec.DecodeError):
        kept = msgspec.json.decode(path.read_bytes(), type=_Kept)
        if key and kept.key == key:
            return kept.rate, kept.baseline
    floor, decided = _floor(items, suite.bound)
    rate = round(floor.rate, 6)
    if key and decided:
        with suppress(OSError):  # a folder that cannot be written makes its floor every time
            write_json(path, _Kept(key, rate, floor.baseline))
    return rate, floor.baseline


class _Kept(msgspec.Struct, frozen=True):
    """The content of floor.json: a floor, and the hash of all that it depends on."""

    key: str
    rate: float
    baseline: str


def _key(suite: Suite, items: Sequence[Item]) -> str:
    """sha256 of what a floor depends on; empty where that cannot be known."""
    kinds: dict[tuple[int, int], Item] = {}
    hashes: list[str] = []
    for item in items:
        bound = suite.bound[item.id]
        kinds.setdefault((id(bound.verifier), id(bound.config)), item)
        hashes += (item.id, suite.asks[item.id], suite.keys[item.id])
    if any(is_local(suite.bound[item.id]) for item in kinds.values()):
        return ""
    return digest(
        {
            "items": sha256_hex(canonical_plain(hashes)),
            "judges": sorted(revision(item, suite.bound[item.id]) for item in kinds.values()),
            "baselines": [sha256_hex(Path(__file__).with_name(name).read_bytes()) for name in _SOURCES],
            "python": platform.python_version(),
        }
    )


def _floor(items: Sequence[Item], bound: Mapping[str, Bound]) -> tuple[Floor, bool]:
    """The floor, and whether every answer of every baseline was decided."""
    passed: dict[str, set[str]] = {}
    decided = True
    for name, answer in _baselines(items).items():
        outcomes = _outcomes(items, bound, answer)
        passed[name] = {item for item, outcome in outcomes if outcome}
        decided = decided and all(outcome is not None for _, outcome in outcomes)
    best = max(passed, key=lambda name: len(passed[name]))
    flagged = set[str]().union(*passed.values())
    return Floor(len(passed[best]) / len(items), best, [i.id for i in items if i.id in flagged]), decided


def _outcomes(
    items: Sequence[Item], bound: Mapping[str, Bound], answer_of: Callable[[Item], str | None]
) -> list[tuple[str, bool | None]]:
    """Whether one baseline passes each item that it has an answer to; probing items are left out.

    What is read depends on the answer and on how the verifier is set, so that it is read once for items of a kind.
    """
    readings: dict[tuple[int, int, str], Reading | Unread] = {}
    found = []
    for item in items:
        judge_of, answer = bound[item.id], answer_of(item)
        if answer is None or judge_of.probes:
            continue
        place = id(judge_of.verifier), id(judge_of.config), answer
        passed = decide(item, judge_of, readings[place]).passed if place in readings else None
        if passed is None:
            judged = judge(item, judge_of, Attempt(answer=answer))
            passed = judged.verdict.passed
            if len(readings) < _READINGS and (judged.reading is not None or judged.unread):
                readings[place] = judged.reading or Unread(judged.unread)
        found.append((item.id, passed))
    return found


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
