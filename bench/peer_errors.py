"""How often peers err on labelled grader cases: counts for docs/formats/measured.json.

    PEER_PYTHON bench/peer_errors.py PEER CASES.jsonl

Runs in the peer's own environment and imports nothing of Steelyard. PEER is `math-verify` (kinds math and numeric),
`lm-eval` (numeric: flexible-extract; mcq: the pattern of its mmlu_pro tasks with MMLU-Pro's second one) or `inspect`
(exact, numeric, mcq: `match()` and `choice()`). Rows without a label and policy rows are left out; a crash counts as
a refusal. One JSON object comes back: kind -> {name, n, false_negatives, false_positives}.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Case = dict[str, Any]
Judge = Callable[[Case], bool]


def _math_verify() -> tuple[str, dict[str, Judge]]:
    from importlib.metadata import version

    from math_verify import parse, verify

    def judge(case: Case) -> bool:
        target = case["target"] if "$" in case["target"] else f"${case['target']}$"
        return bool(verify(parse(target), parse(case["response"])))

    return f"math-verify {version('math-verify')}", {"math": judge, "numeric": judge}


def _lm_eval() -> tuple[str, dict[str, Judge]]:
    number = re.compile(r"(-?[$0-9.,]{2,})|(-?[0-9]+)")
    first, second = re.compile(r"answer is \(?([A-J])\)?"), re.compile(r".*[aA]nswer:\s*([A-J])")

    def numeric(case: Case) -> bool:
        found = ["".join(match) for match in number.findall(case["response"])]
        return bool(found) and re.sub(r"[,$]|\.$", "", found[-1]) == re.sub(r"[,$]|\.$", "", case["target"])

    def mcq(case: Case) -> bool:
        found = first.search(case["response"]) or second.search(case["response"])
        return found is not None and found[1] == case["target"]

    return "lm-eval patterns", {"numeric": numeric, "mcq": mcq}


def _inspect() -> tuple[str, dict[str, Judge]]:
    import inspect_ai
    from inspect_ai.model import ModelName, ModelOutput
    from inspect_ai.scorer._common import match_str
    from inspect_ai.solver import TaskState
    from inspect_ai.solver._multiple_choice import parse_answers

    def text(case: Case) -> bool:
        return match_str(case["response"], case["target"], location="exact")[1]

    def numeric(case: Case) -> bool:
        return match_str(case["response"], case["target"], location="end", numeric=True)[1]

    def mcq(case: Case) -> bool:
        options = list(case.get("options") or case.get("choices") or "ABCD")
        state = TaskState(
            ModelName("mock/model"),
            0,
            0,
            "",
            [],
            choices=options,
            output=ModelOutput.from_content("m", case["response"]),
        )
        return parse_answers(state, False) == {case["target"]}

    return f"Inspect {inspect_ai.__version__}", {"exact": text, "numeric": numeric, "mcq": mcq}


PEERS = {"math-verify": _math_verify, "lm-eval": _lm_eval, "inspect": _inspect}


def main(peer: str, path: str) -> None:
    """Judge the cases of one file with one peer."""
    name, judges = PEERS[peer]()
    counts: dict[str, dict[str, Any]] = {}
    cases = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    for case in cases:
        if case["kind"] not in judges or case["expected"] is None or case.get("policy_dependent"):
            continue
        try:
            passed = judges[case["kind"]](case)
        except Exception:  # noqa: BLE001  # a peer that crashes on a case has not accepted it
            passed = False
        found = counts.setdefault(case["kind"], {"name": name, "n": 0, "false_negatives": 0, "false_positives": 0})
        found["n"] += 1
        found["false_negatives"] += case["expected"] and not passed
        found["false_positives"] += passed and not case["expected"]
    print(json.dumps(counts))


if __name__ == "__main__":
    main(*sys.argv[1:3])
