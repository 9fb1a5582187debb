"""Attacks 13, 15 and 16: code that looks for hidden tests, solutions, the harness and keys. (14: test_history.)"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.ports import ExecResult, Session
from steelyard.store import Store

CANARY = "canary-4f1c9e"
Open = Callable[..., Session]
Python = Callable[..., ExecResult]

SEARCH = """
import os, sys
needle, roots = sys.argv[1].encode(), sys.argv[2:]
for root in roots:
    for folder, names, files in os.walk(root):
        names[:] = [n for n in names if os.path.join(folder, n) not in ("/proc", "/sys", "/usr", "/dev")]
        for name in files:
            path = os.path.join(folder, name)
            try:
                with open(path, "rb") as file:
                    if needle in file.read(1_000_000):
                        print("found", path)
            except OSError:
                pass
print("searched")
"""


def test_attack_13_host_files_are_not_in_view(opened: Open, python: Python, store: Store, tmp_path: Path) -> None:
    """Another session's hidden tests, the store and the host's files are nowhere in the file system. [O-5]"""
    (tmp_path / "solution.py").write_text(CANARY)
    hidden = store.put(f"# {CANARY}\n")
    grading = opened(mounts_ro={"/tests": {"test_hidden.py": hidden}})
    agent = opened()
    assert b"found /tests/test_hidden.py\nsearched\n" == python(grading, SEARCH, CANARY, "/").output
    assert b"searched\n" == python(agent, SEARCH, CANARY, "/", str(tmp_path), str(store.root)).output


def test_attack_13_nothing_of_the_project_or_the_home_is_in_view(opened: Open) -> None:
    """Neither the folder that is worked in nor the user's home can be listed with anything in it. [O-5]"""
    session = opened()
    assert b"etc\n" in session.run(["ls", "/"]).output
    for path in (Path.cwd(), Path.home(), Path(__file__).parent):
        listed = session.run(["ls", "-A", str(path)])
        assert listed.rc != 0 or listed.output == b"", f"{path} is visible: {listed.output!r}"


def test_attack_13_the_system_and_the_interpreter_cannot_be_written(opened: Open, python: Python) -> None:
    """Only /work and the private /tmp and /dev/shm take writes. [O-1]"""
    code = """
import os, sys, sysconfig
for folder in ["/", "/usr", "/usr/bin", "/etc", "/dev", "/proc", "/var", "/root", "/opt", sysconfig.get_path("stdlib"),
               *(p for p in sys.path if os.path.isdir(p)), "/work", "/tmp", "/dev/shm"]:
    try:
        open(os.path.join(folder, "written"), "w").close()
        print(folder)
    except OSError:
        pass
"""
    written = set(python(opened(), code).output.decode().split())
    assert {"/work", "/tmp"} <= written <= {"/work", "/tmp", "/dev/shm"}


def test_attack_15_no_host_process_is_in_view(opened: Open, python: Python) -> None:
    """/proc shows the sandbox alone: no command line and no environment of the harness. [O-27]"""
    code = """
import os
for pid in filter(str.isdigit, os.listdir("/proc")):
    for name in ("cmdline", "environ"):
        try:
            print(pid, open(f"/proc/{pid}/{name}", "rb").read())
        except OSError:
            pass
"""
    said = python(opened(env={"MARK": "honest-mark"}), code).output.decode()
    assert "honest-mark" in said
    assert len({line.split()[0] for line in said.splitlines()}) <= 6
    for word in ("pytest", str(Path.cwd()), "bwrap", "dockerd", sys.executable):
        assert word not in said


def test_attack_16_no_key_of_the_host_s_environment_gets_in(
    opened: Open, python: Python, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A canary key in the harness's environment appears in no output and no file inside. [O-27]"""
    monkeypatch.setenv("SOME_API_KEY", CANARY)
    monkeypatch.setenv("AWS_SESSION", CANARY)
    monkeypatch.setenv("PYTHONSTARTUP", f"/{CANARY}")
    session = opened(env={"GIVEN": "given"})
    said = session.run(
        ["/bin/sh", "-c", "env; cat /proc/self/environ /proc/1/environ; ls -A ~ /root /home 2>&1; true"]
    ).output
    assert b"GIVEN=given" in said
    assert CANARY.encode() not in said
    assert b"searched\n" == python(session, SEARCH, CANARY, "/").output


def test_attack_16_the_home_is_empty_and_the_cloud_s_metadata_is_out_of_reach(opened: Open, python: Python) -> None:
    """No credentials file under ~, no metadata address; a file of one's own in /tmp works. [O-27]"""
    code = """
import os, socket
home = os.path.expanduser("~")
print(sorted(os.listdir(home)) if os.path.isdir(home) else [])
try:
    socket.create_connection(("169.254.169.254", 80), timeout=2)
    print("reached")
except OSError:
    print("refused")
open("/tmp/own", "w").write("fine")
print(open("/tmp/own").read())
"""
    assert b"[]\nrefused\nfine\n" == python(opened(), code).output
