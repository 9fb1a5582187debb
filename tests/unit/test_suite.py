"""Suites: what is refused at load, which files paths are seen from, and that items of a kind are loaded alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from steelyard.errors import FormatError
from steelyard.family import Family
from steelyard.item import Edit, Item, ask, key
from steelyard.making import Order, make_suite
from steelyard.store import inline
from steelyard.suite import Suite, draft_revision, load
from steelyard.verifiers.registry import bind

GOOD: dict[str, Any] = {"id": "a", "input": "1 + 1?", "target": "2", "verifier": {"name": "number"}}
JOB: dict[str, Any] = {**GOOD, "files": {"a.txt": inline("one two two")}}


def _suite(folder: Path, *items: dict[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "dev.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    return folder


@pytest.mark.parametrize("field", ["files", "edits", "hidden", "composed"])
@pytest.mark.parametrize("path", ["/etc/x", "../x", "a/../../x", "", ".", "a\0b", "..", "a//b", "./a"])
def test_a_path_that_leaves_the_workspace_is_refused_at_load(tmp_path: Path, field: str, path: str) -> None:
    """Relative, without dots, not empty, no NUL; the error names place and item. [T-8]"""
    hidden = {"name": "tests", "hidden": {path: inline("x")}}
    wrong: dict[str, Any] = {
        "files": {"files": {path: inline("x")}},
        "edits": {"files": {"a.txt": inline("x")}, "edits": [{"path": path, "old": "x", "new": "y"}]},
        "hidden": {"verifier": hidden},
        "composed": {"verifier": {"name": "all", "of": [hidden]}},
    }[field]
    named = "hidden" if field == "composed" else field
    with pytest.raises(FormatError, match=rf'dev.jsonl:2: item "b": {named}: a path is relative'):
        load(_suite(tmp_path, GOOD, {**GOOD, "id": "b", **wrong}))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"input": ""}, "the prompt is empty"),
        ({"input": []}, "the prompt is empty"),
        ({"input": " \n\t"}, "the prompt is empty"),
        ({"input": [{"role": "user", "content": " "}]}, "the prompt is empty"),
        ({"tools": ["read_fil"]}, 'no tool "read_fil"; did you mean "read_file"?'),
        ({"environment": {"test_command": "make test"}}, "test_command must be a list of text"),
        ({"edits": [{"path": "a.tx", "old": "one", "new": "x"}]}, 'setup text is for a.tx; did you mean "a.txt"?'),
        ({"edits": [{"path": "a.txt", "old": "two", "new": "x"}]}, "setup text must occur once in a.txt"),
        ({"edits": [{"path": "a.txt", "old": "three", "new": "x"}]}, "setup text must occur once in a.txt"),
        ({"edits": [{"path": "a.txt", "old": "", "new": "x"}]}, "setup text must occur once in a.txt"),
        ({"edits": [{"path": "a.txt", "old": "one", "new": "x"}] * 2}, "setup text must occur once in a.txt"),
    ],
)
def test_an_item_that_no_run_could_use_is_refused_at_load(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    """An empty prompt, an unknown tool, setup text that is not there once. [T-8]"""
    with pytest.raises(FormatError) as caught:
        load(_suite(tmp_path, {**JOB, **change}))
    assert f'{tmp_path}/dev.jsonl:1: item "a": {words}' in str(caught.value)


def test_setup_text_is_looked_for_in_stored_files_and_after_the_edits_before_it(tmp_path: Path) -> None:
    """The second edit of a path meets what the first one left; a content that is not here yet is not judged."""
    edits = [{"path": "a.txt", "old": "one two", "new": "one"}, {"path": "a.txt", "old": "two", "new": "three"}]
    assert 1 == len(load(_suite(tmp_path / "inline", {**JOB, "edits": edits})).items)
    absent = {"files": {"a.txt": "0" * 64}, "edits": [{"path": "a.txt", "old": "q", "new": "r"}]}
    assert 1 == len(load(_suite(tmp_path / "absent", {**GOOD, **absent})).items)
    item = Item(**{**JOB, "edits": [Edit("a.txt", "one", "x")]})
    out = tmp_path / "stored"
    make_suite([Order("x", Family(name="x", make=lambda seed: iter([item])), 1)], out)
    (out / "dev.jsonl").write_text((out / "dev.jsonl").read_text().replace('"old":"one"', '"old":"two"'))
    with pytest.raises(FormatError, match=r"setup text must occur once in a.txt"):
        load(out)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"name": 5}', r"not a manifest: Expected `str`, got `int` - at `\$.name`"),
        ("[]", "not a manifest: Expected `object`, got `array`"),
        ('{"provenance": {"families": [{"reference": 1}]}}', "not a manifest: Expected `str`, got `int`"),
        ("{", "broken JSON"),
        ('{"x": ' + "[" * 5000 + "]" * 5000 + "}", "lists and objects are nested too deeply"),
        (None, "cannot be read: Is a directory"),
    ],
)
def test_a_broken_manifest_is_refused_with_its_place(tmp_path: Path, text: str | None, words: str) -> None:
    """Types, JSON, depth, and a folder in its place. [T-8]"""
    folder = _suite(tmp_path, GOOD)
    if text is None:
        (folder / "manifest.json").mkdir()
    else:
        (folder / "manifest.json").write_text(text)
    with pytest.raises(FormatError, match=rf"manifest.json: {words}"):
        load(folder)


def test_a_verifier_file_is_seen_from_the_suites_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of the same name in the current folder is never taken for the suite's."""
    verifier = "from steelyard.verifiers.registry import find\nseen_from = find({!r})\n"
    suite = _suite(tmp_path / "suite", {**GOOD, "verifier": {"name": "where.py:seen_from"}})
    (suite / "where.py").write_text(verifier.format("number"))
    (tmp_path / "where.py").write_text(verifier.format("exact"))
    monkeypatch.chdir(tmp_path)
    assert "number" == load("suite", trust=True).bound["a"].verifier.name


def test_a_group_that_stands_in_both_splits_is_refused(tmp_path: Path) -> None:
    """Splits never part a group: the second place is named, and the first. [T-21]"""
    line = '{{"id": "{}", "input": "?", "target": "x", "verifier": {{"name": "exact"}}, "group": "pair"}}\n'
    (tmp_path / "dev.jsonl").write_text(line.format("a"))
    (tmp_path / "test.jsonl").write_text(line.format("b"))
    with pytest.raises(FormatError, match=r'test\.jsonl:1: group "pair" is in two splits \(also .*dev\.jsonl:1\)'):
        load(tmp_path)


def test_items_of_a_kind_are_loaded_as_if_each_were_the_only_one(tmp_path: Path) -> None:
    """What they share is found once; hashes, settings and choices are those of every item alone."""
    specs: list[dict[str, Any]] = [
        {"verifier": {"name": "number", "atol": 1}},
        {"verifier": {"name": "number", "atol": 1.0}},
        {"verifier": {"name": "choice"}, "choices": ["2", "3"], "target": "A"},
        {"verifier": {"name": "choice"}, "choices": ["3", "2"], "target": "B"},
        {"verifier": "exact", "files": {"a.txt": inline("x")}, "environment": {"limits": {"cpu_s": 1.5}}},
        {"verifier": "exact", "target": "é\u2028\x01"},
    ]
    lines = [{**GOOD, **spec, "id": f"{n}-{i}"} for n in range(2) for i, spec in enumerate(specs)]
    suite = load(_suite(tmp_path / "all", *lines))
    for i, line in enumerate(lines):
        alone = load(_suite(tmp_path / str(i), line))
        (item,) = alone.items
        found = suite.bound[item.id]
        assert (item, bind(item)) == (suite.items[i], found)
        assert (ask(item), key(item)) == (suite.asks[item.id], suite.keys[item.id])
        assert alone.revision == draft_revision([item])
    assert (suite.revision, True) == (
        draft_revision(suite.items),
        suite.bound["0-0"].config is suite.bound["1-0"].config,
    )


def test_a_fault_behind_others_of_its_kind_is_named_with_its_line(tmp_path: Path) -> None:
    """A target, a prompt and an id are looked at in every line. [T-8]"""
    good = [{**GOOD, "id": f"g{i}"} for i in range(3)]
    for wrong, words in (
        ({"target": "many"}, 'dev.jsonl:4: item "b": '),
        ({"input": " "}, 'dev.jsonl:4: item "b": the prompt is empty'),
        ({"id": "g1"}, r'dev.jsonl:4: item id "g1" is used twice; first in .*dev.jsonl:2'),
        ({"inptu": "x"}, 'dev.jsonl:4: item "b": unknown field "inptu"; did you mean "input"'),
    ):
        with pytest.raises(FormatError, match=words):
            load(_suite(tmp_path, *good, {**GOOD, "id": "b", **wrong}))


def test_a_suite_that_was_not_loaded_has_its_hashes_too() -> None:
    """Whoever builds one by hand gets what loading gives."""
    item = Item(**GOOD)
    suite = Suite(items=(item,), revision="mine")
    assert ({"a": ask(item)}, {"a": key(item)}) == (suite.asks, suite.keys)
