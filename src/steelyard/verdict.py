"""What judging says: readings, evidence, misses and the three-valued verdict.

`passed` is True, False or None. None is void: the judge could not say; it is never counted as wrong.
Composition: `all` fails if any fails, else is void if any is; `any` passes if any passes, else is void if any is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from steelyard.errors import InputError


class Reading(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer that was found, the rule that found it, and where: `span` is [start, end) in the answer text."""

    value: Any
    rule: str
    span: tuple[int, int] | None = None


class Unread(msgspec.Struct, frozen=True):
    """No answer could be read, and why."""

    reason: str


class Undecided(msgspec.Struct, frozen=True):
    """The fast, exact rules could not decide; the verifier's `settle` may, in a worker that can be killed."""

    reason: str


class Evidence(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a probe saw, as plain JSON; enough for `decide` to judge again without a sandbox."""

    data: dict[str, Any]
    backend: str = ""
    note: str = ""


class Miss(msgspec.Struct, frozen=True, omit_defaults=True):
    """One reason for failing: a kebab-case name from the verifier's declared list, and a detail."""

    name: str
    detail: str = ""


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """The judge's word on one attempt; `score` is in [0, 1] and never replaces `passed`."""

    passed: bool | None
    misses: list[Miss] = []
    warnings: list[str] = []
    skipped: list[str] = []
    score: float | None = None
    measures: dict[str, float] = {}
    note: str = ""

    def __post_init__(self) -> None:
        if self.passed and self.misses:
            raise InputError(f"a passed verdict cannot have misses: {[m.name for m in self.misses]}")


PASSED = Verdict(True)


def failed(name: str, detail: str = "") -> Verdict:
    """A failure with one miss."""
    return Verdict(False, [Miss(name, detail)])


def void(note: str) -> Verdict:
    """No verdict, and why."""
    return Verdict(None, note=note)


def all_of(verdicts: Sequence[Verdict]) -> Verdict:
    """Fails if any fails, else void if any is void; all skipped or nothing at all is void."""
    if not verdicts:
        return void("nothing was checked")
    if any(v.passed is False for v in verdicts):
        return _merge(False, verdicts)
    return _merge(None if any(v.passed is None for v in verdicts) else True, verdicts)


def any_of(verdicts: Sequence[Verdict]) -> Verdict:
    """Passes if any passes, else void if any is void."""
    if not verdicts:
        return void("nothing was checked")
    if any(v.passed for v in verdicts):
        return _merge(True, verdicts)
    return _merge(None if any(v.passed is None for v in verdicts) else False, verdicts)


def _merge(passed: bool | None, verdicts: Sequence[Verdict]) -> Verdict:
    return Verdict(
        passed,
        misses=[] if passed else [m for v in verdicts for m in v.misses],
        warnings=[w for v in verdicts for w in v.warnings],
        skipped=[s for v in verdicts for s in v.skipped],
        measures={name: value for v in verdicts for name, value in v.measures.items()},
        note="; ".join(v.note for v in verdicts if v.note),
    )
