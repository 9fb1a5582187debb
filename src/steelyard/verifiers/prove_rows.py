"""Rows that a verifier must pass, must fail, must leave void or must survive, and the check that it does.

Every verifier has `rows/<name>.jsonl` beside it. A row is an answer (or, for a verifier that probes, evidence), a
target, settings, what must come of it, and why. Long answers are made by `before`, `repeat` and `then`.
A row is judged as a stored run is judged again: the reading goes through JSON before it is decided, its span must lie
in the answer, and every miss must be a declared one. What is left undecided is settled here, without a worker.
Not covered: probing itself, and a verifier that never returns.
Easy to break: rows are witnesses, not the judge, so no verifier may import this module: it would enter its revision.
"""

from __future__ import annotations

from importlib import resources
from typing import Any, Literal

import msgspec

from steelyard.attempt import Attempt, ModelOutput, ToolCall
from steelyard.errors import InputError
from steelyard.verdict import Evidence, Reading, Undecided, Unread, Verdict
from steelyard.verifiers.contract import as_text
from steelyard.verifiers.registry import Bound, bind_spec, declared_misses

Must = Literal["pass", "fail", "void", "not-crash"]


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One row. The answer is `before`, `answer` `repeat` times, `then`; `calls` are native tool calls of the reply.

    `misses` must all be raised. A `known` row shows a fault that is not mended yet: it is listed and counted apart.
    """

    must: Must
    why: str
    before: str = ""
    answer: str = ""
    repeat: int = 1
    then: str = ""
    calls: list[ToolCall] = []
    evidence: dict[str, Any] | None = None
    target: Any = ""
    config: dict[str, Any] = {}
    misses: list[str] = []
    known: bool = False

    def __post_init__(self) -> None:
        if self.misses and self.must != "fail":
            raise InputError(f'only a "fail" row has misses, got {self.misses} on a "{self.must}" row')
        if self.repeat < 1 or not self.why.strip():
            raise InputError(f"a row says why, and repeats its answer at least once, got repeat={self.repeat}")

    @property
    def text(self) -> str:
        """The whole answer."""
        return self.before + self.answer * self.repeat + self.then


class Outcome(msgspec.Struct, frozen=True):
    """What judging a row gave; `found` is None for a verifier that probes."""

    verdict: Verdict
    found: Reading | Unread | None = None


class Fault(msgspec.Struct, frozen=True):
    """A row that a verifier does not meet: its place (`rows/number.jsonl:7`), what went wrong, and the row's why."""

    place: str
    reason: str
    why: str


class RowsReport(msgspec.Struct, frozen=True):
    """How many rows of each sort a verifier has, and those that it does not meet; known faults are in no count."""

    name: str
    counts: dict[str, int]
    faults: list[Fault]
    known: list[Fault]


def rows_of(name: str) -> list[Row]:
    """The rows of a verifier, one a line; InputError with the place of a line that is none, or where there is none."""
    file = resources.files("steelyard.verifiers").joinpath("rows", f"{name}.jsonl")
    if not file.is_file():
        raise InputError(f'verifier "{name}" has no rows: write src/steelyard/verifiers/rows/{name}.jsonl')
    found = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        try:
            found.append(msgspec.json.decode(line, type=Row))
        except msgspec.MsgspecError as error:
            raise InputError(f"{place(name, number)}: {error}") from error
    return found


def place(name: str, number: int) -> str:
    """Where a row stands."""
    return f"rows/{name}.jsonl:{number}"


def judge_row(name: str, row: Row) -> Outcome:
    """Read and decide one row as a stored attempt is judged again; raises what the verifier raises."""
    bound = bind_spec({"name": name, **row.config}, as_text(row.target))
    if row.evidence is not None:
        return Outcome(_decided(bound, Evidence(row.evidence)))
    if bound.probes:
        raise InputError(f'verifier "{name}" looks at evidence: the row needs "evidence"')
    outputs = [ModelOutput("", tool_calls=row.calls)] if row.calls else []
    found = bound.read(Attempt(answer=row.text, outputs=outputs))
    if isinstance(found, Unread):
        return Outcome(_decided(bound, found), found)
    if found.span and not 0 <= found.span[0] <= found.span[1] <= len(row.text):
        raise InputError(f"the reading's span {found.span} is outside the answer of {len(row.text)} characters")
    stored = msgspec.json.decode(msgspec.json.encode(found), type=Reading)
    return Outcome(_decided(bound, stored), stored)


def _decided(bound: Bound, found: Reading | Unread | Evidence) -> Verdict:
    verdict = bound.decide(found)
    if isinstance(verdict, Undecided):
        if isinstance(found, Unread):
            raise InputError(f"undecided about an answer that was not read: {verdict.reason}")
        verdict = bound.settle(found)
    undeclared = {miss.name for miss in verdict.misses} - declared_misses(bound)
    if undeclared:
        raise InputError(f"misses that nothing declares: {', '.join(sorted(undeclared))}")
    return verdict


def fault_of(name: str, row: Row) -> str:
    """What is wrong with a verifier's verdict on a row; empty where the row is met."""
    try:
        verdict = judge_row(name, row).verdict
    except Exception as error:  # noqa: BLE001 - a crash is what the row is there to find; it is reported
        return f"{type(error).__name__}: {error}"[:300]
    given = {True: "pass", False: "fail", None: "void"}[verdict.passed]
    raised = {miss.name for miss in verdict.misses}
    if row.must not in ("not-crash", given):
        said = "; ".join(f"{miss.name}: {miss.detail}" for miss in verdict.misses) or verdict.note
        return f"must {row.must}, got {given} {said}"[:300].rstrip()
    lacking = [miss for miss in row.misses if miss not in raised]
    return f"expected the misses {', '.join(lacking)}, got {', '.join(sorted(raised))}" if lacking else ""


def prove_rows(name: str) -> RowsReport:
    """Judge every row of one verifier."""
    report = RowsReport(name, dict.fromkeys(("pass", "fail", "void", "not-crash"), 0), [], [])
    for number, row in enumerate(rows_of(name), 1):
        reason = fault_of(name, row)
        if row.known:
            report.known.append(Fault(place(name, number), reason or "met by now: drop its known", row.why))
            continue
        report.counts[row.must] += 1
        if reason:
            report.faults.append(Fault(place(name, number), reason, row.why))
    return report
