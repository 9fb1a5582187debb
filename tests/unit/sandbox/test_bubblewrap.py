"""What is bubblewrap's own; what every backend's sessions do is in test_session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.errors import SandboxFaultError, SandboxUnavailableError
from steelyard.ports import Limits, Sandbox, SandboxSpec, Session
from steelyard.sandbox import cgroups
from steelyard.sandbox.bubblewrap import BubblewrapSandbox
from steelyard.store import Store

pytestmark = pytest.mark.bubblewrap
Open = Callable[[SandboxSpec], Session]


def test_closing_twice_is_harmless_and_nothing_is_left(bubblewrap: Sandbox, store: Store) -> None:
    """Folder and cgroups are gone, and a closed session says so. [O-1]"""
    session = bubblewrap.open(SandboxSpec(), store)
    root: Path = session._place._room.path  # type: ignore[attr-defined]
    assert root.exists()
    session.close()
    session.close()
    assert not root.exists()
    places = bubblewrap._machine.places  # type: ignore[attr-defined]
    assert [] == [p for p in (places.unified, places.memory, places.pids, places.cpu) if p and (p / root.name).exists()]
    with pytest.raises(SandboxFaultError, match="closed"):
        session.run(["true"])


def test_what_a_dead_process_left_is_swept(bubblewrap: Sandbox, store: Store) -> None:
    """A scratch folder that nobody holds is removed by the next fresh backend. [O-1]"""
    session = bubblewrap.open(SandboxSpec(), store)
    held: Path = session._place._room.path  # type: ignore[attr-defined]
    left = held.with_name("steelyard-left-by-a-test")
    left.mkdir()
    (left / ".lock").touch()
    BubblewrapSandbox(bubblewrap._machine).open(SandboxSpec(), store).close()  # type: ignore[attr-defined]
    assert (False, True) == (left.exists(), held.exists())
    session.close()


def test_a_required_guarantee_that_is_missing_is_refused(bubblewrap: Sandbox, store: Store) -> None:
    """Without cgroups memory is not promised, and requiring it fails closed. [O-22]"""
    machine = bubblewrap._machine  # type: ignore[attr-defined]
    bare = BubblewrapSandbox(
        type(machine)(machine.bwrap, machine.version, True, machine.view, cgroups.Places(), nproc=False)
    )
    assert frozenset({"filesystem", "network", "cpu", "wall", "output"}) == bare.caps
    with pytest.raises(SandboxUnavailableError, match=r"memory: .*pids: "):
        bare.open(SandboxSpec(require=("memory", "pids")), store)
    session = bare.open(SandboxSpec(limits=Limits(memory_bytes=200_000_000)), store)
    result = session.run(["python3", "-c", "bytearray(300_000_000)"])
    session.close()
    assert b"MemoryError" in result.output


def test_a_store_that_the_sandbox_would_show_is_refused(bubblewrap: Sandbox) -> None:
    """Contents below a folder that is shown read-only could be read by the code that they judge. [O-5]"""
    with pytest.raises(SandboxUnavailableError, match="readable inside"):
        bubblewrap.open(SandboxSpec(), Store("/usr/share/steelyard-files"))


def test_a_bwrap_that_breaks_later_is_a_fault_and_not_a_failure(bubblewrap: Sandbox, store: Store) -> None:
    """`infra` carries bwrap's words. [O-22]"""
    machine = bubblewrap._machine  # type: ignore[attr-defined]
    broken = type(machine)("/bin/false", "0", True, machine.view, machine.places, nproc=False)
    session = BubblewrapSandbox(broken).open(SandboxSpec(), store)
    result = session.run(["true"])
    session.close()
    assert ("infra", None) == (result.why, result.rc)


def test_disk_is_not_promised_where_the_work_tree_is_too_large_for_tmpfs(bubblewrap: Sandbox, store: Store) -> None:
    """What holds by default need not hold for every limit. [O-22]"""
    with pytest.raises(SandboxUnavailableError, match="disk: "):
        bubblewrap.open(SandboxSpec(limits=Limits(disk_bytes=1 << 60), require=("disk",)), store)
