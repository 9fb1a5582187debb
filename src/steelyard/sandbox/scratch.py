"""Scratch folders on the host: one a session, on tmpfs where there is room, removed even after a crash.

A folder is held by a lock on a file in it; a folder whose lock is free belongs to a process that died, and the next
opening sweeps it away with the cgroups of the same name.
Not covered: folders on file systems without flock (they are left alone).
Easy to break: putting anything that tells of an item or a suite into the name (it shows in /proc/self/mountinfo).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from steelyard.errors import SandboxFaultError
from steelyard.sandbox import workspace

PREFIX = "steelyard-"
_SHM = Path("/dev/shm")  # noqa: S108  tmpfs: fast, and charged to the memory cgroup


class Scratch:
    """A private folder, held until `close`."""

    def __init__(self, room: Path) -> None:
        try:
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=room))
            self._lock = (self.path / ".locking").open("wb")
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            (self.path / ".locking").rename(self.path / ".lock")  # a sweeper never sees it before it is held
        except OSError as error:
            raise SandboxFaultError(f"could not make a scratch folder in {room}: {error.strerror}") from error

    @property
    def name(self) -> str:
        """The folder's name, also used for the cgroups of the session."""
        return self.path.name

    def folder(self, name: str) -> Path:
        """A new folder inside."""
        path = self.path / name
        path.mkdir(parents=True)
        return path

    def close(self) -> None:
        """Remove the folder with all that is in it; safe to call twice."""
        workspace.remove(self.path)
        self._lock.close()


def room_for(disk_bytes: int) -> Path:
    """Where to make scratch folders: tmpfs when it allows programs and has twice the room, else the temp folder."""
    with contextlib.suppress(OSError):
        status = os.statvfs(_SHM)
        free = status.f_bavail * status.f_frsize
        if not status.f_flag & os.ST_NOEXEC and free >= 2 * disk_bytes and os.access(_SHM, os.W_OK | os.X_OK):
            return _SHM
    return Path(tempfile.gettempdir())


def is_tmpfs(room: Path) -> bool:
    """Whether files in `room` are memory (Linux: the mount that holds it has the type tmpfs)."""
    best, kind = "", ""
    try:
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return False
    for line in lines:
        fields, _, rest = line.partition(" - ")
        point = fields.split()[4]
        if room.is_relative_to(point) and len(point) >= len(best):
            best, kind = point, rest.split()[0]
    return kind == "tmpfs"


def is_free(path: Path) -> bool:
    """Whether nobody holds the scratch folder `path`: it is gone, or its lock is free."""
    try:
        with (path / ".lock").open("rb+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return not (path / ".locking").exists()
    except OSError:  # held, or another user's
        return False
    return True


def sweep(room: Path, and_then: Callable[[str], None]) -> None:
    """Remove what dead processes left in `room`, and call `and_then` with each name."""
    for path in room.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError), (path / ".lock").open("rb+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            workspace.remove(path)
            and_then(path.name)
