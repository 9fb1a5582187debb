"""`all` and `any`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from steelyard.attempt import Attempt, Change, Diff
from steelyard.errors import InputError
from steelyard.item import Item
from steelyard.judging import judge
from steelyard.kit import ProbeKit
from steelyard.scoring import verify
from steelyard.store import Store, inline
from steelyard.verdict import PASSED, Evidence, Miss, Reading, Undecided, Unread, Verdict, failed
from steelyard.verifiers import registry
from steelyard.verifiers.contract import Verifier
from steelyard.verifiers.registry import bind, declared_misses, revision

PORT = {"name": "files", "checks": [{"path": "port.txt", "pattern": "^8042$"}]}


def _item(name: str, of: list[dict[str, Any]], target: str = "12") -> Item:
    files = {"port.txt": inline("80\n")}
    return Item(id="a", input="Q", target=target, verifier={"name": name, "of": of}, files=files)


def _judge(item: Item, answer: str, folder: Path, port: str | None = None) -> Verdict:
    store = Store(folder)
    changes = {} if port is None else {"port.txt": Change("modified", store.put(port))}
    attempt = Attempt(answer=answer, workspace=Diff(changes))
    return judge(item, bind(item), attempt, kit=ProbeKit(store, None)).verdict


@pytest.mark.parametrize(
    ("name", "answer", "passed"),
    [
        ("all", "12", True),
        ("all", "12.0", False),
        ("all", "13", False),
        ("any", "12.0", True),
        ("any", "12", True),
        ("any", "13", False),
    ],
)
def test_all_needs_every_child_and_any_needs_one(name: str, answer: str, passed: bool, tmp_path: Path) -> None:
    """`number` takes 12.0 for 12, `exact` does not."""
    item = _item(name, [{"name": "number"}, {"name": "exact"}])
    verdict = _judge(item, answer, tmp_path)
    assert passed is verdict.passed
    assert passed is (not verdict.misses)


def test_a_child_may_have_its_own_target(tmp_path: Path) -> None:
    """One answer is asked for two things."""
    item = _item("all", [{"name": "token"}, {"name": "token", "target": "lamps"}])
    assert _judge(item, "There are 12 lamps.", tmp_path).passed
    assert not _judge(item, "There are 12 tables.", tmp_path).passed


def test_reading_and_probing_children_are_mixed_and_decided_again_from_stored_evidence(tmp_path: Path) -> None:
    """The evidence is plain data that holds readings, reasons and evidence; no sandbox is asked for."""
    item = _item("all", [{"name": "number"}, PORT])
    assert _judge(item, "12", tmp_path, port="8042\n").passed
    assert not _judge(item, "12", tmp_path).passed
    bound = bind(item)
    assert bound.verifier.probe is not None
    evidence = bound.verifier.probe(item, Attempt(answer=""), ProbeKit(Store(tmp_path), None), bound.config)
    stored = msgspec.json.decode(msgspec.json.encode(evidence), type=Evidence)
    verdict = bound.decide(stored)
    assert ["no-answer", "pattern-absent"] == [miss.name for miss in verdict.misses]


def test_composed_verifiers_compose(tmp_path: Path) -> None:
    """A child may be `any` or `all` itself."""
    item = _item("all", [{"name": "any", "of": [{"name": "exact"}, {"name": "exact", "target": "twelve"}]}])
    assert _judge(item, "twelve", tmp_path).passed
    assert not _judge(item, "eleven", tmp_path).passed


@pytest.mark.parametrize(
    ("of", "said"),
    [
        ([], "at least one spec"),
        ([{"name": "exact"}, {"name": "exacd"}], r'of\[1\]: unknown verifier "exacd"; did you mean "exact"'),
        ([{"name": "number", "target": "x"}], r"of\[0\]: "),
        ([{}], r"of\[0\]: a verifier is"),
    ],
)
def test_a_child_that_cannot_work_is_refused_with_its_place(of: list[dict[str, Any]], said: str) -> None:
    """Errors name the place in `of`. [T-8]"""
    with pytest.raises(InputError, match=said):
        bind(_item("all", of))


def test_the_revision_and_the_declared_misses_cover_the_children() -> None:
    """A child's config is part of the revision, a child's misses may be named by spoils."""
    item = _item("all", [{"name": "exact"}])
    other = _item("all", [{"name": "exact", "fold": "none"}])
    assert revision(item) != revision(other)
    fields = {"name": "fields", "target": {"a": 1}, "fields": {"a": {"miss": "a-differs"}}}
    bound = bind(_item("any", [fields, PORT], target=json.dumps({"a": 1})))
    assert {"a-differs", "not-an-answer", "pattern-absent"} <= declared_misses(bound)


def test_what_a_child_cannot_decide_fast_is_settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`all` and `fields` are undecided when a child is, and settle with it."""
    slow = Verifier(
        name="slow",
        misses=("differs",),
        read=lambda attempt, config: Reading(attempt.answer, "whole"),
        decide=lambda found, target, config: Undecided("needs algebra"),
        settle=lambda found, target, config: PASSED if found.value == target else failed("differs"),
    )
    monkeypatch.setitem(registry._extra, "slow", (slow, tmp_path))
    both = _item("all", [{"name": "slow"}, {"name": "exact"}])
    assert bind(both).decide(Evidence({"of": [{"reading": {"value": "12", "rule": "whole"}}] * 2})) == Undecided(
        "needs algebra"
    )
    assert _judge(both, "12", tmp_path).passed
    assert ["differs", "differs"] == [miss.name for miss in _judge(both, "13", tmp_path).misses]
    fields = registry.bind_spec({"name": "fields", "fields": {"a": {"verifier": {"name": "slow"}}}}, '{"a": "12"}')
    item = Item(id="a", input="Q", target='{"a": "12"}', verifier={"name": "fields"})
    assert judge(item, fields, Attempt(answer='{"a": "12"}')).verdict.passed
    assert [Miss("wrong-a", "differs")] == judge(item, fields, Attempt(answer='{"a": "13"}')).verdict.misses


def test_the_plainest_answer_is_the_first_that_a_child_renders() -> None:
    """`all` with a text to give has a reference without a family."""
    bound = bind(_item("all", [PORT, {"name": "exact"}]))
    assert bound.verifier.render is not None
    assert "12" == bound.verifier.render(bound.target, bound.config)


def test_composed_readers_read_so_that_no_sandbox_is_asked_for(tmp_path: Path) -> None:
    """`verify`, the floor and the count of unextracted answers treat them as what they are: readers."""
    item = _item("all", [{"name": "token"}, {"name": "number"}])
    bound = bind(item)
    assert not bound.probes
    assert verify(item, "The answer is 12.") is True
    assert verify(item, "13") is False
    assert isinstance(bound.read(Attempt(answer="")), Unread)


def test_stored_readings_beside_evidence_are_read_again(tmp_path: Path) -> None:
    """A better `read` is used on a stored run; only what a probe saw is kept."""
    item = _item("all", [{"name": "files", "checks": [{"path": "a.txt", "exists": True}]}, {"name": "token"}])
    bound = bind(item)
    assert bound.probes
    stale = Evidence({"of": [{"evidence": {"data": {}}}, {"reading": {"value": "an old reading", "rule": "old"}}]})
    assert bound.verifier.reread is not None
    again = bound.verifier.reread(Attempt(answer="It is 12."), stale, bound.config)
    assert {"evidence": {"data": {}}} == again.data["of"][0]
    assert "old" != again.data["of"][1]["reading"]["rule"]
