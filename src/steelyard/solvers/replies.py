"""What solvers read from a model's output: the text, the message it becomes, why it ended, and summed usage.

Not covered: splitting reasoning from text; the model client keeps both as the endpoint sent them.
Easy to break: usage. A total with one reply uncounted would be too low, so it is None (unknown) instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.attempt import Message, ModelOutput, Usage

_STOPS = {"": "answer", "stop": "answer", "eos": "answer", "tool_calls": "answer", "max_tokens": "length"}


def reply_text(output: ModelOutput) -> str:
    """The text of the one choice that was asked for; empty when there is none."""
    return output.texts[0] if output.texts else ""


def reply_message(output: ModelOutput) -> Message:
    """The assistant message that the conversation continues with."""
    return Message("assistant", reply_text(output), tool_calls=list(output.tool_calls))


def stop_reason(output: ModelOutput) -> str:
    """`answer` for a finished reply, `length` for one that was cut, else the endpoint's own word."""
    reason = output.finish_reasons[0] if output.finish_reasons else ""
    return _STOPS.get(reason, reason)


def total_usage(outputs: Sequence[ModelOutput]) -> Usage | None:
    """Tokens over all replies; a count is None when one reply lacks it, the whole when there is no count at all."""
    counted = [output.usage or Usage() for output in outputs]
    total = Usage(
        _sum([u.input_tokens for u in counted]),
        _sum([u.output_tokens for u in counted]),
        _sum([u.total_tokens for u in counted]),
    )
    return None if total == Usage() else total


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None
