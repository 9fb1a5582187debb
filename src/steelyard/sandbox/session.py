"""A session: one work tree, on the host or in a container, and the commands in it.

Commands and file access take turns under one lock. `diff` and `close` first end the command that may be running, so
what they read is never changed under them; between commands nothing is alive (the places see to that).
Easy to break: waiting for the lock before ending the command that holds it.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import msgspec

from steelyard.attempt import Diff, Tree, lay_over
from steelyard.errors import InputError, SandboxFaultError
from steelyard.ports import ExecResult, SandboxSpec, Usage
from steelyard.sandbox import launch, scratch, workspace
from steelyard.sandbox.supervise import Stopped
from steelyard.sandbox.zygote import Found
from steelyard.store import Store, reference_digest


class Order(msgspec.Struct, frozen=True):
    """One command; `folder` is relative to the work tree, "" for its top."""

    argv: list[str]
    stdin: bytes
    wall_s: float
    folder: str


class Main(msgspec.Struct, frozen=True):
    """A trusted program of a read-only mount, for a process that has loaded it before.

    `module` is its path inside, whose `main()` gives the exit code; `flags` are the interpreter's; `preload` names
    modules of the standard library that jobs mostly want. Another `entry` than `main` may run code of others in its
    own process; that has to be said (`guarded`).
    """

    flags: tuple[str, ...]
    module: str
    preload: tuple[str, ...] = ()
    entry: str = "main"
    guarded: bool = False


class Stoppable(Protocol):
    """Something that runs and can be ended from another thread."""

    def stop(self, why: Stopped) -> None:
        """End it; the first reason given stays."""


class Runner(Protocol):
    """How a backend runs one command over a host folder; everything that it started is dead when `run` returns."""

    def run(self, order: Order, watch: Watch) -> ExecResult:
        """Run a command, showing its child to `watch` as soon as it can be ended."""

    def close(self) -> None:
        """Release what the runner holds on the machine."""


class Place(Protocol):
    """Where a session's tree is and its commands run. Calls come one at a time."""

    def run(self, order: Order, watch: Watch) -> ExecResult:
        """Run a command; everything that it started is dead on return. Raises InputError for a missing folder."""

    def read(self, path: str, max_bytes: int) -> bytes:
        """A regular file with one name; links are not followed."""

    def write(self, path: str, data: bytes) -> None:
        """Write a file, making its folders; never through a link."""

    def paths(self) -> list[str]:
        """Sorted relative paths of the regular files."""

    def difference(self, base: Tree) -> Diff:
        """What differs from `base`."""

    def is_over_disk(self) -> bool:
        """Whether a limit of the disk is passed that only the host sees; called while a command runs."""

    def close(self) -> None:
        """Remove everything."""


class Watch:
    """The running command as the session sees it: another thread can end it, and its disk use is looked at."""

    def __init__(self, over_disk: Callable[[], bool]) -> None:
        self.over_disk = over_disk
        self._stopping = threading.Event()
        self._child: Stoppable | None = None
        self._next_look = 0.0

    @contextlib.contextmanager
    def over(self, child: Stoppable) -> Iterator[None]:
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


class HostPlace:
    """A tree in a folder of the host, touched through handles only, and a backend's runner over it."""

    def __init__(
        self, spec: SandboxSpec, store: Store, room: scratch.Scratch, start: Callable[[scratch.Scratch], Runner]
    ) -> None:
        self._limits, self._store, self._room = spec.limits, store, room
        self._most_entries = spec.limits.files + len(spec.tree)
        self._runner: Runner | None = None
        try:
            self.root = room.folder("work")
            workspace.lay_out(self.root, spec.tree, store)
            self._runner = start(room)
        except BaseException:
            self.close()
            raise

    def run(self, order: Order, watch: Watch) -> ExecResult:
        """Run a command and look at what it left on the disk."""
        if self._runner is None:
            raise SandboxFaultError("a session without its runner")
        if not workspace.is_folder(self.root, order.folder):
            raise InputError(f"{order.folder}: no such folder in the workspace")
        result = self._runner.run(order, watch)
        over = result.why in ("exit", "signal") and self.is_over_disk()
        return msgspec.structs.replace(result, why="disk") if over else result

    def read(self, path: str, max_bytes: int) -> bytes:
        """A regular file with one name; links are not followed."""
        return workspace.read_file(self.root, path, max_bytes)

    def write(self, path: str, data: bytes) -> None:
        """Write a file, making its folders; never through a link."""
        workspace.write_file(self.root, path, data, self._limits)

    def paths(self) -> list[str]:
        """Sorted relative paths of the regular files."""
        return sorted(entry.path for entry in workspace.entries(self.root, self._most_entries) if not entry.refused)

    def difference(self, base: Tree) -> Diff:
        """What differs from `base`."""
        return workspace.difference(self.root, base, self._store, self._limits)

    def is_over_disk(self) -> bool:
        """Whether the tree is larger than it may be, or holds more entries."""
        use = workspace.use_of(self.root, self._most_entries)
        return use.disk_bytes > self._limits.disk_bytes or use.entries > self._most_entries

    def close(self) -> None:
        """Remove the folder, then what the runner holds: files on tmpfs are charged to its cgroup."""
        self._room.close()
        if self._runner is not None:
            self._runner.close()


class LatePlace:
    """A place that is made when it is first needed."""

    def __init__(self, make: Callable[[], Place]) -> None:
        self._make = make
        self._made: Place | None = None

    @property
    def is_made(self) -> bool:
        """Whether anything has needed it yet."""
        return self._made is not None

    def run(self, order: Order, watch: Watch) -> ExecResult:
        """Run a command; everything that it started is dead on return."""
        return self._place().run(order, watch)

    def read(self, path: str, max_bytes: int) -> bytes:
        """A regular file with one name; links are not followed."""
        return self._place().read(path, max_bytes)

    def write(self, path: str, data: bytes) -> None:
        """Write a file, making its folders; never through a link."""
        self._place().write(path, data)

    def paths(self) -> list[str]:
        """Sorted relative paths of the regular files."""
        return self._place().paths()

    def difference(self, base: Tree) -> Diff:
        """What differs from `base`."""
        return self._place().difference(base)

    def is_over_disk(self) -> bool:
        """Whether the tree is larger than it may be; what is not made is not."""
        return self._made is not None and self._made.is_over_disk()

    def close(self) -> None:
        """Remove everything, if there is anything."""
        if self._made is not None:
            self._made.close()

    def _place(self) -> Place:
        if self._made is None:
            self._made = self._make()
        return self._made


class Copies(Protocol):
    """Runs trusted programs over a session's untouched tree in copies of a process that has loaded them.

    None means that this does not work here.
    """

    def run(self, main: Main, stdin: bytes, wall_s: float, watch: Watch) -> ExecResult | None:
        """Run a program to its end."""

    def run_watched(
        self, main: Main, stdin: bytes, wall_s: float, watch: Watch, look: Callable[[int, int, int], Found]
    ) -> tuple[Found, int, ExecResult] | None:
        """Run one whose results `look` reads."""


class WorkSession:
    """One isolated workspace at /work; commands run one at a time."""

    def __init__(self, spec: SandboxSpec, place: Place, copies: Copies | None = None) -> None:
        self._limits, self._place, self._copies = spec.limits, place, copies
        self._usage = Usage()
        self._base: Tree = {path: reference_digest(reference) for path, reference in spec.tree.items()}
        self._lock = threading.Lock()
        self._closed = False
        self._watch = Watch(place.is_over_disk)

    def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", wall_s: float | None = None, cwd: str = workspace.WORK
    ) -> ExecResult:
        """Run a command; stdout and stderr come back as one stream; `wall_s` can only lower the session's limit."""
        launch.check_command(argv)
        limit_s = self._limits.wall_s if wall_s is None else min(wall_s, self._limits.wall_s)
        with self._lock:
            place = self._open_place()
            return self._counted(place.run(Order(list(argv), stdin, limit_s, workspace.resolve(cwd)), self._watch))

    def run_main(
        self,
        argv: Sequence[str],
        *,
        flags: Sequence[str],
        module: str,
        preload: Sequence[str] = (),
        stdin: bytes = b"",
        wall_s: float | None = None,
    ) -> ExecResult:
        """Run a trusted Python program of a mount, at best as `main()` of `module` in a copy of a process kept for it.

        `argv` runs the same program alone, which is what happens when anything was done in this session before, and
        where copies do not work. What a copy writes to the workspace is gone with it.
        """
        limit_s = self._limits.wall_s if wall_s is None else min(wall_s, self._limits.wall_s)
        with self._lock:
            copies = self._untouched()
            if copies is not None:
                result = copies.run(Main(tuple(flags), module, tuple(preload)), stdin, limit_s, self._watch)
                if result is not None:
                    return self._counted(result)
        return self.run(argv, stdin=stdin, wall_s=wall_s)

    def run_watched(
        self,
        look: Callable[[int, int, int], Found],
        *,
        flags: Sequence[str],
        module: str,
        entry: str,
        preload: Sequence[str],
        stdin: bytes,
        wall_s: float,
    ) -> tuple[Found, int, ExecResult] | None:
        """Run a function of a trusted program that runs code of others in its own process.

        `look` is called when it starts, with handles of what it writes to its handle 3, of what it prints, and one
        that is readable when it has ended; when it returns, everything is ended. Gives what `look` gave, the exit code
        (-n for signal n) and a result without output. None where copies do not work, or where anything was done in
        this session before: then it did not come to an end, and `run_main` is to be asked.
        """
        with self._lock:
            self._open_place()
            copies = self._untouched()
            if copies is None:
                return None
            main = Main(tuple(flags), module, tuple(preload), entry, guarded=True)
            found = copies.run_watched(main, stdin, min(wall_s, self._limits.wall_s), self._watch, look)
            if found is not None:
                self._counted(found[2])
            return found

    def read(self, path: str, max_bytes: int) -> bytes:
        """A regular file of the workspace, links not followed; raises InputError when it is not one."""
        with self._lock:
            return self._open_place().read(path, max_bytes)

    def write(self, path: str, data: bytes) -> None:
        """Write a file of the workspace, making its folders; never through a link."""
        with self._lock:
            self._open_place().write(path, data)

    def paths(self) -> list[str]:
        """Sorted relative paths of the regular files in the workspace."""
        with self._lock:
            return self._open_place().paths()

    def mark(self) -> None:
        """Take the files as they are now as the base of `diff`: what a setup made is nobody's change."""
        with self._stopped():
            self._base = lay_over(self._base, self._open_place().difference(self._base))

    def diff(self) -> Diff:
        """Kill everything, then read what differs from the base; contents go to the store given at opening."""
        with self._stopped():
            return self._open_place().difference(self._base)

    def close(self) -> Usage:
        """Kill everything and remove the workspace; what all commands used. Safe to call twice."""
        with self._stopped():
            if not self._closed:
                self._closed = True
                self._place.close()
            return self._usage

    @contextlib.contextmanager
    def _stopped(self) -> Iterator[None]:
        """The lock, after ending the command that may hold it."""
        self._watch.stop()
        with self._lock:
            self._watch.resume()
            yield

    def _untouched(self) -> Copies | None:
        """What runs copies, as long as nothing was done in this session that they would not see."""
        is_new = isinstance(self._place, LatePlace) and not self._place.is_made
        return self._copies if is_new else None

    def _counted(self, result: ExecResult) -> ExecResult:
        """A result, after adding what it cost to the session's usage."""
        self._usage = self._usage.after(result)
        return result

    def _open_place(self) -> Place:
        if self._closed:
            raise SandboxFaultError("this session is closed; open a new one")
        return self._place
