"""`grade`: what a grader's reply says, read from the attempt's answer, and whether that grade passes.

Source: seed 003 (`grade` is the grader's categorical output; a judgement is mechanism-agnostic) and the grader cases
`judge-reply`. `labels` maps what the grader was told to write to the grade; `passing` are the grades that pass.
A reply that gives no grade is void with its reason: a broken grader is neither a right nor a wrong answer. The rule
and the span of the label are in the reading.
Not covered: asking the grader; this verifier judges a reply that is already there.
Easy to break: a default grade for what could not be read is a score out of nothing.
"""

from __future__ import annotations

import json
import re

import msgspec

from steelyard.attempt import Attempt
from steelyard.errors import InputError, did_you_mean
from steelyard.parsing.grades import Grade, read_grade
from steelyard.verdict import Miss, Reading, Verdict, void
from steelyard.verifiers.contract import Config, Spoil, Verifier

SIMPLEQA = {"A": "CORRECT", "B": "INCORRECT", "C": "NOT_ATTEMPTED"}
"""The labels of the SimpleQA grader, which are the default."""

_MISSES = {"INCORRECT": "graded-incorrect", "NOT_ATTEMPTED": "graded-not-attempted"}


class GradeConfig(Config, frozen=True):
    """What the grader was told to write for which grade, and the grades that pass."""

    labels: dict[str, str] = msgspec.field(default_factory=lambda: dict(SIMPLEQA))
    passing: list[str] = msgspec.field(default_factory=lambda: ["CORRECT"])


def _read(attempt: Attempt, config: GradeConfig) -> Reading:
    found = read_grade(attempt.answer, config.labels)
    if isinstance(found, Grade):
        return Reading({"grade": found.grade}, found.rule, found.span)
    return Reading({"grade": None, "reason": found}, "unparsed")


def _decide(found: Reading, _target: str, config: GradeConfig) -> Verdict:
    value = found.value if isinstance(found.value, dict) else {"grade": found.value}
    grade = value.get("grade")
    if not isinstance(grade, str) or grade not in config.labels.values():
        return void(f"no grade could be read: {value.get('reason', json.dumps(grade))}")
    if grade in config.passing:
        return Verdict(True, note=grade)
    return Verdict(False, [Miss(miss_of(grade), f"the grader gave {grade}")], note=grade)


def miss_of(grade: str) -> str:
    """The miss of a grade that does not pass."""
    return _MISSES.get(re.sub(r"[\s-]+", "_", grade.strip()).upper(), "graded-other")


def _check(_target: str, config: GradeConfig) -> None:
    grades = set(config.labels.values())
    if len(grades) < 2:
        raise InputError(f'verifier "grade" needs labels of two grades at least, got {config.labels!r}')
    if not all(text.strip() and grade.strip() for text, grade in config.labels.items()):
        raise InputError(f'verifier "grade": labels and grades must hold some text, got {config.labels!r}')
    folded = [text.strip().casefold() for text in config.labels]
    if len(set(folded)) < len(folded):
        raise InputError(f'verifier "grade": labels differ in case alone: {sorted(config.labels)}')
    for grade in config.passing:
        if grade not in grades:
            raise InputError(
                f'verifier "grade": no label gives the passing grade "{grade}"{did_you_mean(grade, grades)}'
            )


def _label(config: GradeConfig, passing: bool) -> str | None:
    found = [text for text, grade in config.labels.items() if (grade in config.passing) == passing]
    return found[0] if found and "=" not in found[0] else None


def _render(_target: str, config: GradeConfig) -> str | None:
    return _label(config, passing=True)


def _spoil_other(_target: str, config: GradeConfig, _prompt: str) -> str | None:
    return _label(config, passing=False)


def _vary_bold(_target: str, config: GradeConfig, _prompt: str) -> str | None:
    label = _label(config, passing=True)
    return f"**{label}**" if label else None


def _vary_verdict(_target: str, config: GradeConfig, _prompt: str) -> str | None:
    label = _label(config, passing=True)
    return f"The two agree on every point.\n\n**Final verdict:** {label}" if label else None


VERIFIERS: tuple[Verifier, ...] = (
    Verifier(
        name="grade",
        rules=2,
        config=GradeConfig,
        misses=("graded-incorrect", "graded-not-attempted", "graded-other"),
        read=_read,
        decide=_decide,
        check=_check,
        render=_render,
        spoil={"another-grade": Spoil(_spoil_other, ("graded-incorrect", "graded-not-attempted", "graded-other"))},
        vary={"bold": _vary_bold, "verdict-line": _vary_verdict},
    ),
)
