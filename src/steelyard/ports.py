"""Protocols for effects: models, sandboxes, sessions, and the kit that a probe is handed.

Everything that crosses a port is JSON-serialisable data, so that remote backends can be added.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

import msgspec

from steelyard.attempt import Diff, Message, ModelOutput, Tree
from steelyard.item import Item
from steelyard.store import Store

Guarantee = Literal["filesystem", "network", "memory", "pids", "cpu", "wall", "output", "disk"]


class Sampling(msgspec.Struct, frozen=True, omit_defaults=True):
    """Sampling settings as sent; None leaves the endpoint's own default and is not sent."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    stop: list[str] = []


class ToolSpec(msgspec.Struct, frozen=True):
    """A tool as offered to a model; `parameters` is a JSON Schema object."""

    name: str
    description: str
    parameters: dict[str, Any]


class Model(Protocol):
    """Something that answers a conversation. Raises CallError or PermanentError, never anything else by design."""

    @property
    def id(self) -> str:
        """The model's name as it goes into the run's identity."""

    async def describe(self) -> dict[str, Any]:
        """What is known of the model and its server (weights hash, engine version, listed models)."""

    async def generate(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        *,
        seed: int | None = None,
        tools: Sequence[ToolSpec] = (),
        response_format: Mapping[str, Any] | None = None,
    ) -> ModelOutput:
        """One request, one choice."""

    async def close(self) -> None:
        """Release connections and child processes."""


class Limits(msgspec.Struct, frozen=True, omit_defaults=True):
    """Limits of one session; sizes in bytes, times in seconds."""

    memory_bytes: int = 512 * 1024 * 1024
    pids: int = 64
    wall_s: float = 30.0
    output_bytes: int = 1024 * 1024
    disk_bytes: int = 256 * 1024 * 1024
    file_bytes: int = 64 * 1024 * 1024
    files: int = 10_000


PACKAGES = "/packages"
"""Where a session shows the packages that its spec names; its Python finds them there."""


class SandboxSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a session starts from.

    `tree` (path -> sha256) is laid out under /work; `mounts_ro` maps an absolute path inside the sandbox to a file
    tree of the same form; `packages` names distributions of the host's environment whose files are shown read-only in
    `PACKAGES`; `require` names guarantees that must be enforced.
    """

    tree: dict[str, str] = {}
    mounts_ro: dict[str, dict[str, str]] = {}
    packages: tuple[str, ...] = ()
    env: dict[str, str] = {}
    limits: Limits = Limits()
    require: tuple[Guarantee, ...] = ("filesystem", "network", "wall", "output")


class ExecResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """One command's end: `why` it ended, its exit code, its output (cut at the limit) and what it cost."""

    why: Literal["exit", "signal", "timeout", "output", "oom", "pids", "disk", "infra"]
    rc: int | None
    output: bytes
    truncated: bool = False
    cpu_ms: float | None = None
    wall_ms: float = 0.0
    peak_memory_bytes: int | None = None
    leftover_pids: int = 0


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """What all commands of a session used; `cpu_ms` is None as soon as it is not known of one of them."""

    commands: int = 0
    wall_ms: float = 0.0
    cpu_ms: float | None = 0.0
    peak_memory_bytes: int | None = None

    def after(self, result: ExecResult) -> Usage:
        """The usage with one more command; the peak is the highest that is known."""
        known = None not in (self.cpu_ms, result.cpu_ms)
        peaks = [peak for peak in (self.peak_memory_bytes, result.peak_memory_bytes) if peak is not None]
        return Usage(
            commands=self.commands + 1,
            wall_ms=self.wall_ms + result.wall_ms,
            cpu_ms=(self.cpu_ms or 0.0) + (result.cpu_ms or 0.0) if known else None,
            peak_memory_bytes=max(peaks, default=None),
        )


class Session(Protocol):
    """One isolated workspace at /work. All calls are synchronous; use a thread from asyncio code."""

    def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", wall_s: float | None = None, cwd: str = "/work"
    ) -> ExecResult:
        """Run a command; stdout and stderr come back as one stream."""

    def read(self, path: str, max_bytes: int) -> bytes:
        """A regular file of the workspace, links not followed; raises InputError when it is not one."""

    def write(self, path: str, data: bytes) -> None:
        """Write a file of the workspace, making its folders; never through a link."""

    def paths(self) -> list[str]:
        """Sorted relative paths of the regular files in the workspace."""

    def mark(self) -> None:
        """Take the files as they are now as the base that `diff` compares with."""

    def diff(self) -> Diff:
        """Kill everything, then read what differs from the base; contents go to the store given at opening."""

    def close(self) -> Usage:
        """Kill everything and remove the workspace; what all commands used. Safe to call twice."""


class Sandbox(Protocol):
    """A backend. `caps` is what this machine really enforces, probed."""

    @property
    def name(self) -> str:
        """Backend and version, as recorded."""

    @property
    def caps(self) -> frozenset[Guarantee]:
        """Guarantees that hold here."""

    def open(self, spec: SandboxSpec, store: Store) -> Session:
        """A fresh session; raises SandboxUnavailableError when a required guarantee is missing."""


class Kit(Protocol):
    """The handles that a probe gets: the store, the item's base tree, and a fresh grading session."""

    @property
    def store(self) -> Store:
        """Contents of the suite's, the run's and the proofs' files."""

    def base(self, item: Item) -> Tree:
        """The untouched workspace: the item's files with its edits planted."""

    def session(self, item: Item, tree: Tree, mounts_ro: Mapping[str, Mapping[str, str]] | None = None) -> Session:
        """A fresh grading session G over `tree`; raises SandboxUnavailableError without a sandbox."""

    @property
    def sandbox_name(self) -> str:
        """Backend and version, for the evidence; empty without one."""
