"""What our endpoint client costs a request beside the loop that its HTTP library allows.

    python bench/client_speed.py [--n 5000] [--concurrency 128] [--rounds 3]

Sides: `Endpoint.generate` (body built, retries, pace, masking, reply decoded), a bare client of the same library that
posts ready bytes and reads the body, and the same with aiohttp (of lm-eval's environment), which others build on. Each
round runs all, each in a process of its own, against the local server at 0 ms.
Cost is CPU of the whole process less that of one which makes a single request, divided by the requests.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median

from measure import Cost, cost, in_turns, machine, python_of, save, server, version_of
from samples import question

CONCURRENCY = 128


async def _many(n: int, concurrency: int, call: Callable[[int], Awaitable[object]]) -> None:
    numbers = iter(range(n))

    async def worker() -> None:
        for i in numbers:
            await call(i)

    await asyncio.gather(*(worker() for _ in range(min(concurrency, n))))


async def ours(url: str, n: int, concurrency: int) -> None:
    """Our client."""
    from steelyard.attempt import Message
    from steelyard.models.endpoint import Endpoint
    from steelyard.ports import Sampling

    endpoint = Endpoint(url, "bench", "")
    sampling = Sampling(max_tokens=16)
    await _many(n, concurrency, lambda i: endpoint.generate([Message("user", question(i))], sampling, seed=0))
    await endpoint.close()


async def wreq_loop(url: str, n: int, concurrency: int) -> None:
    """The library alone."""
    import wreq

    client = wreq.Client(no_proxy=True, runtime=wreq.Runtime(workers=1))

    async def call(i: int) -> None:
        said = await client.post(f"{url}/chat/completions", body=_body(i), headers=_HEADERS)
        json.loads(bytes(await said.bytes()))

    await _many(n, concurrency, call)
    client.close()


async def aiohttp_loop(url: str, n: int, concurrency: int) -> None:
    """The library alone."""
    import aiohttp

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def call(i: int) -> None:
            async with session.post(f"{url}/chat/completions", data=_body(i), headers=_HEADERS) as said:
                json.loads(await said.read())

        await _many(n, concurrency, call)


_HEADERS = {"Content-Type": "application/json"}


def _body(i: int) -> bytes:
    messages = [{"role": "user", "content": question(i)}]
    return json.dumps({"model": "bench", "messages": messages, "max_tokens": 16, "seed": 0}).encode()


SIDES = {"steelyard Endpoint": ours, "wreq loop": wreq_loop, "aiohttp loop": aiohttp_loop}


def _python(side: str) -> Path:
    return python_of("lm-eval") if side == "aiohttp loop" else Path(sys.executable)


def _version(side: str) -> str:
    name = "aiohttp" if side == "aiohttp loop" else "wreq"
    return f"{name} {version_of(_python(side), name)}"


def main() -> None:
    """Run both sides in turns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=5000)
    parser.add_argument("--concurrency", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.side:
        asyncio.run(SIDES[asked.side](asked.url, asked.n, asked.concurrency))
        return
    began = machine()

    def one(side: str, n: int) -> Callable[[], Cost]:
        def run() -> Cost:
            with server() as at:
                return cost(
                    [_python(side), Path(__file__), "--side", side, "--url", at.url, "--n", str(n),
                     "--concurrency", str(asked.concurrency)]
                )  # fmt: skip

        return run

    sides = [side for side in SIDES if _python(side).exists()]
    found = in_turns({f"{side}/{n}": one(side, n) for side in sides for n in (1, asked.n)}, asked.rounds)
    rows = []
    for side in sides:
        few, many = (median(c.cpu_s for c in found[f"{side}/{n}"]) for n in (1, asked.n))
        us = round(1e6 * (many - few) / (asked.n - 1))
        rows.append({"side": side, "start_cpu_s": round(few, 3), "us_a_request": us})
    for row in rows:
        row["times_raw"] = round(row["us_a_request"] / rows[1]["us_a_request"], 2)
        row["version"] = _version(row["side"])
    save("client", began, "endpoint client alone, 0 ms", "<= 2.5 times a raw loop with the same client", rows)


if __name__ == "__main__":
    main()
