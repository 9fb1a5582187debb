"""Probes of the guarantees agree with what the backends claim."""

from __future__ import annotations

import pytest

from steelyard.ports import Sandbox
from steelyard.sandbox.guarantees import probe_guarantees
from steelyard.sandbox.process import ProcessSandbox


@pytest.mark.slow
def test_every_guarantee_that_a_backend_claims_holds(backend: Sandbox) -> None:
    """Each honest control passes and each hostile one is stopped. [O-11]"""
    probed = probe_guarantees(backend)
    assert {} == {p.guarantee: p for p in probed if p.claimed and p.state != "enforced"}
    assert backend.caps == {p.guarantee for p in probed if p.claimed}


@pytest.mark.slow
def test_probes_tell_a_backend_that_isolates_nothing() -> None:
    """The hostile controls get through where nothing stops them, so the probes can fail. [O-11]"""
    states = {p.guarantee: p.state for p in probe_guarantees(ProcessSandbox(allow_unsafe=True))}
    open_doors = {g for g in ("filesystem", "network", "memory", "pids", "cpu") if states[g] == "not enforced"}
    assert {"filesystem", "network", "memory", "pids", "cpu"} == open_doors
    assert ("enforced", "enforced") == (states["wall"], states["output"])
