"""The toolshop family: its jobs, their references, wrong attempts and unusual right ones."""

from __future__ import annotations

import msgspec
import pytest

from steelyard.errors import InputError
from steelyard.families.toolshop import toolshop
from steelyard.families.toolshop.shop import fixture
from steelyard.judging import judge
from steelyard.kit import ProbeKit
from steelyard.proof import prove
from steelyard.solvers.replay import replay
from steelyard.store import inline_content
from steelyard.verifiers.contract import Script
from steelyard.verifiers.registry import bind, declared_misses

ITEMS = {item.id: item for item in toolshop.make("0")}


def test_the_jobs_are_a_fixed_list_whatever_the_seed():
    """The seed changes nothing, and kinds can be picked. [O-2, O-6]"""
    assert list(ITEMS) == ["server-port", "lamp-stock", "add-customer", "fix-discount"]
    assert list(toolshop.make("9")) == list(ITEMS.values())
    assert [item.id for item in toolshop.make("0", kinds="answer")] == ["server-port", "lamp-stock"]
    assert [item.id for item in toolshop.make("0", kinds=["tests", "file"])] == ["add-customer", "fix-discount"]
    with pytest.raises(InputError, match='no kind "test" of toolshop jobs; did you mean "tests"'):
        toolshop.make("0", kinds="test")


@pytest.mark.parametrize("item", ITEMS.values(), ids=lambda item: item.id)
def test_a_job_carries_the_whole_fixture_and_never_its_key(item):
    """Every job starts from a fresh copy; neither prompt nor metadata holds the answer. [O-1, O-6]"""
    assert {path: inline_content(ref).decode() for path, ref in item.files.items()} == dict(fixture())
    assert not item.target or item.target not in item.prompt


@pytest.mark.parametrize("item", ITEMS.values(), ids=lambda item: item.id)
def test_the_reference_never_reads_the_target(item):
    """The reference works from the files; with the target blanked it says the same. [T-4, O-6]"""
    assert toolshop.solve(msgspec.structs.replace(item, target="")) == toolshop.solve(item)


def test_an_item_of_another_family_is_refused():
    """The reference knows its own jobs only. [O-6]"""
    with pytest.raises(InputError, match='item "x" is not one that the toolshop family made'):
        toolshop.solve(msgspec.structs.replace(ITEMS["lamp-stock"], id="x"))


@pytest.fixture
def kit(store):
    """A kit without a sandbox."""
    return ProbeKit(store, None)


@pytest.fixture
def sandboxed(store, bubblewrap):
    """A kit over the real sandbox of this machine."""
    return ProbeKit(store, bubblewrap)


def legs(item, kit):
    """(leg, name, script) of everything that a family knows about a job."""
    yield "reference", "", toolshop.solve(item)
    for leg, makers in (("spoil", {n: s.make for n, s in toolshop.spoil.items()}), ("vary", toolshop.vary)):
        for name, make in makers.items():
            if (made := make(item)) is not None:
                yield leg, name, made if isinstance(made, Script) else Script(made)


@pytest.mark.parametrize("job", ["server-port", "lamp-stock", "add-customer"])
def test_wrong_attempts_fail_as_named_and_unusual_right_ones_pass(job, kit):
    """Answers and file edits are judged as data: no sandbox, the seed's two bad checks are gone. [O-20, O-21]"""
    item = ITEMS[job]
    bound = bind(item)
    for leg, name, script in legs(item, kit):
        if leg == "reference":
            continue
        judged = judge(item, bound, replay(item, script, kit), kit=kit).verdict
        assert judged.passed is (leg == "vary"), (leg, name, judged)
        if leg == "spoil":
            misses = toolshop.spoil[name].misses
            assert set(misses) <= declared_misses(bound)
            assert {miss.name for miss in judged.misses} & set(misses), (name, judged)


@pytest.mark.bubblewrap
@pytest.mark.parametrize("item", ITEMS.values(), ids=lambda item: item.id)
def test_every_job_is_proven_in_the_real_sandbox(item, sandboxed):
    """Fails untouched, passes when the reference is replayed, fails for each named cheat. [O-3, O-4, O-7, O-10]"""
    proof = prove(item, bind(item), toolshop, sandboxed)
    assert (proof.state, proof.reasons) == ("proven", [])
    names = {w.name for w in proof.witnesses if w.leg == "spoil"}
    assert {n for n, s in toolshop.spoil.items() if s.make(item) is not None} <= names


@pytest.mark.bubblewrap
def test_replaying_a_reference_twice_gives_the_same_transcript(sandboxed):
    """Timings and paths are taken out of tool output, so that transcripts repeat word for word. [O-19, O-30]"""
    item = ITEMS["fix-discount"]
    first, second = (replay(item, toolshop.solve(item), sandboxed) for _ in range(2))
    assert [m.content for m in first.messages] == [m.content for m in second.messages]
    assert first.workspace == second.workspace
    assert list(first.workspace.changes) == ["shop/prices.py"]
