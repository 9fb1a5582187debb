"""Kept sandboxes whose first process has loaded one trusted module and forks a fresh sandbox for each job.

What happens inside, and what keeps two jobs apart, is in `zygote_inside`. Here is the host's side: starting one,
handing it an order (as handles: nothing travels through its memory), and watching the job by a handle of its first
process. After a BrokenZygoteError a zygote is to be closed and the job run alone.
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
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from steelyard.errors import SandboxFaultError
from steelyard.sandbox.cgroups import Group
from steelyard.sandbox.launch import STARTED
from steelyard.sandbox.supervise import Ended, Stopped

_SOURCE = Path(__file__).with_name("zygote_inside.py")
_START_S = 10.0
_SOON_S = 0.015
_END_S = 1.0  # how long an idle zygote may take to see that the link is closed
_CHUNK = 65536


Found = TypeVar("Found")


class Job(msgspec.Struct, frozen=True):
    """One run of the entry: `files` of /work by path, tmpfs options by place, rlimits by number."""

    stdin: bytes
    wall_s: float
    output_bytes: int
    files: list[tuple[str, bytes]]
    tmpfs: list[tuple[str, str]]
    rlimits: list[tuple[int, int]]


class Done(msgspec.Struct, frozen=True):
    """How a job ended; `left` processes were alive at its end, `full` says whether /work was.

    `code` is the exit code, -n for signal n.
    """

    ended: Ended
    code: int
    left: int
    full: bool


class Entry(msgspec.Struct, frozen=True):
    """What a zygote calls for each job: a function of a trusted `module` (a path inside), after loading `preload`.

    `guarded` says that it runs code of others in its own process; then pid 1 of a job is another one.
    """

    module: str
    name: str
    preload: tuple[str, ...] = ()
    guarded: bool = False


class Handles(msgspec.Struct, frozen=True):
    """What a job is watched by: `result` and `output` are read, `ended` is readable when it has ended."""

    result: int
    output: int
    ended: int


class BrokenZygoteError(Exception):
    """A zygote did not do what it was asked to; the job has to be run alone."""


class Zygote:
    """One kept sandbox, for one job at a time, which enters `group`; `close` ends it with all that is inside."""

    def __init__(self, bwrap: Sequence[str], flags: Sequence[str], entry: Entry, group: Group) -> None:
        self._link, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        code = _memory(_SOURCE.read_bytes())
        entrances = [os.open(path, os.O_RDWR | os.O_CLOEXEC) for path in group.entrances]
        tallies = [os.open(path, os.O_RDONLY | os.O_CLOEXEC) for path in group.tallies]
        with inside:
            names = f"{entry.module!r}, {entry.name!r}, {list(entry.preload)!r}, guarded={entry.guarded}"
            text = f"exec(open({code}).read()); main({inside.fileno()}, {entrances}, {tallies}, {names})"
            try:
                self._process = subprocess.Popen(
                    [*bwrap, "--", "python3", *flags, "-c", text],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env={"PATH": "/usr/bin:/bin"},
                    pass_fds=(inside.fileno(), code, *entrances, *tallies),
                    start_new_session=True,
                )
            except OSError as error:
                self._link.close()
                raise BrokenZygoteError(str(error)) from error
            finally:
                for handle in (code, *entrances, *tallies):
                    os.close(handle)
        self._first = -1
        self._link.settimeout(_START_S)
        try:
            self._first = self._told(b"ready")
        except BrokenZygoteError:
            self.close()
            raise

    def run(self, job: Job, over: Callable[[_Running], contextlib.AbstractContextManager[None]]) -> Done:
        """Run a job to its end, `over` it as long as it can be stopped; raises BrokenZygoteError."""
        with self._born(job) as (running, handles):
            with over(running):
                data, full = running.collect(handles, running.started + job.wall_s, job.output_bytes)
            rc, cpu_us, _ = self._end()
            said = _all_of(handles.result).decode(errors="replace").splitlines()
            if said[:1] != [STARTED] and not running.stopped:
                raise BrokenZygoteError(said[0] if said else "the job never started")
            left, disk_full = map(int, said[1].split()[1:]) if len(said) > 1 else (0, 0)
            return Done(running.end(rc, cpu_us, data, truncated=full), rc, left, bool(disk_full))

    def run_watched(
        self,
        job: Job,
        over: Callable[[_Running], contextlib.AbstractContextManager[None]],
        watch: Callable[[int, int, int], Found],
    ) -> tuple[Found, Done]:
        """The same, but `watch` reads what the entry writes to handle 3 and prints; the job is ended when it returns.

        It is called when the entry is, or up to 15 ms later. When the job has ended, all that it wrote can be read
        without waiting.
        """
        with self._born(job) as (running, handles):
            with over(running):
                _await_end(handles, _SOON_S)
                _await_start(handles, running.started + job.wall_s)
                found = watch(handles.result, handles.output, handles.ended)
            running.end_now()
            rc, cpu_us, left = self._end()
            return found, Done(running.end(rc, cpu_us, b"", truncated=False), rc, left, full=False)

    @contextlib.contextmanager
    def _born(self, job: Job) -> Iterator[tuple[_Running, Handles]]:
        """Send a job; what it is watched and stopped by."""
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
            running = _Running(self._told(b"born"), started)
            try:
                yield running, Handles(report, output, self._link.fileno())
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

    def _end(self) -> tuple[int, int, int]:
        """Exit code, CPU time in microseconds and processes left of the job that has ended, or is about to."""
        try:
            rc, cpu_us, left = map(int, self._link.recv(64).split())
        except (OSError, ValueError) as error:
            raise BrokenZygoteError(f"it did not say how the job ended: {error}") from error
        return rc, cpu_us, left


class _Running:
    """The first process of a job; killing it ends everything in its pid namespace."""

    def __init__(self, handle: int, started: float) -> None:
        self.stopped: Stopped = ""
        self.started = started
        self._handle = handle
        self._lock = threading.Lock()

    def stop(self, why: Stopped) -> None:
        """End the job; the first reason given stays. Safe from another thread and after the end."""
        with self._lock:
            if self._handle >= 0:
                self.stopped = self.stopped or why
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def end_now(self) -> None:
        """End the job without a reason, if it has not ended."""
        with self._lock:
            if self._handle >= 0:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def end(self, rc: int, cpu_us: int, output: bytes, *, truncated: bool) -> Ended:
        """How it ended, as a shell says it, which is how it comes from commands run alone."""
        return Ended(
            stopped=self.stopped,
            rc=rc if rc >= 0 else 128 - rc,
            output=output,
            truncated=truncated,
            side=STARTED,
            wall_ms=(time.monotonic() - self.started) * 1000,
            cpu_ms=cpu_us / 1000,
        )

    def collect(self, handles: Handles, deadline: float, most: int) -> tuple[bytes, bool]:
        """Output until the zygote tells of the end, and whether there was more than `most`."""
        data, full, stopped_at, output = bytearray(), False, 0.0, handles.output
        waits = select.poll()
        waits.register(output, select.POLLIN)
        waits.register(handles.ended, select.POLLIN)
        while True:
            until = stopped_at + _START_S if stopped_at else deadline
            ready = {handle for handle, _ in waits.poll(max(0.0, until - time.monotonic()) * 1000 + 1)}
            has_ended = handles.ended in ready
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
    """What is sent (order, stdin, output, report) and the ends that are read here: output and report."""
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
        for handle in mine:
            os.set_blocking(handle, False)
        yield sent, output, report
    finally:
        for handle in (*sent, *mine):
            os.close(handle)


def _await_end(handles: Handles, wait_s: float) -> None:
    """Let a short job come to its end, so that nobody has to wake up for each thing that it says."""
    waits = select.poll()
    waits.register(handles.ended, select.POLLIN)
    waits.poll(wait_s * 1000)


def _await_start(handles: Handles, deadline: float) -> None:
    """Read the word of the start; raises BrokenZygoteError where another comes, or none."""
    waits = select.poll()
    waits.register(handles.result, select.POLLIN)
    waits.register(handles.ended, select.POLLIN)
    waits.poll(max(0.0, deadline - time.monotonic()) * 1000 + 1)
    word = f"{STARTED}\n".encode()
    try:
        said = os.read(handles.result, len(word))
    except BlockingIOError:
        said = b""
    if said != word:
        raise BrokenZygoteError((said + _all_of(handles.result)).decode(errors="replace") or "the job never started")


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
