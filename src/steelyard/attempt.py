"""What is judged: the answer, the transcript, the model's outputs and the workspace changes.

Shapes follow the OpenAI chat format where it has one (roles, tool calls with JSON text as arguments), so a
transcript can be sent again or trained on as it stands. A ModelOutput is kept whole and untouched.
Easy to break: dropping reasoning text or a finish reason; both tell a spent budget from an empty reply.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

Role = Literal["system", "user", "assistant", "tool"]


class ToolCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """One call as the model wrote it; `arguments` is JSON text, parsed only by the tool solver."""

    name: str
    arguments: str
    id: str = ""


class Message(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message of a conversation, in the words that were sent or received."""

    role: Role
    content: str
    tool_calls: list[ToolCall] = []
    tool_call_id: str = ""
    raw: str = ""
    """For tool messages: the output before it was normalised for the model, when that differs."""


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens as the endpoint counted them; None where it did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None


class ModelOutput(msgspec.Struct, frozen=True, omit_defaults=True):
    """One reply of a model, whole: lists have one entry a choice (n requests are sent for n rollouts)."""

    model: str
    texts: list[str] = []
    reasoning_texts: list[str] = []
    finish_reasons: list[str] = []
    tool_calls: list[ToolCall] = []
    usage: Usage | None = None
    request: dict[str, Any] = {}
    seconds: float = 0.0
    response_id: str = ""
    logprobs: list[Any] = []


class Change(msgspec.Struct, frozen=True, omit_defaults=True):
    """One path that differs from the base tree; content lives in the store under `sha256`."""

    kind: Literal["added", "modified", "deleted"]
    sha256: str = ""
    size: int = 0
    executable: bool = False


class Diff(msgspec.Struct, frozen=True, omit_defaults=True):
    """Workspace changes as data: path -> Change, and what was left out (links, devices, too large) with why."""

    changes: dict[str, Change] = {}
    refused: dict[str, str] = {}


class Attempt(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a verifier judges. `stop` says why the solver ended: answer, turns, context, length, ..."""

    answer: str = ""
    messages: list[Message] = []
    outputs: list[ModelOutput] = []
    workspace: Diff | None = None
    stop: str = ""
    usage: Usage | None = None


Tree = Mapping[str, str]
"""A workspace as data: relative path -> sha256 of its content."""


def lay_over(tree: Tree, diff: Diff | None) -> dict[str, str]:
    """`tree` with the changes of `diff` on top; pure: contents stay in the store."""
    result = dict(tree)
    for path, change in (diff.changes if diff else {}).items():
        if change.kind == "deleted":
            result.pop(path, None)
        else:
            result[path] = change.sha256
    return result
