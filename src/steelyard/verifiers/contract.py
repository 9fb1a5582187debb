"""What a verifier is: a frozen record of plain functions that read, probe and decide.

- `read(attempt, config)` finds the answer and says where and by which rule.
- `probe(item, attempt, kit, config)` is the only step that touches a sandbox, a store, a worker or a grader.
- `decide(found, target, config)` is pure: same reading or evidence, same verdict. Where fast, exact rules do not
  reach, it returns `Undecided` and `settle` decides in a worker that is killed when it takes too long (then void).

A verifier has `read` or `probe`; one that composes others has both, and `probes` says which is used.
Readings and evidence are stored, so judging again re-runs decide alone.
`target` reaches decide as text; `as_text` is the one rule that turns a structured target into text.
A reading's value may be text (from prose) or any JSON value (from a field of a JSON answer).
Authors' wrong attempts are `Spoil`s: each names why it is wrong and which misses must be raised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from steelyard.attempt import Attempt, ToolCall
from steelyard.canonical import canonical_text
from steelyard.errors import InputError
from steelyard.item import Item
from steelyard.ports import Kit
from steelyard.verdict import Evidence, Reading, Undecided, Unread, Verdict

NO_ANSWER = "no-answer"
"""The miss of every verifier whose `read` found nothing; its detail is the reason."""


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Base of verifier configs; unknown keys are refused at load."""


class Script(msgspec.Struct, frozen=True):
    """A scripted attempt: an answer, tool calls to replay, and workspace changes to lay over.

    `changes` maps a path to its new content, or None for a deletion.
    """

    answer: str = ""
    calls: list[ToolCall] = []
    changes: dict[str, bytes | str | None] = {}


class Spoil(msgspec.Struct, frozen=True):
    """A wrong attempt. `make` returns None where it does not apply; one of `misses` at least must be raised.

    A verifier's `make(target, config, prompt)`; a family's `make(item)`.
    """

    make: Callable[..., str | Script | None]
    misses: tuple[str, ...]
    misses_of: Callable[[str, str, Any], tuple[str, ...]] | None = None
    """For a verifier whose config names its misses: `misses_of(made, target, config)` in place of `misses`."""


class Contrast(msgspec.Struct, frozen=True):
    """An attempt that still passes and must differ from the reference: `check(item, attempt)` says whether it does."""

    make: Callable[[Item], str | Script | None]
    check: Callable[[Item, Attempt], bool]


class Verifier(msgspec.Struct, frozen=True, kw_only=True):
    """A named program that reads, probes and decides. `rules` goes up when meaning changes on purpose."""

    name: str
    rules: int = 1
    config: type[Config] = Config
    misses: tuple[str, ...] = ()
    read: Callable[[Attempt, Any], Reading | Unread] | None = None
    probe: Callable[[Item, Attempt, Kit, Any], Evidence] | None = None
    decide: Callable[[Any, str, Any], Verdict | Undecided]
    settle: Callable[[Any, str, Any], Verdict] | None = None
    """The slow way, for what decide left undecided: symbolic algebra and the like, in a worker that can be killed."""
    check: Callable[[str, Any], None] | None = None
    """Refuses a target or config that cannot work, with InputError, when the suite is loaded."""
    render: Callable[[str, Any], str | None] | None = None
    """The plainest right answer for a target; the reference where no family solves."""
    spoil: Mapping[str, Spoil] = {}
    vary: Mapping[str, Callable[[str, Any, str], str | None]] = {}
    """Right answers in unusual forms: `make(target, config, prompt)`, None where it does not apply."""
    children: Callable[[Any], list[dict[str, Any]]] | None = None
    """Specs of the verifiers that a composed config holds."""
    misses_from: Callable[[Any, str], list[str]] | None = None
    """Misses that a config and a target name themselves, as `fields` does."""
    describe: Callable[[str, Any], dict[str, Any]] | None = None
    """What the judgement record says of a target that is a procedure (S-3): `describe(target, config)`."""
    libraries: tuple[str, ...] = ()
    """Distributions that reading or deciding calls; their versions are in the revision."""
    resources: tuple[str, ...] = ()
    """Further modules whose source is in the revision, such as a runner that is sent into the sandbox."""

    probes: Callable[[Any], bool] | None = None
    """For a verifier with both read and probe (a composed one): whether this config needs the probe."""
    reread: Callable[[Attempt, Evidence, Any], Evidence] | None = None
    """Reads the parts of stored evidence that are readings again from the attempt, so that judging again re-reads."""

    def __post_init__(self) -> None:
        if self.read is None and self.probe is None:
            raise InputError(f'verifier "{self.name}" needs read or probe')
        if self.read is not None and self.probe is not None and self.probes is None:
            raise InputError(f'verifier "{self.name}" has read and probe, so it must say when it probes')


def as_text(value: Any) -> str:
    """A target as decide gets it: text as it stands, anything else as canonical JSON text."""
    return value if isinstance(value, str) else canonical_text(value)
