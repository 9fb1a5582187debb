"""A session: one work tree on the host, and a backend's runner for the commands in it.

Commands and file access take turns under one lock. `diff` and `close` first end the command that may be running, so
what they read is never changed under them; between commands nothing is alive (the runners see to that).
Easy to break: waiting for the lock before ending the command that holds it.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import msgspec

from steelyard.attempt import Diff
from steelyard.errors import InputError, SandboxFaultError
from steelyard.ports import ExecResult, SandboxSpec
from steelyard.sandbox import launch, scratch, workspace
from steelyard.sandbox.supervise import Child, Stopped
from steelyard.store import Store, reference_digest


class Order(msgspec.Struct, frozen=True):
    """One command for a runner; `folder` is relative to the work tree, "" for its top."""

    argv: list[str]
    stdin: bytes
    wall_s: float
    folder: str


class Runner(Protocol):
    """How a backend runs one command; everything that it started is dead when `run` returns."""

    def run(self, order: Order, watch: Watch) -> ExecResult:
        """Run a command, showing its child to `watch` as soon as it can be ended."""

    def close(self) -> None:
        """Release what the runner holds on the machine."""


class Watch:
    """The running command as the session sees it: another thread can end it, and its disk use is looked at."""

    def __init__(self, over_disk: Callable[[], bool]) -> None:
        self.over_disk = over_disk
        self._stopping = threading.Event()
        self._child: Child | None = None
        self._next_look = 0.0

    @contextlib.contextmanager
    def over(self, child: Child) -> Iterator[None]:
        """While inside, `stop` ends this child; a stop that came just before counts."""
        self._child = child
        if self._stopping.is_set():
            child.stop("closed")
        try:
            yield
        finally:
            self._child = None

    def check(self) -> Stopped:
        """Whether a limit is passed that only the host sees; at most a tenth of the time is spent on looking."""
        started = time.monotonic()
        if started < self._next_look:
            return ""
        over = self.over_disk()
        self._next_look = started + 10 * (time.monotonic() - started)
        return "disk" if over else ""

    def stop(self) -> None:
        """End the command that is running or about to."""
        self._stopping.set()
        child = self._child
        if child is not None:
            child.stop("closed")

    def resume(self) -> None:
        """Let commands run again."""
        self._stopping.clear()


class WorkSession:
    """One isolated workspace at /work; commands run one at a time."""

    def __init__(
        self, spec: SandboxSpec, store: Store, room: scratch.Scratch, start: Callable[[scratch.Scratch], Runner]
    ) -> None:
        self._spec, self._store, self._room = spec, store, room
        self._lock = threading.Lock()
        self._closed = False
        self._runner: Runner | None = None
        self._watch = Watch(self._over_disk)
        try:
            self._work = room.folder("work")
            workspace.lay_out(self._work, spec.tree, store)
            self._runner = start(room)
        except BaseException:
            self.close()
            raise

    def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", wall_s: float | None = None, cwd: str = workspace.WORK
    ) -> ExecResult:
        """Run a command; stdout and stderr come back as one stream; `wall_s` can only lower the session's limit."""
        launch.check_command(argv)
        limit_s = self._spec.limits.wall_s if wall_s is None else min(wall_s, self._spec.limits.wall_s)
        with self._lock:
            runner = self._open_runner()
            folder = workspace.resolve(cwd)
            if not workspace.is_folder(self._work, folder):
                raise InputError(f"{cwd}: no such folder in the workspace")
            result = runner.run(Order(list(argv), stdin, limit_s, folder), self._watch)
            if result.why in ("exit", "signal") and self._over_disk():
                return msgspec.structs.replace(result, why="disk")
            return result

    def read(self, path: str, max_bytes: int) -> bytes:
        """A regular file of the workspace, links not followed; raises InputError when it is not one."""
        with self._lock:
            self._open_runner()
            return workspace.read_file(self._work, path, max_bytes)

    def write(self, path: str, data: bytes) -> None:
        """Write a file of the workspace, making its folders; never through a link."""
        with self._lock:
            self._open_runner()
            workspace.write_file(self._work, path, data, self._spec.limits)

    def paths(self) -> list[str]:
        """Sorted relative paths of the regular files in the workspace."""
        with self._lock:
            self._open_runner()
            found = workspace.entries(self._work, self._most_entries)
            return sorted(entry.path for entry in found if not entry.refused)

    def diff(self) -> Diff:
        """Kill everything, then read what differs from the base; contents go to the store given at opening."""
        with self._stopped():
            self._open_runner()
            base = {path: reference_digest(reference) for path, reference in self._spec.tree.items()}
            return workspace.difference(self._work, base, self._store, self._spec.limits)

    def close(self) -> None:
        """Kill everything and remove the workspace; safe to call twice."""
        with self._stopped():
            if not self._closed:
                self._closed = True
                self._room.close()  # before the runner: files on tmpfs are charged to its cgroup
                if self._runner is not None:
                    self._runner.close()

    @contextlib.contextmanager
    def _stopped(self) -> Iterator[None]:
        """The lock, after ending the command that may hold it."""
        self._watch.stop()
        with self._lock:
            self._watch.resume()
            yield

    def _open_runner(self) -> Runner:
        if self._closed or self._runner is None:
            raise SandboxFaultError("this session is closed; open a new one")
        return self._runner

    @property
    def _most_entries(self) -> int:
        return self._spec.limits.files + len(self._spec.tree)

    def _over_disk(self) -> bool:
        use = workspace.use_of(self._work, self._most_entries)
        return use.disk_bytes > self._spec.limits.disk_bytes or use.entries > self._most_entries
