"""A model that gives written replies, for tests, demos and proofs without a network.

Replies come in order, from a function of the conversation and the seed, or from a JSONL file whose rows are
`{"contains": "text of the last user message", "reply": "...", "seed": 3}`: the first row that fits answers; a row
without `contains` fits any message, one without `seed` any seed.
Not covered: anything like a real model. It is never a stand-in when a real one cannot be had.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from steelyard.attempt import Message, ModelOutput
from steelyard.canonical import digest, sha256_hex
from steelyard.errors import CallError, FormatError
from steelyard.models.chat_format import build_body, request_settings
from steelyard.ports import Sampling, ToolSpec

Replier = Callable[[Sequence[Message], int | None], "str | ModelOutput"]


class _Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    reply: str
    contains: str = ""
    seed: int | None = None


class Scripted:
    """Replies in the order given, or whatever a function of (messages, seed) returns. Implements `ports.Model`.

    `weights_sha256` tells one script from another in a run's identity; of given replies it is made here, of a function
    nothing is known.
    """

    def __init__(
        self, replies: Sequence[str | ModelOutput] | Replier, *, name: str = "scripted", weights_sha256: str = ""
    ) -> None:
        if callable(replies):
            self._replier = replies
        else:
            self._replier = _in_order(list(replies))
            weights_sha256 = weights_sha256 or digest(list(replies))
        self._name, self._weights_sha256 = name, weights_sha256

    def __repr__(self) -> str:
        return f"Scripted({self._name!r})"

    @property
    def id(self) -> str:
        return self._name

    async def describe(self) -> dict[str, Any]:
        """That no model was asked, and the hash of the script."""
        known = {"weights_sha256": self._weights_sha256} if self._weights_sha256 else {}
        return {"engine": "scripted", **known}

    async def generate(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        *,
        seed: int | None = None,
        tools: Sequence[ToolSpec] = (),
        response_format: Mapping[str, Any] | None = None,
    ) -> ModelOutput:
        """The next reply; CallError of kind `script` when there is none."""
        reply = self._replier(messages, seed)
        if isinstance(reply, ModelOutput):
            return reply
        request = request_settings(build_body(self._name, messages, sampling, seed, tools, response_format))
        return ModelOutput(model=self._name, texts=[reply], finish_reasons=["stop"], request=request)

    async def close(self) -> None:
        """Nothing to release."""


def scripted_from_file(path: Path | str) -> Scripted:
    """A scripted model from a JSONL file; FormatError names the line."""
    rows = []
    try:
        script = Path(path).read_bytes()
    except OSError as error:
        raise FormatError(path, None, f"cannot be read: {error.strerror}") from error
    for number, line in enumerate(script.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            rows.append(msgspec.json.decode(line, type=_Row))
        except (msgspec.DecodeError, UnicodeError) as error:
            raise FormatError(path, number, f'expected {{"contains": ..., "reply": ...}}: {error}') from error

    def answer(messages: Sequence[Message], seed: int | None) -> str:
        last = next((message.content for message in reversed(messages) if message.role == "user"), "")
        for row in rows:
            if row.contains in last and row.seed in (None, seed):
                return row.reply
        raise CallError(f'{path} has no reply to "{last[:80]}"', kind="script")

    return Scripted(answer, name=Path(path).stem, weights_sha256=sha256_hex(script))


def _in_order(replies: list[str | ModelOutput]) -> Replier:
    rest = iter(replies)

    def answer(*_: Any) -> str | ModelOutput:
        try:
            return next(rest)
        except StopIteration:
            raise CallError(f"all {len(replies)} scripted replies are used up", kind="script") from None

    return answer
