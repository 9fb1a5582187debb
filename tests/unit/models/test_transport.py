"""The client library as it is used: proxies, certificates, HTTP/2, and programs that end with calls in flight."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import RequestReceived, StreamEnded

from endpoint_server import EndpointServer, Step, completion, reply
from steelyard.attempt import Message, ModelOutput
from steelyard.errors import InputError, PermanentError
from steelyard.models.endpoint import Endpoint
from steelyard.models.transport import proxy_for
from steelyard.ports import Sampling

BODY = json.dumps(completion("done")).encode()


def ask(url: str, calls: int = 1) -> list[ModelOutput]:
    """Some calls at once through one client."""

    async def call() -> list[ModelOutput]:
        model = Endpoint(url, "m", "sk-canary-0123456789", retries=0, total_timeout_s=20)
        try:
            return await asyncio.gather(*(model.generate([Message("user", "Hi")], Sampling()) for _ in range(calls)))
        finally:
            await model.close()

    return asyncio.run(call())


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 that nobody has signed but itself; its key lies beside it."""
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    subprocess.run(
        [*command, *subject, "-keyout", path.with_suffix(".key"), "-out", path], check=True, capture_output=True
    )
    return path


@contextmanager
def http2_server(certificate: Path) -> Iterator[tuple[str, list[tuple[str, int]]]]:
    """A server that offers HTTP/2 alone, and the (protocol, stream) of each request that it answered."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    context.set_alpn_protocols(["h2"])
    listener = socket.create_server(("127.0.0.1", 0))
    seen: list[tuple[str, int]] = []

    def serve() -> None:
        raw, _ = listener.accept()
        with context.wrap_socket(raw, server_side=True) as stream:
            talk = H2Connection(H2Configuration(client_side=False))
            talk.initiate_connection()
            stream.sendall(talk.data_to_send())
            while data := stream.recv(65536):
                for event in talk.receive_data(data):
                    if isinstance(event, RequestReceived):
                        seen.append((str(stream.selected_alpn_protocol()), event.stream_id))
                    if isinstance(event, StreamEnded):
                        talk.send_headers(event.stream_id, [(":status", "200"), ("content-type", "application/json")])
                        talk.send_data(event.stream_id, BODY, end_stream=True)
                stream.sendall(talk.data_to_send())

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"https://127.0.0.1:{listener.getsockname()[1]}", seen
    finally:
        listener.close()
        thread.join(5)


def test_http2_is_spoken_where_it_is_offered(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many calls, one connection, a stream each; SSL_CERT_FILE makes its certificate trusted. [S-24]"""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with http2_server(certificate) as (url, seen):
        assert ["done"] * 8 == [output.texts[0] for output in ask(url, 8)]
    assert ({"h2"}, 8) == ({protocol for protocol, _ in seen}, len({stream for _, stream in seen}))


def test_a_file_of_certificates_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not found, and not certificates. [S-24]"""
    monkeypatch.setenv("SSL_CERT_FILE", "/no/such/file.pem")
    with pytest.raises(InputError, match="SSL_CERT_FILE names /no/such/file"):
        ask("https://127.0.0.1:9")
    monkeypatch.setenv("SSL_CERT_FILE", __file__)
    with pytest.raises(InputError, match="holds no certificate in PEM"):
        ask("https://127.0.0.1:9")


def test_a_folder_of_certificates_is_trusted(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SSL_CERT_DIR, whatever its files are called. [S-24]"""
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv("SSL_CERT_DIR", str(certificate.parent))
    with http2_server(certificate) as (url, _):
        assert ["done"] == ask(url)[0].texts


def test_a_proxy_is_asked_for_a_server_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the whole address, and with what the proxy's own address holds. [S-24]"""
    with EndpointServer([reply("by proxy")]) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.replace("http://", "http://me:secret@"))
        assert ["by proxy"] == ask("http://model.invalid")[0].texts
        assert ["http://model.invalid/v1/chat/completions"] == [seen.path for seen in proxy.posts]
        assert proxy.posts[0].headers["proxy-authorization"].startswith("Basic ")


def test_a_tunnel_is_asked_for_where_tls_is_spoken(monkeypatch: pytest.MonkeyPatch) -> None:
    """CONNECT, and no word of the request or the key. [S-24, S-9]"""
    with EndpointServer([Step(502, b"{}")]) as proxy:
        monkeypatch.setenv("https_proxy", proxy.url)
        with pytest.raises(Exception, match="cannot be reached"):
            ask("https://model.invalid")
        assert {("CONNECT", "model.invalid:443")} == {(seen.method, seen.path) for seen in proxy.requests}
        assert not any("canary" in repr(seen) for seen in proxy.requests)


def test_which_proxy_is_asked_is_what_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """By scheme, else for all; not for this machine nor for what no_proxy names. [S-24]"""
    monkeypatch.setenv("all_proxy", "http://all:1")
    monkeypatch.setenv("https_proxy", "http://tls:2")
    monkeypatch.setenv("no_proxy", "near.example")
    addresses = ("http://far.example", "https://far.example", "http://near.example", "http://127.0.0.1", "http://[::1]")
    expected = ["http://all:1", "http://tls:2", None, None, None]
    assert expected == [proxy_for(urlsplit(address)) for address in addresses]


def test_a_proxy_that_is_no_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is sent past it. [S-24]"""
    monkeypatch.setenv("http_proxy", "http://me:secret word@not an address")
    with pytest.raises(InputError, match="is no address") as caught:
        ask("http://model.invalid")
    assert "secret" not in str(caught.value)
    monkeypatch.setenv("http_proxy", "gopher://proxy:1")
    with pytest.raises(InputError, match="scheme gopher"):
        ask("http://model.invalid")


def test_a_proxy_that_is_away_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its password; the server is not to blame. [S-24, S-9]"""
    monkeypatch.setenv("http_proxy", "http://me:secret@127.0.0.1:9")
    with pytest.raises(PermanentError, match=r"cannot be reached through the proxy 127\.0\.0\.1:9") as caught:
        ask("http://model.invalid")
    assert "secret" not in str(caught.value)


_ENDING = """
import asyncio, os, signal, sys
from steelyard.attempt import Message
from steelyard.models.endpoint import Endpoint
from steelyard.ports import Sampling

async def main():
    model = Endpoint(sys.argv[1], "m", "")
    calls = [asyncio.ensure_future(model.generate([Message("user", "Hi")], Sampling())) for _ in range(32)]
    await asyncio.sleep(0.1)
    if sys.argv[2] == "closed":
        for call in calls:
            call.cancel()
        ended = await asyncio.gather(*calls, return_exceptions=True)
        await model.close()
        assert all(isinstance(end, asyncio.CancelledError) for end in ended), ended
    if sys.argv[2] == "interrupted":
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(5)

try:
    asyncio.run(main())
except KeyboardInterrupt:
    pass
sys.exit(7)
"""


@pytest.mark.parametrize("way", ["closed", "left", "interrupted"])
def test_a_program_that_ends_with_calls_in_flight_keeps_its_exit_code(way: str) -> None:
    """A client whose threads outlive the interpreter aborts it now and then. [F-16]"""
    with EndpointServer([Step(act="until-closed")]) as server:
        command = [sys.executable, "-c", _ENDING, server.url, way]
        ended = [subprocess.run(command, capture_output=True, text=True, check=False) for _ in range(4)]
    assert [(7, "")] * 4 == [(end.returncode, end.stderr) for end in ended]
