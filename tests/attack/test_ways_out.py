"""Attacks 29 and 30: the network, and privileges to climb with."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

from steelyard.ports import ExecResult, Session

Open = Callable[..., Session]
Python = Callable[..., ExecResult]


def test_attack_29_there_is_no_way_to_the_network(opened: Open, python: Python, tmp_path: Path) -> None:
    """Host ports, other machines, names and the host's unix sockets are out of reach; own sockets work. [O-1]"""
    code = """
import os, socket, sys
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
tried("engine", lambda: socket.socket(socket.AF_UNIX).connect("/var/run/docker.sock"))
tried("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
up = [n for _, n in socket.if_nameindex() if n == "lo" or int(open(f"/sys/class/net/{n}/flags").read(), 16) & 1] \\
    if os.path.isdir("/sys/class/net") else [n for _, n in socket.if_nameindex()]
print(sorted(up))
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
        said = python(opened(), code, str(port.getsockname()[1]), str(tmp_path / "s"), abstract).output.decode()
    *lines, interfaces = said.splitlines()
    assert "['lo']" == interfaces
    assert ["own reached"] == [line for line in lines if line.endswith("reached")]
    assert 9 == len(lines)


CLIMB = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def tried(name, call):
    ctypes.set_errno(0)
    print(name, "done" if call() == 0 else "refused")
tried("honest", lambda: libc.prctl(15, b"name", 0, 0, 0))
tried("user namespace", lambda: libc.unshare(0x10000000))
tried("mount namespace", lambda: libc.unshare(0x00020000))
tried("mount", lambda: libc.mount(b"x", b"/tmp", b"tmpfs", 0, None))
tried("chroot", lambda: libc.chroot(b"/work"))
tried("root", lambda: libc.setuid(0) or (1 if os.getuid() else 0))
tried("hostname", lambda: libc.sethostname(b"x", 1))
tried("module", lambda: libc.syscall(313, -1, b"", 0))
"""


def test_attack_30_there_are_no_privileges_to_climb_with(opened: Open, python: Python) -> None:
    """No capability, no new namespace, no mount, no setuid gain, no root; an ordinary system call works. [O-1]"""
    session = opened()
    status = session.run(["cat", "/proc/self/status"]).output.decode()
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert {"0000000000000000"} == {value for name, value in fields.items() if name.startswith("Cap")}
    assert "1" == fields["NoNewPrivs"]
    assert "0" not in fields["Uid"].split()
    lines = python(session, CLIMB).output.decode().splitlines()
    assert "honest done" == lines[0]
    assert 8 == len(lines)
    assert [] == [line for line in lines[1:] if not line.endswith("refused")]


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


def test_attack_30_the_launcher_s_word_cannot_be_taken_back(opened: Open, python: Python) -> None:
    """Code that reaches into the first process cannot turn its failure into a fault of the sandbox. [O-22]"""
    code = """
import os, sys
for pid in ("1", str(os.getppid())):
    try:
        names = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        names = []
    for name in names:
        for flags in (os.O_RDONLY | os.O_NONBLOCK, os.O_WRONLY | os.O_NONBLOCK):
            try:
                handle = os.open(f"/proc/{pid}/fd/{name}", flags)
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
    assert ("exit", 0) == ((honest := python(session, "print(1)")).why, honest.rc)
    result = python(session, code)
    assert ("exit", 3) == (result.why, result.rc)
