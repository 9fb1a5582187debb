"""Kept sandboxes whose first process has loaded one trusted module and forks a fresh sandbox for each job.

What happens inside, and what keeps two jobs apart, is in `zygote_inside`. Here is the host's side: starting one,
handing it an order (as handles: nothing travels through its memory), watching the job by a handle of its first
process, and a pool that lends each zygote to one job at a time. A zygote that is not as it should be after a job is
closed, never lent again; the caller then runs the command alone. After one that does not start, the pool stays empty.
Not covered: machines without cgroups for memory and processes (a job could then hurt its neighbours).
Easy to break: letting another process inherit the link; tying a zygote's life to the thread that started it.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import select
import signal
import socket
import subprocess
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import msgspec

from steelyard.errors import SandboxFaultError
from steelyard.sandbox.launch import STARTED
from steelyard.sandbox.supervise import Ended, Stopped

_SOURCE = Path(__file__).with_name("zygote_inside.py")
_START_S = 10.0
_END_S = 1.0  # how long an idle zygote may take to see that the link is closed
_CHUNK = 65536
_MOST_IDLE = 8


class Job(msgspec.Struct, frozen=True):
    """One run of the module: `files` of /work by path, tmpfs options by place, rlimits by number, `groups` to enter."""

    stdin: bytes
    wall_s: float
    output_bytes: int
    files: list[tuple[str, bytes]]
    tmpfs: list[tuple[str, str]]
    rlimits: list[tuple[int, int]]
    groups: list[str]


class Done(msgspec.Struct, frozen=True):
    """How a job ended; `left` processes were alive at its end, `full` says whether /work was."""

    ended: Ended
    left: int
    full: bool


class BrokenZygoteError(Exception):
    """A zygote did not do what it was asked to; the job has to be run alone."""


class Zygote:
    """One kept sandbox, for one job at a time; `close` ends it with all that is inside."""

    def __init__(self, bwrap: Sequence[str], flags: Sequence[str], module: str, preload: Sequence[str]) -> None:
        self._link, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        code = _memory(_SOURCE.read_bytes())
        with inside:
            text = f"exec(open({code}).read()); main({inside.fileno()}, {module!r}, {list(preload)!r})"
            try:
                self._process = subprocess.Popen(
                    [*bwrap, "--", "python3", *flags, "-c", text],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env={"PATH": "/usr/bin:/bin"},
                    pass_fds=(inside.fileno(), code),
                    start_new_session=True,
                )
            except OSError as error:
                self._link.close()
                raise BrokenZygoteError(str(error)) from error
            finally:
                os.close(code)
        self._first = -1
        self._link.settimeout(_START_S)
        try:
            self._first = self._told(b"ready")
        except BrokenZygoteError:
            self.close()
            raise

    def run(self, job: Job, over: Callable[[_Running], contextlib.AbstractContextManager[None]]) -> Done:
        """Run a job to its end, `over` it as long as it can be stopped; raises BrokenZygoteError."""
        order = {
            "folders": sorted({path[:at] for path, _ in job.files for at, letter in enumerate(path) if letter == "/"}),
            "files": job.files,
            "tmpfs": [(place.encode(), options.encode()) for place, options in job.tmpfs],
            "rlimits": job.rlimits,
        }
        started = time.monotonic()
        with _handles(job, marshal.dumps(order, 2)) as (sent, output, report):
            try:
                socket.send_fds(self._link, [b"x"], sent)
            except OSError as error:
                raise BrokenZygoteError(str(error)) from error
            while sent:  # the pipes must have no writer but the job
                os.close(sent.pop())
            running = _Running(self._told(b"born"))
            try:
                with over(running):
                    data, full = running.collect(self._link, output, started + job.wall_s, job.output_bytes)
                return self._done(running, data, full, report, started)
            finally:
                running.close()

    def close(self) -> None:
        """Hang up, end everything inside and wait until it is gone."""
        self._link.close()
        if self._first >= 0:
            select.select([self._first], [], [], _END_S)  # only what ends by itself is waited for, and its time counted
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._first, signal.SIGKILL)
            os.close(self._first)
            self._first = -1
        try:
            self._process.wait(_START_S)
        except subprocess.TimeoutExpired as error:
            self._process.kill()
            self._process.wait()
            raise SandboxFaultError(f"a kept sandbox is still there after {_START_S:.0f} s") from error

    def _told(self, word: bytes) -> int:
        """The handle that comes with this word."""
        try:
            text, handles, _, _ = socket.recv_fds(self._link, 16, 1)
        except OSError as error:
            raise BrokenZygoteError(str(error)) from error
        if text != word or not handles:
            raise BrokenZygoteError(f"expected {word.decode()!r} from inside, got {text!r}")
        os.set_inheritable(handles[0], False)
        return handles[0]

    def _done(self, running: _Running, output: bytes, full: bool, report: int, started: float) -> Done:
        try:
            rc, cpu_us = map(int, self._link.recv(64).split())
        except (OSError, ValueError) as error:
            raise BrokenZygoteError(f"it did not say how the job ended: {error}") from error
        said = _all_of(report).decode(errors="replace").splitlines()
        if said[:1] != ["started"] and not running.stopped:
            raise BrokenZygoteError(said[0] if said else "the job never started")
        left, disk_full = map(int, said[1].split()[1:]) if len(said) > 1 else (0, 0)
        ended = Ended(
            stopped=running.stopped,
            rc=rc if rc >= 0 else 128 - rc,  # as a shell says it, which is how it comes from commands run alone
            output=output,
            truncated=full,
            side=STARTED,
            wall_ms=(time.monotonic() - started) * 1000,
            cpu_ms=cpu_us / 1000,
        )
        return Done(ended, left, bool(disk_full))


class _Running:
    """The first process of a job; killing it ends everything in its pid namespace."""

    def __init__(self, handle: int) -> None:
        self.stopped: Stopped = ""
        self._handle = handle
        self._lock = threading.Lock()

    def stop(self, why: Stopped) -> None:
        """End the job; the first reason given stays. Safe from another thread and after the end."""
        with self._lock:
            if self._handle >= 0:
                self.stopped = self.stopped or why
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def collect(self, link: socket.socket, output: int, deadline: float, most: int) -> tuple[bytes, bool]:
        """Output until the zygote tells of the end, and whether there was more than `most`."""
        data, full, stopped_at = bytearray(), False, 0.0
        waits = select.poll()
        waits.register(output, select.POLLIN)
        waits.register(link, select.POLLIN)
        while True:
            until = stopped_at + _START_S if stopped_at else deadline
            ready = {handle for handle, _ in waits.poll(max(0.0, until - time.monotonic()) * 1000 + 1)}
            has_ended = link.fileno() in ready
            if output in ready or has_ended:
                full = _fill(output, data, most, waits, to_end=has_ended) or full
            if has_ended:
                return bytes(data), full
            now = time.monotonic()
            if stopped_at and now >= stopped_at + _START_S:
                raise BrokenZygoteError("a killed job is still there")
            if not stopped_at and (full or now >= deadline):
                stopped_at = now
                self.stop("output" if full else "timeout")

    def close(self) -> None:
        """Let go of the handle; from then on `stop` does nothing."""
        with self._lock:
            os.close(self._handle)
            self._handle = -1


def _fill(output: int, data: bytearray, most: int, waits: select.poll, *, to_end: bool) -> bool:
    """Read what is there (once, or all of it); True when there was more than `most`."""
    full = False
    while True:
        try:
            chunk = os.read(output, _CHUNK)
        except BlockingIOError:
            return full
        if not chunk:
            with contextlib.suppress(KeyError):
                waits.unregister(output)
            return full
        full = full or len(data) + len(chunk) > most
        data += chunk[: most - len(data)]
        if not to_end:
            return full


@contextlib.contextmanager
def _handles(job: Job, order: bytes) -> Iterator[tuple[list[int], int, int]]:
    """What is sent (order, stdin, output, report, groups) and the ends that are read here: output and report."""
    sent: list[int] = []
    mine: list[int] = []
    try:
        sent += [_memory(order), _memory(job.stdin)]
        output, output_in = os.pipe()
        mine.append(output)
        sent.append(output_in)
        report, report_in = os.pipe()
        mine.append(report)
        sent.append(report_in)
        for path in job.groups:
            sent.append(os.open(path, os.O_WRONLY | os.O_CLOEXEC))
        for handle in mine:
            os.set_blocking(handle, False)
        yield sent, output, report
    finally:
        for handle in (*sent, *mine):
            os.close(handle)


def _all_of(report: int) -> bytes:
    """What is in a pipe now."""
    try:
        return os.read(report, _CHUNK)
    except BlockingIOError:
        return b""


def _memory(data: bytes) -> int:
    """A file in memory with this content, at its start."""
    handle = os.memfd_create("steelyard")
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]
    os.lseek(handle, 0, os.SEEK_SET)
    return handle


class Keepable(Protocol):
    """What a pool keeps."""

    def close(self) -> None:
        """End it with all that it holds."""


Kept = TypeVar("Kept", bound=Keepable)


class Pool(Generic[Kept]):
    """Idle zygotes by what they were started for; of the process that started them alone, and closed when it ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[tuple[Hashable, Kept]] = []
        self._owner = os.getpid()
        self._is_off = False
        weakref.finalize(self, _close_all, self._idle, self._owner)

    def take(self, key: Hashable, start: Callable[[], Kept]) -> Kept | None:
        """One that is idle, or a new one; None when they do not work here, or in a process that was forked off."""
        with self._lock:
            if self._is_off or os.getpid() != self._owner:
                return None
            for number in range(len(self._idle) - 1, -1, -1):
                if self._idle[number][0] == key:
                    return self._idle.pop(number)[1]
        try:
            return start()
        except (BrokenZygoteError, SandboxFaultError):
            self.switch_off()
            return None

    def give(self, key: Hashable, kept: Kept) -> None:
        """Keep one for the next job; what was idle longest is closed when there are too many."""
        with self._lock:
            self._idle.append((key, kept))
            spare = self._idle.pop(0)[1] if len(self._idle) > _MOST_IDLE else None
        if spare is not None:
            spare.close()

    def close(self) -> None:
        """End the idle ones; the pool can still be used."""
        with self._lock:
            _close_all(self._idle, self._owner)

    def switch_off(self) -> None:
        """Start none any more."""
        self._is_off = True


def _close_all(idle: list[tuple[Hashable, Kept]], owner: int) -> None:
    if os.getpid() == owner:
        while idle:
            idle.pop()[1].close()
