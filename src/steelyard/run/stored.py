"""Reading what a run folder stores: whatever is damaged becomes one FormatError with its place.

Not covered: repair (`journal` drops a torn last line, `judge` writes a judgement again).
Easy to break: `__post_init__` of a struct raises InputError through the decoder, which msgspec does not wrap.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec

from steelyard.errors import FormatError, InputError

T = TypeVar("T")


def decode(decoder: msgspec.json.Decoder[T], data: bytes, path: Path, line: int | None, what: str) -> T:
    """A stored value; FormatError `PATH:LINE: not WHAT: reason` when it is damaged or of another shape."""
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError, InputError) as error:
        raise FormatError(path, line, f"not {what}: {error}") from error


def read(path: Path, kind: type[T], what: str) -> T:
    """The value that a whole file holds; FormatError when it cannot be read or is damaged."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FormatError(path, None, f"cannot be read: {error.strerror}") from error
    return decode(msgspec.json.Decoder(kind), data, path, None, what)


_BUFFER_BYTES = 1 << 18  # nothing is lost by it, since the whole file takes the place of the old one


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write piece by piece that takes the place of `path` when the block ends, and vanishes if it fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb", buffering=_BUFFER_BYTES) as out:
            yield out
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


@contextmanager
def folder_errors(folder: Path) -> Iterator[None]:
    """Tell what the system refuses in a run folder (permissions, a full disk) as an InputError that names it."""
    try:
        yield
    except OSError as error:
        place = f" ({error.filename})" if error.filename else ""
        raise InputError(f"cannot use {folder}: {error.strerror or error}{place}") from error
