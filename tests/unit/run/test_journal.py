"""The journal: one write a rollout, torn lines dropped, large attempts aside, one process at a time."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.attempt import Attempt
from steelyard.errors import FormatError, RefusedError
from steelyard.run.journal import (
    EVIDENCE,
    INLINE_BYTES,
    ROLLOUTS,
    EvidenceIndex,
    EvidenceLine,
    Journal,
    Rollout,
    RolloutError,
    RolloutIndex,
    drop_torn_line,
)
from steelyard.verdict import Evidence


def _rollout(item: str, number: int = 0, *, answer: str | None = "x") -> Rollout:
    attempt = None if answer is None else Attempt(answer=answer)
    error = RolloutError("timeout", "t") if answer is None else None
    return Rollout(
        item=item, rollout=number, seed=number, ask="a", attempt=attempt, error=error, started=0.0, seconds=1.0
    )


def _written(folder: Path, rollouts: list[Rollout]) -> Journal:
    journal = Journal(folder)
    for rollout in rollouts:
        journal.append(rollout)
    return journal


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_cutting_the_journal_at_any_byte_loses_only_the_line_that_was_cut(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """A kill at any byte leaves every finished line readable and the torn one dropped and counted."""
    folder = tmp_path_factory.mktemp("run")
    _written(folder, [_rollout(f"item-{i}", answer="é" * i) for i in range(5)]).close()
    whole = (folder / ROLLOUTS).read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    (folder / ROLLOUTS).write_bytes(whole[:cut])
    finished = whole[:cut].count(b"\n")
    journal = Journal(folder)
    assert cut - (whole[:cut].rfind(b"\n") + 1) == journal.dropped
    journal.append(_rollout("after"))
    journal.close()
    index = RolloutIndex(folder)
    assert [f"item-{i}" for i in range(finished)] + ["after"] == index.items()
    index.close()


def test_a_broken_line_before_the_end_is_an_error_that_names_it(tmp_path: Path) -> None:
    """Only a torn end is repaired; damage elsewhere is told."""
    _written(tmp_path, [_rollout("a"), _rollout("b")]).close()
    first, second = (tmp_path / ROLLOUTS).read_bytes().splitlines(keepends=True)
    (tmp_path / ROLLOUTS).write_bytes(first[:-9] + b"\n" + second)
    with pytest.raises(FormatError, match=r"rollouts\.jsonl:1: not a rollout"):
        RolloutIndex(tmp_path)


def test_a_large_attempt_is_stored_aside_and_read_back_whole(tmp_path: Path) -> None:
    """More than 64 KiB goes to files/; the line stays small."""
    answer = "é" * INLINE_BYTES
    _written(tmp_path, [_rollout("a", answer=answer)]).close()
    assert (tmp_path / ROLLOUTS).stat().st_size < 500
    index = RolloutIndex(tmp_path)
    (read,) = index.of("a")
    index.close()
    assert read.attempt is not None
    assert answer == read.attempt.answer


def test_an_error_rollout_is_not_done_until_a_later_line_of_it_succeeds(tmp_path: Path) -> None:
    """Errors are tried again on resume; the last line of a rollout counts."""
    journal = _written(tmp_path, [_rollout("a", answer=None)])
    before = RolloutIndex(tmp_path)
    journal.append(_rollout("a", answer="later"))
    after = RolloutIndex(tmp_path)
    assert ((False, 1), (True, 0)) == (
        (before.done("a", 0), len(before.errors)),
        (after.done("a", 0), len(after.errors)),
    )
    assert ["later"] == [r.attempt.answer for r in after.of("a") if r.attempt]
    for closing in (journal, before, after):
        closing.close()


def test_a_second_process_is_refused_while_the_first_holds_the_run(tmp_path: Path) -> None:
    """Two writers would double rollouts."""
    journal = Journal(tmp_path)
    with pytest.raises(RefusedError, match="in use by another steelyard process"):
        Journal(tmp_path)
    journal.close()
    Journal(tmp_path).close()


def test_dropping_a_torn_line_longer_than_a_block_keeps_what_came_before(tmp_path: Path) -> None:
    """The search for the last newline crosses blocks."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"1\n" + b"x" * 200_000)
    assert (200_000, b"1\n") == (drop_torn_line(path), path.read_bytes())


def test_blank_lines_are_skipped(tmp_path: Path) -> None:
    """An editor's empty line is no damage."""
    _written(tmp_path, [_rollout("a"), _rollout("b")]).close()
    (tmp_path / ROLLOUTS).write_bytes((tmp_path / ROLLOUTS).read_bytes().replace(b"\n", b"\n\n \n"))
    (tmp_path / EVIDENCE).write_bytes(b"\n\n")
    index = RolloutIndex(tmp_path)
    assert (["a", "b"], 0) == ([r.item for i in index.items() for r in index.of(i)], len(EvidenceIndex(tmp_path)))
    index.close()


@pytest.mark.parametrize("change", [(b'"seed":1', b'"seed":"x"'), (b'"answer":"x"', b'"answer":3')])
def test_a_rollout_of_the_wrong_shape_is_named_by_its_line(tmp_path: Path, change: tuple[bytes, bytes]) -> None:
    """Damage that the index does not look at is told when the rollout is read."""
    _written(tmp_path, [_rollout("a"), _rollout("b", 1), _rollout("c")]).close()
    lines = (tmp_path / ROLLOUTS).read_bytes().splitlines(keepends=True)
    (tmp_path / ROLLOUTS).write_bytes(b"".join([lines[0], b"\n", lines[1].replace(*change), lines[2]]))
    index = RolloutIndex(tmp_path)
    assert ["x"] == [r.attempt.answer for r in index.of("a") if r.attempt]
    with pytest.raises(FormatError, match=r"rollouts\.jsonl:3: not a rollout"):
        list(index.of("b"))
    index.close()


def test_a_rollout_with_neither_attempt_nor_error_is_damage(tmp_path: Path) -> None:
    """It would count as done and never be judged."""
    (tmp_path / ROLLOUTS).write_bytes(b'{"item":"a","rollout":0,"seed":0,"ask":"a","started":0,"seconds":0}\n')
    with pytest.raises(FormatError, match=r"rollouts\.jsonl:1: not a rollout: it needs an attempt"):
        RolloutIndex(tmp_path)


def test_the_newest_evidence_of_a_rollout_is_read_when_it_is_asked_for(tmp_path: Path) -> None:
    """Of several lines the last counts; what was never seen is None. [T-33]"""
    journal = Journal(tmp_path)
    for word in ("old", "new"):
        journal.append_evidence(EvidenceLine("a", 1, "r", "s", Evidence({"said": word})))
    index = EvidenceIndex(tmp_path)
    journal.close()
    found = index.get("a", 1)
    assert found is not None
    assert ({"said": "new"}, None, 1) == (found.evidence.data, index.get("a", 0), len(index))
    index.close()


def test_the_index_holds_lone_and_many_rollouts_alike(tmp_path: Path) -> None:
    """Whatever order the rollouts came in, each is found once, and the item's ask with it. [T-33]"""
    _written(tmp_path, [_rollout(item, n) for item, n in (("a", 0), ("b", 2), ("a", 1), ("b", 0), ("c", 0))]).close()
    index = RolloutIndex(tmp_path)
    assert {"a": [0, 1], "b": [0, 2], "c": [0]} == {i: [r.rollout for r in index.of(i)] for i in index.items()}
    assert (5, True, False) == (len(index), index.done("b", 2), index.done("b", 1))
    index.close()


def test_an_item_that_was_asked_otherwise_is_found_on_the_way(tmp_path: Path) -> None:
    """Given the asks of now, an index names the items of which any line has another one. [O-18]"""
    _written(tmp_path, [_rollout(item, n) for item, n in (("a", 0), ("b", 0), ("b", 1), ("c", 0))]).close()
    index = RolloutIndex(tmp_path, {"a": "a", "b": "other"})
    assert {"b", "c"} == index.asked_otherwise
    index.close()


@pytest.mark.parametrize("number", [b"-1", b"1000001", b"1e3", b"10000000000000000000000"])
def test_a_rollouts_index_that_no_run_gives_is_damage(tmp_path: Path, number: bytes) -> None:
    """An index holds a place for every rollout below the last, so a wrong number must not fill the memory."""
    _written(tmp_path, [_rollout("a")]).close()
    line = (tmp_path / ROLLOUTS).read_bytes()
    (tmp_path / ROLLOUTS).write_bytes(line.replace(b'"rollout":0', b'"rollout":' + number))
    with pytest.raises(FormatError, match=r"rollouts\.jsonl:1: not a rollout"):
        RolloutIndex(tmp_path)
