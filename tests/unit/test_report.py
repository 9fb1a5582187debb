"""Reports: the items of the plan, their own floor, and what the judgement was made with."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from steelyard.errors import FormatError, InputError, RefusedError
from steelyard.kit import ProbeKit
from steelyard.models.scripted import Scripted
from steelyard.ports import Sampling
from steelyard.report import build_report, render_report
from steelyard.run.judged import CURRENT, FOLDER
from steelyard.run.judgements import judge_run
from steelyard.run.plan import Plan
from steelyard.run.start import start
from steelyard.solvers.settings import SolverSettings
from steelyard.store import Store
from steelyard.suite import Suite, load


def _item(name: str, target: str = "yes", **more: Any) -> dict[str, Any]:
    return {"id": name, "input": f"Is it {name}?", "target": target, "verifier": {"name": "yesno"}, **more}


def _suite(folder: Path, dev: list[dict[str, Any]], test: list[dict[str, Any]], floor: float | None = None) -> Suite:
    folder.mkdir(exist_ok=True)
    for split, items in (("dev", dev), ("test", test)):
        (folder / f"{split}.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    manifest = {} if floor is None else {"proofs": {"floor": {"rate": floor, "baseline": "constant yes"}}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return load(folder)


def _run(folder: Path, suite: Suite, split: str = "dev", rollouts: int = 1) -> Path:
    """A run of one split that says yes to everything."""
    plan = Plan(
        suite_path=str(suite.path),
        suite_name=suite.name,
        suite_revision=suite.revision,
        split=split,
        model="scripted",
        model_id="scripted",
        solver=SolverSettings(),
        sampling=Sampling(),
        rollouts=rollouts,
        allow_unproven=True,
    )
    kit = ProbeKit(Store(folder / "run" / "files"), None)
    model = Scripted(lambda _messages, _seed: "yes")
    asyncio.run(start(plan, suite.split(split), model, kit, folder / "run"))
    return folder / "run"


def test_the_floor_is_stored_for_the_whole_suite_and_made_for_a_split(tmp_path: Path) -> None:
    """The manifest's floor is of all items; without a manifest it is made as well. [S-10]"""
    whole = _suite(tmp_path / "a", [_item("x"), _item("y", "no")], [], floor=0.25)
    split = _suite(tmp_path / "b", [_item("x")], [_item("y", "no")], floor=0.25)
    bare = _suite(tmp_path / "c", [_item("x"), _item("y", "no"), _item("z")], [])
    rates = []
    for suite in (whole, split, bare):
        folder = tmp_path / f"run-{suite.path.name if suite.path else ''}"
        folder.mkdir()
        report = build_report(_run(folder, suite), suite)
        rates.append(report["floor"]["rate"])
        assert report["n_rollouts_finished"] == report["n_rollouts_wanted"]
    assert [0.25, 1.0, 0.666667] == rates


def test_a_default_k_is_lenient_and_a_given_one_is_not(tmp_path: Path) -> None:
    """A k above every number of rollouts is an error only where somebody asked for it. [S-10]"""
    suite = _suite(tmp_path / "s", [_item("x", family="f"), _item("y")], [])
    run = _run(tmp_path, suite, rollouts=2)
    header = json.loads((run / "run.json").read_text())
    header["plan"]["rollouts"] = 3
    (run / "run.json").write_text(json.dumps(header))
    assert (None, 2) == ((report := build_report(run, suite))["pass@k"], report["n_short"])
    assert 1.0 == build_report(run, suite, 2)["pass@k"]
    with pytest.raises(InputError, match=r"k=3 is more than any item's judged rollouts \(2\)"):
        build_report(run, suite, 3)


def test_a_suite_that_lacks_or_changes_an_item_is_refused(tmp_path: Path) -> None:
    """By the report as by the judge. [O-18]"""
    suite = _suite(tmp_path / "s", [_item("x"), _item("y")], [])
    run = _run(tmp_path, suite)
    with pytest.raises(RefusedError, match=r'item "y", which .* does not have; .*--suite'):
        build_report(run, _suite(tmp_path / "less", [_item("x")], []))
    with pytest.raises(RefusedError, match='item "y" asks something else'):
        build_report(run, _suite(tmp_path / "other", [_item("x"), _item("y", input="Why?")], []))


def test_a_version_that_moved_its_items_to_another_split_still_judges_the_run(tmp_path: Path) -> None:
    """What the judgement was made with is in the report. [O-18] [O-21]"""
    suite = _suite(tmp_path / "s", [_item("x"), _item("y", "no")], [])
    run = _run(tmp_path, suite)
    moved = _suite(tmp_path / "moved", [], [_item("x"), _item("y"), _item("z")])
    judged = judge_run(run, moved)
    assert [("y", 0, False, True)] == [msgspec.structs.astuple(flip) for flip in judged.flips]
    report = build_report(run, moved)
    assert (2, 2, {"none": 2}) == (
        report["n_rollouts_finished"],
        report["n_rollouts_wanted"],
        report["judged_with"]["proofs"],
    )
    assert f"judged with {moved.revision[:18]}  moved; proofs 2 none" in render_report(report)
    current = json.loads((run / FOLDER / CURRENT).read_text())
    assert (str(tmp_path / "moved"), moved.revision) == (current["suite_path"], current["suite_revision"])


@pytest.mark.parametrize("content", ["", "[]", "3", '{"ruler": 3}', "{}"])
def test_a_broken_current_judgement_is_told_with_the_way_on(content: str, tmp_path: Path) -> None:
    """Place and next step. [O-18]"""
    suite = _suite(tmp_path / "s", [_item("x")], [])
    run = _run(tmp_path, suite)
    (run / FOLDER / CURRENT).write_text(content)
    with pytest.raises(FormatError, match=r"current\.json: not the newest ruler.*do: steelyard judge"):
        build_report(run, suite)
    judged = judge_run(run, suite)
    assert (True, [], True) == ("current.json" in judged.unreadable, judged.flips, judged.deterministic)
    assert "" == judge_run(run, suite).unreadable
