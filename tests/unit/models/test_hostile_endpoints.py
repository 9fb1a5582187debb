"""Endpoints that misbehave, each played by a real server on loopback, and what the client does about it."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from endpoint_server import EndpointServer, Step, completion, refusal, reply, said
from steelyard.attempt import Message, ModelOutput, ToolCall
from steelyard.errors import CallError, ModelError, PermanentError
from steelyard.models import endpoint as endpoint_module
from steelyard.models.chat_format import UnreadableReplyError, read_reply
from steelyard.models.endpoint import Endpoint
from steelyard.models.masking import MARK
from steelyard.ports import Sampling

CANARY = "sk-canary-0123456789"
HI = [Message("user", "Hi")]
BODY = json.dumps(completion("done")).encode()
Talk = Callable[[socket.socket, int], None]


@contextmanager
def speaking(talk: Talk, context: ssl.SSLContext | None = None) -> Iterator[str]:
    """The address of a server that gives each connection, with its number from 1, to `talk` on a thread of its own."""
    listener = socket.create_server(("127.0.0.1", 0))

    def wrapped(connection: socket.socket) -> socket.socket:
        return context.wrap_socket(connection, server_side=True) if context else connection

    def serve(connection: socket.socket, number: int) -> None:
        with suppress(OSError), connection, wrapped(connection) as stream:
            talk(stream, number)

    def accept() -> None:
        number = 0
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                number += 1
                threading.Thread(target=serve, args=(connection, number), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield f"http{'s' if context else ''}://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


def read_request(connection: socket.socket) -> bytes:
    """One whole request; b"" when the client has gone."""
    data = b""
    while b"\r\n\r\n" not in data:
        block = connection.recv(65536)
        if not block:
            return b""
        data += block
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
    while len(body) < length:
        body += connection.recv(65536)
    return head + body


def head(status: int = 200, length: int | None = None, *more: str) -> bytes:
    """A response's head; chunked without a length."""
    size = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
    return "\r\n".join([f"HTTP/1.1 {status} X", "Content-Type: application/json", size, *more, "", ""]).encode()


def ask(url: str, *, calls: int = 1, at_once: int = 1, **options: Any) -> list[ModelOutput | BaseException]:
    """The outcomes of some calls through one client, `at_once` in parallel, with short waits."""
    settings = {"first_wait_s": 0.005, "max_wait_s": 0.02, "retries": 2, "api_key": CANARY} | options

    async def call() -> list[ModelOutput | BaseException]:
        model = Endpoint(url, "m", **settings)
        try:
            outcomes: list[ModelOutput | BaseException] = []
            for _ in range(calls):
                together = (model.generate(HI, Sampling()) for _ in range(at_once))
                outcomes += await asyncio.gather(*together, return_exceptions=True)
            return outcomes
        finally:
            await model.close()

    return asyncio.run(call())


def texts(outcomes: list[ModelOutput | BaseException]) -> list[str]:
    """The first text of each; raises what was raised."""
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
    return [outcome.texts[0] for outcome in outcomes if isinstance(outcome, ModelOutput)]


def failing(kind: type[ModelError], url: str, **options: Any) -> ModelError:
    """The error of one call, which must be of this kind."""
    (outcome,) = ask(url, **options)
    assert isinstance(outcome, kind), outcome
    return outcome


def test_a_storm_of_429s_is_sat_out_and_every_call_is_answered() -> None:
    """Sixteen calls against forty refusals: none is lost, none stalls. [S-24]"""
    storm = [refusal(429, "slow down", Retry_After="0.01")] * 40
    with EndpointServer([*storm, reply("done")]) as server:
        assert ["done"] * 16 == texts(ask(server.url, at_once=16, retries=60))


def test_a_storm_that_does_not_end_spends_a_budget_and_no_more() -> None:
    """Retries of all calls together are bounded, and the words say that they are spent. [S-24]"""
    with EndpointServer([refusal(429, "slow down")]) as server:
        outcomes = ask(server.url, at_once=8, retries=20, retry_budget=10)
        assert 8 + 10 == len(server.posts)
    assert {("rate-limit", True)} == {(o.kind, "retries are spent" in str(o)) for o in outcomes if type(o) is CallError}


def test_faults_that_come_and_go_lose_no_call() -> None:
    """500s, resets, half replies and torn JSON between good replies. [S-24]"""
    bad = [refusal(500, "boom"), Step(act="reset"), Step(body=BODY[:20], act="half"), said(200, BODY[:30])]
    script = [step for fault in bad for step in (fault, reply("done"))]
    with EndpointServer([*script, reply("done")]) as server:
        assert ["done"] * 8 == texts(ask(server.url, calls=4, at_once=2, retries=4))


def test_a_hang_is_given_up_and_asked_again() -> None:
    """Silence costs one read time-out. [S-24]"""
    with EndpointServer([Step(act="hang"), reply("done")]) as server:
        assert ["done"] == texts(ask(server.url, read_timeout_s=0.2))


def test_a_trickle_ends_at_the_total_time() -> None:
    """One byte now and then keeps the read time-out from ending it; the total does. [S-24]"""

    def talk(connection: socket.socket, _: int) -> None:
        read_request(connection)
        connection.sendall(head(200, len(BODY)))
        for byte in BODY:
            connection.sendall(bytes([byte]))
            time.sleep(0.05)

    with speaking(talk) as url:
        error = failing(CallError, url, read_timeout_s=5.0, total_timeout_s=0.4, retries=0)
    assert "gave no whole reply within 0." in str(error)


def test_a_list_of_models_that_never_comes_does_not_hold_up_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The listing has a short time of its own; without it nothing is known. [S-9]"""
    monkeypatch.setattr(endpoint_module, "_LISTING_TIMEOUT_S", 0.2)

    async def describe(url: str) -> dict[str, Any]:
        model = Endpoint(url, "m", CANARY)
        try:
            return await model.describe()
        finally:
            await model.close()

    with speaking(lambda connection, _: time.sleep(2) if read_request(connection) else None) as url:
        assert {} == asyncio.run(describe(url))


@pytest.mark.parametrize("declared", [True, False], ids=["with its length", "without end"])
def test_a_reply_beyond_the_bound_is_not_read_further(declared: bool) -> None:
    """Ten megabytes with their length, and a stream without end: both end at the bound, in words. [S-24]"""

    def talk(connection: socket.socket, _: int) -> None:
        read_request(connection)
        connection.sendall(head(200, 10_000_000 if declared else None))
        block = b"x" * 65536 if declared else b"10000\r\n" + b"x" * 65536 + b"\r\n"
        while True:  # until the client has gone
            connection.sendall(block)

    with speaking(talk) as url:
        error = failing(CallError, url)
        assert isinstance(error, CallError)
    assert "too-long" == error.kind
    assert "sent a reply of more than 8 MB" in str(error)


def test_a_long_reply_within_the_bound_is_read() -> None:
    """Five megabytes of text are an answer. [S-24]"""
    with EndpointServer([reply("x" * 5_000_000)]) as server:
        assert [5_000_000] == [len(text) for text in texts(ask(server.url))]


def test_an_errors_long_body_is_cut() -> None:
    """Ten megabytes under status 500 are retried like any 500, and quoted in a line. [S-24]"""
    with EndpointServer([said(500, b"boom " * 2_000_000), reply("done")]) as server:
        assert ["done"] == texts(ask(server.url))
    with EndpointServer([said(500, b"boom " * 2_000_000)]) as server:
        assert len(str(failing(CallError, server.url))) < 700


def test_an_error_whose_body_is_beyond_every_bound_is_quoted() -> None:
    """Its length is declared; a line of it is read all the same. [S-24]"""
    with EndpointServer([said(500, b"boom " * 2_000_000)]) as server:
        assert "answered 500: boom boom" in str(failing(CallError, server.url, retries=0))


def test_a_gzip_reply_is_unpacked_and_a_bomb_is_not() -> None:
    """The bound is on what unpacks. [S-24]"""
    zipped = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    with EndpointServer([Step(200, gzip.compress(BODY), zipped)]) as server:
        assert ["done"] == texts(ask(server.url))
    with EndpointServer([Step(200, gzip.compress(bytes(60_000_000)), zipped)]) as server:
        assert "more than 8 MB" in str(failing(CallError, server.url))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"[" * 200_000,
        b'{"choices": []}',
        b'{"choices": {"0": {}}}',
        b'{"choices": [{"message": "hello"}]}',
        b'{"choices": [{"message": {"content": "\xff"}}]}',
        b'{"x": ' + b"[" * 200_000,
        b'{"choices": [{"message": {}}], "usage": ' + b"[" * 200_000,
        b'{"error": ' + b'{"error": ' * 200_000,
        BODY[:-1],
        BODY + BODY,
    ],
    ids=range(13),
)
def test_a_body_that_is_no_completion_fails_its_call_with_its_first_words(body: bytes) -> None:
    """Whatever stands in it, the call is tried again and then fails as `reply`. [S-24]"""
    with EndpointServer([said(200, body)]) as server:
        error = failing(CallError, server.url, retries=1)
        assert isinstance(error, CallError)
        assert (2, "reply") == (len(server.posts), error.kind)
    assert len(str(error)) < 400


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens": -5, "completion_tokens": 3}, (None, 3)),
        ({"prompt_tokens": 1e300, "completion_tokens": True}, (None, None)),
        ({"prompt_tokens": "7", "completion_tokens": 2.0}, (None, 2)),
        ([], None),
        ("none", None),
    ],
)
def test_counts_that_can_be_no_counts_are_not_counted(usage: Any, counted: Any) -> None:
    """A cap is never spent, nor refilled, by a server's nonsense. [S-1]"""
    output = read_reply(json.dumps(completion(usage=usage)).encode(), "m", {}, 0.0)
    found = (output.usage.input_tokens, output.usage.output_tokens) if output.usage else None
    assert counted == found


def test_json_under_a_wrong_content_type_is_read() -> None:
    """What counts is what it says, not what it is called. [S-24]"""
    with EndpointServer([Step(200, BODY, {"Content-Type": "text/html"})]) as server:
        assert ["done"] == texts(ask(server.url))


def test_a_page_stops_a_run_only_where_nothing_was_ever_answered() -> None:
    """At first it is a wrong address; between good replies it is a gateway's bad moment. [S-24]"""
    page = said(200, b"<html>502 from the gateway</html>", Content_Type="text/html")
    with EndpointServer([page]) as server:
        assert "is this URL an OpenAI-compatible API?" in str(failing(PermanentError, server.url))
    with EndpointServer([reply("done"), page, reply("done")]) as server:
        assert ["done"] * 2 == texts(ask(server.url, calls=2))


def test_the_first_of_several_choices_is_the_answer_and_all_are_kept() -> None:
    """Tool calls of the others are not carried out. [S-1]"""

    def choice(text: str) -> dict[str, Any]:
        call = {"id": text, "type": "function", "function": {"name": text, "arguments": "{}"}}
        return {"message": {"role": "assistant", "content": text, "tool_calls": [call]}, "finish_reason": "stop"}

    body = json.dumps(completion(choices=[choice("first"), choice("second")])).encode()
    output = read_reply(body, "m", {}, 0.0)
    assert (["first", "second"], [ToolCall("first", "{}", "first")]) == (output.texts, output.tool_calls)


def test_a_redirect_is_told_and_not_followed_with_the_key() -> None:
    """Whoever redirects could collect keys. [S-9]"""
    with EndpointServer([reply()]) as other, EndpointServer([said(307, b"", Location=f"{other.url}/v1")]) as server:
        assert f"redirects to {other.url}/v1; give that address" in str(failing(PermanentError, server.url))
        assert [] == other.requests


def test_a_kept_alive_connection_that_was_closed_is_no_failure() -> None:
    """Without a single retry allowed, every call is answered over a new connection. [S-24]"""
    connections = []

    def talk(connection: socket.socket, number: int) -> None:
        connections.append(number)
        read_request(connection)
        connection.sendall(head(200, len(BODY)) + BODY)
        read_request(connection)  # the next one on this connection meets its end

    with speaking(talk) as url:
        assert ["done"] * 4 == texts(ask(url, calls=4, retries=0, retry_budget=0))
    assert [1, 2, 3, 4] == connections


def test_a_new_connection_that_is_closed_is_a_failure() -> None:
    """A server that closes every connection is not asked for ever. [S-24]"""
    connections = []

    def talk(connection: socket.socket, number: int) -> None:
        connections.append(number)
        read_request(connection)

    with speaking(talk) as url:
        (outcome,) = ask(url, retries=1)
    assert isinstance(outcome, ModelError)
    assert ([1, 2], True) == (connections, "closed the connection" in str(outcome))


def test_a_retry_after_of_years_is_capped() -> None:
    """By the client's own longest wait. [S-24]"""
    with EndpointServer([refusal(429, "later", Retry_After="99999999999"), reply("done")]) as server:
        assert ["done"] == texts(ask(server.url))


def test_a_flood_of_headers_is_refused() -> None:
    """Not read without bound. [S-24]"""
    with EndpointServer([Step(200, BODY, {"Content-Type": "application/json", "X": "x" * 1_000_000})]) as server:
        assert "broke off in its reply" in str(failing(CallError, server.url, retries=0))


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate that nobody has signed but itself, and its key, in one file."""
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    subprocess.run([*command, *subject, "-keyout", path, "-out", f"{path}.crt"], check=True, capture_output=True)
    path.write_text(path.read_text() + Path(f"{path}.crt").read_text())
    return path


def test_a_certificate_that_does_not_verify_stops_the_run_and_says_what_helps(certificate: Path) -> None:
    """Nothing is sent, nothing is tried again, and the setting is named. [S-24]"""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    seen = []
    with speaking(lambda connection, _: seen.append(read_request(connection)), context) as url:
        words = str(failing(PermanentError, url))
    assert "certificate that is not trusted" in words
    assert "SSL_CERT_FILE=FILE trusts" in words
    assert [] == seen


def test_tls_towards_a_server_without_it_stops_the_run_and_says_so() -> None:
    """The address began with https where http was meant. [S-24]"""
    with speaking(lambda connection, _: connection.sendall(head(400, 0)) if connection.recv(65536) else None) as url:
        words = str(failing(PermanentError, url.replace("http:", "https:")))
    assert "does its address begin with http://?" in words


def test_broken_tls_after_a_reply_is_a_passing_fault(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway that restarts answers in plain text for a moment; the run goes on. [S-24]"""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        for number in range(3):
            raw, _ = listener.accept()
            with suppress(OSError), raw:
                if number == 1:
                    raw.sendall(head(503, 0))
                    continue
                with context.wrap_socket(raw, server_side=True) as stream:
                    read_request(stream)
                    stream.sendall(head(200, len(BODY), "Connection: close") + BODY)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    assert ["done", "done"] == texts(ask(f"https://127.0.0.1:{listener.getsockname()[1]}", calls=2))
    thread.join(5)
    listener.close()


def test_the_key_is_masked_wherever_a_reply_repeats_it() -> None:
    """In texts, reasoning, tool calls and names; log-probabilities, which spell it, are dropped. [S-9]"""
    call = {"id": CANARY, "function": {"name": CANARY, "arguments": json.dumps({"key": CANARY})}}
    message = {"content": f"It is {CANARY}.", "reasoning_content": CANARY, "tool_calls": [call]}
    choice = {"message": message, "finish_reason": CANARY, "logprobs": {"content": [{"token": "sk-"}]}}
    step = said(200, completion(id=CANARY, model=CANARY, choices=[choice]))
    escaped = said(200, json.dumps(completion(CANARY)).replace("sk-", "\\u0073k-").encode())
    with EndpointServer([step, escaped]) as server:
        outputs = ask(server.url, calls=2)
        assert {f"Bearer {CANARY}"} == {seen.headers["authorization"] for seen in server.posts}
    assert CANARY not in repr(outputs)
    first = outputs[0]
    assert isinstance(first, ModelOutput)
    assert ([f"It is {MARK}."], [MARK], []) == (first.texts, first.reasoning_texts, first.logprobs)


@pytest.mark.parametrize("before", [*range(55, 82, 5), *range(470, 501, 6)])
def test_no_part_of_the_key_is_left_where_words_are_cut(before: int) -> None:
    """A key across the cut of a quoted body is masked before it. [S-9]"""
    noise = "x" * before + CANARY + "y" * 100
    with EndpointServer([said(500, noise.encode()), said(200, noise.encode(), Content_Type="text/plain")]) as server:
        errors = [failing(CallError, server.url, retries=0), failing(PermanentError, server.url, retries=0)]
    assert [False, False] == ["sk-ca" in str(error) for error in errors]


def test_a_short_placeholder_key_is_no_secret() -> None:
    """EMPTY is a word that texts may hold. [S-9]"""
    with EndpointServer([reply("EMPTY is a word")]) as server:
        assert ["EMPTY is a word"] == texts(ask(server.url, api_key="EMPTY"))


def test_nested_json_is_an_unreadable_reply() -> None:
    """The decoder's depth is a fault of the reply, not of this program. [S-24]"""
    with pytest.raises(UnreadableReplyError):
        read_reply(b'{"choices": [{"logprobs": ' + b"[" * 200_000, "m", {}, 0.0)
