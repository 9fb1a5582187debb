"""Stored runs as data frames: one row a rollout, whatever the library."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

import steelyard
from steelyard.attempt import Attempt, Usage
from steelyard.errors import InputError
from steelyard.frames import COLUMNS
from steelyard.item import ask
from steelyard.ports import Sampling
from steelyard.run.journal import INLINE_BYTES, Journal, Rollout, RolloutError
from steelyard.run.judgements import judge_run
from steelyard.run.plan import Plan, build_header, write_header
from steelyard.solvers.settings import SolverSettings
from steelyard.suite import Suite, load

ITEMS = [
    {"id": "a", "input": "six times seven?", "target": "42", "verifier": {"name": "number"}, "domain": "sums"},
    {"id": "b", "input": "capital of France?", "target": "Paris", "verifier": {"name": "exact"}, "group": "geo"},
]
INSTALLED = [name for name in ("polars", "pandas", "pyarrow") if importlib.util.find_spec(name)]
FORMS = [form for form, name in (("polars", "polars"), ("pandas", "pandas"), ("arrow", "pyarrow")) if name in INSTALLED]


def _run(folder: Path) -> tuple[Path, Suite]:
    """Two items, two rollouts: right, wrong and aside in a file, an error that was made good, an error that stayed."""
    (folder / "suite.jsonl").write_text("".join(json.dumps(item) + "\n" for item in ITEMS), encoding="utf-8")
    suite, run = load(folder / "suite.jsonl"), folder / "run"
    run.mkdir()
    plan = Plan(
        suite_path=str(suite.path), suite_name=suite.name, suite_revision=suite.revision, split="dev", model="m",
        model_id="m", solver=SolverSettings(), sampling=Sampling(), rollouts=2, allow_unproven=True,
    )  # fmt: skip
    write_header(run, build_header(plan))
    journal, (a, b) = Journal(run), suite.items
    failure = RolloutError("timeout", "no reply")
    asides = "x" * INLINE_BYTES + " The answer is 41."
    for item, number, attempt, error in (
        (b, 0, None, failure),
        (a, 1, Attempt(asides, stop="length"), None),
        (a, 0, Attempt("The answer is 42.", stop="answer", usage=Usage(7, 3, 10)), None),
        (b, 0, Attempt("Paris", stop="answer"), None),
        (b, 1, None, failure),
    ):
        line: dict[str, Any] = {"item": item.id, "rollout": number, "seed": number, "ask": ask(item)}
        journal.append(Rollout(**line, attempt=attempt, error=error, started=1.5, seconds=0.25))
    journal.close()
    return run, suite


def _rows(frame: Any) -> list[dict[str, Any]]:
    """The rows of any frame as plain data, with None for what is missing."""
    if hasattr(frame, "to_pylist"):
        return list(frame.to_pylist())
    if hasattr(frame, "to_dicts"):
        return list(frame.to_dicts())
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return [{str(name): value for name, value in row.items()} for row in rows]


@pytest.mark.parametrize("form", FORMS)
def test_every_library_gets_the_same_rows(form: Any, tmp_path: Path) -> None:
    """One row a rollout in suite order, nulls where nothing is known, large attempts and later lines read. [S-10]"""
    run, suite = _run(tmp_path)
    judge_run(run, suite)
    frame = steelyard.read_run(run, as_=form)
    assert [*COLUMNS] == list(frame.column_names if form == "arrow" else frame.columns)
    rows = _rows(frame)
    names = ("item", "rollout", "correct", "error", "rule", "misses", "stop", "input_tokens", "domain", "group")
    assert [
        ("a", 0, True, None, rows[0]["rule"], [], "answer", 7, "sums", "a"),
        ("a", 1, False, None, rows[1]["rule"], rows[1]["misses"], "length", None, "sums", "a"),
        ("b", 0, True, None, rows[2]["rule"], [], "answer", None, None, "geo"),
        ("b", 1, None, "timeout", None, None, None, None, None, "geo"),
    ] == [tuple(row[name] for name in names) for row in rows]
    assert (INLINE_BYTES + 18, True, 1) == (len(rows[1]["answer"]), bool(rows[0]["rule"]), len(rows[1]["misses"]))
    assert ("Paris", None, 0.25, 1.5) == (
        rows[2]["prediction"],
        rows[3]["answer"],
        rows[0]["seconds"],
        rows[0]["started"],
    )


@pytest.mark.skipif(not FORMS, reason="no data frame library is installed")
def test_a_run_that_was_not_judged_or_lost_its_suite_still_reads(tmp_path: Path) -> None:
    """Verdicts and labels are null then; the rollouts are all there. [S-10]"""
    run, suite = _run(tmp_path)
    assert suite.path is not None
    suite.path.unlink()
    rows = _rows(steelyard.read_run(run, as_=FORMS[0]))
    assert [(None, None, None)] * 4 == [(row["correct"], row["misses"], row["group"]) for row in rows]


@pytest.mark.skipif(not FORMS, reason="no data frame library is installed")
def test_a_ruler_may_be_shortened_and_an_unknown_one_is_named(tmp_path: Path) -> None:
    """The first digits do while they are clear; else the message lists what is there. [S-10]"""
    run, suite = _run(tmp_path)
    ruler = judge_run(run, suite).ruler
    assert 4 == len(_rows(steelyard.read_run(run, as_=FORMS[0], ruler=ruler[:8])))
    with pytest.raises(InputError, match=f'no judgement under "nothing".*{ruler}'):
        steelyard.read_run(run, as_=FORMS[0], ruler="nothing")


def test_an_unknown_form_and_a_missing_library_say_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message has the nearest form, or the line that installs what is missing. [S-10]"""
    with pytest.raises(InputError, match='did you mean "polars"'):
        steelyard.read_run(tmp_path, as_="polar")  # type: ignore[arg-type]
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(InputError, match=r"pip install 'steelyard\[frames\]'"):
        steelyard.read_run(tmp_path, as_="polars")
