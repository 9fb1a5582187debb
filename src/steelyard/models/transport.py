"""One HTTP exchange's parts that know the client library: reading a body within a bound, naming what broke.

Bodies are read block by block after decompression, so neither a reply of gigabytes nor a small one that unpacks into
gigabytes fills the memory.
Easy to break: the difference between a connection that a server closed while it was idle, which says nothing about a
request, and one that it broke off.
"""

from __future__ import annotations

import ssl
from typing import Any

import aiohttp
import msgspec

from steelyard.models.failures import Failure

ERROR_BYTES = 64 * 1024
"""What is read of an error's body."""


class Answer(msgspec.Struct, frozen=True):
    """A response that came whole; the names of `headers` are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes
    seconds: float


async def read_answer(response: aiohttp.ClientResponse, most_bytes: int) -> tuple[bytes, bool]:
    """(body, whether that is all of it): at most `most_bytes` of a reply, ERROR_BYTES of an error."""
    most = most_bytes if response.status == 200 else min(ERROR_BYTES, most_bytes)
    if (response.content_length or 0) > most_bytes:
        return b"", False
    body = bytearray()
    while block := await response.content.readany():
        body += block
        if len(body) > most:
            return bytes(body[:most]), False
    return bytes(body), True


def too_long(most_bytes: int) -> Failure:
    """A reply beyond the bound: not asked for again, since the same would come."""
    return Failure("too-long", f"sent a reply of more than {most_bytes / 1e6:g} MB, which was not read further", "call")


async def note_reuse(_: aiohttp.ClientSession, context: Any, __: aiohttp.TraceConnectionReuseconnParams) -> None:
    """Trace hook: write into the request's own dict that its connection had been used before."""
    context.trace_request_ctx["reused"] = True


def closed_while_idle(error: Exception, notes: dict[str, bool]) -> bool:
    """Whether a kept-alive connection turned out to be closed: nothing of the request was answered."""
    broke = isinstance(error, aiohttp.ServerDisconnectedError | ConnectionResetError | BrokenPipeError)
    return broke and notes.get("reused", False)


def failure_from_client(error: OSError | aiohttp.ClientError, elapsed_s: float) -> Failure:
    """A try that ended without a whole response; a response error's own text holds the URL and is left out."""
    words = error.message if isinstance(error, aiohttp.ClientResponseError) else str(error) or type(error).__name__
    if isinstance(error, aiohttp.ClientConnectorCertificateError | ssl.SSLCertVerificationError):
        return Failure("tls", f"has a certificate that is not trusted ({words}); {_TRUST_IT}", "run")
    if isinstance(error, aiohttp.ClientConnectorSSLError):
        return Failure("tls", f"does not speak TLS as asked ({words}); does its address begin with http://?", "run")
    if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
        return Failure("connection", f"cannot be reached ({words})", "retry")
    if isinstance(error, TimeoutError):
        return Failure("timeout", f"gave no whole reply within {elapsed_s:.1f} s", "retry")
    if isinstance(error, aiohttp.ClientPayloadError | aiohttp.ClientResponseError):
        return Failure("reply", f"broke off in its reply ({words})", "retry")
    return Failure("connection", f"closed the connection ({words})", "retry")


_TRUST_IT = "SSL_CERT_FILE=FILE trusts those of a PEM file, such as the one of the authority that signed it"
