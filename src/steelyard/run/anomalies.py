"""Anomalies of a judged run: records that deserve a look, found by declared rules.

Source: seed 003's rule set, its first three rules; the others come from what endpoints do. `rules_hash` covers the
declarations; when it changes, an existing anomalies.json is kept as anomalies.<old hash>.json. Indices are real rollout
indices, never a sentinel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from steelyard.attempt import Attempt
from steelyard.canonical import digest
from steelyard.errors import FormatError
from steelyard.models.masking import MARK
from steelyard.parsing.final import without_reasoning
from steelyard.records import PredictionRecord
from steelyard.run.journal import Rollout
from steelyard.run.stored import read
from steelyard.store import write_json

FILE = "anomalies.json"
TRUNCATED = frozenset({"length", "max_tokens", "content_filter"})
"""Finish reasons that say an answer was cut."""


class Rule(msgspec.Struct, frozen=True):
    """A declared rule; the declaration, not the function, is what `rules_hash` covers."""

    name: str
    description: str
    severity: str
    rationale: str


class Anomaly(msgspec.Struct, frozen=True):
    """One item that a rule flags, with the indices of its rollouts."""

    rule: str
    item: str
    rollouts: list[int]


class Anomalies(msgspec.Struct, frozen=True):
    """The content of anomalies.json."""

    rules_hash: str
    rules: list[Rule]
    counts: dict[str, int]
    found: list[Anomaly]


def is_empty(attempt: Attempt) -> bool:
    """Whether an attempt says nothing, thinks nothing and did nothing."""
    return not attempt.answer.strip() and not _did(attempt) and not _reasoning(attempt)


def is_thought_only(attempt: Attempt) -> bool:
    """Whether an attempt did nothing and holds reasoning, but no answer beside it: as a rule a spent token budget."""
    if _did(attempt) or without_reasoning(attempt.answer).text.strip():
        return False
    return bool(_reasoning(attempt) or attempt.answer.strip())


def _did(attempt: Attempt) -> bool:
    return attempt.workspace is not None and bool(attempt.workspace.changes)


def _reasoning(attempt: Attempt) -> bool:
    """Whether the last output has reasoning text of its own."""
    return bool(attempt.outputs) and any(text.strip() for text in attempt.outputs[-1].reasoning_texts)


def has_several_choices(attempt: Attempt) -> bool:
    """Whether an endpoint answered with more choices than the one that was asked for."""
    return any(len(output.texts) > 1 for output in attempt.outputs)


def repeats_key(attempt: Attempt) -> bool:
    """Whether an output held the API key, which was masked before it was stored."""
    for output in attempt.outputs:  # loops, because every attempt of a run comes here
        for text in (*output.texts, *output.reasoning_texts):
            if MARK in text:
                return True
        for call in output.tool_calls:
            if MARK in call.arguments:
                return True
    return False


def is_truncated(attempt: Attempt) -> bool:
    """Whether the last output of an attempt was cut by a token limit or filter."""
    return bool(attempt.outputs) and not TRUNCATED.isdisjoint(attempt.outputs[-1].finish_reasons)


UNREAD = "extraction_failure"

RULES: tuple[tuple[Rule, Callable[[Attempt], bool] | None], ...] = (
    (
        Rule(
            "empty_output",
            "the attempt has no text, no reasoning and no change",
            "warning",
            "a server or template fault",
        ),
        is_empty,
    ),
    (
        Rule("thought_only", "there is reasoning, and no answer beside it", "warning", "a token cap cut the thinking"),
        is_thought_only,
    ),
    (Rule("truncated_output", "the last output hit a limit", "info", "a token cap deflates a score"), is_truncated),
    (Rule(UNREAD, "no answer could be read", "warning", "an unread answer may be a right one"), None),
    (
        Rule(
            "several_choices",
            "a reply had several choices",
            "warning",
            "the first one was judged, the others only kept",
        ),
        has_several_choices,
    ),
    (
        Rule("key_echoed", "a reply held the API key, masked here", "error", "the endpoint gives the key away"),
        repeats_key,
    ),
)
"""The declared rules, each with what it asks of an attempt; whether an answer was read stands in the prediction."""
_ASKED = tuple((rule.name, flags) for rule, flags in RULES if flags is not None)


def rules_hash() -> str:
    """16 hex digits over the declared rules."""
    return digest([rule for rule, _ in RULES])[:16]


def anomalies_of(item: str, rollouts: Sequence[Rollout], predictions: PredictionRecord) -> list[Anomaly]:
    """What the rules flag in one item's rollouts."""
    flagged: dict[str, list[int]] = {}
    for rollout in rollouts:
        attempt = rollout.attempt
        if attempt is None:
            continue
        for name, flags in _ASKED:
            if flags(attempt):
                flagged.setdefault(name, []).append(rollout.rollout)
    for prediction in predictions.rollouts:
        if not prediction.extracted:
            flagged.setdefault(UNREAD, []).append(prediction.index)
    return (
        [Anomaly(rule.name, item, flagged[rule.name]) for rule, _ in RULES if rule.name in flagged] if flagged else []
    )


def write_anomalies(folder: Path, found: list[Anomaly]) -> None:
    """Write anomalies.json, keeping a file that was made under other rules."""
    path = folder / FILE
    new = Anomalies(
        rules_hash(),
        [rule for rule, _ in RULES],
        {rule.name: sum(len(a.rollouts) for a in found if a.rule == rule.name) for rule, _ in RULES},
        found,
    )
    old_hash = _hash_of(path)
    if old_hash not in ("", new.rules_hash):
        path.replace(folder / f"anomalies.{old_hash}.json")
    write_json(path, new)


def _hash_of(path: Path) -> str:
    """The rules of an existing file; empty when there is none, or a damaged one that says nothing worth keeping."""
    try:
        return read(path, Anomalies, "anomalies").rules_hash if path.exists() else ""
    except FormatError:
        return ""


def read_anomalies(folder: Path) -> Anomalies:
    """anomalies.json under today's rules; FormatError names the command that writes it again."""
    path, way_on = folder / FILE, f"; do: steelyard judge {folder}"
    if not path.exists():
        raise FormatError(path, None, f"is missing{way_on}")
    try:
        anomalies = read(path, Anomalies, "anomalies")
    except FormatError as error:
        raise FormatError(path, None, f"{error.detail}{way_on}") from error
    if anomalies.rules_hash != rules_hash() or set(anomalies.counts) != {rule.name for rule, _ in RULES}:
        raise FormatError(path, None, f"was made under other rules{way_on}")
    return anomalies
