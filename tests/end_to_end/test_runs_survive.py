"""A run survives kills, interrupts, failing endpoints and being asked for again; it never mixes with another."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from endpoint_server import EndpointServer, Step, refusal, reply

Cli = Callable[..., "CompletedProcess[str]"]
N_ITEMS, N_ROLLOUTS = 60, 3


def _suite(folder: Path, n: int = N_ITEMS) -> Path:
    path = folder / "suite.jsonl"
    lines = [
        {"id": f"q{i:03d}", "input": f"What is {i} + {i}?", "target": str(2 * i), "verifier": {"name": "number"}}
        for i in range(n)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def _sum(body: dict[str, Any], delay_s: float = 0.0) -> Step:
    """The right answer to `What is a + b?`."""
    words = body["messages"][-1]["content"].split()
    step = reply(f"The answer is {int(words[2]) * 2}.")
    return Step(step.status, step.body, step.headers, delay_s=delay_s)


@pytest.fixture
def endpoint() -> Iterator[EndpointServer]:
    """An endpoint that adds, with a little latency."""
    with EndpointServer(lambda body: _sum(body, delay_s=0.01)) as server:
        yield server


def _run_arguments(server: EndpointServer, *more: object) -> list[str]:
    given = ("run", "suite.jsonl", "--base-url", server.url, "--model", "served-model", "--out", "run", *more)
    return list(map(str, given))


def _rollouts(folder: Path) -> list[dict[str, Any]]:
    path = folder / "run" / "rollouts.jsonl"
    whole = path.read_bytes() if path.exists() else b""
    return [json.loads(line) for line in whole.splitlines(keepends=True) if line.endswith(b"\n")]


def _keys(rollouts: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return [(r["item"], r["rollout"]) for r in rollouts]


@pytest.mark.slow
def test_thirty_kills_at_random_moments_lose_and_double_nothing(
    cli: Cli, tmp_path: Path, endpoint: EndpointServer, steelyard_command: list[str]
) -> None:
    """SIGKILL at any moment: every finished rollout stays, only those in flight are made again."""
    _suite(tmp_path)
    cli("prove", "suite.jsonl")
    rng = random.Random(20260722)
    arguments = _run_arguments(endpoint, "--rollouts", N_ROLLOUTS, "--concurrency", 4)
    finished: list[dict[str, Any]] = []
    for kill in range(30):
        resume = ["--resume"] if (tmp_path / "run" / "run.json").exists() else []
        process = subprocess.Popen(
            [*steelyard_command, *arguments, *resume],
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + 20
        while process.poll() is None and time.monotonic() < deadline and len(_rollouts(tmp_path)) <= len(finished):
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.02))
        os.killpg(process.pid, signal.SIGKILL) if process.poll() is None else None
        process.wait()
        now = _rollouts(tmp_path)
        assert finished == now[: len(finished)], f"kill {kill} changed what was finished"
        finished = now
    cli(*arguments, "--resume")
    counts = Counter(_keys(_rollouts(tmp_path)))
    assert (N_ITEMS * N_ROLLOUTS, {1}) == (len(counts), set(counts.values()))
    report = json.loads(cli("report", "run", "--json").stdout)
    assert (1.0, N_ITEMS * N_ROLLOUTS, 0) == (report["score"], report["n"], report["n_errors"])


def test_more_rollouts_extend_a_run_and_seeds_go_on(cli: Cli, tmp_path: Path, endpoint: EndpointServer) -> None:
    """Rollout i is made with seed S+i; n rollouts are n requests. [O-13]"""
    _suite(tmp_path, 3)
    cli("prove", "suite.jsonl")
    cli(*_run_arguments(endpoint, "--seed", 7))
    cli(*_run_arguments(endpoint, "--seed", 7, "--rollouts", 3, "--resume"))
    assert [0] * 3 + [1] * 3 + [2] * 3 == sorted(r["rollout"] for r in _rollouts(tmp_path))
    assert {7: 3, 8: 3, 9: 3} == Counter(seen.json["seed"] for seen in endpoint.posts)
    assert json.loads((tmp_path / "run" / "run.json").read_text())["plan"]["rollouts"] == 3


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (["--temperature", "0.5"], "its sampling is"),
        (["--seed", "1"], "its seed is 0, this one's is 1"),
        (["--system", "Be brief."], "its solver is"),
        (["--model", "another"], "its model is 'served-model', this one's is 'another'"),
    ],
)
def test_resuming_with_another_identity_is_refused_by_name(
    cli: Cli, tmp_path: Path, endpoint: EndpointServer, changed: list[str], words: str
) -> None:
    """Two settings are two runs. [S-23]"""
    _suite(tmp_path, 2)
    cli("prove", "suite.jsonl")
    cli(*_run_arguments(endpoint))
    refused = cli(*_run_arguments(endpoint, *changed, "--resume"), code=2)
    assert words in refused.stderr
    assert 2 == len(_rollouts(tmp_path))


def test_another_suites_run_folder_is_refused(cli: Cli, tmp_path: Path, endpoint: EndpointServer) -> None:
    """A changed suite is another suite. [S-23]"""
    _suite(tmp_path, 2)
    cli("prove", "suite.jsonl")
    cli(*_run_arguments(endpoint))
    _suite(tmp_path, 3)
    cli("prove", "suite.jsonl")
    assert "its suite is 'draft:" in cli(*_run_arguments(endpoint, "--resume"), code=2).stderr


def test_a_run_of_an_older_schema_series_is_not_resumed(cli: Cli, tmp_path: Path, endpoint: EndpointServer) -> None:
    """A version message, not a shape error; the way on is a fresh run. [S-22] [S-23]"""
    _suite(tmp_path, 2)
    cli("prove", "suite.jsonl")
    cli(*_run_arguments(endpoint))
    header = json.loads((tmp_path / "run" / "run.json").read_text())
    (tmp_path / "run" / "run.json").write_text(json.dumps({**header, "schema_version": "0.7.3"}))
    refused = cli(*_run_arguments(endpoint, "--resume"), code=2)
    assert "was written under schema 0.7.3" in refused.stderr
    assert "start a fresh run" in refused.stderr


def test_failed_calls_are_error_rollouts_and_resume_makes_them_again(cli: Cli, tmp_path: Path) -> None:
    """An error is not an attempt: counted apart, with bounds, and tried again. [O-13]"""
    _suite(tmp_path, 4)
    cli("prove", "suite.jsonl")
    down = [True]

    def script(body: dict[str, Any]) -> Step:
        if down[0] and "What is 3" in body["messages"][-1]["content"]:
            return refusal(400, "maximum context length is 8 tokens")
        return _sum(body)

    with EndpointServer(script) as server:
        first = cli(*_run_arguments(server), code=1)
        assert "1 calls failed; go on with the same command" in first.stderr
        report = json.loads((tmp_path / "run" / "report.json").read_text())
        assert (1.0, 3, 1, {"context": 1}) == (
            report["score"],
            report["n"],
            report["n_errors"],
            report["error_kinds"],
        )
        assert [0.75, 1.0] == report["bounds"]
        down[0] = False
        cli(*_run_arguments(server, "--resume"))
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    assert (1.0, 4, 0) == (report["score"], report["n"], report["n_errors"])
    assert "bounds" not in report


def test_a_permanent_error_stops_at_once_and_leaves_the_stage(cli: Cli, tmp_path: Path) -> None:
    """401 in the middle: the endpoint's own words, exit 2, failure.json names the stage, finished rollouts stay."""
    _suite(tmp_path, 50)
    cli("prove", "suite.jsonl")
    answered = iter(range(100))

    def script(body: dict[str, Any]) -> Step:
        return _sum(body) if next(answered) < 10 else refusal(401, "key expired: canary-words")

    with EndpointServer(script) as server:
        failed = cli(*_run_arguments(server, "--concurrency", 2), code=2)
        assert "canary-words" in failed.stderr
        assert len(server.posts) < 15
    assert "infer" == json.loads((tmp_path / "run" / "failure.json").read_text())["stage"]
    assert 10 == len(_rollouts(tmp_path))
    with EndpointServer(_sum) as server:
        cli(*_run_arguments(server, "--resume"))
    assert 50 == len(set(_keys(_rollouts(tmp_path))))
    assert not (tmp_path / "run" / "failure.json").exists()


def test_ctrl_c_finishes_what_is_in_flight_and_says_how_to_go_on(
    cli: Cli, tmp_path: Path, steelyard_command: list[str]
) -> None:
    """The first interrupt stops taking work, judges what there is and names --resume."""
    _suite(tmp_path, 40)
    cli("prove", "suite.jsonl")
    with EndpointServer(lambda body: _sum(body, delay_s=0.1)) as server:
        process = subprocess.Popen(
            [*steelyard_command, *_run_arguments(server, "--concurrency", 2)],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        while len(_rollouts(tmp_path)) < 4:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=20)
        finished = len(_rollouts(tmp_path))
        assert 2 == process.returncode
        assert "interrupted; go on with the same command and --out run --resume" in errors
        assert f"partial   {finished} of 40 rollouts" in output
        assert len(server.posts) == finished
        cli(*_run_arguments(server, "--resume"))
    assert 40 == len(set(_keys(_rollouts(tmp_path))))


def test_the_key_is_in_no_file_and_no_message(cli: Cli, tmp_path: Path) -> None:
    """A canary key reaches the endpoint and nothing else."""
    _suite(tmp_path, 2)
    cli("prove", "suite.jsonl")
    env = {**os.environ, "STEELYARD_API_KEY": "sk-canary-4711"}
    with EndpointServer(_sum) as server:
        done = cli(*_run_arguments(server), env=env)
        assert "Bearer sk-canary-4711" in str(server.posts[0].headers)
    kept = b"".join(path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file())
    assert b"canary" not in kept + (done.stdout + done.stderr).encode()
