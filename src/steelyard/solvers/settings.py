"""Solver settings: which solver, its limits and its tool protocol. They are part of a run's identity.

Source of the limits: seed 001 (8 turns, 512 new tokens, 6144 tokens of context, 30 s a tool, 4000 characters).
Not covered: sampling (`ports.Sampling`), which is identity too but belongs to the model call.
Easy to break: leaving defaults out when it is written down, so that a changed default changes runs silently; every
field is always encoded.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from steelyard.errors import InputError
from steelyard.ports import Sampling

SolverName = Literal["chat", "tools", "replay"]
Protocol = Literal["native", "tagged", "json_action"]


class SolverSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How attempts are made. `max_new_tokens` holds for one reply and yields to `Sampling.max_tokens`."""

    name: SolverName = "chat"
    system: str | None = None
    protocol: Protocol = "tagged"
    max_turns: int = 8
    max_new_tokens: int = 512
    context_tokens: int = 6144
    tool_timeout_s: float = 30.0
    output_chars: int = 4000
    offer: list[str] = []
    """Tools offered beside an item's own, so that the same items can be asked with and without them."""
    packages: list[str] = []
    """Python distributions of this environment that offered tools may import inside the sandbox."""

    def __post_init__(self) -> None:
        for limit in ("max_turns", "max_new_tokens", "context_tokens", "tool_timeout_s", "output_chars"):
            if getattr(self, limit) <= 0:
                raise InputError(f"{limit} must be above 0, got {getattr(self, limit)}")


def reply_sampling(sampling: Sampling, settings: SolverSettings) -> Sampling:
    """The sampling of one reply: as given, with the solver's token limit where it names none."""
    if sampling.max_tokens is not None:
        return sampling
    return msgspec.structs.replace(sampling, max_tokens=settings.max_new_tokens)
