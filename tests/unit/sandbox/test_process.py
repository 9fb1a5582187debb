"""The backend that isolates nothing says so, and still bounds time and output."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard.errors import RefusedError, SandboxUnavailableError
from steelyard.ports import Limits, SandboxSpec, Session
from steelyard.sandbox.process import ProcessSandbox
from steelyard.store import Store

_ANY = SandboxSpec(require=())


@pytest.fixture
def session(store: Store) -> Iterator[Session]:
    """A session over one file."""
    tree = {"a": store.put("one")}
    session = ProcessSandbox(allow_unsafe=True).open(SandboxSpec(tree=tree, require=("wall", "output")), store)
    yield session
    session.close()


def test_it_is_made_only_when_allowed() -> None:
    """The flag is named in the refusal. [O-22]"""
    with pytest.raises(RefusedError, match="--allow-unsafe"):
        ProcessSandbox(allow_unsafe=False)


def test_it_refuses_what_it_cannot_give(store: Store) -> None:
    """Isolation that is required is never silently dropped. [O-22]"""
    sandbox = ProcessSandbox(allow_unsafe=True)
    assert {"wall", "output"} == sandbox.caps
    with pytest.raises(SandboxUnavailableError, match=r"filesystem: .*network: "):
        sandbox.open(SandboxSpec(), store)
    with pytest.raises(SandboxUnavailableError, match="cannot show files at /tests"):
        sandbox.open(SandboxSpec(mounts_ro={"/tests": {}}, require=()), store)


def test_a_command_has_a_clean_environment_and_the_tree(session: Session) -> None:
    """Nothing of the host's environment but the allowlist. [O-27]"""
    result = session.run(["/bin/sh", "-c", "cat a; env | cut -d= -f1 | sort | tr '\\n' ' '"])
    names = set(result.output.decode().removeprefix("one").split())
    allowed = {"HOME", "LANG", "PATH", "PWD", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHON_COLORS", "TMPDIR"}
    assert set() == names - allowed
    assert 0 == session.run(["python3", "-c", "import json"]).rc


def test_time_and_output_are_bounded(store: Store) -> None:
    """The two guarantees that it claims. [O-22]"""
    session = ProcessSandbox(allow_unsafe=True).open(SandboxSpec(limits=Limits(output_bytes=100), require=()), store)
    assert "timeout" == session.run(["sleep", "20"], wall_s=0.3).why
    result = session.run(["yes"])
    assert ("output", 100) == (result.why, len(result.output))
    assert ("exit", 3) == ((done := session.run(["/bin/sh", "-c", "exit 3"])).why, done.rc)
    session.close()


def test_changes_are_read_as_from_any_session(session: Session) -> None:
    """The work tree obeys the same rules. [O-1]"""
    session.run(["/bin/sh", "-c", "echo two > a; ln -s /etc/passwd link"])
    diff = session.diff()
    assert (["a"], {"link": "a symbolic link"}) == (list(diff.changes), diff.refused)


def test_the_folder_is_removed(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing stays in the temporary folder. [O-1]"""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    session = ProcessSandbox(allow_unsafe=True).open(_ANY, store)
    session.close()
    assert [] == list(tmp_path.glob("steelyard-*"))
