"""What an endpoint does with the settings that a run relies on: one check a setting, by a few short requests.

Each check asks, looks at the answer and states a Finding; it never trusts a status alone, since many servers accept
what they then ignore (`tool_choice` and `n` of llama.cpp's server are the best known).
Not covered: streaming, images, and whether an answer is any good.
Easy to break: `refused` is the server's own no (a 4xx); what timed out, broke or was rate-limited stays `unknown`.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from steelyard.attempt import ModelOutput
from steelyard.models.chat_format import UnreadableReplyError, read_reply
from steelyard.models.failures import Failure, failure_from_body, failure_from_status

if TYPE_CHECKING:  # it brings the HTTP client, which a scripted run does without
    from steelyard.models.endpoint import Endpoint

State = Literal["works", "not honoured", "refused", "unknown"]

LONGEST_CONTEXT = 32_768
"""Tokens; a longer context is not tried out, since the endpoint may be paid by the token."""

_TOKENS = 12
_LONGER = 24
_SEEDS = (11, 12, 13)
_AT_ONCE = 4
_RANDOM = "Write a random string of twelve letters, then a sentence about the sea."
_LONG = "Count from one to a hundred in words, and say something about each number."
_OTHER = "Name a colour."
_UNKNOWN_MODEL = "steelyard-no-such-model"
_VERDICTS = ("amber-17", "cobalt-42")
_SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": list(_VERDICTS)}},
    "required": ["verdict"],
    "additionalProperties": False,
}
_TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": f"tells the {what}",
            "parameters": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
        },
    }
    for name, what in (("steelyard_time", "time of day"), ("steelyard_tide", "height of the tide"))
]
_CONTEXT_NAMES = ("n_ctx", "max_model_len", "context_length", "context_window", "max_context_length")


class Finding(msgspec.Struct, frozen=True):
    """One line of a probe: what was tried, how it ended, and what was seen."""

    name: str
    state: State
    seen: str


class Reply(msgspec.Struct, frozen=True):
    """One answer: an output, or why there is none. `data` is the whole decoded reply."""

    output: ModelOutput | None = None
    data: Any = None
    status: int = 0
    failure: Failure | None = None

    @property
    def said(self) -> str:
        """Reasoning and text of the first choice."""
        if self.output is None:
            return ""
        return "".join([*self.output.reasoning_texts[:1], *self.output.texts[:1]])

    def no(self, name: str) -> Finding:
        """The finding for an answer that holds no output."""
        words = self.failure.words if self.failure else "no reply"
        refused = self.failure is not None and 400 <= self.status < 500 and self.failure.fate != "retry"
        return Finding(name, "refused" if refused else "unknown", words[:200])


class Asker:
    """Sends a probe's requests, each with its time-out, none after `deadline` (monotonic)."""

    def __init__(self, endpoint: Endpoint, *, timeout_s: float, total_s: float) -> None:
        self._endpoint = endpoint
        self._timeout_s = timeout_s
        self._deadline = time.monotonic() + total_s
        self.requests = 0

    def stop(self) -> None:
        """Ask nothing more: who did not answer once in time would hold up every further line."""
        self._deadline = -math.inf

    async def ask(self, prompt: str = _RANDOM, **changes: Any) -> Reply:
        """One answer; a failure of any kind is in the Reply."""
        left_s = min(self._timeout_s, self._deadline - time.monotonic())
        if left_s <= 0:
            return Reply(failure=Failure("timeout", "not asked: the time of the probe was over", "retry"))
        self.requests += 1
        body = {"messages": [{"role": "user", "content": prompt}], "max_tokens": _TOKENS, "temperature": 0, **changes}
        answer = await self._endpoint.exchange(body, left_s)
        if isinstance(answer, Failure):
            return Reply(failure=answer)
        if answer.status != 200:
            failure = failure_from_status(answer.status, answer.headers.get, answer.body)
            return Reply(status=answer.status, failure=failure)
        try:
            output = read_reply(answer.body, self._endpoint.id, {}, answer.seconds)
            return Reply(output, msgspec.json.decode(answer.body), 200)
        except UnreadableReplyError as error:
            content_type = answer.headers.get("content-type", "")
            return Reply(status=200, failure=failure_from_body(error, content_type, answer.body))
        except (msgspec.DecodeError, RecursionError) as error:  # in a field that no completion has
            return Reply(status=200, failure=Failure("reply", f"answered {error}", "retry"))


async def check_seed(asker: Asker) -> tuple[list[Finding], Reply]:
    """`seed` at temperature 1, and what every reply should carry; also the first reply, for who comes next."""
    replies = [await asker.ask(temperature=1, seed=seed) for seed in (_SEEDS[0], _SEEDS[0], _SEEDS[1])]
    first, again, other = replies
    for reply in replies:
        if reply.output is None:
            return [reply.no(name) for name in ("seed", "usage", "finish_reason")], first
    if first.said == again.said == other.said:  # once in a while two seeds agree by chance
        other = await asker.ask(temperature=1, seed=_SEEDS[2])
    return [_seed(first, again, other), _usage(first), _finish_reason(first)], first


def _seed(first: Reply, again: Reply, other: Reply) -> Finding:
    if other.output is None:
        return other.no("seed")
    if not first.said and not other.said:
        return Finding("seed", "unknown", "every reply was empty")
    if first.said != again.said:
        return Finding("seed", "not honoured", f"seed {_SEEDS[0]} gave two texts at temperature 1")
    if first.said == other.said:
        return Finding("seed", "not honoured", "all seeds gave the same text at temperature 1")
    return Finding("seed", "works", "the same seed twice gave one text, another seed another")


def _usage(reply: Reply) -> Finding:
    usage = reply.output.usage if reply.output else None
    if usage is None or usage.input_tokens is None or usage.output_tokens is None:
        return Finding("usage", "not honoured", "a reply does not say its tokens; caps on tokens cannot be held")
    seen = f"{usage.input_tokens} in, {usage.output_tokens} out (at most {_TOKENS} asked for)"
    return Finding("usage", "works" if 0 < usage.output_tokens <= _TOKENS else "not honoured", seen)


def _finish_reason(reply: Reply) -> Finding:
    reason = reply.output.finish_reasons[0] if reply.output and reply.output.finish_reasons else ""
    if not reason:
        return Finding("finish_reason", "not honoured", "a reply does not say how it ended; cut answers go unseen")
    return Finding("finish_reason", "works", f'"{reason}"')


async def check_determinism(asker: Asker) -> tuple[list[Finding], Reply]:
    """Whether a greedy reply repeats itself, after another request and beside others; also that reply."""
    first = await asker.ask(_LONG, max_tokens=_LONGER)
    if first.output is None:
        return [first.no("repeatable alone"), first.no("repeatable at once")], first
    logprobs = await _logprobs(asker)
    again = await asker.ask(_LONG, max_tokens=_LONGER)
    alone = _repeats("repeatable alone", first, [again], "at temperature 0, with another request between")
    beside = await asyncio.gather(*(asker.ask(_LONG, max_tokens=_LONGER) for _ in range(_AT_ONCE)))
    at_once = _repeats("repeatable at once", first, beside, f"at temperature 0, {_AT_ONCE} at once against one alone")
    return [alone, at_once, logprobs], first


def _repeats(name: str, first: Reply, others: list[Reply], how: str) -> Finding:
    for reply in others:
        if reply.output is None:
            return reply.no(name)
    if not any(reply.said for reply in (first, *others)):
        return Finding(name, "unknown", "every reply was empty")
    same = sum(reply.said == first.said for reply in others)
    return Finding(name, "works" if same == len(others) else "not honoured", f"{same} of {len(others)} equal {how}")


async def _logprobs(asker: Asker) -> Finding:
    reply = await asker.ask(_OTHER, logprobs=True, top_logprobs=2)
    if reply.output is None:
        return reply.no("logprobs")
    got = reply.output.logprobs[0] if reply.output.logprobs else None
    tokens = got.get("content") if isinstance(got, Mapping) else None
    if not isinstance(tokens, list) or not tokens or not isinstance(tokens[0], Mapping) or "logprob" not in tokens[0]:
        return Finding("logprobs", "not honoured", "asked for, not in the reply")
    top = tokens[0].get("top_logprobs")
    return Finding("logprobs", "works", f"of {len(tokens)} tokens, {len(top) if isinstance(top, list) else 0} a place")


async def check_stop(asker: Asker, greedy: Reply) -> Finding:
    """`stop` with a word that the greedy reply is known to hold."""
    words = greedy.said.split()
    later = [word for word in words[1:] if len(word) > 1 and Counter(words)[word] == 1 and words[0].find(word) < 0]
    if not later:
        return Finding("stop", "unknown", "the greedy reply has no second word to stop at")
    word = later[0]
    reply = await asker.ask(_LONG, max_tokens=_LONGER, stop=[word])
    if reply.output is None:
        return reply.no("stop")
    if word in reply.said:
        return Finding("stop", "not honoured", f'the reply went on past "{word}"')
    reason = reply.output.finish_reasons[0] if reply.output.finish_reasons else ""
    return Finding("stop", "works", f'ended before "{word}", finish reason "{reason}"')


async def check_choices(asker: Asker) -> list[Finding]:
    """`n`, and whether `usage` counts all of the choices."""
    reply = await asker.ask(_LONG, n=2, temperature=1, seed=_SEEDS[0])
    if reply.output is None:
        return [reply.no("n"), reply.no("usage of n")]
    got = len(reply.output.texts)
    if got != 2:
        return [
            Finding("n", "not honoured", f"asked for 2 choices, got {got}"),
            Finding("usage of n", "unknown", "there is one choice"),
        ]
    many = Finding("n", "works", "2 of 2 choices; a run sends one request a rollout all the same")
    usage = reply.output.usage
    out = usage.output_tokens if usage else None
    if out is None or reply.output.finish_reasons != ["length", "length"]:
        return [many, Finding("usage of n", "unknown", "the replies do not show how many tokens both have")]
    if out > _TOKENS:
        return [many, Finding("usage of n", "works", f"{out} tokens for 2 choices of {_TOKENS}")]
    return [many, Finding("usage of n", "not honoured", f"counts one choice only: {out} tokens for 2 of {_TOKENS}")]


async def check_schema(asker: Asker) -> Finding:
    """`response_format` of type json_schema against a prompt that asks for no JSON at all."""
    form = {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": _SCHEMA}}
    reply = await asker.ask("Say hello.", response_format=form, max_tokens=48)
    if reply.output is None:
        return reply.no("json_schema")
    text = reply.output.texts[0].strip()
    try:
        verdict = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        cut = text.startswith("{") and reply.output.finish_reasons[:1] == ["length"]
        seen = f'"{text[:60]}"'
        return Finding("json_schema", "unknown" if cut else "not honoured", f"cut: {seen}" if cut else f"said {seen}")
    fits = isinstance(verdict, dict) and set(verdict) == {"verdict"} and verdict["verdict"] in _VERDICTS
    return Finding("json_schema", "works" if fits else "not honoured", f"said {text[:80]}")


async def check_tool_choice(asker: Asker) -> list[Finding]:
    """`tool_choice` as "required" and as one tool's name, against a prompt that needs no tool."""
    named = {"type": "function", "function": {"name": "steelyard_tide"}}
    return [
        await _tool_choice(asker, "tool_choice required", "required", ""),
        await _tool_choice(asker, "tool_choice named", named, "steelyard_tide"),
    ]


async def _tool_choice(asker: Asker, name: str, choice: Any, wanted: str) -> Finding:
    reply = await asker.ask("Say hello. Call nothing.", tools=_TOOLS, tool_choice=choice, max_tokens=48)
    if reply.output is None:
        return reply.no(name)
    called = [call.name for call in reply.output.tool_calls]
    if not called:
        return Finding(name, "not honoured", "accepted, and no tool was called")
    if wanted and called[0] != wanted:
        return Finding(name, "not honoured", f"{called[0]} was called instead of {wanted}")
    return Finding(name, "works", f"{called[0]} was called")


async def check_other_fields(asker: Asker) -> list[Finding]:
    """`echo` (log-probabilities of the prompt), and a field that no server knows."""
    reply = await asker.ask(_OTHER, echo=True, logprobs=True, steelyard_unknown_field=1)
    if reply.output is None:
        return [reply.no("echo"), reply.no("unknown fields")]
    data = reply.data if isinstance(reply.data, Mapping) else {}
    echoed = bool(data.get("prompt_logprobs")) or _OTHER in reply.said
    return [
        Finding("echo", "works", "the prompt came back")
        if echoed
        else Finding("echo", "not honoured", "ignored: no log-probabilities of the prompt"),
        Finding("unknown fields", "not honoured", "ignored: a misspelt setting goes unseen"),
    ]


async def check_model_name(asker: Asker) -> Finding:
    """Whether the name of a model that is not there is refused."""
    reply = await asker.ask(_OTHER, model=_UNKNOWN_MODEL, max_tokens=1)
    if reply.output is None:
        no = reply.no("model name")
        return Finding(no.name, "works", f"checked: {no.seen}") if no.state == "refused" else no
    return Finding("model name", "not honoured", f'ignored: "{_UNKNOWN_MODEL}" was answered as "{reply.output.model}"')


async def check_context(asker: Asker, listed: Mapping[str, Any], facts: Mapping[str, Any]) -> Finding:
    """What a prompt longer than the context meets; asked only where the context is known and short."""
    tokens = _context_tokens(listed, facts)
    if tokens is None:
        return Finding("context error", "unknown", "the endpoint does not list its context; nothing was sent")
    if tokens > LONGEST_CONTEXT:
        return Finding("context error", "unknown", f"a context of {tokens} tokens was not tried out")
    reply = await asker.ask("a " * (tokens + tokens // 4 + 64), max_tokens=1)
    if reply.failure is not None and reply.failure.kind == "context":
        return Finding("context error", "works", reply.failure.words[:200])
    if reply.output is None:
        no = reply.no("context error")
        words = f"a refusal that is not told apart from others: {no.seen}"
        return Finding(no.name, "not honoured", words) if no.state == "refused" else no
    taken = reply.output.usage.input_tokens if reply.output.usage else None
    return Finding(
        "context error", "not honoured", f"a prompt beyond {tokens} tokens was accepted ({taken} tokens counted)"
    )


def _context_tokens(listed: Mapping[str, Any], facts: Mapping[str, Any]) -> int | None:
    """The context that the server itself was started with, or lists; None when neither is known."""
    meta = listed.get("meta")
    places = (facts, listed, meta if isinstance(meta, Mapping) else {})
    for name in ("context_tokens", *_CONTEXT_NAMES):
        for place in places:
            if isinstance(value := place.get(name), int) and value > 0:
                return value
    return None
