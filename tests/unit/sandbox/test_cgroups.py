"""Where cgroups can be made, on made-up machines; real groups are tried by the bubblewrap tests."""

from __future__ import annotations

from pathlib import Path

from steelyard.ports import Limits
from steelyard.sandbox import cgroups


def _mount(point: Path, kind: str, options: str) -> str:
    return f"30 20 0:26 / {point} rw,relatime - {kind} cgroup rw,{options}\n"


def test_a_machine_without_cgroups_has_no_places() -> None:
    """Nothing is claimed where nothing is mounted. [O-22]"""
    assert cgroups.Places() == cgroups.find("", "0::/\n")


def test_a_folder_without_the_controller_s_files_is_no_place(tmp_path: Path) -> None:
    """A new group that shows no limit cannot limit. [O-22]"""
    mounts = _mount(tmp_path, "cgroup", "memory") + _mount(tmp_path, "cgroup2", "nsdelegate")
    assert cgroups.Places() == cgroups.find(mounts, "4:memory:/\n0::/\n")
    assert list(tmp_path.iterdir()) in ([], [tmp_path / "cgroup.subtree_control"])


def test_v2_limits_are_written_under_their_own_names(tmp_path: Path) -> None:
    """memory.max and pids.max hold the limits, the latter with the sandbox's own processes. [O-22]"""
    group = cgroups.Group(cgroups.Places(unified=tmp_path), "one", Limits(memory_bytes=1000, pids=5))
    folder = tmp_path / "one"
    assert [str(folder / "cgroup.procs")] == group.entrances
    assert ("1000", "8") == ((folder / "memory.max").read_text(), (folder / "pids.max").read_text())
    (folder / "memory.events").write_text("low 0\noom 1\noom_kill 2\n")
    (folder / "pids.events").write_text("max 3\n")
    (folder / "cpu.stat").write_text("usage_usec 4000\nuser_usec 1\n")
    assert cgroups.Counters(2, 3, 4.0) == group.meter.counters()
