"""Reading and deciding take time in proportion to the length of the answer, on hostile texts too.

CPU time of a text and of one four times as long is compared within one process, so the speed of the machine drops out;
what would fail is a time that grows with the square (sixteen times), not a slow machine.
"""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest

from steelyard.attempt import Attempt
from steelyard.verifiers.registry import Bound, bind_spec

pytestmark = pytest.mark.slow

SHORT, TIMES = 40_000, 4
ALLOWED = 3 * TIMES
FLOOR_S = 0.04
"""Below this the clock measures chance: a long text that takes less is not compared."""

READERS: dict[str, tuple[dict[str, Any], str]] = {
    "choice": ({"name": "choice", "choices": ["a", "b", "c", "d"]}, "B"),
    "exact": ({"name": "exact"}, "paris"),
    "fields": ({"name": "fields"}, '{"a": 1}'),
    "grade": ({"name": "grade", "labels": {"A": "CORRECT", "B": "INCORRECT"}}, "CORRECT"),
    "math": ({"name": "math"}, "5"),
    "number": ({"name": "number"}, "5"),
    "number with a unit": ({"name": "number", "unit": "km"}, "5"),
    "one_of": ({"name": "one_of"}, '["a", "b"]'),
    "order": ({"name": "order"}, '["a", "b"]'),
    "set": ({"name": "set"}, '["a", "b"]'),
    "states": ({"name": "states"}, "paris"),
    "time": ({"name": "time"}, "2024-01-01T00:00:00Z"),
    "token": ({"name": "token"}, "paris"),
    "toolcalls": ({"name": "toolcalls"}, '[{"name": "a", "arguments": {}}]'),
    "yesno": ({"name": "yesno"}, "yes"),
}
PIECES = {
    "white space": " ",
    "line breaks": "\n",
    "one letter": "a",
    "letters": "A B C ",
    "capitals that grow": "İ",
    "emoji": "😀",
    "option lines": "B) x\n",
    "labels": "Answer: ",
    "committed answers": "the answer is 5. ",
    "suppositions": "if the answer is 5, ",
    "withdrawals": "wait, no. ",
    "denials": "it is not paris. ",
    "open boxes": "\\boxed{",
    "closed boxes": "\\boxed{1} ",
    "think blocks": "<think>a</think>",
    "empty think blocks": "<think></think>",
    "headings": "Question: x\n",
    "struck out": "~~a~~",
    "fences": "```json\n{\n```\n",
    "open objects": '{"a":',
    "whole objects": '{"a": 1} ',
    "escaped quotes": '"\\" ',
    "open calls": '<tool_call>{"name": "a"',
    "whole calls": "<tool_call>{}\n",
    "instants": "2024-01-01T00:00Z or ",
    "digit groups": "1,000,",
    "numbers": "1 ",
    "open fractions": "\\frac{1}{",
    "open brackets": "(",
    "bullets": "- x\n",
    "emphasis": "**",
}


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("reader", READERS)
def test_four_times_the_text_takes_far_less_than_sixteen_times_the_time(reader: str, piece: str) -> None:
    """One piece over and over, the commonest way to make a pattern run away."""
    bound = bind_spec(*READERS[reader])
    _cpu_s(bound, piece, SHORT // 10)
    long_s = _cpu_s(bound, piece, SHORT * TIMES)
    if long_s > FLOOR_S:
        assert long_s < ALLOWED * min(_cpu_s(bound, piece, SHORT) for _ in range(3))


def _cpu_s(bound: Bound, piece: str, length: int) -> float:
    """CPU seconds to read and decide `piece` repeated to a length in characters."""
    attempt = Attempt(answer=(piece * (length // len(piece) + 1))[:length])
    start = process_time()
    bound.decide(bound.read(attempt))
    return process_time() - start
