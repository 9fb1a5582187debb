"""Every verifier meets the rows that it ships; a verifier without enough of them is no verifier."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from steelyard.cli import main
from steelyard.errors import InputError
from steelyard.verifiers import prove_rows as module
from steelyard.verifiers.prove_rows import Row, fault_of, place, prove_rows, rows_of
from steelyard.verifiers.registry import MODULES, find

PROBING = {name for name in MODULES if find(name).probe}
ROWS_OF = {name: rows_of(name) for name in sorted(MODULES)}
ROWS = [
    pytest.param(name, row, id=place(name, number))
    for name, rows in ROWS_OF.items()
    for number, row in enumerate(rows, 1)
    if not row.known
]
WRONG = {"must": "pass", "answer": "Lyon", "target": "Paris", "why": "no, it is not"}


@pytest.mark.parametrize(("name", "row"), ROWS)
def test_a_verifier_meets_its_row(name: str, row: Row) -> None:
    """The verdict is the one that the row demands, with its misses. [T-13]"""
    assert "" == fault_of(name, row)


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_verifier_has_rows_of_every_sort(name: str) -> None:
    """Twelve to pass, twelve to fail and six to survive; four, four and two for a verifier that probes. [T-13]"""
    least = {"pass": 4, "fail": 4, "not-crash": 2} if name in PROBING else {"pass": 12, "fail": 12, "not-crash": 6}
    counts = Counter(row.must for row in ROWS_OF[name] if not row.known)
    assert {} == {must: counts[must] for must, n in least.items() if counts[must] < n}


@pytest.mark.parametrize("name", sorted(MODULES))
def test_no_row_stands_twice(name: str) -> None:
    """Two rows with the same answer, target and settings would demand the same thing, or contradict each other."""
    keys = [
        msgspec.json.encode(msgspec.structs.replace(row, why="-", must="not-crash", misses=[])) for row in ROWS_OF[name]
    ]
    assert [] == [key for key, n in Counter(keys).items() if n > 1]


@pytest.mark.parametrize("name", sorted(MODULES))
def test_the_rows_raise_every_miss_that_a_verifier_declares(name: str) -> None:
    """A miss that no row raises is not shown to exist."""
    shown = {miss for row in ROWS_OF[name] for miss in row.misses}
    assert set() == set(find(name).misses) - shown


def test_rows_are_witnesses_and_never_in_a_revision() -> None:
    """No module that a verifier reaches reads the rows, so a new row changes no revision."""
    folder = Path(module.__file__).parent
    sources = [*folder.glob("*.py"), *(folder.parent / "parsing").rglob("*.py")]
    assert [] == [p.name for p in sources if p != Path(module.__file__) and "prove_rows" in p.read_text("utf-8")]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, "must pass, got fail"),
        ({"must": "fail", "misses": ["no-answer"]}, "expected the misses no-answer, got differs"),
        ({"must": "void"}, "must void, got fail"),
        ({"must": "not-crash", "config": {"fold": "maybe"}}, 'InputError: verifier "exact"'),
        ({"must": "fail", "target": ""}, "InputError: expected a target with visible text"),
    ],
)
def test_a_row_that_is_not_met_says_how(change: dict[str, object], reason: str) -> None:
    """Another verdict, a miss that was not raised and a crash are faults, each with its words."""
    fault = fault_of("exact", msgspec.convert({**WRONG, **change}, Row))
    assert reason == fault[: len(reason)]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"misses": ["differs"]}, 'only a "fail" row has misses'),
        ({"repeat": 0}, "repeats its answer at least once"),
        ({"why": " "}, "a row says why"),
        ({"verdict": "pass"}, "unknown field `verdict`"),
    ],
)
def test_a_line_that_is_no_row_is_refused(wrong: dict[str, object], said: str) -> None:
    """Misses without a failure, no reason, nothing repeated and unknown keys are an author's slips."""
    with pytest.raises((InputError, msgspec.ValidationError), match=said):
        msgspec.json.decode(json.dumps({**WRONG, **wrong}), type=Row)


def _give_rows(monkeypatch: pytest.MonkeyPatch, rows: list[dict[str, object]]) -> None:
    given = [msgspec.convert(row, Row) for row in rows]
    monkeypatch.setattr(module, "rows_of", lambda _name: given)


def test_a_known_fault_is_listed_and_counted_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """It fails no proof, and one that is mended asks to be dropped from the list."""
    right = {**WRONG, "answer": "Paris", "known": True}
    _give_rows(monkeypatch, [{**WRONG, "known": True}, right])
    report = prove_rows("exact")
    assert (0, [], ["rows/exact.jsonl:1", "rows/exact.jsonl:2"]) == (
        sum(report.counts.values()),
        report.faults,
        [fault.place for fault in report.known],
    )
    assert "met by now: drop its known" == report.known[1].reason


def test_the_command_prints_a_line_a_verifier_and_exits_0(capsys: pytest.CaptureFixture[str]) -> None:
    """`steelyard verifiers token --prove` counts the rows by what must come of them. [T-13]"""
    assert 0 == main(["verifiers", "token", "--prove"])
    counts = Counter(row.must for row in ROWS_OF["token"])
    line = f"token: {counts['pass']} pass, {counts['fail']} fail, {counts['not-crash']} not-crash\n"
    assert line == capsys.readouterr().out


def test_the_command_exits_1_and_names_the_row_that_is_not_met(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The place, what came instead, and why the row is there. [T-13]"""
    _give_rows(monkeypatch, [WRONG])
    assert 1 == main(["verifiers", "exact", "--prove"])
    assert (
        "exact: 1 pass; 1 not met\n    not met  rows/exact.jsonl:1  must pass, got fail differs: expected 'Paris', "
        "got 'Lyon' (no, it is not)\n"
    ) == capsys.readouterr().out


def test_the_command_prints_all_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """With --json every verifier has its counts, faults and known faults. [T-13]"""
    assert 0 == main(["verifiers", "--prove", "--json"])
    printed = json.loads(capsys.readouterr().out)["verifiers"]
    assert [(name, []) for name in sorted(MODULES)] == [(report["name"], report["faults"]) for report in printed]


def test_an_unknown_verifier_is_named_with_the_nearest_one(capsys: pytest.CaptureFixture[str]) -> None:
    """The tool could not: exit 2."""
    assert 2 == main(["verifiers", "nubmer", "--prove"])
    assert 'did you mean "number"?' in capsys.readouterr().err
