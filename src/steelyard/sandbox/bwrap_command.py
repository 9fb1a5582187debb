"""What a bwrap of one session starts with, and what its end says: shared by commands run alone and kept sandboxes.

Source: bwrap(1). Laying out the read-only mounts is done here, so that both show the same files.
Not covered: running anything.
Easy to break: showing a kept sandbox something that a session of its own would not be shown.
"""

from __future__ import annotations

import functools
from pathlib import Path

import msgspec

from steelyard.errors import SandboxUnavailableError
from steelyard.ports import PACKAGES, ExecResult, SandboxSpec
from steelyard.sandbox import cgroups, launch, packages, scratch, workspace
from steelyard.sandbox.supervise import Ended
from steelyard.store import Store


class Machine(msgspec.Struct, frozen=True):
    """What the probe found out about this machine; `view` is an index into `launch.views`."""

    bwrap: str
    version: str
    disable_userns: bool
    view: int
    places: cgroups.Places
    nproc: bool


def arguments(machine: Machine, spec: SandboxSpec, store: Store, room: scratch.Scratch) -> list[str]:
    """What every command of a session starts with; lays out the read-only mounts."""
    shown, env = _shown(machine, spec, store, room)
    isolation = launch.isolation(disable_userns=machine.disable_userns)
    return [*isolation, *shown, *launch.own_mounts(str(room.path / "work")), *env]


def kept_arguments(machine: Machine, spec: SandboxSpec, store: Store, room: scratch.Scratch) -> list[str]:
    """The same for a kept sandbox, which shows the same files."""
    shown, env = _shown(machine, spec, store, room)
    return [*launch.kept_isolation(), *shown, *launch.kept_mounts(), *env]


def _shown(machine: Machine, spec: SandboxSpec, store: Store, room: scratch.Scratch) -> tuple[list[str], list[str]]:
    view = launch.views(room.folder("empty"))[machine.view]
    check_roots(machine, store)
    binds: list[str] = []
    etc = room.folder("etc")
    for name, text in launch.ETC.items():
        (etc / name).write_text(text)
        binds += ["--ro-bind", str(etc / name), f"/etc/{name}"]
    for number, (place, tree) in enumerate(spec.mounts_ro.items()):
        launch.check_mount(place)
        folder = room.folder(f"mount-{number}")
        workspace.lay_out(folder, tree, store)
        binds += ["--ro-bind", str(folder), place]
    for name, path in packages.host_paths(spec.packages).items():
        binds += ["--ro-bind", str(path), f"{PACKAGES}/{name}"]
    path_env = {"PYTHONPATH": PACKAGES} if spec.packages else {}
    return [*view.arguments, *binds], launch.environment({**view.env, **path_env, **spec.env})


def check_roots(machine: Machine, store: Store) -> None:
    """Refuse a store whose files would be readable inside."""
    for root in store.roots:
        if _is_shown(machine.view, root):
            raise SandboxUnavailableError(f"the files in {root} would be readable inside the sandbox; move them")


@functools.lru_cache(256)
def _is_shown(view: int, root: Path) -> bool:
    shown = launch.views(Path("/nonexistent"))[view].shown
    return any(root.resolve().is_relative_to(folder) for folder in shown)


def result_of(
    ended: Ended, before: cgroups.Counters, meter: cgroups.Meter, leftover_pids: int, *, disk_full: bool = False
) -> ExecResult:
    """The result of a command, from how it ended and what its group counted."""
    after = meter.counters()
    why, rc = _why(ended, after.oom_kills - before.oom_kills, after.pids_refused - before.pids_refused)
    return ExecResult(
        why="disk" if disk_full and why in ("exit", "signal") else why,
        rc=rc,
        output=ended.side.encode() if why == "infra" else ended.output,
        truncated=ended.truncated,
        cpu_ms=_cpu_ms(ended, before, after, leftover_pids),
        wall_ms=ended.wall_ms,
        peak_memory_bytes=meter.peak_memory_bytes(),
        leftover_pids=leftover_pids,
    )


def _why(ended: Ended, oom_kills: int, pids_refused: int) -> tuple[launch.Why, int | None]:
    """Why a command ended, from what the host and the kernel counted; its exit code where it has one."""
    if launch.STARTED not in ended.side:
        return "infra", None
    if ended.stopped:
        return ("signal" if ended.stopped == "closed" else ended.stopped), None
    if ended.rc != 0 and oom_kills > 0:
        return "oom", ended.rc
    if ended.rc != 0 and pids_refused > 0:
        return "pids", ended.rc
    return launch.why_of(ended.rc), ended.rc


def _cpu_ms(ended: Ended, before: cgroups.Counters, after: cgroups.Counters, leftover_pids: int) -> float | None:
    """CPU time of the whole tree; without a cgroup, unknown once processes were killed (nobody waits for those)."""
    if after.cpu_ms is not None and before.cpu_ms is not None:
        return after.cpu_ms - before.cpu_ms
    return None if ended.stopped or leftover_pids else ended.cpu_ms
