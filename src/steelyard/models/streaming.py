"""A reply that was streamed, as the one object that it would have been without.

Server-sent events (WHATWG HTML, section 9.2) of chat.completion.chunk objects, as OpenAI, vLLM, llama.cpp and gateways
write them: text in pieces, tool calls by index, usage in a last chunk without choices, comments to keep the line open.
Pure: the whole body in, the body of an ordinary reply out.
Easy to break: a stream that ended too soon must not pass for a short answer. It ended well when every choice told how
it finished, whatever came after; [DONE] alone is also said by servers that broke off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from steelyard.models.chat_format import UnreadableReplyError, decoded, text_of, whole_text

STREAMED: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}
"""What a request says to have its reply streamed, with the tokens counted."""

_END = "[DONE]"
LAST_EVENT = re.compile(rb"(?:^|[\r\n])data: ?\[DONE\]\s")
"""What the body of a stream holds once everything has been said."""


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: str | None = None


class _Call(msgspec.Struct):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Delta(msgspec.Struct):
    content: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    refusal: Any = None
    tool_calls: list[_Call] | None = None


class _Logprobs(msgspec.Struct):
    content: list[Any] | None = None


class _Piece(msgspec.Struct):
    index: int | None = None
    delta: _Delta | None = None
    message: _Delta | None = None
    """The whole message at once, which some servers send instead."""
    finish_reason: Any = None
    logprobs: _Logprobs | None = None
    error: Any = None


class _Chunk(msgspec.Struct):
    id: Any = None
    model: str | None = None
    choices: list[_Piece] | None = None
    usage: Any = None
    error: Any = None
    object: str | None = None
    message: Any = None


_DECODER = msgspec.json.Decoder(_Chunk)
_JOINED = ("content", "reasoning_content", "reasoning", "refusal")


def says_stream(content_type: str) -> bool:
    """Whether a body of this type is a stream of events."""
    return content_type.partition(";")[0].strip().lower() == "text/event-stream"


def is_stream(content_type: str, body: bytes) -> bool:
    """Whether a body is a stream of events, by its type or, where a server gives another, by how it begins."""
    if says_stream(content_type):
        return True
    return body[:16].lstrip(b"\xef\xbb\xbf\r\n").startswith((b"data:", b"event:", b": "))


def whole_reply(body: bytes) -> bytes:
    """The JSON of a whole reply; UnreadableReplyError when the stream broke off or holds something else."""
    reply: dict[str, Any] = {}
    choices: dict[int, _Choice] = {}
    for name, event in _events(body):
        if event.strip() == _END:
            break
        if name == "error":
            return msgspec.json.encode({"error": event})
        chunk = _chunk(event)
        if chunk.error or chunk.object == "error":
            return msgspec.json.encode({"error": chunk.error or chunk.message or event})
        told = {"id": chunk.id, "model": chunk.model, "usage": chunk.usage}
        reply.update((name, value) for name, value in told.items() if value)
        for piece in chunk.choices or ():
            choices.setdefault(piece.index or 0, _Choice()).add(piece)
    if not choices or not all(choice.finish_reason for choice in choices.values()):
        raise UnreadableReplyError("a stream that broke off before its end", is_json=True)
    return msgspec.json.encode({**reply, "choices": [choices[index].whole() for index in sorted(choices)]})


def _events(body: bytes) -> Iterator[tuple[str, str]]:
    """(name, data) of each event, an unfinished last one included; comments and other fields are passed over."""
    name, data = "", list[str]()
    for line in [*body.decode("utf-8-sig", errors="replace").replace("\r\n", "\n").replace("\r", "\n").split("\n"), ""]:
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif line.startswith("event:"):
            name = line[6:].strip()
        elif not line:
            if data:
                yield name, "\n".join(data)
            name, data = "", []


def _chunk(event: str) -> _Chunk:
    try:
        return decoded(_DECODER, event.encode(errors="surrogatepass"))
    except msgspec.ValidationError as error:
        raise UnreadableReplyError(
            f"a stream of something else than pieces of a reply: {error}", is_json=True
        ) from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise UnreadableReplyError(f"a stream that broke off inside a piece: {error}", is_json=True) from error


class _Choice:
    """What has come of one choice."""

    def __init__(self) -> None:
        self.finish_reason: Any = None
        self._message: dict[str, str] = {}
        self._calls: list[dict[str, str]] = []
        self._open: dict[int | None, dict[str, str]] = {}  # the call that a piece with this index belongs to
        self._logprobs: list[Any] = []
        self._error: Any = None

    def add(self, piece: _Piece) -> None:
        """Join one piece to it."""
        delta = piece.delta or piece.message or _Delta()
        for name in _JOINED:
            content = getattr(delta, name)
            text = content if isinstance(content, str) else text_of(content)  # half a pair waits for its other half
            if text:
                self._message[name] = self._message.get(name, "") + text
        for call in delta.tool_calls or ():
            self._add_call(call, call.function or _Function())
        self._logprobs += (piece.logprobs and piece.logprobs.content) or []
        self.finish_reason = piece.finish_reason or self.finish_reason
        self._error = piece.error or self._error

    def _add_call(self, call: _Call, function: _Function) -> None:
        """A call's id and name come once, its arguments in pieces; another id is another call, whatever its index."""
        whole = self._open.get(call.index)
        if whole is None or (call.id and whole["id"] and call.id != whole["id"]):
            whole = {"id": "", "name": "", "arguments": ""}
            self._open[call.index] = whole
            self._calls.append(whole)
        whole["id"] = whole["id"] or call.id or ""
        whole["name"] = whole["name"] or function.name or ""
        whole["arguments"] += function.arguments or ""

    def whole(self) -> dict[str, Any]:
        """As a choice of a whole reply."""
        calls = [
            {"id": call["id"], "function": {"name": call["name"], "arguments": call["arguments"]}}
            for call in self._calls
        ]
        said = {name: whole_text(text) for name, text in self._message.items()}
        choice: dict[str, Any] = {"message": {**said, "tool_calls": calls}, "finish_reason": self.finish_reason}
        if self._logprobs:
            choice["logprobs"] = {"content": self._logprobs}
        return {**choice, "error": self._error} if self._error else choice
