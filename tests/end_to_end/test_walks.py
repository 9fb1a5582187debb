"""Whole walks through the real command line: make, prove, run, judge, report, judge again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from steelyard.ports import Sandbox
from steelyard.store import inline
from steelyard.suite import load

Cli = Callable[..., "CompletedProcess[str]"]


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _replies(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _right_for(items: Any, wrong: frozenset[str] = frozenset()) -> list[dict[str, Any]]:
    """Scripted rows that answer every item by its target, or wrongly."""
    return [
        {"contains": item.prompt, "reply": "I cannot tell." if item.id in wrong else f"The answer is {item.target}."}
        for item in items
    ]


def test_the_orbital_walk_from_family_to_report_and_back(cli: Cli, tmp_path: Path) -> None:
    """Items, proofs, rollouts, judgements and report lie where the formats say, with honest figures. [T-7] [S-10]"""
    cli("make", "orbital-compare", "--n", 8, "--seed", "walk", "--out", "suite")
    proved = cli("prove", "suite")
    assert "8 proven of 8 items" in proved.stdout
    items = load(tmp_path / "suite").items
    wrong = frozenset(i.id for i in items[:2])
    replies = _replies(tmp_path / "replies.jsonl", _right_for(items, wrong))
    cli("run", "suite", "--model", f"scripted:{replies}", "--rollouts", 3, "--out", "run")
    report = json.loads(cli("report", "run", "--json").stdout)
    assert (0.75, 24, 18, 6) == (report["score"], report["n"], report["n_passed"], report["n_unextracted"])
    assert (0.75, 0.75) == (report["pass@k"], report["pass^k"])
    assert report["interval"]["low"] < 0.75 < report["interval"]["high"]
    assert {"proven": 8} == report["proofs"]
    assert 24 == len(_lines(tmp_path / "run" / "rollouts.jsonl"))
    (ruler,) = (tmp_path / "run" / "judgements").glob("*.jsonl")
    lines = _lines(ruler)
    assert [i.id for i in items] == [line["id"] for line in lines]
    assert {"preprocess_result", "postprocess_result", "feedback_result", "id", "revision"} == set(lines[0])
    assert "unchanged" in cli("judge", "run").stdout


def test_anomalies_name_the_real_rollout_indices(cli: Cli, tmp_path: Path) -> None:
    """Rollout 1 alone fails to be read: the rule says [1], not a sentinel. [S-12]"""
    cli("make", "orbital-compare", "--n", 1, "--out", "suite")
    cli("prove", "suite")
    (item,) = load(tmp_path / "suite").items
    rows = [
        {"contains": item.prompt, "reply": "", "seed": 1},
        {"contains": item.prompt, "reply": f"The answer is {item.target}."},
    ]
    cli("run", "suite", "--model", f"scripted:{_replies(tmp_path / 'r.jsonl', rows)}", "--rollouts", 3, "--out", "run")
    anomalies = json.loads((tmp_path / "run" / "anomalies.json").read_text())
    found = {a["rule"]: (a["item"], a["rollouts"]) for a in anomalies["found"]}
    assert {"empty_output": (item.id, [1]), "extraction_failure": (item.id, [1])} == found
    assert 16 == len(anomalies["rules_hash"])


def test_a_changed_judge_keeps_the_old_judgement_and_lists_exactly_the_flips(cli: Cli, tmp_path: Path) -> None:
    """A second version of the suite with the same questions judges the stored run. [O-18] [T-28] [G-17]"""
    item = {"id": "lamps", "input": "How many lamps?", "target": "12", "verifier": {"name": "token"}}
    other = {"id": "port", "input": "Which port?", "target": "8042", "verifier": {"name": "token"}}
    (tmp_path / "v1.jsonl").write_text(json.dumps(item) + "\n" + json.dumps(other) + "\n")
    (tmp_path / "v2.jsonl").write_text(json.dumps({**item, "target": "13"}) + "\n" + json.dumps(other) + "\n")
    rows = [{"contains": "lamps", "reply": "There are 12."}, {"contains": "port", "reply": "8042"}]
    replies = _replies(tmp_path / "r.jsonl", rows)
    cli("prove", "v1.jsonl", code=0)
    cli("run", "v1.jsonl", "--model", f"scripted:{replies}", "--out", "run")
    judged = json.loads(cli("judge", "run", "--suite", "v2.jsonl", "--json").stdout)
    assert [{"item": "lamps", "rollout": 0, "before": True, "after": False}] == judged["flips"]
    assert 2 == len(list((tmp_path / "run" / "judgements").glob("*.jsonl")))
    (tmp_path / "v3.jsonl").write_text(json.dumps({**item, "input": "How many?"}) + "\n" + json.dumps(other) + "\n")
    refused = cli("judge", "run", "--suite", "v3.jsonl", code=2)
    assert 'item "lamps" asks something else' in refused.stderr


def test_the_trail_walk_judges_field_by_field(cli: Cli, tmp_path: Path) -> None:
    """A structured answer's misses are all named at once in the record. [G-7] [G-8]"""
    cli("make", "trail", "--n", 4, "--set", 'trail.kind="fields"', "--out", "suite")
    assert "4 proven of 4 items" in cli("prove", "suite").stdout
    items = load(tmp_path / "suite").items
    answer = {"state": "flooded", "reason": "x", "unknown": ["y"], "say": "Nobody knows."}
    rows = [{"contains": i.prompt, "reply": json.dumps(answer)} for i in items[:3]]
    rows.append({"contains": items[3].prompt, "reply": "It is closed."})
    cli("run", "suite", "--model", f"scripted:{_replies(tmp_path / 'r.jsonl', rows)}", "--out", "run")
    (ruler,) = (tmp_path / "run" / "judgements").glob("*.jsonl")
    misses = [{m["name"] for m in j["feedback_result"]["rollouts"][0]["extra"]["misses"]} for j in _lines(ruler)]
    assert [{"wrong-state", "wrong-reason", "unknown-differs"}] * 3 == misses[:3]
    assert {"not-an-answer"} == misses[3]


@pytest.mark.bubblewrap
def test_the_toolshop_walk_in_a_real_sandbox_is_judged_again_without_one(
    cli: Cli, tmp_path: Path, bubblewrap: Sandbox
) -> None:
    """A planted bug is mended in session A and graded in session G; stored evidence is enough later. [O-1] [O-4]"""
    cli("make", "toolshop", "--n", 4, "--out", "suite")
    proved = cli("prove", "suite")
    suite = load(tmp_path / "suite")
    assert f"{len(suite.items)} proven of {len(suite.items)} items" in proved.stdout
    cli("prove", "suite", "--probe")
    cli("prove", "suite", "--replay")
    cli("prove", "suite", "--sandbox", "none")
    bug = next(i for i in suite.items if i.verifier["name"] == "tests")
    edit = bug.edits[0]
    base = suite.store().get(bug.files[edit.path]).decode()
    call = json.dumps({"name": "write_file", "arguments": {"path": edit.path, "content": base}})
    rows = [
        {"contains": bug.prompt, "reply": f"<tool_call>\n{call}\n</tool_call>"},
        {"reply": "I have nothing more to do: 8042."},
    ]
    cli("run", "suite", "--model", f"scripted:{_replies(tmp_path / 'r.jsonl', rows)}", "--out", "run")
    report = json.loads(cli("report", "run", "--json").stdout)
    assert 0 == report["n_void"]
    judged = {j["id"]: j for j in _judgements(tmp_path / "run")}
    assert judged[bug.id]["feedback_result"]["rollouts"][0]["correct"] is True
    before = {path.name: path.read_bytes() for path in (tmp_path / "run" / "judgements").glob("*.jsonl")}
    again = cli("judge", "run", "--sandbox", "none")
    assert "unchanged" in again.stdout
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "run" / "judgements").glob("*.jsonl")}
    assert "unchanged" in cli("judge", "run", "--probe").stdout


@pytest.mark.bubblewrap
def test_a_stricter_file_check_judges_a_stored_run_and_lists_exactly_the_flip(
    cli: Cli, tmp_path: Path, bubblewrap: Sandbox
) -> None:
    """Seed 001's second bad check: the new line is there, the old ones are lost. [O-18] [O-21]"""
    rows = ["id,name", *(f"{i},{name}" for i, name in enumerate(["Ada", "Bo", "Cy"], 1))]
    files = {"customers.csv": inline("\n".join(rows) + "\n")}
    check = {"path": "customers.csv", "pattern": "4,Dee"}
    job = {
        "id": "add",
        "input": "Add Dee as 4.",
        "files": files,
        "tools": ["write_file"],
        "metadata": {"derived": True},
    }
    v1 = {**job, "verifier": {"name": "files", "checks": [check]}}
    v2 = {**job, "verifier": {"name": "files", "checks": [{**check, "keep": rows[1:]}]}}
    (tmp_path / "v1.jsonl").write_text(json.dumps(v1) + "\n")
    (tmp_path / "v2.jsonl").write_text(json.dumps(v2) + "\n")
    call = json.dumps({"name": "write_file", "arguments": {"path": "customers.csv", "content": "id,name\n4,Dee\n"}})
    replies = [{"contains": "Add Dee", "reply": f"<tool_call>{call}</tool_call>"}, {"reply": "Done."}]
    model = f"scripted:{_replies(tmp_path / 'r.jsonl', replies)}"
    cli("run", "v1.jsonl", "--model", model, "--out", "run", "--allow-unproven")
    assert 1.0 == json.loads((tmp_path / "run" / "report.json").read_text())["score"]
    judged = json.loads(cli("judge", "run", "--suite", "v2.jsonl", "--json").stdout)
    assert [{"item": "add", "rollout": 0, "before": True, "after": False}] == judged["flips"]


def _judgements(run: Path) -> list[dict[str, Any]]:
    (ruler,) = (run / "judgements").glob("*.jsonl")
    return _lines(ruler)


def test_a_new_family_works_at_once_and_its_test_passes(cli: Cli, tmp_path: Path) -> None:
    """`steelyard new` writes a family that proves, makes and is tested."""
    import subprocess
    import sys

    cli("new", "crates")
    assert "10 proven of 10 items" in cli("prove", "./crates.py").stdout
    cli("make", "./crates.py", "--n", 5, "--out", "suite")
    cli("prove", "suite", "--family", "./crates.py")
    cli("prove", "suite")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_crates.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 passed" in done.stdout
    assert "already exists" in cli("new", "crates", code=2).stderr
