"""Bubblewrap sessions: what a command gets, why it ended, and what a session keeps."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from steelyard.errors import InputError, SandboxFaultError, SandboxUnavailableError
from steelyard.ports import ExecResult, Limits, Sandbox, SandboxSpec, Session
from steelyard.sandbox import cgroups
from steelyard.sandbox.bubblewrap import BubblewrapSandbox
from steelyard.sandbox.launch import BASE_ENV
from steelyard.store import Store

pytestmark = pytest.mark.bubblewrap
Open = Callable[[SandboxSpec], Session]


def _shell(session: Session, script: str, wall_s: float = 20) -> ExecResult:
    return session.run(["/bin/sh", "-c", script], wall_s=wall_s)


def test_python_runs_inside_over_the_files_of_the_tree(opened: Open, store: Store) -> None:
    """`python3` works as a plain name, with its standard library and without anybody's packages. [O-1]"""
    session = opened(SandboxSpec(tree={"shop/cart.py": store.put("TOTAL = 45\n")}))
    code = (
        "import glob, os, site, unittest, json, shop.cart;"
        "print(shop.cart.TOTAL, os.getcwd(), [p for s in site.getsitepackages() for p in glob.glob(s + '/*')])"
    )
    assert b"45 /work []\n" == session.run(["python3", "-c", code]).output


def test_the_environment_is_the_allowlist(opened: Open) -> None:
    """Nothing of the host's environment is inside; bytecode and colours are off. [O-27]"""
    session = opened(SandboxSpec(env={"TZ": "UTC"}))
    env = dict(line.split("=", 1) for line in session.run(["env"]).output.decode().splitlines())
    assert {**BASE_ENV, "TZ": "UTC", "PWD": "/work"} == {
        n: v for n, v in env.items() if n not in ("PATH", "LD_LIBRARY_PATH")
    }
    assert b"" == _shell(session, "ls -A $HOME").output


def test_arguments_reach_the_program_as_they_are(opened: Open) -> None:
    """No shell reads them. [O-23]"""
    odd = ["$(id)", "`id`", "a b", "; exit 9", "--", "-n", "ü\n", ""]
    assert "|".join(odd) + "|" == opened(SandboxSpec()).run(["printf", "%s|", *odd]).output.decode()


@pytest.mark.parametrize("name", ["exit", "cd", "no-such-program"])
def test_a_name_that_is_no_program_ends_with_127(opened: Open, name: str) -> None:
    """A shell builtin is not a program. [O-22]"""
    result = opened(SandboxSpec()).run([name])
    assert ("exit", 127) == (result.why, result.rc)
    assert b"not found" in result.output


@pytest.mark.parametrize(
    ("script", "why", "rc"),
    [
        ("exit 0", "exit", 0),
        ("exit 3", "exit", 3),
        ("kill -9 $$", "signal", 137),
        ("kill -SEGV $$", "signal", 139),
        ("sleep 20", "timeout", None),
        ("yes", "output", None),
        ("head -c 200000 /dev/zero > big", "disk", 153),
        ("for i in 1 2 3 4 5 6 7 8; do head -c 90000 /dev/zero > f$i; done", "disk", 0),
        ("mkdir d; cd d; seq 60 | xargs touch", "disk", 0),
    ],
)
def test_a_result_says_why_the_command_ended(opened: Open, script: str, why: str, rc: int | None) -> None:
    """Exit, signal, time, output, one file or all files too large, too many files. [O-22]"""
    limits = Limits(output_bytes=5000, file_bytes=100_000, disk_bytes=500_000, files=50)
    result = _shell(opened(SandboxSpec(limits=limits)), script, wall_s=0.5 if why == "timeout" else 20)
    assert why == result.why
    assert result.rc in ((rc, None) if why == "disk" else (rc,))  # a full disk may be seen while it is filled
    assert (why == "output") == result.truncated


def test_standard_error_and_output_are_one_stream_in_order(opened: Open) -> None:
    """What a person would have seen in a terminal. [O-23]"""
    assert b"1\n2\n3\n" == _shell(opened(SandboxSpec()), "echo 1; echo 2 >&2; echo 3").output


def test_standard_input_is_given(opened: Open) -> None:
    """Bytes in, bytes out; without any it is empty. [O-23]"""
    session = opened(SandboxSpec())
    assert b"a\0b" == session.run(["cat"], stdin=b"a\0b").output
    assert b"" == session.run(["cat"]).output


def test_what_a_command_leaves_in_work_stays_and_in_tmp_goes(opened: Open) -> None:
    """A session keeps its work tree; /tmp is new for every command. [O-1]"""
    session = opened(SandboxSpec())
    _shell(session, "echo kept > note; echo gone > /tmp/note")
    assert b"kept\nnone\n" == _shell(session, "cat note; cat /tmp/note 2>/dev/null || echo none").output


def test_two_sessions_start_from_fresh_copies(opened: Open, store: Store) -> None:
    """What one session changes, the next does not see. [O-1]"""
    spec = SandboxSpec(tree={"a": store.put("one")})
    first = opened(spec)
    first.write("a", b"two")
    assert b"one" == opened(spec).read("a", 10)
    assert ["modified"] == [change.kind for change in first.diff().changes.values()]


def test_hidden_files_are_mounted_read_only_elsewhere(opened: Open, store: Store) -> None:
    """A mount can be read, not written, and is no part of the difference. [O-5]"""
    session = opened(SandboxSpec(mounts_ro={"/tests": {"sub/test_x.py": store.put("x = 1\n")}}))
    result = _shell(session, "cat /tests/sub/test_x.py; echo y > /tests/sub/test_x.py || rm -r /tests")
    assert result.output.startswith(b"x = 1\n")
    assert result.rc != 0
    assert {} == session.diff().changes


def test_a_working_folder_must_be_inside(opened: Open) -> None:
    """`cwd` is a folder of the workspace. [O-23]"""
    session = opened(SandboxSpec())
    session.write("shop/x", b"")
    assert b"/work/shop\n" == session.run(["pwd"], cwd="/work/shop").output
    for cwd in ("/etc", "..", "nowhere"):
        with pytest.raises(InputError):
            session.run(["pwd"], cwd=cwd)


def test_cpu_and_memory_are_measured(opened: Open, bubblewrap: Sandbox) -> None:
    """A busy command costs CPU time that counts its children. [O-22]"""
    session = opened(SandboxSpec())
    idle = _shell(session, "sleep 0.2")
    busy = _shell(session, "python3 -c 'sum(range(9_000_000))' & wait")
    assert (busy.cpu_ms or 0) > (idle.cpu_ms or 0) + 50
    if "memory" in bubblewrap.caps:
        assert (_shell(session, "python3 -c 'x = bytearray(90_000_000)'").peak_memory_bytes or 0) > 90_000_000


def test_processes_that_are_left_are_counted_and_dead(opened: Open) -> None:
    """A daemon is reported and does not outlive its command. [O-22]"""
    session = opened(SandboxSpec())
    left = _shell(session, "sh -c 'sleep 1; echo late > late' & sleep 0.1")
    assert left.leftover_pids in (1, 2)  # the shell, and its sleep
    _shell(session, "sleep 1.2")
    assert [] == session.paths()
    assert 0 == _shell(session, "true").leftover_pids


def test_sessions_work_at_the_same_time(opened: Open, store: Store) -> None:
    """Sessions from threads do not disturb each other. [O-13]"""
    sessions = [opened(SandboxSpec(tree={"n": store.put(str(n))})) for n in range(4)]

    def work(session: Session) -> bytes:
        return b"".join(_shell(session, "cat n; sleep 0.05").output for _ in range(3))

    with ThreadPoolExecutor(4) as pool:
        assert [b"000", b"111", b"222", b"333"] == list(pool.map(work, sessions))


@pytest.mark.parametrize("ending", ["diff", "close"])
def test_diff_and_close_end_the_command_that_is_running(opened: Open, ending: str) -> None:
    """They do not wait for it. [O-22]"""
    session = opened(SandboxSpec(limits=Limits(wall_s=60)))
    results: list[ExecResult] = []
    thread = threading.Thread(target=lambda: results.append(_shell(session, "echo up > up; sleep 50", wall_s=60)))
    thread.start()
    while "up" not in _host_files(session):
        thread.join(0.05)
    getattr(session, ending)()
    thread.join(20)
    assert not thread.is_alive()
    assert "signal" == results[0].why


def _host_files(session: Session) -> list[str]:
    return [path.name for path in session._work.iterdir()]  # type: ignore[attr-defined]


def test_closing_twice_is_harmless_and_nothing_is_left(bubblewrap: Sandbox, store: Store) -> None:
    """Folder and cgroups are gone, and a closed session says so. [O-1]"""
    session = bubblewrap.open(SandboxSpec(), store)
    root: Path = session._room.path  # type: ignore[attr-defined]
    assert root.exists()
    session.close()
    session.close()
    assert not root.exists()
    places = bubblewrap._machine.places  # type: ignore[attr-defined]
    assert [] == [p for p in (places.unified, places.memory, places.pids, places.cpu) if p and (p / root.name).exists()]
    with pytest.raises(SandboxFaultError, match="closed"):
        session.run(["true"])


def test_what_a_dead_process_left_is_swept(bubblewrap: Sandbox, store: Store) -> None:
    """A scratch folder that nobody holds is removed by the next fresh backend. [O-1]"""
    session = bubblewrap.open(SandboxSpec(), store)
    held: Path = session._room.path  # type: ignore[attr-defined]
    left = held.with_name("steelyard-left-by-a-test")
    left.mkdir()
    (left / ".lock").touch()
    BubblewrapSandbox(bubblewrap._machine).open(SandboxSpec(), store).close()  # type: ignore[attr-defined]
    assert (False, True) == (left.exists(), held.exists())
    session.close()


def test_a_required_guarantee_that_is_missing_is_refused(bubblewrap: Sandbox, store: Store) -> None:
    """Without cgroups memory is not promised, and requiring it fails closed. [O-22]"""
    machine = bubblewrap._machine  # type: ignore[attr-defined]
    bare = BubblewrapSandbox(
        type(machine)(machine.bwrap, machine.version, True, machine.view, cgroups.Places(), nproc=False)
    )
    assert frozenset({"filesystem", "network", "cpu", "wall", "output"}) == bare.caps
    with pytest.raises(SandboxUnavailableError, match=r"memory: .*pids: "):
        bare.open(SandboxSpec(require=("memory", "pids")), store)
    session = bare.open(SandboxSpec(limits=Limits(memory_bytes=200_000_000)), store)
    result = session.run(["python3", "-c", "bytearray(300_000_000)"])
    session.close()
    assert b"MemoryError" in result.output


def test_a_store_that_the_sandbox_would_show_is_refused(bubblewrap: Sandbox) -> None:
    """Contents below a folder that is shown read-only could be read by the code that they judge. [O-5]"""
    with pytest.raises(SandboxUnavailableError, match="readable inside"):
        bubblewrap.open(SandboxSpec(), Store("/usr/share/steelyard-files"))


def test_a_bwrap_that_breaks_later_is_a_fault_and_not_a_failure(bubblewrap: Sandbox, store: Store) -> None:
    """`infra` carries bwrap's words. [O-22]"""
    machine = bubblewrap._machine  # type: ignore[attr-defined]
    broken = type(machine)("/bin/false", "0", True, machine.view, machine.places, nproc=False)
    session = BubblewrapSandbox(broken).open(SandboxSpec(), store)
    result = session.run(["true"])
    session.close()
    assert ("infra", None) == (result.why, result.rc)


def test_disk_is_not_promised_where_the_work_tree_is_too_large_for_tmpfs(bubblewrap: Sandbox, store: Store) -> None:
    """What holds by default need not hold for every limit. [O-22]"""
    with pytest.raises(SandboxUnavailableError, match="disk: "):
        bubblewrap.open(SandboxSpec(limits=Limits(disk_bytes=1 << 60), require=("disk",)), store)
