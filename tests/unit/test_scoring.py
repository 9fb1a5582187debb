"""Seed 000's API: the same calls, the same rows, with the item's own verifier and tolerance honoured."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

import steelyard
from steelyard import load_suite, score_model, verify, verify_correct, verify_sda_answer
from steelyard.errors import FormatError, InputError
from steelyard.item import Item, item_from_line
from steelyard.verdict import Reading, Verdict
from steelyard.verifiers.contract import Config
from steelyard.verifiers.registry import find, register

ELEMENT = (
    '{"id": "e-1", "domain": "elements", "verifier": "period_min", "input": "15.50075566 rev/day", '
    '"question": "Period in minutes?", "target": "92.90", "tolerance": {"atol": 0.1, "rtol": 0.001}}'
)
CATALOG = '{"id": "c-1", "verifier": "catalog", "question": "Which id?", "target": "25544", "difficulty": "hard"}'


def _frozen(folder: Path) -> Path:
    suite = folder / "suite" / "frozen" / "v1.0"
    suite.mkdir(parents=True)
    (suite / "test.jsonl").write_text(f"{ELEMENT}\n\n{CATALOG}\n")
    return suite


def _client(*replies: str | None) -> tuple[Any, list[dict[str, Any]]]:
    """An OpenAI-style client object, and what it was sent."""
    sent: list[dict[str, Any]] = []
    left = iter(replies)

    def create(**request: Any) -> Any:
        sent.append(request)
        return SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content=next(left)))])

    return SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create))), sent


def test_the_default_revision_is_v1_0_of_the_frozen_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`load_suite()` reads test.jsonl, skips blank lines and names its revision. [T-31]"""
    _frozen(tmp_path)
    monkeypatch.chdir(tmp_path)
    suite = load_suite()
    assert ("v1.0", ["e-1", "c-1"]) == (suite.revision, [i.id for i in suite.items])
    first = suite.items[0]
    assert ("15.50075566 rev/day\n\nPeriod in minutes?", "92.90") == (first.prompt, first.answer)
    with pytest.raises(AttributeError):
        first.id = "other"  # type: ignore[misc]


def test_a_revision_that_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says where it looked and what to set. [T-31]"""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FormatError, match="STEELYARD_SUITES"):
        load_suite("v9.9")


@pytest.mark.parametrize(
    ("response", "right"),
    [
        ("The period is 92.9 minutes.", True),
        ("93.09", True),
        ("93.10", False),
        ("1.5483 hours", True),
        ("no idea", False),
    ],
)
def test_verify_uses_the_items_own_verifier_and_tolerance(response: str, right: bool) -> None:
    """|x - 92.90| <= 0.1 + 0.001 * 92.90, in minutes. [T-12] [T-32]"""
    assert right is verify(item_from_line(ELEMENT, "x", 1), response)


@pytest.mark.parametrize(
    ("response", "target", "right"),
    [
        ("The answer is 1,234", "1234", True),
        ("0.5", "1/2", True),
        ("5", "abc", False),
        ("ABC", "abc", True),
        ("iss  (zarya)", "ISS (ZARYA)", True),
        ("10-5", "-5", False),
    ],
)
def test_the_item_agnostic_core_tries_a_number_then_the_text(response: str, target: str, right: bool) -> None:
    """`verify_sda_answer` and `verify_correct` agree; the prompt is ignored. [T-10] [T-32]"""
    assert (right, right) == (verify_sda_answer(response, target), verify_correct("any prompt", response, target))


def test_score_model_gives_exactly_four_keys_in_suite_order(tmp_path: Path) -> None:
    """One request an item, greedy and seeded by default. [T-33]"""
    suite = load_suite(_frozen(tmp_path))
    client, sent = _client("92.9", None)
    rows = score_model(client, suite, model="m")
    assert [
        {"id": "e-1", "response": "92.9", "correct": True, "difficulty": "medium"},
        {"id": "c-1", "response": "", "correct": False, "difficulty": "hard"},
    ] == rows
    want = {"model": "m", "temperature": 0.0, "max_tokens": 512, "seed": 0}
    assert [want, want] == [{k: v for k, v in s.items() if k != "messages"} for s in sent]
    assert [{"role": "user", "content": suite.items[0].prompt}] == sent[0]["messages"]


@pytest.mark.parametrize("client", ["http://127.0.0.1:8000/v1", None, object()])
def test_what_is_no_client_is_told_what_to_give(tmp_path: Path, client: Any) -> None:
    """With the class to use, and the command for an address. [F-7]"""
    with pytest.raises(InputError, match=r"chat\.completions\.create; got .*steelyard run SUITE --base-url"):
        score_model(client, load_suite(_frozen(tmp_path)))


def test_a_void_is_none_in_a_row_never_false(tmp_path: Path) -> None:
    """A broken grader is not a wrong answer. [T-33]"""

    def decide(reading: Reading, target: str, config: Config) -> Verdict:
        raise RuntimeError("broken")

    register("v.py:broken", msgspec.structs.replace(find("exact"), decide=decide), Path(__file__))
    item = Item(id="a", input="?", target="x", verifier={"name": "v.py:broken"})
    client, _ = _client("x")
    (row,) = score_model(client, steelyard.Suite(items=(item,), revision="r"))
    assert row["correct"] is None


def test_the_public_names_of_the_seeds_package_exist() -> None:
    """Its whole `__all__`. [T-32]"""
    names = ("Item", "Suite", "load_suite", "verify", "verify_sda_answer", "verify_correct", "score_model")
    for name in (*names, "score_model_local"):
        assert getattr(steelyard, name)


def test_a_reference_that_is_a_procedure_is_absent_from_the_record() -> None:
    """An empty target means that the truth is a procedure: no reference, not an empty one. [S-3]"""
    from steelyard.records import build_judgement_record, build_prompt_record

    records = [build_prompt_record([], None), build_judgement_record([], None)]
    assert ["reference" in json.loads(msgspec.json.encode(r)) for r in records] == [False, False]
