"""Traces: conversations of a scripted expert as training examples, one for every turn of the assistant.

Source: seed 001's sequel (REQUIREMENTS O-28). The expert is the reference that an item's proof keeps: its calls are
replayed through the real parser, tools and sandbox, the trace must pass the item's own verifier, and every turn that is
written is read back by the parser of its protocol as the very call that was meant. Messages are those that the `tools`
solver sends and receives, so what is trained is what is met. An example is TRL's conversational prompt-completion form;
the prompt of the next begins with prompt and completion of the one before.
Not covered: tokens (the trainer's template and loss mask make them), several calls in one turn, mistakes and recovery.
Easy to break: writing a message here in a way that no solver sends.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from steelyard.attempt import Message, ModelOutput, ToolCall
from steelyard.errors import InputError, RefusedError
from steelyard.item import Item, ask, messages
from steelyard.judging import judge
from steelyard.parsing.json_prose import strict_json
from steelyard.parsing.toolcalls import render_tool_call
from steelyard.ports import Kit, ToolSpec
from steelyard.proof import Proof
from steelyard.proving import in_threads, read_proofs
from steelyard.solvers.protocols import read_reply, system_text, wire
from steelyard.solvers.replay import replay
from steelyard.solvers.settings import Protocol
from steelyard.solvers.toolbox import tool_specs
from steelyard.suite import Suite
from steelyard.verdict import Verdict
from steelyard.verifiers.contract import Script
from steelyard.verifiers.registry import Bound, revision


class Example(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One turn to learn: `completion` is the assistant's message, `prompt` everything before it.

    `turn` counts the assistant's turns from 0 to `turns` - 1. `tools` is filled under `native` alone: the other
    protocols say what tools there are in the system message.
    """

    prompt: list[dict[str, Any]]
    completion: list[dict[str, Any]]
    item: str
    turn: int
    turns: int
    protocol: str
    ask: str
    revision: str
    tools: list[dict[str, Any]] = []


def suite_traces(suite: Suite, kit: Kit, protocol: Protocol, system: str | None = None) -> Iterator[list[Example]]:
    """The examples of every item, in suite order; a few items are replayed at once.

    RefusedError for an item without a proof whose reference was worked out from the question, InputError for a trace
    that does not pass or that the parser does not read back.
    """
    proofs = read_proofs(suite)
    scripts = {item.id: _expert(item, proofs.get(item.id), suite) for item in suite.items}

    def one(item: Item) -> list[Example]:
        return trace(item, suite.bound[item.id], scripts[item.id], kit, protocol, system)

    return in_threads(one, suite.items)


def trace(
    item: Item, bound: Bound, script: Script, kit: Kit, protocol: Protocol, system: str | None = None
) -> list[Example]:
    """One item's examples: the script replayed and judged, then written in the words of a protocol."""
    attempt = replay(item, script, kit)
    verdict = judge(item, bound, attempt, kit=kit).verdict
    if not verdict.passed:
        raise InputError(f'item "{item.id}": its trace does not pass its own verifier: {_why(verdict)}')
    tools = {spec.name: spec for spec in tool_specs(item)}
    said = messages(item, system_text(protocol, system, tools, [*item.files]) if tools else system)
    turns: list[int] = []
    results = [message for message in attempt.messages if message.role == "tool"]
    for number, (call, result) in enumerate(zip(script.calls, results, strict=True)):
        turns.append(len(said))
        turn = _call_turn(protocol, call, f"call_{number}_0")
        _refuse_misread(item, protocol, turn, tools, number, call)
        call_id = turn.tool_calls[0].id if turn.tool_calls else ""
        said += [turn, Message("tool", result.content, tool_call_id=call_id)]
    turns.append(len(said))
    said.append(_answer_turn(protocol, script.answer, tools))
    _refuse_misread(item, protocol, said[-1], tools, len(script.calls), script.answer)
    return _examples(item, bound, said, turns, protocol, list(tools.values()))


def _expert(item: Item, proof: Proof | None, suite: Suite) -> Script:
    """The reference that an item's proof keeps, worked out from the question by its family."""
    if proof is None or not proof.covers(item) or proof.state != "proven":
        raise RefusedError(
            f'item "{item.id}" is not proven, so its trace is not known to be right: steelyard prove {suite.path}'
        )
    for witness in proof.witnesses:
        if witness.leg == "reference" and witness.source == "solve":
            return Script(witness.attempt.answer, witness.calls)
    raise RefusedError(
        f'item "{item.id}" has no reference that was worked out from the question; prove it with its family: '
        f"steelyard prove {suite.path} --family path/to/file.py"
    )


def _why(verdict: Verdict) -> str:
    return verdict.note if verdict.passed is None else ", ".join(f"{m.name} {m.detail}".strip() for m in verdict.misses)


def _arguments(call: ToolCall) -> dict[str, Any]:
    value = strict_json(call.arguments)
    if not isinstance(value, dict):
        raise InputError(f"arguments of {call.name} must be a JSON object, got {call.arguments[:80]!r}")
    return value


def _call_turn(protocol: Protocol, call: ToolCall, call_id: str) -> Message:
    """The assistant's message that makes one call."""
    if protocol == "native":
        return Message("assistant", "", tool_calls=[msgspec.structs.replace(call, id=call_id)])
    if protocol == "json_action":
        body = {"tool": call.name, "arguments": _arguments(call)}
        return Message("assistant", json.dumps(body, ensure_ascii=False, allow_nan=False))
    return Message("assistant", render_tool_call(call.name, _arguments(call)))


def _answer_turn(protocol: Protocol, answer: str, tools: dict[str, ToolSpec]) -> Message:
    if protocol == "json_action" and tools:
        return Message("assistant", json.dumps({"answer": answer}, ensure_ascii=False))
    return Message("assistant", answer)


def _refuse_misread(
    item: Item, protocol: Protocol, turn: Message, tools: dict[str, ToolSpec], number: int, meant: ToolCall | str
) -> None:
    """InputError unless the protocol's own reader finds in a turn what was meant by it, and nothing else."""
    if not tools:
        return
    reply = read_reply(protocol, ModelOutput("", texts=[turn.content], tool_calls=turn.tool_calls), tools, number)
    calls = [(call.error, call.name, call.arguments) for call, _ in reply.calls]
    if isinstance(meant, str):
        right, wanted = not calls and reply.answer == meant, "an answer"
    else:
        right, wanted = calls == [("", meant.name, _arguments(meant))], f"one call of {meant.name}"
    if not right:
        got = calls or reply.answer[:80]
        raise InputError(f'item "{item.id}", turn {number}: {protocol} reads {got!r} where the trace means {wanted}')


def _examples(
    item: Item, bound: Bound, said: Sequence[Message], turns: Sequence[int], protocol: Protocol, specs: list[ToolSpec]
) -> list[Example]:
    judge_revision, asked = revision(item, bound), ask(item)
    return [
        Example(
            prompt=[_plain(message) for message in wire(protocol, said[:at])],
            completion=[_plain(message) for message in wire(protocol, [said[at]])],
            item=item.id,
            turn=number,
            turns=len(turns),
            protocol=protocol,
            ask=asked,
            revision=judge_revision,
            tools=[_tool(spec) for spec in specs] if protocol == "native" else [],
        )
        for number, at in enumerate(turns)
    ]


def _plain(message: Message) -> dict[str, Any]:
    """A message as chat templates take it: arguments are objects there, not JSON text."""
    plain: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        plain["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": _arguments(c)}}
            for c in message.tool_calls
        ]
    if message.tool_call_id:
        plain["tool_call_id"] = message.tool_call_id
    return plain


def _tool(spec: ToolSpec) -> dict[str, Any]:
    return {"type": "function", "function": msgspec.to_builtins(spec)}
