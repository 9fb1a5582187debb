"""`number` on the answer text of 5,276 GSM8K solutions against the correctness that was published with them.

Authority: the example solutions of four models that ship with GSM8K (Cobbe et al. 2021) and their `is_correct`:
21.68, 39.04, 34.72 and 56.25 %. Read from the shared folder, never copied. Named disagreements: none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steelyard.attempt import Attempt
from steelyard.verifiers.registry import bind_spec

pytestmark = pytest.mark.shared

PUBLISHED = {"6b_finetuning": 21.68, "6b_verification": 39.04, "175b_finetuning": 34.72, "175b_verification": 56.25}
"""Per cent correct of 1,319."""


@pytest.fixture(scope="module")
def verdicts(shared: Path) -> dict[str, list[tuple[str, bool, bool | None]]]:
    """For each model, of every item: the solution, the published verdict and ours."""
    found: dict[str, list[tuple[str, bool, bool | None]]] = {model: [] for model in PUBLISHED}
    for row in _rows(shared / "data" / "benchmarks" / "gsm8k_model_solutions.jsonl"):
        bound = bind_spec({"name": "number"}, row["ground_truth"].rsplit("A:", 1)[1].strip())
        for model, judged in found.items():
            solution = row[model]["solution"]
            verdict = bound.decide(bound.read(Attempt(answer=solution)))
            judged.append((solution, row[model]["is_correct"], getattr(verdict, "passed", None)))
    return found


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def test_every_solution_gets_the_published_verdict(verdicts: dict[str, list[tuple[str, bool, bool | None]]]) -> None:
    """A disagreement is shown with the end of its solution. [T-13]"""
    differ = [(model, text[-80:]) for model, rows in verdicts.items() for text, want, got in rows if got is not want]
    assert [] == differ


@pytest.mark.parametrize("model", PUBLISHED)
def test_a_model_scores_what_was_published(
    model: str, verdicts: dict[str, list[tuple[str, bool, bool | None]]]
) -> None:
    """Per cent to two decimals, over all 1,319 items. [T-13]"""
    passed = [got is True for _, _, got in verdicts[model]]
    assert (1319, PUBLISHED[model]) == (len(passed), round(100 * sum(passed) / len(passed), 2))
