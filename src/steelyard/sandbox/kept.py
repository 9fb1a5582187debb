"""Trusted programs of bubblewrap sessions, run in copies of processes that are kept for them (`zygote`).

A job gets the files, the limits and the namespaces that a command of a session of its own would get; its work tree is
a tmpfs of the allowed size instead of a folder of the host, and it enters a group whose limits are its own. Kept
sandboxes serve only machines with cgroups for memory and processes, where no job can hurt the next.
A pool lends each to one job at a time. One that is not as it should be after a job is closed, never lent again; the
caller then runs the command alone. After one that does not start, the pool stays empty.
Not covered: writing to the work tree for a later command; whoever needs that opens a session and runs commands.
Easy to break: lending a kept sandbox again after anything about it was not as expected.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Hashable
from typing import Generic, Protocol, TypeVar

import msgspec

from steelyard.attempt import Tree
from steelyard.errors import InputError, SandboxFaultError
from steelyard.ports import ExecResult, SandboxSpec
from steelyard.sandbox import bwrap_command, cgroups, launch, scratch, workspace
from steelyard.sandbox.bwrap_command import Machine
from steelyard.sandbox.session import Main, Watch
from steelyard.sandbox.zygote import BrokenZygoteError, Done, Entry, Found, Job, Zygote
from steelyard.store import Store

_MOST_IDLE = 8
_LOOK = 3  # an exit code that has kills and refusals looked for


class KeptSandboxes:
    """What one backend keeps."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._pool: Pool[_Kept] = Pool()

    def can_run(self, spec: SandboxSpec) -> bool:
        """Whether jobs of this kind may share a kept sandbox."""
        places = self._machine.places
        bound = places.unified or (places.memory and places.pids)
        return bool(bound) and spec.limits.disk_bytes <= spec.limits.memory_bytes

    def run(
        self, spec: SandboxSpec, store: Store, main: Main, stdin: bytes, wall_s: float, watch: Watch
    ) -> ExecResult | None:
        """Run a program over a fresh copy of the spec's tree; None where it has to be run alone."""
        return self._lent(spec, store, main, lambda kept: kept.run(spec, store, stdin, wall_s, watch))

    def run_watched(
        self,
        spec: SandboxSpec,
        store: Store,
        main: Main,
        stdin: bytes,
        wall_s: float,
        watch: Watch,
        look: Callable[[int, int, int], Found],
    ) -> tuple[Found, int, ExecResult] | None:
        """The same for an entry that runs code of others in its own process; `look` reads what comes of it.

        Gives what `look` gave, the exit code (-n for signal n) and the result, which holds no output.
        """
        return self._lent(spec, store, main, lambda kept: kept.run_watched(spec, store, stdin, wall_s, watch, look))

    def _lent(self, spec: SandboxSpec, store: Store, main: Main, work: Callable[[_Kept], Found]) -> Found | None:
        """What `work` gives with a kept sandbox; None where there is none that does what it should."""
        bwrap_command.check_roots(self._machine, store)
        key: Hashable = (
            main,
            (spec.limits.memory_bytes, spec.limits.pids),
            tuple((place, tuple(sorted(tree.items()))) for place, tree in spec.mounts_ro.items()),
            spec.packages,
            tuple(sorted(spec.env.items())),
        )
        kept = self._pool.take(key, lambda: _Kept(self._machine, spec, store, main))
        if kept is None:
            return None
        try:
            found = work(kept)
        except BaseException as error:
            kept.close()
            if not isinstance(error, BrokenZygoteError):
                raise
            if kept.is_new:
                self._pool.switch_off()
            return None
        self._pool.give(key, kept)
        return found

    def close(self) -> None:
        """End what is kept and idle; it is made again when it is needed."""
        self._pool.close()


class SpecCopies:
    """Copies over the tree of one spec."""

    def __init__(self, kept: KeptSandboxes, spec: SandboxSpec, store: Store) -> None:
        self._kept, self._spec, self._store = kept, spec, store

    def run(self, main: Main, stdin: bytes, wall_s: float, watch: Watch) -> ExecResult | None:
        """Run a program to its end; None where it has to be run alone."""
        return self._kept.run(self._spec, self._store, main, stdin, wall_s, watch)

    def run_watched(
        self, main: Main, stdin: bytes, wall_s: float, watch: Watch, look: Callable[[int, int, int], Found]
    ) -> tuple[Found, int, ExecResult] | None:
        """Run one whose results `look` reads; None where it has to be run alone."""
        return self._kept.run_watched(self._spec, self._store, main, stdin, wall_s, watch, look)


class _Kept:
    """A zygote with its folder and the group that its jobs enter."""

    def __init__(self, machine: Machine, spec: SandboxSpec, store: Store, main: Main) -> None:
        self.is_new = True
        self._room = scratch.Scratch(scratch.room_for(0))
        self._group: cgroups.Group | None = None
        try:
            own = 0 if main.guarded else 1  # else the first process of a job is the program itself
            self._group = cgroups.Group(machine.places, self._room.name, spec.limits, own=own)
            arguments = bwrap_command.kept_arguments(machine, spec, store, self._room)
            entry = Entry(main.module, main.entry, main.preload, main.guarded)
            self._zygote = Zygote([machine.bwrap, *arguments], main.flags, entry, self._group)
        except BaseException:
            self._room.close()
            if self._group is not None:
                self._group.close()
            raise
        self._meter = self._group.meter

    def run(self, spec: SandboxSpec, store: Store, stdin: bytes, wall_s: float, watch: Watch) -> ExecResult:
        """One job; raises BrokenZygoteError when it has to be run alone."""
        job = self._job(spec, store, stdin, wall_s)
        before = self._meter.counters()
        return self._result(self._zygote.run(job, watch.over), before)

    def run_watched(
        self,
        spec: SandboxSpec,
        store: Store,
        stdin: bytes,
        wall_s: float,
        watch: Watch,
        look: Callable[[int, int, int], Found],
    ) -> tuple[Found, int, ExecResult]:
        """One job that `look` reads; raises BrokenZygoteError when it has to be run alone."""
        job = self._job(spec, store, stdin, wall_s)
        before = self._meter.counters()
        found, done = self._zygote.run_watched(job, watch.over, look)
        looked = msgspec.structs.replace(done, ended=msgspec.structs.replace(done.ended, rc=_LOOK))
        return found, done.code, self._result(looked, before)

    def close(self) -> None:
        """End it with all that is inside."""
        try:
            self._zygote.close()
        finally:
            self._room.close()
            if self._group is not None:
                self._group.close()

    def _job(self, spec: SandboxSpec, store: Store, stdin: bytes, wall_s: float) -> Job:
        """A job; the peak of memory is measured anew."""
        limits = spec.limits
        self._meter.reset_peak()
        return Job(
            stdin=stdin,
            wall_s=wall_s,
            output_bytes=limits.output_bytes,
            files=_contents(spec.tree, store),
            tmpfs=launch.job_tmpfs(limits.disk_bytes, limits.files + len(spec.tree)),
            rlimits=launch.job_rlimits(limits, wall_s),
        )

    def _result(self, done: Done, before: cgroups.Counters) -> ExecResult:
        """The result of a job of which nothing is left."""
        result = bwrap_command.result_of(done.ended, before, self._meter, done.left, disk_full=done.full)
        if self._meter.tasks():
            raise BrokenZygoteError("processes of a job outlived it")
        self.is_new = False
        return result


def _contents(tree: Tree, store: Store) -> list[tuple[str, bytes]]:
    """The files of a tree, which goes by the rules of a session's own."""
    for path in tree:
        if not path or path.startswith("/") or workspace.resolve(path) != path:
            raise InputError(f"path leaves the repository: {path!r}; a tree needs plain relative paths")
    return [(path, store.get(reference)) for path, reference in tree.items()]


class Keepable(Protocol):
    """What a pool keeps."""

    def close(self) -> None:
        """End it with all that it holds."""


Kept = TypeVar("Kept", bound=Keepable)


class Pool(Generic[Kept]):
    """Idle zygotes by what they were started for; of the process that started them alone, and closed when it ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[tuple[Hashable, Kept]] = []
        self._owner = os.getpid()
        self._is_off = False
        weakref.finalize(self, _close_all, self._idle, self._owner)

    def take(self, key: Hashable, start: Callable[[], Kept]) -> Kept | None:
        """One that is idle, or a new one; None when they do not work here, or in a process that was forked off."""
        with self._lock:
            if self._is_off or os.getpid() != self._owner:
                return None
            for number in range(len(self._idle) - 1, -1, -1):
                if self._idle[number][0] == key:
                    return self._idle.pop(number)[1]
        try:
            return start()
        except (BrokenZygoteError, SandboxFaultError):
            self.switch_off()
            return None

    def give(self, key: Hashable, kept: Kept) -> None:
        """Keep one for the next job; what was idle longest is closed when there are too many."""
        with self._lock:
            self._idle.append((key, kept))
            spare = self._idle.pop(0)[1] if len(self._idle) > _MOST_IDLE else None
        if spare is not None:
            spare.close()

    def close(self) -> None:
        """End the idle ones; the pool can still be used."""
        with self._lock:
            _close_all(self._idle, self._owner)

    def switch_off(self) -> None:
        """Start none any more."""
        self._is_off = True


def _close_all(idle: list[tuple[Hashable, Kept]], owner: int) -> None:
    if os.getpid() == owner:
        while idle:
            idle.pop()[1].close()
