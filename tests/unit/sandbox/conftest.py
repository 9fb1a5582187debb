"""The backends of this machine, and sessions that are closed after the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from steelyard.ports import Sandbox, SandboxSpec, Session
from steelyard.store import Store


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
