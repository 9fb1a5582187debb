"""Damaged files of a run: one error with the place, and writing that replaces a file whole or leaves it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from steelyard.errors import FormatError, InputError
from steelyard.records import JudgementRecord
from steelyard.run.anomalies import FILE, read_anomalies, rules_hash, write_anomalies
from steelyard.run.stored import decode, folder_errors, read, replacing


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"rollouts":[],"n_rollouts":3,"n_correct":0}', b"\xff", b"[" * 99999])
def test_damage_of_any_kind_is_one_error_with_its_place(data: bytes, tmp_path: Path) -> None:
    """Broken JSON, another shape, counts that contradict, no UTF-8, endless nesting."""
    with pytest.raises(FormatError, match=r"x\.jsonl:7: not a record: "):
        decode(msgspec.json.Decoder(JudgementRecord), data, tmp_path / "x.jsonl", 7, "a record")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """A folder in its place."""
    with pytest.raises(FormatError, match="cannot be read: Is a directory"):
        read(tmp_path, dict, "a record")


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    """What fails half way leaves the old content and no other file."""
    path = tmp_path / "x"
    with replacing(path) as out:
        out.write(b"old")
    with pytest.raises(TypeError), replacing(path) as out:
        out.writelines([b"new", "no bytes"])  # type: ignore[list-item]
    assert ([path], b"old") == (list(tmp_path.iterdir()), path.read_bytes())


def test_what_the_system_refuses_names_the_run_folder(tmp_path: Path) -> None:
    """Permission, a full disk, a file where a folder should be."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match=r"cannot use .*run: Not a directory \(.*file/x\)"), folder_errors(Path("run")):
        (tmp_path / "file" / "x").read_bytes()


@pytest.mark.parametrize("content", ["", "{", "{}", "[]"])
def test_broken_anomalies_are_told_when_read_and_written_over(content: str, tmp_path: Path) -> None:
    """A damaged file never stops a judgement. [S-12]"""
    (tmp_path / FILE).write_text(content)
    with pytest.raises(FormatError, match=r"anomalies\.json: not anomalies: .*do: steelyard judge"):
        read_anomalies(tmp_path)
    write_anomalies(tmp_path, [])
    assert rules_hash() == read_anomalies(tmp_path).rules_hash
    assert [FILE] == [path.name for path in tmp_path.iterdir()]
