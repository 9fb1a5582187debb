"""No hostile text makes a verifier dear: its cost is a bounded multiple of the cost of plain prose of the same length.

The ratio is taken within one process and in CPU time, so the speed of the machine drops out. It finds what
`test_linear_time` cannot: a text that costs a hundred times too much at every length.
"""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest

from steelyard.attempt import Attempt
from steelyard.verifiers.registry import Bound, bind_spec

pytestmark = pytest.mark.slow

LENGTH = 160_000
PROSE = "The sky is blue, and 12 birds fly. "
DEAREST = 40
FLOOR_S = 0.01
"""Prose that is read quicker than this counts as if it took so long."""

READERS: dict[str, tuple[dict[str, Any], str]] = {
    "fields": ({"name": "fields"}, '{"a": 1}'),
    "math": ({"name": "math"}, "5"),
    "order": ({"name": "order"}, '["a", "b"]'),
    "set": ({"name": "set"}, '["a", "b"]'),
    "time": ({"name": "time"}, "2024-01-01T00:00:00Z"),
    "yesno": ({"name": "yesno"}, "yes"),
}
PIECES = {
    "clock times": "12:00 ",
    "years and clock times": "2009 12:00 ",
    "times before dates": "16:55 on 10 Feb 2009 ",
    "basic instants": "20240101T000000Z ",
    "empty objects": "{}",
    "empty lists": "[]",
    "names in braces": "{a}",
    "open Python lists": "['a', ",
    "open sets": "{a, ",
    "list lines": "- a\n",
    "numbers in one line": "1) a ",
    "capitals that grow": "İ",
    "degree signs": "°",
    "everyday answers": "not at all. ",
    "asked words": "is it so? no? ",
    "exclamations": "5!",
    "repeating decimals": "0.333...",
    "backslashes": "\\",
}


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("reader", READERS)
def test_a_hostile_text_costs_at_most_forty_times_what_prose_costs(reader: str, piece: str) -> None:
    """One piece over and over, beside a plain sentence over and over. [T-13]"""
    bound = bind_spec(*READERS[reader])
    _cpu_s(bound, PROSE, 1_000)
    prose_s = max(FLOOR_S, min(_cpu_s(bound, PROSE, LENGTH) for _ in range(2)))
    assert DEAREST * prose_s > _cpu_s(bound, PIECES[piece], LENGTH)


def _cpu_s(bound: Bound, piece: str, length: int) -> float:
    """CPU seconds to read and decide `piece` repeated to a length in characters."""
    attempt = Attempt(answer=(piece * (length // len(piece) + 1))[:length])
    start = process_time()
    bound.decide(bound.read(attempt))
    return process_time() - start
