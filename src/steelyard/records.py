"""The stored records, by content and not by stage: prompt, prediction and judgement of one item.

Source: seed 003 (a uniform stage-output protocol). One schema for one rollout and for many; the gold is stored
once. None-valued keys are dropped on disk, False and 0 survive, so `extracted` and the counts are explicit.
Records are bare: never wrapped in a box with a type tag.
Easy to break: reading `prediction` without `.get`; "could not extract" is None, never "" or -1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from steelyard.attempt import Message, ModelOutput
from steelyard.errors import InputError

SCHEMA_VERSION = "1.0"


class PromptRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was asked. `reference` None means that the truth is a procedure, described in `extra`."""

    prompt: list[Message]
    reference: str | None = None
    extra: dict[str, Any] | None = None


class RolloutPrediction(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer read from one rollout; `extracted` survives when `prediction` is dropped."""

    index: int
    extracted: bool
    prediction: Any = None


class PredictionRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answers read from an item's rollouts."""

    rollouts: list[RolloutPrediction]
    extra: dict[str, Any] | None = None


class RolloutJudgement(msgspec.Struct, frozen=True, omit_defaults=True):
    """The verdict on one rollout; `correct` absent means void."""

    index: int
    correct: bool | None = None
    score: float | None = None
    extra: dict[str, Any] | None = None


class JudgementRecord(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The verdicts on an item's rollouts with explicit counts; `n_errors` counts calls that made no attempt.

    `n_void` and `n_errors` may be missing in records of others; a default *factory* keeps our zeros on disk.
    """

    reference: str | None = None
    rollouts: list[RolloutJudgement]
    n_rollouts: int
    n_correct: int
    n_void: int = msgspec.field(default_factory=lambda: 0)
    n_errors: int = msgspec.field(default_factory=lambda: 0)
    score: float | None = None
    extra: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        check_counts(self)


class JudgedItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of `judgements/<ruler>.jsonl`."""

    id: str
    revision: str
    preprocess_result: PromptRecord
    postprocess_result: PredictionRecord
    feedback_result: JudgementRecord


def build_prompt_record(
    prompt: Sequence[Message], reference: str | None = None, extra: dict[str, Any] | None = None
) -> PromptRecord:
    """A prompt record from its parts."""
    return PromptRecord(list(prompt), reference, extra)


def build_prediction_record(
    values: Mapping[int, Any] | Sequence[Any], extra: dict[str, Any] | None = None
) -> PredictionRecord:
    """A prediction record from values by rollout index; None is "could not extract"."""
    pairs = values.items() if isinstance(values, Mapping) else enumerate(values)
    return PredictionRecord([RolloutPrediction(i, value is not None, value) for i, value in pairs], extra)


def build_rollout_judgement(
    index: int, correct: bool | None, score: float | None = None, extra: dict[str, Any] | None = None
) -> RolloutJudgement:
    """One rollout's judgement from its parts."""
    return RolloutJudgement(index, correct, score, extra)


def build_judgement_record(
    rollouts: Sequence[RolloutJudgement],
    reference: str | None = None,
    n_errors: int = 0,
    score: float | None = None,
    extra: dict[str, Any] | None = None,
) -> JudgementRecord:
    """A judgement record whose counts are derived from its rollouts."""
    n, correct, void = count_outcomes(rollouts)
    return JudgementRecord(
        reference=reference,
        rollouts=list(rollouts),
        n_rollouts=n,
        n_correct=correct,
        n_void=void,
        n_errors=n_errors,
        score=score,
        extra=extra,
    )


def is_prediction_record(value: object) -> bool:
    """Whether a decoded mapping is a prediction record; does not look through a box."""
    return isinstance(value, Mapping) and "rollouts" in value and "n_rollouts" not in value


def is_judgement_record(value: object) -> bool:
    """Whether a decoded mapping is a judgement record; one with no rollouts is one too."""
    return isinstance(value, Mapping) and "n_rollouts" in value


def grader_extra(grade: str, output: ModelOutput) -> dict[str, Any]:
    """An LLM-judged rollout's extra: the parsed grade, and the grader's whole output as plain data."""
    return {"grade": grade, "grader_output": msgspec.to_builtins(output)}


class _Judged(Protocol):
    @property
    def correct(self) -> bool | None: ...


class _Counted(Protocol):
    @property
    def rollouts(self) -> Sequence[_Judged]: ...
    @property
    def n_rollouts(self) -> int: ...
    @property
    def n_correct(self) -> int: ...
    @property
    def n_void(self) -> int: ...
    @property
    def n_errors(self) -> int: ...


def check_counts(record: _Counted) -> None:
    """Refuse verdicts whose explicit counts are not those of their rollouts."""
    want = count_outcomes(record.rollouts)
    got = (record.n_rollouts, record.n_correct, record.n_void)
    if got != want or record.n_errors < 0:
        raise InputError(f"judgement counts (n_rollouts, n_correct, n_void) are {got}, its rollouts say {want}")


def count_outcomes(rollouts: Sequence[_Judged]) -> tuple[int, int, int]:
    """How many rollouts there are, how many of them are correct and how many void."""
    correct = void = 0
    for one in rollouts:
        if one.correct is None:
            void += 1
        elif one.correct:
            correct += 1
    return len(rollouts), correct, void
