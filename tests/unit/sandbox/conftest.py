"""Sessions that are closed after the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from steelyard.ports import Sandbox, SandboxSpec, Session
from steelyard.store import Store


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
