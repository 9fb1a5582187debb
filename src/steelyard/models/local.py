"""A transformers model in this process as a model for runs: calls that wait together become one batch.

One thread generates (see `batches`), the event loop stays free. Closing ends a generation within a token.
Not covered: tools and schemas (CallError), and what `batches` does not cover.
Easy to break: every caller must hear something, also when the model's code raises or the work is cancelled.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec

from steelyard.attempt import Message, ModelOutput, Usage
from steelyard.errors import CallError, InputError, ModelError
from steelyard.models.batches import Batches, Decoding, Prompt, Reply
from steelyard.models.chat_format import build_body, request_settings
from steelyard.ports import Sampling, ToolSpec

BATCH_SIZE = 32
GATHER_S = 0.02  # quiet time after which a batch that is not full starts; little beside any reply


class _Call(msgspec.Struct, frozen=True, eq=False):
    """One caller that waits."""

    messages: Sequence[Message]
    decoding: Decoding
    seed: int | None
    answer: asyncio.Future[tuple[Prompt, Reply]]


class Local:
    """A loaded model as a `ports.Model`: calls that wait at the same time with equal sampling become one batch.

    One thread generates; `facts` are what `describe` tells. What a call's sampling leaves open is taken from the
    model's own generation config when that samples, else the call is greedy.
    """

    def __init__(
        self, model: Any, tokenizer: Any, *, name: str, facts: Mapping[str, Any], batch_size: int = BATCH_SIZE
    ) -> None:
        self._batches = Batches(model, tokenizer, batch_size)
        self._defaults = _model_defaults(model)
        self._name, self._facts = name, {**facts, "slots": batch_size, "context_tokens": self._batches.context_tokens}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="steelyard-local")
        self._waiting: list[_Call] = []
        self._work: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        return f"Local({self._name!r})"

    @property
    def id(self) -> str:
        return self._name

    async def describe(self) -> dict[str, Any]:
        """Weights hash, library versions, device, dtype, context, and the most rows of a batch as `slots`."""
        return dict(self._facts)

    async def generate(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        *,
        seed: int | None = None,
        tools: Sequence[ToolSpec] = (),
        response_format: Mapping[str, Any] | None = None,
    ) -> ModelOutput:
        """One choice; CallError for tools and schemas, a conversation that does not fit, and a lack of memory."""
        if tools or response_format:
            what = "tools (use --protocol tagged)" if tools else "a response format"
            raise CallError(f"{self._name} runs in this process, which does not offer {what}", kind="unsupported")
        if self._batches.stopping.is_set():
            raise CallError(f"{self._name} was closed", kind="closed")
        settings = self._resolved(sampling)
        started = time.perf_counter()
        call = _Call(messages, _decoding(settings), seed, asyncio.get_running_loop().create_future())
        self._waiting.append(call)
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._serve())
        prompt, reply = await call.answer
        return ModelOutput(
            model=self._name,
            texts=[reply.text],
            finish_reasons=[reply.finish_reason],
            usage=Usage(prompt.tokens, reply.tokens, prompt.tokens + reply.tokens),
            request=request_settings(build_body(self._name, messages, settings, seed)),
            seconds=time.perf_counter() - started,
        )

    async def close(self) -> None:
        """End what is being generated and let the weights go; a later call is a CallError."""
        self._batches.stopping.set()
        if self._work is not None:
            self._work.cancel()
        await asyncio.to_thread(self._thread.shutdown, cancel_futures=True)
        self._turn_away(self._waiting)
        self._batches.release()

    def _turn_away(self, calls: Sequence[_Call]) -> None:
        for call in calls:
            _fail(call, CallError(f"{self._name} was closed", kind="closed"))

    def _resolved(self, sampling: Sampling) -> Sampling:
        """The sampling as it is applied and recorded."""
        given = {n: v for n in ("temperature", "top_p", "top_k") if (v := getattr(sampling, n)) is not None}
        chosen = {"temperature": 0.0, **self._defaults, **given}
        if chosen["temperature"] == 0:
            chosen = {"temperature": 0.0}
        return Sampling(**chosen, max_tokens=sampling.max_tokens or Decoding().max_new_tokens, stop=sampling.stop)

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            await self._gathered()
            calls = [call for call in self._waiting if not call.answer.done()]
            batch = [call for call in calls if call.decoding == calls[0].decoding][: self._batches.size]
            self._waiting = [call for call in calls if call not in batch]
            if not batch:
                continue
            try:
                await loop.run_in_executor(self._thread, self._answer, batch, loop)
            finally:  # also when this task is cancelled: nobody may wait for ever
                self._turn_away(batch)

    async def _gathered(self) -> None:
        """Wait for as long as calls keep coming, so that those of one moment share a batch."""
        known = 0
        while known < len(self._waiting) < self._batches.size:
            known = len(self._waiting)
            await asyncio.sleep(GATHER_S)

    def _answer(self, calls: Sequence[_Call], loop: asyncio.AbstractEventLoop) -> None:
        """Generate for `calls` on this thread and hand every caller its reply or its own error."""
        ready: list[tuple[_Call, Prompt]] = []
        try:
            for call in calls:
                try:
                    ready.append((call, self._batches.prompt(call.messages)))
                except InputError as error:
                    loop.call_soon_threadsafe(_fail, call, CallError(f"{self._name}: {error}", kind="prompt"))
            prompts, seeds = [prompt for _, prompt in ready], [call.seed for call, _ in ready]
            for index, reply in self._batches.replies(prompts, calls[0].decoding, seeds):
                call, prompt = ready[index]
                if isinstance(reply, ModelError):
                    failure = CallError(f"{self._name}: {reply}", kind="out-of-memory")
                    loop.call_soon_threadsafe(_fail, call, failure)
                else:
                    loop.call_soon_threadsafe(_succeed, call, prompt, reply)
        except Exception as error:  # noqa: BLE001  # the model's own code; every caller hears of what it raised
            for call in calls:
                failure = CallError(f"{self._name} failed while generating: {error!r}", kind="model")
                failure.__cause__ = error
                loop.call_soon_threadsafe(_fail, call, failure)


def _succeed(call: _Call, prompt: Prompt, reply: Reply) -> None:
    if not call.answer.done():
        call.answer.set_result((prompt, reply))


def _fail(call: _Call, error: CallError) -> None:
    if not call.answer.done():
        call.answer.set_exception(error)


def _decoding(sampling: Sampling) -> Decoding:
    return Decoding(
        max_new_tokens=sampling.max_tokens or Decoding().max_new_tokens,
        temperature=sampling.temperature or 0.0,
        top_p=1.0 if sampling.top_p is None else sampling.top_p,
        top_k=sampling.top_k or 0,
        stop=tuple(sampling.stop),
    )


def _model_defaults(model: Any) -> dict[str, Any]:
    """Sampling settings that the model's makers ship with it; {} when theirs are greedy."""
    shipped = getattr(model, "generation_config", None)
    if not getattr(shipped, "do_sample", None):
        return {}
    named = {name: getattr(shipped, name, None) for name in ("temperature", "top_p", "top_k")}
    return {"temperature": 1.0} | {name: value for name, value in named.items() if value is not None}
