"""Canonical JSON and the hashes made of it.

Canonical form: keys sorted by code point, no white space, UTF-8 without escapes, no NaN or infinity.
The same value gives the same bytes on every Python version and machine; ints and floats stay different.
Not covered: RFC 8785 number rendering (floats are written as Python's shortest repr).
Easy to break: hashing a struct instead of its builtins, or text with lone surrogates (refused here).
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import msgspec

from steelyard.errors import InputError

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical_text(value: Any) -> str:
    """Canonical JSON text of a JSON-able value or struct."""
    try:
        return _ENCODER.encode(msgspec.to_builtins(value))
    except (ValueError, TypeError) as error:
        raise InputError(f"no canonical JSON for this value: {error}") from error


def canonical(value: Any) -> bytes:
    """Canonical JSON bytes of a JSON-able value or struct."""
    try:
        return canonical_text(value).encode()
    except UnicodeEncodeError as error:
        raise InputError(f"no canonical JSON for text with a lone surrogate at {error.start}") from error


def sha256_hex(data: bytes) -> str:
    """sha256 as 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


def digest(value: Any) -> str:
    """sha256 of the canonical JSON of `value`."""
    return sha256_hex(canonical(value))
