"""The chat-completions wire format, both ways: the body of a request, and a reply as a ModelOutput.

Source: the OpenAI chat completions reference, and what llama.cpp, vLLM and gateways really answer (reasoning in
`reasoning_content` or `reasoning`, content as a list of parts, arguments as an object, errors under status 200).
Pure: no network. Streams are put together by `streaming`. Not covered: several choices a request, images and audio.
A reply that has several choices all the same is kept whole; the first one's text and tool calls are what is judged.
Easy to break: turning an absent text into an error. An empty message is an answer, and says how it ended.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from steelyard.attempt import Message, ModelOutput, ToolCall, Usage
from steelyard.ports import Sampling, ToolSpec


class _Function(msgspec.Struct):
    name: str = ""
    arguments: Any = ""


class _Call(msgspec.Struct):
    id: str | None = None
    function: _Function | None = None


class _Said(msgspec.Struct):
    content: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    refusal: Any = None
    tool_calls: list[_Call] | None = None


class _Choice(msgspec.Struct):
    message: _Said | None = None
    finish_reason: Any = None
    logprobs: Any = None
    error: Any = None


class _Reply(msgspec.Struct):
    id: Any = None
    model: str | None = None
    choices: list[_Choice] | None = None
    usage: Any = None
    error: Any = None


class UnreadableReplyError(Exception):
    """The body is no chat completion; never leaves this room. `is_json` tells a wrong shape from no JSON at all."""

    def __init__(self, why: str, *, is_json: bool, error: Any = None) -> None:
        self.is_json = is_json
        self.error = error
        super().__init__(why)


_ABSURD_TOKENS = 2**53  # such a count is a fault of the server, and no cap may be spent on it
_DECODER = msgspec.json.Decoder(_Reply)
_MARK = b"\xef\xbb\xbf"
Shape = TypeVar("Shape")


def build_body(
    model: str,
    messages: Sequence[Message],
    sampling: Sampling,
    seed: int | None = None,
    tools: Sequence[ToolSpec] = (),
    response_format: Mapping[str, Any] | None = None,
    extra_body: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The JSON object of one request; what is None or empty is not sent, `extra_body` has the last word."""
    body: dict[str, Any] = {"model": model, "messages": [_message(message) for message in messages]}
    settings = (
        ("temperature", sampling.temperature),
        ("top_p", sampling.top_p),
        ("top_k", sampling.top_k),
        ("max_tokens", sampling.max_tokens),
        ("stop", sampling.stop or None),
        ("seed", seed),
        ("tools", [{"type": "function", "function": tool} for tool in tools] or None),
        ("response_format", response_format),
    )
    body.update((name, value) for name, value in settings if value is not None)
    body.update(extra_body or {})
    return body


def request_settings(body: Mapping[str, Any]) -> dict[str, Any]:
    """What a record keeps of a request: everything but the messages, as plain data."""
    kept = {name: value for name, value in body.items() if name != "messages"}
    return msgspec.to_builtins(kept) if "tools" in kept else kept


def read_reply(data: bytes | memoryview, asked_model: str, request: dict[str, Any], seconds: float) -> ModelOutput:
    """A reply's bytes as a ModelOutput; raises UnreadableReplyError with words when there is no choice in it."""
    try:
        reply = decoded(_DECODER, bytes(data))
    except msgspec.ValidationError as error:
        raise UnreadableReplyError(f"JSON, but no chat completion: {error}", is_json=True) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnreadableReplyError(f"not JSON: {error}", is_json=False) from error
    except RecursionError as error:
        raise UnreadableReplyError("JSON that is nested too deep to be read", is_json=True) from error
    if not reply.choices:
        what = f"an error: {error_words(reply.error)}" if reply.error else 'JSON without "choices"'
        raise UnreadableReplyError(what, is_json=True, error=reply.error)
    first = reply.choices[0]
    if first.error or first.finish_reason == "error":  # a gateway's way to say that the engine broke
        what = error_words(first.error) if first.error else 'a choice that finished with "error"'
        raise UnreadableReplyError(f"an error: {what}", is_json=True, error=first.error)
    said = [choice.message or _Said() for choice in reply.choices]
    reasoning = [text_of(one.reasoning_content) or text_of(one.reasoning) for one in said]
    return ModelOutput(
        model=reply.model or asked_model,
        texts=[text_of(one.content) or text_of(one.refusal) for one in said],
        reasoning_texts=reasoning if any(reasoning) else [],
        finish_reasons=[_word(choice.finish_reason) for choice in reply.choices],
        tool_calls=[_tool_call(call) for call in said[0].tool_calls or ()],  # of the choice that is judged
        usage=_usage(reply.usage),
        request=request,
        seconds=seconds,
        response_id=_word(reply.id),
        logprobs=[choice.logprobs for choice in reply.choices if choice.logprobs is not None],
    )


def error_words(error: Any) -> str:
    """The human words of an endpoint's error object, whichever of the usual shapes it has."""
    if isinstance(error, Mapping):
        for name in ("message", "detail", "error", "msg"):
            if error.get(name):
                return error_words(error[name])
    return error if isinstance(error, str) else msgspec.json.encode(error).decode()


def _message(message: Message) -> dict[str, Any]:
    body: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        body["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.tool_call_id:
        body["tool_call_id"] = message.tool_call_id
    return body


def _tool_call(call: _Call) -> ToolCall:
    function = call.function or _Function()
    arguments = function.arguments
    text = arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()
    return ToolCall(function.name, text, call.id or "")


def decoded(decoder: msgspec.json.Decoder[Shape], data: bytes) -> Shape:
    """A body by its decoder; one with a byte order mark or with half a surrogate pair is read as well."""
    try:
        return decoder.decode(data.removeprefix(_MARK))
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        try:
            loose = json.loads(data.removeprefix(_MARK))  # takes half a pair, which a cut text may end in
        except (ValueError, RecursionError):
            raise error from None
        shaped: Shape = msgspec.convert(loose, decoder.type)
        return shaped


def whole_text(text: str) -> str:
    """Halves of surrogate pairs joined where both came, and replaced where one is missing."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _word(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def text_of(content: Any) -> str:
    """Text as it stands, or the text parts of a list of parts, joined."""
    if isinstance(content, str):
        return content if content.isascii() else whole_text(content)
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") if isinstance(part, Mapping) else part for part in parts)
    return "".join(text for text in texts if isinstance(text, str))


def _usage(usage: Any) -> Usage | None:
    if not isinstance(usage, Mapping):
        return None

    def count(name: str) -> int | None:
        value = usage.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _ABSURD_TOKENS:
            return None
        return int(value)

    return Usage(count("prompt_tokens"), count("completion_tokens"), count("total_tokens"))
