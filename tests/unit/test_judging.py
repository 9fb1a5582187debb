"""Judging turns a broken grader into a void, tells provoked voids apart, and composes three-valued verdicts."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.item import Item
from steelyard.judging import judge
from steelyard.verdict import Miss, Reading, Verdict, all_of, any_of
from steelyard.verifiers.contract import Config
from steelyard.verifiers.registry import Bound, bind, declared_misses, find, register, revision, ruler

ITEM = Item(id="a", input="?", target="12", verifier={"name": "token"})
THREE = st.sampled_from([True, False, None])


def _crashing() -> Bound:
    def decide(reading: Reading, target: str, config: Config) -> Verdict:
        raise RuntimeError("boom")

    return msgspec.structs.replace(bind(ITEM), verifier=msgspec.structs.replace(find("token"), decide=decide))


def test_a_crash_of_the_verifier_is_void_and_names_the_error() -> None:
    """A broken grader is void, never a wrong answer."""
    verdict = judge(ITEM, _crashing(), Attempt(answer="12")).verdict
    assert (None, "the verifier crashed while deciding: RuntimeError: boom") == (verdict.passed, verdict.note)


@pytest.mark.parametrize(("reference", "provoked"), [(True, True), (False, False)])
def test_a_void_that_repeats_while_the_reference_passes_is_provoked(reference: bool, provoked: bool) -> None:
    """The submission caused it, so it is counted apart."""
    verdict = judge(ITEM, _crashing(), Attempt(answer="12"), reference_passes=lambda: reference).verdict
    assert provoked == verdict.note.startswith("provoked: ")


def test_a_void_is_tried_once_more() -> None:
    """A passing second try is the verdict."""
    calls: list[int] = []

    def decide(reading: Reading, target: str, config: Config) -> Verdict:
        calls.append(1)
        if len(calls) == 1:
            raise RuntimeError("once")
        return Verdict(True)

    bound = msgspec.structs.replace(bind(ITEM), verifier=msgspec.structs.replace(find("token"), decide=decide))
    assert (True, 2) == (judge(ITEM, bound, Attempt(answer="12")).verdict.passed, len(calls))


@given(st.lists(THREE, min_size=1))
def test_all_fails_if_any_fails_else_is_void_if_any_is(parts: list[bool | None]) -> None:
    """Composition of `all`."""
    want = False if False in parts else None if None in parts else True
    assert want == all_of([Verdict(p) for p in parts]).passed


@given(st.lists(THREE, min_size=1))
def test_any_passes_if_any_passes_else_is_void_if_any_is(parts: list[bool | None]) -> None:
    """Composition of `any`."""
    want = True if True in parts else None if None in parts else False
    assert want == any_of([Verdict(p) for p in parts]).passed


def test_nothing_checked_is_void_never_passed() -> None:
    """Three-valued everywhere. [F-22]"""
    assert (None, None) == (all_of([]).passed, any_of([]).passed)


def test_a_passed_verdict_cannot_have_misses() -> None:
    """Passed means no reason to fail."""
    with pytest.raises(InputError, match="cannot have misses"):
        Verdict(True, [Miss("x")])


def test_the_revision_changes_with_target_config_and_code_and_with_nothing_else() -> None:
    """Scores under two revisions are never compared. [G-17]"""
    base = revision(ITEM)
    same = msgspec.structs.replace(ITEM, id="b", difficulty="hard", input="other?")
    other_target = msgspec.structs.replace(ITEM, target="13")
    other_judge = msgspec.structs.replace(ITEM, verifier={"name": "exact"})
    assert base == revision(same)
    assert 3 == len({base, revision(other_target), revision(other_judge)})


def test_an_alias_has_the_revision_of_what_it_stands_for() -> None:
    """A preset is a spelling, not another judge. [T-8]"""
    alias = Item(id="a", input="?", target="92.90", verifier={"name": "period_min"})
    spelled = msgspec.structs.replace(alias, verifier={"name": "number", "unit": "min", "atol": 0.1, "rtol": 0.001})
    assert revision(alias) == revision(spelled)


def test_the_ruler_names_a_set_of_revisions_whatever_their_order() -> None:
    """One ruler, one set of judgements."""
    assert ruler({"a": "1", "b": "2"}) == ruler({"b": "2", "a": "1"}) != ruler({"a": "2", "b": "1"})


def test_every_verifier_declares_the_misses_that_its_spoils_expect() -> None:
    """An undeclared miss would make a proof impossible."""
    from steelyard.verifiers.registry import MODULES

    undeclared = {}
    for name in MODULES:
        verifier = find(name)
        declared = {"no-answer", *verifier.misses}
        wrong = {n for n, s in verifier.spoil.items() if not set(s.misses) <= declared}
        if wrong and verifier.misses_from is None:
            undeclared[name] = wrong
    assert {} == undeclared
    assert {"no-answer", "token-absent"} <= declared_misses(bind(ITEM))


def test_a_verifier_from_a_file_has_that_files_revision(tmp_path: Path) -> None:
    """Changing the file changes the revision, whatever its verifier calls itself. [G-17]"""
    revisions = []
    for text in ("# first", "# second"):
        source = tmp_path / f"{len(revisions)}.py"
        source.write_text(text)
        register(f"{source}:mine", find("token"), source)
        revisions.append(revision(msgspec.structs.replace(ITEM, verifier={"name": f"{source}:mine"})))
    assert 3 == len({*revisions, revision(ITEM)})
