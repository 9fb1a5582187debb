"""A chat-completions endpoint on loopback that costs as little as Python allows, with a latency that is asked for.

    python bench/local_server.py [--latency-ms 0] [--text 42]

Prints its port, serves until its standard input ends, and then prints one JSON object of what it saw: requests, most in
flight, the mean in flight from the first request to the last answer, and the moments of both. Requests of our own
probe of an endpoint are answered and counted apart. A raw asyncio protocol, no HTTP library: a request is what follows
its head for Content-Length bytes. Not covered: chunked requests, TLS, streaming.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from typing import Any


class Seen:
    """What the server met; `area` is in-flight requests times seconds."""

    def __init__(self) -> None:
        self.requests = self.probes = self.in_flight = self.most = 0
        self.area = 0.0
        self.first_s = self.last_s = self._since = 0.0

    def change(self, by: int) -> None:
        """A request came (1) or was answered (-1)."""
        now = time.time()
        if by > 0:
            self.requests += 1
            self.first_s = self.first_s or now
        self.area += self.in_flight * (now - (self._since or now))
        self._since = self.last_s = now
        self.in_flight += by
        self.most = max(self.most, self.in_flight)

    def facts(self) -> dict[str, Any]:
        """As plain data."""
        span = self.last_s - self.first_s
        return {
            "requests": self.requests,
            "probes": self.probes,
            "most_in_flight": self.most,
            "mean_in_flight": round(self.area / span, 2) if span > 0 else 0.0,
            "first_s": self.first_s,
            "last_s": self.last_s,
        }


class Talk(asyncio.Protocol):
    """One connection."""

    def __init__(self, seen: Seen, answers: dict[bytes, bytes], latency_s: float) -> None:
        self._seen, self._answers, self._latency_s = seen, answers, latency_s
        self._data = bytearray()
        self._transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer each whole request."""
        self._data += data
        while (end := self._data.find(b"\r\n\r\n")) >= 0:
            head = bytes(self._data[:end]).lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self._data) < end + 4 + length:
                return
            del self._data[: end + 4 + length]
            self._answer(head)

    def _answer(self, head: bytes) -> None:
        if head.startswith(b"get"):
            self._transport.write(self._answers[b"get"])
            return
        if b"steelyard-probe" in head:
            self._seen.probes += 1
            self._transport.write(self._answers[b"post"])
            return
        self._seen.change(1)
        if self._latency_s:
            asyncio.get_running_loop().call_later(self._latency_s, self._send)
        else:
            self._send()

    def _send(self) -> None:
        self._seen.change(-1)
        self._transport.write(self._answers[b"post"])


def answers_of(text: str) -> dict[bytes, bytes]:
    """Whole HTTP responses: the list of models, and a completion that says `text`."""
    message = {"role": "assistant", "content": text}
    completion = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "bench",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23},
    }
    listed = {"object": "list", "data": [{"id": "bench", "object": "model", "owned_by": "bench"}]}
    return {b"get": _response(listed), b"post": _response(completion)}


def _response(value: Any) -> bytes:
    body = json.dumps(value).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


async def serve(latency_s: float, text: str) -> None:
    """Serve until standard input ends."""
    seen, answers = Seen(), answers_of(text)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Talk(seen, answers, latency_s), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()
    print(json.dumps(seen.facts()), flush=True)


def main() -> None:
    """Serve as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--text", default="42")
    asked = parser.parse_args()
    asyncio.run(serve(asked.latency_ms / 1000, asked.text))


if __name__ == "__main__":
    main()
