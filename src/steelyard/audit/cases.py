"""Labelled grader cases from a file: a response, a target, a verifier, and whether the response is right.

Three forms. A *kind* row (`{id, kind, response, target, expected, ...}`) names what is asked of the grader, and the
table below says which verifier answers for it. A *plain* row (`{response, target, verifier, expected}`) names the
verifier itself, by name or as a spec; other keys are ignored, because logs hold more. A CSV file holds plain rows.
Every fault of a file is a FormatError with its line. A kind row whose target or settings are refused is still a case:
refusing is an answer. A plain row whose verifier or target is refused is the author's slip and an error.
Not covered: rows over several lines, compressed files.
Easy to break: `expected` missing is no label, which is not the same as false.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import msgspec

from steelyard.errors import FormatError, InputError, did_you_mean
from steelyard.parsing.json_prose import strict_json
from steelyard.plugins import find_verifier
from steelyard.suite import file_verifiers
from steelyard.verifiers import registry
from steelyard.verifiers.contract import as_text


class GradeLabel(msgspec.Struct, frozen=True):
    """The grade that must be read from a grader's reply; None must be unparsed; `never` may not be given at all."""

    expected: str | None
    never: tuple[str, ...] = ()


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One case. `settings` are the row's own keys; `spec` is a plain row's verifier, None for a kind row.

    `expected` is None without a label. Under `policy` either decision is fine.
    """

    id: str
    kind: str
    path: Path
    line: int
    response: str
    target: Any
    spec: dict[str, Any] | None = None
    settings: dict[str, Any] = {}
    expected: bool | None = None
    grade: GradeLabel | None = None
    policy: bool = False


def verifier_of(case: Case) -> tuple[dict[str, Any], str]:
    """The verifier spec and the target text that judge a case; InputError where the row's target cannot be one."""
    if case.spec is not None:
        return case.spec, as_text(case.target)
    return KINDS[case.kind](case.target, case.settings)


_Made = tuple[dict[str, Any], str]


def _plain(name: str) -> Callable[[Any, dict[str, Any]], _Made]:
    return lambda target, _settings: ({"name": name}, as_text(target))


def _numeric(target: Any, settings: dict[str, Any]) -> _Made:
    names = {"unit": "unit", "tol_rel": "rtol", "tol_abs": "atol"}
    given = {ours: settings[theirs] for theirs, ours in names.items() if settings.get(theirs) is not None}
    return {"name": "number", **given}, as_text(target)


def _mcq(target: Any, settings: dict[str, Any]) -> _Made:
    letters = _letters(settings.get("choices"), settings.get("options"))
    if as_text(target).strip().upper() not in letters:
        raise InputError(f"expected a target among the choices {', '.join(letters)}, got {target!r}")
    return {"name": "choice", "choices": _texts(letters, settings.get("options"))}, as_text(target)


def _letters(choices: Any, options: Any) -> list[str]:
    """The letters of `choices`: a count, a text of letters or a list of them; else one for each option."""
    if choices is None and isinstance(options, list | dict):
        choices = len(options) if isinstance(options, list) else list(options)
    if isinstance(choices, int) and not isinstance(choices, bool):
        choices = ascii_uppercase[: max(choices, 0)]
    if not isinstance(choices, str | list) or not choices:
        raise InputError(f"expected choices as a count or letters, got {choices!r}")
    letters = [str(letter).strip().upper() for letter in choices]
    if not all(len(letter) == 1 and letter in ascii_uppercase for letter in letters):
        raise InputError(f"expected choices from A to Z, got {choices!r}")
    return letters


def _texts(letters: list[str], options: Any) -> list[str]:
    """Option texts by letter from A on; a letter without a text stands for itself."""
    named = dict(options) if isinstance(options, dict) else dict(zip(letters, options or [], strict=False))
    return [str(named.get(letter, letter)) for letter in ascii_uppercase[: ascii_uppercase.index(max(letters)) + 1]]


def _ifeval(target: Any, _settings: dict[str, Any]) -> _Made:
    if not isinstance(target, dict) or not isinstance(target.get("instruction_id"), str):
        raise InputError(f'expected a target {{"instruction_id": ..., "kwargs": ...}}, got {target!r}')
    instruction = {"instruction_id": target["instruction_id"], "kwargs": target.get("kwargs") or {}}
    return {"name": "ifeval", "mode": "fixed"}, as_text([instruction])


def _tool_call(target: Any, settings: dict[str, Any]) -> _Made:
    if not isinstance(target, dict) or "calls" not in target:
        raise InputError(f'expected a target {{"calls": [...]}}, got {target!r}')
    unordered = bool(settings.get("unordered") or target.get("unordered"))
    return {"name": "toolcalls", **({"unordered": True} if unordered else {})}, as_text(target["calls"])


def _judge_reply(target: Any, settings: dict[str, Any]) -> _Made:
    labels = target.get("labels") if isinstance(target, dict) else None
    if not isinstance(labels, dict) or not labels:
        raise InputError(f'expected a target {{"labels": {{...}}}}, got {target!r}')
    return {"name": "grade", "labels": labels}, settings.get("expected_grade") or str(next(iter(labels.values())))


def _code(target: Any, _settings: dict[str, Any]) -> _Made:
    if not isinstance(target, dict):
        raise InputError(f'expected a target {{"mode": ..., "cases" or "tests": ...}}, got {target!r}')
    limits = {"timeout_s", "timeout_per_case_s", "all_cases", "float_tol", "numbers", "output_bytes", "prompt"}
    spec = {"name": "code", **{name: value for name, value in target.items() if name in limits and value is not None}}
    return spec, as_text({name: value for name, value in target.items() if name not in limits})


KINDS: dict[str, Callable[[Any, dict[str, Any]], _Made]] = {
    "exact": _plain("exact"),
    "numeric": _numeric,
    "math": _plain("math"),
    "mcq": _mcq,
    "answer-token": _plain("token"),
    "negation": _plain("states"),
    "ifeval": _ifeval,
    "json-fields": _plain("fields"),
    "tool-call": _tool_call,
    "code": _code,
    "judge-reply": _judge_reply,
}
"""Kind -> (row's target, row's settings) -> the verifier's spec and its target text."""


def read_cases(path: Path, *, trust: bool = False) -> Iterator[Case]:
    """The cases of a JSONL or CSV file, one at a time; with `trust`, verifiers named as `file.py:name` are loaded."""
    read = _csv_rows if path.suffix.lower() == ".csv" else _json_rows
    empty = True
    for line, row in read(path):
        empty = False
        try:
            case = _case(row, path, line)
            if trust and case.spec is not None:
                for name in file_verifiers(case.spec):
                    registry.register(name, *find_verifier(name, path.parent))
        except InputError as error:
            raise FormatError(path, line, str(error)) from error
        yield case
    if empty:
        raise FormatError(path, None, "no cases in this file; a line is {response, target, verifier, expected}")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines with their numbers and line ends; a byte order mark is dropped."""
    try:
        with path.open("rb") as data:
            for number, line in enumerate(data, 1):
                try:
                    yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    raise FormatError(path, number, f"expected UTF-8 text, got byte {error.start} of it") from error
    except OSError as error:
        raise FormatError(path, None, f"cannot be read: {error.strerror}") from error


def _json_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in _lines(path):
        if not line.strip():
            continue
        try:
            row = strict_json(line)
        except InputError as error:
            raise FormatError(path, number, f"broken JSON: {error}") from error
        if not isinstance(row, dict):
            raise FormatError(path, number, f"expected a JSON object, got {type(row).__name__}")
        yield number, row


_COLUMNS = ("response", "target", "verifier")


def _csv_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    last = 1

    def lines() -> Iterator[str]:
        nonlocal last
        for number, line in _lines(path):
            last = number
            yield line

    with _long_cells():
        reader = csv.DictReader(lines(), strict=True)
        start = 1
        try:
            missing = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
            if reader.fieldnames and missing:
                raise FormatError(path, 1, f'no column "{missing[0]}"{did_you_mean(missing[0], reader.fieldnames)}')
            for row in reader:
                start = reader.line_num - sum(str(cell).count("\n") for cell in row.values())
                if None in row or None in row.values():
                    raise FormatError(path, start, f"expected {len(reader.fieldnames or ())} cells as in the header")
                yield start, {**row, "verifier": _verifier_cell(row["verifier"])}
        except csv.Error as error:
            raise FormatError(path, last, f"broken CSV: {error}") from error
        except InputError as error:
            raise FormatError(path, start, f"verifier: broken JSON: {error}") from error


def _verifier_cell(cell: str) -> Any:
    return strict_json(cell) if cell.lstrip().startswith("{") else cell


@contextmanager
def _long_cells() -> Iterator[None]:
    """The csv module refuses cells over 128 KiB by a process-wide limit; model output may be longer."""
    before = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _case(row: dict[str, Any], path: Path, line: int) -> Case:
    return (_kind_case if "kind" in row and "verifier" not in row else _plain_case)(row, path, line)


def _plain_case(row: dict[str, Any], path: Path, line: int) -> Case:
    for name in _COLUMNS:
        if name not in row:
            raise InputError(f'missing field "{name}"; a row is {{response, target, verifier, expected}}')
    verifier = row["verifier"]
    spec = {"name": verifier.strip()} if isinstance(verifier, str) else verifier
    if not isinstance(spec, dict) or not isinstance(spec.get("name"), str) or not spec["name"]:
        raise InputError(f'expected a verifier as a name or {{"name": ...}}, got {verifier!r}')
    return Case(
        id=_id(row, line),
        kind=spec["name"],
        path=path,
        line=line,
        response=_response(row),
        target=row["target"],
        spec=spec,
        expected=_label(row.get("expected")),
    )


def _kind_case(row: dict[str, Any], path: Path, line: int) -> Case:
    kind = row["kind"]
    if not isinstance(kind, str) or kind not in KINDS:
        raise InputError(f'unknown kind "{kind}"{did_you_mean(str(kind), KINDS)}')
    if "target" not in row:
        raise InputError('missing field "target"')
    expected = row.get("expected")
    if expected is not None and not isinstance(expected, bool):
        raise InputError(f"expected must be true, false or null in a kind row, got {expected!r}")
    return Case(
        id=_id(row, line),
        kind=kind,
        path=path,
        line=line,
        response=_response(row),
        target=row["target"],
        settings=row,
        expected=None if kind == "judge-reply" else expected,
        grade=_grade(row) if kind == "judge-reply" and "expected_grade" in row else None,
        policy=bool(row.get("policy_dependent")),
    )


def _grade(row: dict[str, Any]) -> GradeLabel:
    grade, never = row["expected_grade"], row.get("never") or []
    never = [never] if isinstance(never, str) else never
    if not isinstance(grade, str | None) or not all(isinstance(name, str) for name in never):
        raise InputError(f"expected_grade must be a grade or null and never a grade, got {grade!r} and {never!r}")
    return GradeLabel(grade, tuple(never))


def _id(row: dict[str, Any], line: int) -> str:
    given = row.get("id")
    return str(line) if given is None or given == "" else str(given)


def _response(row: dict[str, Any]) -> str:
    response = row.get("response")
    if not isinstance(response, str):
        raise InputError(f"response must be text, got {response!r}; write an empty reply as an empty text")
    return response


_LABELS = {"true": True, "pass": True, "1": True, "false": False, "fail": False, "0": False, "": None}


def _label(value: Any) -> bool | None:
    """A plain row's label: true, false, pass, fail, 1, 0, or nothing."""
    name = "" if value is None else str(value).strip().lower()
    if not isinstance(value, str | bool | int | None) or name not in _LABELS:
        raise InputError(f"expected must be true, false, pass, fail, 1, 0 or empty, got {value!r}")
    return _LABELS[name]
