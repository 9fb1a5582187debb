"""How a model is offered tools, how its calls are read, and how results go back: native, tagged or json_action.

- `native`: the endpoint's own tool calling; what it parsed is checked here, nothing is read from the text.
- `tagged`: `<tool_call>` blocks in the text, described in the system message; needs nothing of the endpoint.
- `json_action`: every reply is one JSON object, a call or the answer, held to that shape by the endpoint's grammar.

A transcript keeps tool results as `tool` messages whatever the protocol. `wire` turns it into what is sent: without
native calls a result goes back as a user message, in the form that Qwen's chat template gives a `tool` message.
Easy to break: sending broken native arguments back; servers parse them in their template and fail the whole request.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from steelyard.attempt import Message, ModelOutput, ToolCall
from steelyard.errors import InputError
from steelyard.parsing.final import without_reasoning
from steelyard.parsing.json_prose import strict_json
from steelyard.parsing.toolcalls import CLOSE, OPEN, ParsedCall, parse_tool_calls
from steelyard.ports import ToolSpec
from steelyard.solvers.replies import reply_message, reply_text
from steelyard.solvers.settings import Protocol

Tools = Mapping[str, ToolSpec]

_ON_FILES = "You work on the files of a repository, through tools only. "
_FREELY = "You may use tools. "
_TAGGED = (
    "To call a tool, write its name and its arguments as one JSON object between tags:\n"
    '<tool_call>\n{"name": "TOOL", "arguments": {"ARGUMENT": "TEXT"}}\n</tool_call>\n'
    "Every argument is text. A reply may hold several calls; the results come back between <tool_response> tags. "
    "When the job is done, reply without a call: that reply is your answer.\n\n"
)
_ACTION = (
    "Every reply is one JSON object and nothing else. To call a tool: "
    '{"tool": "TOOL", "arguments": {"ARGUMENT": "TEXT"}}. Its result comes back between <tool_response> tags, and you '
    'go on. Only when the job is done: {"answer": "TEXT"}.\n\n'
)
_LOOK_FIRST = (
    "Look into the files before you answer or write, and never guess what one holds. Writing replaces a whole file, so "
    "write all of it.\n\n"
    "# Example, in another repository\n"
    "Which colour has the page's title?\n"
    '{"tool": "grep", "arguments": {"pattern": "color", "path": "page"}}\n'
    "page/style.css:7: h1 { color: teal }\n"
    '{"answer": "The title is teal."}\n\n'
)
"""With an example, because small models otherwise answer at once with what they guess."""
_TOOLS = "# Tools\n"
_LISTED_FILES = 100
_ACTION_SHAPE = 'error: a reply must be {"tool": name, "arguments": {...}} or {"answer": text}'


class Reply(msgspec.Struct, frozen=True):
    """A model's turn: the message it becomes, its calls with their ids, and the answer when there are no calls."""

    message: Message
    calls: list[tuple[ParsedCall, str]]
    answer: str


def system_text(protocol: Protocol, system: str | None, tools: Tools, files: Sequence[str] = ()) -> str | None:
    """The system message: the user's own, what the protocol has to explain, and the files that a job begins with."""
    parts = [system, _explained(protocol, tools, on_files=bool(files)), _listed(files)]
    return "\n\n".join(part for part in parts if part) or None


def _explained(protocol: Protocol, tools: Tools, *, on_files: bool) -> str:
    """How to call tools, and which there are; native endpoints say that themselves."""
    if protocol == "native":
        return ""
    how = _TAGGED if protocol == "tagged" else _ACTION + (_LOOK_FIRST if on_files else "")
    show = _in_full if protocol == "tagged" else _in_short
    return (_ON_FILES if on_files else _FREELY) + how + _TOOLS + "\n".join(show(spec) for spec in tools.values())


def _listed(files: Sequence[str]) -> str:
    """The paths that a model would otherwise guess at, as many as a system message can carry."""
    if not files:
        return ""
    more = [f"... and {len(files) - _LISTED_FILES} more, see list_files"] if len(files) > _LISTED_FILES else []
    return "\n".join(["# Files", *sorted(files)[:_LISTED_FILES], *more])


def _in_full(spec: ToolSpec) -> str:
    """A tool as chat templates show it, which is what models were trained on."""
    return json.dumps(msgspec.to_builtins(spec), ensure_ascii=False)


def _in_short(spec: ToolSpec) -> str:
    """A tool in one line: the endpoint's grammar holds the model to the schema, so the model need not read it."""
    required = spec.parameters.get("required", [])
    names = [name if name in required else f"{name} (optional)" for name in spec.parameters.get("properties", {})]
    return f"- {spec.name}({', '.join(names)}): {spec.description}"


def response_format(protocol: Protocol, tools: Tools, *, may_answer: bool = True) -> dict[str, Any] | None:
    """The shape of a reply under `json_action`: a call of one of the tools, or the answer where it may come."""
    if protocol != "json_action":
        return None
    shapes = [_object({"tool": {"const": spec.name}, "arguments": spec.parameters}) for spec in tools.values()]
    schema = {"anyOf": [*shapes, *([_object({"answer": {"type": "string"}})] if may_answer else [])]}
    return {"type": "json_schema", "json_schema": {"name": "action", "strict": True, "schema": schema}}


def read_reply(protocol: Protocol, output: ModelOutput, tools: Tools, turn: int = 0) -> Reply:
    """The calls or the answer in a model's output; a call that cannot be read is a call with an error.

    Native calls that came without an id get one that names `turn` and their place in it.
    """
    text = reply_text(output)
    message = reply_message(output)
    if protocol == "native":
        named = [msgspec.structs.replace(c, id=c.id or f"call_{turn}_{i}") for i, c in enumerate(message.tool_calls)]
        message = msgspec.structs.replace(message, tool_calls=named)
        return Reply(message, [(_native(call, tools), call.id) for call in named], text)
    message = Message("assistant", text)
    if protocol == "tagged":
        said = without_reasoning(text).text  # a call that is only thought of is none
        return Reply(message, [(call, "") for call in parse_tool_calls(said, tools)], text)
    action = _action(text, tools)
    return Reply(message, [], action) if isinstance(action, str) else Reply(message, [(action, "")], "")


def wire(protocol: Protocol, said: Sequence[Message]) -> list[Message]:
    """The conversation as it is sent."""
    if protocol == "native":
        return [_sendable(message) for message in said]
    sent: list[Message] = []
    responses: list[str] = []
    for message in [*said, None]:
        if message is not None and message.role == "tool":
            responses.append(f"<tool_response>\n{message.content}\n</tool_response>")
            continue
        if responses:
            sent.append(Message("user", "\n".join(responses)))
            responses = []
        if message is not None:
            sent.append(message)
    return sent


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _native(call: ToolCall, tools: Tools) -> ParsedCall:
    """A native call through the same checks as a written one."""
    return _one_call(f'{{"name": {json.dumps(call.name)}, "arguments": {call.arguments.strip() or "{}"}}}', tools)


def _action(text: str, tools: Tools) -> ParsedCall | str:
    try:
        value = strict_json(text.strip())
    except InputError as error:
        return ParsedCall(error=f"{_ACTION_SHAPE}: {error}")
    if isinstance(value, dict) and value.keys() == {"answer"} and isinstance(value["answer"], str):
        return str(value["answer"])
    if not isinstance(value, dict) or value.keys() != {"tool", "arguments"}:
        return ParsedCall(error=_ACTION_SHAPE)
    return _one_call(json.dumps({"name": value["tool"], "arguments": value["arguments"]}), tools)


def _one_call(body: str, tools: Tools) -> ParsedCall:
    calls = parse_tool_calls(f"{OPEN}\n{body}\n{CLOSE}", tools)
    return calls[0] if len(calls) == 1 else ParsedCall(error="error: tool call is not valid JSON: more than one value")


def _sendable(message: Message) -> Message:
    if not message.tool_calls:
        return message
    calls = [c if _is_object(c.arguments) else msgspec.structs.replace(c, arguments="{}") for c in message.tool_calls]
    return msgspec.structs.replace(message, tool_calls=calls)


def _is_object(text: str) -> bool:
    try:
        return isinstance(strict_json(text), dict)
    except InputError:
        return False
