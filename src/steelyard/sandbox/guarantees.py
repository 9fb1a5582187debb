"""Does a backend keep its guarantees on this machine? Real programs try, an honest one beside each hostile one.

A sandbox that refuses everything also looks safe, so a guarantee counts as enforced only when the honest control
passed and the hostile one was stopped. Takes a few seconds, in one session. The probe of the disk comes last.
Not covered: escapes through the kernel.
Easy to break: a hostile program that outlives its probe; each ends by itself after seconds.
"""

from __future__ import annotations

import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, get_args

import msgspec

from steelyard.errors import SandboxFaultError
from steelyard.ports import ExecResult, Guarantee, Limits, Sandbox, SandboxSpec, Session
from steelyard.store import Store

State = Literal["enforced", "not enforced", "untested"]
_MIB = 1024 * 1024
_LIMITS = Limits(memory_bytes=128 * _MIB, pids=16, wall_s=10, output_bytes=65536, disk_bytes=32 * _MIB)
_THROUGH = "got-through"  # what a hostile program prints, or leaves, when nothing stopped it

_FORKS = f"""
import os, sys, time
held = int(sys.argv[2])
try:
    for _ in range(int(sys.argv[1])):
        read, write = os.pipe()
        if os.fork() == 0:  # all must be alive at once: their memory is held until the end
            data = bytearray(held)
            data[::4096] = b"x" * len(data[::4096])
            os.write(write, b"k")
            time.sleep(20)
            os._exit(0)
        os.close(write)
        if os.read(read, 1) != b"k":
            raise MemoryError("a child did not come up")
    if os.waitpid(-1, os.WNOHANG)[0]:
        raise MemoryError("a child was killed to make room for another")
    print("{_THROUGH}", flush=True)
except (OSError, MemoryError) as error:
    print("stopped:", error, flush=True)
finally:
    os.kill(0, 9)
"""
_DIAL = f"""
import socket, sys
socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=2).close()
print("{_THROUGH}")
"""
_SELF_DIAL = f"""
import socket
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname(), timeout=2).close()
print("{_THROUGH}")
"""
_DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for beat in range(60):
            with open("next", "w") as file:
                file.write(str(beat))
            os.replace("next", "beat")
            time.sleep(0.05)
    os._exit(0)
while not os.path.exists("beat"):
    time.sleep(0.02)
"""
_WRITES = f"""
import sys
for number in range(int(sys.argv[1])):
    with open(f"file-{{number}}", "wb") as file:
        file.write(bytes({_MIB}))
print("{_THROUGH}")
"""


class Probed(msgspec.Struct, frozen=True):
    """What a probe of one guarantee found; `claimed` says whether the backend's caps hold it."""

    guarantee: Guarantee
    state: State
    claimed: bool
    detail: str


class _Tried(msgspec.Struct, frozen=True):
    """The honest control passed; the hostile one was stopped; and a word on how."""

    honest: bool
    stopped: bool
    detail: str = ""


def probe_guarantees(sandbox: Sandbox) -> list[Probed]:
    """Try every guarantee, in the order of `ports.Guarantee`; one session for all that leave it usable."""
    probed: list[Probed] = []
    pending = list(get_args(Guarantee))
    while pending:
        with _session(sandbox) as session:
            while pending:
                guarantee = pending.pop(0)
                try:
                    probed.append(_probed(guarantee, sandbox, _PROBES[guarantee](session)))
                except SandboxFaultError as error:
                    probed.append(Probed(guarantee, "untested", guarantee in sandbox.caps, f"it broke: {error}"))
                    break
    return probed


def _probed(guarantee: Guarantee, sandbox: Sandbox, tried: _Tried) -> Probed:
    state: State = "untested" if not tried.honest else "enforced" if tried.stopped else "not enforced"
    detail = tried.detail if tried.honest else f"the honest control failed: {tried.detail}"
    return Probed(guarantee, state, guarantee in sandbox.caps, detail)


def _filesystem(session: Session) -> _Tried:
    with tempfile.TemporaryDirectory() as folder:
        canary = Path(folder) / "canary"
        canary.write_text(_THROUGH)
        honest = session.run(["/bin/sh", "-c", "echo mine > note && cat note"])
        hostile = session.run(["cat", str(canary)])
        return _Tried(honest.output == b"mine\n", not _through(hostile), _said(honest, hostile))


def _network(session: Session) -> _Tried:
    with socket.create_server(("127.0.0.1", 0)) as server:
        honest = session.run(["python3", "-c", _SELF_DIAL])
        hostile = session.run(["python3", "-c", _DIAL, str(server.getsockname()[1])])
        return _Tried(_through(honest), not _through(hostile), _said(honest, hostile))


def _memory(session: Session) -> _Tried:
    """Three processes, each below the limit, together above it."""
    honest = session.run(["python3", "-c", _FORKS, "1", str(16 * _MIB)])
    hostile = session.run(["python3", "-c", _FORKS, "3", str(70 * _MIB)])
    return _Tried(_through(honest), not _through(hostile), _said(honest, hostile))


def _pids(session: Session) -> _Tried:
    honest = session.run(["python3", "-c", _FORKS, "5", "1"])
    hostile = session.run(["python3", "-c", _FORKS, "30", "1"])
    return _Tried(_through(honest), not _through(hostile), _said(honest, hostile))


def _cpu(session: Session) -> _Tried:
    """A daemon that left its process group must not run on after its command has ended."""
    honest = session.run(["python3", "-c", "print(sum(range(1000)))"])
    hostile = session.run(["python3", "-c", _DAEMON])
    beat = _beat(session)
    time.sleep(0.4)
    return _Tried(honest.output == b"499500\n", bool(beat) and _beat(session) == beat, _said(honest, hostile))


def _wall(session: Session) -> _Tried:
    """A minute against half a second: how late a busy engine may be is not what is asked, but whether it stops."""
    honest = session.run(["sleep", "0.1"], wall_s=5)
    hostile = session.run(["/bin/sh", "-c", "trap '' TERM INT HUP; sleep 60; echo " + _THROUGH], wall_s=0.5)
    return _Tried(honest.rc == 0, hostile.why == "timeout" and not _through(hostile), _said(honest, hostile))


def _output(session: Session) -> _Tried:
    honest = session.run(["/bin/sh", "-c", "echo fine"])
    hostile = session.run(["yes"], wall_s=5)
    stopped = hostile.why == "output" and len(hostile.output) <= _LIMITS.output_bytes
    return _Tried(honest.output == b"fine\n", stopped, _said(honest, hostile))


def _disk(session: Session) -> _Tried:
    """Many files, each below the limit of a file, together above that of the disk; what it fills stays full."""
    honest = session.run(["python3", "-c", _WRITES, "4"])
    hostile = session.run(["python3", "-c", _WRITES, "200"])
    return _Tried(_through(honest), hostile.why in ("disk", "oom"), _said(honest, hostile))


_PROBES: dict[Guarantee, Callable[[Session], _Tried]] = {
    "filesystem": _filesystem,
    "network": _network,
    "memory": _memory,
    "pids": _pids,
    "cpu": _cpu,
    "wall": _wall,
    "output": _output,
    "disk": _disk,
}


@contextmanager
def _session(sandbox: Sandbox) -> Iterator[Session]:
    with tempfile.TemporaryDirectory() as folder:
        session = sandbox.open(SandboxSpec(limits=_LIMITS, require=()), Store(folder))
        try:
            yield session
        finally:
            session.close()


def _beat(session: Session) -> bytes:
    return session.read("beat", 100) if "beat" in session.paths() else b""


def _through(result: ExecResult) -> bool:
    return _THROUGH.encode() in result.output


def _said(honest: ExecResult, hostile: ExecResult) -> str:
    last = hostile.output[-200:].decode(errors="replace").strip().splitlines()
    seen = f"honest {honest.why} {honest.rc}, hostile {hostile.why} {hostile.rc}"
    return f"{seen}: {last[-1][:120]}" if last and hostile.why in ("exit", "signal") else seen
