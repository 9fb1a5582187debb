"""`toolcalls`: the calls that a reply makes, compared with the calls that it should make.

Source: grader cases `tool-call`; the Hermes / Qwen tags (`parsing.toolcalls`); without any tag, a reply that is as a
whole OpenAI's JSON or a list of Python calls (`parsing.call_dialects`).
The target is a JSON list of `{"name": ..., "arguments": {...}}`; `[]` asks for a real abstention. Calls are compared as
a sequence, or as a multiset with `unordered`; arguments by type and value with no extra or missing name. Native calls
of the reply count before its text. Anything that looks like a call and does not parse is a malformed call, so never
an abstention and never dropped.
Not covered: `parameters` for `arguments`, arguments as JSON text, defaults of a tool's schema (all are malformed or
differ).
Easy to break: a stray or cut-off tag outside a block must count as malformed.
"""

from __future__ import annotations

import json
import re
from typing import Any

from steelyard.attempt import Attempt, ToolCall
from steelyard.errors import InputError
from steelyard.parsing.call_dialects import untagged_calls
from steelyard.parsing.final import without_reasoning
from steelyard.parsing.json_prose import storable, strict_json, typed_equal
from steelyard.parsing.toolcalls import read_tool_calls, render_tool_call
from steelyard.verdict import Miss, Reading, Unread, Verdict, failed
from steelyard.verifiers.contract import Config, Spoil, Verifier

_STRAY = re.compile(
    r"(?<!`)</?tool_call\b|<tool(?:_(?:c(?:a(?:ll?)?)?)?)?\Z"  # outside a block, or cut off by the end of the text
    r"|\[TOOL_CALLS\]|<\|(?:tool_call|python_tag)|<function(?:=|_call\b)|<invoke\b",  # calls in another dialect
    re.IGNORECASE,
)
_SHOWN_CHARS = 200


class ToolCallsConfig(Config, frozen=True):
    """`unordered` compares the calls as a multiset; `fenced` also reads calls without tags: JSON and Python calls."""

    unordered: bool = False
    fenced: bool = True


def _read(attempt: Attempt, config: ToolCallsConfig) -> Reading | Unread:
    native = [call for output in attempt.outputs[-1:] for call in output.tool_calls]
    if native:
        return _reading([_native(call) for call in native], "native", None)
    part = without_reasoning(attempt.answer)
    if part.reason:
        return Unread(part.reason)
    if not part.text.strip():
        return Unread("the answer is empty")
    calls, rule = read_tool_calls(part.text, config.fenced), "text"
    untagged = untagged_calls(part.text) if config.fenced and not any(call.name for call in calls) else ("", [])
    if untagged[0]:
        rule, calls = untagged
    found = [{"error": c.error} if c.error else {"name": c.name, "arguments": c.arguments} for c in calls]
    outside, at = [], 0
    for call in calls:
        outside.append(part.text[at : call.span[0]])
        at = call.span[1]
    stray = _STRAY.search(" ".join([*outside, part.text[at:]]))
    if stray:
        found.append({"error": f"error: a tool call is not whole: {stray[0]}"})
    span = (calls[0].span[0] + part.offset, calls[-1].span[1] + part.offset) if calls else None
    return _reading(found, rule, span)


def _reading(found: list[dict[str, Any]], rule: str, span: tuple[int, int] | None) -> Reading | Unread:
    errors = {call["error"] for call in found if "error" in call}
    if not storable([*errors, *(call for call in found if "error" not in call)]):
        return Unread("a call holds a number or a character that JSON text cannot keep")
    return Reading(found, rule, span)


def _native(call: ToolCall) -> dict[str, Any]:
    try:
        arguments = strict_json(call.arguments)
    except InputError as error:
        return {"error": f"error: tool call is not valid JSON: {error}"}
    if not isinstance(arguments, dict):
        return {"error": "error: arguments must be a JSON object"}
    return {"name": call.name, "arguments": arguments}


def _decide(found: Reading, target: str, config: ToolCallsConfig) -> Verdict:
    wanted = _calls(target)
    broken = [Miss("malformed-call", call["error"]) for call in found.value if "error" in call]
    if broken:
        return Verdict(False, broken)
    if len(found.value) != len(wanted):
        return failed("call-count", f"{len(found.value)} calls where {len(wanted)} are right")
    if config.unordered:
        left = list(wanted)
        for call in found.value:
            match = next((i for i, one in enumerate(left) if typed_equal(call, one)), None)
            if match is None:
                return failed("wrong-call", _shown(call))
            del left[match]
        return Verdict(True)
    wrong = [Miss("wrong-call", _shown(g)) for g, w in zip(found.value, wanted, strict=True) if not typed_equal(g, w)]
    return Verdict(not wrong, wrong)


def _shown(call: dict[str, Any]) -> str:
    text = json.dumps(call, ensure_ascii=False)
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "..."


def _calls(target: str) -> list[dict[str, Any]]:
    calls = strict_json(target)
    if not isinstance(calls, list):
        raise InputError("the target must be a JSON list of calls; an abstention is []")
    for call in calls:
        whole = isinstance(call, dict) and call.keys() == {"name", "arguments"}
        if not whole or not isinstance(call["name"], str) or not isinstance(call["arguments"], dict):
            raise InputError(f'a call is {{"name": ..., "arguments": {{...}}}}, got {json.dumps(call)[:_SHOWN_CHARS]}')
    return calls


def _check(target: str, _config: ToolCallsConfig) -> None:
    try:
        _calls(target)
    except InputError as error:
        raise InputError(f'verifier "toolcalls": {error}') from error


def _text(calls: list[dict[str, Any]]) -> str:
    blocks = [render_tool_call(call["name"], call["arguments"]) for call in calls]
    return "\n".join(blocks) or "None of these tools is needed."


def _render(target: str, _config: ToolCallsConfig) -> str:
    return _text(_calls(target))


def _spoil_broken(target: str, _config: ToolCallsConfig, _prompt: str) -> str:
    calls = _calls(target)
    return _text(calls).replace("}\n</tool_call>", "\n</tool_call>", 1) if calls else "<tool_call>\n{}\n</tool_call>"


def _spoil_twice(target: str, _config: ToolCallsConfig, _prompt: str) -> str:
    calls = _calls(target)
    return _text([*calls, *(calls[-1:] or [{"name": "help", "arguments": {}}])])


def _spoil_argument(target: str, _config: ToolCallsConfig, _prompt: str) -> str | None:
    calls = _calls(target)
    if not calls:
        return None
    first = {**calls[0], "arguments": {**calls[0]["arguments"], "one_more_argument": True}}
    return _text([first, *calls[1:]])


def _spoil_abstained(target: str, _config: ToolCallsConfig, _prompt: str) -> str | None:
    return "I cannot do this with the tools I have." if _calls(target) else None


def _spoil_reordered(target: str, config: ToolCallsConfig, _prompt: str) -> str | None:
    calls = _calls(target)
    back = calls[::-1]
    return None if config.unordered or typed_equal(calls, back) else _text(back)


def _vary_compact(target: str, _config: ToolCallsConfig, _prompt: str) -> str | None:
    calls = _calls(target)
    blocks = [f"<tool_call>{json.dumps(call, separators=(',', ':'))}</tool_call>" for call in calls]
    return "".join(blocks) or None


def _vary_in_prose(target: str, _config: ToolCallsConfig, _prompt: str) -> str:
    return f"Let me do that.\n{_text(_calls(target))}\n"


VERIFIERS: tuple[Verifier, ...] = (
    Verifier(
        name="toolcalls",
        config=ToolCallsConfig,
        misses=("malformed-call", "call-count", "wrong-call"),
        read=_read,
        decide=_decide,
        check=_check,
        render=_render,
        spoil={
            "call-broken": Spoil(_spoil_broken, ("malformed-call",)),
            "call-added": Spoil(_spoil_twice, ("call-count",)),
            "argument-added": Spoil(_spoil_argument, ("wrong-call",)),
            "abstained": Spoil(_spoil_abstained, ("call-count",)),
            "reordered": Spoil(_spoil_reordered, ("wrong-call",)),
        },
        vary={"compact": _vary_compact, "in-prose": _vary_in_prose},
    ),
)
