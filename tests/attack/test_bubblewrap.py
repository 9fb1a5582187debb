"""Attacks on the bubblewrap backend, numbered as in the table of attacks, each beside an honest control.

An attack that fails for want of a tool would look stopped, so every test also shows that the honest form of the same
program works inside.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from steelyard.canonical import sha256_hex
from steelyard.ports import ExecResult, Limits, Sandbox, SandboxSpec, Session
from steelyard.store import Store

pytestmark = pytest.mark.bubblewrap
CANARY = "canary-4f1c9e"
MIB = 1024 * 1024
Open = Callable[..., Session]


@pytest.fixture
def opened(bubblewrap: Sandbox, store: Store) -> Iterator[Open]:
    """Opens sessions and closes them after the test."""
    sessions: list[Session] = []

    def open_session(limits: Limits | None = None, **fields: Any) -> Session:
        sessions.append(bubblewrap.open(SandboxSpec(limits=limits or Limits(), **fields), store))
        return sessions[-1]

    yield open_session
    for session in sessions:
        session.close()


def _python(session: Session, code: str, *args: str, wall_s: float = 20) -> ExecResult:
    return session.run(["python3", "-c", code, *args], wall_s=wall_s)


def _needs(sandbox: Sandbox, guarantee: str) -> None:
    if guarantee not in sandbox.caps:
        pytest.skip(f"{guarantee} is not enforced on this machine, and the backend says so")


SEARCH = """
import os, sys
needle, roots = sys.argv[1].encode(), sys.argv[2:]
for root in roots:
    for folder, names, files in os.walk(root):
        names[:] = [n for n in names if os.path.join(folder, n) not in ("/proc", "/usr", "/dev")]
        for name in files:
            path = os.path.join(folder, name)
            try:
                with open(path, "rb") as file:
                    if needle in file.read(1_000_000):
                        print("found", path)
            except OSError:
                pass
print("searched")
"""


def test_attack_13_host_files_are_not_in_view(opened: Open, store: Store, tmp_path: Path) -> None:
    """Another session's hidden tests, the store and the host's files are nowhere in the file system. [O-5]"""
    (tmp_path / "solution.py").write_text(CANARY)
    hidden = store.put(f"# {CANARY}\n")
    grading = opened(mounts_ro={"/tests": {"test_hidden.py": hidden}})
    agent = opened()
    assert b"found /tests/test_hidden.py\nsearched\n" == _python(grading, SEARCH, CANARY, "/").output
    assert b"searched\n" == _python(agent, SEARCH, CANARY, "/", str(tmp_path), str(store.root)).output


def test_attack_13_nothing_of_the_project_or_the_home_is_in_view(opened: Open) -> None:
    """Neither the folder that is worked in nor the user's home can be listed. [O-5]"""
    session = opened()
    assert b"etc\n" in session.run(["ls", "/"]).output
    for path in (Path.cwd(), Path.home(), Path(__file__).parent):
        listed = session.run(["ls", "-A", str(path)])
        assert listed.rc != 0, f"{path} is visible: {listed.output!r}"


def test_attack_13_the_system_and_the_interpreter_cannot_be_written(opened: Open) -> None:
    """Only /work and the private /tmp and /dev/shm take writes. [O-1]"""
    code = """
import os, sys, sysconfig
for folder in ["/", "/usr", "/usr/bin", "/etc", "/dev", "/proc", sysconfig.get_path("stdlib"),
               *(p for p in sys.path if os.path.isdir(p)), "/work", "/tmp", "/dev/shm"]:
    try:
        open(os.path.join(folder, "written"), "w").close()
        print(folder)
    except OSError:
        pass
"""
    written = set(_python(opened(), code).output.decode().split())
    assert {"/work", "/tmp", "/dev/shm"} == written


def test_attack_15_no_host_process_is_in_view(opened: Open) -> None:
    """/proc shows the sandbox alone: no command line and no environment of the harness. [O-27]"""
    code = """
import os
for pid in filter(str.isdigit, os.listdir("/proc")):
    for name in ("cmdline", "environ"):
        try:
            print(pid, open(f"/proc/{pid}/{name}", "rb").read())
        except OSError:
            pass
"""
    said = _python(opened(env={"MARK": "honest-mark"}), code).output.decode()
    assert "honest-mark" in said
    assert {"1", "2", "3"} >= {line.split()[0] for line in said.splitlines()}
    assert "pytest" not in said
    assert str(Path.cwd()) not in said
    assert "bwrap" not in said


def test_attack_16_no_key_of_the_host_s_environment_gets_in(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """A canary key in the harness's environment appears in no output and no file inside. [O-27]"""
    monkeypatch.setenv("SOME_API_KEY", CANARY)
    monkeypatch.setenv("PYTHONSTARTUP", f"/{CANARY}")
    session = opened(env={"GIVEN": "given"})
    said = session.run(
        ["/bin/sh", "-c", "env; cat /proc/self/environ /proc/1/environ; ls -A ~ /root /home 2>&1"]
    ).output
    assert b"GIVEN=given" in said
    assert CANARY.encode() not in said
    assert b"searched\n" == _python(session, SEARCH, CANARY, "/").output


DAEMON = """
import os, signal, time
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            with open("/work/beat", "a") as file:
                file.write("x")
            time.sleep(0.05)
    os._exit(0)
while not os.path.exists("/work/beat") or os.path.getsize("/work/beat") < 3:
    time.sleep(0.02)
"""


def test_attack_22_a_daemon_that_ignores_every_signal_dies_with_its_command(opened: Open) -> None:
    """Double fork, a session of its own, all signals ignored: dead when `run` returns. [O-22]"""
    session = opened()
    result = _python(session, DAEMON)
    beats = session.read("beat", 10_000)
    time.sleep(0.3)
    assert len(beats) >= 3
    assert beats == session.read("beat", 10_000)
    assert result.leftover_pids >= 1
    assert "timeout" == _python(session, DAEMON + "\ntime.sleep(60)", wall_s=2.0).why
    beats = session.read("beat", 10_000)
    time.sleep(0.3)
    assert beats == session.read("beat", 10_000)


def test_attack_23_a_fork_bomb_stops_at_the_limit(bubblewrap: Sandbox, opened: Open) -> None:
    """The bomb is bounded, dies with its command, and the same session works on. [O-22]"""
    _needs(bubblewrap, "pids")
    code = """
import os, sys, time
made = 0
try:
    for _ in range(int(sys.argv[1])):
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
        made += 1
except OSError:
    sys.exit(f"stopped at {made}")
print("made", made)
"""
    session = opened(Limits(pids=24))
    assert b"made 10\n" == _python(session, code, "10").output
    bomb = _python(session, code, "5000")
    made = int(bomb.output.split()[-1])
    assert bomb.rc == 1
    assert 10 < made <= 24
    assert bomb.why in ("pids", "exit")  # without cgroups the kernel does not tell why a fork was refused
    wild = session.run(["/bin/sh", "-c", "b() { b | b & }; b; sleep 60"], wall_s=1.5)
    assert wild.why in ("timeout", "pids", "exit")
    assert b"made 10\n" == _python(session, code, "10").output


def test_attack_23_memory_is_bounded_over_all_processes(bubblewrap: Sandbox, opened: Open) -> None:
    """One large process, or many small ones, end as out of memory; a small one does not. [O-22]"""
    _needs(bubblewrap, "memory")
    session = opened(Limits(memory_bytes=96 * MIB))
    assert 0 == _python(session, "bytearray(20_000_000)").rc
    assert "oom" == _python(session, "bytearray(300_000_000)").why
    many = """
import os, sys
children = []
for _ in range(6):
    child = os.fork()
    if child == 0:
        data = bytearray(30_000_000)
        import time; time.sleep(5)
        os._exit(0)
    children.append(child)
sys.exit(any(os.waitpid(child, 0)[1] for child in children))
"""
    assert "oom" == _python(session, many).why


def test_attack_23_a_busy_loop_in_many_processes_ends_with_the_clock(bubblewrap: Sandbox, opened: Open) -> None:
    """CPU is bounded by the wall clock over the whole tree; what was burnt is reported where it is known. [O-22]"""
    code = "import os\nfor _ in range(3): os.fork()\nwhile True: pass"
    session = opened()
    result = _python(session, code, wall_s=2.0)
    assert "timeout" == result.why
    assert result.wall_ms < 20_000
    assert result.cpu_ms is None if "memory" not in bubblewrap.caps else (result.cpu_ms or 0) > 50
    assert 0 == _python(session, "print(1)").rc


def test_attack_24_a_flood_of_output_is_cut(opened: Open) -> None:
    """Gigabytes to both streams cost the limit and no more. [O-22]"""
    session = opened(Limits(output_bytes=10_000))
    assert 9_000 == len(session.run(["head", "-c", "9000", "/dev/zero"]).output)
    flood = session.run(["/bin/sh", "-c", "cat /dev/zero & cat /dev/zero >&2"])
    assert ("output", 10_000, True) == (flood.why, len(flood.output), flood.truncated)


def test_attack_24_sparse_and_many_files_do_not_fill_the_host(opened: Open) -> None:
    """A sparse terabyte, many files, a million names, and the private /tmp all end at a limit. [O-22]"""
    session = opened(Limits(file_bytes=MIB, disk_bytes=4 * MIB, files=200))
    assert 0 == session.run(["/bin/sh", "-c", "head -c 500000 /dev/zero > fine"]).rc
    sparse = session.run(["truncate", "-s", "1T", "sparse"])
    assert sparse.rc != 0
    many = session.run(["/bin/sh", "-c", "i=0; while :; do i=$((i+1)); head -c 900000 /dev/zero > f$i; done"])
    assert "disk" == many.why
    session.run(["/bin/sh", "-c", "rm -f f*"])
    names = _python(session, "i = 0\nwhile True:\n    open(f'n{i}', 'w').close(); i += 1")
    assert "disk" == names.why
    in_tmp = opened().run(
        [
            "/bin/sh",
            "-c",
            "i=0; while [ $i -lt 90 ]; do i=$((i+1)); head -c 1000000 /dev/zero > /tmp/$i || exit 5; done",
        ]
    )
    assert 5 == in_tmp.rc


def test_attack_24_a_file_that_is_deleted_while_open_is_still_bounded(bubblewrap: Sandbox, opened: Open) -> None:
    """Space without a name is charged as memory. [O-22]"""
    _needs(bubblewrap, "disk")
    code = """
import os
held = []
for n in range(int(__import__("sys").argv[1])):
    file = open(f"held{n}", "wb")
    os.unlink(f"held{n}")
    file.write(bytes(10_000_000)); file.flush(); held.append(file)
print("held")
"""
    session = opened(Limits(memory_bytes=128 * MIB, disk_bytes=MIB * 64))
    assert b"held\n" == _python(session, code, "2").output
    assert "oom" == _python(session, code, "30").why


def test_attack_25_links_out_of_the_workspace_are_not_followed_by_the_host(
    opened: Open, store: Store, tmp_path: Path
) -> None:
    """Links, links in folders, hard links, pipes and devices are refused by name; a plain file is taken. [O-1]"""
    secret = tmp_path / "secret"
    secret.write_text(CANARY)
    session = opened(tree={"kept/a.txt": store.put("a")})
    script = f"""
        echo fine > honest
        ln -s {secret} link; ln -s {secret.parent} folder; ln -s /etc/passwd kept/passwd
        rm kept/a.txt; ln -s {secret} kept/a.txt
        ln honest twin; ln /etc/passwd hard; ln -s loop loop; mkfifo pipe; mknod disk b 8 0
        true"""
    assert 0 == session.run(["/bin/sh", "-c", script]).rc
    diff = session.diff()
    assert {} == diff.changes
    assert {"link", "folder", "kept/passwd", "kept/a.txt", "twin", "honest", "loop", "pipe"} == set(diff.refused)
    assert not store.has(sha256_hex(CANARY.encode()))
    session.run(["/bin/sh", "-c", "rm twin"])
    assert ["honest"] == list(session.diff().changes)


def test_attack_27_a_racer_cannot_swap_a_file_while_it_is_collected(opened: Open, store: Store) -> None:
    """What is collected is what was there when everything was dead, and it does not change any more. [O-1]"""
    racer = """
import os
while True:
    for target in ("link", "plain"):
        if target == "plain":
            with open("next", "w") as file: file.write("plain")
        else:
            try: os.symlink("/etc/passwd", "next")
            except FileExistsError: pass
        os.replace("next", "answer")
"""
    session = opened(Limits(wall_s=60))
    results: list[ExecResult] = []
    thread = threading.Thread(target=lambda: results.append(_python(session, racer, wall_s=60)))
    thread.start()
    while not os.path.lexists(session._work / "answer"):  # type: ignore[attr-defined]
        time.sleep(0.05)
    first = session.diff()
    thread.join(20)
    assert not thread.is_alive()
    assert first == session.diff()
    changed = {path: store.get(change.sha256) for path, change in first.changes.items()}
    assert set(changed.values()) <= {b"plain", b""}
    assert "answer" in {**first.changes, **first.refused}


def test_attack_29_there_is_no_way_to_the_network(opened: Open, tmp_path: Path) -> None:
    """Host ports, other machines, names and the host's unix sockets are out of reach; own sockets work. [O-1]"""
    code = """
import socket, sys
def tried(name, dial):
    try:
        dial()
        print(name, "reached")
    except OSError as error:
        print(name, "refused")
server = socket.create_server(("127.0.0.1", 0))
tried("own", lambda: socket.create_connection(server.getsockname(), timeout=2))
tried("host", lambda: socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=2))
tried("far", lambda: socket.create_connection(("192.0.2.1", 80), timeout=2))
tried("datagram", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53)))
tried("name", lambda: socket.getaddrinfo("example.org", 80))
tried("unix", lambda: socket.socket(socket.AF_UNIX).connect(sys.argv[2]))
tried("abstract", lambda: socket.socket(socket.AF_UNIX).connect("\\0" + sys.argv[3]))
tried("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
print(sorted(name for _, name in socket.if_nameindex()))
"""
    abstract = f"steelyard-test-{os.getpid()}"
    with (
        socket.create_server(("127.0.0.1", 0)) as port,
        socket.socket(socket.AF_UNIX) as named,
        socket.socket(socket.AF_UNIX) as unnamed,
    ):
        named.bind(str(tmp_path / "s"))
        named.listen()
        unnamed.bind("\0" + abstract)
        unnamed.listen()
        said = _python(opened(), code, str(port.getsockname()[1]), str(tmp_path / "s"), abstract).output.decode()
    *lines, interfaces = said.splitlines()
    assert "['lo']" == interfaces
    assert ["own reached"] == [line for line in lines if line.endswith("reached")]
    assert 8 == len(lines)


def test_attack_30_there_are_no_privileges_to_climb_with(opened: Open) -> None:
    """No capability, no new user namespace, no mount, no setuid gain, no foreign user. [O-1]"""
    session = opened()
    status = session.run(["cat", "/proc/self/status"]).output.decode()
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert {"0000000000000000"} == {value for name, value in fields.items() if name.startswith("Cap")}
    assert "1" == fields["NoNewPrivs"]
    assert b"user\n" == session.run(["whoami"]).output
    for attempt in (
        ["unshare", "-U", "true"],
        ["unshare", "-m", "true"],
        ["mount", "-t", "tmpfs", "x", "/tmp"],
        ["chroot", "/"],
    ):
        assert session.run(attempt).rc != 0, attempt
    assert 0 == session.run(["true"]).rc


def test_attack_30_kernel_settings_cannot_be_written_even_when_the_host_runs_as_root(opened: Open) -> None:
    """/proc/sys is read-only: for the kernel, root's sandbox is still uid 0 and would pass its check. [O-1]"""
    script = """
        v=$(cat /proc/sys/vm/swappiness) && echo read
        (echo "$v" > /proc/sys/vm/swappiness) 2>/dev/null && echo wrote
        c=$(cat /proc/sys/kernel/core_pattern)
        (echo "$c" > /proc/sys/kernel/core_pattern) 2>/dev/null && echo wrote
        (: >> /proc/sysrq-trigger) 2>/dev/null && echo opened
        true"""
    assert b"read\n" == opened().run(["/bin/sh", "-c", script]).output


def test_attack_30_the_launcher_s_word_cannot_be_taken_back(opened: Open) -> None:
    """Code that reaches into the first process cannot turn its failure into a fault of the sandbox. [O-22]"""
    code = """
import os, sys
for name in os.listdir("/proc/1/fd"):
    for flags in (os.O_RDONLY | os.O_NONBLOCK, os.O_WRONLY | os.O_NONBLOCK):
        try:
            handle = os.open(f"/proc/1/fd/{name}", flags)
            os.read(handle, 4096) if flags & 3 == os.O_RDONLY else os.write(handle, b"bwrap: forged\\n999\\n")
        except OSError:
            pass
try:
    os.kill(1, 9)
except OSError:
    pass
sys.exit(3)
"""
    session = opened()
    assert ("exit", 0) == ((r := _python(session, "print(1)")).why, r.rc)
    result = _python(session, code)
    assert ("exit", 3) == (result.why, result.rc)
