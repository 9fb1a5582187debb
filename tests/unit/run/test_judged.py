"""What judging left: whole lines and their outcomes say the same, and damage is told by either."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from steelyard.errors import FormatError
from steelyard.records import JudgedItem, PredictionRecord, PromptRecord, RolloutJudgement, build_judgement_record
from steelyard.run.judged import CURRENT, FOLDER, Current, current_ruler, path_of, read_judgements, read_outcomes

ROLLOUTS = [
    RolloutJudgement(0, True, 0.5),
    RolloutJudgement(1, False, extra={"misses": [{"name": "differs", "detail": "x"}], "measures": {"a": 1.0}}),
    RolloutJudgement(3, None, extra={"note": "no evidence"}),
]


def _judged(folder: Path, change: tuple[bytes, bytes] = (b"", b"")) -> Path:
    """A run folder with one judged item; `change` is what to replace in its line, and by what."""
    record = build_judgement_record(ROLLOUTS, n_errors=1)
    line = msgspec.json.encode(JudgedItem("a", "r", PromptRecord([]), PredictionRecord([]), record))
    (folder / FOLDER).mkdir()
    (folder / FOLDER / CURRENT).write_bytes(msgspec.json.encode(Current(ruler="ruler")))
    path_of(folder, "ruler").write_bytes((line.replace(*change) if change[0] else line) + b"\n \n")
    return folder


def test_outcomes_are_what_the_whole_lines_say(tmp_path: Path) -> None:
    """Verdicts, scores, names of misses, notes and counts."""
    (whole,), (brief,) = read_judgements(_judged(tmp_path)), read_outcomes(tmp_path)
    record, counted = whole.feedback_result, brief.feedback_result
    assert (whole.id, whole.revision, "ruler") == (brief.id, brief.revision, current_ruler(tmp_path))
    assert [(r.index, r.correct, r.score) for r in ROLLOUTS] == [
        (r.index, r.correct, r.score) for r in counted.rollouts
    ]
    assert (record.n_rollouts, record.n_correct, record.n_void, record.n_errors) == (
        counted.n_rollouts,
        counted.n_correct,
        counted.n_void,
        counted.n_errors,
    )
    why = [one.extra for one in counted.rollouts]
    assert why[0] is None
    assert [([], "no evidence"), (["differs"], "")] == [([m.name for m in e.misses], e.note) for e in why[:0:-1] if e]


@pytest.mark.parametrize(
    "change", [(b'"n_correct":1', b'"n_correct":2'), (b'"correct":true', b'"correct":1'), (b"}}", b"}")]
)
def test_damage_is_told_with_its_place_either_way(tmp_path: Path, change: tuple[bytes, bytes]) -> None:
    """Counts that contradict, a wrong type, broken JSON."""
    _judged(tmp_path, change)
    for read in (read_judgements, read_outcomes):
        with pytest.raises(FormatError, match=r"ruler\.jsonl:1: not a judgement"):
            list(read(tmp_path))


def test_a_run_that_was_not_judged_says_what_to_do(tmp_path: Path) -> None:
    """By either way of reading, and for a ruler that is not there."""
    for read in (read_judgements, read_outcomes):
        for ruler in ("", "other"):
            with pytest.raises(FormatError, match="has not been judged; do: steelyard judge"):
                list(read(tmp_path, ruler))
