"""A real small model does real jobs in real sandboxes, and does them again alike.

Skipped with the reason where the weights, the engine or bubblewrap cannot be had; under CI that is a failure.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import need_embedded
from steelyard.ports import Sandbox
from steelyard.run.journal import RolloutIndex
from steelyard.transcripts import first_difference

pytestmark = [pytest.mark.model, pytest.mark.bubblewrap, pytest.mark.slow]
NAME = "qwen2.5-coder-0.5b"
JOBS, SEEDS = 12, 2
SETTINGS = ("--model", NAME, "--protocol", "json_action", "--max-new-tokens", 128, "--max-turns", 4)
Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module", autouse=True)
def weights() -> None:
    """The weights, in the user's cache, and the engine."""
    need_embedded(NAME)


def test_a_small_model_does_twelve_jobs_under_two_seeds(cli: Cli, tmp_path: Path, bubblewrap: Sandbox) -> None:
    """Every rollout is judged, and the report counts calls, turns, stops, seeds and grounded success. [O-13 to O-16]"""
    cli("make", "toolshop", "--n", JOBS, "--out", "suite")
    cli("prove", "suite")
    cli("run", "suite", *SETTINGS, "--rollouts", SEEDS, "--temperature", 0.7, "--trust-proofs", "--out", "run")
    report = json.loads(cli("report", "run", "--json").stdout)
    assert (JOBS * SEEDS, 0, 0) == (report["n"], report["n_void"], report["n_errors"])
    assert SEEDS == len(report["by_seed"])
    assert "seed_stdev" in report
    agent = report["agent"]
    assert (JOBS * SEEDS, "json_action") == (agent["n_attempts"], agent["protocol"])
    assert agent["calls"] > 0
    assert 0 <= agent["valid_call_rate"] <= 1
    assert JOBS * SEEDS == sum(agent["stops"].values())
    assert {"answer", "turns", "context", "length"} >= set(agent["stops"])
    assert agent["grounding"]["grounded"] <= agent["grounding"]["passed"] <= agent["grounding"]["n"]
    assert "unchanged" in cli("judge", "run", "--sandbox", "none").stdout


def test_a_deterministic_run_gives_the_same_messages_twice(cli: Cli, tmp_path: Path, bubblewrap: Sandbox) -> None:
    """No prompt cache, one call a process, a fixed place and normalised tool output: equal messages. [O-19, O-30]"""
    cli("make", "toolshop", "--n", 2, "--out", "suite")
    cli("prove", "suite")
    settings = (*SETTINGS, "--temperature", 0.7, "--deterministic", "--processes", 2, "--trust-proofs")
    for out in ("first", "second"):
        cli("run", "suite", *settings, "--out", out)
    first, second = RolloutIndex(tmp_path / "first"), RolloutIndex(tmp_path / "second")
    for item in first.items():
        for one, other in zip(first.of(item), second.of(item), strict=True):
            assert one.attempt is not None
            assert other.attempt is not None
            assert first_difference(one.attempt, other.attempt) is None
    first.close()
    second.close()
