"""Several servers of one model: spread calls, leave out what cannot be reached, refuse what is not alike."""

from __future__ import annotations

import asyncio

import pytest

from endpoint_server import EndpointServer, Step, refusal, reply, said
from steelyard.attempt import Message, ModelOutput
from steelyard.errors import InputError, PermanentError, RefusedError
from steelyard.models.endpoint import Endpoint
from steelyard.models.pool import Pool
from steelyard.ports import Sampling

HI = [Message("user", "Hi")]
SLOW = Step(body=reply().body, delay_s=0.05)


def ask(urls: list[str], calls: int = 1) -> list[ModelOutput]:
    """The replies to some calls at once."""

    async def call() -> list[ModelOutput]:
        pool = Pool([Endpoint(url, "m", "key", first_wait_s=0.01, max_wait_s=0.02, retries=1) for url in urls])
        try:
            return await asyncio.gather(*(pool.generate(HI, Sampling()) for _ in range(calls)))
        finally:
            await pool.close()

    return asyncio.run(call())


def test_calls_are_spread_over_the_servers() -> None:
    """Each call goes to the server with the fewest in flight. [O-14]"""
    with EndpointServer([SLOW]) as first, EndpointServer([SLOW]) as second:
        assert 8 == len(ask([first.url, second.url], 8))
        assert (4, 4) == (len(first.posts), len(second.posts))


def test_a_server_that_cannot_be_reached_is_left_out() -> None:
    """Its call goes to another. [O-14]"""
    with EndpointServer([reply("here")]) as server:
        outputs = ask(["http://127.0.0.1:1", server.url], 4)
        assert ["here"] * 4 == [output.texts[0] for output in outputs]
    with pytest.raises(PermanentError, match="nothing answers"):
        ask(["http://127.0.0.1:1", "http://127.0.0.1:2"])


def test_a_server_that_refuses_the_key_stops_the_run() -> None:
    """A refusal is no absence: hiding it would halve the pool in silence. [O-14]"""
    with (
        EndpointServer([refusal(401, "bad key")]) as first,
        EndpointServer([reply()]) as second,
        pytest.raises(PermanentError, match="bad key"),
    ):
        ask([first.url, second.url])


def test_servers_that_list_different_models_are_refused() -> None:
    """A pool that mixes two models would be no measurement. [O-14]"""

    async def describe(urls: list[str]) -> object:
        pool = Pool([Endpoint(url, "m", "key") for url in urls])
        try:
            return await pool.describe()
        finally:
            await pool.close()

    with EndpointServer([reply()], models=[{"id": "m", "owned_by": "a"}]) as first:
        with EndpointServer([reply()], models=[{"id": "m", "owned_by": "a"}]) as second:
            assert {"model": {"id": "m", "owned_by": "a"}, "servers": 2} == asyncio.run(
                describe([first.url, second.url])
            )
        with (
            EndpointServer([reply()], models=[{"id": "m", "owned_by": "b"}]) as other,
            pytest.raises(RefusedError, match="they differ in model"),
        ):
            asyncio.run(describe([first.url, other.url]))


def test_a_server_that_is_away_when_a_run_begins_is_taken_in() -> None:
    """What it serves cannot be asked, and its calls go to the others. [O-14]"""

    async def begin(urls: list[str]) -> tuple[object, list[str]]:
        pool = Pool([Endpoint(url, "m", "key", retries=0) for url in urls])
        try:
            facts = await pool.describe()
            outputs = [await pool.generate([Message("user", "Hi")], Sampling()) for _ in range(3)]
            return facts, [output.texts[0] for output in outputs]
        finally:
            await pool.close()

    with EndpointServer([reply("ok")], models=[{"id": "m"}]) as server:
        expected = ({"model": {"id": "m"}, "servers": 2}, ["ok"] * 3)
        assert expected == asyncio.run(begin(["http://127.0.0.1:9", server.url]))


@pytest.mark.parametrize("fault", [refusal(500, "boom"), refusal(429, "later"), said(200, {"object": "list"})])
def test_a_server_that_is_at_fault_hands_its_call_on(fault: Step) -> None:
    """Whatever the fault of its own, another may do better. [O-14]"""

    async def call(urls: list[str]) -> list[str]:
        pool = Pool([Endpoint(url, "m", "key", retries=0) for url in urls])
        try:
            return [(await pool.generate([Message("user", "Hi")], Sampling())).texts[0] for _ in range(4)]
        finally:
            await pool.close()

    with EndpointServer([fault]) as broken, EndpointServer([reply("ok")]) as well:
        assert ["ok"] * 4 == asyncio.run(call([broken.url, well.url]))
    assert 1 == len(broken.posts)


def test_a_pool_serves_one_model() -> None:
    """Another name is refused at construction. [O-14]"""
    with pytest.raises(InputError, match="one model"):
        Pool([Endpoint("http://127.0.0.1:1", "a", "k"), Endpoint("http://127.0.0.1:1", "b", "k")])
    with pytest.raises(InputError):
        Pool([])
