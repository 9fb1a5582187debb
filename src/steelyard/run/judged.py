"""What judging has left in a run folder: the newest ruler, and judgement lines, whole or only their outcomes.

A line holds the prompt and the predictions too (`records.JudgedItem`). Who counts or compares verdicts reads its
outcomes: the rest is skipped in the bytes, which takes a third of the time and a tenth of the memory.
Not covered: judging (`judgements`). Nothing that judges is loaded here, so that reading a run stays cheap.
Easy to break: the counts of a line are checked as `records.JudgementRecord` does, so that damage is told either way.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from steelyard.errors import FormatError
from steelyard.records import JudgedItem, check_counts
from steelyard.run.stored import decode, read

FOLDER = "judgements"
CURRENT = "current.json"
T = TypeVar("T")


class Current(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The content of current.json: the newest ruler, and the suite and its proofs that it was made with.

    `previous` is the last ruler that differed, so that judging once more lists the same flips again.
    """

    ruler: str
    previous: str = ""
    suite_name: str = ""
    suite_path: str = ""
    suite_revision: str = ""
    proofs: dict[str, int] = {}


class Miss(msgspec.Struct, frozen=True, gc=False):
    """The name of one reason for failing."""

    name: str = ""


class Why(msgspec.Struct, frozen=True, gc=False):
    """Names of the misses, and the note of a void."""

    misses: list[Miss] = []
    note: str = ""


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """The verdict on one rollout; `correct` None is void."""

    index: int
    correct: bool | None = None
    score: float | None = None
    extra: Why | None = None


class Outcomes(msgspec.Struct, frozen=True, gc=False):
    """The verdicts on an item's rollouts with their counts."""

    rollouts: list[Outcome]
    n_rollouts: int
    n_correct: int
    n_void: int = 0
    n_errors: int = 0

    def __post_init__(self) -> None:
        check_counts(self)


class JudgedOutcomes(msgspec.Struct, frozen=True, gc=False):
    """One line of `judgements/<ruler>.jsonl`, less the prompt and the predictions."""

    id: str
    revision: str
    feedback_result: Outcomes


def read_current(folder: Path) -> Current | None:
    """What the newest judgement of a run was made with; None before the first."""
    path = folder / FOLDER / CURRENT
    if not path.exists():
        return None
    try:
        return read(path, Current, "the newest ruler")
    except FormatError as error:
        raise FormatError(path, None, f"{error.detail}; do: steelyard judge {folder}") from error


def current_ruler(folder: Path) -> str:
    """The ruler of the newest judgement of a run; empty before the first."""
    current = read_current(folder)
    return current.ruler if current else ""


def path_of(folder: Path, ruler: str) -> Path:
    """Where the judgement of a run under a ruler lies, or would."""
    return folder / FOLDER / f"{ruler}.jsonl"


def read_judgements(folder: Path, ruler: str = "") -> Iterator[JudgedItem]:
    """The judgements of a run under a ruler (the newest by default), in suite order."""
    return _read(folder, ruler, JudgedItem)


def read_outcomes(folder: Path, ruler: str = "") -> Iterator[JudgedOutcomes]:
    """The same, of which only the verdicts and their counts are read."""
    return _read(folder, ruler, JudgedOutcomes)


def _read(folder: Path, ruler: str, kind: type[T]) -> Iterator[T]:
    ruler = ruler or current_ruler(folder)
    path, decoder = path_of(folder, ruler), msgspec.json.Decoder(kind)
    if not ruler or not path.exists():
        raise FormatError(folder, None, f"this run has not been judged; do: steelyard judge {folder}")
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.isspace():
                yield decode(decoder, line, path, number, "a judgement")
