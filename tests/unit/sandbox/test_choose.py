"""Backends by name."""

from __future__ import annotations

import pytest

from steelyard.errors import InputError, RefusedError, SandboxUnavailableError
from steelyard.ports import Sandbox, SandboxSpec
from steelyard.sandbox.choose import AutoSandbox, default_require, open_sandbox
from steelyard.sandbox.process import ProcessSandbox
from steelyard.store import Store


def _none_here() -> Sandbox:
    raise SandboxUnavailableError("no bubblewrap here")


def test_none_is_no_sandbox() -> None:
    """Asking for none gives None. [O-11]"""
    assert open_sandbox("none") is None


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    """The known names are helped to. [O-11]"""
    with pytest.raises(InputError, match='did you mean "bubblewrap"'):
        open_sandbox("bubblewarp")


def test_unsafe_needs_to_be_allowed() -> None:
    """The name alone is not consent. [O-11]"""
    with pytest.raises(RefusedError, match="--allow-unsafe"):
        open_sandbox("unsafe-process")


def test_auto_never_falls_back_to_something_weaker(store: Store) -> None:
    """Without bubblewrap it claims nothing and says why when a session is wanted. [O-11]"""
    auto = AutoSandbox(_none_here)
    assert ("", frozenset()) == (auto.name, auto.caps)
    with pytest.raises(SandboxUnavailableError, match="no bubblewrap here"):
        auto.open(SandboxSpec(require=()), store)


@pytest.mark.bubblewrap
def test_auto_finds_bubblewrap(bubblewrap: Sandbox, store: Store) -> None:
    """It is the backend that it found. [O-11]"""
    auto = open_sandbox("auto", allow_unsafe=True)
    assert auto is not None
    session = auto.open(SandboxSpec(), store)
    session.close()
    assert (bubblewrap.name, bubblewrap.caps) == (auto.name, auto.caps)


def test_a_job_requires_isolation_unless_the_unsafe_backend_was_allowed() -> None:
    """Of an allowed unsafe backend no more is required than it has. [O-11]"""
    assert ("wall", "output") == default_require(ProcessSandbox(allow_unsafe=True))
    assert SandboxSpec().require == default_require(AutoSandbox(_none_here))
