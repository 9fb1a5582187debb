"""Judging and reporting stored runs: nothing good is lost, nothing foreign mixed in, damage told with its place."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from steelyard.ports import Sandbox
from steelyard.store import inline

Cli = Callable[..., "CompletedProcess[str]"]
LAMPS = {"id": "lamps", "input": "How many lamps?", "target": "12", "verifier": {"name": "token"}}
PORT = {"id": "port", "input": "Which port?", "target": "8042", "verifier": {"name": "token"}}
ROWS = [{"contains": "lamps", "reply": "There are 12."}, {"contains": "port", "reply": "8042"}]
RUN = ("run", "s.jsonl", "--model", "scripted:r.jsonl", "--out", "run")


def _write(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _ran(cli: Cli, folder: Path, *more: object) -> Path:
    """A finished run of two items in `run`."""
    _write(folder / "s.jsonl", LAMPS, PORT)
    _write(folder / "r.jsonl", *ROWS)
    cli("prove", "s.jsonl")
    cli(*RUN, *more)
    return folder / "run"


def _one_line(done: CompletedProcess[str]) -> str:
    assert "Traceback" not in done.stderr
    (line,) = done.stderr.strip().splitlines()
    return line


def _judgement(run: Path) -> Path:
    (path,) = (run / "judgements").glob("*.jsonl")
    return path


@pytest.mark.bubblewrap
def test_missing_evidence_is_gathered_or_the_judgement_is_refused(
    cli: Cli, tmp_path: Path, bubblewrap: Sandbox
) -> None:
    """A lost evidence.jsonl never turns good verdicts into voids. [O-4] [O-18]"""
    test = (
        "import unittest, m\n\n\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(3, m.N)\n"
    )
    spec = {"name": "tests", "ids": ["test_m.T.test"], "hidden": {"test_m.py": inline(test)}}
    job = {"id": "add", "input": "Make it 3.", "files": {"m.py": inline("N = 2\n")}, "tools": ["write_file"]}
    _write(tmp_path / "s.jsonl", {**job, "verifier": spec})
    call = json.dumps({"name": "write_file", "arguments": {"path": "m.py", "content": "N = 3\n"}})
    reply = f"<tool_call>{call}</tool_call>"
    _write(tmp_path / "r.jsonl", {"contains": "Make it", "reply": reply}, {"reply": "Done."})
    cli(*RUN, "--allow-unproven")
    run = tmp_path / "run"
    judged = _judgement(run).read_bytes()
    assert b'"correct":true' in judged
    (run / "evidence.jsonl").unlink()
    refused = _one_line(cli("judge", "run", "--sandbox", "none", code=2))
    assert '1 rollout lacks evidence (first: "add" [0]) and gathering it needs a sandbox' in refused
    assert judged == _judgement(run).read_bytes()
    assert [] == list((run / "judgements").glob(".writing-*"))
    assert "unchanged" in cli("judge", "run").stdout
    assert judged == _judgement(run).read_bytes()
    assert "unchanged" in cli("judge", "run", "--sandbox", "none").stdout


def test_a_journal_that_grew_or_shrank_says_nothing_of_a_verifier(cli: Cli, tmp_path: Path) -> None:
    """Only rollouts that both judgements hold are compared; a torn line is told. [O-18]"""
    run = _ran(cli, tmp_path)
    more = cli(*RUN, "--rollouts", 3, "--resume")
    assert "NOT DETERMINISTIC" not in more.stdout + more.stderr
    journal = run / "rollouts.jsonl"
    journal.write_bytes(journal.read_bytes()[:-9])
    done = cli("judge", "run")
    assert "unchanged" in done.stdout
    assert "bytes was dropped from the journal" in done.stderr
    report = json.loads((run / "report.json").read_text())
    assert (5, 6) == (report["n_rollouts_finished"], report["n_rollouts_wanted"])


def test_another_verdict_under_the_same_ruler_is_told_by_judge_and_by_run(cli: Cli, tmp_path: Path) -> None:
    """A verifier that depends on more than its input is named as that. [O-18]"""
    path = _judgement(_ran(cli, tmp_path))
    line = path.read_text()
    other = line.replace('"correct":true', '"correct":false', 1).replace('"n_correct":1', '"n_correct":0', 1)
    path.write_text(other)
    judged = cli("judge", "run", code=1)
    assert "lamps [0]  failed -> passed" in judged.stdout
    assert "NOT DETERMINISTIC" in judged.stdout
    assert line == path.read_text()
    path.write_text(other)
    assert "NOT DETERMINISTIC" in cli(*RUN, "--resume").stderr


@pytest.mark.parametrize("damage", ["line", "counts", "current"])
def test_a_damaged_judgement_is_told_by_report_and_written_again_by_judge(
    cli: Cli, tmp_path: Path, damage: str
) -> None:
    """The place, the next step, and flips that are unknown are said to be. [O-18]"""
    run = _ran(cli, tmp_path)
    judgement, current = _judgement(run), run / "judgements" / "current.json"
    before = (judgement.read_bytes(), current.read_bytes())
    if damage == "line":
        judgement.write_bytes(before[0][:-30] + b"\n")
    elif damage == "counts":
        judgement.write_bytes(before[0].replace(b'"n_rollouts":1', b'"n_rollouts":7', 1))
    else:
        current.write_text("[]")
    place = {"line": f"{judgement.name}:2: not a judgement", "counts": f"{judgement.name}:1: not a judgement"}
    told = _one_line(cli("report", "run", code=2))
    assert place.get(damage, "current.json: not the newest ruler") in told
    done = cli("judge", "run")
    assert "flips are unknown: the last judgement cannot be compared" in done.stdout
    assert before == (judgement.read_bytes(), current.read_bytes())
    cli("report", "run")


@pytest.mark.parametrize("content", [None, '{"rules_hash":"0","rules":[],"counts":{},"found":[]}'])
def test_damaged_anomalies_are_told_by_report_and_written_again_by_judge(
    cli: Cli, tmp_path: Path, content: str | None
) -> None:
    """Missing, or made under other rules. [S-12]"""
    path = _ran(cli, tmp_path) / "anomalies.json"
    before = path.read_bytes()
    path.unlink()
    if content is not None:
        path.write_text(content)
    told = _one_line(cli("report", "run", code=2))
    assert "anomalies.json: " in told
    assert "do: steelyard judge run" in told
    cli("judge", "run")
    assert before == path.read_bytes()


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ({"schema_version": "next"}, 'run.json: not a run header: not a schema version: "next"'),
        ({"plan": 3}, "run.json: not a run header"),
    ],
)
def test_a_damaged_header_is_told_with_its_place(cli: Cli, tmp_path: Path, header: Any, words: str) -> None:
    """Text that is no version, a plan that is no plan. [S-22]"""
    path = _ran(cli, tmp_path) / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **header}))
    assert words in _one_line(cli("report", "run", code=2))


def test_an_identity_that_was_changed_by_hand_is_not_resumed(cli: Cli, tmp_path: Path) -> None:
    """identity_sha256 is read, not only written. [S-23]"""
    path = _ran(cli, tmp_path) / "run.json"
    header = json.loads(path.read_text())
    path.write_text(json.dumps({**header, "identity": {**header["identity"], "seed": 1}}))
    assert "identity_sha256 does not match identity" in _one_line(cli(*RUN, "--seed", 1, "--resume", code=2))


def test_a_foreign_suite_is_refused_by_report_as_by_judge(cli: Cli, tmp_path: Path) -> None:
    """No item is dropped in silence. [O-18]"""
    run = _ran(cli, tmp_path)
    before = (run / "report.json").read_bytes()
    _write(tmp_path / "other.jsonl", LAMPS)
    _write(tmp_path / "changed.jsonl", LAMPS, {**PORT, "input": "Which?"})
    for command in ("judge", "report"):
        missing = _one_line(cli(command, "run", "--suite", "other.jsonl", code=2))
        assert 'item "port", which other.jsonl does not have' in missing
        assert "--suite" in missing
        changed = _one_line(cli(command, "run", "--suite", "changed.jsonl", code=2))
        assert 'item "port" asks something else' in changed
    assert before == (run / "report.json").read_bytes()


def test_the_report_says_what_the_run_was_judged_with(cli: Cli, tmp_path: Path) -> None:
    """Suite revision and proof states of the judgement, and that suite's labels. [O-18] [O-21]"""
    _ran(cli, tmp_path)
    assert "judged with" not in cli("report", "run").stdout
    _write(tmp_path / "v2.jsonl", {**LAMPS, "target": "13", "domain": "light"}, PORT)
    cli("judge", "run", "--suite", "v2.jsonl")
    shown = cli("report", "run").stdout
    report = json.loads(cli("report", "run", "--json").stdout)
    assert {"none": 2} == report["judged_with"]["proofs"]
    assert report["judged_with"]["revision"] != report["suite"]["revision"]
    assert f"judged with {report['judged_with']['revision'][:18]}  v2; proofs 2 none" in shown
    assert ["light"] == list(report["by_domain"])


def test_a_run_finds_its_suite_from_any_folder_and_asks_when_it_is_gone(cli: Cli, tmp_path: Path) -> None:
    """The path is stored whole; a moved suite is given by --suite or by resuming. [O-18]"""
    run = _ran(cli, tmp_path)
    assert str(tmp_path / "s.jsonl") == json.loads((run / "run.json").read_text())["plan"]["suite_path"]
    (tmp_path / "s.jsonl").rename(tmp_path / "moved.jsonl")
    (tmp_path / "s.proofs.jsonl").rename(tmp_path / "moved.proofs.jsonl")
    for command in ("report", "judge"):
        words = f"the run's suite is no longer at {tmp_path / 's.jsonl'}; give --suite DIR"
        assert words in _one_line(cli(command, "run", code=2))
        cli(command, "run", "--suite", "moved.jsonl")
    cli("run", "moved.jsonl", *RUN[2:], "--resume")
    assert str(tmp_path / "moved.jsonl") == json.loads((run / "run.json").read_text())["plan"]["suite_path"]


def test_k_above_every_number_of_rollouts_is_an_error_and_another_k_is_only_printed(cli: Cli, tmp_path: Path) -> None:
    """report.json is the report of the default k. [S-10]"""
    run = _ran(cli, tmp_path, "--rollouts", 2)
    before = (run / "report.json").read_bytes()
    assert "k=5 is more than any item's judged rollouts (2)" in _one_line(cli("report", "run", "--k", 5, code=2))
    assert 1 == json.loads(cli("report", "run", "--k", 1, "--json").stdout)["k"]
    assert before == (run / "report.json").read_bytes()


def test_a_split_is_whole_when_it_has_run_and_has_a_floor_of_its_own(cli: Cli, tmp_path: Path) -> None:
    """A suite with dev and test: neither is partial, and the floor is over the items asked. [S-10]"""
    yes = {"input": "Is it?", "target": "yes", "verifier": {"name": "yesno"}}
    (tmp_path / "suite").mkdir()
    _write(tmp_path / "suite" / "dev.jsonl", {**yes, "id": "a"}, {**PORT, "id": "b"})
    _write(tmp_path / "suite" / "test.jsonl", {**LAMPS, "id": "c"}, {**PORT, "id": "d", "input": "What port?"})
    _write(tmp_path / "r.jsonl", {"reply": "yes"})
    cli("prove", "suite")
    floor = json.loads((tmp_path / "suite" / "manifest.json").read_text())["proofs"]["floor"]
    dev = cli("run", "suite", *RUN[2:])
    one = cli("run", "suite", *RUN[2:-1], "one", "--limit", 1)
    assert "partial" not in dev.stdout + one.stdout
    assert "partial" not in cli("report", "run").stdout
    rates = [json.loads((tmp_path / run / "report.json").read_text())["floor"]["rate"] for run in ("run", "one")]
    assert ([0.5, 1.0], 0.5) == (rates, floor["rate"])


def test_what_a_run_is_resumed_with_is_written_down(cli: Cli, tmp_path: Path) -> None:
    """Unproven rollouts that joined later are in header and report. [O-26]"""
    run = _ran(cli, tmp_path)
    (tmp_path / "s.proofs.jsonl").unlink()
    cli(*RUN, "--rollouts", 2, "--resume", code=2)
    cli(*RUN, "--rollouts", 2, "--resume", "--allow-unproven", "--trust-proofs")
    cli("prove", "s.jsonl")
    cli(*RUN, "--rollouts", 2, "--resume")
    plan = json.loads((run / "run.json").read_text())["plan"]
    assert ({"none": 2}, True, True, 2) == (
        plan["proofs"],
        plan["allow_unproven"],
        plan["trust_proofs"],
        plan["rollouts"],
    )
    assert "2 none  (--allow-unproven)  (--trust-proofs)" in cli("report", "run").stdout


def test_a_refused_or_broken_command_leaves_no_failure_in_a_healthy_run(cli: Cli, tmp_path: Path) -> None:
    """failure.json is of the run that failed, and goes when what failed has been done."""
    run = _ran(cli, tmp_path)
    proofs = (tmp_path / "s.proofs.jsonl").read_bytes()
    (tmp_path / "s.proofs.jsonl").write_text("{\n")
    assert "not a proof" in _one_line(cli(*RUN, code=2))
    assert "not a proof" in _one_line(cli("judge", "run", code=2))
    assert not (run / "failure.json").exists()
    (tmp_path / "s.proofs.jsonl").write_bytes(proofs)
    (run / "failure.json").write_text('{"stage": "infer"}')
    cli("judge", "run")
    assert (run / "failure.json").exists()
    (run / "failure.json").write_text('{"stage": "judge"}')
    cli("judge", "run")
    assert not (run / "failure.json").exists()


def test_a_folder_that_cannot_be_used_is_named(cli: Cli, tmp_path: Path) -> None:
    """A file for a folder, a folder for a file: one line, exit 2."""
    run = _ran(cli, tmp_path)
    (tmp_path / "file").write_text("mine")
    assert "file is a file; choose another --out" in _one_line(cli(*RUN[:-1], "file", code=2))
    assert "mine" == (tmp_path / "file").read_text()
    (run / "report.json").unlink()
    (run / "report.json").mkdir()
    for command in ("report", "judge"):
        assert "cannot use run: Is a directory" in _one_line(cli(command, "run", code=2))
    (run / ".lock").unlink(missing_ok=True)
    (run / ".lock").mkdir()
    assert "cannot write to run: " in _one_line(cli("judge", "run", code=2))
    assert "cannot write to run: " in _one_line(cli(*RUN, "--resume", code=2))


def test_another_script_of_the_same_name_is_another_run(cli: Cli, tmp_path: Path) -> None:
    """The identity holds the script's content. [S-23]"""
    _ran(cli, tmp_path)
    _write(tmp_path / "r.jsonl", *ROWS[:1], {"reply": "22"})
    assert "its weights is" in _one_line(cli(*RUN, "--resume", code=2))


def test_sampling_that_cannot_be_meant_is_refused(cli: Cli, tmp_path: Path) -> None:
    """Before anything is asked or written."""
    _write(tmp_path / "s.jsonl", LAMPS)
    _write(tmp_path / "r.jsonl", *ROWS)
    refused = _one_line(cli(*RUN, "--allow-unproven", "--temperature", "nan", code=2))
    assert "temperature must be 0 or more, finite, got nan" in refused
    assert not (tmp_path / "run").exists()
