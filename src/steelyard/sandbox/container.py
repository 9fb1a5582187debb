"""One container: made with every restriction, entered for each command, and emptied of processes after it.

Two users share it. The keeper (10001) is what the container runs, and it owns the read-only trees; commands run as
10002, with no capability and no way to get one, so they can neither end the keeper nor write what it owns. Ending
every process of user 10002 is one `kill(-1)`, which the kernel does in one step, so that no fork slips through.
Source: docker run, exec and rm; kill(2); runc's exec, which starts its own threads inside the container's limits.
Not covered: what stays of a session in its IPC namespace (message queues) until the container goes.
Easy to break: ending an `exec` client, which leaves its process running; asking a process inside whether others live.
"""

from __future__ import annotations

import contextlib
import os
import platform
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from steelyard.errors import SandboxFaultError
from steelyard.ports import Limits
from steelyard.sandbox import cgroups, podman, scratch
from steelyard.sandbox.engine import Engine, Image, called
from steelyard.sandbox.supervise import Child, Ended

KEEPER = "10001:10001"
USER = "10002:10002"
ROOM_LABEL, HOST_LABEL = "steelyard.room", "steelyard.host"
OWN_PROCESSES = 4  # docker-init, the keeper, the launcher and its `timeout`
LEAST_PROCESSES = 16  # runc's exec starts up to a dozen threads inside before it becomes the command
_TMP_BYTES = 64 * 1024 * 1024
_TMP_ENTRIES = 10_000
_EXEC_S = 60.0  # for this module's own programs, which need milliseconds
_ROUNDS = 40
_KILL = "kill -9 -1 2>/dev/null; exit 0"


class Shape(msgspec.Struct, frozen=True):
    """What a container is made from."""

    image: Image
    limits: Limits
    cpus: float
    entries: int
    mounts: tuple[str, ...]


class Container:
    """A running container; `remove` ends it whatever state it is in."""

    def __init__(self, engine: Engine, shape: Shape, room: Path) -> None:
        self._engine = engine
        # In the room, since podman leaves a file where it was called when memory ends.
        self.id = engine.call(*_creation(engine, shape, room), folder=room).strip()
        self.lost = ""
        self.meter: cgroups.Meter | None = None
        self._keep: frozenset[int] = frozenset()
        try:
            self.meter = cgroups.meter_of(_first_process(engine, self.id), self.id)
            if engine.kind == "podman":
                self.do(podman.OPEN, user=KEEPER)
        except BaseException:
            self.remove()
            raise

    def exec_argv(self, user: str, program: Sequence[str], *, stdin: bool = False) -> list[str]:
        """The command line that runs a program inside."""
        options = ["--interactive"] if stdin else []
        return [self._engine.binary, "exec", *options, "--user", user, "--workdir", "/", self.id, *program]

    def do(self, script: str, *arguments: str, user: str = USER, stdin: bytes = b"", most: int = 65536) -> Ended:
        """Run one of this backend's own scripts to its end; raises SandboxFaultError when it cannot be run."""
        argv = self.exec_argv(user, ["/bin/sh", "-c", script, "sh", *arguments], stdin=bool(stdin))
        ended = Child(argv, stdin=stdin, env=os.environ).wait(_EXEC_S, most, lambda: "")
        if ended.stopped not in ("", "output") or ended.rc in (125, 126, 127):
            said = ended.side.strip() or ended.output.decode(errors="replace").strip()
            raise SandboxFaultError(f"a program of the sandbox did not run ({ended.stopped or ended.rc}): {said}")
        return ended

    def settle(self) -> None:
        """Remember the processes that belong to the container itself; called before any code of others has run."""
        for _ in range(_ROUNDS):
            alive = self._alive()
            if len(alive) == 2:
                self._keep = frozenset(alive)
                return
            time.sleep(0.05)
        raise SandboxFaultError(f"a fresh container has {len(alive)} processes instead of 2")

    def end_processes(self) -> int:
        """End every process but the container's own; returns how many were found, and removes it where that fails."""
        found = len(self._others())
        if not found:
            return 0
        for attempt in range(_ROUNDS):
            others = self._others()
            if not others:
                return found
            self._end(others, attempt)
            time.sleep(0.005 * attempt)
        self.lose("its processes could not be ended")
        return found

    def is_running(self) -> bool:
        """Whether the container is still there; when it is not, it counts as lost."""
        if not self.lost:
            told = called(
                [self._engine.binary, "inspect", "--format", "{{.State.Running}} {{.State.OOMKilled}}", self.id]
            )
            if told.stdout.split()[:1] != ["true"]:
                self.lose("it ended" + (" for want of memory" if "true" in told.stdout.split()[1:] else ""))
        return not self.lost

    def lose(self, why: str) -> None:
        """Remove the container at once and remember why."""
        self.lost = why
        self.remove()

    def remove(self) -> None:
        """Remove the container with everything in it; harmless when it is gone."""
        called([self._engine.binary, "rm", "--force", "--volumes", self.id])

    def out_of_memory_since(self, since: float) -> bool:
        """Whether the engine saw the kernel end a process for want of memory; for hosts whose cgroups are hidden."""
        told = called(
            [
                *(self._engine.binary, "events", "--since", f"{since:.3f}", "--until", f"{time.time():.3f}"),
                *("--filter", f"container={self.id}", "--filter", "event=oom", "--format", "oom"),
            ]
        )
        return "oom" in told.stdout

    def _others(self) -> set[int]:
        return self._alive() - self._keep

    def _alive(self) -> set[int]:
        """Process ids as the host has them, from the container's cgroup or else from the engine."""
        if self.meter is not None:
            with contextlib.suppress(OSError):  # the group is gone with its container
                return set(self.meter.processes() or [])
            return set()
        told = called([self._engine.binary, "top", self.id, "-eo", "pid"])
        return {int(word) for word in told.stdout.split() if word.isdigit()}

    def _end(self, others: set[int], attempt: int) -> None:
        """One attempt: from the host where this user may, else from inside, at last with everything frozen."""
        if self.meter is None or os.geteuid() != 0:
            with contextlib.suppress(SandboxFaultError):  # too many processes to start one more; the next round asks
                self.do(_KILL)
            return
        freeze = attempt >= 3
        if freeze:
            called([self._engine.binary, "pause", self.id])
        for pid in self._others() if freeze else others:
            with contextlib.suppress(OSError):
                handle = os.pidfd_open(pid)
                try:
                    if pid in self._alive():  # the number may have gone to a process of somebody else
                        signal.pidfd_send_signal(handle, signal.SIGKILL)
                finally:
                    os.close(handle)
        if freeze:
            called([self._engine.binary, "unpause", self.id])


def _first_process(engine: Engine, name: str) -> int:
    """The host's number for the first process of a container that is running."""
    pid, running = engine.call("inspect", "--format", "{{.State.Pid}} {{.State.Running}}", name).split()
    if running != "true":
        raise SandboxFaultError("a container ended at once; has its image the programs sh and sleep?")
    return int(pid)


def _creation(engine: Engine, shape: Shape, room: Path) -> list[str]:
    """Arguments of `docker run`; nothing here depends on the job but its limits and the places of its mounts."""
    limits = shape.limits
    memory = str(limits.memory_bytes)
    # Files are memory, and full ones that nobody can end would leave none to enter the container again: together
    # they take seven eighths at most.
    tmp_bytes = min(_TMP_BYTES, limits.memory_bytes // 16)
    work_bytes = min(limits.disk_bytes, limits.memory_bytes * 3 // 4)
    trees = [
        *_tree(engine, "/work", work_bytes, USER, "0755", shape.entries),
        *_tree(engine, "/tmp", tmp_bytes, USER, "1777", _TMP_ENTRIES),  # noqa: S108
        *_tree(engine, "/dev/shm", tmp_bytes, USER, "1777", _TMP_ENTRIES),  # noqa: S108
        *(part for place in shape.mounts for part in _tree(engine, place, limits.disk_bytes, KEEPER, "0755")),
    ]
    return [
        *("run", "--detach", "--pull", "never", "--network", "none", "--read-only", "--init", "--ipc", "none"),
        *trees,
        *("--memory", memory, "--memory-swap", memory, "--cpus", f"{min(shape.cpus, engine.cpus):g}"),
        *("--pids-limit", str(max(limits.pids + OWN_PROCESSES, LEAST_PROCESSES))),
        *("--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", KEEPER),
        *("--ulimit", "nofile=1024:1024", "--ulimit", "core=0:0", *_own_options(engine, room)),
        *("--hostname", "sandbox", "--workdir", "/", "--log-driver", "none", "--no-healthcheck", "--restart", "no"),
        *("--label", f"{ROOM_LABEL}={room}", "--label", f"{HOST_LABEL}={platform.node()}"),
        *("--entrypoint", "/bin/sh", shape.image.id, "-c", "exec sleep 1000000000"),
    ]


def _tree(engine: Engine, place: str, size_bytes: int, owner: str, mode: str, entries: int | None = None) -> list[str]:
    """Options that put an empty file system of this size at a place."""
    if engine.kind == "podman":
        return podman.tree_options(place, size_bytes, mode)
    uid, gid = owner.split(":")
    counted = "" if entries is None else f",nr_inodes={entries}"
    return ["--tmpfs", f"{place}:rw,exec,nosuid,nodev,size={size_bytes}{counted},mode={mode},uid={uid},gid={gid}"]


def _own_options(engine: Engine, room: Path) -> list[str]:
    """What podman has to be told beside what docker is told."""
    if engine.kind == "docker":
        return []
    profile = room / "seccomp.json"
    profile.write_bytes(podman.stricter(Path(engine.filter)))
    return [*podman.LIMITS, "--security-opt", f"seccomp={profile}"]


_ROOM_OF = {"docker": f'.Label "{ROOM_LABEL}"', "podman": f'index .Labels "{ROOM_LABEL}"'}


def sweep(engine: Engine) -> None:
    """Remove the containers of sessions whose process on this machine is dead: their room's lock is free, or gone."""
    told = called(
        [
            *(engine.binary, "ps", "--all", "--no-trunc", "--filter", f"label={HOST_LABEL}={platform.node()}"),
            *("--format", f"{{{{.ID}}}} {{{{{_ROOM_OF[engine.kind]}}}}}"),
        ]
    )
    for line in told.stdout.splitlines():
        name, _, room = line.partition(" ")
        if room and scratch.is_free(Path(room)):
            called([engine.binary, "rm", "--force", "--volumes", name])
