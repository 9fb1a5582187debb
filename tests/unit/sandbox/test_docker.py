"""What is docker's own; what every backend's sessions do is in test_session."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steelyard.errors import SandboxFaultError, SandboxUnavailableError
from steelyard.ports import ExecResult, Limits, SandboxSpec, Session
from steelyard.sandbox.choose import open_sandbox
from steelyard.sandbox.container import Container, sweep
from steelyard.sandbox.docker import DockerSandbox
from steelyard.store import Store

pytestmark = pytest.mark.docker


@pytest.fixture(scope="module")
def session(docker: DockerSandbox, module_store: Store) -> Iterator[Session]:
    """A session that the tests share; each leaves it working."""
    spec = SandboxSpec(limits=Limits(memory_bytes=300_000_000), mounts_ro={"/tests": {"x": module_store.put("x")}})
    session = docker.open(spec, module_store)
    yield session
    session.close()


def _container(session: Session) -> Container:
    container: Container = session._place._container  # type: ignore[attr-defined]
    return container


def _shell(session: Session, script: str, wall_s: float = 20) -> ExecResult:
    return session.run(["/bin/sh", "-c", script], wall_s=wall_s)


def _inspected(name: str) -> dict[str, Any]:
    done = subprocess.run(["docker", "inspect", name], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)[0]
    return found


def test_a_container_is_made_with_every_restriction(session: Session, docker: DockerSandbox) -> None:
    """Docker itself reports them: no network, read-only, limits, no capabilities, no new privileges, own user. [O-1]"""
    found = _inspected(_container(session).id)
    host = found["HostConfig"]
    assert {
        "NetworkMode": "none",
        "ReadonlyRootfs": True,
        "Memory": 300_000_000,
        "MemorySwap": 300_000_000,
        "PidsLimit": 68,
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges"],
        "IpcMode": "none",
        "Init": True,
        "Privileged": False,
        "Binds": None,
    } == {name: host[name] for name in host if name in _ASKED}
    assert host["NanoCpus"] > 0
    assert {"/work", "/tmp", "/dev/shm", "/tests"} == set(host["Tmpfs"])
    assert "nr_inodes=10001" in host["Tmpfs"]["/work"]
    assert "10001:10001" == found["Config"]["User"]
    assert found["Image"].startswith("sha256:" + docker.name.split()[2])


_ASKED = (
    *("NetworkMode", "ReadonlyRootfs", "Memory", "MemorySwap", "PidsLimit", "CapDrop", "SecurityOpt", "IpcMode"),
    *("Init", "Privileged", "Binds"),
)


def test_nothing_but_the_workspace_and_temporary_folders_can_be_written(session: Session) -> None:
    """Not the image, not a read-only tree, not /proc or /sys; the user has no capabilities. [O-1]"""
    script = (
        "for f in /x /usr/x /etc/passwd /tests/x /tests/y /dev/x /proc/sys/kernel/core_pattern /sys/x; do"
        " echo 1 2>/dev/null > $f && echo wrote $f; done; grep -i 'capeff\\|capbnd\\|nonewprivs' /proc/self/status;"
        " echo 1 > /work/fine && echo 1 > /tmp/fine && echo 1 > /dev/shm/fine && echo fine"
    )
    lines = _shell(session, script).output.decode().split()
    assert [*("CapEff:", "0" * 16, "CapBnd:", "0" * 16, "NoNewPrivs:", "1", "fine")] == [
        word for word in lines if not word.startswith("/bin/sh:") and word in (*_STATUS, "fine", "wrote", "0" * 16, "1")
    ]


_STATUS = ("CapEff:", "CapBnd:", "NoNewPrivs:")


@pytest.mark.parametrize(
    "script", ["kill -9 -1", "kill -9 $PPID", "for p in /proc/[0-9]*; do kill -9 ${p#/proc/}; done"]
)
def test_code_that_ends_everything_it_can_ends_only_itself(session: Session, script: str) -> None:
    """The keeper is another user's, so the container lives on and the tree with it. [O-22]"""
    session.write("kept", b"1")
    assert _shell(session, f"(sleep 30 &) ; {script}; sleep 30", wall_s=5).why in ("signal", "timeout")
    after = _shell(session, "cat kept; ls /proc | grep -c '^[0-9]'")
    assert ("exit", b"1") == (after.why, after.output[:1])


def test_code_that_stops_its_own_watch_is_ended_from_outside(session: Session) -> None:
    """SIGSTOP on the launcher and on `timeout` gains nothing. [O-22]"""
    stopped = _shell(session, "kill -STOP $PPID; kill -STOP -1; sleep 30", wall_s=1)
    assert "timeout" == stopped.why
    assert stopped.wall_ms < 5000
    assert "exit" == _shell(session, "true").why


def test_a_forged_report_gains_no_more_than_an_exit_code(session: Session) -> None:
    """What code writes where the launcher reports cannot hide a process that it left. [O-22]"""
    forged = "sleep 30 & for fd in /proc/$PPID/fd/*; do echo 'ended 0 0 9 9' > $fd; done 2>/dev/null; kill -9 $PPID"
    result = _shell(session, forged, wall_s=3)
    assert result.why in ("exit", "signal", "timeout")
    assert set() == _container(session)._others()


def test_memory_that_a_command_takes_beyond_the_limit_is_told_as_oom(session: Session) -> None:
    """The kernel's count in the container's cgroup decides. [O-22]"""
    result = session.run(["python3", "-c", "x = b'x' * 400_000_000"])
    assert ("oom", 137) == (result.why, result.rc)
    assert "exit" == _shell(session, "true").why


def test_files_that_fill_all_memory_leave_room_to_enter_again(docker: DockerSandbox, store: Store) -> None:
    """Work tree, /tmp and /dev/shm full at once are an end of their own, and the session goes on. [O-22]"""
    session = docker.open(SandboxSpec(limits=Limits(memory_bytes=100_000_000, disk_bytes=1 << 30)), store)
    filled = _shell(session, "for d in /tmp /dev/shm .; do for i in 1 2 3; do cat /dev/zero > $d/f$i; done; done")
    assert filled.why in ("disk", "oom")
    assert b"on\n" == _shell(session, "rm -f f*; echo on").output
    assert {} == session.diff().changes
    session.close()


def test_an_engine_whose_cgroups_cannot_be_read_is_asked_instead(docker: DockerSandbox, store: Store) -> None:
    """Limits, ends and OOM are found through the command line; CPU time and memory are then unknown. [O-22]"""
    session = docker.open(SandboxSpec(limits=Limits(memory_bytes=100_000_000)), store)
    _container(session).meter = None
    slept = _shell(session, "(sleep 31 &); sleep 30", wall_s=1)
    assert ("timeout", None, None) == (slept.why, slept.cpu_ms, slept.peak_memory_bytes)
    assert set() == _container(session)._others()
    assert "oom" == session.run(["python3", "-c", "x = b'x' * 200_000_000"]).why
    assert ("exit", b"on\n") == ((after := _shell(session, "echo on")).why, after.output)
    session.close()


def test_a_container_that_goes_away_is_a_fault_of_the_sandbox(docker: DockerSandbox, store: Store) -> None:
    """Later calls say that it is gone; closing still works. [O-22]"""
    session = docker.open(SandboxSpec(), store)
    subprocess.run(["docker", "rm", "-f", _container(session).id], capture_output=True, check=True)
    assert "infra" == _shell(session, "true").why
    with pytest.raises(SandboxFaultError):
        session.diff()
    session.close()


def test_containers_of_dead_processes_are_swept_and_others_are_left(docker: DockerSandbox, store: Store) -> None:
    """A container whose scratch folder nobody holds is removed; one in use stays. [O-1]"""
    held, left = docker.open(SandboxSpec(), store), docker.open(SandboxSpec(), store)
    room: Path = left._place._room.path  # type: ignore[attr-defined]
    left._place._room.close()  # type: ignore[attr-defined]
    assert not room.exists()
    sweep(docker._engine)
    alive = subprocess.run(["docker", "ps", "-q", "--no-trunc"], capture_output=True, text=True, check=True).stdout
    assert (True, False) == (_container(held).id in alive, _container(left).id in alive)
    held.close()
    left.close()
    gone = subprocess.run(["docker", "inspect", _container(held).id], capture_output=True, check=False)
    assert 0 != gone.returncode


def test_the_name_holds_the_engine_and_the_image(docker: DockerSandbox) -> None:
    """Backend, engine version and twelve digits of the image's id are recorded. [O-1]"""
    kind, version, digest = docker.name.split()
    assert ("docker", docker._engine.version, docker._image.id[7:19]) == (kind, version, digest)


def test_a_missing_guarantee_of_the_engine_is_refused(docker: DockerSandbox, store: Store) -> None:
    """An engine that says it cannot limit memory is not asked to. [O-22]"""
    docker._caps, caps = docker._caps - {"memory"}, docker._caps
    with pytest.raises(SandboxUnavailableError, match=r"memory: .*cgroup"):
        docker.open(SandboxSpec(require=("memory",)), store)
    docker._caps = caps


def test_an_image_that_is_not_here_is_refused_and_never_pulled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence names what would bring it here. [O-11]"""
    with pytest.raises(SandboxUnavailableError, match=r"no-such-image.*never pulled.*docker load"):
        open_sandbox("docker", image="no-such-image:1")
    monkeypatch.setattr("steelyard.sandbox.engine.REPOSITORY", "steelyard-nowhere")
    with pytest.raises(SandboxUnavailableError, match=r'"python" is not on this machine.*steelyard image build python'):
        open_sandbox("docker")
