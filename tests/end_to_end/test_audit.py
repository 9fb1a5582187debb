"""`steelyard audit` through the real command line: cases with labels, and a run's verdicts labelled on stdin."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

Cli = Callable[..., "CompletedProcess[str]"]
PAGE = Path(__file__).parents[2] / "docs" / "audit.md"
RIGHT = {"id": "r", "response": "It is 12.", "target": "12", "verifier": "number", "expected": True}


def _write(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    return found[1]


def _without_times(text: str) -> list[str]:
    """Lines with folded white space and without the last two columns of the table."""
    lines = [" ".join(line.split()) for line in text.strip().splitlines()]
    return [re.sub(r"(?<= \d) \d+\.\d{3} (\d+\.\d\d|-)$", "", line) for line in lines]


def test_the_example_of_the_page_runs_as_shown(cli: Cli, tmp_path: Path) -> None:
    """The log of docs/audit.md gives the output of docs/audit.md. [T-13]"""
    (tmp_path / "log.jsonl").write_text(_block("jsonl"), encoding="utf-8")
    command, _, output = _block("console").partition("\n")
    done = cli(*command.split()[2:], code=1)
    assert _without_times(output) == _without_times(done.stdout)


def test_the_csv_of_the_page_is_right(cli: Cli, tmp_path: Path) -> None:
    """Exit 0 when nothing is wrong."""
    (tmp_path / "log.csv").write_text(_block("csv"), encoding="utf-8")
    assert "0 of 2 cases wrong; 2 have a label" in cli("audit", "log.csv").stdout


def test_json_has_exactly_the_documented_shape(cli: Cli, tmp_path: Path) -> None:
    """One row for every case, unlabelled and unreadable ones too. [S-8]"""
    rows = [RIGHT, {**RIGHT, "id": "w", "response": "It is 13. \ud800"}, {**RIGHT, "id": "u", "expected": None}]
    _write(tmp_path / "c.jsonl", *rows, {"id": "c", "kind": "code", "response": "x", "target": {}, "expected": False})
    found = json.loads(cli("audit", "c.jsonl", "--json", code=1).stdout)
    assert {"kinds", "rows"} == set(found)
    assert ["number", "code"] == list(found["kinds"])
    counts = {name: count for name, count in found["kinds"]["number"].items() if name != "slowest_s"}
    assert {"n": 3, "false_negatives": 1, "false_positives": 0, "voids": 0, "exceptions": 0} == counts
    keys = ["id", "kind", "verdict", "grade", "prediction", "rule", "reason", "seconds", "exception"]
    assert [keys] * 4 == [list(row) for row in found["rows"]]
    assert [("r", "pass"), ("w", "fail"), ("u", "pass"), ("c", "void")] == [
        (row["id"], row["verdict"]) for row in found["rows"]
    ]
    assert "mode" in found["rows"][3]["reason"]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([RIGHT, {**RIGHT, "verifier": "nubmer"}], 'c.jsonl:2: unknown verifier "nubmer"; did you mean "number"?'),
        ([RIGHT, {"response": "a"}], 'c.jsonl:2: missing field "target"'),
        ([], "c.jsonl: no cases in this file"),
    ],
)
def test_bad_cases_are_one_line_and_exit_2(cli: Cli, tmp_path: Path, rows: list[Any], words: str) -> None:
    """The place, what was found and what is near. [T-8]"""
    _write(tmp_path / "c.jsonl", *rows)
    done = cli("audit", "c.jsonl", code=2)
    assert [f"steelyard: {words}"] == [line[: len(words) + 11] for line in done.stderr.splitlines()]


def test_options_of_the_other_form_are_refused(cli: Cli, tmp_path: Path) -> None:
    """A sample needs a run folder."""
    _write(tmp_path / "c.jsonl", RIGHT)
    assert "--sample is for a run folder" in cli("audit", "c.jsonl", "--sample", 5, code=2).stderr
    (tmp_path / "folder").mkdir()
    assert "not a run folder" in cli("audit", "folder", code=2).stderr
    assert "--sample must be at least 1" in cli("audit", "folder", "--sample", 0, code=2).stderr


def _item(number: int, target: str | None = None) -> dict[str, Any]:
    verifier = {"name": "number" if number < 8 else "token"}
    return {
        "id": f"q{number}",
        "input": f"Question nr {number}: how many?",
        "target": target or str(number + 10),
        "verifier": verifier,
    }


@pytest.fixture
def run(cli: Cli, tmp_path: Path) -> Path:
    """A judged run of twelve items: q0, q3, q6 and q9 are answered by 99, so failed."""
    _write(tmp_path / "s.jsonl", *map(_item, range(12)))
    replies = [{"contains": f"nr {i}:", "reply": f"\x1b[1mThe answer is {i + 10 if i % 3 else 99}."} for i in range(12)]
    _write(tmp_path / "r.jsonl", *replies)
    cli("prove", "s.jsonl")
    cli("run", "s.jsonl", "--model", "scripted:r.jsonl", "--out", "run")
    return tmp_path / "run"


def _labels(run: Path) -> list[tuple[str, str, str]]:
    lines = (run / "audit.jsonl").read_text(encoding="utf-8").splitlines()
    return [(label["item"], label["verdict"], label["label"]) for label in map(json.loads, lines)]


def test_a_person_labels_a_sample_quits_and_goes_on(cli: Cli, run: Path) -> None:
    """Labels are kept as given, nothing is asked twice, and the rates come from all of them. [T-13]"""
    first = cli("audit", "run", "--sample", 12, input="r\nmaybe\nright\ns\nq\n")
    assert 'expected r, w, s or q, got "maybe"' in first.stdout
    assert "1 of 12: " in first.stdout
    assert "\x1b" not in first.stdout
    assert "2 of 12 verdicts labelled, 1 skipped" in first.stdout
    before = _labels(run)
    assert ["right", "right", "skip"] == [label for _, _, label in before]
    second = cli("audit", "run", "--sample", 12, input="r\n" * 9)
    assert "1 of 9: " in second.stdout
    assert before == _labels(run)[:3]
    assert 12 == len({item for item, _, _ in _labels(run)})
    assert "11 of 12 verdicts labelled, 1 skipped" in second.stdout
    assert "1 of" not in cli("audit", "run", "--sample", 12, input="").stdout.split("verdict ")[0]


def test_a_card_shows_prompt_answer_reading_and_misses(cli: Cli, run: Path) -> None:
    """All that a person needs, and the answer cannot steer the terminal."""
    shown = cli("audit", "run", "--sample", 12, input="s\n" * 12).stdout
    card = next(part for part in shown.split("=" * 72) if ": q6 [0]" in part)
    assert "--- prompt\nQuestion nr 6: how many?" in card
    assert "--- answer\n\\x1b[1mThe answer is 99." in card
    assert "--- target\n16" in card
    assert re.search(r"--- reading\n99\n\(by \S+ at \d+\.\.\d+\)", card)
    assert "--- verdict\nFAILED\n  wrong-value: 99 is not within" in card


def test_the_rates_are_those_of_the_labels(cli: Cli, run: Path) -> None:
    """All twelve labelled: q1 passed wrongly, so 1 of 8 passed and 0 of 4 failed verdicts are wrong."""
    labels = "own.jsonl"
    cli("audit", "run", "--sample", 12, "--labels", labels, input="r\n" * 12)
    path = run.parent / labels
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    _write(path, *[{**line, "label": "wrong" if line["item"] == "q1" else "right"} for line in lines])
    done = cli("audit", "run", "--sample", 12, "--labels", labels, "--json", input="")
    found = json.loads(done.stdout)
    assert (0.125, 8) == (found["wrong_among"]["passed"]["rate"], found["wrong_among"]["passed"]["n"])
    assert 0.0 == found["wrong_among"]["failed"]["rate"]
    assert (0.0, 0.2) == (found["false_negative_rate"]["rate"], found["false_positive_rate"]["rate"])
    assert {"failed", "passed"} == {stratum["verdict"] for stratum in found["strata"]}
    assert not (run / "audit.jsonl").exists()


def test_labels_outlive_a_change_of_the_judge(cli: Cli, run: Path, tmp_path: Path) -> None:
    """With 99 as its target q6 flips to passed: "failed is wrong" then says "passed is right". [O-18]"""
    cli("audit", "run", "--sample", 12, input="w\n" * 12)
    _write(tmp_path / "v2.jsonl", *[_item(i, "99" if i == 6 else None) for i in range(12)])
    cli("judge", "run", "--suite", "v2.jsonl")
    done = cli("audit", "run", "--sample", 12, "--suite", "v2.jsonl", "--json", input="")
    counts = {(s["verdict"], s["of"]): (s["labelled"], s["wrong"]) for s in json.loads(done.stdout)["strata"]}
    failed = {("failed", "number"): (2, 2), ("failed", "token"): (1, 1)}
    assert {**failed, ("passed", "number"): (6, 5), ("passed", "token"): (3, 3)} == counts


def test_labels_of_another_run_and_broken_ones_are_refused(cli: Cli, run: Path) -> None:
    """A label belongs to the attempt that it was given for."""
    cli("audit", "run", "--sample", 12, input="r\n")
    (label,) = [json.loads(line) for line in (run / "audit.jsonl").read_text().splitlines()]
    other = _write(run.parent / "other.jsonl", {**label, "attempt": "0" * 64})
    refused = cli("audit", "run", "--sample", 12, "--labels", other, code=2)
    assert "other.jsonl:1: " in refused.stderr
    assert "was labelled in another run; choose another --labels" in refused.stderr
    broken = _write(run.parent / "broken.jsonl", {"item": "q1"})
    assert "broken.jsonl:1: not a label" in cli("audit", "run", "--sample", 12, "--labels", broken, code=2).stderr


@pytest.mark.shared
def test_the_shared_cases_are_judged_without_an_exception(cli: Cli, tmp_path: Path, shared: Path) -> None:
    """The kinds of plain answers have no false negative, no false positive and no exception. [T-13]"""
    kept = [
        line
        for line in (shared / "cases" / "open.jsonl").read_text(encoding="utf-8").splitlines()
        if json.loads(line)["kind"]
        in ("exact", "numeric", "mcq", "answer-token", "negation", "json-fields", "tool-call")
    ]
    (tmp_path / "c.jsonl").write_text("\n".join(kept), encoding="utf-8")
    found = json.loads(cli("audit", "c.jsonl", "--json").stdout)
    assert [] == [row["id"] for row in found["rows"] if row["exception"] or row["seconds"] > 2]
    assert {(0, 0)} == {(k["false_negatives"], k["false_positives"]) for k in found["kinds"].values()}
