"""Statistics on real outcomes: published figures of tau-bench and GSM8K, read from the shared folder, never copied.

tau-bench (Yao et al. 2024) stores four trials of GPT-4o on 50 airline tasks; pass^1 to pass^4 are .420, .273, .220 and
.200. GSM8K (Cobbe et al. 2021) ships solutions of four models to the same 1,319 questions with their correctness.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from itertools import combinations
from pathlib import Path

import pytest

from steelyard.compare.figures import Counts, Criteria, Pair, figures
from steelyard.stats.passk import pass_table

pytestmark = pytest.mark.shared


def test_tau_benchs_stored_rewards_give_its_published_pass_hat_k(shared: Path) -> None:
    """Four trials of 50 tasks, three digits. [O-13] [S-17]"""
    with gzip.open(shared / "data" / "benchmarks" / "taubench_gpt4o_airline.json.gz") as file:
        rows = json.load(file)
    outcomes: dict[str, list[bool | None]] = defaultdict(list)
    for row in rows:
        outcomes[str(row["task_id"])].append(row["reward"] == 1.0)
    table = pass_table(outcomes)
    assert [0.420, 0.273, 0.220, 0.200] == [round(one.pass_hat_k, 3) for one in table]
    assert [(50, 0)] * 4 == [(one.n_items, one.n_short) for one in table]


MODELS = ("6b_finetuning", "175b_finetuning", "6b_verification", "175b_verification")
"""From worst to best by their published rates: 21.68, 34.72, 39.04 and 56.25 per cent."""


@pytest.fixture(scope="module")
def correct(shared: Path) -> dict[str, list[bool]]:
    """The published correctness of each model, item by item."""
    with (shared / "data" / "benchmarks" / "gsm8k_model_solutions.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return {model: [row[model]["is_correct"] for row in rows] for model in MODELS}


def _pairs(a: list[bool], b: list[bool]) -> list[Pair]:
    return [
        Pair(str(i), str(i), Counts(int(x), int(not x)), Counts(int(y), int(not y)))
        for i, (x, y) in enumerate(zip(a, b, strict=True))
    ]


def test_models_whose_published_rates_lie_apart_are_called_better_in_order(correct: dict[str, list[bool]]) -> None:
    """All six pairs; swapped, the word is the other one. [O-17]"""
    for low, high in combinations(MODELS, 2):
        assert "better" == figures(_pairs(correct[low], correct[high]), Criteria()).word
        assert "worse" == figures(_pairs(correct[high], correct[low]), Criteria()).word


def test_fewer_items_than_the_gap_needs_are_too_small_to_tell(correct: dict[str, list[bool]]) -> None:
    """175b fine-tuned against 6b verified, 4.3 points: 60 items cannot tell, and they say what they can. [T-20]"""
    found = figures(_pairs(correct[MODELS[1]], correct[MODELS[2]])[:60], Criteria())
    assert "too small to tell" == found.word
    assert found.mde is not None
    assert found.mde > 0.043
