"""What the runners share: forking, listening until an end or a limit, and what became of each case."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import pytest

from steelyard.verifiers import forked

JOB = {"case_s": 5.0, "value_bytes": 100, "report_bytes": 150}


def _heard(child: Callable[[int, int], None], kind: str = "calls", **job: Any) -> tuple[forked.Seen, int]:
    """What a forked child says and prints, and how it ended."""
    result, result_in = os.pipe()
    output, output_in = os.pipe()
    pid = forked.fork(lambda: child(result_in, output_in))
    forked.lead_group(pid)
    os.close(result_in)
    os.close(output_in)
    ended = os.pidfd_open(pid)
    seen = forked.Seen({**JOB, **job}, kind).collect(result, output, ended, time.monotonic() + 5)
    code = forked.end_group(pid)
    for handle in (result, output, ended):
        os.close(handle)
    return seen, code


def _says(*lines: str, code: int = 0) -> Callable[[int, int], None]:
    def child(result: int, _output: int) -> None:
        forked.write_all(result, "".join(lines).encode())
        os._exit(code)

    return child


@pytest.mark.parametrize(
    ("lines", "code", "said"),
    [
        (("R[1]\n", "R[2]\n"), 0, [("R[1]", 0), ("R[2]", 0)]),
        (("R[1]\n",), 3, [("R[1]", 0), ("", 3)]),
        (("R[1]\n", "Ehalf"), 0, [("R[1]", 0), ("Ehalf", 0)]),
        (("EValueError\n",), 0, [("EValueError", 0)]),
        (("R[1]\n", "R[2]\n", "R[3]\n"), 0, [("R[1]", 0), ("R[2]", 0)]),
    ],
)
def test_each_case_has_its_line_and_the_one_that_broke_has_the_end(
    lines: tuple[str, ...], code: int, said: list[tuple[str, int]]
) -> None:
    """Of two cases; what is said beyond them is nobody's. [S-19]"""
    seen, end = _heard(_says(*lines, code=code))
    assert said == [(report["said"], report["code"]) for report in seen.reports(2, end)]


@pytest.mark.parametrize(
    ("child", "job", "late"),
    [
        (_says("R" * 101), {}, "too-much-output"),
        (_says("R\n" * 76), {}, "too-much-output"),
        (_says("R\n" * 75), {}, ""),
        (lambda _result, output: forked.write_all(output, b"x" * 6401), {}, "too-much-output"),
        (lambda _result, output: forked.write_all(output, b"x" * 6400), {}, ""),
        (lambda _result, _output: time.sleep(60), {"case_s": 0.05}, "timed-out"),
    ],
)
def test_a_limit_that_is_passed_is_named(child: Callable[[int, int], None], job: dict[str, Any], late: str) -> None:
    """Values, reports, printed text and time; what is within a limit is not held against anybody. [S-20]"""
    assert late == _heard(child, **job)[0].late


def test_a_token_counts_only_whole_and_from_a_process_that_ended_well() -> None:
    """Where a case is decided inside, what it says must be the token. [O-26]"""
    said = [_heard(_says(f"P{token}\n", code=code), "program") for token, code in (("abc", 0), ("ab", 0), ("abc", 1))]
    assert ["P", "T", "T"] == [seen.reports(1, end, b"abc")[0]["said"][:1] for seen, end in said]


def test_a_process_that_is_left_behind_is_not_waited_for() -> None:
    """It may hold the pipes for as long as it likes; it is ended with its group. [S-19]"""

    def child(result: int, _output: int) -> None:
        if os.fork() == 0:
            time.sleep(60)
        forked.write_all(result, b"R\n")
        os._exit(0)

    started = time.monotonic()
    seen, code = _heard(child)
    assert ("", 0, True) == (seen.late, code, time.monotonic() - started < 30)


def test_sinks_keep_the_first_or_the_last_bytes() -> None:
    """However they come in. [O-26]"""
    first, last = bytearray(), bytearray()
    for data in (b"ab", b"cd", b"ef"):
        forked.first_of(first, 3)(data)
        forked.last_of(last, 3)(data)
    assert (b"abc", b"def") == (bytes(first), bytes(last))
