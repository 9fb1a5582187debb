"""Bad input: one clear line that names the place and the next step, exit 2, nothing lost."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from endpoint_server import EndpointServer, refusal, reply, said

Cli = Callable[..., "CompletedProcess[str]"]
GOOD = {"id": "a", "input": "What is 1 + 1?", "target": "2", "verifier": {"name": "number"}}


def _write(path: Path, *items: Any) -> Path:
    path.write_text("".join((i if isinstance(i, str) else json.dumps(i)) + "\n" for i in items), encoding="utf-8")
    return path


def _one_line(done: CompletedProcess[str]) -> str:
    """The message: exactly one line on stderr, no traceback."""
    assert "Traceback" not in done.stderr
    (line,) = done.stderr.strip().splitlines()
    return line


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([GOOD, '{"id": "b", '], "s.jsonl:2: broken JSON"),
        ([GOOD, GOOD], 's.jsonl:2: item id "a" is used twice; first in s.jsonl:1'),
        ([], "s.jsonl: the suite is empty"),
        (
            [{**GOOD, "verifier": {"name": "nubmer"}}],
            's.jsonl:1: item "a": unknown verifier "nubmer"; did you mean "number"?',
        ),
        ([{**GOOD, "verifier": {"name": "number", "atoll": 1}}], 'has no setting "atoll"; did you mean "atol"?'),
        ([{**GOOD, "verifier": {"name": "number", "atol": -1}}], 's.jsonl:1: item "a":'),
        ([{**GOOD, "verifier": {"name": "number", "atol": "wide"}}], 's.jsonl:1: item "a":'),
        ([{**GOOD, "tolerance": {"atol": "x"}}], 's.jsonl:1: item "a":'),
        ([{**GOOD, "target": "many"}], 's.jsonl:1: item "a":'),
        ([{**GOOD, "target": "1/0"}], 's.jsonl:1: item "a":'),
        ([{**GOOD, "verifier": {"name": "choice"}, "choices": ["x"], "target": "F"}], 's.jsonl:1: item "a":'),
        ([{**GOOD, "verifier": {"name": "states"}, "target": ""}], 's.jsonl:1: item "a":'),
        ([{**GOOD, "verifier": {"name": "mine.py:judge"}}], "pass --trust to load verifiers from files"),
        ([{**GOOD, "verifier": {"name": "all", "of": [{"name": "exat"}]}}], 'did you mean "exact"?'),
    ],
)
def test_a_suite_that_cannot_be_right_is_refused_when_loaded(
    cli: Cli, tmp_path: Path, lines: list[Any], words: str
) -> None:
    """File, line, item and the nearest name. [T-8]"""
    _write(tmp_path / "s.jsonl", *lines)
    assert words in _one_line(cli("prove", "s.jsonl", code=2))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["prove", "missing"], "no such suite"),
        (["run", "missing", "--model", "scripted:x"], "no such suite"),
        (["report", "missing"], "not a run folder"),
        (["judge", "missing"], "not a run folder"),
        (["make", "orbital-compere", "--out", "x"], 'no family "orbital-compere"; did you mean "orbital-compare"?'),
        (["make", "./nothing.py", "--out", "x"], "no such file"),
        (["make", "orbital-compare", "--n", "0", "--out", "x"], "--n must be at least 1, got 0"),
        (["mkae"], 'no command "mkae"; did you mean "make"?'),
        (["models", "pull", "qwen"], "qwen2.5-coder-0.5b"),
        (["verifiers", "nubmer"], 'did you mean "number"?'),
    ],
)
def test_a_wrong_word_on_the_command_line_is_named(cli: Cli, arguments: list[str], words: str) -> None:
    """Expected, got, nearest, next step."""
    assert words in _one_line(cli(*arguments, code=2))


def test_nothing_is_written_over(cli: Cli, tmp_path: Path) -> None:
    """An existing suite, run or file stays as it is. [O-26]"""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("keep")
    _write(tmp_path / "s.jsonl", GOOD)
    _write(tmp_path / "r.jsonl", {"reply": "2"})
    cli("prove", "s.jsonl")
    assert "already exists" in _one_line(cli("make", "orbital-compare", "--out", "out", code=2))
    assert "already exists and is no run" in _one_line(
        cli("run", "s.jsonl", "--model", "scripted:r.jsonl", "--out", "out", code=2)
    )
    cli("run", "s.jsonl", "--model", "scripted:r.jsonl", "--out", "run")
    before = (tmp_path / "run" / "rollouts.jsonl").read_bytes()
    again = cli("run", "s.jsonl", "--model", "scripted:r.jsonl", "--out", "run", code=2)
    assert "add --resume to go on with it" in _one_line(again)
    assert ("keep", before) == (
        (tmp_path / "out" / "mine.txt").read_text(),
        (tmp_path / "run" / "rollouts.jsonl").read_bytes(),
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere; the next test covers it for root")
def test_an_unwritable_folder_is_told(cli: Cli, tmp_path: Path) -> None:
    """No traceback for a folder without write permission."""
    (tmp_path / "locked").mkdir(mode=0o500)
    assert "cannot write to" in _one_line(cli("make", "orbital-compare", "--out", "locked/x", code=2))


def test_a_path_that_runs_through_a_file_is_told(cli: Cli, tmp_path: Path) -> None:
    """A folder that cannot be made is told, for root as well."""
    (tmp_path / "file").write_text("x")
    _write(tmp_path / "s.jsonl", GOOD)
    _write(tmp_path / "r.jsonl", {"reply": "2"})
    cli("prove", "s.jsonl")
    assert "cannot write to" in _one_line(cli("make", "orbital-compare", "--out", "file/x", code=2))
    run = cli("run", "s.jsonl", "--model", "scripted:r.jsonl", "--out", "file/x", code=2)
    assert "cannot write to" in _one_line(run)


def test_unproven_items_are_refused_unless_that_is_allowed_and_written_down(cli: Cli, tmp_path: Path) -> None:
    """`--allow-unproven` goes into run and report; validation is said item by item. [O-8] [O-11]"""
    _write(tmp_path / "s.jsonl", GOOD)
    _write(tmp_path / "r.jsonl", {"reply": "2"})
    arguments = ("run", "s.jsonl", "--model", "scripted:r.jsonl", "--out", "run")
    assert "steelyard prove s.jsonl, or pass --allow-unproven" in _one_line(cli(*arguments, code=2))
    assert not (tmp_path / "run").exists()
    done = cli(*arguments, "--allow-unproven")
    assert "1 none  (--allow-unproven)" in done.stdout
    assert json.loads((tmp_path / "run" / "report.json").read_text())["allow_unproven"] is True


def _endpoint_run(cli: Cli, url: str, code: int) -> CompletedProcess[str]:
    return cli("run", "s.jsonl", "--base-url", url, "--model", "m", "--out", "run", code=code)


def test_an_endpoint_that_is_down_is_told_with_its_address(cli: Cli, tmp_path: Path) -> None:
    """Nothing answers: say where, and ask whether the server runs."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    _write(tmp_path / "s.jsonl", GOOD)
    cli("prove", "s.jsonl")
    line = _one_line(_endpoint_run(cli, f"http://127.0.0.1:{port}/v1", 2))
    assert f"127.0.0.1:{port}" in line
    assert "is the server running?" in line


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (refusal(401, "invalid api key"), "invalid api key"),
        (refusal(404, "model m does not exist"), "model m does not exist"),
        (said(200, b"<html><body>Welcome to nginx</body></html>", Content_Type="text/html"), "text/html"),
    ],
)
def test_an_endpoint_that_cannot_serve_stops_the_run_with_its_own_words(
    cli: Cli, tmp_path: Path, step: Any, words: str
) -> None:
    """401, 404 and HTML are permanent."""
    _write(tmp_path / "s.jsonl", GOOD)
    cli("prove", "s.jsonl")
    with EndpointServer([step]) as server:
        assert words in _one_line(_endpoint_run(cli, server.url, 2))
        assert 1 == len(server.posts)


@pytest.mark.parametrize("content", ["", None])
def test_an_empty_message_is_an_attempt_that_is_told_apart(cli: Cli, tmp_path: Path, content: str | None) -> None:
    """Empty text is no crash: failed, unextracted and flagged as empty. [S-12]"""
    _write(tmp_path / "s.jsonl", GOOD)
    cli("prove", "s.jsonl")
    with EndpointServer([reply(content)]) as server:
        _endpoint_run(cli, server.url, 0)
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    assert (0.0, 1, 1, 1) == (report["score"], report["n"], report["n_empty"], report["n_unextracted"])


def test_a_half_written_journal_is_mended_and_said_so(cli: Cli, tmp_path: Path) -> None:
    """The torn line is dropped, its rollout is made again."""
    _write(tmp_path / "s.jsonl", GOOD, {**GOOD, "id": "b", "input": "What is 3 - 1?"})
    _write(tmp_path / "r.jsonl", {"reply": "2"})
    cli("prove", "s.jsonl")
    arguments = ("run", "s.jsonl", "--model", "scripted:r.jsonl", "--out", "run")
    cli(*arguments)
    journal = tmp_path / "run" / "rollouts.jsonl"
    journal.write_bytes(journal.read_bytes()[:-20])
    done = cli(*arguments, "--resume")
    assert "an unfinished last line of" in done.stderr
    assert 2 == len(journal.read_bytes().splitlines())


def test_debug_shows_the_traceback(cli: Cli) -> None:
    """`--debug` is for whoever mends the tool."""
    assert "Traceback" in cli("prove", "missing", "--debug", code=2).stderr
