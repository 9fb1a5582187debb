"""Attacks 22 to 24: daemons, bombs and floods. What a backend does not claim, it must refuse when it is required."""

from __future__ import annotations

import time
from collections.abc import Callable

from steelyard.ports import ExecResult, Limits, Sandbox, Session

MIB = 1024 * 1024
Open = Callable[..., Session]
Python = Callable[..., ExecResult]
Claimed = Callable[[str], bool]

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


def test_attack_22_a_daemon_that_ignores_every_signal_dies_with_its_command(opened: Open, python: Python) -> None:
    """Double fork, a session of its own, all signals ignored: dead when `run` returns. [O-22]"""
    session = opened()
    result = python(session, DAEMON)
    beats = session.read("beat", 10_000)
    time.sleep(0.3)
    assert len(beats) >= 3
    assert beats == session.read("beat", 10_000)
    assert result.leftover_pids >= 1


def test_attack_22_a_daemon_dies_when_its_command_runs_out_of_time(opened: Open, python: Python) -> None:
    """After a time-out nothing writes any more. [O-22]"""
    session = opened()
    assert 0 == python(session, "print(1)").rc
    assert "timeout" == python(session, DAEMON + "\ntime.sleep(60)", wall_s=2.0).why
    beats = session.read("beat", 10_000)
    time.sleep(0.3)
    assert len(beats) >= 3
    assert beats == session.read("beat", 10_000)


def test_attack_23_a_fork_bomb_stops_at_the_limit(claimed: Claimed, opened: Open, python: Python) -> None:
    """The bomb is bounded, dies with its command, and the same session works on. [O-22]"""
    if not claimed("pids"):
        return
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
    assert b"made 10\n" == python(session, code, "10").output
    bomb = python(session, code, "5000")
    made = int(bomb.output.split()[-1])
    assert bomb.rc == 1
    assert 10 < made <= 24
    assert bomb.why in ("pids", "exit")  # without cgroups the kernel does not tell why a fork was refused
    wild = session.run(["/bin/sh", "-c", "b() { b | b & }; b; sleep 60"], wall_s=1.5)
    assert wild.why in ("timeout", "pids", "exit", "signal")
    assert b"made 10\n" == python(session, code, "10").output


def test_attack_23_a_thread_bomb_stops_at_the_limit(claimed: Claimed, opened: Open, python: Python) -> None:
    """Threads are counted as processes are. [O-22]"""
    if not claimed("pids"):
        return
    code = """
import sys, threading, time
made = 0
try:
    for _ in range(int(sys.argv[1])):
        threading.Thread(target=time.sleep, args=(1,), daemon=True).start()
        made += 1
except RuntimeError:
    sys.exit(f"stopped at {made}")
print("made", made)
"""
    session = opened(Limits(pids=24))
    assert b"made 8\n" == python(session, code, "8").output
    bomb = python(session, code, "3000")
    assert 1 == bomb.rc
    assert 8 < int(bomb.output.split()[-1]) <= 24


def test_attack_23_memory_is_bounded_over_all_processes(claimed: Claimed, opened: Open, python: Python) -> None:
    """One large process, or many small ones, end as out of memory; a small one does not. [O-22]"""
    if not claimed("memory"):
        return
    session = opened(Limits(memory_bytes=96 * MIB))
    assert 0 == python(session, "bytearray(20_000_000)").rc
    assert "oom" == python(session, "bytearray(300_000_000)").why
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
    assert "oom" == python(opened(Limits(memory_bytes=96 * MIB)), many).why


def test_attack_23_a_busy_loop_in_many_processes_ends_with_the_clock(
    backend: Sandbox, opened: Open, python: Python
) -> None:
    """CPU is bounded by the wall clock over the whole tree; what was burnt is reported where it is known. [O-22]"""
    code = "import os\nfor _ in range(3): os.fork()\nwhile True: pass"
    session = opened()
    assert 0 == python(session, "print(1)").rc
    result = python(session, code, wall_s=2.0)
    assert "timeout" == result.why
    assert result.wall_ms < 20_000
    assert result.cpu_ms is None if "memory" not in backend.caps else (result.cpu_ms or 0) > 50


def test_attack_24_a_flood_of_output_is_cut(opened: Open) -> None:
    """Gigabytes to both streams cost the limit and no more. [O-22]"""
    session = opened(Limits(output_bytes=10_000))
    assert 9_000 == len(session.run(["head", "-c", "9000", "/dev/zero"]).output)
    flood = session.run(["/bin/sh", "-c", "cat /dev/zero & cat /dev/zero >&2"])
    assert ("output", 10_000, True) == (flood.why, len(flood.output), flood.truncated)


SPARSE = "import sys\nfile = open('sparse', 'wb')\nfile.truncate(int(sys.argv[1]))\n"
NAMES = "i = 0\nwhile True:\n    open(f'n{i}', 'w').close(); i += 1"


def test_attack_24_sparse_and_many_files_do_not_fill_the_host(claimed: Claimed, opened: Open, python: Python) -> None:
    """A sparse terabyte, many files and a million names end at a limit; small honest ones do not. [O-22]"""
    if not claimed("disk"):
        return
    session = opened(Limits(file_bytes=MIB, disk_bytes=4 * MIB, files=200))
    assert 0 == session.run(["/bin/sh", "-c", "head -c 500000 /dev/zero > fine"]).rc
    assert 0 == python(session, SPARSE, "900000").rc
    assert 0 != python(session, SPARSE, str(1 << 40)).rc
    many = session.run(["/bin/sh", "-c", "i=0; while :; do i=$((i+1)); head -c 900000 /dev/zero > f$i || exit 5; done"])
    assert "disk" == many.why
    inodes = opened(Limits(file_bytes=MIB, disk_bytes=4 * MIB, files=200))
    assert 0 == python(inodes, NAMES.replace("while True", "while i < 50")).rc
    assert "disk" == python(inodes, NAMES).why


def test_attack_24_the_private_temporary_folder_is_small(opened: Open) -> None:
    """/tmp takes some megabytes and no more than its share. [O-22]"""
    fill = "i=0; while [ $i -lt $0 ]; do i=$((i+1)); head -c 1000000 /dev/zero > /tmp/$i || exit 5; done"
    assert 0 == opened().run(["/bin/sh", "-c", fill, "5"]).rc
    full = opened().run(["/bin/sh", "-c", fill, "600"])
    assert full.rc == 5 or full.why in ("disk", "oom")


def test_attack_24_a_file_that_is_deleted_while_open_is_still_bounded(
    claimed: Claimed, opened: Open, python: Python
) -> None:
    """Space without a name is bounded by the memory or the disk limit. [O-22]"""
    if not claimed("disk"):
        return
    code = """
import os, sys
held = []
try:
    for n in range(int(sys.argv[1])):
        file = open(f"held{n}", "wb")
        os.unlink(f"held{n}")
        file.write(bytes(10_000_000)); file.flush(); held.append(file)
except OSError as error:
    sys.exit(f"refused: {error}")
print("held")
"""
    limits = Limits(memory_bytes=128 * MIB, disk_bytes=MIB * 64)
    assert b"held\n" == python(opened(limits), code, "2").output
    hostile = python(opened(limits), code, "30")
    assert hostile.why in ("oom", "disk") or b"refused: " in hostile.output
