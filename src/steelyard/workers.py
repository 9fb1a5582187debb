"""Warm child processes for slow decisions: each is killed when a decision takes too long, and replaced.

`settle(spec, target, choices, found)` binds the verifier in a child and calls its `settle` there. Only JSON crosses the
pipes, one line a message; a time-out, a crash and memory that runs out are void verdicts with the reason.
Children start on first use, are reused, hold a memory limit and a limit on CPU time, end with their parent, and are
closed at exit. Safe to use from several threads; no more children than CPUs.
Not covered: isolation. A child runs this package's own code on data; programs go to the sandbox.
Easy to break: start-up must not count. A child says `bound` when the verifier and its libraries are imported, and
only then does the time run. `-P` keeps a `sympy.py` in the working folder from being imported.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from steelyard.errors import InputError
from steelyard.verdict import Evidence, Reading, Verdict, void
from steelyard.verifiers.registry import bind_spec

TIMEOUT_S = 1.5
START_TIMEOUT_S = 60.0
MEMORY_BYTES = 1024 * 1024 * 1024
_MOST_JOBS = 500  # sympy's caches grow; a child that has done this many is replaced
_POLL_S = 1.0
_STOP_TIMEOUT_S = 1.0
_CPU_MARGIN_S = 30


class _Job(msgspec.Struct, frozen=True):
    spec: dict[str, Any]
    target: str
    choices: list[str] | None
    timeout_s: float
    reading: Reading | None = None
    evidence: Evidence | None = None


class _Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    ready: bool = False
    bound: bool = False
    verdict: Verdict | None = None


def settle(
    spec: dict[str, Any],
    target: str,
    choices: list[str] | None,
    found: Reading | Evidence,
    *,
    timeout_s: float = TIMEOUT_S,
) -> Verdict:
    """The verdict of the verifier's `settle` on what its `decide` left open, from a child; void after `timeout_s`."""
    if timeout_s <= 0:
        raise InputError(f"timeout_s must be above 0, got {timeout_s}")
    job = _Job(
        spec,
        target,
        choices,
        timeout_s,
        found if isinstance(found, Reading) else None,
        found if isinstance(found, Evidence) else None,
    )
    return _POOL.settle(job)


def warm(libraries: tuple[str, ...] = (), *, wait: bool = False) -> None:
    """Start one child now and let it import what its first decision will need; `wait` until it has."""
    _POOL.warm(libraries, wait=wait)


def close() -> None:
    """End all children; the next `settle` starts new ones."""
    _POOL.close()


class _Worker:
    """One child, used by one thread at a time."""

    def __init__(self, libraries: tuple[str, ...] = ()) -> None:
        package = str(Path(__file__).parent.parent)
        self.jobs = 0
        self._ready = False
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "steelyard.workers", str(os.getpid()), *libraries],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))},
        )
        self.replies: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.reader = threading.Thread(target=self._read, name="steelyard-worker-reader", daemon=True)
        self.reader.start()

    def _read(self) -> None:
        """Lines as they come, then None; on a thread, so that waiting can time out."""
        with contextlib.suppress(ValueError, OSError):  # closed under us by `stop`
            for line in self.process.stdout or ():
                self.replies.put(line)
        self.replies.put(None)

    def settle(self, job: _Job) -> tuple[Verdict | None, bool]:
        """The verdict, and whether the child can be used again; no verdict when it ended before it took the job."""
        self.jobs += 1
        try:
            if self.process.stdin is None:
                raise AssertionError  # asked for in __init__
            self.process.stdin.write(msgspec.json.encode(job) + b"\n")
            self.process.stdin.flush()
        except OSError:
            return None, False
        if not self.wait_ready():
            return None, False
        reply = self._reply(START_TIMEOUT_S)
        if isinstance(reply, str):
            return None, False
        if isinstance(reply, _Reply) and reply.bound:
            reply = self._reply(job.timeout_s)
            if reply is None:
                return void(f"timed out after {job.timeout_s:g} s"), False
        if reply is None:
            return void(f"the worker was not ready after {START_TIMEOUT_S:g} s"), False
        if isinstance(reply, str):
            return void(f"the worker ended while deciding ({reply})"), False
        if reply.verdict is None:
            return void("the worker gave no verdict"), False
        return reply.verdict, self.jobs < _MOST_JOBS

    def wait_ready(self) -> bool:
        """Wait for the child's first word, after its imports; False when it ended or stays silent."""
        if not self._ready:
            self._ready = isinstance(reply := self._reply(START_TIMEOUT_S), _Reply) and reply.ready
        return self._ready

    def _reply(self, timeout_s: float) -> _Reply | str | None:
        """The next message; text when the child has ended, None when the time is up."""
        try:
            line = self.replies.get(timeout=timeout_s)
        except queue.Empty:
            return None
        return self._end() if line is None else msgspec.json.decode(line, type=_Reply)

    def _end(self) -> str:
        try:
            code = self.process.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return "it closed its pipe"
        return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"

    def stop(self, *, kill: bool) -> None:
        """End the child and wait for it."""
        if kill:
            self.process.kill()
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):  # what was written and never read
                self.process.stdin.close()
        try:
            self.process.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.reader.join(_STOP_TIMEOUT_S)  # it has seen the end by now, so the pipe can be closed under it
        if self.process.stdout is not None:
            self.process.stdout.close()


class _Pool:
    """Idle children, and a semaphore that bounds how many there are."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._reset()

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._free = threading.BoundedSemaphore(self.size)
        self._idle: list[_Worker] = []

    def settle(self, job: _Job) -> Verdict:
        with self._free:
            with self._lock:
                worker = self._idle.pop() if self._idle else None
            if worker is not None:
                verdict = self._use(worker, job)
                if verdict is not None:
                    return verdict
            return self._use(_Worker(), job) or void("the worker ended before the decision")

    def _use(self, worker: _Worker, job: _Job) -> Verdict | None:
        """The child's verdict; None where the child had ended before it took the job."""
        again = False
        try:
            verdict, again = worker.settle(job)
        finally:
            if again:
                with self._lock:
                    self._idle.append(worker)
            else:
                worker.stop(kill=True)
        return verdict

    def warm(self, libraries: tuple[str, ...], *, wait: bool) -> None:
        with self._lock:
            if not self._idle:
                self._idle.append(_Worker(libraries))
            if wait:
                self._idle[-1].wait_ready()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.stop(kill=False)

    def forget(self) -> None:
        """In a forked child: the workers belong to the parent."""
        self._reset()


def _cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_POOL = _Pool(_cpus())
atexit.register(_POOL.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_POOL.forget)


def _serve(parent_pid: int, libraries: list[str]) -> None:
    """Answer jobs until stdin ends; what verifiers print goes nowhere."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which may finish what is in flight
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _limit_memory()
    threading.Thread(target=_end_with_parent, args=(parent_pid,), daemon=True).start()

    def say(reply: _Reply) -> None:
        replies.write(msgspec.json.encode(reply) + b"\n")
        replies.flush()

    _import(libraries)
    say(_Reply(ready=True))
    for line in sys.stdin.buffer:
        job = msgspec.json.decode(line, type=_Job)
        try:
            verdict = _decide(job, say)
        except MemoryError:
            say(_Reply(verdict=void(f"out of memory ({MEMORY_BYTES >> 20} MiB)")))
            os._exit(0)  # a heap that was full once is not worth keeping
        except Exception as error:  # noqa: BLE001  # a grader's crash is void, never a wrong answer
            verdict = void(f"the verifier crashed while settling: {type(error).__name__}: {error}")
        say(_Reply(verdict=verdict))


def _decide(job: _Job, say: Callable[[_Reply], None]) -> Verdict:
    bound = bind_spec(job.spec, job.target, job.choices)
    _import(bound.verifier.libraries)
    found = job.reading or job.evidence
    if found is None:
        raise InputError("a job needs a reading or evidence")
    say(_Reply(bound=True))
    _limit_cpu(job.timeout_s)
    return bound.settle(found)


def _import(libraries: Iterable[str]) -> None:
    """Import distributions whose module bears their name; others are imported when they are needed."""
    for name in libraries:
        with contextlib.suppress(ModuleNotFoundError):
            importlib.import_module(name.replace("-", "_"))


def _limit_memory() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):  # no such limit on this system
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def _limit_cpu(timeout_s: float) -> None:
    """The kernel ends a child that an ended parent can no longer kill."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        soft = int(time.process_time() + timeout_s) + _CPU_MARGIN_S
        if hard == resource.RLIM_INFINITY or soft < hard:
            resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def _end_with_parent(parent_pid: int) -> None:
    """Poll the parent id (POSIX); the main thread sees the end of stdin, but not while it decides."""
    while sys.platform == "win32" or os.getppid() == parent_pid:
        time.sleep(_POLL_S)
    os._exit(0)


if __name__ == "__main__":
    _serve(int(sys.argv[1]), sys.argv[2:])
