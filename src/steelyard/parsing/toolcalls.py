"""Tool calls written as text: `<tool_call>{"name": ..., "arguments": {...}}</tool_call>`, read one by one.

Sources: the Hermes / Qwen chat templates (the tags), REQUIREMENTS O-24 (the error texts, word for word).
Each block is read alone: a bad one becomes that call's error, the others of the turn still count. The last block may
lack its closing tag; a tag in backticks is prose. Without any tag, a reply that is one JSON object, or a fenced JSON
block, is a call as well when it gives a name and arguments.
Not covered: native tool calls (the endpoint parses those), `parameters` for `arguments`, arguments as JSON text.
Easy to break: a closing tag inside a string does not end a block; a block is never dropped; linear time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from steelyard.errors import InputError
from steelyard.parsing.json_prose import balanced_end, fenced_blocks, json_type, strict_json
from steelyard.ports import ToolSpec

OPEN = "<tool_call>"
CLOSE = "</tool_call>"
_CLOSED = re.compile(r"\s*(?:</tool_call>|(?=<tool_call>)|\Z)")
_TAG = re.compile(r"</?tool_call>")
_SPACE = re.compile(r"\s*")
_SHORT = 100
_FREE_SCAN, _MOST_SCANS = 50_000, 2  # characters, and times the text, that broken blocks may be scanned for their end


class ParsedCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """One block of a reply: a call, or the `error` that its tool message will say; `span` is where it stands."""

    name: str = ""
    arguments: dict[str, Any] = {}
    error: str = ""
    span: tuple[int, int] = (0, 0)


def parse_tool_calls(text: str, tools: Mapping[str, ToolSpec], fenced: bool = True) -> list[ParsedCall]:
    """Every call in a reply, in order, checked against the tools on offer; `fenced` reads untagged JSON too."""
    return [_checked(call, tools) for call in read_tool_calls(text, fenced)]


def read_tool_calls(text: str, fenced: bool = True) -> list[ParsedCall]:
    """Every call in a reply, in order, whichever tools exist."""
    tagged = list(_blocks(text))
    if tagged:
        return tagged
    if not fenced:
        return []
    if _looks_like_call(text):
        return [_call(_value(text), (0, len(text)))]
    blocks = [(text[start:end], (start, end)) for start, end, _ in fenced_blocks(text)]
    return [_call(_value(body), span) for body, span in blocks if _looks_like_call(body)]


def render_tool_call(name: str, arguments: Mapping[str, Any]) -> str:
    """The text of one call, as `parse_tool_calls` reads it back."""
    body = json.dumps({"name": name, "arguments": dict(arguments)}, ensure_ascii=False, allow_nan=False)
    return f"{OPEN}\n{body}\n{CLOSE}"


def _blocks(text: str) -> Iterator[ParsedCall]:
    at, budget = 0, max(_FREE_SCAN, _MOST_SCANS * len(text))
    broken: dict[str, InputError] = {}  # a loop repeats one block thousands of times
    while (opened := text.find(OPEN, at)) >= 0:
        start = opened + len(OPEN)
        if text[opened - 1 : opened] == "`" and text[start : start + 1] == "`":  # the tag is spoken of, not used
            at = start
            continue
        scanned, body = _json_body(text, start) if budget > 0 else (0, None)
        if body is None:
            budget -= scanned
            end, at = _plain_end(text, start)
            block = text[start:end]
            value = broken.get(block) or _value(block)
            if isinstance(value, InputError) and len(block) <= _SHORT:
                broken[block] = value
            yield _call(value, (opened, at))
        else:
            value, at = body
            yield _call(value, (opened, at))


def _json_body(text: str, start: int) -> tuple[int, tuple[Any, int] | None]:
    """How far was looked, and (value, end of the block) when a whole JSON object stands there and nothing else."""
    at = _SPACE.match(text, start).end()  # type: ignore[union-attr]  # the empty match always exists
    if text[at : at + 1] != "{":
        return at - start, None
    end = balanced_end(text, at)
    closing = _CLOSED.match(text, end)
    if closing is None:
        return end - start, None
    value = _value(text[at:end])
    return end - start, None if isinstance(value, InputError) else (value, closing.end())


def _value(body: str) -> Any:
    """The JSON value of a body, or the InputError that says why it has none."""
    try:
        return strict_json(body.strip())
    except InputError as error:
        return error


def _plain_end(text: str, start: int) -> tuple[int, int]:
    """The same for a body that is not JSON: up to the next tag of either kind, else to the end of the text."""
    tag = _TAG.search(text, start)
    if tag is None:
        return len(text), len(text)
    return tag.start(), tag.end() if tag[0] == CLOSE else tag.start()


def _looks_like_call(body: str) -> bool:
    return body.lstrip()[:1] == "{" and '"name"' in body and '"arguments"' in body


def _call(value: Any, span: tuple[int, int]) -> ParsedCall:
    """The call that a JSON value makes, or the error that its tool message says."""
    if isinstance(value, InputError):
        return ParsedCall(error=f"error: tool call is not valid JSON: {value}", span=span)
    if not isinstance(value, dict) or value.keys() != {"name", "arguments"}:
        shape = 'error: a tool call must be a JSON object with exactly "name" and "arguments"'
        return ParsedCall(error=shape, span=span)
    name, arguments = value["name"], value["arguments"]
    if not isinstance(name, str):
        return ParsedCall(error=f"error: unknown tool {name!r}", span=span)
    if not isinstance(arguments, dict):
        return ParsedCall(name, error="error: arguments must be a JSON object", span=span)
    return ParsedCall(name, arguments, span=span)


def _checked(call: ParsedCall, tools: Mapping[str, ToolSpec]) -> ParsedCall:
    # The order of the checks is part of the error texts: a tool is looked up before its arguments are looked at.
    if call.error and not call.name:
        return call
    if call.name not in tools:
        return ParsedCall(call.name, error=f"error: unknown tool {call.name!r}", span=call.span)
    if call.error:
        return call
    error = _argument_error(call.arguments, tools[call.name].parameters)
    return ParsedCall(call.name, error=error, span=call.span) if error else call


def _argument_error(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    properties = schema.get("properties", {})
    missing = sorted(set(schema.get("required", [])) - arguments.keys())
    unknown = [] if schema.get("additionalProperties") is True else sorted(arguments.keys() - properties.keys())
    if missing or unknown:
        return f"error: missing arguments {missing}, unknown arguments {unknown}"
    kinds = {name: rule.get("type") for name, rule in properties.items()}
    wrong = [name for name, value in arguments.items() if not _fits(value, kinds.get(name))]
    if not wrong:
        return ""
    if set(kinds.values()) == {"string"}:
        return "error: every argument must be a string"
    return f'error: argument "{wrong[0]}" must be of type {kinds[wrong[0]]}, got {json_type(arguments[wrong[0]])}'


def _fits(value: Any, kind: Any) -> bool:
    if not isinstance(kind, str):
        return True
    if kind == "integer":
        return json_type(value) == "number" and value == int(value)
    return json_type(value) == kind
