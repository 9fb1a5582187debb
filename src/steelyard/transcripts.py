"""What a stored transcript says: which calls were made, what came back, and where two transcripts part.

A transcript is read again with the run's own protocol, so that a metric invented later needs no new run (O-15).
Not covered: judging (`grounded` and `judging` do that) and token counts, which are the endpoint's own.
Easy to break: pairing. Every call has one tool message, in the order of the calls; native ones are paired by id. The
calls of a last turn that ended the conversation have none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any

import msgspec

from steelyard.attempt import Attempt, Message, ModelOutput
from steelyard.item import Item
from steelyard.parsing.toolcalls import ParsedCall
from steelyard.solvers.protocols import read_reply
from steelyard.solvers.settings import Protocol
from steelyard.solvers.toolbox import tool_specs

ERROR = "error: "
"""Begins the result of a call that could not be read, and of a tool that refused."""


class Exchange(msgspec.Struct, frozen=True):
    """One call, and the text that the model got back; None when the conversation ended before."""

    call: ParsedCall
    result: str | None

    @property
    def is_valid(self) -> bool:
        """Whether the call could be read and fits its tool."""
        return not self.call.error

    @property
    def is_refused(self) -> bool:
        """Whether a valid call was refused by its tool."""
        return self.is_valid and self.result is not None and self.result.startswith(ERROR)


def exchanges(item: Item, attempt: Attempt, protocol: Protocol) -> list[Exchange]:
    """Every call of an attempt with its result, in order."""
    tools = {spec.name: spec for spec in tool_specs(item)}
    found: list[Exchange] = []
    open_calls: list[tuple[ParsedCall, str]] = []
    for turn, message in enumerate(attempt.messages):
        if message.role == "assistant":
            found += [Exchange(call, None) for call, _ in open_calls]
            said = ModelOutput("", texts=[message.content], tool_calls=message.tool_calls)
            open_calls = list(read_reply(protocol, said, tools, turn).calls)
        elif message.role == "tool" and open_calls:
            at = _place(open_calls, message)
            found.append(Exchange(open_calls.pop(at)[0], message.content))
    return found + [Exchange(call, None) for call, _ in open_calls]


def _place(open_calls: Sequence[tuple[ParsedCall, str]], message: Message) -> int:
    ids = [call_id for _, call_id in open_calls]
    return ids.index(message.tool_call_id) if message.tool_call_id in ids else 0


class Difference(msgspec.Struct, frozen=True):
    """The first message in which two transcripts differ, and who wrote it (a message's role; `end` for a missing one).

    `index` counts messages from 0; `first` and `second` are the two contents, None where one transcript had ended.
    """

    index: int
    author: str
    first: str | None
    second: str | None


def first_difference(first: Attempt, second: Attempt) -> Difference | None:
    """Where two attempts at one item part, None when every message is equal.

    Compares what the model met and said; times, token counts and response ids are no part of it.
    """
    pairs = [(_said(a), _said(b)) for a, b in zip(first.messages, second.messages, strict=False)]
    for index, (one, other) in enumerate(pairs):
        if one != other:
            return Difference(index, _author(first.messages[index].role), one, other)
    longer = max(first.messages, second.messages, key=len)
    if len(pairs) < len(longer):
        left, right = (_said(a.messages[len(pairs)]) if len(a.messages) > len(pairs) else None for a in (first, second))
        return Difference(len(pairs), _author(longer[len(pairs)].role), left, right)
    if (first.answer, first.stop) != (second.answer, second.stop):
        return Difference(len(pairs), "model", f"{first.stop}: {first.answer}", f"{second.stop}: {second.answer}")
    return None


def _said(message: Message) -> str:
    if not message.tool_calls:
        return message.content
    calls = [f"{call.name}({call.arguments})" for call in message.tool_calls]
    return "\n".join([message.content, *calls])


def _author(role: str) -> str:
    return "model" if role == "assistant" else role


class TalkCounts(msgspec.Struct):
    """What many tool transcripts add up to; `add` takes one attempt at a time, so memory stays flat."""

    attempts: int = 0
    turns: list[int] = []
    calls: int = 0
    valid_calls: int = 0
    tool_errors: int = 0
    stops: dict[str, int] = {}
    output_tokens: int = 0
    input_tokens: int = 0
    uncounted: int = 0

    def add(self, attempt: Attempt, made: Sequence[Exchange]) -> None:
        """Count one attempt and its exchanges."""
        self.attempts += 1
        self.turns.append(len(attempt.outputs))
        self.calls += len(made)
        self.valid_calls += sum(exchange.is_valid for exchange in made)
        self.tool_errors += sum(exchange.is_refused for exchange in made)
        self.stops[attempt.stop] = self.stops.get(attempt.stop, 0) + 1
        usage = attempt.usage
        if usage is None or usage.input_tokens is None or usage.output_tokens is None:
            self.uncounted += 1
        else:
            self.input_tokens += usage.input_tokens
            self.output_tokens += usage.output_tokens

    def figures(self) -> dict[str, Any]:
        """The figures of a report; a rate without a denominator is None."""
        return {
            "n_attempts": self.attempts,
            "calls": self.calls,
            "valid_calls": self.valid_calls,
            "valid_call_rate": self.valid_calls / self.calls if self.calls else None,
            "tool_errors": self.tool_errors,
            "mean_turns": fmean(self.turns) if self.turns else None,
            "stops": dict(sorted(self.stops.items())),
            "input_tokens": self.input_tokens if self.uncounted < self.attempts else None,
            "output_tokens": self.output_tokens if self.uncounted < self.attempts else None,
            "n_without_token_counts": self.uncounted,
        }


def valid_results(made: Sequence[Exchange]) -> Iterator[Exchange]:
    """The exchanges in which a valid call was answered by a tool that did its work."""
    return (e for e in made if e.is_valid and e.result is not None and not e.is_refused)
