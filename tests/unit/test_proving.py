"""Proving a suite: stored proofs are kept or made again, and only a family takes a refutation back."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard.attempt import ToolCall
from steelyard.family import Family
from steelyard.item import Item
from steelyard.kit import ProbeKit
from steelyard.making import write_items
from steelyard.ports import Sandbox
from steelyard.proof import Proof
from steelyard.proving import in_threads, keep_proofs, prove_suite, read_proofs, write_proofs
from steelyard.store import inline
from steelyard.suite import Suite, load
from steelyard.verifiers.contract import Script


def _suite(folder: Path, family: str = "sums") -> Suite:
    items = [
        Item(id=f"s{i}", input=f"What is {i} + 1?", target=str(i + 1), verifier={"name": "number"}, family=family)
        for i in range(3)
    ]
    write_items(folder / "dev.jsonl", items)
    return load(folder)


def _make(seed: str) -> Iterator[Item]:
    yield from ()


RIGHT = Family(name="sums", make=_make, solve=lambda item: str(int(item.prompt.split()[2]) + 1))
WRONG = Family(name="sums", make=_make, solve=lambda item: "999")


def _prove(suite: Suite, family: Family | None, *, fresh: bool = False) -> list[Proof]:
    report = prove_suite(suite, ProbeKit(suite.store(), None), lambda _: family, fresh=fresh)
    write_proofs(suite, report, "")
    return report.proofs


def test_a_refuted_item_is_not_proven_by_proving_it_again_without_its_family(tmp_path: Path) -> None:
    """Only the family that solves it can take the refutation back. [T-4]"""
    suite = _suite(tmp_path)
    assert ["refuted"] * 3 == [p.state for p in _prove(suite, WRONG)]
    assert ["refuted"] * 3 == [p.state for p in _prove(suite, None)]
    assert ["unchecked"] * 3 == [p.state for p in _prove(suite, None, fresh=True)]
    assert ["proven"] * 3 == [p.state for p in _prove(suite, RIGHT)]


def test_a_reference_taken_from_the_target_is_made_again_when_a_family_can_solve_it(tmp_path: Path) -> None:
    """Gold that was never re-derived is re-derived as soon as that is possible. [T-4]"""
    suite = _suite(tmp_path, family="")
    first = prove_suite(suite, ProbeKit(suite.store(), None), lambda _: None)
    assert (3, 3) == (first.states["proven"], first.unsolved)
    write_proofs(suite, first, "")
    assert ["refuted"] * 3 == [p.state for p in _prove(suite, WRONG)]
    solved = prove_suite(suite, ProbeKit(suite.store(), None), lambda _: RIGHT)
    assert (3, 0) == (solved.states["proven"], solved.unsolved)


def test_an_interrupted_pass_keeps_what_was_proven(tmp_path: Path) -> None:
    """Nothing already earned is lost."""
    suite = _suite(tmp_path)
    done: list[Proof] = []

    def told(proof: Proof) -> None:
        done.append(proof)
        if len(done) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prove_suite(suite, ProbeKit(suite.store(), None), lambda _: RIGHT, told=told)
    keep_proofs(suite, done)
    assert {"s0": "proven", "s1": "proven"} == {name: p.state for name, p in read_proofs(suite).items()}


def test_work_in_threads_keeps_the_order_of_the_items(tmp_path: Path) -> None:
    """Which one ends first decides nothing, and only some are begun ahead of the one that is next."""
    items = [Item(id=f"i{n}", input="?", target="1", verifier={"name": "number"}) for n in range(40)]
    begun: list[str] = []
    lock = threading.Lock()

    def work(item: Item) -> str:
        with lock:
            begun.append(item.id)
        time.sleep(0.002 if item.id.endswith("0") else 0)
        return item.id

    assert [item.id for item in items] == list(in_threads(work, items))
    assert [item.id for item in items] == list(in_threads(work, items, lambda item: item.id.endswith("3")))
    begun.clear()
    some = in_threads(work, iter(items * 100))
    assert "i0" == next(some)
    some.close()
    assert len(begun) < 1000


@pytest.mark.bubblewrap
def test_two_fresh_proofs_are_the_same_bytes(tmp_path: Path, bubblewrap: Sandbox) -> None:
    """Neither how many ran at once nor how long a test took is in them. [O-30]"""
    test = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertTrue(1)\n"
    items = [
        Item(
            id=f"t{n}",
            input=f"Do the tests of copy {n} pass?",
            target="OK",
            verifier={"name": "token"},
            files={"tests/test_it.py": inline(test)},
            tools=["run_tests"],
            family="runs",
        )
        for n in range(3)
    ]
    runs = Family(name="runs", make=_make, solve=lambda _: Script("They do: OK.", [ToolCall("run_tests", "{}")]))
    write_items(tmp_path / "dev.jsonl", items)
    suite = load(tmp_path)
    written = []
    for _ in range(2):
        report = prove_suite(suite, ProbeKit(suite.store(), bubblewrap), lambda _: runs, fresh=True)
        assert ["proven"] * 3 == [p.state for p in report.proofs]
        written.append(write_proofs(suite, report, "").read_bytes())
    assert written[0] == written[1]
    assert b"Ran 1 test in 0.000s" in written[0]
