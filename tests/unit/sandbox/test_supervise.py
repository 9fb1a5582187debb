"""Watching one child: limits, output, and ending the tree."""

from __future__ import annotations

import os
import threading

import pytest

from steelyard.errors import InputError, SandboxFaultError
from steelyard.sandbox.supervise import Child, Ended, Stopped

_ENV = {"PATH": "/usr/bin:/bin"}


def _run(script: str, *, stdin: bytes = b"", wall_s: float = 20, output_bytes: int = 1000) -> Ended:
    return Child(["/bin/sh", "-c", script], stdin=stdin, env=_ENV).wait(wall_s, output_bytes, lambda: "")


def test_output_side_channel_and_exit_code_come_back() -> None:
    """Standard output is the output, standard error the side channel. [O-22]"""
    ended = _run("echo out; echo side >&2; exit 3")
    assert ("", 3, b"out\n", "side\n", False) == (ended.stopped, ended.rc, ended.output, ended.side, ended.truncated)


def test_a_large_input_that_nobody_reads_blocks_nothing() -> None:
    """Standard input is a file, not a pipe. [O-22]"""
    assert 0 == _run("exit 0", stdin=bytes(3_000_000)).rc
    assert b"5\n" == _run("wc -c | tr -d ' '", stdin=b"12345").output


def test_the_wall_clock_ends_a_child_that_ignores_signals() -> None:
    """Signals that can be ignored are not used. [O-22]"""
    ended = _run("trap '' TERM INT HUP; while :; do sleep 1; done", wall_s=0.3)
    assert ("timeout", -9) == (ended.stopped, ended.rc)


def test_output_over_the_limit_is_cut_and_ends_the_child() -> None:
    """Exactly the limit is kept. [O-22]"""
    ended = _run("yes", output_bytes=10)
    assert ("output", b"y\ny\ny\ny\ny\n", True) == (ended.stopped, ended.output, ended.truncated)


def test_output_of_exactly_the_limit_is_whole() -> None:
    """The limit itself is allowed. [O-22]"""
    ended = _run("printf 1234567890", output_bytes=10)
    assert ("", b"1234567890", False) == (ended.stopped, ended.output, ended.truncated)


def test_a_child_that_closes_its_output_is_still_waited_for() -> None:
    """The end is the process's end, not the end of its output. [O-22]"""
    assert 7 == _run("exec >&- 2>&-; sleep 0.3; exit 7").rc


def test_a_caller_s_own_limit_ends_a_child() -> None:
    """`check` may name a limit that only the caller sees. [O-22]"""

    def full() -> Stopped:
        return "disk"

    child = Child(["sleep", "30"], stdin=b"", env=_ENV)
    assert "disk" == child.wait(20, 1000, full).stopped


def test_another_thread_can_end_a_child() -> None:
    """`stop` works while `wait` waits, and is harmless afterwards. [O-22]"""
    child = Child(["sleep", "30"], stdin=b"", env=_ENV)
    timer = threading.Timer(0.2, child.stop, args=["closed"])
    timer.start()
    ended = child.wait(20, 1000, lambda: "")
    timer.join()
    child.stop("timeout")
    assert "closed" == ended.stopped


def test_what_cannot_be_started_is_an_input_or_a_fault() -> None:
    """A command line that is too long is the caller's, a missing launcher the sandbox's. [O-22]"""
    with pytest.raises(InputError, match="cannot be started"):
        Child(["echo", "x" * 10_000_000], stdin=b"", env=_ENV)
    with pytest.raises(SandboxFaultError, match="could not start /no/such"):
        Child(["/no/such"], stdin=b"", env=_ENV)


def test_an_interrupted_wait_ends_and_reaps_the_child() -> None:
    """Whatever interrupts the harness, no process and no zombie stays. [O-22]"""

    def interrupted() -> Stopped:
        raise KeyboardInterrupt

    child = Child(["sleep", "30"], stdin=b"", env=_ENV)
    with pytest.raises(KeyboardInterrupt):
        child.wait(20, 1000, interrupted)
    with pytest.raises(ChildProcessError):
        os.waitpid(child._process.pid, os.WNOHANG)
