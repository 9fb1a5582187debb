"""A store, and the bubblewrap of this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import missing
from steelyard.errors import SandboxUnavailableError
from steelyard.ports import Sandbox, SandboxSpec, Session
from steelyard.sandbox.probe import find_bubblewrap
from steelyard.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    return Store(tmp_path / "store")


@pytest.fixture(scope="session")
def bubblewrap() -> Sandbox:
    """A bubblewrap that works here."""
    try:
        return find_bubblewrap()
    except SandboxUnavailableError as error:
        missing(str(error))
        raise


@pytest.fixture
def opened(bubblewrap: Sandbox, store: Store) -> Iterator[Callable[[SandboxSpec], Session]]:
    """Opens bubblewrap sessions and closes them after the test."""
    sessions: list[Session] = []

    def open_session(spec: SandboxSpec) -> Session:
        sessions.append(bubblewrap.open(spec, store))
        return sessions[-1]

    yield open_session
    for session in sessions:
        session.close()
