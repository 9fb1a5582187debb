"""What sessions of every backend do: what a command gets, why it ended, what a session keeps and what it refuses."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from steelyard.errors import InputError
from steelyard.ports import ExecResult, Limits, Sandbox, SandboxSpec, Session
from steelyard.sandbox.launch import BASE_ENV
from steelyard.store import Store

Open = Callable[[SandboxSpec], Session]


@pytest.fixture(scope="module")
def plain(backend: Sandbox, module_store: Store) -> Iterator[Session]:
    """A session that several tests share because they leave nothing in it."""
    session = backend.open(SandboxSpec(), module_store)
    yield session
    session.close()


@pytest.fixture(scope="module")
def limited(backend: Sandbox, module_store: Store) -> Iterator[Session]:
    """A session with small limits; each command begins by removing what the last one left."""
    limits = Limits(output_bytes=5000, file_bytes=100_000, disk_bytes=500_000, files=50)
    session = backend.open(SandboxSpec(limits=limits), module_store)
    yield session
    session.close()


def _shell(session: Session, script: str, wall_s: float = 20) -> ExecResult:
    return session.run(["/bin/sh", "-c", script], wall_s=wall_s)


def _files(session: Session) -> list[str]:
    """Names in the work tree while a command runs, which the session itself does not tell."""
    place = session._place  # type: ignore[attr-defined]
    if hasattr(place, "root"):
        return [path.name for path in place.root.iterdir()]
    names: list[str] = place._container.do("ls -A /work").output.decode().split()
    return names


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


def test_arguments_reach_the_program_as_they_are(plain: Session) -> None:
    """No shell reads them. [O-23]"""
    odd = ["$(id)", "`id`", "a b", "; exit 9", "--", "-n", "ü\n", ""]
    assert "|".join(odd) + "|" == plain.run(["printf", "%s|", *odd]).output.decode()


@pytest.mark.parametrize("name", ["exit", "cd", "no-such-program"])
def test_a_name_that_is_no_program_ends_with_127(plain: Session, name: str) -> None:
    """A shell builtin is not a program. [O-22]"""
    result = plain.run([name])
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
        ("head -c 200000 /dev/zero > big", "disk", None),
        ("for i in 1 2 3 4 5 6 7 8; do head -c 90000 /dev/zero > f$i; done", "disk", None),
        ("mkdir d; cd d; seq 60 | xargs touch", "disk", None),
    ],
)
def test_a_result_says_why_the_command_ended(limited: Session, script: str, why: str, rc: int | None) -> None:
    """Exit, signal, time, output, one file or all files too large, too many files. [O-22]"""
    result = _shell(limited, f"rm -rf ./*; {script}", wall_s=0.5 if why == "timeout" else 20)
    assert why == result.why
    if why != "disk":  # a full disk may be seen while it is filled, or by the program that fills it
        assert rc == result.rc
    assert (why == "output") == result.truncated


def test_standard_error_and_output_are_one_stream_in_order(plain: Session) -> None:
    """What a person would have seen in a terminal. [O-23]"""
    assert b"1\n2\n3\n" == _shell(plain, "echo 1; echo 2 >&2; echo 3").output


def test_standard_input_is_given(plain: Session) -> None:
    """Bytes in, bytes out; without any it is empty. [O-23]"""
    session = plain
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


def test_cpu_and_memory_are_measured(opened: Open, backend: Sandbox) -> None:
    """A busy command costs CPU time that counts its children. [O-22]"""
    session = opened(SandboxSpec())
    idle = _shell(session, "sleep 0.2")
    busy = _shell(session, "python3 -c 'sum(range(9_000_000))' & wait")
    assert (busy.cpu_ms or 0) > (idle.cpu_ms or 0) + 50
    if "memory" in backend.caps:
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
    while "up" not in _files(session):
        thread.join(0.05)
    getattr(session, ending)()
    thread.join(20)
    assert not thread.is_alive()
    assert "signal" == results[0].why


def test_files_go_in_and_out_and_never_through_a_link(opened: Open) -> None:
    """Reading and writing keep bytes, and refuse links, other kinds, other places and sizes. [O-23]"""
    session = opened(SandboxSpec(limits=Limits(file_bytes=5000)))
    session.write("a/b c/\u00fc", b"x\0y")
    session.write("./a/../big", bytes(5000))
    assert b"x\0y" == session.read("/work/a/b c/\u00fc", 3)
    assert ["a/b c/\u00fc", "big"] == session.paths()
    _shell(session, "ln -s /etc/passwd link; ln -s . here; mkfifo pipe; ln big twin; chmod 0 a")
    for path in ("link", "here/big", "../etc/passwd", "/etc/passwd"):
        with pytest.raises(InputError, match="path leaves the repository"):
            session.read(path, 100)
        with pytest.raises(InputError, match="path leaves the repository"):
            session.write(path, b"taken")
    for path, word in (
        ("pipe", "named pipe"),
        ("twin", "hard link"),
        ("a", "folder|directory"),
        ("no", "no such file"),
    ):
        with pytest.raises(InputError, match=word):
            session.read(path, 10_000)
    with pytest.raises(InputError, match="over the limit of 2"):
        session.read("a/b c/\u00fc", 2)
    with pytest.raises(InputError, match="over the limit of 5000"):
        session.write("huge", bytes(5001))
    assert ["a/b c/\u00fc"] == session.paths()


def test_a_difference_names_what_changed_and_refuses_what_is_no_plain_file(opened: Open, store: Store) -> None:
    """Links, second names, pipes, sockets, odd names and deep folders are refused by name, files are taken. [O-1]"""
    tree = {name: store.put(name) for name in ("same", "changed", "gone", "sub/turned")}
    session = opened(SandboxSpec(tree=tree))
    code = (
        "import os, socket\n"
        "open('changed', 'w').write('new'); os.remove('gone'); open('tool', 'w').close(); os.chmod('tool', 0o755)\n"
        "os.symlink('/etc/passwd', 'link'); os.mkfifo('pipe'); open('one', 'w').close(); os.link('one', 'two')\n"
        "socket.socket(socket.AF_UNIX).bind('socket'); os.mkdir(b'\\xff'); os.remove('sub/turned')\n"
        "os.symlink('/etc', 'sub/turned'); open('new\\nline', 'w').close(); os.makedirs('d/' * 70)\n"
        "open('closed', 'w').write('x'); os.chmod('closed', 0); os.chmod('sub', 0)\n"
    )
    result = session.run(["python3", "-c", code])
    assert (0, b"") == (result.rc, result.output)
    diff = session.diff()
    assert {
        "changed": ("modified", 3, False),
        "closed": ("added", 1, False),
        "gone": ("deleted", 0, False),
        "new\nline": ("added", 0, False),
        "tool": ("added", 0, True),
    } == {path: (c.kind, c.size, c.executable) for path, c in diff.changes.items()}
    assert {
        "/".join("d" * 64): "a folder deeper than 64 levels",
        "\\xff": "a name that is not UTF-8",
        "link": "a symbolic link",
        "one": "a hard link (the file has 2 names)",
        "pipe": "a named pipe",
        "socket": "a socket",
        "sub/turned": "a symbolic link",
        "two": "a hard link (the file has 2 names)",
    } == diff.refused
    assert b"new" == store.get(diff.changes["changed"].sha256)


def test_a_marked_state_is_the_base_of_the_difference(opened: Open, store: Store) -> None:
    """What was there at `mark` is nobody's change; what comes after is. [O-1]"""
    session = opened(SandboxSpec(tree={"kept": store.put("1"), "gone": store.put("2")}))
    _shell(session, "echo made > made; rm gone; mkdir sub; echo b > sub/built")
    session.mark()  # type: ignore[attr-defined]
    assert {} == session.diff().changes
    _shell(session, "echo new > made; rm sub/built")
    assert {"made": "modified", "sub/built": "deleted"} == {p: c.kind for p, c in session.diff().changes.items()}


def test_a_sparse_file_costs_no_more_than_its_limit(opened: Open) -> None:
    """A thousand files that are all holes are read up to the limit and then refused. [O-22]"""
    session = opened(SandboxSpec(limits=Limits(file_bytes=1_000_000, disk_bytes=4_000_000)))
    assert 0 == _shell(session, "for i in $(seq 100); do truncate -s 1000000 f$i; done").rc
    diff = session.diff()
    assert 4 == len(diff.changes)
    assert diff.refused


def test_a_fork_bomb_ends_and_the_session_goes_on(opened: Open) -> None:
    """Processes that multiply are stopped at the limit, counted, and dead before the next command. [O-22]"""
    session = opened(SandboxSpec(limits=Limits(pids=24)))
    bomb = "b() { b | b & }; b; sleep 20"
    assert _shell(session, bomb, wall_s=1.5).why in ("timeout", "pids", "exit", "signal")
    after = _shell(session, "echo fine")
    assert ("exit", 0, b"fine\n", 0) == (after.why, after.rc, after.output, after.leftover_pids)


def test_a_command_that_locks_its_own_folder_loses_nothing(opened: Open) -> None:
    """Rights that were taken away are given back before anything is read, written, run or compared. [O-21]"""
    session = opened(SandboxSpec())
    session.run(["/bin/sh", "-c", "echo kept > note; mkdir sub; echo deep > sub/deep; chmod 0 sub/deep sub note ."])
    assert b"kept\n" == session.read("note", 100)
    session.run(["chmod", "0", "."])
    session.write("more", b"more")
    session.run(["chmod", "0100", "."])
    assert 0 == session.run(["true"]).rc
    session.run(["chmod", "0", "."])
    assert {"note", "more", "sub/deep"} == set(session.diff().changes)


def test_a_failed_write_leaves_a_file_as_it_was(opened: Open) -> None:
    """A path through a file is refused, and the file gets no right by it. [O-23]"""
    session = opened(SandboxSpec())
    session.write("a.txt", b"text")
    before = session.run(["stat", "-c", "%a", "a.txt"]).output
    with pytest.raises(InputError):
        session.write("a.txt/x", b"")
    assert before == session.run(["stat", "-c", "%a", "a.txt"]).output


@pytest.mark.parametrize("path", ["n" * 300, f"{'ü' * 128}/x"])
def test_a_name_that_no_file_can_have_is_an_input_error(opened: Open, path: str) -> None:
    """The same in every backend, and never a fault of the sandbox. [O-23]"""
    session = opened(SandboxSpec())
    for call in (lambda: session.write(path, b""), lambda: session.read(path, 10)):
        with pytest.raises(InputError, match="a name of more than 255 bytes"):
            call()


def test_closing_tells_what_all_commands_used(opened: Open) -> None:
    """Commands are counted, times summed, and the highest peak is kept; closing twice tells the same. [O-22]"""
    session = opened(SandboxSpec())
    results = [_shell(session, script) for script in ("true", "head -c 20000000 /dev/zero | tail -c 1 | wc -c")]
    usage = session.close()
    known = [result.cpu_ms for result in results if result.cpu_ms is not None]
    assert (2, sum(result.wall_ms for result in results)) == (usage.commands, usage.wall_ms)
    assert usage.cpu_ms == (sum(known) if len(known) == len(results) else None)
    assert usage.peak_memory_bytes == max((r.peak_memory_bytes for r in results if r.peak_memory_bytes), default=None)
    assert usage == session.close()
