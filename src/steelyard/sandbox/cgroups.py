"""Limits that bind a whole session: memory and process counts by cgroup v1, or by a delegated v2 subtree.

Source: Linux Documentation/admin-guide/cgroup-v1 and cgroup-v2.rst. Groups are made below this process's own group,
so that limits above it still hold. A command joins by writing "0" to `cgroup.procs` from the process that then
becomes the sandbox: no moment exists in which it runs outside.
Not covered: CPU quotas and IO.
Easy to break: v2 refuses controllers for a group that holds processes itself, so its parent is tried as well;
page cache of files on tmpfs is charged to the group and stays until the files are gone.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

import msgspec

from steelyard.errors import SandboxFaultError
from steelyard.ports import Limits

TALLY = "pids.current"
_PAGE_BYTES = 4096
_OWN = 3  # processes of the sandbox itself in each run: the monitor, the first process inside, its forked shell


class Places(msgspec.Struct, frozen=True):
    """Folders in which groups can be made: v1 has one a controller, v2 one for all (`unified`)."""

    unified: Path | None = None
    memory: Path | None = None
    pids: Path | None = None
    cpu: Path | None = None


class Counters(msgspec.Struct, frozen=True):
    """What a group has counted so far; None where the kernel does not say."""

    oom_kills: int = 0
    pids_refused: int = 0
    cpu_ms: float | None = None


def find(mounts: str | None = None, own: str | None = None) -> Places:
    """Where groups with working limits can be made; tries it. Arguments default to the contents of /proc/self."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text() if mounts is None else mounts
        own = Path("/proc/self/cgroup").read_text() if own is None else own
    except OSError:
        return Places()
    paths = {}
    for line in own.splitlines():
        _, names, path = line.split(":", 2)
        paths[names] = path
    v1: dict[str, Path] = {}
    unified = None
    for line in mounts.splitlines():
        fields, _, kind = line.partition(" - ")
        point, (kind, _, options) = Path(fields.split()[4]), kind.split()[:3]
        if kind == "cgroup2":
            unified = _usable_v2(point, paths.get("", "/"))
        elif kind == "cgroup":
            for name in ("memory", "pids", "cpuacct"):
                if name in options.split(","):
                    group = next((path for names, path in paths.items() if name in names.split(",")), "/")
                    place = next((p for p in (_under(point, group), point) if p.is_dir() and _can_make(p, name)), None)
                    if place:
                        v1[name] = place
    if unified:
        return Places(unified=unified)
    return Places(memory=v1.get("memory"), pids=v1.get("pids"), cpu=v1.get("cpuacct"))


class Meter:
    """Reads what groups count; `memory`, `pids` and `cpu` are their folders, one and the same in v2.

    With `keeps` its files of one line or a few stay open until it is closed: opening takes longer than reading.
    Easy to break: keeping `cgroup.procs` open as well, of which v1 shows the same for a second, whatever happens.
    """

    def __init__(
        self, memory: Path | None, pids: Path | None, cpu: Path | None, *, unified: bool, keeps: bool = False
    ) -> None:
        self._memory, self._pids, self._cpu, self._v2 = memory, pids, cpu, unified
        self._keeps = keeps
        self._open: dict[str, int] = {}

    def counters(self) -> Counters:
        """What was counted since the group was made."""
        cpu_ms = None
        if self._cpu is not None and self._v2:
            cpu_ms = self._keyed(f"{self._cpu}/cpu.stat", "usage_usec") / 1e3
        elif self._cpu is not None:
            cpu_ms = int(self._text(f"{self._cpu}/cpuacct.usage")) / 1e6
        events = "memory.events" if self._v2 else "memory.oom_control"
        return Counters(
            oom_kills=self._keyed(f"{self._memory}/{events}", "oom_kill") if self._memory else 0,
            pids_refused=self._keyed(f"{self._pids}/pids.events", "max") if self._pids else 0,
            cpu_ms=cpu_ms,
        )

    def processes(self) -> list[int] | None:
        """Ids of the processes in the group as this process sees them; None where they cannot be read."""
        if self._pids is None:
            return None
        return [int(line) for line in (self._pids / "cgroup.procs").read_text().split()]

    def tasks(self) -> int | None:
        """How many processes and threads are in the group; None where they are not counted."""
        return None if self._pids is None else int(self._text(f"{self._pids}/{TALLY}"))

    def reset_peak(self) -> None:
        """Start a new measurement of the peak, where the kernel can (v1) and this user may."""
        if self._memory is not None and not self._v2:
            with contextlib.suppress(OSError):
                self._write(f"{self._memory}/memory.max_usage_in_bytes")

    def peak_memory_bytes(self) -> int | None:
        """The highest memory use, with the files that it keeps on tmpfs; since the last reset on v1."""
        if self._memory is None:
            return None
        try:
            return int(self._text(f"{self._memory}/{'memory.peak' if self._v2 else 'memory.max_usage_in_bytes'}"))
        except FileNotFoundError:
            return None

    def close(self) -> None:
        """Let go of the files; they are opened again when they are needed."""
        while self._open:
            os.close(self._open.popitem()[1])

    def _keyed(self, path: str, key: str) -> int:
        for line in self._text(path).splitlines():
            name, _, value = line.partition(" ")
            if name == key:
                return int(value)
        return 0

    def _text(self, path: str) -> str:
        handle = self._handle(path, os.O_RDONLY)
        try:
            return os.pread(handle, _PAGE_BYTES, 0).decode()
        finally:
            self._let_go(handle)

    def _write(self, path: str) -> None:
        handle = self._handle(path, os.O_WRONLY)
        try:
            os.pwrite(handle, b"0", 0)
        finally:
            self._let_go(handle)

    def _handle(self, path: str, way: int) -> int:
        key = f"{way}{path}"
        handle = self._open.get(key)
        if handle is None:
            handle = os.open(path, way | os.O_CLOEXEC)
            if self._keeps:
                self._open[key] = handle
        return handle

    def _let_go(self, handle: int) -> None:
        if not self._keeps:
            os.close(handle)


class Group:
    """The groups of one session; `own` processes of the sandbox itself are counted in each run."""

    def __init__(self, places: Places, name: str, limits: Limits, *, own: int = _OWN) -> None:
        v2 = places.unified is not None
        roots = [places.unified] if v2 else [places.memory, places.pids, places.cpu]
        self.folders: list[Path] = []
        memory, pids, cpu = (root / name if root else None for root in (roots * 3 if v2 else roots))
        self.meter = Meter(memory, pids, cpu, unified=v2, keeps=True)
        try:
            for root in roots:
                if root is not None:
                    (root / name).mkdir()
                    self.folders.append(root / name)
            _limit(memory, pids, limits.memory_bytes, limits.pids + own, v2=v2)
        except OSError as error:
            self.close()
            raise SandboxFaultError(f"could not make a cgroup: {error}") from error

    @property
    def entrances(self) -> list[str]:
        """Files to which a process writes "0" to come under the limits."""
        return [str(folder / "cgroup.procs") for folder in self.folders]

    @property
    def tallies(self) -> list[str]:
        """The file that counts its processes and threads, if there is one."""
        return [str(path) for folder in self.folders if (path := folder / TALLY).exists()][:1]

    def close(self) -> None:
        """Remove the groups; a group is busy for a moment after its last process has gone."""
        self.meter.close()
        for folder in self.folders:
            remove_group(folder)
        self.folders = []


def _limit(memory: Path | None, pids: Path | None, memory_bytes: int, processes: int, *, v2: bool) -> None:
    if memory is not None:
        most = str(memory_bytes)
        if v2:
            (memory / "memory.max").write_text(most)
            _try_write(memory / "memory.swap.max", "0")
        else:
            (memory / "memory.limit_in_bytes").write_text(most)
            _try_write(memory / "memory.memsw.limit_in_bytes", most)
    if pids is not None:
        (pids / "pids.max").write_text(str(processes))


def meter_of(pid: int, mark: str) -> Meter | None:
    """Reads the groups of another process; None unless this machine shows them and their name holds `mark`."""
    try:
        own = Path(f"/proc/{pid}/cgroup").read_text()
        mounts = Path("/proc/self/mountinfo").read_text()
    except OSError:
        return None
    found: dict[str, Path] = {}
    for line in own.splitlines():
        _, names, path = line.split(":", 2)
        if mark in path:
            for point in _points(mounts, names):
                if _under(point, path).is_dir():
                    found.update(dict.fromkeys(names.split(","), _under(point, path)))
    unified = found.get("")
    if unified is not None and (unified / "pids.max").exists():
        return Meter(unified, unified, unified, unified=True)
    if "pids" not in found:
        return None
    return Meter(found.get("memory"), found["pids"], found.get("cpuacct"), unified=False)


def _points(mounts: str, names: str) -> list[Path]:
    """Mount points of the hierarchy with these controllers; "" is the v2 one."""
    points = []
    for line in mounts.splitlines():
        fields, _, rest = line.partition(" - ")
        kind, _, options = rest.split()[:3]
        if kind == "cgroup2" if not names else kind == "cgroup" and set(names.split(",")) <= set(options.split(",")):
            points.append(Path(fields.split()[4]))
    return points


def remove_group(folder: Path) -> None:
    """Remove one empty group, waiting for the kernel up to two seconds."""
    for _ in range(40):
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise SandboxFaultError(f"the cgroup {folder} stays busy; processes may be left in it")


def remove_left(places: Places, name: str) -> None:
    """Remove the groups that a dead process left under `name`."""
    for root in (places.unified, places.memory, places.pids, places.cpu):
        if root is not None and (root / name).is_dir():
            with contextlib.suppress(SandboxFaultError):  # another user's or still busy: not this session's fault
                remove_group(root / name)


def _under(point: Path, path: str) -> Path:
    return point / path.strip("/")


def _can_make(place: Path, controller: str) -> bool:
    trial = place / f"steelyard-trial-{time.monotonic_ns()}"
    limit = {"memory": "memory.limit_in_bytes", "pids": "pids.max", "cpuacct": "cpuacct.usage"}[controller]
    try:
        trial.mkdir()
    except OSError:
        return False
    works = (trial / limit).exists()
    trial.rmdir()
    return works


def _usable_v2(point: Path, path: str) -> Path | None:
    """The own v2 group or the one above, whichever can give memory and pids to a new group."""
    own = _under(point, path)
    for place in (own, own.parent):
        if place != point.parent and place.is_dir() and _can_limit(place):
            return place
    return None


def _can_limit(place: Path) -> bool:
    try:
        with contextlib.suppress(OSError):  # busy when the group holds processes; the controllers may be on already
            (place / "cgroup.subtree_control").write_text("+memory +pids")
        trial = place / f"steelyard-trial-{time.monotonic_ns()}"
        trial.mkdir()
    except OSError:
        return False
    works = (trial / "memory.max").exists() and (trial / "pids.max").exists()
    trial.rmdir()
    return works


def _try_write(path: Path, text: str) -> None:
    with contextlib.suppress(OSError):  # optional files: swap accounting and peak reset are not everywhere
        path.write_text(text)
