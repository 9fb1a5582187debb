"""One HTTP exchange: all that knows the client library, which is wreq, and of what it is for only where a stream ends.

HTTP/1.1, and HTTP/2 where TLS offers it. Bodies are read block by block after decompression, so neither a reply of
gigabytes nor a small one that unpacks into gigabytes fills the memory. The library's errors are Rust's debug texts,
which repeat the address; of them only the words that a person can use are kept.
Easy to break: the difference between a connection that a server closed while it was idle, which says nothing about a
request, and one that it broke off. The library does not say which it was, but names the connection's own port.
Not covered: browser emulation, which the library offers and which is never asked for; decision 014 says why it was
chosen.
"""

from __future__ import annotations

import os
import re
import ssl
import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from urllib.parse import SplitResult
from urllib.request import getproxies, proxy_bypass

import msgspec
import wreq
from wreq import exceptions

from steelyard.errors import InputError
from steelyard.models.failures import Failure
from steelyard.models.streaming import LAST_EVENT, says_stream

ERROR_BYTES = 64 * 1024
"""What is read of an error's body."""

_MOST_RESENT = 8  # kept-alive connections that were found closed; the next request goes over another one
_SCHEMES = ("http", "https", "socks4", "socks4a", "socks5", "socks5h")
_PORT = re.compile(r"local_addr: \S*:(\d+)")
_TRUST_IT = (
    "it has expired, names another host, or is signed by an authority that is not known here: then "
    "SSL_CERT_FILE=FILE trusts those of a PEM file"
)
_BROKEN: tuple[type[Exception], ...] = (
    exceptions.ConnectionError,
    exceptions.ConnectionResetError,
    exceptions.ProxyConnectionError,
    exceptions.RequestError,
    exceptions.TimeoutError,
    exceptions.BodyError,
    exceptions.DecodingError,
    exceptions.TlsError,
    exceptions.BuilderError,
)


class Timeouts(msgspec.Struct, frozen=True):
    """Of one exchange, in seconds: to connect, between two blocks, and in all."""

    connect_s: float
    read_s: float
    total_s: float


class Answer(msgspec.Struct, frozen=True):
    """A response that came whole; the names of `headers` are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes
    seconds: float


class Transport:
    """The connections to one endpoint; used from one event loop."""

    def __init__(self, address: SplitResult, headers: Mapping[str, str], timeouts: Timeouts, most_bytes: int) -> None:
        """`headers` go with every request; a reply of more than `most_bytes` is a Failure."""
        proxy = proxy_for(address)
        self._via = f" through the proxy {_shown(proxy)}" if proxy else ""
        self._client = wreq.Client(
            runtime=wreq.Runtime(workers=1),  # a second thread costs more than it carries
            headers=dict(headers),
            connect_timeout=timedelta(seconds=timeouts.connect_s),
            read_timeout=timedelta(seconds=timeouts.read_s),
            timeout=timedelta(seconds=timeouts.total_s),
            redirect=wreq.redirect.Policy.none(),
            dns_options=wreq.DnsOptions(system_dns=True),
            tls_verify=_trusted() if address.scheme == "https" else True,
            gzip=True,
            brotli=False,
            deflate=False,
            zstd=False,
            **({"no_proxy": True} if proxy is None else {"proxies": [_proxy(proxy)]}),
        )
        self._most_bytes = most_bytes
        self._ports: set[int] = set()  # our ends of the connections that have carried an answer

    def close(self) -> None:
        """Drop the connections."""
        self._client.close()

    async def exchange(
        self, address: str, data: bytes | None, *, total_s: float | None = None, agent: str | None = None
    ) -> Answer | Failure:
        """POST `data`, or GET without; what broke it is a Failure, whatever the status is an Answer."""
        method = wreq.Method.GET if data is None else wreq.Method.POST
        options = _options(data, total_s, agent)
        started = time.perf_counter()
        for resent in range(_MOST_RESENT + 1):
            try:
                async with await self._client.request(method, address, **options) as response:
                    if response.local_addr is not None:
                        self._ports.add(response.local_addr.port())
                    body, whole = await self._read(response)
                break
            except _BROKEN as error:
                if resent < _MOST_RESENT and self._closed_while_idle(error):
                    continue
                return _failure(error, time.perf_counter() - started, self._via)
        status = response.status.as_int()
        if not whole and status == 200:
            return _too_long(self._most_bytes)
        headers = {_text(name).lower(): _text(value) for name, value in response.headers}
        return Answer(status, headers, body, time.perf_counter() - started)

    async def _read(self, response: wreq.Response) -> tuple[bytes, bool]:
        """(body, whether that is all of it): at most `most_bytes` of a reply, ERROR_BYTES of an error."""
        most = self._most_bytes if response.status.is_success() else min(ERROR_BYTES, self._most_bytes)
        length = response.content_length
        if length is not None and length <= most and not _is_stream(response):
            return bytes(await response.bytes()), True
        if response.status.is_success() and length is not None and length > most:
            return b"", False
        body = bytearray()
        async with response.stream() as blocks:
            async for block in blocks:
                if isinstance(block, memoryview):  # trailers come as a map
                    body += block
                if len(body) > most:
                    return bytes(body[:most]), False
                if LAST_EVENT.search(body, max(0, len(body) - 32)):  # some servers leave the line open after it
                    break
        return bytes(body), True

    def _closed_while_idle(self, error: Exception) -> bool:
        """Whether a kept-alive connection turned out to be closed: nothing of the request was answered."""
        words = str(error)
        port = _PORT.search(words)
        return "IncompleteMessage" in words and port is not None and int(port[1]) in self._ports


def _is_stream(response: wreq.Response) -> bool:
    kind = response.headers.get("content-type")
    return kind is not None and says_stream(_text(kind))


def _options(data: bytes | None, total_s: float | None, agent: str | None) -> wreq.wreq.Request:
    options: wreq.wreq.Request = {}
    if data is not None:
        options["body"] = data
    if total_s is not None:
        options["timeout"] = timedelta(seconds=total_s)
    if agent is not None:
        options["headers"] = {"User-Agent": agent}
    return options


def proxy_for(address: SplitResult) -> str | None:
    """The proxy of the environment for this address; none for loopback, where no proxy can reach this machine."""
    host = address.hostname or ""
    if host in ("localhost", "::1") or host.startswith("127.") or proxy_bypass(host):
        return None
    proxies = getproxies()
    return proxies.get(address.scheme) or proxies.get("all")


def _proxy(url: str) -> wreq.Proxy:
    """Raises InputError without a word of the address, which may hold a password."""
    scheme, _, rest = url.rpartition("://")
    try:
        if scheme.lower() not in ("", *_SCHEMES):
            raise InputError(f"the environment names a proxy of the scheme {scheme}; known are {', '.join(_SCHEMES)}")
        return wreq.Proxy.all(f"{scheme or 'http'}://{rest}")
    except exceptions.BuilderError:
        raise InputError("the environment names a proxy that is no address; expected http://HOST:PORT") from None


def _shown(proxy: str) -> str:
    return proxy.rpartition("@")[2].rpartition("://")[2].rstrip("/")


def _trusted() -> wreq.CertStore | bool:
    """The system's certificates, with those of SSL_CERT_FILE and SSL_CERT_DIR; the library's own where it has none."""
    named, folders = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR", "")
    if named and not Path(named).is_file():
        raise InputError(f"SSL_CERT_FILE names {named}, which is no file")
    if named and _PEM not in Path(named).read_bytes():
        raise InputError(f"SSL_CERT_FILE names {named}, which holds no certificate in PEM")
    system = ssl.get_default_verify_paths()
    files = [Path(path) for path in (named, system.cafile, system.openssl_cafile) if path]
    files += [path for folder in folders.split(os.pathsep) if folder for path in sorted(Path(folder).glob("*"))]
    found = (path.read_bytes() for path in dict.fromkeys(files) if path.is_file())
    stack = b"\n".join(data for data in found if _PEM in data)
    try:
        return wreq.CertStore.from_pem_stack(stack) if stack else True
    except exceptions.TlsError as error:
        raise InputError("cannot read the certificates of SSL_CERT_FILE, SSL_CERT_DIR or the system") from error


_PEM = b"BEGIN CERTIFICATE"


def _too_long(most_bytes: int) -> Failure:
    """A reply beyond the bound: not asked for again, since the same would come."""
    return Failure("too-long", f"sent a reply of more than {most_bytes / 1e6:g} MB, which was not read further", "call")


def _failure(error: Exception, elapsed_s: float, via: str) -> Failure:
    """A try that ended without a whole response; `via` names the proxy that was in between."""
    said = str(error)
    words = _words(said)
    if "CERTIFICATE_VERIFY_FAILED" in said:
        return Failure("tls", f"has a certificate that is not trusted ({words}); {_TRUST_IT}", "run")
    if isinstance(error, exceptions.TlsError) or "Ssl(" in said:
        return Failure("tls", f"does not speak TLS as asked ({words}); does its address begin with http://?", "run")
    if isinstance(error, exceptions.ConnectionError | exceptions.ProxyConnectionError):
        return Failure("connection", f"cannot be reached{via} ({words})", "retry")
    if isinstance(error, exceptions.TimeoutError) or "TimedOut" in said:
        return Failure("timeout", f"gave no whole reply within {elapsed_s:.1f} s", "retry")
    if isinstance(error, exceptions.BodyError | exceptions.DecodingError) or "Parse(" in said:
        return Failure("reply", f"broke off in its reply ({words})", "retry")
    return Failure("connection", f"closed the connection{via} ({words})", "retry")


_WORDS = re.compile(r'(?:reason|message|error): "([^"]+)"|\bError\((\w+(?:\(\w+\))?)\)|, error: (\w+)')
_PLAINER = {
    "IncompleteMessage": "without an answer",
    "IncompleteBody": "before its end",
    "Parse(Version)": "its head is not HTTP",
    "Parse(TooLarge)": "its head is too long",
}


def _words(said: str) -> str:
    """The part of a debug text that tells a person what happened."""
    found = _WORDS.search(said)
    if found is None:
        return said.partition(" error:")[0].removeprefix("is_")
    words = next(part for part in found.groups() if part)
    return _PLAINER.get(words) or words.replace("_", " ").lower()


def _text(data: memoryview) -> str:
    return bytes(data).decode("latin-1")
