"""Run labelled cases through their verifiers and count what each kind gets wrong.

A case labelled right is met only by a pass; one labelled wrong by a fail, or by a void that gives its reason, which
includes refusing the item. A policy case may get either. A grader's reply is met by the grade that it was labelled
with: unread where a grade was due is a false negative, any grade that should not be given a false positive.
An exception is counted whatever the label: `judging` turns a verifier's crash into a void, and in an audit the crash is
the finding.
Not covered: a verifier that never returns (nothing here can kill it); a case's time is wall-clock time of this process.
Easy to break: counting a void on a wrong answer as a false positive, or an unlabelled case as wrong.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Literal

import msgspec

from steelyard import workers
from steelyard.attempt import Attempt
from steelyard.audit.cases import Case, verifier_of
from steelyard.errors import FormatError, InputError
from steelyard.item import Item
from steelyard.judging import CRASHED, Judged, judge
from steelyard.kit import ProbeKit
from steelyard.ports import Kit
from steelyard.sandbox.choose import open_sandbox
from steelyard.store import Store
from steelyard.verdict import Verdict, void
from steelyard.verifiers.registry import bind_spec, expand, find

Outcome = Literal["pass", "fail", "void"]
Fault = Literal["false negative", "false positive", "exception"]


class Row(msgspec.Struct, frozen=True):
    """What judging one case gave; `prediction` and `rule` are None where nothing was read."""

    id: str
    kind: str
    verdict: Outcome
    grade: str | None
    prediction: Any
    rule: str | None
    reason: str
    seconds: float
    exception: str | None


class Tally(msgspec.Struct):
    """The counts of one kind; `later_s` is the time of all cases but the first, which pays for loading the verifier."""

    n: int = 0
    labelled: int = 0
    false_negatives: int = 0
    false_positives: int = 0
    voids: int = 0
    exceptions: int = 0
    slowest_s: float = 0.0
    later_s: float = 0.0

    @property
    def seconds_per_10_000(self) -> float | None:
        """The pace after the first case; None where there is no other."""
        return 10_000 * self.later_s / (self.n - 1) if self.n > 1 else None


class Wrong(msgspec.Struct, frozen=True):
    """A case that came out wrong: its place (`path:line`), what was due, and the row."""

    place: str
    fault: Fault
    due: str
    row: Row


class Audit(msgspec.Struct, frozen=True):
    """Counts by kind in the order of first sight, a row for every case, and the wrong ones."""

    kinds: dict[str, Tally]
    rows: list[Row]
    wrong: list[Wrong]


def audit(cases: Iterable[Case]) -> Audit:
    """Judge cases one at a time; a plain row whose verifier or target is refused is a FormatError with its line."""
    with TemporaryDirectory(prefix="steelyard-audit-", ignore_cleanup_errors=True) as folder:
        return _audited(cases, ProbeKit(Store(Path(folder)), open_sandbox("auto")))


def _audited(cases: Iterable[Case], kit: ProbeKit) -> Audit:
    done = Audit({}, [], [])
    for case in cases:
        if case.kind not in done.kinds:
            _prepare(case, kit)
        row = judge_case(case, kit)
        tally = done.kinds.setdefault(case.kind, Tally())
        fault = fault_of(case, row)
        tally.n += 1
        tally.labelled += case.grade is not None or case.expected is not None
        tally.false_negatives += fault == "false negative"
        tally.false_positives += fault == "false positive"
        tally.voids += row.verdict == "void"
        tally.exceptions += row.exception is not None
        tally.slowest_s = max(tally.slowest_s, row.seconds)
        tally.later_s += row.seconds if tally.n > 1 else 0.0
        done.rows.append(row)
        if fault or row.exception is not None:
            done.wrong.append(Wrong(f"{case.path}:{case.line}", fault or "exception", _due(case), row))
    return done


def _prepare(case: Case, kit: ProbeKit) -> None:
    """Load a kind's verifier, and a worker or a sandbox where it may need one, before its first case's clock runs."""
    with suppress(InputError):  # a case that is refused is reported when it is judged
        verifier = find(expand(verifier_of(case)[0])["name"])
        if verifier.settle is not None:
            workers.warm(verifier.libraries, wait=True)
        if verifier.probe is not None:
            _ = kit.sandbox_name  # looking for one takes a moment


def judge_case(case: Case, kit: Kit | None = None) -> Row:
    """The verdict on one case, with what it was read from and how long binding and judging took."""
    start = perf_counter()
    exception: str | None = None
    try:
        judged = _judged(case, kit)
    except FormatError:
        raise
    except Exception as error:  # noqa: BLE001  # a crash is what an audit is there to find: it is reported, not hidden
        exception = f"{type(error).__name__}: {error}"
        judged = Judged(void(exception))
    seconds = perf_counter() - start
    verdict, reading = judged.verdict, judged.reading
    if verdict.note.startswith(CRASHED):
        exception = verdict.note
    prediction = reading.value if reading is not None else None
    if case.kind == "judge-reply" and isinstance(prediction, dict):
        prediction = prediction.get("grade")
    return Row(
        id=case.id,
        kind=case.kind,
        verdict="void" if verdict.passed is None else "pass" if verdict.passed else "fail",
        grade=prediction if case.kind == "judge-reply" else None,
        prediction=prediction,
        rule=reading.rule if reading is not None else None,
        reason=_reason(verdict),
        seconds=seconds,
        exception=exception,
    )


def _judged(case: Case, kit: Kit | None) -> Judged:
    try:
        spec, target = verifier_of(case)
        bound = bind_spec(spec, target)
    except InputError as error:
        if case.spec is not None:
            raise FormatError(case.path, case.line, str(error)) from error
        return Judged(void(str(error)))
    item = Item(id=case.id, input="", target=target, verifier=spec)
    return judge(item, bound, Attempt(answer=case.response), kit=kit)


def _reason(verdict: Verdict) -> str:
    if verdict.passed is None:
        return verdict.note
    return "; ".join(f"{miss.name}: {miss.detail}" if miss.detail else miss.name for miss in verdict.misses)


def fault_of(case: Case, row: Row) -> Fault | None:
    """What is wrong with a case's verdict or grade by its label; None when it is met or has no label."""
    if case.grade is not None:
        return _grade_fault(case, row)
    if case.policy or case.expected is None:
        return None
    if case.expected:
        return None if row.verdict == "pass" else "false negative"
    met = row.verdict == "fail" or (row.verdict == "void" and row.reason)
    return None if met else "false positive"


def _grade_fault(case: Case, row: Row) -> Fault | None:
    label = case.grade
    if label is None or (row.grade == label.expected and row.grade not in label.never):
        return None
    if row.grade is None:
        return None if case.policy else "false negative"
    return None if case.policy and row.grade not in label.never else "false positive"


def _due(case: Case) -> str:
    if case.grade is not None:
        return case.grade.expected or "unparsed"
    return {True: "pass", False: "fail", None: "any verdict"}[case.expected]
