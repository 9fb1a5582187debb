r"""`math` on 400 replies of a Qwen model to 50 MATH-500 problems, beside the scores that are stored with them.

Authority: the scores stored with the replies. Read from the shared folder, never copied. Named disagreements, 8 of 400,
all of problem 3: the target is the time 4:30 p.m., spoilt to `4:30p..` in the file, and all eight replies box
`4:30 \text{ p.m.}`. They say what the target means, and the stored scores call them wrong.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steelyard.attempt import Attempt
from steelyard.verdict import Undecided
from steelyard.verifiers.registry import bind_spec

pytestmark = pytest.mark.shared

STORED_WRONG = {(3, reply): (False, True) for reply in range(8)}
"""(problem, reply) -> (stored score, our verdict)."""


@pytest.fixture(scope="module")
def verdicts(shared: Path) -> dict[tuple[int, int], tuple[bool, Any]]:
    """The stored score and the verdict of the fast path, by (problem, reply)."""
    found: dict[tuple[int, int], tuple[bool, Any]] = {}
    for row in _rows(shared / "data" / "benchmarks" / "math50x8_qwen_outputs.jsonl"):
        bound = bind_spec({"name": "math"}, row["answer"])
        for index, (reply, score) in enumerate(zip(row["responses"], row["score"], strict=True)):
            found[row["idx"], index] = (score, bound.decide(bound.read(Attempt(answer=reply))))
    return found


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def test_no_ordinary_reply_needs_the_symbolic_path(verdicts: dict[tuple[int, int], tuple[bool, Any]]) -> None:
    """The fast, exact rules decide all 400. [T-13]"""
    assert (400, []) == (len(verdicts), [key for key, (_, got) in verdicts.items() if isinstance(got, Undecided)])


def test_the_stored_scores_are_met_but_where_they_are_wrong(
    verdicts: dict[tuple[int, int], tuple[bool, Any]],
) -> None:
    """Exactly the eight replies to problem 3 differ. [T-13]"""
    differ = {key: (want, got.passed) for key, (want, got) in verdicts.items() if got.passed is not want}
    assert STORED_WRONG == differ
