"""The peers of `graders.py`, run by an interpreter that has them: CPU seconds to grade rows from standard input.

Rows are JSON lines `{"reply": ..., "target": ...}`. `math-verify` is the verifier that public maths evals use;
`mcq-regex` is the pattern of lm-evaluation-harness's mmlu_pro tasks with MMLU-Pro's second pattern behind it.
One JSON object comes back: name, version, rows, right, cpu_s. Nothing here imports Steelyard.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from time import process_time

Grade = Callable[[str, str], bool]


def _math_verify() -> tuple[str, Grade]:
    from importlib.metadata import version  # only this peer needs it

    from math_verify import parse, verify  # absent from most environments

    return version("math-verify"), lambda reply, target: bool(verify(parse(f"${target}$"), parse(reply)))


def _mcq_regex() -> tuple[str, Grade]:
    first = re.compile(r"answer is \(?([A-J])\)?")
    second = re.compile(r".*[aA]nswer:\s*([A-J])")

    def grade(reply: str, target: str) -> bool:
        found = first.search(reply) or second.search(reply)
        return found is not None and found[1] == target

    return "lm-eval mmlu_pro", grade


PEERS = {"math-verify": _math_verify, "mcq-regex": _mcq_regex}


def main(name: str) -> None:
    """Grade the rows on standard input with one peer."""
    version, grade = PEERS[name]()
    rows = [json.loads(line) for line in sys.stdin]
    for row in rows[:20]:
        grade(row["reply"], row["target"])  # what is compiled on first use is not what is measured
    start = process_time()
    right = sum(grade(row["reply"], row["target"]) for row in rows)
    used = process_time() - start
    print(json.dumps({"name": name, "version": version, "rows": len(rows), "right": right, "cpu_s": used}))


if __name__ == "__main__":
    main(sys.argv[1])
