"""`code` on real contest submissions with published verdicts: what passed there passes the public samples here.

Authority: 880 submissions of o1-mini to LiveCodeBench problems (AtCoder, LeetCode, Codeforces) with their
`graded_list`. Read from the shared folder, never copied; every sixteenth that has samples in its problem's text. The
hidden tests are not there, so a submission that was graded wrong may pass the samples.
Named disagreements: `abc341_c` imports numpy, which no sandbox of ours shows.
"""

from __future__ import annotations

import ast
import gzip
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from steelyard.attempt import Attempt
from steelyard.canonical import canonical_text
from steelyard.item import Item
from steelyard.judging import judge
from steelyard.kit import ProbeKit
from steelyard.ports import Sandbox
from steelyard.store import Store
from steelyard.verdict import Verdict
from steelyard.verifiers.registry import bind

pytestmark = [pytest.mark.shared, pytest.mark.bubblewrap, pytest.mark.slow]

NEEDS_NUMPY = {"abc341_c"}
STEP = 16
PRELUDE = "import bisect, heapq, math\nfrom typing import *\nfrom collections import *\nfrom itertools import *\n"
_STREAMS = re.compile(r"Sample Input \d+\s*\n(.*?)\n\s*Sample Output \d+\s*\n(.*?)(?=\n\s*\n|\Z)", re.DOTALL)
_CALLS = re.compile(r"Input: (.*?)\nOutput: (.*?)\n", re.DOTALL)


def _target(row: dict[str, Any]) -> dict[str, Any] | None:
    """The samples of a problem's text as a target; None where it shows none."""
    text = row["question_content"]
    if not row["starter_code"]:
        streams = [{"stdin": given.strip() + "\n", "stdout": due} for given, due in _STREAMS.findall(text)]
        return {"mode": "stdin", "cases": streams} if streams else None
    found = re.search(r"def (\w+)\(self", row["starter_code"])
    calls = [call for sample in _CALLS.findall(text) if (call := _call(*sample))]
    return {"mode": "function", "entry_point": found[1], "cases": calls} if found and calls else None


def _call(given: str, due: str) -> dict[str, Any] | None:
    given = re.sub(r"\b(true|false|null)\b", lambda m: repr(json.loads(m[0])), given.replace("\n", " "))
    try:
        call = ast.parse(f"f({given})", mode="eval").body
        assert isinstance(call, ast.Call)
        return {"args": [ast.literal_eval(word.value) for word in call.keywords], "expected": json.loads(due)}
    except (SyntaxError, ValueError):
        return None


@pytest.fixture(scope="module")
def judged(
    shared: Path, bubblewrap: Sandbox, tmp_path_factory: pytest.TempPathFactory
) -> list[tuple[str, bool, Verdict]]:
    """Problem, published verdict, and ours on the samples, of every sixteenth submission."""
    with gzip.open(shared / "data" / "benchmarks" / "lcb_o1mini_submissions.json.gz", "rt", encoding="utf-8") as file:
        rows = [(row, target) for row in json.load(file) if (target := _target(row))]
    kit = ProbeKit(Store(tmp_path_factory.mktemp("store")), bubblewrap)

    def one(pair: tuple[dict[str, Any], dict[str, Any]]) -> tuple[str, bool, Verdict]:
        row, target = pair
        config = {"float_tol": 1e-6, "numbers": "equal", "prompt": PRELUDE if target["mode"] == "function" else ""}
        spec = {"name": "code", "timeout_s": 20.0, **config}
        item = Item(id=row["question_id"], input="Q", target=canonical_text(target), verifier=spec)
        attempt = Attempt(answer=row["output_list"][0])
        return item.id, row["graded_list"][0], judge(item, bind(item), attempt, kit=kit).verdict

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(one, rows[::STEP]))


def test_what_was_graded_right_passes_its_samples(judged: list[tuple[str, bool, Verdict]]) -> None:
    """Whole replies with prose and fences, scripts and `class Solution`; no false negative but the named one. [S-26]"""
    right = [(name, verdict) for name, graded, verdict in judged if graded]
    assert set() == {name for name, verdict in right if not verdict.passed} - NEEDS_NUMPY
    assert len(right) >= 30


def test_every_submission_is_decided(judged: list[tuple[str, bool, Verdict]]) -> None:
    """None is void, and some that were graded wrong fail their samples already."""
    assert [] == [name for name, _, verdict in judged if verdict.passed is None]
    assert any(verdict.passed is False for _, graded, verdict in judged if not graded)
