"""The revision that seed 004 prints for a trail oracle, for comparing with corpora made by that code.

It hashes a `repr`, so it depends on a class's name and on Python's rendering; Steelyard's own revisions do not
(see `verifiers.registry.revision`). Nothing here is used to judge.
"""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.canonical import sha256_hex


def repr_revision(state: str, reasons: Sequence[str], ruled_out: str, unknown: Sequence[str] = ()) -> str:
    """Eight hex digits over the oracle's repr, the negation triggers, the window of 3 words and rules number 1."""
    fields = f"state={state!r}, reasons={tuple(reasons)!r}, ruled_out={ruled_out!r}, unknown={tuple(unknown)!r}"
    return sha256_hex(f"(Oracle({fields}), ['never', 'no', 'not'], 3, 1)".encode())[:8]
