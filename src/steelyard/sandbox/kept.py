"""Trusted programs of bubblewrap sessions, run in copies of processes that are kept for them (`zygote`).

A job gets the files, the limits and the namespaces that a command of a session of its own would get; its work tree is
a tmpfs of the allowed size instead of a folder of the host, and it enters a group whose limits are its own. Kept
sandboxes serve only machines with cgroups for memory and processes, where no job can hurt the next.
Not covered: writing to the work tree for a later command; whoever needs that opens a session and runs commands.
Easy to break: lending a kept sandbox again after anything about it was not as expected.
"""

from __future__ import annotations

from collections.abc import Hashable

from steelyard.attempt import Tree
from steelyard.errors import InputError, SandboxFaultError
from steelyard.ports import ExecResult, Limits, SandboxSpec
from steelyard.sandbox import bwrap_command, cgroups, launch, scratch, workspace
from steelyard.sandbox.bwrap_command import Machine
from steelyard.sandbox.session import Main, Watch
from steelyard.sandbox.zygote import BrokenZygoteError, Job, Pool, Zygote
from steelyard.store import Store

_OWN = 1  # the first process of a job is the program itself


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
        bwrap_command.check_roots(self._machine, store)
        key: Hashable = (
            main,
            tuple((place, tuple(sorted(tree.items()))) for place, tree in spec.mounts_ro.items()),
            spec.packages,
            tuple(sorted(spec.env.items())),
        )
        kept = self._pool.take(key, lambda: _Kept(self._machine, spec, store, main))
        if kept is None:
            return None
        try:
            result = kept.run(spec, store, stdin, wall_s, watch)
        except BaseException as error:
            kept.close()
            if not isinstance(error, BrokenZygoteError):
                raise
            if kept.is_new:
                self._pool.switch_off()
            return None
        self._pool.give(key, kept)
        return result

    def close(self) -> None:
        """End what is kept and idle; it is made again when it is needed."""
        self._pool.close()


class _Kept:
    """A zygote with its folder and the group that its jobs enter."""

    def __init__(self, machine: Machine, spec: SandboxSpec, store: Store, main: Main) -> None:
        self.is_new = True
        self._places = machine.places
        self._limits: Limits | None = None
        self._group: cgroups.Group | None = None
        self._room = scratch.Scratch(scratch.room_for(0))
        try:
            arguments = bwrap_command.kept_arguments(machine, spec, store, self._room)
            self._zygote = Zygote([machine.bwrap, *arguments], main.flags, main.module, main.preload)
        except BaseException:
            self._room.close()
            raise

    def run(self, spec: SandboxSpec, store: Store, stdin: bytes, wall_s: float, watch: Watch) -> ExecResult:
        """One job; raises BrokenZygoteError when it has to be run alone."""
        limits, group = spec.limits, self._group_for(spec.limits)
        job = Job(
            stdin=stdin,
            wall_s=wall_s,
            output_bytes=limits.output_bytes,
            files=_contents(spec.tree, store),
            tmpfs=launch.job_tmpfs(limits.disk_bytes, limits.files + len(spec.tree)),
            rlimits=launch.job_rlimits(limits, wall_s),
            groups=group.entrances,
        )
        group.meter.reset_peak()
        before = group.meter.counters()
        done = self._zygote.run(job, watch.over)
        result = bwrap_command.result_of(done.ended, before, group.meter, done.left, disk_full=done.full)
        if group.meter.processes():
            raise BrokenZygoteError("processes of a job outlived it")
        self.is_new = False
        return result

    def close(self) -> None:
        """End it with all that is inside."""
        try:
            self._zygote.close()
        finally:
            self._room.close()
            if self._group is not None:
                self._group.close()

    def _group_for(self, limits: Limits) -> cgroups.Group:
        """The group with these limits; it is empty between two jobs."""
        if self._group is None or self._limits != limits:
            try:
                if self._group is not None:
                    self._group.close()
                self._group = cgroups.Group(self._places, self._room.name, limits, own=_OWN)
            except SandboxFaultError as error:
                raise BrokenZygoteError(str(error)) from error
            self._limits = limits
        return self._group


def _contents(tree: Tree, store: Store) -> list[tuple[str, bytes]]:
    """The files of a tree, which goes by the rules of a session's own."""
    for path in tree:
        if not path or path.startswith("/") or workspace.resolve(path) != path:
            raise InputError(f"path leaves the repository: {path!r}; a tree needs plain relative paths")
    return [(path, store.get(reference)) for path, reference in tree.items()]
