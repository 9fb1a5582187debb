"""A new run looks at what its endpoint honours, keeps that in run.json, and does so once."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from endpoint_server import EndpointServer, Step, reply

Cli = Callable[..., "CompletedProcess[str]"]


@pytest.fixture
def own_cache(tmp_path: Path) -> dict[str, str]:
    """The environment, with a cache of this test."""
    return {**os.environ, "STEELYARD_CACHE": str(tmp_path / "cache")}


@pytest.fixture
def suite(cli: Cli, tmp_path: Path) -> Path:
    """One proven item."""
    line = {"id": "q", "input": "2 + 2?", "target": "4", "verifier": {"name": "number"}}
    (tmp_path / "suite.jsonl").write_text(json.dumps(line) + "\n")
    cli("prove", "suite.jsonl")
    return tmp_path / "suite.jsonl"


def kept(folder: Path) -> Any:
    """The probe in a run's header."""
    return json.loads((folder / "run.json").read_text())["plan"]["endpoint_probe"]


def test_a_run_keeps_a_light_probe_and_later_runs_take_it_from_the_cache(
    cli: Cli, tmp_path: Path, suite: Path, own_cache: dict[str, str]
) -> None:
    """Three requests by the first run, none by the next or by one that is resumed. [O-19]"""

    def seeded(body: dict[str, Any]) -> Step:
        return reply(f"seed {body['seed']}")

    with EndpointServer([reply("4")], probed=seeded) as server:
        at = ["--base-url", server.url, "--model", "served-model"]
        cli("run", suite, *at, "--out", "one", env=own_cache)
        cli("run", suite, *at, "--out", "two", env=own_cache)
        cli("run", suite, *at, "--out", "one", "--rollouts", 2, "--resume", env=own_cache)
        assert (3, 3) == (len(server.probes), len(server.posts))
    one, two = kept(tmp_path / "one"), kept(tmp_path / "two")
    assert ("light", False, True) == (one["depth"], one["cached"], two["cached"])
    assert {"listed models": "works", "seed": "works", "usage": "works", "finish_reason": "works"} == {
        finding["name"]: finding["state"] for finding in one["findings"]
    }


def test_no_probe_is_recorded(cli: Cli, tmp_path: Path, suite: Path, own_cache: dict[str, str]) -> None:
    """Nothing is asked, and the header says why there is nothing. [O-19]"""
    with EndpointServer([reply("4")]) as server:
        cli("run", suite, "--base-url", server.url, "--model", "m", "--out", "run", "--no-probe", env=own_cache)
        assert (0, 1) == (len(server.probes), len(server.posts))
    assert {"skipped": "--no-probe"} == kept(tmp_path / "run")


@pytest.mark.parametrize("act", ["half", "reset"])
def test_a_probe_that_fails_does_not_fail_the_run(
    cli: Cli, tmp_path: Path, suite: Path, own_cache: dict[str, str], act: Any
) -> None:
    """The lines are unknown, and the run goes on. [O-19]"""
    with EndpointServer([reply("4")], probed=lambda _: Step(body=b"{", act=act)) as server:
        cli("run", suite, "--base-url", server.url, "--model", "m", "--out", "run", env=own_cache)
    assert {"unknown"} == {f["state"] for f in kept(tmp_path / "run")["findings"] if f["name"] != "listed models"}


def test_a_script_and_a_run_with_caps_are_not_probed(
    cli: Cli, tmp_path: Path, suite: Path, own_cache: dict[str, str]
) -> None:
    """A script has no endpoint; caps are not spent on a probe. [O-19]"""
    (tmp_path / "script.jsonl").write_text('{"reply": "4"}\n')
    cli("run", suite, "--model", "scripted:script.jsonl", "--out", "scripted", env=own_cache)
    with EndpointServer([reply("4")]) as server:
        at = ["--base-url", server.url, "--model", "m", "--max-requests", 1]
        cli("run", suite, *at, "--out", "capped", env=own_cache)
        assert [] == server.probes
    assert ({}, ["skipped"]) == (kept(tmp_path / "scripted"), list(kept(tmp_path / "capped")))
