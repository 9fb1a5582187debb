"""What our endpoint client costs a request beside the loop that its HTTP library allows.

    python bench/client_speed.py [--n 5000] [--concurrency 128] [--rounds 3]

Sides: `Endpoint.generate` (body built, retries, pace, masking, reply decoded) and a bare aiohttp session that posts
ready bytes and reads the body. Each round runs both, each in a process of its own, against the local server at 0 ms.
Cost is CPU of the whole process less that of one which makes a single request, divided by the requests.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from pathlib import Path
from statistics import median

from measure import Cost, cost, in_turns, machine, save, server
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


async def aiohttp_loop(url: str, n: int, concurrency: int) -> None:
    """The library alone."""
    import aiohttp
    import msgspec

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def call(i: int) -> None:
            body = {
                "model": "bench",
                "messages": [{"role": "user", "content": question(i)}],
                "max_tokens": 16,
                "seed": 0,
            }
            headers = {"Content-Type": "application/json"}
            async with session.post(f"{url}/chat/completions", data=msgspec.json.encode(body), headers=headers) as said:
                msgspec.json.decode(await said.read())

        await _many(n, concurrency, call)


SIDES = {"steelyard Endpoint": ours, "aiohttp loop": aiohttp_loop}


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
                    [sys.executable, Path(__file__), "--side", side, "--url", at.url, "--n", str(n),
                     "--concurrency", str(asked.concurrency)]
                )  # fmt: skip

        return run

    found = in_turns({f"{side}/{n}": one(side, n) for side in SIDES for n in (1, asked.n)}, asked.rounds)
    rows = []
    for side in SIDES:
        few, many = (median(c.cpu_s for c in found[f"{side}/{n}"]) for n in (1, asked.n))
        rows.append(
            {"side": side, "start_cpu_s": round(few, 3), "us_a_request": round(1e6 * (many - few) / (asked.n - 1))}
        )
    for row in rows:
        row["times_raw"] = round(row["us_a_request"] / rows[-1]["us_a_request"], 2)
    rows[0]["version"] = rows[1]["version"] = f"aiohttp {version('aiohttp')}"
    save("client", began, "endpoint client alone, 0 ms", "<= 2.5 times a raw loop with the same client", rows)


if __name__ == "__main__":
    main()
