"""What a new judgement changes: flips, verdicts under the same ruler, and old judgements that are damaged or differ."""

from __future__ import annotations

from pathlib import Path

import msgspec

from steelyard.records import (
    JudgedItem,
    PredictionRecord,
    PromptRecord,
    RolloutJudgement,
    build_judgement_record,
)
from steelyard.run.flips import Changes, Flip

OLD, NEW = "0" * 64, "1" * 64


def _line(name: str, *passed: bool | None, revision: str = OLD) -> JudgedItem:
    rollouts = [
        RolloutJudgement(i, one, extra={"misses": [{"name": "differs"}]} if one is False else None)
        for i, one in enumerate(passed)
    ]
    return JudgedItem(name, revision, PromptRecord([]), PredictionRecord([]), build_judgement_record(rollouts))


def _write(folder: Path, ruler: str, *lines: JudgedItem, tail: bytes = b"") -> None:
    (folder / f"{ruler}.jsonl").write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines) + tail)


def _changes(folder: Path, previous: str, *lines: JudgedItem, fresh: set[tuple[str, int]] | None = None) -> Changes:
    """The changes that `lines`, judged under the ruler `new`, make to the judgement `previous`."""
    changes = Changes(lambda ruler: folder / f"{ruler}.jsonl", lambda: previous, "new", folder)
    for line in lines:
        changes.add(line, msgspec.json.encode(line), fresh or set())
    changes.finish()
    changes.close()
    return changes


def test_a_verdict_that_is_another_under_another_ruler_is_a_flip(tmp_path: Path) -> None:
    """Lines that say the same but for the revision are none. [O-18]"""
    _write(tmp_path, "old", _line("a", True), _line("b", True, False), _line("c", None))
    new = [_line("a", True, revision=NEW), _line("b", True, True, revision=NEW), _line("c", False, revision=NEW)]
    changes = _changes(tmp_path, "old", *new)
    assert [Flip("b", 1, False, True), Flip("c", 0, None, False)] == changes.flips
    assert ("old", "", True) == (changes.previous, changes.unreadable, changes.deterministic)


def test_items_in_another_order_new_ones_and_lost_ones_are_compared_by_their_id(tmp_path: Path) -> None:
    """Whatever the two suites' orders, only what both judgements hold counts. [O-18]"""
    _write(tmp_path, "old", _line("a", True), _line("gone", True), _line("b", False), _line("c", True))
    changes = _changes(tmp_path, "old", _line("c", False), _line("fresh", True), _line("b", True), _line("a", True))
    assert [Flip("c", 0, True, False), Flip("b", 0, False, True)] == changes.flips


def test_another_verdict_under_the_same_ruler_is_not_deterministic_unless_evidence_is_fresh(tmp_path: Path) -> None:
    """A void that fresh evidence settles is no fault of a verifier. [O-18]"""
    _write(tmp_path, "new", _line("a", None))
    told = [_changes(tmp_path, "new", _line("a", True), fresh=fresh).deterministic for fresh in (set(), {("a", 0)})]
    assert [False, True] == told
    _write(tmp_path, "old", _line("a", True))
    changes = _changes(tmp_path, "old", _line("a", True))
    assert ([], False) == (changes.flips, changes.deterministic)


def test_a_damaged_old_judgement_is_told_wherever_the_damage_is(tmp_path: Path) -> None:
    """The flips found before it are forgotten: they are not all there are. [O-18]"""
    new = [_line("a", False), _line("b", True)]
    for lines, tail in (([_line("a", True)], b"{\n"), ([_line("a", True), _line("b", True)], b"[]\n"), ([], b"{\n")):
        _write(tmp_path, "new", *lines, tail=tail)
        changes = _changes(tmp_path, "new", *new)
        assert ([], True) == (changes.flips, changes.deterministic)
        assert f"new.jsonl:{len(lines) + 1}: not a judgement" in changes.unreadable


def test_a_judgement_that_is_gone_is_told(tmp_path: Path) -> None:
    """current.json names it and it is not there. [O-18]"""
    changes = _changes(tmp_path, "old", _line("a", True))
    assert f"{tmp_path}: the judgement under ruler old is gone" == changes.unreadable
