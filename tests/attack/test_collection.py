"""Attacks 25 to 27: outputs that point elsewhere, archives that unpack elsewhere, and swaps while one collects."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.attempt import Change, Diff, lay_over
from steelyard.canonical import sha256_hex
from steelyard.errors import InputError, SandboxError
from steelyard.ports import ExecResult, Limits, Sandbox, SandboxSpec, Session
from steelyard.store import Store

CANARY = "canary-4f1c9e"
Open = Callable[..., Session]
Python = Callable[..., ExecResult]


def test_attack_25_links_out_of_the_workspace_are_not_followed_by_the_host(
    opened: Open, store: Store, tmp_path: Path
) -> None:
    """Links, links in folders, hard links, pipes and devices are refused by name; a plain file is taken. [O-1]"""
    secret = tmp_path / "secret"
    secret.write_text(CANARY)
    tree = {"kept/a.txt": store.put("a")}
    session = opened(tree=tree)
    script = f"""
        echo fine > honest
        ln -s {secret} link; ln -s {secret.parent} folder; ln -s /etc/passwd kept/passwd
        rm kept/a.txt; ln -s {secret} kept/a.txt
        ln honest twin; ln /etc/passwd hard; ln -s loop loop; mkfifo pipe; mknod disk b 8 0
        true"""
    assert 0 == session.run(["/bin/sh", "-c", script]).rc
    diff = session.diff()
    assert {} == diff.changes
    assert {"link", "folder", "kept/passwd", "kept/a.txt", "twin", "honest", "loop", "pipe"} == set(diff.refused)
    assert not store.has(sha256_hex(CANARY.encode()))
    control = opened(tree=tree)
    control.run(["/bin/sh", "-c", "echo fine > honest"])
    assert ["honest"] == list(control.diff().changes)


def test_attack_25_reads_and_writes_through_links_are_refused(opened: Open, tmp_path: Path) -> None:
    """`read` and `write` never leave /work, by a path or by a link; a plain file is read and written. [O-1]"""
    secret = tmp_path / "secret"
    secret.write_text(CANARY)
    session = opened()
    made = f"echo fine > honest; ln -s {secret} link; ln -s {tmp_path} folder; ln -s /etc etc; mkfifo pipe; mkdir real"
    assert 0 == session.run(["/bin/sh", "-c", made]).rc
    assert b"fine\n" == session.read("honest", 100)
    for path in ("link", "folder/secret", "etc/passwd", "../secret", "/etc/passwd", "real/../../etc/passwd", "pipe"):
        with pytest.raises(InputError):
            session.read(path, 1_000_000)
        with pytest.raises(InputError):
            session.write(path, b"overwritten")
    session.write("real/new/file", b"written")
    assert b"written" == session.read("real/new/file", 100)
    assert CANARY == secret.read_text()
    assert ["honest", "real/new/file"] == session.paths()


ARCHIVES = """
import io, os, socket, tarfile, zipfile
def add(tar, name, kind=tarfile.REGTYPE, link="", data=b"evil"):
    member = tarfile.TarInfo(name)
    member.type, member.linkname, member.size = kind, link, len(data) if kind == tarfile.REGTYPE else 0
    tar.addfile(member, io.BytesIO(data) if kind == tarfile.REGTYPE else None)
with tarfile.open("out.tar", "w") as tar:
    add(tar, "../escape"); add(tar, "/absolute"); add(tar, "x/../../escape")
    add(tar, "link", tarfile.SYMTYPE, "/etc"); add(tar, "link/passwd")
    add(tar, "hard", tarfile.LNKTYPE, "/etc/passwd")
    add(tar, "device", tarfile.CHRTYPE); add(tar, "pipe", tarfile.FIFOTYPE)
with zipfile.ZipFile("out.zip", "w") as zipped:
    zipped.writestr("../escape", "evil"); zipped.writestr("/absolute", "evil")
os.makedirs("deep")
os.symlink("/etc", "deep/link"); os.symlink("../..", "up"); os.symlink("/work/out.tar", "absolute")
os.mkfifo("fifo")
socket.socket(socket.AF_UNIX).bind("socket")
for name in ("..\\\\..\\\\windows", "back\\\\slash", "..%2f..%2fescape", "...", "new\\nline", "-rf", " "):
    with open(name, "w") as file:
        file.write("plain")
with open(b"bad-\\xff", "w") as file:
    file.write("plain")
with open("deep/honest", "w") as file:
    file.write("plain")
print("made")
"""


def test_attack_26_archives_and_strange_names_are_collected_as_the_files_that_they_are(
    opened: Open, python: Python, store: Store, tmp_path: Path
) -> None:
    """An archive is one file and is never unpacked; every path of a diff stays below /work. [O-1]"""
    before = sorted(tmp_path.rglob("escape*"))
    session = opened()
    made = python(session, ARCHIVES)
    assert b"made\n" == made.output
    diff = session.diff()
    assert {"deep/link", "up", "absolute", "fifo", "socket"} <= set(diff.refused)
    assert {"out.tar", "out.zip", "deep/honest", "..%2f..%2fescape", "...", "-rf"} <= set(diff.changes)
    assert b"plain" == store.get(diff.changes["deep/honest"].sha256)
    for path in diff.changes:
        assert not path.startswith("/"), path
        assert not {"..", ".", ""} & set(path.split("/")), path
    assert before == sorted(tmp_path.rglob("escape*"))


@pytest.mark.parametrize("path", ["../escape", "/absolute", "a/../../escape", "", ".", "a//b", "a/./b", "nul\0"])
def test_attack_26_a_tree_with_a_path_that_leaves_is_never_laid_out(path: str, backend: Sandbox, store: Store) -> None:
    """A diff that was forged on its way is refused when a session is opened over it; the honest one opens. [O-1]"""
    honest = lay_over({"a.txt": store.put("a")}, Diff({"b/c.txt": Change("added", store.put("c"))}))
    session = backend.open(SandboxSpec(tree=honest), store)
    try:
        assert ["a.txt", "b/c.txt"] == session.paths()
    finally:
        session.close()
    forged = lay_over(honest, Diff({path: Change("added", store.put("evil"))}))
    with pytest.raises((InputError, SandboxError)):
        backend.open(SandboxSpec(tree=forged), store)


RACER = """
import os
while True:
    for target in ("link", "plain"):
        if target == "plain":
            with open("next", "w") as file: file.write("plain")
        else:
            try: os.symlink("/etc/passwd", "next")
            except FileExistsError: pass
        os.replace("next", "answer")
"""


def test_attack_27_a_racer_cannot_swap_a_file_while_it_is_collected(opened: Open, python: Python, store: Store) -> None:
    """What is collected is what was there when everything was dead, and it does not change any more. [O-1]"""
    for wait_s in (0.5, 2.0, 8.0):  # as long as this machine needs to start the racer
        session = opened(Limits(wall_s=60))
        thread = threading.Thread(target=python, args=(session, RACER), kwargs={"wall_s": 60})
        thread.start()
        time.sleep(wait_s)
        first = session.diff()
        thread.join(20)
        assert not thread.is_alive()
        if "answer" in {**first.changes, **first.refused}:
            break
    assert "answer" in {**first.changes, **first.refused}
    assert first == session.diff()
    changed = {path: store.get(change.sha256) for path, change in first.changes.items()}
    assert set(changed.values()) <= {b"plain", b""}
    honest = opened()
    python(honest, "open('answer', 'w').write('plain')")
    assert b"plain" == store.get(honest.diff().changes["answer"].sha256)
