"""The tools solver: an agent loop over one sandbox session, with limits.

Source: seed 001. An attempt ends with `answer` (a reply without a call), `turns` (no reply left), `context` (the
conversation is full) or `length` (the last reply was cut). Only an ended reply gives an answer; the workspace is kept
whatever the end. The session is killed before its changes are read, and nothing is graded in it.
Not covered: counting tokens. `context_tokens` is held against the endpoint's own count of the last turn, so the turn
that crosses it is still made.
Easy to break: leaving a session open when the attempt is cancelled while the session is being opened.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from steelyard.attempt import Attempt, Message, ModelOutput
from steelyard.errors import CallError
from steelyard.item import Item, messages
from steelyard.parsing.toolcalls import ParsedCall
from steelyard.ports import Kit, Model, Sampling, Session
from steelyard.solvers.chat import chat
from steelyard.solvers.protocols import read_reply, response_format, system_text, wire
from steelyard.solvers.replies import stop_reason, total_usage
from steelyard.solvers.settings import SolverSettings, reply_sampling
from steelyard.solvers.toolbox import Toolbox, tool_specs


async def run_tools(
    item: Item, model: Model, sampling: Sampling, seed: int | None, settings: SolverSettings, kit: Kit
) -> Attempt:
    """One attempt by calls and tools; an item without tools is asked once, as `chat` does.

    CallError passes through, except a full context after the first turn, which ends the attempt.
    """
    specs = tool_specs(item)
    if not specs:
        return await chat(item, model, sampling, seed, settings)
    async with _session(item, kit) as session:
        talk = _Talk(item, Toolbox(session, item, settings), settings)
        stop, answer = await talk.run(model, reply_sampling(sampling, settings), seed)
        workspace = await asyncio.to_thread(session.diff)
    return Attempt(answer, talk.said, talk.outputs, workspace, stop, total_usage(talk.outputs))


class _Talk:
    """One conversation and what it has gathered."""

    def __init__(self, item: Item, toolbox: Toolbox, settings: SolverSettings) -> None:
        self._toolbox = toolbox
        self._settings = settings
        self._tools = {spec.name: spec for spec in toolbox.specs}
        self.said = messages(item, system_text(settings.protocol, settings.system, self._tools))
        self.outputs: list[ModelOutput] = []

    async def run(self, model: Model, sampling: Sampling, seed: int | None) -> tuple[str, str]:
        """(stop, answer)."""
        protocol = self._settings.protocol
        offered = self._toolbox.specs if protocol == "native" else ()
        shape = response_format(protocol, self._tools)
        for turn in range(self._settings.max_turns):
            sent = wire(protocol, self.said)
            try:
                output = await model.generate(sent, sampling, seed=seed, tools=offered, response_format=shape)
            except CallError as error:
                if error.kind == "context" and self.outputs:
                    return "context", ""
                raise
            self.outputs.append(output)
            reply = read_reply(protocol, output, self._tools, turn)
            self.said.append(reply.message)
            if not reply.calls:
                return stop_reason(output), reply.answer
            for call, call_id in reply.calls:
                self.said.append(await asyncio.to_thread(_called, self._toolbox, call, call_id))
            if self._full(output):
                return "context", ""
        return "turns", ""

    def _full(self, output: ModelOutput) -> bool:
        usage = output.usage
        if usage is None or usage.input_tokens is None or usage.output_tokens is None:
            return False
        return usage.input_tokens + usage.output_tokens >= self._settings.context_tokens


def _called(toolbox: Toolbox, call: ParsedCall, call_id: str) -> Message:
    """The tool message of one call; a call that could not be read gets its error."""
    if call.error:
        return Message("tool", call.error, tool_call_id=call_id)
    return toolbox.call(call.name, call.arguments).message(call_id)


@asynccontextmanager
async def _session(item: Item, kit: Kit) -> AsyncIterator[Session]:
    opening = asyncio.ensure_future(asyncio.to_thread(lambda: kit.session(item, kit.base(item))))
    try:
        session = await asyncio.shield(opening)
    except asyncio.CancelledError:
        opening.add_done_callback(_close_opened)
        raise
    try:
        yield session
    finally:
        await asyncio.shield(asyncio.to_thread(session.close))


def _close_opened(opening: asyncio.Future[Session]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()
