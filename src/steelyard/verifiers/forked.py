"""Runs code of others in forked processes and hears what they say; sent into sandboxes beside the runners that use it.

Standard library only. A runner reads its job from stdin (eight digits, a length, then the job), forks a process for
what must be kept apart, reads its pipes until it ends or passes a limit, and ends it. Its report is one line on stdout
that begins with a nonce, which stands on stdin behind the job and is read after the last process is gone: nothing that
ran can know it.
What a process of a program says is lines, one a case; `Seen` holds them and when each came. The host uses it too, where
a process says its lines to the host itself.
Not covered: what leaves its process group; it dies with the sandbox, or in `end_all`.
Easy to break: importing more here than is used (the start is most of the cost), or reading past the job (the nonce
would be in the memory that children inherit).
"""

# Importing pathlib would cost each grading a tenth of its time.
# ruff: noqa: PTH123, PTH208

from __future__ import annotations

import os
import select
import sys
import time

TYPE_CHECKING = False  # typing itself would be a third of the start
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

_write, _read, _exit = os.write, os.read, os._exit  # kept from before any program could replace them
_CHUNK = 65536
_KILL = 9  # importing signal would cost more
_DISCARDED = 64  # printing in a case where output does not count may be this many times longer


def read_job() -> bytes:
    """The job on stdin, and not a byte of what stands behind it; EOFError where there is less."""
    return _read_exactly(int(_read_exactly(8)))


def write_report(report: str) -> None:
    """Read the nonce and write the report; for when nothing of others runs any more."""
    nonce = _read_exactly(32).decode()
    write_all(1, f"\n{nonce} {report}\n".encode())


def _read_exactly(count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = _read(0, count - len(data))
        if not more:
            raise EOFError(f"stdin ended after {len(data)} of {count} bytes")
        data += more
    return data


def write_all(handle: int, data: bytes) -> None:
    """Write the whole of it."""
    while data:
        data = data[_write(handle, data) :]


def fork(child: Callable[[], None]) -> int:
    """The id of a new process that does nothing but call `child`, which is to end it."""
    pid = os.fork()
    if pid == 0:
        try:
            child()
        finally:
            _exit(1)
    return pid


def place(handles: Sequence[tuple[int, int]]) -> None:
    """Give handles their numbers, in order; those below 3 stay open in programs that are started."""
    for handle, number in handles:
        os.dup2(handle, number, inheritable=number < 3)


def flush() -> None:
    """Write out what a program printed, as far as its streams still work."""
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            stream.flush()  # type: ignore[union-attr]  # None is an AttributeError
        except (OSError, ValueError, AttributeError):
            continue


def collect(ended: int, sinks: Mapping[int, Callable[[bytes], str]], until: Callable[[], float]) -> str:
    """Read handles into their sinks until `ended` is readable and nothing is left to read; "" then.

    Ends early with the reason that a sink gives, or with `timed-out` at `until`, in seconds of the monotonic clock.
    Whoever else still holds the other ends of the pipes is not waited for.
    """
    waits = select.poll()
    for handle in (*sinks, ended):
        waits.register(handle, select.POLLIN)
    while True:
        left = until() - time.monotonic()
        ready = [handle for handle, _ in waits.poll(max(left, 0) * 1000)]
        late = "timed-out" if left <= 0 else ""
        for handle in ready:
            if handle != ended:
                data = _read(handle, _CHUNK)
                if not data:
                    waits.unregister(handle)
                late = sinks[handle](data) or late
        if late or ready == [ended]:
            return late


def first_of(kept: bytearray, most: int) -> Callable[[bytes], str]:
    """A sink that keeps the first bytes."""

    def keep(data: bytes) -> str:
        kept.extend(data[: most - len(kept)])
        return ""

    return keep


def last_of(kept: bytearray, most: int) -> Callable[[bytes], str]:
    """A sink that keeps the last bytes."""

    def keep(data: bytes) -> str:
        kept.extend(data)
        del kept[:-most]
        return ""

    return keep


class Seen:
    """What a process of a program has said so far: lines, when each came, and its output, of which some may count."""

    def __init__(self, job: Mapping[str, Any], kind: str) -> None:
        self.said = bytearray()
        self.output = bytearray()
        self.times = [time.monotonic()]
        self.late = ""
        self._job, self._kind = job, kind
        self._output_bytes = 0

    def collect(self, result: int, output: int, ended: int, deadline: float) -> Seen:
        """Listen until the end, the time of all cases (`deadline`) or of one, or another limit of the job."""
        case_s = self._job["case_s"]
        sinks = {result: self._add_said, output: self._add_output}
        self.late = collect(ended, sinks, lambda: min(deadline, self.times[-1] + case_s))
        return self

    def _add_said(self, data: bytes) -> str:
        self.said += data
        self.times += [time.monotonic()] * data.count(b"\n")
        too_long = len(self.said) - self.said.rfind(b"\n") > self._job["value_bytes"]
        return "too-much-output" if too_long or len(self.said) > self._job["report_bytes"] else ""

    def _add_output(self, data: bytes) -> str:
        counts, most = self._kind == "stdin", self._job["value_bytes"]
        self._output_bytes += len(data)
        if len(self.output) <= most and counts:
            self.output += data
        return "too-much-output" if self._output_bytes > most * (1 if counts else _DISCARDED) else ""

    def reports(self, n_cases: int, code: int, token: bytes = b"") -> list[dict[str, Any]]:
        """What became of each case, up to the one that broke the process; `code` is how that ended, -n for signal n.

        A `program` case has passed only where it said the token.
        """
        *whole, rest = bytes(self.said).split(b"\n")
        whole = whole[:n_cases]
        if self._kind == "program" and whole and whole[0].startswith(b"P"):
            whole = [b"P" if whole[0][1:] == token and code == 0 else b"Tsomething else was written to the report"]
        if self._kind == "stdin":
            report = self._told(whole[0] if whole else rest, code, self.late, 0)
            return [{**report, "stdout": bytes(self.output).decode("utf-8", "backslashreplace")}]
        reports = [self._told(one, 0, "", number) for number, one in enumerate(whole)]
        if len(whole) < n_cases and all(one[:1] == b"R" for one in whole[-1:]):
            reports.append(self._told(rest, code, self.late, len(whole)))
        return reports

    def _told(self, said: bytes, code: int, late: str, number: int) -> dict[str, Any]:
        """The report of one case."""
        end = self.times[number + 1] if number + 1 < len(self.times) else time.monotonic()
        ms = int((end - self.times[number]) * 1000)
        return {"late": late, "code": code, "said": said.decode("utf-8", "replace"), "ms": ms}


def lead_group(pid: int) -> None:
    """Put a child at the head of its own process group, from whichever side is first."""
    try:
        os.setpgid(pid, pid)
    except OSError:  # it already is, or it has ended
        return


def end_group(pid: int) -> int:
    """Kill a child and what stayed in its group, and reap it; its exit code, -n for signal n."""
    try:
        os.killpg(pid, _KILL)
    except ProcessLookupError:  # it moved to another group, and there was nobody else in this one
        os.kill(pid, _KILL)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    try:  # orphans come here where this is the first process; unburied they would count against the next case
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
    return code


def end_all() -> None:
    """Kill and reap every process below this one; orphans come to this process where it is their subreaper."""
    for _ in range(100):
        pids = _descendants()
        for pid in pids:
            try:
                os.kill(pid, _KILL)
            except ProcessLookupError:
                continue
        try:
            while os.waitpid(-1, 0 if pids else os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return


def _descendants() -> list[int]:
    """Process ids below this one, from /proc; empty where there is none."""
    found: list[int] = []
    pending = [os.getpid()]
    while pending:
        pid = pending.pop()
        try:
            tasks = os.listdir(f"/proc/{pid}/task")
        except OSError:
            continue
        for task in tasks:
            try:
                with open(f"/proc/{pid}/task/{task}/children") as file:
                    children = [int(text) for text in file.read().split()]
            except OSError:
                continue
            found += children
            pending += children
    return found
