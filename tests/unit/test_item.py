"""Items: the two hashes, the messages, seed lines and errors that name the place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from steelyard.attempt import Message
from steelyard.errors import FormatError
from steelyard.item import Item, ask, item_from_line, key, messages
from steelyard.store import inline, reference_digest, stored_reference

SEED_LINE = (
    '{"id": "e-1", "domain": "elements", "verifier": "period_min", "input": "1 25544U", "question": "Period?", '
    '"target": "92.90", "tolerance": {"atol": 0.1, "rtol": 0.001}, "license": "CC0-1.0"}'
)


def _item(**changes: Any) -> Item:
    return Item(**{"id": "a", "input": "Q?", "target": "1", "verifier": {"name": "exact"}, **changes})


@pytest.mark.parametrize(
    "change",
    [
        {"difficulty": "hard"},
        {"group": "g"},
        {"domain": "d"},
        {"provenance": "p"},
        {"license": "l"},
        {"ref_pass_rate": 0.5},
        {"metadata": {"x": 1}},
        {"id": "b"},
    ],
)
def test_what_is_learned_about_an_item_changes_neither_hash(change: dict[str, Any]) -> None:
    """Difficulty, group, provenance, licence and metadata are in neither ask nor key."""
    assert (ask(_item()), key(_item())) == (ask(_item(**change)), key(_item(**change)))


@pytest.mark.parametrize(
    ("change", "asks", "keys"),
    [
        ({"input": "R?"}, True, False),
        ({"choices": ["x", "y"]}, True, False),
        ({"files": {"a.txt": inline("x")}}, True, False),
        ({"tools": ["read_file"]}, True, False),
        ({"setup": "true"}, True, False),
        ({"environment": {"test_command": ["true"]}}, True, False),
        ({"target": "2"}, False, True),
        ({"verifier": {"name": "number"}}, False, True),
    ],
)
def test_what_the_model_meets_is_in_ask_and_what_judges_is_in_key(
    change: dict[str, Any], asks: bool, keys: bool
) -> None:
    """Attempts belong to the ask, proofs to (ask, key)."""
    changed = _item(**change)
    assert (asks, keys) == (ask(changed) != ask(_item()), key(changed) != key(_item()))


def test_inline_and_stored_files_have_the_same_hashes() -> None:
    """Storing a suite's files changes neither ask nor key."""
    content = inline("def test(): ...")
    stored = stored_reference(reference_digest(content))
    inlined = _item(files={"t.py": content}, verifier={"name": "tests", "hidden": {"h.py": content}})
    written = _item(files={"t.py": stored}, verifier={"name": "tests", "hidden": {"h.py": stored}})
    assert (ask(inlined), key(inlined)) == (ask(written), key(written))


def test_messages_keep_the_input_byte_for_byte_and_put_the_system_prompt_first() -> None:
    """No prompt is rendered twice."""
    conversation = [Message("user", "a"), Message("assistant", "b"), Message("user", "c")]
    assert [Message("system", "s"), Message("user", "Q?")] == messages(_item(), "s")
    assert conversation == messages(_item(input=conversation))


def test_a_seed_line_is_read_with_its_question_verifier_and_tolerance() -> None:
    """Prompt is input, blank line, question; the tolerance travels to the verifier. [T-5] [T-6]"""
    item = item_from_line(SEED_LINE, "items.jsonl", 1)
    assert ("1 25544U\n\nPeriod?", {"name": "period_min", "atol": 0.1, "rtol": 0.001}) == (item.input, item.verifier)


@pytest.mark.parametrize("given", ['"input": "", ', ""])
def test_a_seed_line_without_input_asks_the_question_alone(given: str) -> None:
    """A missing or empty input leaves no blank line; the verifier defaults to exact. [T-6]"""
    item = item_from_line("{" + given + '"id": "c", "question": "Which?", "target": "x"}', "f", 1)
    assert ("Which?", {"name": "exact"}) == (item.input, item.verifier)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"id": "a", ', "items.jsonl:7: broken JSON"),
        ("[1]", "items.jsonl:7: expected a JSON object, got list"),
        (
            '{"id": "a", "input": "q", "verifer": {}}',
            'items.jsonl:7: item "a": unknown field "verifer"; did you mean "verifier"?',
        ),
        ('{"id": "a", "verifier": {"name": "exact"}}', 'items.jsonl:7: item "a": missing field "input"'),
        ('{"id": "", "input": "q", "verifier": {"name": "exact"}}', "items.jsonl:7: .*non-empty id"),
        ('{"id": "a", "input": "q", "verifier": {}}', 'needs a "name"'),
        ('{"id": "a", "input": "q", "target": 5, "verifier": "exact"}', "target must be text, got 5; quote it"),
        ('{"id": "a", "input": "q", "target": "5", "verifier": "exact", "tolerance": 3}', "tolerance must be"),
        ('{"id": "a", "input": "q", "verifier": "exact", "files": {"x": "nope"}}', "not a file reference"),
    ],
)
def test_a_bad_line_is_refused_with_file_line_and_item(line: str, words: str) -> None:
    """Every error in an item line names the place and what was expected."""
    with pytest.raises(FormatError, match=words):
        item_from_line(line, Path("items.jsonl"), 7)


@pytest.mark.parametrize("field", ["metadata", "target"])
def test_a_line_that_is_nested_too_deeply_is_refused_with_its_place(field: str) -> None:
    """Not a RecursionError. [T-8]"""
    deep = "[" * 3000 + "]" * 3000
    line = f'{{"id": "a", "input": "q", "verifier": "exact", "{field}": {{"x": {deep}}}}}'
    with pytest.raises(FormatError, match=r"^items.jsonl:7: lists and objects are nested too deeply$"):
        item_from_line(line, Path("items.jsonl"), 7)


def test_an_item_survives_writing_and_reading() -> None:
    """A line that we write is a line that we read."""
    item = _item(choices=["x", "y"], difficulty="easy", input=[Message("user", "é\u2028")])
    assert item == item_from_line(msgspec.json.encode(item), "f", 1)
