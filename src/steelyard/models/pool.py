"""Several servers of one model as one: each call goes to the one with the fewest in flight.

A server that cannot be reached, or that fails a call by a fault of its own, is left out for a while, and its call goes
to another. One that does not answer when it is asked what it serves is taken in all the same. The order in which
servers answer is no part of a run: addresses are recorded, never identity.
Easy to break: servers of different models. Each is asked what it serves, and one that lists another weights hash or
does not list the model while others do is refused before the first call.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.attempt import Message, ModelOutput
from steelyard.errors import CallError, InputError, PermanentError, RefusedError
from steelyard.ports import Model, Sampling, ToolSpec

REST_S = 30.0
"""How long a server that cannot be reached is left out."""


class Pool:
    """The same model behind several servers. Implements `ports.Model`."""

    def __init__(self, models: Sequence[Model]) -> None:
        if not models:
            raise InputError("a pool needs at least one server")
        if len({model.id for model in models}) > 1:
            raise InputError(f"a pool serves one model, got {sorted({model.id for model in models})}")
        self._models = list(models)
        self._in_flight = [0] * len(models)
        self._resting_until = [0.0] * len(models)

    @property
    def id(self) -> str:
        return self._models[0].id

    @property
    def endpoint(self) -> Any:
        """The first server's endpoint, which stands for all in a probe; None when it has none."""
        return getattr(self._models[0], "endpoint", None)

    async def describe(self) -> dict[str, Any]:
        """What the servers say, which must be the same; RefusedError when two serve different things."""
        told = [facts for facts in await asyncio.gather(*(model.describe() for model in self._models)) if facts]
        for facts in told[1:]:
            if facts != told[0]:
                names = sorted(n for n in {*facts, *told[0]} if facts.get(n) != told[0].get(n))
                raise RefusedError(f"the servers of {self.id} are not alike: they differ in {', '.join(names)}")
        return {**(told[0] if told else {}), "servers": len(self._models)}

    async def generate(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        *,
        seed: int | None = None,
        tools: Sequence[ToolSpec] = (),
        response_format: Mapping[str, Any] | None = None,
    ) -> ModelOutput:
        """One choice from one of the servers."""
        tried: set[int] = set()
        while True:
            at = self._next(tried)
            tried.add(at)
            self._in_flight[at] += 1
            try:
                return await self._models[at].generate(
                    messages, sampling, seed=seed, tools=tools, response_format=response_format
                )
            except (CallError, PermanentError) as error:
                if not _is_away(error) or len(tried) == len(self._models):
                    raise
                self._resting_until[at] = time.monotonic() + REST_S
            finally:
                self._in_flight[at] -= 1

    async def close(self) -> None:
        """Release every server."""
        await asyncio.gather(*(model.close() for model in self._models))

    def _next(self, tried: set[int]) -> int:
        now = time.monotonic()
        free = [at for at in range(len(self._models)) if at not in tried]
        awake = [at for at in free if self._resting_until[at] <= now]
        return min(awake or free, key=lambda at: self._in_flight[at])


def _is_away(error: CallError | PermanentError) -> bool:
    """Whether the server is at fault and not the call, so that another may answer."""
    return error.kind in ("connection", "timeout", "server-error", "rate-limit", "reply")
