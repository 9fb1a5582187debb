"""Jobs whose entry runs code of others in its own process: what watches them, what guards them, how they end."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable

import pytest

from steelyard.ports import ExecResult, Limits, SandboxSpec
from steelyard.sandbox.bubblewrap import BubblewrapSandbox
from steelyard.sandbox.probe import find_bubblewrap
from steelyard.store import Store

pytestmark = pytest.mark.bubblewrap
JOB = b"""
import os, sys
def alone():
    code = sys.stdin.read()
    exec(code, {"say": lambda text: os.write(3, text.encode())})
"""
Seen = tuple[bytes, bytes]
Watched = tuple[Seen, int, ExecResult] | None


@pytest.fixture(scope="module")
def sandbox() -> BubblewrapSandbox:
    """A backend of this module's own, on a machine where programs are run in copies."""
    found = find_bubblewrap()
    places = found._machine.places
    if not (places.unified or (places.memory and places.pids)):
        pytest.skip("no cgroups for memory and processes here, so every program runs alone")
    return found


def look(result: int, output: int, ended: int) -> Seen:
    """What was said and printed by the end; a job that takes longer than a few seconds is left."""
    select.select([ended], [], [], 3)
    found = []
    for handle in (result, output):
        try:
            found.append(os.read(handle, 65536))
        except BlockingIOError:
            found.append(b"")
    return found[0], found[1]


@pytest.fixture
def watched(sandbox: BubblewrapSandbox, store: Store) -> Callable[..., Watched]:
    """Run Python code as a job whose own process it is."""

    def one(code: str, limits: Limits | None = None) -> Watched:
        mounts = {"/runner": {"job.py": store.put(JOB)}}
        session = sandbox.open(SandboxSpec(mounts_ro=mounts, limits=limits or Limits()), store)
        try:
            return session.run_watched(
                look,
                flags=("-I", "-B"),
                module="/runner/job.py",
                entry="alone",
                preload=(),
                stdin=code.encode(),
                wall_s=20.0,
            )
        finally:
            session.close()

    return one


def _kept(sandbox: BubblewrapSandbox) -> list[int]:
    return [kept._zygote._process.pid for _, kept in sandbox._kept._pool._idle]


@pytest.mark.parametrize(
    ("code", "seen", "end"),
    [
        ("say('well')\nprint('on', flush=True)", (b"well", b"on\n"), 0),
        ("say('half')\nimport os\nos._exit(7)", (b"half", b""), 7),
        ("import os\nos._exit(137)", (b"", b""), 137),
        ("import os\nos.kill(os.getpid(), 9)", (b"", b""), -9),
        ("import signal\nsignal.raise_signal(signal.SIGTERM)", (b"", b""), -15),
        ("import os\nos.abort()", (b"", b""), -6),
        ("say('on')\nwhile True:\n    pass", (b"on", b""), -9),
    ],
)
def test_a_watched_job_is_heard_to_its_end_and_its_end_is_told(
    watched: Callable[..., Watched], code: str, seen: Seen, end: int
) -> None:
    """Signals end it as they end any process, exit codes are not taken for signals, what goes on is ended. [S-20]"""
    found = watched(code)
    assert found is not None
    assert (seen, end, "exit") == (found[0], found[1], found[2].why)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("kept = []\nwhile True:\n    kept.append(bytearray(10**7))", "oom"),
        ("import os, time\nfor _ in range(100):\n    if os.fork() == 0:\n        time.sleep(60)", "pids"),
    ],
)
def test_a_watched_job_that_runs_out_says_of_what(
    watched: Callable[..., Watched], sandbox: BubblewrapSandbox, code: str, why: str
) -> None:
    """Memory and processes are told apart, and the next job is none the worse. [S-20, O-22]"""
    limits = Limits(memory_bytes=128 * 1024 * 1024, disk_bytes=64 * 1024 * 1024, pids=20)
    watched("", limits)
    before = _kept(sandbox)
    found, next_one = watched(code, limits), watched("say('well')", limits)
    assert found is not None
    assert next_one is not None
    assert (why, before, b"well") == (found[2].why, _kept(sandbox), next_one[0][0])


LEAVE = """
import os, signal
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.pause()
"""


def test_what_a_watched_job_leaves_is_counted_and_ended(
    watched: Callable[..., Watched], sandbox: BubblewrapSandbox
) -> None:
    """Processes that left its session do not outlive it. [O-1]"""
    found = watched(LEAVE)
    assert found is not None
    before = _kept(sandbox)
    seen = watched("import os\nsay(str(sorted(name for name in os.listdir('/proc') if name.isdigit())))")
    assert seen is not None
    assert (3, before, b"['1', '2']") == (found[2].leftover_pids, _kept(sandbox), seen[0][0])


REACH = """
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
def fails(act):
    try:
        act()
    except OSError as error:
        return type(error).__name__
    return "done"
os.close(3)
print(fails(lambda: os.kill(1, signal.SIGINT)), fails(lambda: open("/proc/1/mem", "rb")))
print(fails(lambda: open("/proc/1/fd/1")), fails(lambda: os.listdir("/proc/1/root")))
print(fails(lambda: open("/proc/1/maps").read()), fails(lambda: open("/proc/self/maps").read()))
print(libc.ptrace(16, 1, 0, 0), sorted(int(fd) for fd in os.listdir("/proc/self/fd")))
first = os.pidfd_open(1)
for number in (signal.SIGINT, signal.SIGCHLD, signal.SIGTERM, signal.SIGKILL):
    signal.pidfd_send_signal(first, number)
print(os.getpid(), libc.syscall(438, first, 3, 0), flush=True)
"""


def test_a_watched_job_cannot_reach_what_guards_it(watched: Callable[..., Watched], sandbox: BubblewrapSandbox) -> None:
    """The first process shares the memory of the kept one: no memory, handle or signal of it is within reach. [O-1]"""
    found = watched(REACH)
    assert found is not None
    assert [
        "PermissionError PermissionError",
        "PermissionError PermissionError",
        "PermissionError done",
        "-1 [0, 1, 2, 3]",  # 3 is the listing itself
        "2 -1",
    ] == found[0][1].decode().splitlines()
    before = _kept(sandbox)
    again = watched("say('well')")
    assert again is not None
    assert (b"well", before) == (again[0][0], _kept(sandbox))


def test_a_watched_job_that_finds_no_kept_sandbox_alive_is_not_run(
    watched: Callable[..., Watched], sandbox: BubblewrapSandbox
) -> None:
    """The caller is told, and runs it as a command; the job after it has a new one. [O-22]"""
    watched("")
    for _, kept in sandbox._kept._pool._idle:
        signal.pidfd_send_signal(kept._zygote._first, signal.SIGKILL)
        kept._zygote._process.wait()
    sandbox_is_gone, after = watched("say('1')"), watched("say('2')")
    assert after is not None
    assert (None, b"2") == (sandbox_is_gone, after[0][0])
    sandbox.close()


def test_a_used_session_watches_no_job(sandbox: BubblewrapSandbox, store: Store) -> None:
    """What was done in a session before would not be seen by a copy. [O-1]"""
    session = sandbox.open(SandboxSpec(mounts_ro={"/runner": {"job.py": store.put(JOB)}}), store)
    session.write("used", b"")
    found = session.run_watched(
        look, flags=("-I", "-B"), module="/runner/job.py", entry="alone", preload=(), stdin=b"", wall_s=5.0
    )
    session.close()
    assert found is None
