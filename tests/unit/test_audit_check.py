"""Counting what graders get wrong: labels, voids, policies, grades and crashes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from steelyard.audit.cases import Case, GradeLabel, read_cases
from steelyard.audit.check import Outcome, Row, audit, fault_of, judge_case
from steelyard.errors import FormatError

CRASHING = """
from steelyard.verifiers.contract import Verifier
from steelyard.verdict import Reading, Verdict

def read(attempt, config):
    return Reading(attempt.answer, "whole")

def decide(found, target, config):
    raise RuntimeError("boom")

def refuse(target, config):
    raise KeyError("lost")

judge = Verifier(name="judge", read=read, decide=decide)
checked = Verifier(name="checked", read=read, decide=decide, check=refuse)
"""


def _case(**given: Any) -> Case:
    return Case(
        **{"id": "x", "kind": "exact", "path": Path("c.jsonl"), "line": 3, "response": "a", "target": "a", **given}
    )


def _row(verdict: Outcome = "void", reason: str = "", grade: str | None = None) -> Row:
    return Row("x", "exact", verdict, grade, None, None, reason, 0.0, None)


@pytest.mark.parametrize(
    ("expected", "policy", "row", "fault"),
    [
        (True, False, _row("pass"), None),
        (True, False, _row("fail"), "false negative"),
        (True, False, _row("void", "no tool"), "false negative"),
        (False, False, _row("fail"), None),
        (False, False, _row("pass"), "false positive"),
        (False, False, _row("void", "no tool"), None),
        (False, False, _row("void", ""), "false positive"),
        (None, False, _row("pass"), None),
        (None, False, _row("void"), None),
        (True, True, _row("fail"), None),
        (False, True, _row("pass"), None),
    ],
)
def test_a_label_is_met_as_documented(expected: bool | None, policy: bool, row: Row, fault: str | None) -> None:
    """Right needs a pass; wrong a fail or a void with its reason; no label and policy take anything. [T-13]"""
    assert fault == fault_of(_case(expected=expected, policy=policy), row)


@pytest.mark.parametrize(
    ("label", "policy", "grade", "fault"),
    [
        (GradeLabel("CORRECT"), False, "CORRECT", None),
        (GradeLabel("CORRECT"), False, None, "false negative"),
        (GradeLabel("CORRECT"), False, "INCORRECT", "false positive"),
        (GradeLabel(None), False, None, None),
        (GradeLabel(None), False, "CORRECT", "false positive"),
        (GradeLabel("INCORRECT", ("CORRECT",)), True, "INCORRECT", None),
        (GradeLabel("INCORRECT", ("CORRECT",)), True, None, None),
        (GradeLabel("INCORRECT", ("CORRECT",)), True, "CORRECT", "false positive"),
        (GradeLabel("CORRECT", ("CORRECT",)), False, "CORRECT", "false positive"),
    ],
)
def test_a_grade_is_met_as_documented(label: GradeLabel, policy: bool, grade: str | None, fault: str | None) -> None:
    """The labelled grade, or under policy anything that is not ruled out. [S-8] [S-16]"""
    assert fault == fault_of(_case(kind="judge-reply", grade=label, policy=policy), _row(grade=grade))


def test_every_case_is_counted_by_kind_and_the_wrong_ones_are_listed() -> None:
    """Counts, rows and places of one audit over two kinds."""
    done = audit(
        [
            _case(id="a", expected=True),
            _case(id="b", expected=True, response="other", line=4),
            _case(id="c", expected=False, line=5),
            _case(id="d", kind="mcq", target="F", settings={"choices": "ABCD"}, expected=False, line=6),
            _case(id="e", kind="mcq", target="B", settings={"choices": "ABCD"}, response="B", line=7),
        ]
    )
    exact, mcq = done.kinds["exact"], done.kinds["mcq"]
    assert (3, 3, 1, 1, 0, 0) == (
        exact.n, exact.labelled, exact.false_negatives, exact.false_positives, exact.voids, exact.exceptions
    )  # fmt: skip
    assert (2, 1, 0, 0, 1, 0) == (
        mcq.n, mcq.labelled, mcq.false_negatives, mcq.false_positives, mcq.voids, mcq.exceptions
    )  # fmt: skip
    assert [("a", "pass"), ("b", "fail"), ("c", "pass"), ("d", "void"), ("e", "pass")] == [
        (row.id, row.verdict) for row in done.rows
    ]
    assert [("c.jsonl:4", "false negative", "pass"), ("c.jsonl:5", "false positive", "fail")] == [
        (wrong.place, wrong.fault, wrong.due) for wrong in done.wrong
    ]
    assert exact.slowest_s == max(row.seconds for row in done.rows if row.kind == "exact")


def test_a_row_tells_what_was_read_and_why_it_failed() -> None:
    """Prediction, rule and reason; nothing where nothing was read."""
    row = judge_case(_case(kind="numeric", response="It is 13.", target="12"))
    assert ("fail", "13", None) == (row.verdict, row.prediction, row.exception)
    assert row.reason.startswith("wrong-value: 13 is not within")
    assert row.rule
    unread = judge_case(_case(kind="numeric", response="", target="12"))
    assert ("fail", None, None) == (unread.verdict, unread.prediction, unread.rule)
    assert unread.reason.startswith("no-answer: ")


def test_a_target_that_the_verifier_refuses_is_void() -> None:
    """It is counted, and says why; a right answer that nobody can judge is a false negative."""
    target = {"mode": "stdin", "cases": []}
    cases = [_case(kind="code", target=target, expected=expected) for expected in (True, False)]
    done = audit(cases)
    assert ['verifier "code": "stdin" needs cases'] * 2 == [row.reason for row in done.rows]
    assert (2, 2, 1, 0, 0) == (
        done.kinds["code"].n,
        done.kinds["code"].voids,
        done.kinds["code"].false_negatives,
        done.kinds["code"].false_positives,
        done.kinds["code"].exceptions,
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("judge", "the verifier crashed while deciding: RuntimeError: boom"),
        ("checked", "KeyError: 'lost'"),
    ],
)
def test_a_crash_of_the_verifier_is_an_exception_whatever_the_label(tmp_path: Path, name: str, words: str) -> None:
    """While judging or while binding: the row is void, names the error, and the audit finds fault."""
    (tmp_path / "mine.py").write_text(CRASHING, encoding="utf-8")
    (tmp_path / "c.jsonl").write_text(
        f'{{"response": "a", "target": "a", "verifier": "{tmp_path}/mine.py:{name}", "expected": false}}\n'
        f'{{"response": "a", "target": "a", "verifier": "{tmp_path}/mine.py:{name}"}}\n'
    )
    done = audit(read_cases(tmp_path / "c.jsonl", trust=True))
    assert [("void", words)] * 2 == [(row.verdict, row.exception) for row in done.rows]
    (tally,) = done.kinds.values()
    assert (0, 0, 2, 2) == (tally.false_negatives, tally.false_positives, tally.voids, tally.exceptions)
    assert ["exception", "exception"] == [wrong.fault for wrong in done.wrong]


@pytest.mark.parametrize(
    ("spec", "target", "words"),
    [
        ({"name": "nubmer"}, "1", 'c.jsonl:3: unknown verifier "nubmer"; did you mean "number"?'),
        ({"name": "number", "atoll": 1}, "1", 'has no setting "atoll"; did you mean "atol"?'),
        ({"name": "number"}, "many", "the target must be a number"),
        ({"name": "mine.py:judge"}, "1", "pass --trust to load verifiers from files"),
    ],
)
def test_a_plain_row_that_cannot_be_bound_is_the_authors_slip(spec: dict[str, Any], target: str, words: str) -> None:
    """It is an error with its place, not a verdict. [T-8]"""
    with pytest.raises(FormatError) as caught:
        audit([_case(kind=spec["name"], spec=spec, target=target)])
    assert words in str(caught.value)
