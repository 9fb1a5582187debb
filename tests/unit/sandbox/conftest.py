"""The backends of this machine, and sessions that are closed after the test."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from steelyard.errors import SandboxUnavailableError
from steelyard.ports import Sandbox, SandboxSpec, Session
from steelyard.sandbox.docker import DockerSandbox
from steelyard.sandbox.engine import find_engine
from steelyard.sandbox.images import build, listed
from steelyard.store import Store


@pytest.fixture(scope="session")
def docker() -> DockerSandbox:
    """Docker over this machine's Python; the image is built when it is not here."""
    try:
        engine = find_engine()
    except SandboxUnavailableError as error:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(str(error))
    if listed(engine)["python"] is None:
        build(engine, "python")
    return DockerSandbox()


@pytest.fixture(
    scope="session",
    params=[
        pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
        pytest.param("docker", marks=pytest.mark.docker),
    ],
)
def backend(request: pytest.FixtureRequest) -> Sandbox:
    """Each backend that isolates; the tests run once for each."""
    found: Sandbox = request.getfixturevalue(request.param)
    return found


@pytest.fixture(scope="module")
def module_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store for sessions that several tests share."""
    return Store(tmp_path_factory.mktemp("store"))


@pytest.fixture
def opened(backend: Sandbox, store: Store) -> Iterator[Callable[[SandboxSpec], Session]]:
    """Opens sessions of a backend and closes them after the test."""
    sessions: list[Session] = []

    def open_session(spec: SandboxSpec) -> Session:
        sessions.append(backend.open(spec, store))
        return sessions[-1]

    yield open_session
    for session in sessions:
        session.close()
