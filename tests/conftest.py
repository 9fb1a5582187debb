"""Fixtures and the rule that what a machine lacks is skipped with its reason, and in CI is a failure."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from steelyard.errors import ModelError, SandboxUnavailableError
from steelyard.models.weights import pull
from steelyard.ports import Sandbox
from steelyard.sandbox.docker import DockerSandbox
from steelyard.sandbox.engine import find_engine
from steelyard.sandbox.images import build, listed
from steelyard.sandbox.probe import find_bubblewrap
from steelyard.store import Store

ROOT = Path(__file__).parents[1]


def missing(reason: str) -> None:
    """Skip because this machine lacks something; in CI that is a failure."""
    if os.environ.get("CI"):
        pytest.fail(f"CI must not skip this: {reason}")
    pytest.skip(reason)


def need_embedded(*names: str) -> None:
    """Pull the weights into the user's cache, and see that the engine that serves them can be loaded."""
    try:
        for name in names:
            pull(name)
    except ModelError as error:
        missing(str(error))
    if subprocess.run([sys.executable, "-c", "import xllamacpp"], capture_output=True, check=False).returncode:
        missing("xllamacpp cannot be imported here")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real inputs that are never copied into the project."""
    folder = Path(os.environ.get("STEELYARD_SHARED", ROOT.parent / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip(f"no real inputs at {folder}; set STEELYARD_SHARED")
    return folder


@pytest.fixture(scope="session")
def inspect_python() -> str:
    """An interpreter that has Inspect."""
    found = os.environ.get("STEELYARD_INSPECT_PYTHON", str(ROOT / ".venv-inspect" / "bin" / "python"))
    if not shutil.which(found):
        missing(f"no environment with Inspect ({found}); make inspect")
    return found


@pytest.fixture(scope="session")
def steelyard_command() -> list[str]:
    """The command line of the installed package."""
    return [sys.executable, "-m", "steelyard"]


@pytest.fixture
def cli(steelyard_command: list[str], tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run `steelyard ARGS` in a folder of its own; `code` is the exit code that must come."""

    def run(*args: object, code: int = 0, **settings: Any) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*steelyard_command, *map(str, args)], capture_output=True, text=True, cwd=tmp_path, check=False, **settings
        )
        assert code == done.returncode, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    return run


@pytest.fixture(scope="session")
def bubblewrap() -> Sandbox:
    """A bubblewrap that works here."""
    try:
        return find_bubblewrap()
    except SandboxUnavailableError as error:
        missing(str(error))
        raise


@pytest.fixture(scope="session")
def docker() -> Sandbox:
    """Docker over this machine's Python."""
    return _containers(None)


@pytest.fixture(scope="session")
def podman() -> Sandbox:
    """Podman over this machine's Python."""
    return _containers("podman")


def _containers(binary: str | None) -> Sandbox:
    """The image is built when it is not here, by one test process alone."""
    try:
        engine = find_engine(binary)
    except SandboxUnavailableError as error:
        missing(str(error))
        raise
    with FileLock(Path(tempfile.gettempdir()) / f"steelyard-tests-image-{engine.kind}.lock"):
        if listed(engine)["python"] is None:
            build(engine, "python")
    return DockerSandbox(binary=binary)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    return Store(tmp_path / "store")
