"""Snapshots: catalogue files that are written once, named by their hash, with where they came from beside them.

`<sha256>.<ext>` holds a provider's bytes as they came; `<sha256>.<ext>.meta.json` says source, tier and terms.
Tiers: "raw" (may be shipped), "snapshots" (derived tables), "live" (fetched for the user alone: never shipped).
Terms: a repository's licence says nothing about a provider's data. CelesTrak and The Space Devs let their data be
passed on under their usage policies; Space-Track's may be fetched by the user and never handed on.
Not covered: what a provider's terms say today; a person should read them.
Easy to break: elements of a provider in a suite make it not CC0-1.0, whatever made the suite: ask `licence_of`.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec

from steelyard.canonical import sha256_hex
from steelyard.errors import FormatError, InputError, RefusedError
from steelyard.store import write_atomic, write_json

Tier = Literal["raw", "snapshots", "live"]
REDISTRIBUTABLE = frozenset({"celestrak", "spacedevs"})
SYNTHETIC = "synthetic"
SYNTHETIC_LICENSE = "CC0-1.0"
TERMS = {
    "celestrak": "CelesTrak usage policy, https://celestrak.org/usage-policy.php",
    "spacedevs": "The Space Devs terms, https://thespacedevs.com",
    "space-track": "Space-Track user agreement: for the user alone, not to be passed on",
    SYNTHETIC: SYNTHETIC_LICENSE,
}
UNKNOWN_TERMS = "unknown: ask the provider before passing this on"
SIDECAR = ".meta.json"


class Snapshot(msgspec.Struct, frozen=True):
    """What stands beside a snapshot: its hash, size, tier, source, terms, the address and the instant of fetching."""

    sha256: str
    size: int
    tier: Tier
    source: str
    terms: str
    url: str = ""
    fetched: datetime | None = None
    schema: str = "steelyard.snapshot/1"


def keep(
    folder: Path | str,
    data: bytes,
    suffix: str,
    *,
    source: str,
    tier: Tier = "live",
    url: str = "",
    fetched: datetime | None = None,
) -> Path:
    """Write a snapshot and its sidecar, and return the file's path; the same bytes again change nothing.

    RefusedError for a tier other than "live" when the source does not let its data be passed on.
    """
    check_tier(tier, source)
    path = Path(folder) / f"{sha256_hex(data)}{suffix}"
    if path.exists():
        load(path)
        return path
    write_atomic(path, data)
    describe(path, source=source, tier=tier, url=url, fetched=fetched)
    path.chmod(0o444)
    return path


def check_tier(tier: Tier, source: str) -> None:
    """RefusedError for a tier that ships when the source does not let its data be passed on."""
    if tier != "live" and source not in REDISTRIBUTABLE | {SYNTHETIC}:
        raise RefusedError(
            f'data of "{source}" may not be passed on, so its tier must be "live", got "{tier}"; '
            f"tiers that ship are for {', '.join(sorted(REDISTRIBUTABLE))}"
        )


def describe(
    path: Path, *, source: str, tier: Tier = "live", url: str = "", fetched: datetime | None = None
) -> Snapshot:
    """Write the sidecar of a file that is there."""
    data = path.read_bytes()
    terms = TERMS.get(source, UNKNOWN_TERMS)
    made = Snapshot(sha256_hex(data), len(data), tier, source, terms, url, fetched)
    write_json(sidecar(path), made)
    return made


def sidecar(path: Path) -> Path:
    """Where the description of a file stands."""
    return path.with_name(path.name + SIDECAR)


def load(path: Path | str) -> Snapshot:
    """The description of a snapshot; FormatError when there is none, or when the file's bytes are not those of it."""
    path = Path(path)
    try:
        found = msgspec.json.decode(sidecar(path).read_bytes(), type=Snapshot)
        data = path.read_bytes()
    except OSError as error:
        raise FormatError(path, None, f"no snapshot with a sidecar here: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise FormatError(sidecar(path), None, f"not the description of a snapshot: {error}") from error
    if sha256_hex(data) != found.sha256:
        raise FormatError(path, None, "the bytes are not those that its sidecar describes; fetch it again")
    return found


def licence_of(catalogue: Path | str | None) -> str:
    """The licence of items that embed elements of this catalogue: CC0-1.0 for made-up ones, else none ("").

    None is the package's own generator. A file is made-up only if its sidecar says so and still fits its bytes: a
    provider's elements stay under the provider's terms, and a file of unknown origin is taken for a provider's.
    """
    if catalogue is None:
        return SYNTHETIC_LICENSE
    try:
        found = load(catalogue)
    except FormatError:
        return ""
    return SYNTHETIC_LICENSE if found.source == SYNTHETIC else ""


def source_named(text: str) -> str:
    """A source's name for a provider or an address: `celestrak`, `space-track`, `spacedevs`, or the host."""
    from urllib.parse import urlsplit  # only here

    host = urlsplit(text).hostname or text
    for name, end in (
        ("celestrak", "celestrak.org"),
        ("space-track", "space-track.org"),
        ("spacedevs", "spacedevs.com"),
    ):
        if host in (name, end) or host.endswith("." + end):
            return name
    if not host:
        raise InputError(f"expected a provider's name or an address, got {text!r}")
    return host
