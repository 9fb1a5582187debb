"""The tools solver: an agent loop over one sandbox session, with limits.

Source: seed 001. The session is opened at the first call, so a conversation that only talks holds none; and only so
many calls run at once as the machine has cores for, however many conversations are open. An attempt ends with
`answer` (a reply without a call), `turns` (no reply left), `context` (the conversation is full) or `length` (the last
reply was cut). Only an ended reply gives an answer; the workspace is kept whatever the end. The session is killed
before its changes are read, and nothing is graded in it.
Not covered: counting tokens. `context_tokens` is held against the endpoint's own count of the last turn, so the turn
that crosses it is still made.
Easy to break: leaving a session open when the attempt is cancelled while the session is being opened.
"""

from __future__ import annotations

import asyncio
import os

import msgspec

from steelyard.attempt import Attempt, Diff, Message, ModelOutput
from steelyard.errors import CallError
from steelyard.item import Item, messages
from steelyard.parsing.toolcalls import ParsedCall
from steelyard.ports import Kit, Model, Sampling, Session
from steelyard.solvers.chat import chat
from steelyard.solvers.protocols import read_reply, response_format, system_text, wire
from steelyard.solvers.replies import stop_reason, total_usage
from steelyard.solvers.settings import SolverSettings, reply_sampling
from steelyard.solvers.toolbox import Toolbox, tool_specs

CALLS_AT_ONCE = max(2, os.cpu_count() or 2)


def offered(item: Item, settings: SolverSettings) -> Item:
    """The item with the tools and packages that the settings offer beside its own."""
    if not settings.offer:
        return item
    tools = [*item.tools, *(name for name in settings.offer if name not in item.tools)]
    packages = [*(item.environment or {}).get("packages", []), *settings.packages]
    environment = {**(item.environment or {}), **({"packages": packages} if packages else {})}
    return msgspec.structs.replace(item, tools=tools, environment=environment or None)


async def run_tools(
    item: Item,
    model: Model,
    sampling: Sampling,
    seed: int | None,
    settings: SolverSettings,
    kit: Kit,
    slots: asyncio.Semaphore | None = None,
) -> Attempt:
    """One attempt by calls and tools; an item without tools is asked once, as `chat` does.

    `slots` bounds the calls that run at once over all conversations. CallError passes through, except a full context
    after the first turn, which ends the attempt.
    """
    item = offered(item, settings)
    if not tool_specs(item):
        return await chat(item, model, sampling, seed, settings)
    desk = _Desk(item, kit, settings, slots or asyncio.Semaphore(CALLS_AT_ONCE))
    try:
        talk = _Talk(item, desk, settings)
        stop, answer = await talk.run(model, reply_sampling(sampling, settings), seed)
        workspace = await desk.diff()
    finally:
        await asyncio.shield(desk.close())
    return Attempt(answer, talk.said, talk.outputs, workspace, stop, total_usage(talk.outputs))


class _Talk:
    """One conversation and what it has gathered."""

    def __init__(self, item: Item, desk: _Desk, settings: SolverSettings) -> None:
        self._desk = desk
        self._settings = settings
        self._specs = tool_specs(item)
        self._tools = {spec.name: spec for spec in self._specs}
        self._files = bool(item.files)
        self.said = messages(item, system_text(settings.protocol, settings.system, self._tools, [*item.files]))
        self.outputs: list[ModelOutput] = []

    async def run(self, model: Model, sampling: Sampling, seed: int | None) -> tuple[str, str]:
        """(stop, answer)."""
        protocol = self._settings.protocol
        native = self._specs if protocol == "native" else ()
        for turn in range(self._settings.max_turns):
            looked = not self._files or any(message.role == "tool" for message in self.said)
            shape = response_format(protocol, self._tools, may_answer=looked)
            sent = wire(protocol, self.said)
            try:
                output = await model.generate(sent, sampling, seed=seed, tools=native, response_format=shape)
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
                self.said.append(await self._desk.called(call, call_id))
            if self._full(output):
                return "context", ""
        return "turns", ""

    def _full(self, output: ModelOutput) -> bool:
        usage = output.usage
        if usage is None or usage.input_tokens is None or usage.output_tokens is None:
            return False
        return usage.input_tokens + usage.output_tokens >= self._settings.context_tokens


class _Desk:
    """An item's workspace, opened when the first call needs it."""

    def __init__(self, item: Item, kit: Kit, settings: SolverSettings, slots: asyncio.Semaphore) -> None:
        self._item, self._kit, self._settings, self._slots = item, kit, settings, slots
        self._opening: asyncio.Future[Session] | None = None

    async def called(self, call: ParsedCall, call_id: str) -> Message:
        """The tool message of one call; a call that could not be read gets its error."""
        if call.error:
            return Message("tool", call.error, tool_call_id=call_id)
        async with self._slots:
            toolbox = Toolbox(await self._session(), self._item, self._settings)
            result = await asyncio.to_thread(toolbox.call, call.name, call.arguments)
        return result.message(call_id)

    async def diff(self) -> Diff:
        """What the calls changed; kills the session."""
        if self._opening is None:
            return Diff()
        return await asyncio.to_thread((await self._session()).diff)

    async def close(self) -> None:
        """Close the session; one that is still being opened when the attempt is given up is closed when it is there."""
        if self._opening is None:
            return
        if not self._opening.done():
            self._opening.add_done_callback(_close_opened)
        elif self._opening.exception() is None:  # a failure was told to the call that asked for the session
            await asyncio.to_thread(self._opening.result().close)

    async def _session(self) -> Session:
        if self._opening is None:
            item, kit = self._item, self._kit
            self._opening = asyncio.ensure_future(asyncio.to_thread(lambda: kit.session(item, kit.base(item))))
        return await asyncio.shield(self._opening)


def _close_opened(opening: asyncio.Future[Session]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()
