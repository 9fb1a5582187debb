"""Reading cases: kind rows, plain rows, CSV, and what is said of a file that is none of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from steelyard.audit.cases import Case, GradeLabel, read_cases, verifier_of
from steelyard.errors import FormatError, InputError
from steelyard.verifiers.registry import Bound, bind_spec

PLAIN = {"response": "It is 12.", "target": "12", "verifier": "number"}


def _file(folder: Path, *rows: Any, name: str = "c.jsonl") -> Path:
    path = folder / name
    text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    path.write_bytes(text.encode())
    return path


def _bind(case: Case) -> Bound:
    return bind_spec(*verifier_of(case))


def _one(folder: Path, row: dict[str, Any]) -> Case:
    (case,) = read_cases(_file(folder, row))
    return case


@pytest.mark.parametrize(
    ("kind", "target", "more", "verifier", "bound_target", "config"),
    [
        ("exact", "Paris", {}, "exact", "Paris", {}),
        (
            "numeric",
            "12.5",
            {"unit": "km", "tol_rel": 0.01, "tol_abs": 0.5},
            "number",
            "12.5",
            {"unit": "km", "rtol": 0.01, "atol": 0.5},
        ),
        ("numeric", 7, {"unit": None}, "number", "7", {"unit": None, "rtol": 0.0, "atol": 0.0}),
        ("mcq", "b", {"choices": "ABC"}, "choice", "b", {"choices": ["A", "B", "C"]}),
        ("mcq", "B", {"choices": 2}, "choice", "B", {"choices": ["A", "B"]}),
        ("mcq", "C", {"choices": ["A", "C"]}, "choice", "C", {"choices": ["A", "B", "C"]}),
        ("mcq", "B", {"choices": 2, "options": ["red", "blue"]}, "choice", "B", {"choices": ["red", "blue"]}),
        ("mcq", "B", {"options": {"A": "red", "B": "blue"}}, "choice", "B", {"choices": ["red", "blue"]}),
        ("answer-token", "12", {}, "token", "12", {}),
        ("negation", "open", {}, "states", "open", {"phrase": "", "polarity": "asserted"}),
        ("json-fields", {"b": 1, "a": None}, {}, "fields", '{"a":null,"b":1}', {}),
        ("tool-call", {"format": "hermes", "calls": []}, {}, "toolcalls", "[]", {"unordered": False}),
        ("tool-call", {"calls": []}, {"unordered": True}, "toolcalls", "[]", {"unordered": True}),
    ],
)
def test_a_kind_row_is_bound_to_the_verifier_of_its_kind(
    tmp_path: Path,
    kind: str,
    target: Any,
    more: dict[str, Any],
    verifier: str,
    bound_target: str,
    config: dict[str, Any],
) -> None:
    """Kind, target and settings become a verifier, its target text and its config. [T-13]"""
    row = {"id": "x", "kind": kind, "response": "r", "target": target, "expected": True, **more}
    bound = _bind(_one(tmp_path, row))
    assert (verifier, bound_target) == (bound.verifier.name, bound.target)
    assert config == {name: getattr(bound.config, name) for name in config}


@pytest.mark.parametrize(
    ("kind", "target", "more", "words"),
    [
        ("mcq", "F", {"choices": "ABCD"}, "expected a target among the choices A, B, C, D"),
        ("mcq", "A", {}, "expected choices as a count or letters"),
        ("mcq", "A", {"choices": "A1"}, "expected choices from A to Z"),
        ("numeric", "many", {}, "the target must be a number"),
        ("tool-call", "read", {}, 'expected a target {"calls": [...]}'),
        ("judge-reply", {}, {}, 'expected a target {"labels": {...}}'),
        ("ifeval", "no commas", {}, 'expected a target {"instruction_id"'),
    ],
)
def test_a_kind_row_may_be_refused_when_it_is_bound(
    tmp_path: Path, kind: str, target: Any, more: dict[str, Any], words: str
) -> None:
    """Reading such a row is fine: refusing it is an answer."""
    case = _one(tmp_path, {"id": "x", "kind": kind, "response": "r", "target": target, **more})
    with pytest.raises(InputError, match="^" + words.replace("[", r"\[").replace("{", r"\{").split("...")[0]):
        _bind(case)


def test_limits_in_the_target_of_a_code_row_are_settings_of_its_verifier(tmp_path: Path) -> None:
    """A row holds `timeout_s` and `float_tol` beside its cases; the verifier's target holds cases alone."""
    cases = [{"stdin": "1", "stdout": "1"}]
    target = {"mode": "stdin", "cases": cases, "timeout_s": 3, "float_tol": 1e-6}
    case = _one(tmp_path, {"id": "x", "kind": "code", "response": "r", "target": target, "expected": True})
    spec, text = verifier_of(case)
    assert {"name": "code", "timeout_s": 3, "float_tol": 1e-6} == spec
    assert {"mode": "stdin", "cases": cases} == json.loads(text)


def test_the_labels_of_a_kind_row_are_kept_apart(tmp_path: Path) -> None:
    """A grader's reply has a grade as its label; a missing label is none. [S-8]"""
    reply = {"kind": "judge-reply", "response": "A", "target": {"labels": {"A": "CORRECT"}}, "expected": None}
    graded = _one(tmp_path, {**reply, "expected_grade": None, "never": "CORRECT", "policy_dependent": True})
    assert (GradeLabel(None, ("CORRECT",)), None, True) == (graded.grade, graded.expected, graded.policy)
    assert None is _one(tmp_path, reply).grade
    plain = _one(tmp_path, {"kind": "exact", "response": "A", "target": "A"})
    assert ("1", None) == (plain.id, plain.expected)


@pytest.mark.parametrize(
    ("value", "label"),
    [
        (True, True),
        ("true", True),
        ("PASS", True),
        (1, True),
        ("1", True),
        (False, False),
        ("False", False),
        ("fail", False),
        (0, False),
        ("0", False),
        ("", None),
        (None, None),
    ],
)
def test_a_plain_row_takes_the_labels_that_logs_hold(tmp_path: Path, value: Any, label: bool | None) -> None:
    """true, false, pass, fail, 1, 0 or nothing, in any case."""
    assert label is _one(tmp_path, {**PLAIN, "expected": value}).expected


def test_a_plain_row_names_its_verifier_or_gives_a_spec(tmp_path: Path) -> None:
    """The kind is the verifier's name; other keys of a log are ignored."""
    named = _one(tmp_path, {**PLAIN, "kind": "chat", "model": "m", "id": 7})
    assert ("7", "number", {"name": "number"}) == (named.id, named.kind, named.spec)
    spec = {"name": "number", "atol": 1}
    given = _one(tmp_path, {**PLAIN, "verifier": spec})
    assert ("number", spec) == (given.kind, given.spec)


def test_csv_holds_plain_rows(tmp_path: Path) -> None:
    """BOM, line breaks in cells, a spec as JSON and long cells are read; ids default to the row's line."""
    path = tmp_path / "c.CSV"
    long = "x" * 200_000
    path.write_bytes(
        b"\xef\xbb\xbfresponse,target,verifier,expected,model\r\n"
        b'"It is\r\n12.",12,number,pass,m\r\n'
        b'"1,024 km",1024,"{""name"": ""number"", ""unit"": ""km""}",0,m\r\n' + f"{long},x,exact,,m\r\n".encode()
    )
    cases = list(read_cases(path))
    assert [("2", "It is\r\n12.", True), ("4", "1,024 km", False), ("5", long, None)] == [
        (c.id, c.response, c.expected) for c in cases
    ]
    assert {"name": "number", "unit": "km"} == cases[1].spec


def test_a_byte_order_mark_and_blank_lines_are_no_fault_of_jsonl(tmp_path: Path) -> None:
    """Lines keep their numbers."""
    path = tmp_path / "c.jsonl"
    path.write_bytes(b"\xef\xbb\xbf\n" + json.dumps(PLAIN).encode() + b"\r\n\n" + json.dumps(PLAIN).encode())
    assert ["2", "4"] == [case.id for case in read_cases(path)]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("c.jsonl", "", "c.jsonl: no cases in this file"),
        ("c.jsonl", '{"kind": "exact"', "c.jsonl:1: broken JSON"),
        ("c.jsonl", "[1]", "c.jsonl:1: expected a JSON object, got list"),
        ("c.jsonl", '{"response": "a", "target": "b"}', 'c.jsonl:1: missing field "verifier"'),
        ("c.jsonl", '{"kind": "exat", "response": "a", "target": "b"}', 'c.jsonl:1: unknown kind "exat"; did you mean'),
        ("c.jsonl", '{"kind": "exact", "response": "a"}', 'c.jsonl:1: missing field "target"'),
        ("c.jsonl", '{"kind": "exact", "response": null, "target": "b"}', "c.jsonl:1: response must be text, got None"),
        (
            "c.jsonl",
            '{"kind": "exact", "response": "a", "target": "b", "expected": "yes"}',
            "c.jsonl:1: expected must be true, false or null",
        ),
        (
            "c.jsonl",
            '{"kind": "judge-reply", "response": "a", "target": {}, "expected_grade": 1}',
            "c.jsonl:1: expected_grade must be a grade or null",
        ),
        (
            "c.jsonl",
            '{"response": "a", "target": "b", "verifier": "exact", "expected": "maybe"}',
            "c.jsonl:1: expected must be true, false, pass, fail, 1, 0 or empty, got 'maybe'",
        ),
        ("c.jsonl", '{"response": "a", "target": "b", "verifier": {"nam": 1}}', "c.jsonl:1: expected a verifier"),
        ("c.csv", "", "c.csv: no cases in this file"),
        ("c.csv", "response,target,verifer\na,b,exact\n", 'c.csv:1: no column "verifier"; did you mean "verifer"?'),
        ("c.csv", "response,target,verifier\na,b,exact,more\n", "c.csv:2: expected 3 cells"),
        ("c.csv", "response,target,verifier\na,b\n", "c.csv:2: expected 3 cells"),
        ("c.csv", 'response,target,verifier\n"a\nb",b,exact\nx,y,{"name"}\n', "c.csv:4: verifier: broken JSON"),
        ("c.csv", 'response,target,verifier\n"a"b,b,exact\n', "c.csv:2: broken CSV"),
    ],
)
def test_a_bad_file_is_named_with_its_line(tmp_path: Path, name: str, text: str, words: str) -> None:
    """File, line, what was expected and what was found. [T-8]"""
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(FormatError) as caught:
        list(read_cases(tmp_path / name))
    assert str(caught.value).startswith(f"{tmp_path}/{words}")


def test_bytes_that_are_no_text_are_named_with_their_line(tmp_path: Path) -> None:
    """A file in another encoding is told, not guessed."""
    (tmp_path / "c.csv").write_bytes(b"response,target,verifier\ncaf\xe9,caf\xe9,exact\n")
    with pytest.raises(FormatError, match=r"c.csv:2: expected UTF-8 text"):
        list(read_cases(tmp_path / "c.csv"))
