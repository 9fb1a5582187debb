"""A model behind any OpenAI-compatible chat endpoint, called by one asynchronous client.

One request, one choice, whole replies (no streaming). What can be tried again is tried again, with exponential
jittered waits and Retry-After honoured; the rest ends in CallError (this call) or PermanentError (the run).
How many tries are in flight adapts to refusals and slowness (`pace`).
Not covered: streaming, several choices a request.
Easy to break: the key. It is in no repr, record or message; words of the endpoint that repeat it are masked.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import msgspec

from steelyard.attempt import Message, ModelOutput
from steelyard.errors import CallError, InputError, PermanentError
from steelyard.models.chat_format import UnreadableReplyError, build_body, read_reply, request_settings
from steelyard.models.failures import Failure, failure_from_body, failure_from_status
from steelyard.models.keys import KEY_VARIABLES, find_key
from steelyard.models.pace import Pace
from steelyard.ports import Sampling, ToolSpec

_FIRST_CONTACT_TRIES = 4
_TOO_MUCH = ("rate-limit", "timeout")  # kinds of failure that ask for fewer calls at once
_LISTED_MODELS = 20


class Endpoint:
    """One model at one endpoint; safe to call from many tasks of one event loop. Implements `ports.Model`."""

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str | None = None,
        *,
        connect_timeout_s: float = 10.0,
        read_timeout_s: float = 600.0,
        total_timeout_s: float = 900.0,
        retries: int = 5,
        first_wait_s: float = 0.5,
        max_wait_s: float = 60.0,
        most_in_flight: int | None = None,
        retry_budget: int = 1000,
        extra_body: Mapping[str, Any] | None = None,
    ) -> None:
        """`base_url` with or without /v1; time-outs are of one try; `max_wait_s` caps each wait between tries.

        `most_in_flight` tries at once, None for as many as are called; `retry_budget` retries over all calls, and one
        more for every reply.

        Without `api_key`, what `keys.find_key` finds; an empty text sends no key.
        """
        for name, value in (
            ("retries", retries),
            ("first_wait_s", first_wait_s),
            ("max_wait_s", max_wait_s),
            ("retry_budget", retry_budget),
        ):
            if value < 0:
                raise InputError(f"{name} must not be negative, got {value}")
        for name, value in (
            ("connect_timeout_s", connect_timeout_s),
            ("read_timeout_s", read_timeout_s),
            ("total_timeout_s", total_timeout_s),
            ("most_in_flight", 1 if most_in_flight is None else most_in_flight),
        ):
            if value <= 0:
                raise InputError(f"{name} must be positive, got {value}")
        if not model:
            raise InputError(f"a model name is needed beside the address {base_url}")
        parts = _split(base_url)
        self._query = f"?{parts.query}" if parts.query else ""
        self._proxy = _proxy(parts)
        self.base_url = _api_root(parts)
        self._model = model
        self._key = _key(api_key)
        self._timeout = aiohttp.ClientTimeout(
            total=total_timeout_s, sock_connect=connect_timeout_s, sock_read=read_timeout_s
        )
        self._retries = retries
        self._waits = (first_wait_s, max_wait_s)
        self._pace = Pace(most_in_flight, retry_budget=retry_budget)
        self._extra_body = dict(extra_body or {})
        self._session: aiohttp.ClientSession | None = None
        self._answered = False
        self._closed = False

    def __repr__(self) -> str:
        return f"Endpoint({self.base_url!r}, {self._model!r})"

    @property
    def id(self) -> str:
        return self._model

    async def describe(self) -> dict[str, Any]:
        """What GET /models says of this model (`model`) or whatever it lists (`listed`); {} when it does not say."""
        try:
            address = f"{self.base_url}/models{self._query}"
            async with self._open().get(address, proxy=self._proxy, allow_redirects=False) as response:
                listed = msgspec.json.decode(await response.read())["data"] if response.status == 200 else []
            entries = [_lasting(entry) for entry in listed]
        except (OSError, aiohttp.ClientError, msgspec.DecodeError, UnicodeError, TypeError, KeyError, AttributeError):
            return {}
        own = [entry for entry in entries if entry.get("id") == self._model]
        if own:
            return {"model": own[0]}
        return {"listed": entries[:_LISTED_MODELS]} if entries else {}

    async def generate(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        *,
        seed: int | None = None,
        tools: Sequence[ToolSpec] = (),
        response_format: Mapping[str, Any] | None = None,
    ) -> ModelOutput:
        """One choice; `seconds` of the output are those of the try that succeeded."""
        body = build_body(self._model, messages, sampling, seed, tools, response_format, self._extra_body)
        try:
            data = msgspec.json.encode(body)
        except (UnicodeEncodeError, TypeError) as error:
            raise CallError(f"this request cannot be written as JSON: {error}", kind="request") from error
        request = request_settings(body)
        for tried in range(1, self._retries + 2):
            outcome = await self._paced(data, request)
            if isinstance(outcome, ModelOutput):
                return outcome
            if (
                outcome.kind == "connection"
                and not self._answered
                and tried >= min(_FIRST_CONTACT_TRIES, self._retries + 1)
            ):
                raise PermanentError(
                    f"nothing answers at {self.base_url}; is the server running? ({outcome.words})", kind="connection"
                )
            if outcome.fate != "retry" or tried > self._retries:
                raise self._error(outcome, tried)
            if not self._pace.may_retry():
                spent = msgspec.structs.replace(outcome, words=f"{outcome.words}; the run's retries are spent")
                raise self._error(spent, tried)
            await asyncio.sleep(self._wait_s(outcome, tried))
        raise AssertionError  # the last round above always returns or raises

    async def close(self) -> None:
        """Drop the connections; a later call is a CallError."""
        self._closed = True
        if self._session is not None:
            await self._session.close()

    async def _paced(self, data: bytes, request: dict[str, Any]) -> ModelOutput | Failure:
        """One try when its turn has come; what it met sets the pace of the others."""
        async with self._pace.slot() as started:
            outcome = await self._try_once(data, request)
            if isinstance(outcome, ModelOutput):
                self._pace.replied(started)
            elif outcome.kind in _TOO_MUCH or outcome.wait_s is not None:
                wait_s = None if outcome.wait_s is None else min(outcome.wait_s, self._waits[1])
                self._pace.refused(started, wait_s)
        return outcome

    async def _try_once(self, data: bytes, request: dict[str, Any]) -> ModelOutput | Failure:
        """One HTTP exchange."""
        address = f"{self.base_url}/chat/completions{self._query}"
        session = self._open()
        started = time.perf_counter()
        try:
            async with session.post(address, data=data, proxy=self._proxy, allow_redirects=False) as response:
                body = await response.read()
        except (OSError, aiohttp.ClientError) as error:  # TimeoutError is an OSError
            return _failure_from_client(error, time.perf_counter() - started)
        seconds = time.perf_counter() - started
        self._answered = True
        if response.status != 200:
            return failure_from_status(response.status, response.headers.get, body)
        try:
            return read_reply(body, self._model, request, seconds)
        except UnreadableReplyError as error:
            return failure_from_body(error, response.headers.get("content-type", ""), body)

    def _open(self) -> aiohttp.ClientSession:
        """The session, made inside the running event loop on first use."""
        if self._closed:
            raise CallError(f"the client of {self.base_url} was closed", kind="closed")
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),  # the caller decides how many calls are in flight
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=self._timeout,
                headers=self._headers(),
            )
        return self._session

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "steelyard"}
        return headers | ({"Authorization": f"Bearer {self._key}"} if self._key else {})

    def _wait_s(self, failure: Failure, tried: int) -> float:
        """Exponential with jitter; never shorter than the server asked, never longer than the cap."""
        first_s, max_s = self._waits
        own_s = first_s * 2 ** (tried - 1) * random.uniform(0.5, 1.0)
        return min(max_s, own_s if failure.wait_s is None else failure.wait_s + first_s * random.random())

    def _error(self, failure: Failure, tried: int) -> CallError | PermanentError:
        words = f"{self.base_url} {failure.words}"
        if self._key and len(self._key) >= 8:  # a shorter one is a placeholder such as EMPTY
            words = words.replace(self._key, "***")
        if failure.fate == "run":
            return PermanentError(words)
        times = f" (tried {tried} times)" if tried > 1 else ""
        return CallError(words + times, kind=failure.kind)


def _split(base_url: str) -> SplitResult:
    try:
        parts = urlsplit(base_url.strip())
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable:
        raise InputError(f"an endpoint's address must look like http://host:port/v1, got {base_url!r}")
    if parts.username or parts.password:
        raise InputError(f"give the key in {KEY_VARIABLES[0]}, not inside the address of {parts.hostname}")
    return parts


def _api_root(parts: SplitResult) -> str:
    """The address that /chat/completions is appended to: a bare host gets /v1, any other path stays."""
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    return f"{parts.scheme}://{parts.netloc}{path or '/v1'}"


def _key(given: str | None) -> str:
    key = find_key() if given is None else given.strip()
    if not (key.isascii() and key.isprintable()):
        raise InputError("the API key holds characters that no HTTP header can carry; was it copied whole?")
    return key


def _lasting(entry: dict[str, Any]) -> dict[str, Any]:
    """A listed model without the time stamp that local servers make up at every start."""
    return {name: value for name, value in entry.items() if name != "created"}


def _proxy(parts: SplitResult) -> str | None:
    """The proxy of the environment for this address; none for loopback, where no proxy can reach this machine."""
    host = parts.hostname or ""
    if host in ("localhost", "::1") or host.startswith("127.") or proxy_bypass(host):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")


def _failure_from_client(error: OSError | aiohttp.ClientError, elapsed_s: float) -> Failure:
    """A try that ended without a whole response; a response error's own text holds the URL and is left out."""
    words = error.message if isinstance(error, aiohttp.ClientResponseError) else str(error) or type(error).__name__
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return Failure("tls", f"has a certificate that is not trusted ({words}); SSL_CERT_FILE adds one", "run")
    if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
        return Failure("connection", f"cannot be reached ({words})", "retry")
    if isinstance(error, TimeoutError):
        return Failure("timeout", f"gave no whole reply within {elapsed_s:.1f} s", "retry")
    if isinstance(error, aiohttp.ClientPayloadError | aiohttp.ClientResponseError):
        return Failure("reply", f"broke off in its reply ({words})", "retry")
    return Failure("connection", f"closed the connection ({words})", "retry")
