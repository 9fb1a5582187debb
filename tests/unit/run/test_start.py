"""Starting a run: one item's fault is one error, and a failure is written only into this run's own folder."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from steelyard.attempt import Message
from steelyard.errors import CallError, InputError, PermanentError, RefusedError
from steelyard.kit import ProbeKit
from steelyard.models.scripted import Scripted
from steelyard.ports import Sampling
from steelyard.run.failure import FAILURE
from steelyard.run.plan import Plan
from steelyard.run.start import Finished, start
from steelyard.solvers.settings import SolverSettings
from steelyard.store import Store
from steelyard.suite import load


def _started(folder: Path, answer: Callable[[str], str]) -> Finished:
    """A run of three items with a model that answers by function."""
    source = folder / "s.jsonl"
    lines = [
        {"id": name, "input": name, "target": "8042", "verifier": {"name": "token"}} for name in ("one", "two", "three")
    ]
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    suite = load(source)

    def reply(messages: Sequence[Message], _: int | None) -> str:
        return answer(messages[-1].content)

    plan = Plan(
        suite_path=str(source),
        suite_name=suite.name,
        suite_revision=suite.revision,
        split="dev",
        model="scripted",
        model_id="scripted",
        solver=SolverSettings(),
        sampling=Sampling(),
        concurrency=1,
        allow_unproven=True,
    )
    kit = ProbeKit(Store(folder / "run" / "files"), None)
    return asyncio.run(start(plan, suite, Scripted(reply), kit, folder / "run"))


def test_an_input_error_of_one_item_is_one_error_rollout(tmp_path: Path) -> None:
    """The other items are still asked. [O-13]"""

    def answer(prompt: str) -> str:
        if prompt == "two":
            raise InputError('item "two": setup text must occur once in m.py')
        return "8042"

    finished = _started(tmp_path, answer)
    errors = [json.loads(line).get("error") for line in (tmp_path / "run" / "rollouts.jsonl").read_text().splitlines()]
    assert [None, {"kind": "item", "message": 'item "two": setup text must occur once in m.py'}, None] == errors
    assert (3, 1) == (finished.outcome.finished, finished.outcome.errors)


def test_a_failure_in_the_middle_is_written_with_its_stage(tmp_path: Path) -> None:
    """failure.json holds the stage and the words."""

    def answer(prompt: str) -> str:
        if prompt == "two":
            raise PermanentError("key expired")
        return "8042"

    with pytest.raises(PermanentError):
        _started(tmp_path, answer)
    failure = json.loads((tmp_path / "run" / FAILURE).read_text())
    assert ("infer", "key expired") == (failure["stage"], failure["message"])


def test_a_folder_that_is_not_this_run_gets_no_failure(tmp_path: Path) -> None:
    """A file, a folder of something else: refused before anything is asked."""
    asked: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        raise CallError("never", kind="script")

    (tmp_path / "run").write_text("mine")
    with pytest.raises(RefusedError, match="is a file; choose another --out"):
        _started(tmp_path, answer)
    (tmp_path / "run").unlink()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "notes.txt").write_text("mine")
    with pytest.raises(RefusedError, match=r"notes\.txt is in it"):
        _started(tmp_path, answer)
    assert (["notes.txt"], []) == ([path.name for path in (tmp_path / "run").iterdir()], asked)
