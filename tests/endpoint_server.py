"""A real HTTP server on loopback that plays an OpenAI-compatible endpoint, well or badly, as a test says.

Each POST takes the next `Step` of the script; the last one repeats. A script may also be a function of the decoded
request body. GETs of `/v1/models` are answered from `models`. Every request is kept. What a run's probe asks (its
User-Agent says so) takes no step of the script: it is answered by `probed`, and kept apart from `posts`. It runs on its
own thread and event loop, so that tests of asynchronous clients and of whole commands can use it alike.
"""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self


@dataclass(frozen=True)
class Step:
    """What the server does with one request."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    act: Literal["reply", "hang", "until-closed", "half", "reset"] = "reply"
    delay_s: float = 0.0


@dataclass(frozen=True)
class Seen:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    at_s: float
    """By the monotonic clock."""

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def is_probe(self) -> bool:
        """Whether a probe asks, not a run."""
        return self.headers.get("user-agent") == "steelyard-probe"


def completion(text: str | None = "ok", **changes: Any) -> dict[str, Any]:
    """A well-formed chat completion; `changes` replace top-level fields, a None removes one."""
    whole = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "served-model",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }
    return {name: value for name, value in (whole | changes).items() if value is not None}


def reply(text: str | None = "ok", **changes: Any) -> Step:
    """A good answer."""
    return Step(body=json.dumps(completion(text, **changes)).encode())


def said(status: int, body: Any, **headers: str) -> Step:
    """Any status with a JSON body (or bytes as they are) and extra headers (`Retry_After="1"`)."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Step(status, data, {"Content-Type": "application/json"} | named)


def refusal(status: int, message: str, **headers: str) -> Step:
    """An error in the shape that OpenAI-compatible endpoints use."""
    return said(status, {"error": {"message": message, "type": "some_error", "code": status}}, **headers)


class EndpointServer:
    """`with EndpointServer([refusal(500, "boom"), reply()]) as server:` and then `server.url`."""

    def __init__(
        self,
        script: Sequence[Step] | Callable[[dict[str, Any]], Step],
        models: Sequence[dict[str, Any]] | None = ({"id": "served-model"},),
        probed: Callable[[dict[str, Any]], Step] = lambda _: reply(),
    ) -> None:
        self._script = script
        self._models = models
        self._probed = probed
        self._posts = 0
        self.requests: list[Seen] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._stop: asyncio.Event
        self._port = 0
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def url(self) -> str:
        """The base URL, without /v1."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def posts(self) -> list[Seen]:
        return [seen for seen in self.requests if seen.method == "POST" and not seen.is_probe]

    @property
    def probes(self) -> list[Seen]:
        return [seen for seen in self.requests if seen.method == "POST" and seen.is_probe]

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        tasks: set[asyncio.Task[None]] = set()

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.ensure_future(self._talk(reader, writer))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

        server = await asyncio.start_server(accept, "127.0.0.1", 0)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                seen = await _read(reader)
                self.requests.append(seen)
                self.in_flight += 1
                self.most_in_flight = max(self.most_in_flight, self.in_flight)
                try:
                    going_on = await _play(self._step(seen), reader, writer)
                finally:
                    self.in_flight -= 1
                if not going_on:
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _step(self, seen: Seen) -> Step:
        if seen.method == "GET":
            if self._models is None or not seen.path.endswith("/models"):
                return said(404, {"error": {"message": "no such path"}})
            return said(200, {"object": "list", "data": list(self._models)})
        if seen.is_probe:
            return self._probed(seen.json)
        self._posts += 1
        if callable(self._script):
            return self._script(seen.json)
        return self._script[min(self._posts, len(self._script)) - 1]


async def _read(reader: asyncio.StreamReader) -> Seen:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return Seen(
        method, path, headers, await reader.readexactly(int(headers.get("content-length", "0"))), time.monotonic()
    )


async def _play(step: Step, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Send what the step says; whether the connection stays open."""
    await asyncio.sleep(step.delay_s)
    if step.act == "hang":
        await asyncio.sleep(3600)
    if step.act == "until-closed":
        await reader.read()
        return False
    if step.act == "reset":
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        writer.transport.abort()
        return False
    length = len(step.body) + (100 if step.act == "half" else 0)
    head = [f"HTTP/1.1 {step.status} X", *(f"{name}: {value}" for name, value in step.headers.items())]
    writer.write(("\r\n".join(head) + f"\r\nContent-Length: {length}\r\n\r\n").encode() + step.body)
    await writer.drain()
    return step.act != "half"
