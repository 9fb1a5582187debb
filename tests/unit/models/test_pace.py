"""How many calls are in flight: cut by refusals, grown by replies, never stalled."""

from __future__ import annotations

import asyncio
import time

from endpoint_server import EndpointServer, Step, refusal, reply
from steelyard.attempt import Message, ModelOutput
from steelyard.errors import CallError
from steelyard.models.endpoint import Endpoint
from steelyard.models.pace import Pace
from steelyard.ports import Sampling

HI = [Message("user", "Hi")]


def test_a_storm_of_refusals_cuts_once_and_replies_grow_again() -> None:
    """Ten refusals of one moment halve what may be in flight once; whole replies bring it back. [O-25]"""

    async def storm() -> tuple[float, float]:
        pace = Pace(16)
        started = time.monotonic()
        slots = [pace.slot() for _ in range(10)]
        for slot in slots:
            await slot.__aenter__()
        for _ in slots:
            pace.refused(started)
        cut = pace.limit
        for slot in slots:
            await slot.__aexit__(None, None, None)
        for _ in range(200):
            pace.replied(time.monotonic())
        return cut, pace.limit

    assert (5.0, 16.0) == asyncio.run(storm())


def test_one_call_may_always_be_in_flight() -> None:
    """However often an endpoint refuses, work goes on. [O-25]"""

    async def refused() -> float:
        pace = Pace(4)
        for _ in range(20):
            async with pace.slot() as started:
                pace.refused(started)
        return pace.limit

    assert 1.0 == asyncio.run(refused())


def test_slow_replies_do_not_grow_what_is_in_flight() -> None:
    """When replies take several times as long as the quickest, more calls would only queue. [O-25]"""

    async def slow() -> tuple[float, float]:
        pace = Pace(8)
        async with pace.slot() as started:
            pace.refused(started)
        now = time.monotonic()
        pace.replied(now - 0.1)
        grown = pace.limit
        for _ in range(50):
            pace.replied(now - 10.0)
        return grown, pace.limit

    grown, after = asyncio.run(slow())
    assert 1.0 < grown == after


def test_a_cancelled_wait_passes_its_turn_on() -> None:
    """A call that is given up while it waits does not keep others waiting. [O-25]"""

    async def cancelled() -> bool:
        pace = Pace(1)
        first = pace.slot()
        await first.__aenter__()

        async def wait() -> bool:
            async with pace.slot():
                return True

        given_up, next_one = asyncio.create_task(wait()), asyncio.create_task(wait())
        await asyncio.sleep(0)
        given_up.cancel()
        await asyncio.sleep(0)
        await first.__aexit__(None, None, None)
        return await asyncio.wait_for(next_one, 5)

    assert asyncio.run(cancelled())


def test_an_endpoint_that_takes_two_calls_at_once_is_not_overrun() -> None:
    """A server that refuses a third call answers every one of forty, with few refusals. [O-25]"""
    server: EndpointServer

    def script(_body: dict[str, object]) -> Step:
        busy = server.in_flight > 2
        return refusal(429, "slow down", Retry_After="0") if busy else Step(body=reply().body, delay_s=0.02)

    async def ask(url: str) -> list[ModelOutput]:
        model = Endpoint(url, "m", "key", first_wait_s=0.01, max_wait_s=0.1, retries=20)
        try:
            return await asyncio.gather(*(model.generate(HI, Sampling()) for _ in range(40)))
        finally:
            await model.close()

    with EndpointServer(script) as server:
        outputs = asyncio.run(ask(server.url))
        assert 40 == len(outputs)
        assert len(server.posts) < 40 * 4


def test_retries_end_when_the_runs_budget_is_spent() -> None:
    """A dead endpoint is not called for every item six times. [O-25]"""

    async def ask(url: str) -> list[object]:
        model = Endpoint(url, "m", "key", first_wait_s=0.001, max_wait_s=0.002, retries=5, retry_budget=7)
        try:
            calls = (model.generate(HI, Sampling()) for _ in range(20))
            return await asyncio.gather(*calls, return_exceptions=True)
        finally:
            await model.close()

    with EndpointServer([refusal(500, "boom")]) as server:
        ended = asyncio.run(ask(server.url))
        assert all(isinstance(one, CallError) for one in ended)
        assert any("the run's retries are spent" in str(one) for one in ended)
        assert 27 == len(server.posts)
