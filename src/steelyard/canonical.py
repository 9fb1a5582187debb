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
_FAST = msgspec.json.Encoder(order="sorted")
"""Writes the same bytes but for floats (1e16, where Python says 1e+16; null for NaN), and is several times faster."""
_LEAVES = frozenset({str, int, bool, type(None)})


def canonical_text(value: Any) -> str:
    """Canonical JSON text of a JSON-able value or struct."""
    try:
        return _ENCODER.encode(msgspec.to_builtins(value))
    except (ValueError, TypeError) as error:
        raise InputError(f"no canonical JSON for this value: {error}") from error


def canonical(value: Any) -> bytes:
    """Canonical JSON bytes of a JSON-able value or struct."""
    try:
        if _is_plain(value):
            return _FAST.encode(value)
        return canonical_text(value).encode()
    except UnicodeEncodeError as error:
        raise InputError(f"no canonical JSON for text with a lone surrogate at {error.start}") from error


def canonical_plain(value: Any) -> bytes:
    """The same for a value, or a struct of values, that the caller knows to hold no floats."""
    try:
        return _FAST.encode(value)
    except UnicodeEncodeError as error:
        raise InputError(f"no canonical JSON for text with a lone surrogate at {error.start}") from error


def _is_plain(value: Any) -> bool:
    """Whether a value is text, whole numbers, truth values and nulls in lists and objects: no floats, no structs."""
    kind = type(value)
    if kind is dict:
        for name, one in value.items():
            if type(name) is not str or not (type(one) is str or _is_plain(one)):
                return False
        return True
    if kind is list or kind is tuple:
        return all(type(one) is str or _is_plain(one) for one in value)
    return kind in _LEAVES


def sha256_hex(data: bytes) -> str:
    """sha256 as 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


def digest(value: Any) -> str:
    """sha256 of the canonical JSON of `value`."""
    return sha256_hex(canonical(value))
