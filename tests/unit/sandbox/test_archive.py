"""Tar streams that hostile code shaped: nothing is extracted, and what is no plain file is refused by name."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.attempt import Diff
from steelyard.canonical import sha256_hex
from steelyard.errors import InputError, SandboxFaultError
from steelyard.ports import Limits
from steelyard.sandbox import archive, workspace
from steelyard.store import Store

Member = tuple[str, bytes, bytes, str]  # name, type, content, link target


def _tar(*members: Member) -> io.BytesIO:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT, errors="surrogateescape") as made:
        for name, kind, data, target in members:
            header = tarfile.TarInfo(name)
            header.type, header.linkname, header.size = kind, target, len(data)
            made.addfile(header, io.BytesIO(data))
    stream.seek(0)
    return stream


def _file(name: str, data: bytes = b"x") -> Member:
    return (name, tarfile.REGTYPE, data, "")


@pytest.fixture
def read(store: Store) -> Callable[..., Diff]:
    """What a stream differs from an empty tree by."""

    def difference(*members: Member, entries: int = 100, most: int = 10_000, limits: Limits | None = None) -> Diff:
        found = archive.found(_tar(*members), max_entries=entries, max_bytes=most)
        return workspace.compared(found, {}, store, limits or Limits())

    return difference


@pytest.mark.parametrize("name", ["../up", "a/../../up", "/etc/passwd", "./../up", "a//b", "/"])
def test_a_name_that_leaves_the_workspace_is_refused(read: Callable[..., Diff], name: str) -> None:
    """Absolute and dotted names become no path, and the honest file beside them is read. [O-1]"""
    diff = read(_file("./honest"), _file(name, b"taken"))
    assert (["honest"], ["a path that leaves the workspace"]) == (list(diff.changes), list(diff.refused.values()))


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (tarfile.SYMTYPE, "a symbolic link"),
        (tarfile.FIFOTYPE, "a named pipe"),
        (tarfile.CHRTYPE, "a device"),
        (tarfile.BLKTYPE, "a device"),
        (tarfile.CONTTYPE, ""),
    ],
)
def test_what_is_no_plain_file_is_refused_by_its_kind(read: Callable[..., Diff], kind: bytes, why: str) -> None:
    """Links, pipes and devices are named, never followed and never made. [O-1]"""
    diff = read(("thing", kind, b"", "/etc/passwd"))
    assert ({"thing": why} if why else {}) == diff.refused


def test_both_names_of_a_file_are_refused(read: Callable[..., Diff], store: Store) -> None:
    """The first name looks like any file until the second comes. [O-1]"""
    diff = read(_file("one"), _file("mine"), ("two", tarfile.LNKTYPE, b"", "./one"))
    assert ["mine"] == list(diff.changes)
    assert {"one", "two"} == set(diff.refused)
    assert {"a hard link (the file has 2 names)"} == set(diff.refused.values())


def test_a_file_below_a_link_that_came_earlier_is_refused(read: Callable[..., Diff]) -> None:
    """The trick of link-then-file, and a name that comes twice. [O-1]"""
    diff = read(("a", tarfile.SYMTYPE, b"", "/etc"), _file("a/passwd"), _file("b"), _file("b", b"other"))
    assert {} == diff.changes
    assert {
        "a": "a symbolic link",
        "a/passwd": "lies below something that is no folder",
        "b": "named twice",
    } == diff.refused


def test_names_and_depths_that_cannot_be_kept_are_refused(read: Callable[..., Diff]) -> None:
    """A name that is not UTF-8, and a folder that is too deep with all that is in it. [O-1]"""
    deep = "/".join("d" * 64)
    diff = read(_file("\udcff"), (deep, tarfile.DIRTYPE, b"", ""), _file(deep + "/x"))
    assert {} == diff.changes
    assert {"\\xff": workspace.NOT_TEXT, deep: workspace.TOO_DEEP} == diff.refused


def test_too_many_members_and_too_many_bytes_end_the_reading(read: Callable[..., Diff]) -> None:
    """The rest is said to be unread, so that nothing counts as deleted. [O-22]"""
    many = read(*(_file(f"f{n}") for n in range(9)), entries=5)
    assert {".": "more than 5 entries; the rest was not read"} == many.refused
    large = read(*(_file(f"f{n}", bytes(10_000)) for n in range(9)), entries=9, most=30_000)
    assert "." in large.refused
    one = read(_file("big", bytes(11)), _file("fine", bytes(9)), limits=Limits(file_bytes=10))
    assert (["fine"], ["big"]) == (list(one.changes), list(one.refused))


def test_a_stream_that_is_no_tar_is_a_fault(store: Store) -> None:
    """It says nothing about the code inside. [O-22]"""
    with pytest.raises(SandboxFaultError, match="no proper tar"):
        list(archive.found(io.BytesIO(b"not a tar" * 1000), max_entries=5, max_bytes=100_000))


def test_a_tree_packs_to_the_same_bytes_and_reads_back(store: Store) -> None:
    """Folders come before their files; equal trees are equal streams. [O-1]"""
    tree = {"b/c": store.put("1"), "a": store.put("2")}
    packed = archive.packed(tree, store)
    assert packed == archive.packed(dict(reversed(tree.items())), store)
    found = archive.found(io.BytesIO(packed), max_entries=9, max_bytes=9999)
    assert {"a": sha256_hex(b"2"), "b/c": sha256_hex(b"1")} == {e.path: sha256_hex(r()[0]) for e, r in found}


@pytest.mark.parametrize("tree", [["a", "a/b"], ["../x"], ["/x"], ["a//b"], [""]])
def test_a_tree_with_a_path_that_is_not_plain_is_refused(store: Store, tree: list[str]) -> None:
    """What cannot be laid out on the host cannot be packed either. [O-23]"""
    with pytest.raises(InputError):
        archive.packed(dict.fromkeys(tree, store.put("x")), store)


def test_a_listing_keeps_names_that_can_be_paths(tmp_path: Path) -> None:
    """Names with line breaks stay, odd and deep ones go. [O-23]"""
    data = b"./b\nc\0./a\0./\xff\0./" + b"d/" * 64 + b"x\0./cut"
    assert ["a", "b\nc"] == archive.names(data, max_entries=10)
