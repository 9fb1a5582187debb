"""Podman as the engine of the docker backend: its stricter filter, alone and in a real one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from steelyard.errors import SandboxUnavailableError
from steelyard.ports import Sandbox, SandboxSpec
from steelyard.sandbox.podman import stricter
from steelyard.store import Store

NAMESPACES = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def tried(name, call):
    print(name, "done" if call() == 0 else "refused")
tried("honest", lambda: libc.prctl(15, b"name", 0, 0, 0))
tried("user namespace", lambda: libc.unshare(0x10000000))
tried("mount", lambda: libc.mount(b"x", b"/tmp", b"tmpfs", 0, None))
"""


def test_the_filter_loses_what_makes_namespaces_and_mounts(tmp_path: Path) -> None:
    """Everything else stays; threads are still made by `clone`. [O-1]"""
    rules = [
        {"names": ["read", "clone", "unshare", "mount"], "action": "SCMP_ACT_ALLOW", "args": []},
        {"names": ["setns"], "action": "SCMP_ACT_ALLOW", "includes": {"caps": ["CAP_SYS_ADMIN"]}},
    ]
    path = tmp_path / "seccomp.json"
    path.write_text(json.dumps({"defaultAction": "SCMP_ACT_ERRNO", "syscalls": rules}))
    made = json.loads(stricter(path))
    allowed = {n for rule in made["syscalls"] if rule["action"] == "SCMP_ACT_ALLOW" for n in rule["names"]}
    assert ({"read", "clone"}, "SCMP_ACT_ERRNO") == (allowed, made["defaultAction"])
    assert [[0x7E020000]] == [[arg["value"] for arg in r["args"]] for r in made["syscalls"] if r["names"] == ["clone"]]


def test_a_filter_that_cannot_be_read_is_a_refusal(tmp_path: Path) -> None:
    """Never a container without one. [O-11]"""
    with pytest.raises(SandboxUnavailableError, match="system call filter"):
        stricter(tmp_path / "none.json")


@pytest.mark.podman
def test_nobody_in_a_real_podman_makes_a_namespace(podman: Sandbox, store: Store) -> None:
    """Its own filter would let an ordinary user do so. [O-1]"""
    session = podman.open(SandboxSpec(), store)
    try:
        said = session.run(["python3", "-c", NAMESPACES]).output.decode().splitlines()
        session.write("note.txt", b"kept")
        assert ["honest done", "user namespace refused", "mount refused"] == said
        assert {"note.txt"} == set(session.diff().changes)
    finally:
        session.close()
