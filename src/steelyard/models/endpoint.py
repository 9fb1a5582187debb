"""A model behind any OpenAI-compatible chat endpoint, called by one asynchronous client.

One request, one choice. What can be tried again is tried again, with exponential jittered waits and Retry-After
honoured; the rest ends in CallError (this call) or PermanentError (the run). How many tries are in flight adapts to
refusals and slowness (`pace`). A reply that comes as a stream, asked for or not, is put together first (`streaming`).
Not covered: several choices a request.
Easy to break: the key. It is in no repr, record or message; words of the endpoint that repeat it are masked.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import SplitResult, urlsplit

import msgspec

from steelyard.attempt import Message, ModelOutput
from steelyard.errors import CallError, InputError, PermanentError
from steelyard.models.chat_format import UnreadableReplyError, build_body, read_reply, request_settings
from steelyard.models.failures import Failure, failure_from_body, failure_from_status
from steelyard.models.keys import KEY_VARIABLES, find_key
from steelyard.models.masking import is_secret, mask_bytes, mask_data, mask_output, mask_text
from steelyard.models.pace import Pace
from steelyard.models.streaming import STREAMED, is_stream, whole_reply
from steelyard.models.transport import Answer, Timeouts, Transport
from steelyard.ports import Sampling, ToolSpec

_FIRST_CONTACT_TRIES = 4
_TOO_MUCH = ("rate-limit", "timeout")  # kinds of failure that ask for fewer calls at once
_OF_A_TRY = {"rate-limit": 0.2}  # most refusals are of our own making, by the calls beside this one
_LISTED_MODELS = 20
_LISTING_TIMEOUT_S = 10.0
MOST_REPLY_BYTES = 8_000_000
"""Of one reply, unpacked: 512 tokens with twenty log-probabilities each take a tenth of it."""

PROBE_AGENT = "steelyard-probe"
"""The User-Agent of requests that only look at what the endpoint does."""


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
        most_reply_bytes: int = MOST_REPLY_BYTES,
        extra_body: Mapping[str, Any] | None = None,
        stream: bool = False,
    ) -> None:
        """`base_url` with or without /v1; time-outs are of one try; `max_wait_s` caps each wait between tries.

        `most_in_flight` tries at once, None for as many as are called; `retries` of one call, where a refusal for too
        many requests counts as a fifth; `retry_budget` retries over all calls, and one more for every reply. A reply of
        more than `most_reply_bytes` is a CallError.

        `extra_body` are fields of every request. With `stream` replies come in pieces, so that no gateway takes a long
        one for a hang, and `read_timeout_s` is the time between two pieces.

        Without `api_key`, what `keys.find_key` finds; an empty text sends no key.
        """
        _not_negative(retries=retries, first_wait_s=first_wait_s, max_wait_s=max_wait_s, retry_budget=retry_budget)
        _positive(connect_timeout_s=connect_timeout_s, read_timeout_s=read_timeout_s, total_timeout_s=total_timeout_s)
        at_once = 1 if most_in_flight is None else most_in_flight
        _positive(most_in_flight=at_once, most_reply_bytes=most_reply_bytes)
        if not model:
            raise InputError(f"a model name is needed beside the address {base_url}")
        parts = _split(base_url)
        self._query = f"?{parts.query}" if parts.query else ""
        self._parts = parts
        self.base_url = _api_root(parts)
        self._model = model
        self._key = _key(api_key)
        self._timeouts = Timeouts(connect_timeout_s, read_timeout_s, total_timeout_s)
        self._retries = retries
        self._waits = (first_wait_s, max_wait_s)
        self._pace = Pace(most_in_flight, retry_budget=retry_budget)
        self._most_reply_bytes = most_reply_bytes
        self._extra_body = dict(extra_body or {})
        if is_secret(self._key) and self._key in self.base_url:
            raise InputError("the API key stands in the address, which every run keeps; leave it out there")
        if is_secret(self._key) and self._key in msgspec.json.encode(self._extra_body).decode():
            raise InputError("the API key stands in extra_body, which every record keeps; leave it out there")
        self._asked_for = {**(STREAMED if stream else {}), **self._extra_body}
        self._transport: Transport | None = None
        self._answered = False  # something, be it an error
        self._replied = False  # a chat completion
        self._closed = False

    def __repr__(self) -> str:
        return f"Endpoint({self.base_url!r}, {self._model!r})"

    @property
    def id(self) -> str:
        return self._model

    @property
    def endpoint(self) -> Endpoint:
        """What a probe talks to."""
        return self

    @property
    def answered(self) -> bool:
        """Whether anything has answered at this address, be it with an error."""
        return self._answered

    async def describe(self) -> dict[str, Any]:
        """What GET /models says of this model (`model`) or whatever it lists (`listed`); {} when it does not say."""
        entries = await self.listed()
        own = [entry for entry in entries if entry.get("id") == self._model]
        if own:
            return {"model": own[0]}
        return {"listed": entries[:_LISTED_MODELS]} if entries else {}

    async def listed(self) -> list[dict[str, Any]]:
        """The entries of GET /models; [] when it is not answered in time or as expected."""
        answer = await self._exchange(None, total_timeout_s=_LISTING_TIMEOUT_S)
        if isinstance(answer, Failure) or answer.status != 200:
            return []
        try:
            data = msgspec.json.decode(answer.body)["data"]
            return [mask_data(_lasting(entry), self._key) for entry in data]
        except (msgspec.DecodeError, UnicodeError, TypeError, KeyError, AttributeError, RecursionError):
            return []

    async def exchange(self, changes: Mapping[str, Any], timeout_s: float) -> Answer | Failure:
        """One chat request as it stands and its answer, without retries or pace; the key is masked in both ends.

        For probes: `changes` are fields of the body beside the model's name, which they may replace.
        """
        body = {"model": self._model, **self._extra_body, **changes}
        answer = await self._exchange(msgspec.json.encode(body), total_timeout_s=timeout_s, agent=PROBE_AGENT)
        if isinstance(answer, Failure):
            return msgspec.structs.replace(answer, words=mask_text(answer.words, self._key))
        return msgspec.structs.replace(answer, body=mask_bytes(answer.body, self._key))

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
        body = build_body(self._model, messages, sampling, seed, tools, response_format, self._asked_for)
        try:
            data = msgspec.json.encode(body)
        except (UnicodeEncodeError, TypeError) as error:
            raise CallError(f"this request cannot be written as JSON: {error}", kind="request") from error
        request = request_settings(body)
        tried, spent_tries = 0, 0.0
        while True:
            outcome = await self._paced(data, request)
            if isinstance(outcome, ModelOutput):
                return outcome
            tried += 1
            spent_tries += _OF_A_TRY.get(outcome.kind, 1.0)
            if (
                outcome.kind == "connection"
                and not self._answered
                and tried >= min(_FIRST_CONTACT_TRIES, self._retries + 1)
            ):
                raise PermanentError(
                    f"nothing answers at {self.base_url}; is the server running? ({outcome.words})", kind="connection"
                )
            if outcome.fate != "retry" or spent_tries > self._retries:
                raise self._error(outcome, tried)
            if not self._pace.may_retry():
                spent = msgspec.structs.replace(outcome, words=f"{outcome.words}; the run's retries are spent")
                raise self._error(spent, tried)
            await asyncio.sleep(self._wait_s(outcome, tried))

    async def close(self) -> None:
        """Drop the connections; a later call is a CallError."""
        self._closed = True
        if self._transport is not None:
            self._transport.close()

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
        """One request and what its answer means."""
        answer = await self._exchange(data)
        if isinstance(answer, Failure):
            return answer
        if answer.status != 200:
            return failure_from_status(answer.status, answer.headers.get, mask_bytes(answer.body, self._key))
        try:
            output = read_reply(answer.body, self._model, request, answer.seconds)
        except UnreadableReplyError as error:
            failure = self._unreadable(error, answer)
            if failure.kind == "not-an-api" and self._replied:  # it is one; a gateway's page has come between
                return msgspec.structs.replace(failure, kind="reply", fate="retry")
            return failure
        self._replied = True
        return mask_output(output, answer.body, self._key)

    async def _exchange(
        self, data: bytes | None, *, total_timeout_s: float | None = None, agent: str | None = None
    ) -> Answer | Failure:
        """One HTTP exchange: a chat request, or without `data` the list of models."""
        address = f"{self.base_url}/{'models' if data is None else 'chat/completions'}{self._query}"
        answer = await self._open().exchange(address, data, total_s=total_timeout_s, agent=agent)
        if isinstance(answer, Failure):
            self._answered = self._answered or answer.kind == "too-long"
            if answer.kind == "tls" and self._replied:  # it speaks TLS as asked; something between has not
                return msgspec.structs.replace(answer, kind="connection", fate="retry")
            return answer
        self._answered = True
        if answer.status != 200 or not is_stream(answer.headers.get("content-type", ""), answer.body):
            return answer
        try:
            return msgspec.structs.replace(answer, body=whole_reply(answer.body))
        except UnreadableReplyError as error:
            return self._unreadable(error, answer)

    def _unreadable(self, error: UnreadableReplyError, answer: Answer) -> Failure:
        """What a body under status 200 means that is no completion."""
        content_type = answer.headers.get("content-type", "")
        return failure_from_body(error, content_type, mask_bytes(answer.body, self._key))

    def _open(self) -> Transport:
        """The connections, made on first use."""
        if self._closed:
            raise CallError(f"the client of {self.base_url} was closed", kind="closed")
        if self._transport is None:
            self._transport = Transport(self._parts, self._headers(), self._timeouts, self._most_reply_bytes)
        return self._transport

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "steelyard"}
        return headers | ({"Authorization": f"Bearer {self._key}"} if self._key else {})

    def _wait_s(self, failure: Failure, tried: int) -> float:
        """Exponential with jitter; never shorter than the server asked, never longer than the cap."""
        first_s, max_s = self._waits
        own_s = first_s * 2 ** (tried - 1) * random.uniform(0.5, 1.0)
        return min(max_s, own_s if failure.wait_s is None else failure.wait_s + first_s * random.random())

    def _error(self, failure: Failure, tried: int) -> CallError | PermanentError:
        words = mask_text(f"{self.base_url} {failure.words}", self._key)
        if failure.fate == "run":
            return PermanentError(words)
        times = f" (tried {tried} times)" if tried > 1 else ""
        return CallError(words + times, kind=failure.kind)


def _not_negative(**settings: float) -> None:
    for name, value in settings.items():
        if value < 0:
            raise InputError(f"{name} must not be negative, got {value}")


def _positive(**settings: float) -> None:
    for name, value in settings.items():
        if value <= 0:
            raise InputError(f"{name} must be positive, got {value}")


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
