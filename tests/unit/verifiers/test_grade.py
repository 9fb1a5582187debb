"""A grader's reply as a verifier: passing grades, misses, and void where nothing could be read."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.verdict import Reading, Verdict
from steelyard.verifiers.grade import VERIFIERS, GradeConfig
from steelyard.verifiers.registry import Bound


def _bound(**config: Any) -> Bound:
    verifier, settings = VERIFIERS[0], GradeConfig(**config)
    assert verifier.check is not None
    verifier.check("", settings)
    return Bound(verifier, settings, "")


def _judge(bound: Bound, reply: str) -> Verdict:
    verdict = bound.decide(bound.read(Attempt(answer=reply)))
    assert isinstance(verdict, Verdict)
    return verdict


@pytest.mark.parametrize(
    ("reply", "passed", "miss"),
    [
        ("A", True, None),
        ("Grade: B", False, "graded-incorrect"),
        ("C", False, "graded-not-attempted"),
        ("", None, None),
        ("A or B", None, None),
    ],
)
def test_a_grade_passes_fails_or_is_void(reply: str, passed: bool | None, miss: str | None) -> None:
    """Only a passing grade passes; a reply without a grade is void, never a default. [S-8, S-16]"""
    verdict = _judge(_bound(), reply)
    assert (passed, [miss] if miss else []) == (verdict.passed, [m.name for m in verdict.misses])


def test_an_unparsed_reply_is_void_with_its_reason() -> None:
    """The reason is in the note, and the reading says that nothing was found. [S-8]"""
    bound = _bound()
    reading = bound.read(Attempt(answer="Nothing to say."))
    assert isinstance(reading, Reading)
    assert ("unparsed", None) == (reading.rule, reading.value["grade"])
    assert "no label" in _judge(bound, "Nothing to say.").note


def test_other_grades_than_the_usual_have_a_miss_of_their_own() -> None:
    """Grades that a config names itself fail as graded-other unless they pass. [S-8]"""
    labels = {"good": "GOOD", "fair": "FAIR", "poor": "POOR"}
    bound = _bound(labels=labels, passing=["GOOD", "FAIR"])
    assert [True, True, False] == [_judge(bound, reply).passed for reply in labels]
    assert ["graded-other"] == [m.name for m in _judge(bound, "poor").misses]


def test_the_reading_holds_the_rule_and_the_span_of_the_label() -> None:
    """Where the grade was found is recorded. [S-8]"""
    reading = _bound().read(Attempt(answer="Well. Grade: B"))
    assert Reading({"grade": "INCORRECT"}, "marker", (13, 14)) == reading


@pytest.mark.parametrize(
    ("config", "part"),
    [
        ({"labels": {"A": "CORRECT"}}, "two grades"),
        ({"labels": {"A": "CORRECT", " ": "INCORRECT"}}, "hold some text"),
        ({"labels": {"A": "CORRECT", "a": "INCORRECT"}}, "case alone"),
        ({"passing": ["CORECT"]}, 'did you mean "CORRECT"'),
    ],
)
def test_labels_that_cannot_work_are_refused(config: dict[str, Any], part: str) -> None:
    """A config that could never tell grades apart is refused at load. [S-8]"""
    with pytest.raises(InputError) as error:
        _bound(**config)
    assert part in str(error.value)


def test_the_verifiers_own_right_and_wrong_answers_are_judged_so() -> None:
    """The rendering passes, so do its variants, and the spoil fails as named. [S-8]"""
    bound = _bound()
    verifier = bound.verifier
    assert verifier.render is not None
    right = [verifier.render("", bound.config), *(make("", bound.config, "") for make in verifier.vary.values())]
    assert [True] * 3 == [_judge(bound, reply).passed for reply in right if reply]
    for spoil in verifier.spoil.values():
        assert {m.name for m in _judge(bound, spoil.make("", bound.config, "")).misses} & set(spoil.misses)
