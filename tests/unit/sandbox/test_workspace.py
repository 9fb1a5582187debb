"""The host's side of a work tree: what hostile code may leave there, and that nothing of it is followed."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from steelyard.canonical import sha256_hex
from steelyard.errors import InputError
from steelyard.ports import Limits
from steelyard.sandbox import workspace
from steelyard.store import Store


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A work tree beside a secret."""
    (tmp_path / "secret").write_text("canary")
    root = tmp_path / "work"
    root.mkdir()
    return root


@pytest.mark.parametrize(
    "path", ["../secret", "/etc/passwd", "a/../../secret", "/work/../etc/passwd", "/workshop/x", "a\0b"]
)
def test_a_path_that_leaves_the_workspace_is_refused(root: Path, path: str) -> None:
    """Reading outside raises InputError "path leaves the repository". [O-23]"""
    with pytest.raises(InputError, match="path leaves the repository"):
        workspace.read_file(root, path, 100)


@pytest.mark.parametrize("path", ["a/b.txt", "./a/b.txt", "/work/a/b.txt", "a/c/../b.txt"])
def test_every_way_to_write_a_path_inside_reaches_the_same_file(root: Path, path: str) -> None:
    """Relative paths, /work paths and dots that stay inside are one file. [O-23]"""
    workspace.write_file(root, path, b"text", Limits())
    assert (root / "a/b.txt").read_bytes() == b"text"
    assert workspace.read_file(root, path, 100) == b"text"


def test_a_link_is_neither_read_nor_written_nor_passed_through(root: Path) -> None:
    """A link at the end or on the way is a path that leaves the repository. [O-23]"""
    (root / "file").symlink_to("../secret")
    (root / "folder").symlink_to("..")
    for path in ("file", "folder/secret"):
        with pytest.raises(InputError, match="path leaves the repository"):
            workspace.read_file(root, path, 100)
        with pytest.raises(InputError, match="path leaves the repository"):
            workspace.write_file(root, path, b"taken", Limits())
    assert (root.parent / "secret").read_text() == "canary"


def test_the_difference_refuses_whatever_is_not_a_plain_file(root: Path, tmp_path: Path) -> None:
    """Links, hard links, pipes, sockets and odd names are listed with the reason, never read. [O-1]"""
    store = Store(tmp_path / "store")
    (root / "plain").write_text("fine")
    (root / "link").symlink_to("/etc/passwd")
    (root / "twin").hardlink_to(root.parent / "secret")
    os.mkfifo(root / "pipe")
    (root / os.fsdecode(b"\xff")).mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(root / "socket"))
    diff = workspace.difference(root, {}, store, Limits())
    assert list(diff.changes) == ["plain"]
    assert diff.refused == {
        "\\xff": "a name that is not UTF-8",
        "link": "a symbolic link",
        "pipe": "a named pipe",
        "socket": "a socket",
        "twin": "a hard link (the file has 2 names)",
    }
    assert not store.has(sha256_hex(b"canary"))


def test_the_difference_names_added_modified_and_deleted_files(root: Path, tmp_path: Path) -> None:
    """A change carries its content's hash, size and executable bit; equal files are no change. [O-1]"""
    store = Store(tmp_path / "store")
    base = {name: store.put(name) for name in ("same", "changed", "gone")}
    workspace.lay_out(root, base, store)
    (root / "changed").write_text("new")
    (root / "gone").unlink()
    (root / "tool").write_text("#!/bin/sh\n")
    (root / "tool").chmod(0o755)
    diff = workspace.difference(root, base, store, Limits())
    assert {path: (c.kind, c.size, c.executable) for path, c in diff.changes.items()} == {
        "changed": ("modified", 3, False),
        "gone": ("deleted", 0, False),
        "tool": ("added", 10, True),
    }
    assert store.get(diff.changes["changed"].sha256) == b"new"


def test_sizes_and_counts_are_capped_and_said(root: Path, tmp_path: Path) -> None:
    """A file over its limit, files over the sum, and entries over the count are refused by name. [O-22]"""
    store = Store(tmp_path / "store")
    (root / "a").write_bytes(bytes(11))
    (root / "b").write_bytes(bytes(9))
    (root / "c").write_bytes(bytes(9))
    diff = workspace.difference(root, {}, store, Limits(file_bytes=10, disk_bytes=15))
    assert list(diff.changes) == ["b"]
    assert sorted(diff.refused) == ["a", "c"]
    few = workspace.difference(root, {"z": "0" * 64}, store, Limits(files=1))
    assert few.refused == {".": "more than 2 entries; the rest was not read"}
    assert "z" not in few.changes


def test_a_tree_of_any_depth_is_read_to_a_limit_and_removed_whole(root: Path, tmp_path: Path) -> None:
    """A thousand nested folders neither exhaust handles nor the stack. [O-22]"""
    handle = os.open(root, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=handle)
        below = os.open("d", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = below
    os.close(handle)
    diff = workspace.difference(root, {}, Store(tmp_path / "store"), Limits())
    assert list(diff.refused.values()) == [f"a folder deeper than {workspace.MAX_DEPTH} levels"]
    assert workspace.use_of(root, 10_000).entries == workspace.MAX_DEPTH
    workspace.remove(root)
    assert not root.exists()


def test_permissions_that_code_inside_took_away_hide_nothing(root: Path, tmp_path: Path) -> None:
    """Folders and files without any permission are read and removed all the same. [O-1]"""
    (root / "closed").mkdir()
    (root / "closed/file").write_text("found")
    (root / "closed/file").chmod(0)
    (root / "closed").chmod(0)
    diff = workspace.difference(root, {}, Store(tmp_path / "store"), Limits())
    assert list(diff.changes) == ["closed/file"]
    workspace.remove(root)
    assert not root.exists()


def test_removing_follows_no_link(root: Path) -> None:
    """What a link points to outside stays. [O-1]"""
    (root / "out").symlink_to("..")
    (root / "deep").mkdir()
    (root / "deep/out").symlink_to(root.parent)
    workspace.remove(root)
    assert not root.exists()
    assert (root.parent / "secret").read_text() == "canary"


@pytest.mark.parametrize("path", ["", "/x", "../x", "a//b", "./a"])
def test_a_tree_with_a_path_that_is_not_plain_is_refused(root: Path, tmp_path: Path, path: str) -> None:
    """A tree is laid out by plain relative paths only. [O-23]"""
    store = Store(tmp_path / "store")
    with pytest.raises(InputError, match="path leaves the repository"):
        workspace.lay_out(root, {path: store.put("x")}, store)


def test_a_tree_that_uses_a_name_twice_is_refused(root: Path, tmp_path: Path) -> None:
    """A path cannot be a file and a folder. [O-1]"""
    store = Store(tmp_path / "store")
    sha256 = store.put("x")
    with pytest.raises(InputError, match="both a file and a folder"):
        workspace.lay_out(root, {"a": sha256, "a/b": sha256}, store)
