"""A grader's reply as a verifier: passing grades, misses, and void where nothing could be read."""

from __future__ import annotations

from typing import Any

import pytest

from judged import own_answers_are_made_and_judged, reading_of
from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.verdict import Reading, Verdict
from steelyard.verifiers.grade import VERIFIERS, GradeConfig
from steelyard.verifiers.registry import Bound, bind_spec


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


READ: list[tuple[dict[str, object], str, object]] = [
    ({}, "<think>Rome?</think>\nB", ({"grade": "INCORRECT"}, "line", (21, 22))),
    ({}, "Hm", ({"grade": None, "reason": "no label that is meant stands in the reply"}, "unparsed", None)),
]


@pytest.mark.parametrize(("config", "answer", "found"), READ)
def test_a_reading_says_what_was_found_by_which_rule_and_where(
    config: dict[str, Any], answer: str, found: object
) -> None:
    """The span is of the whole reply, reasoning included; nothing where nothing is committed to. [T-13]"""
    bound = bind_spec({"name": "grade", **config}, "")
    assert found == reading_of(bound, answer)


WITNESSES: list[tuple[str, dict[str, Any], str, dict[str, str | None]]] = [
    (
        "",
        {},
        "",
        {
            "render": "A",
            "another-grade": "B",
            "bold": "**A**",
            "verdict-line": "The two agree on every point.\n\n**Final verdict:** A",
        },
    ),
    (
        "",
        {"labels": {"good": "GOOD", "a=b": "POOR"}, "passing": ["GOOD"]},
        "",
        {
            "render": "good",
            "another-grade": None,
            "bold": "**good**",
            "verdict-line": "The two agree on every point.\n\n**Final verdict:** good",
        },
    ),
    (
        "",
        {"labels": {"x=y": "GOOD", "bad": "POOR", "poor": "POOR"}, "passing": ["GOOD"]},
        "",
        {"render": None, "another-grade": "bad", "bold": None, "verdict-line": None},
    ),
    (
        "",
        {"passing": ["CORRECT", "INCORRECT", "NOT_ATTEMPTED"]},
        "",
        {
            "render": "A",
            "another-grade": None,
            "bold": "**A**",
            "verdict-line": "The two agree on every point.\n\n**Final verdict:** A",
        },
    ),
]


@pytest.mark.parametrize(("target", "config", "prompt", "made"), WITNESSES)
def test_the_verifiers_own_answers_are_made_and_judged(
    target: str, config: dict[str, Any], prompt: str, made: dict[str, str | None]
) -> None:
    """Renderings and variations pass, spoils fail; None where one does not apply [T-13]."""
    bound = bind_spec({"name": "grade", **config}, target)
    own_answers_are_made_and_judged(bound, prompt, made)


@pytest.mark.parametrize(
    ("value", "passed", "miss"),
    [
        ("CORRECT", True, None),
        ({"grade": "CORRECT"}, True, None),
        ({"grade": "MAYBE"}, None, None),
        ({"grade": ["CORRECT"]}, None, None),
        ({}, None, None),
        (True, None, None),
        ("INCORRECT", False, "graded-incorrect"),
    ],
)
def test_a_grade_from_a_field_counts_and_any_other_value_is_void(
    value: Any, passed: bool | None, miss: str | None
) -> None:
    """A value that is no grade is never a pass or a failure. [S-8]"""
    verdict = _bound().decide(Reading(value, "field"))
    assert isinstance(verdict, Verdict)
    assert (passed, [miss] if miss else []) == (verdict.passed, [m.name for m in verdict.misses])


@pytest.mark.parametrize("grade", ["not attempted", "Not-Attempted", " NOT_ATTEMPTED ", "not - attempted"])
def test_the_usual_grades_have_their_miss_in_any_spelling(grade: str) -> None:
    """Case, blanks and dashes do not make another grade. [S-8]"""
    verdict = _judge(_bound(labels={"A": "CORRECT", "C": grade}), "C")
    assert (False, ["graded-not-attempted"], grade) == (verdict.passed, [m.name for m in verdict.misses], verdict.note)


@pytest.mark.parametrize(
    ("labels", "right", "wrong"),
    [
        ({"good": "G", "fine=": "G", "bad": "P", "poor": "P"}, "good", "bad"),
        ({"fine=": "G", "good": "G", "bad=": "P", "poor": "P"}, None, None),
    ],
)
def test_the_first_label_of_a_grade_is_the_plainest(
    labels: dict[str, str], right: str | None, wrong: str | None
) -> None:
    """A label with an equals sign in it is no answer that could be read back. [S-8]"""
    bound = _bound(labels=labels, passing=["G"])
    verifier = bound.verifier
    assert verifier.render is not None
    assert (right, wrong) == (
        verifier.render("", bound.config),
        verifier.spoil["another-grade"].make("", bound.config, ""),
    )
    assert [right is None] * 2 == [make("", bound.config, "") is None for make in verifier.vary.values()]
