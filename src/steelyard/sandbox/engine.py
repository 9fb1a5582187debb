"""A container engine through its command line: finding it, asking it, and naming its images by digest.

Source: the Docker CLI reference, for Engine 20.10 and newer; podman 4 and newer answers the same commands but for what
`podman` holds. Images are looked up among the local ones only; a name is turned into the image's id once, and the id is
what containers are made from, so that a tag that moves changes nothing.
Not covered: pulling, building with a Dockerfile, contexts (the environment's DOCKER_HOST and DOCKER_CONTEXT hold).
Easy to break: a daemon that hangs; every call has a time limit.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from steelyard.errors import SandboxFaultError, SandboxUnavailableError
from steelyard.ports import Guarantee
from steelyard.sandbox import refusals

RECIPES = ("python", "scratch")
REPOSITORY = "steelyard"  # images of the recipes are tagged steelyard/NAME
BINARY_VARIABLE = "STEELYARD_DOCKER"
_OLDEST = {"docker": "20.10", "podman": "4.0"}
_NO_IMAGE = ("no such image", "image not known", "invalid reference format")
_CALL_S = 120.0  # a busy daemon takes seconds; beyond this it counts as broken


class Engine(msgspec.Struct, frozen=True):
    """An engine that answered; `limits` are the guarantees that its kernel can enforce by cgroup."""

    kind: Literal["docker", "podman"]
    binary: str
    version: str
    cpus: int
    limits: frozenset[Guarantee]
    filter: str = ""
    """Podman's file of system calls that containers may make."""

    def call(self, *arguments: str, timeout_s: float = _CALL_S, folder: Path | None = None) -> str:
        """What a command printed, run in `folder`; raises SandboxFaultError when it fails."""
        done = called([self.binary, *arguments], timeout_s, folder)
        if done.returncode != 0:
            raise SandboxFaultError(refusals.of_docker(self.binary, done.stderr or done.stdout))
        return done.stdout


class Image(msgspec.Struct, frozen=True):
    """A local image: its id ("sha256:..."), the digests of its layers, and the environment that it sets."""

    id: str
    layers: tuple[str, ...]
    env: Mapping[str, str]
    size_bytes: int

    @property
    def digest12(self) -> str:
        """The first twelve digits of the id, as records and `docker images` show it."""
        return self.id.removeprefix("sha256:")[:12]


def called(
    argv: Sequence[str], timeout_s: float = _CALL_S, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command line; a daemon that hangs is told like one that is not there."""
    try:
        return subprocess.run(
            list(argv), capture_output=True, text=True, errors="replace", timeout=timeout_s, check=False, cwd=folder
        )
    except OSError as error:
        return subprocess.CompletedProcess(list(argv), 127, "", f"could not be started: {error.strerror}")
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(list(argv), 124, "", f"the daemon did not answer within {timeout_s:.0f} s")


def find_engine(binary: str | None = None) -> Engine:
    """The engine behind the command line; raises SandboxUnavailableError with a sentence of its own a cause."""
    named = binary or os.environ.get(BINARY_VARIABLE) or "docker"
    path = shutil.which(named)
    if path is None:
        raise SandboxUnavailableError(refusals.DOCKER_MISSING.format(binary=named))
    told = called([path, "version", "--format", "{{.Server.Version}}"], 30)
    if told.returncode != 0:
        raise SandboxUnavailableError(refusals.of_docker(path, told.stderr or told.stdout))
    info = called([path, "info", "--format", "{{json .}}"], 30)
    try:
        facts: dict[str, Any] = msgspec.json.decode(info.stdout)
    except msgspec.DecodeError as error:
        raise SandboxUnavailableError(refusals.of_docker(path, info.stderr or info.stdout)) from error
    engine = _engine(path, told.stdout.strip(), facts)
    check_version(engine)
    return engine


def _engine(path: str, version: str, facts: Mapping[str, Any]) -> Engine:
    """The engine that `info` describes: docker in a flat object, podman under `host`."""
    host = facts.get("host")
    if isinstance(host, Mapping):
        controllers = host.get("cgroupControllers") or []
        limits = limits_of(memory="memory" in controllers, pids="pids" in controllers) - {
            "disk"
        }  # files are not counted
        profile = (host.get("security") or {}).get("seccompProfilePath") or "/usr/share/containers/seccomp.json"
        return Engine("podman", path, version, int(host.get("cpus") or 1), limits, profile)
    if facts.get("OSType", "linux") != "linux":
        raise SandboxUnavailableError(refusals.DOCKER_NOT_LINUX.format(binary=path, system=facts["OSType"]))
    limits = limits_of(memory=bool(facts.get("MemoryLimit")), pids=bool(facts.get("PidsLimit")))
    return Engine("docker", path, version, int(facts.get("NCPU") or 1), limits)


def check_version(engine: Engine) -> None:
    """Raise SandboxUnavailableError for an engine that is too old; a version that is no number is let through."""
    number, least = (re.match(r"(\d+)\.(\d+)", text) for text in (engine.version, _OLDEST[engine.kind]))
    if number and least and [int(n) for n in number.groups()] < [int(n) for n in least.groups()]:
        raise SandboxUnavailableError(
            refusals.DOCKER_TOO_OLD.format(binary=engine.binary, version=engine.version, least=_OLDEST[engine.kind])
        )


def limits_of(*, memory: bool, pids: bool) -> frozenset[Guarantee]:
    """What an engine gives whose kernel counts memory and processes."""
    limits: set[Guarantee] = {"pids"} if pids else set()
    if memory:
        limits |= {"memory", "disk"}  # the tmpfs of a container is charged to its memory and has a size of its own
    return frozenset(limits)


def find_image(engine: Engine, name: str) -> Image:
    """A local image by recipe name, tag, digest or id; raises SandboxUnavailableError when it is not here."""
    asked = f"{REPOSITORY}/{name}" if name in RECIPES else name
    told = called([engine.binary, "image", "inspect", "--", asked])
    if told.returncode != 0:
        if any(sign in told.stderr.lower() for sign in _NO_IMAGE):
            raise SandboxUnavailableError(refusals.of_image(name, RECIPES))
        raise SandboxUnavailableError(refusals.of_docker(engine.binary, told.stderr))
    facts: dict[str, Any] = msgspec.json.decode(told.stdout)[0]
    config = facts.get("Config") or {}
    if config.get("Volumes"):
        volumes = ", ".join(sorted(config["Volumes"]))
        raise SandboxUnavailableError(refusals.IMAGE_VOLUMES.format(image=name, volumes=volumes))
    env = dict(line.split("=", 1) for line in config.get("Env") or [] if "=" in line)
    layers = tuple((facts.get("RootFS") or {}).get("Layers") or ())
    return Image(str(facts["Id"]), layers, env, int(facts.get("Size") or 0))
