"""The floor of a run, kept beside it: used while nothing it depends on has changed, made again when something has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from steelyard import shortcuts
from steelyard.shortcuts import FILE, floor_of_run, shortcut_floor
from steelyard.suite import Suite, load
from steelyard.verifiers import registry

YES: dict[str, Any] = {"input": "Is it?", "target": "yes", "verifier": {"name": "yesno"}}


def _suite(path: Path, *changes: dict[str, Any]) -> Suite:
    lines = [{**YES, "id": f"q{i}", **change} for i, change in enumerate(changes)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return load(path)


def _kept(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / FILE).read_text())
    return found


def test_a_kept_floor_is_used_and_is_the_one_that_would_be_made(tmp_path: Path) -> None:
    """What is in the file is believed, so that the file must never be about something else."""
    suite = _suite(tmp_path / "s.jsonl", {}, {"target": "no"}, {})
    made = floor_of_run(tmp_path, suite, suite.items)
    assert (0.666667, "most common target") == made
    assert made == floor_of_run(tmp_path, suite, suite.items)
    (tmp_path / FILE).write_text(json.dumps({**_kept(tmp_path), "rate": 0.125}))
    assert 0.125 == floor_of_run(tmp_path, suite, suite.items)[0]


@pytest.mark.parametrize(
    "change",
    [
        {"target": "no"},
        {"input": "Is it 3?"},
        {"verifier": {"name": "exact"}},
        {"verifier": {"name": "yesno", "yes": ["yes", "sure"]}},
        {"choices": ["yes", "no"]},
        {"id": "other"},
    ],
)
def test_a_changed_item_makes_the_floor_again(tmp_path: Path, change: dict[str, Any]) -> None:
    """Its question, target, verifier, choices and name are all in the key."""
    first = _suite(tmp_path / "s.jsonl", {}, {})
    floor_of_run(tmp_path, first, first.items)
    before = _kept(tmp_path)["key"]
    floor_of_run(tmp_path, first, first.items[:1])
    some = _kept(tmp_path)["key"]
    second = _suite(tmp_path / "s.jsonl", {}, change)
    floor = shortcut_floor(second.items, second.bound)
    assert (round(floor.rate, 6), floor.baseline) == floor_of_run(tmp_path, second, second.items)
    assert 3 == len({before, some, _kept(tmp_path)["key"]})


def test_changed_code_makes_the_floor_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A verifier's revision and the baselines' own source are in the key."""
    suite = _suite(tmp_path / "s.jsonl", {}, {"target": "no"})
    keys = []
    for name, value in (("revision", registry.revision), ("revision", lambda *_: "0"), ("_SOURCES", ("suite.py",))):
        monkeypatch.setattr(shortcuts, name, value)
        floor_of_run(tmp_path, suite, suite.items)
        keys.append(_kept(tmp_path)["key"])
    assert 3 == len(set(keys))


@pytest.mark.parametrize("content", ["", "{", "[]", '{"key": 3}'])
def test_a_damaged_floor_is_made_again(tmp_path: Path, content: str) -> None:
    """It holds nothing that cannot be made."""
    suite = _suite(tmp_path / "s.jsonl", {})
    (tmp_path / FILE).write_text(content)
    assert (1.0, "most common target") == floor_of_run(tmp_path, suite, suite.items)
    assert 1.0 == _kept(tmp_path)["rate"]


def test_a_folder_that_cannot_be_written_makes_its_floor_every_time(tmp_path: Path) -> None:
    """A file stands where the folder should be."""
    suite = _suite(tmp_path / "s.jsonl", {})
    assert (1.0, "most common target") == floor_of_run(tmp_path / "s.jsonl", suite, suite.items)


def test_what_a_users_own_file_judges_and_what_a_void_took_part_in_is_not_kept(tmp_path: Path) -> None:
    """The file may import others, which its revision does not see; a void may be decided another time."""
    verifier = (
        "from steelyard.verdict import PASSED, Reading\nfrom steelyard.verifiers.contract import Verifier\n"
        "def decide(found, target, config):\n    {}\n"
        "mine = Verifier(name='mine', read=lambda attempt, config: Reading(attempt.answer, 'all'), decide=decide)\n"
    )
    rates = []
    for name, body in (("fine.py", "return PASSED"), ("broken.py", "raise ValueError")):
        (tmp_path / name).write_text(verifier.format(body))
        (tmp_path / "s.jsonl").write_text(json.dumps({**YES, "id": "q", "verifier": {"name": f"{name}:mine"}}) + "\n")
        suite = load(tmp_path / "s.jsonl", trust=True)
        rates.append(floor_of_run(tmp_path, suite, suite.items)[0])
    assert ([1.0, 0.0], False) == (rates, (tmp_path / FILE).exists())


def test_items_of_a_kind_share_readings_and_not_verdicts(tmp_path: Path) -> None:
    """One answer is read once for many items, and decided against each one's target."""
    suite = _suite(tmp_path / "s.jsonl", *({"target": target} for target in ("yes", "no", "no", "yes", "no")))
    floor = shortcut_floor(suite.items, suite.bound)
    assert (0.6, "most common target", [f"q{i}" for i in range(5)]) == (floor.rate, floor.baseline, floor.flagged)
