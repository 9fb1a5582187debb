"""Content-addressed files, references to them, and atomic writing.

A *reference* is the text that stands for a file's content in an item line. Three forms mean the same content:
`<sha256>`, `files/ab/<sha256>` (what suites write: a path that Inspect resolves too) and a `data:` URI
(what a family yields before the suite writer has stored it). `reference_digest` maps all three to the sha256.
Easy to break: reading an object without checking its hash; a half-written object (hence tmp + an atomic replace).
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from steelyard.canonical import sha256_hex
from steelyard.errors import FormatError, InputError

_HEX = re.compile(r"[0-9a-f]{64}")
_STORED = re.compile(r"(?:files/[0-9a-f]{2}/)?([0-9a-f]{64})")
_DATA_PREFIX = "data:application/octet-stream;base64,"


def inline(data: bytes | str) -> str:
    """A `data:` reference that carries its own content."""
    raw = data.encode() if isinstance(data, str) else data
    return _DATA_PREFIX + base64.b64encode(raw).decode("ascii")


def inline_content(reference: str) -> bytes | None:
    """The content of a base64 `data:` reference; None for a reference that only names content."""
    if not reference.startswith("data:"):
        return None
    head, _, body = reference.partition(",")
    if not head.endswith(";base64"):
        raise InputError(f"a data: reference must be base64, got {head[:60]!r}")
    try:
        return base64.b64decode(body, validate=True)
    except binascii.Error as error:
        raise InputError(f"a data: reference does not decode: {error}") from error


def reference_digest(reference: str) -> str:
    """The sha256 that a reference stands for, whichever form it has."""
    content = inline_content(reference)
    if content is not None:
        return sha256_hex(content)
    match = _STORED.fullmatch(reference)
    if not match:
        raise InputError(f"not a file reference (sha256, files/ab/<sha256> or data: URI): {reference[:80]!r}")
    return match[1]


def stored_reference(sha256: str) -> str:
    """The reference form that suites write: a path relative to the suite, which Inspect resolves as well."""
    return f"files/{sha256[:2]}/{sha256}"


def write_atomic(path: Path, data: bytes | str) -> None:
    """Write a whole file or nothing: a temporary file beside it, then an atomic replace."""
    raw = data.encode() if isinstance(data, str) else data
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(raw)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_json(path: Path, value: Any) -> None:
    """Write a value or struct as indented JSON with a final newline, whole or not at all."""
    write_atomic(path, msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")


class Store:
    """Files by sha256 under `root/ab/<sha256>`; reads fall back to `others`, writes go to `root`."""

    def __init__(self, root: Path | str, others: Iterable[Path | str] = ()) -> None:
        self.root = Path(root)
        self._roots = [self.root, *map(Path, others)]

    @property
    def roots(self) -> list[Path]:
        """Every folder that is searched, the one that is written to first."""
        return list(self._roots)

    def put(self, data: bytes | str) -> str:
        """Store content and return its sha256; storing it twice is free."""
        raw = data.encode() if isinstance(data, str) else data
        sha256 = sha256_hex(raw)
        if not any(self._path(root, sha256).exists() for root in self._roots):
            write_atomic(self._path(self.root, sha256), raw)
        return sha256

    def put_reference(self, reference: str) -> str:
        """The sha256 of a reference, after storing the content that a `data:` URI carries."""
        content = inline_content(reference)
        return reference_digest(reference) if content is None else self.put(content)

    def get(self, reference: str) -> bytes:
        """The content behind a reference; refuses content that does not match its hash."""
        content = inline_content(reference)
        if content is not None:
            return content
        sha256 = reference_digest(reference)
        for root in self._roots:
            path = self._path(root, sha256)
            if path.exists():
                data = path.read_bytes()
                if sha256_hex(data) != sha256:
                    raise FormatError(path, None, "content does not match its sha256 name; restore the file")
                return data
        raise FormatError(self.root, None, f"no file {sha256} here; the folder is incomplete")

    def has(self, sha256: str) -> bool:
        """Whether the content is here."""
        return bool(_HEX.fullmatch(sha256)) and any(self._path(root, sha256).exists() for root in self._roots)

    @staticmethod
    def _path(root: Path, sha256: str) -> Path:
        return root / sha256[:2] / sha256
