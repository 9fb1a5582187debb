"""The docker backend: one container a session, entered for each command, driven through the command line only.

Inside: a read-only image, /work, /tmp and /dev/shm on tmpfs of a fixed size, no network but `lo`, no capabilities,
docker's seccomp filter, and limits on memory, processor time and processes by the container's cgroup. Files travel as
tar streams (`archive`) or through small scripts (`inside`); nothing of the host is mounted. Read-only trees are laid
out by another user than the one whose commands run. Every process of a command is dead before `run` returns, which
the host checks in the container's cgroup; a container whose processes cannot be ended is removed.
Source: SANDBOX in docs/sandboxes.md; Docker Engine API 1.41 and newer by way of `docker run`, `exec`, `inspect`, `rm`;
podman answers the same commands (STEELYARD_DOCKER=podman), with differences that `podman` holds.
Not covered: the shared kernel, side channels, engines on other machines whose cgroups cannot be read here (there CPU
and memory are not measured).
Easy to break: a signal comes back as exit code 128+n, as in every shell.
"""

from __future__ import annotations

import contextlib
import math
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from steelyard.attempt import Diff, Tree
from steelyard.errors import InputError, SandboxFaultError, SandboxUnavailableError
from steelyard.ports import ExecResult, Guarantee, SandboxSpec
from steelyard.sandbox import archive, cgroups, inside, launch, refusals, scratch, workspace
from steelyard.sandbox.container import KEEPER, USER, Container, Shape, sweep
from steelyard.sandbox.engine import Engine, Image, find_engine, find_image
from steelyard.sandbox.packages import NOT_HERE
from steelyard.sandbox.session import Order, Watch, WorkSession
from steelyard.sandbox.supervise import Child, Ended
from steelyard.store import Store

DEFAULT_IMAGE = "python"
CPUS = 2.0
_ALWAYS: frozenset[Guarantee] = frozenset({"filesystem", "network", "cpu", "wall", "output"})
_PACK_S = 120.0
_LATER_S = 2  # the limit inside comes this much later than the host's, for when the host cannot act
_LISTED_BYTES = 32 * 1024 * 1024
_FROM_IMAGE = ("PATH", "LD_LIBRARY_PATH")  # the only variables of an image that commands see


class DockerSandbox:
    """A backend over one local image; `image` is a recipe's name, or any local image by tag, digest or id."""

    def __init__(self, image: str = DEFAULT_IMAGE, *, binary: str | None = None, cpus: float = CPUS) -> None:
        self._engine: Engine = find_engine(binary)
        self._image: Image = find_image(self._engine, image)
        self._cpus = cpus
        self._caps = _ALWAYS | self._engine.limits
        self._lock = threading.Lock()
        self._swept = False
        self._try(image)

    @property
    def name(self) -> str:
        """Engine, its version and the image's digest, as recorded."""
        return f"{self._engine.kind} {self._engine.version} {self._image.digest12}"

    @property
    def caps(self) -> frozenset[Guarantee]:
        """Guarantees that hold here."""
        return self._caps

    def open(self, spec: SandboxSpec, store: Store) -> WorkSession:
        """A fresh session; raises SandboxUnavailableError when a required guarantee is missing."""
        launch.check_env(spec.env)
        refusals.check(self.name, self.caps, spec.require)
        if spec.packages:
            raise SandboxUnavailableError(NOT_HERE.format(backend=self.name, names=", ".join(spec.packages)))
        with self._lock:
            if not self._swept:
                self._swept = True
                sweep(self._engine)
        return WorkSession(spec, _ContainerPlace(self._engine, self._image, self._cpus, spec, store))

    def _try(self, image: str) -> None:
        """One real command: an image without the programs that sessions need is refused here and not in a job."""
        with tempfile.TemporaryDirectory() as folder:
            try:
                session = self.open(SandboxSpec(require=()), Store(folder))
                try:
                    result = session.run(["/bin/sh", "-c", "echo fine > note && cat note"])
                    works = result.output == b"fine\n" and session.paths() == ["note"]
                    session.diff()
                finally:
                    session.close()
            except SandboxFaultError as error:
                raise SandboxUnavailableError(f"{self.name}: the image {image} cannot be used: {error}") from error
            if not works:
                said = result.output.decode(errors="replace").strip()
                raise SandboxUnavailableError(
                    f"{self.name}: the image {image} cannot be used ({result.why}, {result.rc}): {said}; it needs sh, "
                    "cat, chmod, env, find, mkdir, sleep, stat, tar and timeout"
                )


class _ContainerPlace:
    """A work tree inside a container, and the commands over it."""

    def __init__(self, engine: Engine, image: Image, cpus: float, spec: SandboxSpec, store: Store) -> None:
        self._limits, self._store, self._cpus = spec.limits, store, cpus
        self._entries = spec.limits.files + len(spec.tree)
        shown = {name: value for name, value in image.env.items() if name in _FROM_IMAGE}
        self._env = {"PATH": launch.SYSTEM_PATH, **shown, **launch.BASE_ENV, **spec.env}
        for place in spec.mounts_ro:
            launch.check_mount(place)
        trees = [("/work", USER, archive.packed(spec.tree, store))] if spec.tree else []
        trees += [(place, KEEPER, archive.packed(tree, store)) for place, tree in spec.mounts_ro.items()]
        self._room = scratch.Scratch(Path(tempfile.gettempdir()))
        self._container: Container | None = None
        try:
            # One entry is the root of the tree itself.
            shape = Shape(image, spec.limits, cpus, self._entries + 1, tuple(spec.mounts_ro))
            self._container = Container(engine, shape, self._room.path)
            if not spec.tree:
                self._container.do(inside.START)
            for place, user, data in trees:
                _unpack(self._container, place, user, data)
            self._container.settle()
        except BaseException:
            self.close()
            raise

    def run(self, order: Order, watch: Watch) -> ExecResult:
        """Run a command; every process that it started is dead on return."""
        container = self._here()
        marks: list[cgroups.Counters] = []
        since = time.time()
        child = Child(self._command(container, order), stdin=order.stdin, env=_environment())
        client = child.kill

        def begun() -> None:
            if container.meter is not None:
                container.meter.reset_peak()
            marks.append(_counters(container))
            if child.is_stopped():
                container.end_processes()

        def end() -> None:
            if marks:  # before that nothing of the command is there to end, and it might start after its client's end
                container.end_processes()

        child.kill = end
        try:
            with watch.over(child):
                ended = child.wait(
                    order.wall_s, self._limits.output_bytes, watch.check, mark=inside.MARK, on_mark=begun
                )
        except BaseException:
            client()
            container.lose("a command did not end")
            raise
        left = container.end_processes()
        return self._result(container, order, ended, left, marks, since)

    def read(self, path: str, max_bytes: int) -> bytes:
        """A regular file with one name; links are not followed."""
        done = self._here().do(inside.READ, _inner(path), "", str(max_bytes), most=max_bytes + 4096)
        _check(done, path)
        head, _, data = done.output.partition(b"\n")
        mode, names, size = _stat(head, path)
        why = workspace.refusal_of(mode, names)
        if why:
            raise InputError(f"{path}: not a plain file: {why}")
        if size > max_bytes:
            raise InputError(f"{path}: {size} bytes, over the limit of {max_bytes}")
        if len(data) != size:
            raise SandboxFaultError(f"{path}: {len(data)} of {size} bytes came")
        return data

    def write(self, path: str, data: bytes) -> None:
        """Write a file, making its folders; never through a link."""
        if len(data) > self._limits.file_bytes:
            raise InputError(f"{path}: {len(data)} bytes are over the limit of {self._limits.file_bytes} a file")
        _check(self._here().do(inside.WRITE, _inner(path), "make", stdin=data), path)

    def paths(self) -> list[str]:
        """Sorted relative paths of the regular files."""
        container = self._here()
        done = container.do(inside.LIST, most=_LISTED_BYTES)
        container.end_processes()
        return archive.names(done.output, max_entries=self._entries)

    def difference(self, base: Tree) -> Diff:
        """What differs from `base`, read member by member from one tar stream."""
        container = self._here()
        container.end_processes()
        try:
            return workspace.compared(self._found(container), base, self._store, self._limits)
        finally:
            container.end_processes()

    def is_over_disk(self) -> bool:
        """Never: the size and the entries of the tmpfs are the kernel's limits."""
        return False

    def close(self) -> None:
        """Remove the container, then let go of the lock that says it is in use."""
        if self._container is not None:
            self._container.remove()
        self._room.close()

    def _here(self) -> Container:
        container = self._container
        if container is None or container.lost:
            raise SandboxFaultError(f"the container of this session is gone: {container.lost if container else ''}")
        return container

    def _command(self, container: Container, order: Order) -> list[str]:
        folder = f"{workspace.WORK}/{order.folder}".rstrip("/")
        env = {**self._env, "PWD": folder}
        program = [
            *("/bin/sh", "-c", inside.LAUNCH, "sh", order.folder or "."),
            str(math.ceil(self._limits.file_bytes / 512)),
            str(math.ceil(order.wall_s * math.ceil(self._cpus)) + 1),
            str(math.ceil(order.wall_s) + _LATER_S),
            *(f"{name}={value}" for name, value in env.items()),
            *("/bin/sh", "-c", 'exec "$@"', "sh", *order.argv),
        ]
        return container.exec_argv(USER, program, stdin=bool(order.stdin))

    def _result(
        self,
        container: Container,
        order: Order,
        ended: Ended,
        left: int,
        marks: list[cgroups.Counters],
        since: float,
    ) -> ExecResult:
        if not marks:
            _check(ended, order.folder)
            return ExecResult("infra", None, ended.side.encode(), wall_ms=ended.wall_ms)
        report = inside.report_in(ended.side)
        if report is None and not ended.stopped:
            container.is_running()  # code inside ended the launcher, or the whole container went
        before, after = marks[0], _counters(container)
        rc = report.rc if report else ended.rc
        oom_kills = after.oom_kills - before.oom_kills
        if container.meter is None and rc == 137 and container.out_of_memory_since(since):
            oom_kills = 1
        if "memory" in container.lost:
            oom_kills = 1
        why = _why(ended, rc, oom_kills, after.pids_refused - before.pids_refused, order.wall_s)
        if why in ("exit", "signal") and report is not None and report.full:
            why = "disk"
        return ExecResult(
            why=why,
            rc=None if ended.stopped or why == "timeout" else rc,
            output=ended.output,
            truncated=ended.truncated,
            cpu_ms=None if before.cpu_ms is None or after.cpu_ms is None else after.cpu_ms - before.cpu_ms,
            wall_ms=ended.wall_ms,
            peak_memory_bytes=_peak(container),
            leftover_pids=max(left, report.left if report else 0) if not ended.stopped else 0,
        )

    def _found(self, container: Container) -> Iterator[tuple[workspace.Entry, workspace.Read]]:
        argv = container.exec_argv(USER, ["/bin/sh", "-c", inside.PACK])
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said)
            timer = threading.Timer(_PACK_S, process.kill)
            timer.start()
            try:
                if process.stdout is None:
                    raise SandboxFaultError("docker exec was started without its pipe")
                found = archive.found(process.stdout, max_entries=self._entries, max_bytes=2 * self._limits.disk_bytes)
                for entry, read in found:
                    yield entry, read
                    if entry.path == ".":
                        return
                while process.stdout.read(65536):  # padding after the end of the archive
                    continue
                rc = process.wait()
                said.seek(0)
                *sockets, words = said.read(workspace.MAX_DEPTH * 65536).split(b"\0")
                if rc != 0:
                    raise SandboxFaultError(f"the work tree could not be read: {words.decode(errors='replace')[-500:]}")
                for name in archive.names(b"\0".join([*sockets, b""]), max_entries=self._entries):
                    yield workspace.Entry(name, 0, "a socket"), archive.nothing
            finally:
                timer.cancel()
                process.kill()
                process.wait()
                if process.stdout is not None:
                    process.stdout.close()


def _why(ended: Ended, rc: int, oom_kills: int, pids_refused: int, wall_s: float) -> launch.Why:
    """Why a command ended, from what the host and the kernel counted."""
    if ended.stopped:
        return "signal" if ended.stopped == "closed" else ended.stopped
    if rc != 0 and oom_kills > 0:
        return "oom"
    if rc != 0 and pids_refused > 0:
        return "pids"
    if rc == 137 and ended.wall_ms >= wall_s * 1000:
        return "timeout"
    return launch.why_of(rc)


def _check(done: Ended, path: str) -> None:
    """The scripts' refusals in the words of the host's own work tree."""
    if done.rc == inside.LINK:
        raise InputError(f"path leaves the repository: {path!r} is a link or goes through one")
    if done.rc == inside.ABSENT:
        raise InputError(f"{path}: no such file or directory")
    if done.rc in (inside.NO_FOLDER, inside.DENIED):
        raise InputError(f"{path}: {'not a directory' if done.rc == inside.NO_FOLDER else 'permission denied'}")
    if done.rc == inside.ODD:
        mode, names, _ = _stat(done.output, path)
        why = workspace.refusal_of(mode, names)
        raise InputError(f"path leaves the repository: {path!r} is {why}")
    if done.rc == inside.FULL:
        raise SandboxFaultError(f"{path}: no space left")


def _stat(said: bytes, path: str) -> tuple[int, int, int]:
    """(mode, names, bytes) of what a script looked at; an engine that lost its words is a fault."""
    words = said.split()
    if len(words) != 3:
        raise SandboxFaultError(f"{path}: the engine lost what a program said of it")
    return int(words[0], 16), int(words[1]), int(words[2])


def _unpack(container: Container, place: str, user: str, data: bytes) -> None:
    script = f"{inside.START}; {inside.UNPACK}" if user == USER else inside.UNPACK
    done = container.do(script, place, user=user, stdin=data)
    if done.rc != 0:
        raise SandboxFaultError(
            f"could not lay out {place}: {done.side.strip()}; is the limit of the disk or of the memory too low?"
        )


def _inner(path: str) -> str:
    """A path for the scripts, relative to the work tree."""
    relative = workspace.resolve(path)
    if not relative:
        raise InputError(f"{path!r} is the workspace itself, not a file in it")
    if relative.count("/") > workspace.MAX_DEPTH:
        raise InputError(f"{path!r} is deeper than {workspace.MAX_DEPTH} folders")
    return relative


def _environment() -> dict[str, str]:
    """The command line is trusted and needs the caller's settings (DOCKER_HOST, DOCKER_CONTEXT, HOME)."""
    return dict(os.environ)


def _counters(container: Container) -> cgroups.Counters:
    with contextlib.suppress(OSError):  # the group goes with its container
        if container.meter is not None:
            return container.meter.counters()
    return cgroups.Counters()


def _peak(container: Container) -> int | None:
    with contextlib.suppress(OSError):
        if container.meter is not None:
            return container.meter.peak_memory_bytes()
    return None
