"""A reply that was streamed, as the one object that it would have been without.

Server-sent events (WHATWG HTML, section 9.2) of chat.completion.chunk objects, as OpenAI, vLLM, llama.cpp and gateways
write them: text in pieces, tool calls by index, usage in a last chunk without choices, comments to keep the line open.
Pure: the whole body in, the body of an ordinary reply out.
Easy to break: a stream that ended too soon must not pass for a short answer. It ended well when it said [DONE], or
when every choice told how it finished.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from steelyard.models.chat_format import UnreadableReplyError

STREAMED: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}
"""What a request says to have its reply streamed, with the tokens counted."""

_END = "[DONE]"


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: str | None = None


class _Call(msgspec.Struct):
    index: int = 0
    id: str | None = None
    function: _Function | None = None


class _Delta(msgspec.Struct):
    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None


class _Logprobs(msgspec.Struct):
    content: list[Any] | None = None


class _Piece(msgspec.Struct):
    index: int = 0
    delta: _Delta | None = None
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None


class _Chunk(msgspec.Struct):
    id: str | None = None
    model: str | None = None
    choices: list[_Piece] | None = None
    usage: Any = None
    error: Any = None


_DECODER = msgspec.json.Decoder(_Chunk)
_JOINED = ("content", "reasoning_content", "reasoning", "refusal")


def is_stream(content_type: str) -> bool:
    """Whether a body of this type is a stream of events."""
    return content_type.partition(";")[0].strip().lower() == "text/event-stream"


def whole_reply(body: bytes) -> bytes:
    """The JSON of a whole reply; UnreadableReplyError when the stream broke off or holds something else."""
    reply: dict[str, Any] = {}
    choices: dict[int, _Choice] = {}
    ended = False
    for event in _events(body):
        if event == _END:
            ended = True
            break
        chunk = _chunk(event)
        if chunk.error:
            return msgspec.json.encode({"error": chunk.error})
        told = {"id": chunk.id, "model": chunk.model, "usage": chunk.usage}
        reply.update((name, value) for name, value in told.items() if value)
        for piece in chunk.choices or ():
            choices.setdefault(piece.index, _Choice()).add(piece)
    if not ended and not (choices and all(choice.finish_reason for choice in choices.values())):
        raise UnreadableReplyError("a stream that broke off before its end", is_json=True)
    return msgspec.json.encode({**reply, "choices": [choices[index].whole() for index in sorted(choices)]})


def _events(body: bytes) -> Iterator[str]:
    """The data of each event, an unfinished last one included; comments and other fields are passed over."""
    data: list[str] = []
    for line in [*body.decode("utf-8-sig", errors="replace").replace("\r\n", "\n").replace("\r", "\n").split("\n"), ""]:
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            yield "\n".join(data)
            data = []


def _chunk(event: str) -> _Chunk:
    try:
        return _DECODER.decode(event)
    except msgspec.ValidationError as error:
        raise UnreadableReplyError(
            f"a stream of something else than pieces of a reply: {error}", is_json=True
        ) from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise UnreadableReplyError(f"a stream that broke off inside a piece: {error}", is_json=True) from error


class _Choice:
    """What has come of one choice."""

    def __init__(self) -> None:
        self.finish_reason: str | None = None
        self._message: dict[str, str] = {}
        self._calls: dict[int, dict[str, str]] = {}
        self._logprobs: list[Any] = []

    def add(self, piece: _Piece) -> None:
        """Join one piece to it; a call's id and name come once, its arguments in pieces."""
        delta = piece.delta or _Delta()
        for name in _JOINED:
            if text := getattr(delta, name):
                self._message[name] = self._message.get(name, "") + text
        for call in delta.tool_calls or ():
            function = call.function or _Function()
            whole = self._calls.setdefault(call.index, {"id": "", "name": "", "arguments": ""})
            whole["id"] = whole["id"] or call.id or ""
            whole["name"] = whole["name"] or function.name or ""
            whole["arguments"] += function.arguments or ""
        self._logprobs += (piece.logprobs and piece.logprobs.content) or []
        self.finish_reason = piece.finish_reason or self.finish_reason

    def whole(self) -> dict[str, Any]:
        """As a choice of a whole reply."""
        calls = [
            {"id": call["id"], "function": {"name": call["name"], "arguments": call["arguments"]}}
            for _, call in sorted(self._calls.items())
        ]
        choice = {"message": {**self._message, "tool_calls": calls}, "finish_reason": self.finish_reason}
        return {**choice, "logprobs": {"content": self._logprobs}} if self._logprobs else choice
