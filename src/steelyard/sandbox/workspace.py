"""A work tree on the host, touched only through directory handles that never follow a link.

Code inside a sandbox owns this tree and may have left anything in it: links to host files, pipes, devices, hard
links, names that are not UTF-8, thousands of nested folders. Every step down is therefore one `openat` with
O_NOFOLLOW, only regular files with one link are read, and sizes and counts are capped.
Source: CVE-2025-45582 and its relatives, where a collector followed a link that the guest had planted.
Not covered: a process that still writes while the host reads; the session kills everything first.
Easy to break: joining a path and opening it in one step.
"""

from __future__ import annotations

import errno
import os
import posixpath
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import msgspec

from steelyard.attempt import Change, Diff, Tree
from steelyard.canonical import sha256_hex
from steelyard.errors import InputError, SandboxFaultError
from steelyard.ports import Limits
from steelyard.store import Store

WORK = "/work"  # where the work tree stands inside every sandbox
MAX_DEPTH = 64  # folders; nothing real nests deeper, and each level costs one open handle
NOT_TEXT = "a name that is not UTF-8"
TOO_DEEP = f"a folder deeper than {MAX_DEPTH} levels"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Entry(msgspec.Struct, frozen=True):
    """One thing in the tree that is not a folder; `refused` says why it is not read."""

    path: str
    size: int
    refused: str = ""


Read = Callable[[], tuple[bytes, bool]]  # a file's content, and whether its owner may execute it


class TreeUse(msgspec.Struct, frozen=True):
    """What a tree occupies: bytes as allocated on disk, and how many entries (folders too)."""

    disk_bytes: int
    entries: int


_NAME_BYTES = 255


def resolve(path: str) -> str:
    """A path as given by a model or an author, as a relative path below /work; "" is /work itself."""
    if "\0" in path:
        raise InputError(f"path leaves the repository: {path!r} holds a NUL")
    whole = posixpath.normpath(posixpath.join(WORK, path))
    if whole == WORK:
        return ""
    if not whole.startswith(WORK + "/"):
        raise InputError(f"path leaves the repository: {path!r}")
    if max(len(name.encode(errors="surrogatepass")) for name in whole.split("/")) > _NAME_BYTES:
        raise InputError(f"{path[:80]!r}...: a name of more than {_NAME_BYTES} bytes, which no file can have")
    return whole[len(WORK) + 1 :]


def lay_out(root: Path, tree: Tree, store: Store) -> None:
    """Write a tree (path -> sha256) into an empty folder that nobody else can touch yet."""
    for path, reference in tree.items():
        if not path or path.startswith("/") or resolve(path) != path:
            raise InputError(f"path leaves the repository: {path!r}; a tree needs plain relative paths")
        target = root / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(store.get(reference))
        except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
            raise InputError(f"{path!r} is both a file and a folder in this tree") from error
        except OSError as error:
            raise SandboxFaultError(f"could not lay out {path!r}: {error.strerror}; is the disk full?") from error


def read_file(root: Path, path: str, max_bytes: int) -> bytes:
    """A regular file below `root`, at most `max_bytes` of it allowed."""
    with _parent(root, path) as (folder, name):
        return _read_at(folder, name, path, max_bytes)


def write_file(root: Path, path: str, data: bytes, limits: Limits) -> None:
    """Write a file below `root`, making its folders; a link in the way is an InputError."""
    if len(data) > limits.file_bytes:
        raise InputError(f"{path}: {len(data)} bytes are over the limit of {limits.file_bytes} a file")
    with _parent(root, path, make=True) as (folder, name), _plain_errors(path):
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        if _exists(folder, name) and _is_link(folder, name):
            raise InputError(f"path leaves the repository: {path!r} is a link")
        handle = os.open(name, flags, 0o644, dir_fd=folder)
        with os.fdopen(handle, "wb") as out:
            why = refusal(os.fstat(handle))
            if why:
                raise InputError(f"path leaves the repository: {path!r} is {why}")
            out.truncate(0)
            out.write(data)


def is_folder(root: Path, path: str) -> bool:
    """Whether `path` is a folder below `root` that is reached without a link."""
    try:
        with _parent(root, posixpath.join(path, "x")):
            return True
    except InputError:
        return False


def entries(root: Path, max_entries: int) -> Iterator[Entry]:
    """Everything below `root` but folders, in sorted order; ends with a refused entry "." after `max_entries`."""
    for seen, (path, status) in enumerate(_walk(root)):
        if seen >= max_entries:
            yield Entry(".", 0, f"more than {max_entries} entries; the rest was not read")
            return
        if not is_text(path):
            yield Entry(shown(path), status.st_size, NOT_TEXT)
        elif not stat.S_ISDIR(status.st_mode):
            yield Entry(path, status.st_size, refusal(status))
        elif path.count("/") + 1 >= MAX_DEPTH:
            yield Entry(path, 0, TOO_DEEP)


def difference(root: Path, base: Tree, store: Store, limits: Limits) -> Diff:
    """What differs from `base`: contents into the store; links, devices and the like into `refused`."""

    def found() -> Iterator[tuple[Entry, Read]]:
        for entry in entries(root, limits.files + len(base)):
            yield entry, partial(_content, root, entry.path, limits.file_bytes)

    return compared(found(), base, store, limits)


def compared(found: Iterable[tuple[Entry, Read]], base: Tree, store: Store, limits: Limits) -> Diff:
    """The difference between `base` and what was found; an entry is read only when nothing speaks against it.

    An entry that comes twice counts as it came last.
    """
    changes: dict[str, Change] = {}
    refused: dict[str, str] = {}
    seen: set[str] = set()
    total = 0
    for entry, read in found:
        seen.add(entry.path)
        why = entry.refused
        if not why and entry.size > limits.file_bytes:
            why = f"{entry.size} bytes, over the limit of {limits.file_bytes} a file"
        if not why and total + entry.size > limits.disk_bytes:
            why = f"over the limit of {limits.disk_bytes} bytes for all files together"
        if why:
            refused[entry.path] = why
            changes.pop(entry.path, None)
            continue
        total += entry.size
        data, executable = read()
        before = base.get(entry.path)
        if before is None or sha256_hex(data) != before:
            changes[entry.path] = Change(
                "added" if before is None else "modified", store.put(data), len(data), executable
            )
    if "." not in refused:  # an unfinished walk cannot say what is missing
        changes.update({path: Change("deleted") for path in base if path not in seen})
    return Diff(dict(sorted(changes.items())), dict(sorted(refused.items())))


def _content(root: Path, path: str, max_bytes: int) -> tuple[bytes, bool]:
    with _parent(root, path) as (folder, name):
        data = _read_at(folder, name, path, max_bytes)
        return data, bool(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode & stat.S_IXUSR)


def use_of(root: Path, max_entries: int) -> TreeUse:
    """What the tree occupies, counted up to `max_entries`; safe while code inside is still changing it."""
    used = count = 0
    for _, status in _walk(root, alive=True):
        used += status.st_blocks * 512
        count += 1
        if count > max_entries:
            break
    return TreeUse(used, count)


def _walk(root: Path, *, alive: bool = False) -> Iterator[tuple[str, os.stat_result]]:
    """(path, status), sorted within each folder; at most MAX_DEPTH handles are open.

    `alive` says that code inside may still run: then nothing is changed and what vanishes is passed over.
    """
    levels = [_level(os.open(root, _FOLDER) if alive else _open_root(root), "")]
    try:
        while levels:
            folder, prefix, names = levels[-1]
            if not names:
                os.close(levels.pop()[0])
                continue
            name = names.pop()
            try:
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                yield prefix + name, status
                if stat.S_ISDIR(status.st_mode) and len(levels) < MAX_DEPTH and (alive or is_text(name)):
                    below = os.open(name, _FOLDER, dir_fd=folder) if alive else _open_folder(folder, name)
                    levels.append(_level(below, prefix + name + "/"))
            except OSError:
                if not alive:
                    raise
    finally:
        for folder, _, _ in levels:
            os.close(folder)


def _level(folder: int, prefix: str) -> tuple[int, str, list[str]]:
    return folder, prefix, _names(folder)


def remove(root: Path) -> None:
    """Remove a tree of any depth: each folder's subfolders are first moved up beside it, so no path grows."""
    if not root.exists():
        return
    top = os.open(root, _FOLDER)
    try:
        pending, moved = _names(top), 0
        while pending:
            name = pending.pop()
            if not stat.S_ISDIR(os.stat(name, dir_fd=top, follow_symlinks=False).st_mode):
                os.unlink(name, dir_fd=top)
                continue
            folder = _open_folder(top, name)
            try:
                for child in _names(folder):
                    if not stat.S_ISDIR(os.stat(child, dir_fd=folder, follow_symlinks=False).st_mode):
                        os.unlink(child, dir_fd=folder)
                        continue
                    _allow(folder, child)  # moving a folder rewrites its "..", so it must be writable
                    moved += 1
                    while _exists(top, f".steelyard-{moved}"):
                        moved += 1
                    os.rename(child, f".steelyard-{moved}", src_dir_fd=folder, dst_dir_fd=top)
                    pending.append(f".steelyard-{moved}")
            finally:
                os.close(folder)
            os.rmdir(name, dir_fd=top)
    finally:
        os.close(top)
    root.rmdir()


@contextmanager
def _parent(root: Path, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
    """The open folder that holds `path` and the last name; one openat with O_NOFOLLOW a step."""
    relative = resolve(path)
    if not relative:
        raise InputError(f"{path!r} is the workspace itself, not a file in it")
    *folders, name = relative.split("/")
    if len(folders) > MAX_DEPTH:
        raise InputError(f"{path!r} is deeper than {MAX_DEPTH} folders")
    handle = _open_root(root)
    try:
        for folder in folders:
            with _plain_errors(path):
                if make and not _exists(handle, folder):
                    os.mkdir(folder, 0o755, dir_fd=handle)
                if _is_link(handle, folder):
                    raise InputError(f"path leaves the repository: {path!r} goes through a link")
                below = _open_folder(handle, folder)
            os.close(handle)
            handle = below
        yield handle, name
    finally:
        os.close(handle)


@contextmanager
def _plain_errors(path: str) -> Iterator[None]:
    """The system's refusals as InputError that names the path as it was given."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise InputError(f"path leaves the repository: {path!r} goes through a link") from error
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            raise SandboxFaultError(f"{path}: {error.strerror}") from error
        raise InputError(f"{path}: {(error.strerror or 'cannot be opened').lower()}") from error


def _read_at(folder: int, name: str, path: str, max_bytes: int) -> bytes:
    """The content of a regular file with one link; the handle that is checked is the handle that is read."""
    with _plain_errors(path):
        if _is_link(folder, name):
            raise InputError(f"path leaves the repository: {path!r} is a link")
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            handle = os.open(name, flags, dir_fd=folder)
        except PermissionError:
            _allow(folder, name)  # code inside may take away its own read permission
            handle = os.open(name, flags, dir_fd=folder)
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            why = refusal(status)
            if why:
                raise InputError(f"{path}: not a plain file: {why}")
            if status.st_size > max_bytes:
                raise InputError(f"{path}: {status.st_size} bytes, over the limit of {max_bytes}")
            return file.read(max_bytes + 1)


def refusal(status: os.stat_result) -> str:
    """Why a thing is not a plain file, or "" for a regular file with one link."""
    return refusal_of(status.st_mode, status.st_nlink)


def refusal_of(mode: int, names: int) -> str:
    """The same from a mode and the number of names that a file has."""
    if stat.S_ISREG(mode):
        return "" if names == 1 else f"a hard link (the file has {names} names)"
    return _KINDS.get(stat.S_IFMT(mode), "not a regular file")


_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def _open_folder(folder: int, name: str) -> int:
    """An open handle of a real folder, after giving its owner back what code inside took away."""
    _allow(folder, name)
    return os.open(name, _FOLDER, dir_fd=folder)


def _open_root(root: Path) -> int:
    """The same for the work tree itself, whose place nobody inside can change."""
    _allow(None, os.fspath(root))
    return os.open(root, _FOLDER)


def _allow(folder: int | None, name: str) -> None:
    """Give the owner back its permissions; never through a link."""
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    wanted = 0o700 if stat.S_ISDIR(status.st_mode) else 0o600
    if not stat.S_ISLNK(status.st_mode) and (status.st_mode & wanted) != wanted:
        # Linux has no chmod that refuses links before 6.6; nothing is alive inside, so the stat above still holds.
        os.chmod(name, stat.S_IMODE(status.st_mode) | wanted, dir_fd=folder)


def _is_link(folder: int, name: str) -> bool:
    return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)


def _exists(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _names(folder: int) -> list[str]:
    """Names in a folder, last first, so that popping gives them in order."""
    return sorted(os.listdir(folder), reverse=True)


def is_text(name: str) -> bool:
    """Whether a name as the system gives it (surrogates for odd bytes) is UTF-8."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def shown(path: str) -> str:
    """A path as text that can be stored, with bytes that are not UTF-8 escaped."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
