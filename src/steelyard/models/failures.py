"""Sorting of what can go wrong in one try of a model call: try again, give up the call, or stop the run.

Pure: statuses, headers and bodies in, a Failure out; the endpoint's own words are kept. Source: RFC 9110 for
Retry-After, and the error bodies of OpenAI, vLLM, llama.cpp and gateways. Easy to break: a context overflow is a
400 like any bad request, but it says something about one conversation and must not stop the run.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Literal

import msgspec

from steelyard.models.chat_format import UnreadableReplyError, error_words

Fate = Literal["retry", "call", "run"]

_RETRIED = {408: "timeout", 409: "conflict", 425: "server-error", 429: "rate-limit"}
_OVERFLOW = ("exceed_context_size_error", "context_length_exceeded", "maximum context length", "prompt is too long")
_ABOUT_ONE_ITEM = ("content_filter", "content_policy_violation", "invalid_prompt")
_NEXT_STEP = {
    401: "; set STEELYARD_API_KEY (or OPENAI_API_KEY) to a key that this endpoint accepts",
    403: "; this key may not use this model",
    404: "; check the base URL and the model name",
}
_IS_IT_AN_API = "is this URL an OpenAI-compatible API? it should end in /v1"


class Failure(msgspec.Struct, frozen=True):
    """One try's end. `fate`: `retry` it, the `call` failed, or the `run` stops; `wait_s` is what the server asked."""

    kind: str
    words: str
    fate: Fate
    wait_s: float | None = None


def failure_from_status(status: int, header: Callable[[str], str | None], body: bytes) -> Failure:
    """What a status other than 200 means; `header` looks a response header up by name."""
    text = body.decode(errors="replace")
    words = f"answered {status}: {_words(text)}"
    if 300 <= status < 400:
        there = (header("location") or "nowhere").split("?")[0]
        return Failure("redirect", f"{words} redirects to {there}; give that address as the base URL", "run")
    if status in _RETRIED or status >= 500:
        if "insufficient_quota" in text:
            return Failure("quota", words, "run")
        kind = _RETRIED.get(status, "server-error")
        return Failure(kind, words, "retry", wait_s=retry_after_s(header("retry-after"), datetime.now(UTC)))
    folded = text.lower()
    if status == 413 or (status in (400, 422) and any(sign in folded for sign in _OVERFLOW)):
        return Failure("context", words, "call")
    if status == 400 and any(sign in folded for sign in _ABOUT_ONE_ITEM):
        return Failure("content-filter", words, "call")
    return Failure("refused", words + _NEXT_STEP.get(status, ""), "run")


def failure_from_body(error: UnreadableReplyError, content_type: str, body: bytes) -> Failure:
    """What a body under status 200 means when it is no chat completion."""
    start = " ".join(body[:400].decode(errors="replace").split())[:80]
    if not start:
        return Failure("reply", "answered with an empty body", "retry")
    if not error.is_json and "json" not in content_type:
        kind = content_type.split(";", maxsplit=1)[0] or "no content type"
        return Failure("not-an-api", f'answered {kind}, which starts with "{start}"; {_IS_IT_AN_API}', "run")
    code = error.error.get("code") if isinstance(error.error, dict) else None
    if isinstance(code, int) and 400 <= code < 600:
        return failure_from_status(code, lambda _: None, body)
    return Failure("reply", f'answered {error}; it starts with "{start}"', "retry")


def retry_after_s(value: str | None, now: datetime) -> float | None:
    """Seconds to wait by a Retry-After header, which holds seconds or an HTTP date; None when it says nothing."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        pass
    else:
        return max(0.0, seconds) if math.isfinite(seconds) else None
    import email.utils  # a large package for a rare header

    try:
        moment = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds())


def _words(text: str) -> str:
    """The error's own words: the message inside a JSON error, else the start of the text on one line."""
    try:
        decoded = msgspec.json.decode(text)
        return " ".join(error_words(decoded).split())[:500] or "(an empty body)"
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return " ".join(text.split())[:500] or "(an empty body)"
