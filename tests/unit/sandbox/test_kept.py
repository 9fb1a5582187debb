"""Jobs in copies of a kept process: as isolated as a session of their own, and nothing of one is seen by the next."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable

import pytest

from steelyard.ports import ExecResult, Limits, SandboxSpec
from steelyard.sandbox.bubblewrap import BubblewrapSandbox
from steelyard.sandbox.probe import find_bubblewrap
from steelyard.store import Store

pytestmark = pytest.mark.bubblewrap
ALONE = "import sys; sys.path.insert(0, '/runner'); import job; sys.exit(job.main())"
JOB = b"""
import sys
def main():
    code = sys.stdin.read()
    space = {}
    exec(code, space)
    return space.get("rc", 0)
"""
Run = Callable[..., ExecResult]


@pytest.fixture(scope="module")
def sandbox() -> BubblewrapSandbox:
    """A backend of this module's own, so that what it keeps is known."""
    return find_bubblewrap()


@pytest.fixture
def run(sandbox: BubblewrapSandbox, store: Store) -> Run:
    """Run Python code as a job; the code is sent as the job's input."""

    def one(code: str, limits: Limits | None = None, tree: dict[str, str] | None = None, **env: str) -> ExecResult:
        files = {path: store.put(text) for path, text in (tree or {}).items()}
        mounts = {"/runner": {"job.py": store.put(JOB)}}
        session = sandbox.open(SandboxSpec(tree=files, mounts_ro=mounts, limits=limits or Limits(), env=env), store)
        try:
            return session.run_main(
                ["python3", "-I", "-B", "-c", ALONE],
                flags=("-I", "-B"),
                module="/runner/job.py",
                stdin=code.encode(),
            )
        finally:
            session.close()

    return one


def _kept(sandbox: BubblewrapSandbox) -> list[int]:
    """Ids of the kept sandboxes that are idle."""
    return [kept._zygote._process.pid for _, kept in sandbox._kept._pool._idle]


def _need_kept(sandbox: BubblewrapSandbox) -> None:
    places = sandbox._machine.places
    if not (places.unified or (places.memory and places.pids)):
        pytest.skip("no cgroups for memory and processes here, so every program runs alone")


def test_jobs_of_one_kind_share_one_kept_sandbox(sandbox: BubblewrapSandbox, run: Run) -> None:
    """The second job starts no process of its own outside; other files or another environment do. [O-22]"""
    _need_kept(sandbox)
    run("")
    before = _kept(sandbox)
    assert ("exit", 3) == ((result := run("rc = 3")).why, result.rc)
    assert before == _kept(sandbox)
    run("", OTHER="1")
    assert len(before) + 1 == len(_kept(sandbox))


LEAVE = """
import ctypes, os, subprocess, sys, builtins, signal
for place in ("/work", "/tmp", "/dev/shm", "/tmp/home"):
    open(place + "/left", "w").write("x")
os.environ["LEFT"] = "x"
sys.modules["left"] = builtins.left = object()
libc = ctypes.CDLL(None)
assert libc.shmget(4242, 4096, 0o1777) >= 0
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.closerange(0, 3)
        signal.pause()
print("left")
"""
LOOK = """
import builtins, ctypes, os, sys
for place in ("/work", "/tmp", "/dev/shm", "/tmp/home"):
    print(place, sorted(os.listdir(place)))
print(os.environ.get("LEFT"), "left" in sys.modules, hasattr(builtins, "left"))
print(ctypes.CDLL(None).shmget(4242, 4096, 0))
print(sorted(name for name in os.listdir("/proc") if name.isdigit()))
print(open("/proc/net/unix").read().count("\\n"), open("/proc/net/tcp").read().count("\\n"))
"""


def test_nothing_of_a_job_is_seen_by_the_next(sandbox: BubblewrapSandbox, run: Run) -> None:
    """Files, environment, modules, shared memory, processes and sockets of a job end with it. [O-1]"""
    left = run(LEAVE)
    assert (b"left\n", 3) == (left.output, left.leftover_pids)
    before = _kept(sandbox)
    seen = run(LOOK).output.decode().splitlines()
    assert before == _kept(sandbox)
    assert [
        "/work []",
        "/tmp ['home']",
        "/dev/shm []",
        "/tmp/home []",
        "None False False",
        "-1",
        "['1']",
        "1 1",
    ] == seen


RIGHTS = """
import ctypes, errno, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def tried(number, *arguments):
    ctypes.set_errno(0)
    return errno.errorcode.get(ctypes.get_errno(), "") if libc.syscall(number, *arguments) < 0 else "allowed"
status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
print([status[name].strip().strip("0") for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")])
print(status["NoNewPrivs"].strip(), status["Seccomp"].strip(), os.getuid(), os.getgid(), os.getsid(0), os.getpgrp())
print(libc.unshare(0x10000000), libc.unshare(0x00020000), libc.mount(b"x", b"/tmp", b"tmpfs", 0, None))
keys = (248, 249, 250) if os.uname().machine == "x86_64" else (217, 218, 219)
print([tried(number, b"user", b"a", b"b", 1, -4) for number in keys])
for path in ("/proc/sys/kernel/core_pattern", "/usr/x", "/runner/x", "/dev/x", "/etc/passwd", "/x"):
    try:
        open(path, "w")
        print("wrote", path)
    except OSError:
        pass
print(sorted(int(fd) for fd in os.listdir("/proc/self/fd")))
server = socket.create_server(("127.0.0.1", 0))
print(socket.create_connection(server.getsockname()).getpeername()[0], sorted(os.listdir("/proc/sys/net/ipv4/conf")))
"""


def test_a_job_has_no_rights_that_could_reach_its_neighbours(run: Run) -> None:
    """No capabilities, no new user namespaces or mounts, no keyrings, nothing writable, no handle but its own. [O-1]"""
    assert [
        "['', '', '', '', '']",
        "1 2 10001 10001 1 1",
        "-1 -1 -1",
        "['ENOSYS', 'ENOSYS', 'ENOSYS']",
        "[0, 1, 2, 3, 4]",  # 3 is the report, 4 the listing itself
        "127.0.0.1 ['all', 'default', 'lo']",
    ] == run(RIGHTS).output.decode().splitlines()


VIEW = """
import os, sys
for folder in ("/", "/etc", "/work", "/work/a", "/runner", "/dev", "/proc/self/ns"):
    print(folder, sorted(os.listdir(folder)))
print(sorted(os.environ.items()), os.getcwd(), open("/work/a/b.txt").read(), open("/etc/passwd").read())
print(sys.flags, sys.version, open("/proc/self/cgroup").read())
mounts = [line.split() for line in open("/proc/self/mountinfo")]
print(sorted({(m[4], "ro" in m[5].split(",")) for m in mounts if not m[4].startswith("/proc")} | {("/proc", True)}))
"""


def test_a_copy_sees_what_a_command_run_alone_sees(sandbox: BubblewrapSandbox, store: Store, run: Run) -> None:
    """Files, environment, flags and read-only places are the same; a used session runs its program alone. [O-1]"""
    _need_kept(sandbox)
    copied = run(VIEW, tree={"a/b.txt": "hello"}).output.decode()
    mounts = {"/runner": {"job.py": store.put(JOB)}}
    session = sandbox.open(SandboxSpec(tree={"a/b.txt": store.put("hello")}, mounts_ro=mounts), store)
    session.write("used", b"")
    session.run(["rm", "used"])
    before = _kept(sandbox)
    alone = session.run_main(
        ["python3", "-I", "-B", "-c", ALONE], flags=("-I", "-B"), module="/runner/job.py", stdin=VIEW.encode()
    )
    session.close()
    assert before == _kept(sandbox)
    assert alone.output.decode().splitlines() == copied.splitlines()


ENDS: dict[str, tuple[str, str]] = {
    "memory": ("kept = []\nwhile True:\n    kept.append(bytearray(10**7))", "oom"),
    "processes": ("import os, time\nwhile True:\n    if os.fork() == 0:\n        time.sleep(60)", "pids"),
    "a fork bomb": (
        "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass",
        "timeout",
    ),
    "time": ("while True:\n    pass", "timeout"),
    "output": ("while True:\n    print('x' * 10000)", "output"),
    "a large file": ("open('x', 'wb').truncate(10**9)\nraise SystemExit(1)", "exit"),
    "a full disk": ("i = 0\nwhile True:\n    open(f'/work/{i}', 'wb').write(bytes(10**7)); i += 1", "disk"),
    "files": ("i = 0\nwhile True:\n    open(f'/work/{i}', 'wb'); i += 1", "disk"),
    "its own end": ("import os\nos.abort()", "signal"),
}


@pytest.mark.parametrize("name", ENDS)
def test_a_job_that_ends_badly_hurts_no_other(name: str, sandbox: BubblewrapSandbox, run: Run) -> None:
    """Each limit says its name, and the next job in the same kept sandbox is none the worse. [O-22]"""
    _need_kept(sandbox)
    code, why = ENDS[name]
    limits = Limits(memory_bytes=128 * 1024 * 1024, disk_bytes=64 * 1024 * 1024, pids=20, wall_s=2.0, files=50)
    run("", limits)
    before = _kept(sandbox)
    assert why == run(code, limits).why
    assert (before, b"well\n") == (_kept(sandbox), run("print('well')", limits).output)


def test_a_kept_sandbox_that_dies_is_replaced(sandbox: BubblewrapSandbox, run: Run) -> None:
    """The job that finds it dead runs alone, and the one after has a new one. [O-22]"""
    _need_kept(sandbox)
    run("")
    before = _kept(sandbox)
    for _, kept in sandbox._kept._pool._idle:
        signal.pidfd_send_signal(kept._zygote._first, signal.SIGKILL)
        kept._zygote._process.wait()
    assert [b"1\n", b"2\n"] == [run("print(1)").output, run("print(2)").output]
    assert not set(before[-1:]) & set(_kept(sandbox))
    sandbox.close()


def test_closing_a_session_ends_its_job(sandbox: BubblewrapSandbox, store: Store) -> None:
    """Another thread can end a job, as it can end a command. [O-1]"""
    session = sandbox.open(SandboxSpec(mounts_ro={"/runner": {"job.py": store.put(JOB)}}), store)
    results: list[ExecResult] = []

    def work() -> None:
        argv = ["python3", "-I", "-B", "-c", ALONE]
        code = b"import time; print('on', flush=True); time.sleep(60)"
        results.append(session.run_main(argv, flags=("-I", "-B"), module="/runner/job.py", stdin=code))

    thread = threading.Thread(target=work)
    thread.start()
    while session._watch._child is None:
        time.sleep(0.01)
    session.close()
    thread.join(20)
    assert ["signal"] == [result.why for result in results]


def test_closing_leaves_no_process_folder_or_group(sandbox: BubblewrapSandbox, run: Run) -> None:
    """What was kept is gone with its folder and its groups. [O-1]"""
    _need_kept(sandbox)
    run("")
    kept = [kept for _, kept in sandbox._kept._pool._idle]
    folders = [one._room.path for one in kept] + [folder for one in kept if one._group for folder in one._group.folders]
    assert folders
    sandbox.close()
    assert ([], []) == (_kept(sandbox), [folder for folder in folders if folder.exists()])
    for one in kept:
        with pytest.raises(ProcessLookupError):
            os.kill(one._zygote._process.pid, 0)
