"""Finding an engine: each cause of refusal is triggered for real where a machine without docker can do it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from steelyard.errors import SandboxUnavailableError
from steelyard.sandbox import refusals
from steelyard.sandbox.choose import open_sandbox
from steelyard.sandbox.engine import Engine, check_version, find_engine, limits_of


def test_a_machine_without_the_command_line_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence names what to install and what to use instead. [O-11]"""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("STEELYARD_DOCKER", raising=False)
    with pytest.raises(SandboxUnavailableError, match=r"command line \(docker\) is not on this machine; install"):
        open_sandbox("docker")


@pytest.mark.docker
@pytest.mark.parametrize("host", ["unix:///nonexistent/docker.sock", "tcp://127.0.0.1:1"])
def test_a_daemon_that_does_not_answer_is_told_so(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence says how to start it. [O-11]"""
    monkeypatch.setenv("DOCKER_HOST", host)
    with pytest.raises(SandboxUnavailableError, match=r"daemon does not answer; start it"):
        find_engine()


@pytest.mark.parametrize(
    ("kind", "version", "least"),
    [("docker", "19.03.15", "20.10"), ("docker", "20.9.1", "20.10"), ("podman", "3.4.4", "4.0")],
)
def test_an_engine_that_is_too_old_is_refused(kind: Any, version: str, least: str) -> None:
    """The version and the least one are named. [O-11]"""
    with pytest.raises(SandboxUnavailableError, match=rf"engine is {version}.*{least} or newer"):
        check_version(Engine(kind, kind, version, 1, frozenset()))


@pytest.mark.parametrize(
    ("kind", "version"),
    [("docker", "20.10.0"), ("docker", "24.0.7"), ("docker", "29.1"), ("docker", "dev"), ("podman", "4.3.1")],
)
def test_an_engine_that_is_new_enough_passes(kind: Any, version: str) -> None:
    """A version that is no number is let through: the probe decides. [O-11]"""
    check_version(Engine(kind, kind, version, 1, frozenset()))


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?", "start"),
        ("failed to connect to the docker API at unix:///var/run/docker.sock", "start it"),
        ("error during connect: Get http://x: dial tcp: lookup x: no such host", "DOCKER_HOST"),
        ("permission denied while trying to connect to the Docker daemon socket at unix:///x", "group docker"),
        ("client version 1.50 is too new. Maximum supported API version is 1.40", "20.10 or newer: upgrade"),
        ("client version 1.24 is too old. Minimum supported API version is 1.44", "upgrade the command line"),
        ('exec: "docker-init": executable file not found in $PATH', "docker-init"),
        ("the daemon did not answer within 30 s", "does not answer"),
        ("Error: container-init binary not found on the host: stat /usr/libexec/podman/catatonit", "install it"),
        ("something new", "something new"),
    ],
)
def test_what_docker_prints_becomes_a_sentence_with_a_next_step(said: str, word: str) -> None:
    """The cause is named, and an unknown message is passed on as it stands. [O-11]"""
    assert word in refusals.of_docker("/usr/bin/docker", said)


def test_an_engine_that_cannot_limit_promises_nothing() -> None:
    """What `docker info` says of its kernel is what is claimed. [O-22]"""
    assert frozenset() == limits_of(memory=False, pids=False)
    assert frozenset({"memory", "disk", "pids"}) == limits_of(memory=True, pids=True)
