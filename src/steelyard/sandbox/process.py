"""The backend `unsafe-process`: a plain child process with a clean environment, rlimits and a wall clock.

For one's own reference solutions only: code run here can read and change whatever this user can, use the network and
leave processes behind that moved to another process group. It says so: its guarantees are `wall` and `output`.
Not covered: mounts (a plain process has no file system of its own).
Easy to break: treating it as a fallback; it is made only with `allow_unsafe=True`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from steelyard.errors import RefusedError, SandboxUnavailableError
from steelyard.ports import ExecResult, Guarantee, SandboxSpec
from steelyard.sandbox import launch, refusals, scratch
from steelyard.sandbox.choose import UNSAFE
from steelyard.sandbox.packages import NOT_HERE
from steelyard.sandbox.session import HostPlace, Order, Watch, WorkSession
from steelyard.sandbox.supervise import Child
from steelyard.store import Store

_CAPS: frozenset[Guarantee] = frozenset({"wall", "output"})


class ProcessSandbox:
    """A backend that isolates nothing; `allow_unsafe=True` says that the caller knows."""

    def __init__(self, *, allow_unsafe: bool) -> None:
        if not allow_unsafe:
            raise RefusedError(refusals.UNSAFE_NOT_ALLOWED)

    @property
    def name(self) -> str:
        """Backend, as recorded."""
        return UNSAFE

    @property
    def caps(self) -> frozenset[Guarantee]:
        """Guarantees that hold here."""
        return _CAPS

    def open(self, spec: SandboxSpec, store: Store) -> WorkSession:
        """A fresh temporary folder; raises SandboxUnavailableError when more than `wall` and `output` is required."""
        refusals.check(UNSAFE, _CAPS, spec.require)
        if spec.packages:
            raise SandboxUnavailableError(NOT_HERE.format(backend=UNSAFE, names=", ".join(spec.packages)))
        launch.check_env(spec.env)
        if spec.mounts_ro:
            raise SandboxUnavailableError(refusals.NO_MOUNTS.format(path=next(iter(spec.mounts_ro))))
        room = scratch.Scratch(Path(tempfile.gettempdir()))
        return WorkSession(spec, HostPlace(spec, store, room, lambda made: _ProcessRunner(spec, made)))


class _ProcessRunner:
    """Runs each command in a process group of its own."""

    def __init__(self, spec: SandboxSpec, room: scratch.Scratch) -> None:
        self._limits, self._work = spec.limits, room.path / "work"
        path = f"{Path(sys.base_prefix).resolve()}/bin:{launch.SYSTEM_PATH}"
        home, temporary = room.folder("home"), room.folder("tmp")
        self._env = {**launch.BASE_ENV, "HOME": str(home), "TMPDIR": str(temporary), "PATH": path, **spec.env}

    def run(self, order: Order, watch: Watch) -> ExecResult:
        """Run a command; what stays in its process group is ended with it."""
        limits = self._limits
        command = launch.limited(order.argv, limits, order.wall_s, address_space=True)
        child = Child(command, stdin=order.stdin, env=self._env, cwd=str(self._work / order.folder))
        with watch.over(child):
            ended = child.wait(order.wall_s, limits.output_bytes, watch.check)
        stopped = "signal" if ended.stopped == "closed" else ended.stopped
        return ExecResult(
            why=stopped or launch.why_of(ended.rc),
            rc=None if stopped else ended.rc,
            output=ended.output,
            truncated=ended.truncated,
            cpu_ms=None if stopped else ended.cpu_ms,
            wall_ms=ended.wall_ms,
        )

    def close(self) -> None:
        """Nothing is held."""
