"""One child process on the host: bounded output, a wall clock, and a way to end everything below it.

The loop waits on the output pipe, on the side channel (the child's stderr, where a launcher reports) and on the
child's end at the same time; it kills at the first limit that is passed and says which one. It decides nothing from
what the child prints.
Not covered: memory and process counts (cgroups and rlimits do that).
Easy to break: reaping twice; leaving before the tree is dead; feeding stdin through a pipe that nobody reads.
"""

from __future__ import annotations

import contextlib
import errno
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Literal

import msgspec

from steelyard.errors import InputError, SandboxFaultError

Stopped = Literal["", "timeout", "output", "disk", "closed"]
_CHUNK = 65536
_SIDE_BYTES = 8192
_TICK_S = 0.1  # how often a caller's own limit is looked at
_POLL_S = 0.01  # how often the end is looked for where no handle tells it
_START_S = 30.0  # how long a launcher may take to say that the command has started
_GRACE_S = 10.0  # how long a killed tree may take to vanish before the sandbox counts as broken


class Ended(msgspec.Struct, frozen=True):
    """A child's end: `stopped` names the limit that ended it, "" when it ended itself; `rc` is -n for signal n."""

    stopped: Stopped
    rc: int
    output: bytes
    truncated: bool
    side: str
    wall_ms: float
    cpu_ms: float


class Child:
    """A started process. `stop` may be called from another thread; `kill` ends the tree and may be replaced."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes,
        env: Mapping[str, str],
        pass_fds: Sequence[int] = (),
        cwd: str | None = None,
    ) -> None:
        self.kill: Callable[[], None] = self._kill_group
        self._stopped: Stopped = ""
        self._stopped_at = 0.0
        self._lock = threading.Lock()
        self._started = time.monotonic()
        source = _input(stdin)
        try:
            self._process = subprocess.Popen(
                list(argv),
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(env),
                pass_fds=tuple(pass_fds),
                cwd=cwd,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            if isinstance(error, ValueError) or error.errno == errno.E2BIG:
                raise InputError(f"this command cannot be started: {error}") from error
            raise SandboxFaultError(f"could not start {argv[0]}: {error.strerror}") from error
        finally:
            if not isinstance(source, int):
                source.close()

    def stop(self, why: Stopped) -> None:
        """End the whole tree; the first reason given stays."""
        with self._lock:  # never signal a number that has been reaped and may belong to somebody else
            if self._process.returncode is None:
                self._stopped = self._stopped or why
                self._stopped_at = self._stopped_at or time.monotonic()
                self.kill()

    def is_stopped(self) -> bool:
        """Whether `stop` was called."""
        return bool(self._stopped)

    def has_ended(self) -> bool:
        """Whether the process has ended; it is left to `wait` to reap it."""
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def wait(
        self,
        wall_s: float,
        output_bytes: int,
        check: Callable[[], Stopped],
        *,
        mark: bytes = b"",
        on_mark: Callable[[], None] | None = None,
    ) -> Ended:
        """Collect output until the tree has ended, by itself or by a limit; `check` is asked ten times a second.

        With a `mark` the clock starts when the launcher has written it to the side channel; then `on_mark` is called.
        """
        output, side = _Sink(output_bytes), _Sink(_SIDE_BYTES)
        try:
            status, cpu_s = self._collect(output, side, wall_s, check, mark, on_mark)
        except BaseException:
            self.stop("closed")
            self._reap_soon()
            raise
        finally:
            for pipe in self._pipes():
                pipe.close()
        return Ended(
            stopped=self._stopped,
            rc=os.waitstatus_to_exitcode(status),
            output=bytes(output.data[:output_bytes]),
            truncated=output.full,
            side=side.data.decode("utf-8", "replace"),
            wall_ms=(time.monotonic() - self._started) * 1000,
            cpu_ms=cpu_s * 1000,
        )

    def _collect(
        self,
        output: _Sink,
        side: _Sink,
        wall_s: float,
        check: Callable[[], Stopped],
        mark: bytes,
        on_mark: Callable[[], None] | None,
    ) -> tuple[int, float]:
        deadline, looked = self._started + (_START_S if mark else wall_s), self._started
        with selectors.DefaultSelector() as selector, _end_of(self._process.pid) as end:
            for pipe, sink in zip(self._pipes(), (output, side), strict=True):
                os.set_blocking(pipe.fileno(), False)
                selector.register(pipe, selectors.EVENT_READ, sink)
            if end is not None:
                selector.register(end, selectors.EVENT_READ)
            while True:
                now = time.monotonic()
                tick_s = _TICK_S if end is not None else _POLL_S
                for key, _ in selector.select(max(0.0, min(tick_s, deadline - now)) if not self._stopped else tick_s):
                    if key.data is not None and not key.data.fill(key.fd):
                        selector.unregister(key.fileobj)
                if mark and mark in side.data:
                    mark, self._started = b"", time.monotonic()
                    deadline = self._started + wall_s
                    if on_mark is not None:
                        on_mark()
                ended = self._reap()
                if ended:
                    for key in list(selector.get_map().values()):
                        while key.data is not None and key.data.fill(key.fd, wait=False):
                            continue
                    return ended
                now = time.monotonic()
                if self._stopped:
                    if now > self._stopped_at + _GRACE_S:
                        raise SandboxFaultError(f"a killed command is still there after {_GRACE_S:.0f} s")
                elif output.full:
                    self.stop("output")
                elif now >= deadline:
                    self.stop("timeout")
                elif now >= looked + _TICK_S:
                    looked = now
                    why = check()
                    if why:
                        self.stop(why)

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        stdout, stderr = self._process.stdout, self._process.stderr
        if stdout is None or stderr is None:
            raise SandboxFaultError("a child was started without its pipes")
        return stdout, stderr

    def _reap(self) -> tuple[int, float] | None:
        """(wait status, CPU seconds of the child and all that it waited for) once it has ended."""
        with self._lock:
            pid, status, usage = os.wait4(self._process.pid, os.WNOHANG)
            if pid == 0:
                return None
            self._process.returncode = os.waitstatus_to_exitcode(status)
        return status, usage.ru_utime + usage.ru_stime

    def _reap_soon(self) -> None:
        """Leave no zombie behind an interrupted wait; a killed process ends within milliseconds."""
        for _ in range(100):
            if self._process.returncode is not None or self._reap():
                return
            time.sleep(0.01)

    def _kill_group(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)


class _Sink:
    """Bytes up to a cap; what comes after is read and dropped, so that a writer never blocks the end."""

    def __init__(self, cap: int) -> None:
        self.data = bytearray()
        self.full = False
        self._cap = cap

    def fill(self, handle: int, *, wait: bool = True) -> bool:
        """Read once; False at the end of the stream (and, without `wait`, when nothing is there now)."""
        try:
            chunk = os.read(handle, _CHUNK)
        except BlockingIOError:
            return wait
        self.full = self.full or len(self.data) + len(chunk) > self._cap
        self.data += chunk[: self._cap - len(self.data)]
        return bool(chunk)


@contextlib.contextmanager
def _end_of(pid: int) -> Iterator[int | None]:
    """A handle that becomes readable when the process ends; None where the system has no such thing."""
    if sys.platform != "linux":
        yield None
        return
    handle = os.pidfd_open(pid)
    try:
        yield handle
    finally:
        os.close(handle)


def _input(data: bytes) -> IO[bytes] | int:
    """Standard input as a file, so that a command that never reads it cannot block its parent."""
    if not data:
        return subprocess.DEVNULL
    file = tempfile.TemporaryFile()  # noqa: SIM115  the caller closes it once the child has its own handle
    file.write(data)
    file.seek(0)
    return file
