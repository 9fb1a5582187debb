"""Slow decisions in children: reuse, time-outs, crashes, threads, and ending."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard import workers
from steelyard.errors import InputError
from steelyard.verdict import Reading, Verdict

MATH = {"name": "math"}
SLOW = Reading(r"1-\cos^2 x", "box")
TARGET = r"\sin^2 x"


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    workers.close()
    yield
    workers.close()


def _settle(timeout_s: float = 30.0) -> Verdict:
    return workers.settle(MATH, TARGET, None, SLOW, timeout_s=timeout_s)


def _pids() -> list[int]:
    return [w.process.pid for w in workers._POOL._idle]


def test_a_child_decides_and_is_used_again() -> None:
    """The second decision runs in the same process. [T-13]"""
    assert _settle().passed
    first = _pids()
    assert _settle().passed
    assert first == _pids()
    assert 1 == len(first)


def test_a_decision_that_takes_too_long_is_void_and_its_child_is_gone() -> None:
    """The child is killed, the next decision gets a fresh one. [T-13]"""
    verdict = _settle(timeout_s=1e-6)
    assert verdict.passed is None
    assert "timed out after 1e-06 s" == verdict.note
    assert [] == _pids()
    assert _settle().passed


def test_a_child_that_died_while_idle_is_replaced() -> None:
    """No decision is lost to it. [T-13]"""
    assert _settle().passed
    (pid,) = _pids()
    os.kill(pid, signal.SIGKILL)
    assert _settle().passed
    assert [pid] != _pids()


def test_a_job_that_a_dying_child_never_took_is_given_to_another() -> None:
    """Nothing was decided, so nothing is void. [T-13]"""
    assert _settle().passed
    (worker,) = workers._POOL._idle
    os.kill(worker.process.pid, signal.SIGSTOP)
    found: list[Verdict] = []
    thread = threading.Thread(target=lambda: found.append(_settle()))
    thread.start()
    while worker.jobs < 2:
        time.sleep(0.01)  # the job is on its way to a child that does not read
    os.kill(worker.process.pid, signal.SIGKILL)
    thread.join()
    assert found[0].passed


def test_a_verifier_that_is_unknown_in_the_child_is_void() -> None:
    """A crash of the grader is never a wrong answer. [T-13]"""
    verdict = workers.settle({"name": "no-such-verifier"}, "1", None, SLOW)
    assert verdict.passed is None
    assert "no-such-verifier" in verdict.note


def test_a_time_out_must_be_positive() -> None:
    """A wrong argument raises at once. [T-13]"""
    with pytest.raises(InputError, match="timeout_s"):
        _settle(timeout_s=0)


def test_several_threads_share_at_most_as_many_children_as_cpus() -> None:
    """Every thread gets its verdict. [T-13]"""
    passed: list[bool | None] = []
    threads = [threading.Thread(target=lambda: passed.append(_settle().passed)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [True] * 5 == passed
    assert len(_pids()) <= workers._cpus()


def test_memory_is_limited_in_the_child() -> None:
    """An allocation past the limit fails in the child instead of filling the machine. [T-13]"""
    code = "import steelyard.workers as w; w.MEMORY_BYTES = 1 << 28; w._limit_memory(); bytearray(1 << 29)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "MemoryError" in done.stderr


def test_children_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    """Even when it is killed and can close nothing. [T-13]"""
    code = (
        "import os, signal; from steelyard import workers; workers.warm();"
        "print(workers._POOL._idle[0].process.pid, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    child = int(done.stdout)
    deadline = time.monotonic() + 30
    while _alive(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _alive(child)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def test_a_module_in_the_working_folder_is_not_taken_for_a_library(tmp_path: Path) -> None:
    """A file that a model wrote beside the run must not be imported. [T-13]"""
    (tmp_path / "mpmath.py").write_text("raise SystemExit('imported from the working folder')")
    code = (
        "from steelyard import workers; from steelyard.verdict import Reading;"
        f"print(workers.settle({MATH!r}, {TARGET!r}, None, Reading({SLOW.value!r}, 'box'), timeout_s=30).passed)"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "True\n" == done.stdout
