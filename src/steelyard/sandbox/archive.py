"""Trees as tar streams, in and out of a container, read member by member with own path checks.

A stream that comes out of a sandbox describes a tree that hostile code has made. Nothing is ever extracted: a member
is a name and bytes, it must be a plain relative path below the top and a regular file with one name, and whatever
else it is (a link, a second name of a file, a pipe, a device, an absolute or `..` name) is refused by name.
Source: CVE-2025-4517 and CVE-2025-45582, where extraction followed a link that came earlier in the same archive.
Not covered: sockets, which tar leaves out (the container names them beside the stream).
Easy to break: the first name of a file with two names looks like any other file; it is refused when the second comes.
"""

from __future__ import annotations

import io
import stat
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import IO

from steelyard.attempt import Tree
from steelyard.errors import InputError, SandboxFaultError
from steelyard.sandbox.workspace import MAX_DEPTH, NOT_TEXT, TOO_DEEP, Entry, Read, is_text, refusal_of, resolve, shown
from steelyard.store import Store

_KINDS = {
    tarfile.SYMTYPE: stat.S_IFLNK,
    tarfile.FIFOTYPE: stat.S_IFIFO,
    tarfile.CHRTYPE: stat.S_IFCHR,
    tarfile.BLKTYPE: stat.S_IFBLK,
}
_MEMBER_BYTES = 3 * 512  # headers and padding of a member with an ordinary name


class _Enough(Exception):  # noqa: N818 - not an error: the reader has seen as much as it wants to
    """More bytes came than will be read."""


class _Bounded(io.RawIOBase):
    """A stream that ends the reading after `most` bytes: a sparse file is small on disk and endless in a stream."""

    def __init__(self, stream: IO[bytes], most: int) -> None:
        self._stream, self.left = stream, most

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(min(size, self.left + 1) if size >= 0 else self.left + 1)
        self.left -= len(data)
        if self.left < 0:
            raise _Enough
        return data


def packed(tree: Tree, store: Store) -> bytes:
    """A tree (path -> sha256) as a tar; folders are made by whoever unpacks it."""
    buffer = io.BytesIO()
    folders: set[str] = set()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path, reference in sorted(tree.items()):
            if not path or path.startswith("/") or resolve(path) != path:
                raise InputError(f"path leaves the repository: {path!r}; a tree needs plain relative paths")
            parents = [str(parent) for parent in PurePosixPath(path).parents][:-1]
            if path in folders or any(parent in tree for parent in parents):
                raise InputError(f"{path!r} is both a file and a folder in this tree")
            for parent in reversed(parents):
                if parent not in folders:
                    folders.add(parent)
                    archive.addfile(_header(parent, tarfile.DIRTYPE, 0o755))
            data = store.get(reference)
            archive.addfile(_header(path, tarfile.REGTYPE, 0o644, len(data)), io.BytesIO(data))
    return buffer.getvalue()


def _header(name: str, kind: bytes, mode: int, size: int = 0) -> tarfile.TarInfo:
    header = tarfile.TarInfo(name)
    header.type, header.mode, header.size = kind, mode, size
    return header


def found(stream: IO[bytes], *, max_entries: int, max_bytes: int) -> Iterator[tuple[Entry, Read]]:
    """Everything in a tar stream but folders, each with a way to read it before the next is asked for.

    Ends with a refused entry "." after `max_entries` members or `max_bytes` of content. Raises SandboxFaultError for
    what is no tar stream.
    """
    bounded = _Bounded(stream, max_bytes + max_entries * _MEMBER_BYTES + 3 * tarfile.RECORDSIZE)
    closed: dict[str, bool] = {}  # what nothing may lie below: path -> whether it is a folder that is passed over
    seen: dict[str, int] = {}
    try:
        with tarfile.open(fileobj=bounded, mode="r|", encoding="utf-8", errors="surrogateescape") as archive:
            for count, member in enumerate(archive):
                if count > max_entries:  # the top folder is a member too
                    yield Entry(".", 0, f"more than {max_entries} entries; the rest was not read"), nothing
                    return
                if member.size + 2 * tarfile.RECORDSIZE > bounded.left:  # reading it would end in the middle
                    raise _Enough  # noqa: TRY301 - the one way out, whoever notices
                yield from _entries(archive, member, closed, seen)
    except _Enough:
        yield Entry(".", 0, f"more than {max_bytes} bytes; the rest was not read"), nothing
    except tarfile.TarError as error:
        raise SandboxFaultError(f"the tree came as no proper tar stream: {error}") from error


def _entries(
    archive: tarfile.TarFile, member: tarfile.TarInfo, closed: dict[str, bool], seen: dict[str, int]
) -> Iterator[tuple[Entry, Read]]:
    """What one member says: mostly one entry; none for a folder; two for a file with a second name."""
    path = _plain(member.name)
    if path is None:
        yield Entry(shown(member.name) or "(no name)", 0, "a path that leaves the workspace"), nothing
        return
    over = next((closed[str(parent)] for parent in PurePosixPath(path).parents if str(parent) in closed), None)
    if over or not path:
        return
    why = "" if is_text(path) else NOT_TEXT
    if over is False:
        why = "lies below something that is no folder"
    elif path in seen and not member.isdir():
        why = "named twice"
    elif member.isdir():
        why = why or (TOO_DEEP if path.count("/") + 1 >= MAX_DEPTH else "")
        if why:
            closed[path] = True
            yield Entry(shown(path), 0, why), nothing
        return
    elif member.islnk():
        first = _plain(member.linkname)
        if first in seen:
            seen[first] += 1
            yield Entry(shown(first), 0, refusal_of(stat.S_IFREG, seen[first])), nothing
        why = why or refusal_of(stat.S_IFREG, seen.get(first or "", 2))
    elif not member.isreg() or member.issparse():
        why = why or refusal_of(_KINDS.get(member.type, 0), 1)
    closed[path] = False
    seen[path] = 1

    def read() -> tuple[bytes, bool]:
        file = archive.extractfile(member)
        return (file.read() if file else b""), bool(member.mode & stat.S_IXUSR)

    yield Entry(shown(path), member.size, why), read


def _plain(name: str) -> str | None:
    """A member's name as a relative path, "" for the top folder itself, None for one that leaves it."""
    path = name.removeprefix("./").rstrip("/")
    if path in ("", "."):
        return "" if not name.startswith("/") else None
    parts = path.split("/")
    return None if "\0" in path or any(part in ("", ".", "..") for part in parts) else path


def nothing() -> tuple[bytes, bool]:
    """Reads an entry that is not read."""
    return b"", False


def names(data: bytes, *, max_entries: int) -> list[str]:
    """Paths in what `find . -print0` printed, without those that `difference` would refuse by name or depth."""
    paths: list[str] = []
    for raw in data.split(b"\0")[:-1][:max_entries]:
        path = _plain(raw.decode("utf-8", "surrogateescape"))
        if path and is_text(path) and path.count("/") < MAX_DEPTH:
            paths.append(path)
    return sorted(paths)


def written(
    files: Iterable[tuple[str, bytes, int, int]], links: Mapping[str, str], folders: Iterable[str]
) -> Iterator[bytes]:
    """A tar stream of folders, links and files (path, content, mode, mtime in s), equal for equal arguments."""
    for folder in folders:
        yield _header(folder, tarfile.DIRTYPE, 0o1777 if folder == "tmp" else 0o755).tobuf(tarfile.GNU_FORMAT)
    for path, target in sorted(links.items()):
        header = _header(path, tarfile.SYMTYPE, 0o777)
        header.linkname = target
        yield header.tobuf(tarfile.GNU_FORMAT)
    for path, data, mode, mtime_s in files:
        header = _header(path, tarfile.REGTYPE, mode, len(data))
        header.mtime = mtime_s
        yield header.tobuf(tarfile.GNU_FORMAT)
        yield data + bytes(-len(data) % tarfile.BLOCKSIZE)
    yield bytes(tarfile.RECORDSIZE)
