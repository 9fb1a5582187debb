"""`steelyard compare` and `size` on runs that the real command line made with scripted models.

The command line is called in this process, since starting one costs more than what is tested; one test starts it.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from steelyard.cli import main

Cli = Callable[..., "CompletedProcess[str]"]
N = 40


def _write(path: Path, rows: Sequence[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _items(n: int = N, **more: Any) -> list[dict[str, Any]]:
    return [
        {
            "id": f"q{i}",
            "input": f"What is item {i:03}?",
            "target": str(1000 + i),
            "verifier": {"name": "number"},
            "domain": "left" if i % 2 else "right",
            "difficulty": ("easy", "medium", "hard")[i % 3],
            **more,
        }
        for i in range(n)
    ]


def _run(
    cli: Cli, folder: Path, name: str, right: Callable[[int, int], bool], *more: object, rollouts: int = 1
) -> Path:
    """A run of s.jsonl by a script that is right where `right(item, seed)` is; its items are those of the suite."""
    rows = []
    for line in (folder / "s.jsonl").read_text().splitlines():
        item = json.loads(line)
        number = int(item["id"][1:])
        for seed in range(rollouts):
            reply = f"It is {item['target']}." if right(number, seed) else f"No idea, {number + seed}?"
            rows.append({"contains": f"item {number:03}?", "reply": reply, "seed": seed})
    script = _write(folder / f"{name}.jsonl", rows)
    how = ("--out", name, "--allow-unproven", "--rollouts", rollouts)
    cli("run", "s.jsonl", "--model", f"scripted:{script.name}", *how, *more)
    return folder / name


def _json(cli: Cli, *args: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(cli("compare", *args, "--json").stdout)
    return found


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run `steelyard ARGS` in a folder of its own; `code` is the exit code that must come."""
    monkeypatch.chdir(tmp_path)

    def run(*args: object, code: int = 0) -> CompletedProcess[str]:
        found = main(list(map(str, args)))
        out, err = capsys.readouterr()
        assert code == found, f"exit {found}\n{out}\n{err}"
        return CompletedProcess(args, found, out, err)

    return run


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite of 40 items in two domains and three strata."""
    return _write(tmp_path / "s.jsonl", _items())


def _base(i: int, _seed: int) -> bool:
    return i % 4 == 0


def _new(i: int, _seed: int) -> bool:
    return i % 4 == 0 or i % 3 == 0


def test_a_run_that_is_really_better_is_called_better(cli: Cli, tmp_path: Path, suite: Path) -> None:
    """Ten more of 40 right, none lost; swapped it is worse. [O-17] [T-18] [T-35]"""
    _run(cli, tmp_path, "a", _base), _run(cli, tmp_path, "b", _new)
    found = _json(cli, "a", "b")
    assert ("better", 40, 0.25) == (found["word"], found["n_items"], found["difference"])
    assert {"gained": 10, "lost": 0, "exact": 2 / 1024} == {k: found["mcnemar"][k] for k in ("gained", "lost", "exact")}
    assert {"easy", "hard", "medium"} == set(found["by_difficulty"])
    assert {"left", "right"} == set(found["by_domain"])
    assert all(one["p_bh"] >= one["p"] for one in found["by_difficulty"].values())
    shown = cli("compare", "a", "b").stdout
    for words in (
        "B is better than A",
        "10 gained, 0 lost; exact p 0.0020, mid-p 0.0010",
        "the least difference",
        "floor",
    ):
        assert words in shown
    assert "30 of 40 transcripts" in shown
    assert "B is worse than A" in cli("compare", "b", "a").stdout


def test_the_installed_command_compares_too(
    cli: Cli, tmp_path: Path, suite: Path, steelyard_command: list[str]
) -> None:
    """In a process of its own. [O-17]"""
    _run(cli, tmp_path, "a", _base), _run(cli, tmp_path, "b", _new)
    done = subprocess.run(
        [*steelyard_command, "compare", "a", "b"], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert "B is better than A" in done.stdout


def test_the_same_model_twice_is_not_called_different(cli: Cli, tmp_path: Path, suite: Path) -> None:
    """Two runs that are right on other items by chance, one rollout and three. [O-17]"""
    for rollouts in (1, 3):
        for name in ("a", "b"):
            rng = random.Random(f"{name}{rollouts}")
            passes = {(i, seed): rng.random() < 0.5 for i in range(N) for seed in range(rollouts)}
            _run(cli, tmp_path, f"{name}{rollouts}", lambda i, s, p=passes: p[i, s], rollouts=rollouts)
        assert "too small to tell" == _json(cli, f"a{rollouts}", f"b{rollouts}")["word"]


def test_runs_that_agree_on_many_items_show_that_there_is_no_difference(cli: Cli, tmp_path: Path) -> None:
    """A margin decides how many are many; identical transcripts are counted. [O-17]"""
    _write(tmp_path / "s.jsonl", _items(90))
    for name in ("a", "b"):
        _run(cli, tmp_path, name, _base)
    found = _json(cli, "a", "b")
    assert ("no difference larger than 0.05 shown", {"n": 90, "of": 90}) == (found["word"], found["identical"])
    assert "too small to tell" == _json(cli, "a", "b", "--margin", "0.03")["word"]


def test_where_transcripts_part_is_told_with_who_wrote_the_message(cli: Cli, tmp_path: Path, suite: Path) -> None:
    """One reply of forty differs: the item, the message and its author are named, in JSON and on a terminal. [O-19]"""
    for name in ("a", "b"):
        _run(cli, tmp_path, name, lambda i, _, b=name == "b": i == 7 and b)
    found = _json(cli, "a", "b")
    assert {"n": N - 1, "of": N} == found["identical"]
    difference = {"index": 1, "author": "model", "first": "No idea, 7?", "second": "It is 1007."}
    assert [{"item": "q7", "rollout": 0, "difference": difference}] == found["parted"]
    assert "q7 [0] parts at message 1, written by the model" in cli("compare", "a", "b").stdout


def test_a_call_that_failed_is_dropped_and_its_bounds_can_take_the_word_back(
    cli: Cli, tmp_path: Path, suite: Path
) -> None:
    """Ten gained; eight more that A passed have no answer in B. [O-17] [T-35]"""
    _run(cli, tmp_path, "a", lambda i, _: i >= 30)
    _run(cli, tmp_path, "full", lambda i, _: i < 10 or i >= 30)
    rows = [json.loads(line) for line in (tmp_path / "full.jsonl").read_text().splitlines()]
    _write(tmp_path / "some.jsonl", [row for row in rows if not 32 <= int(row["contains"][5:8]) < 40])
    cli("run", "s.jsonl", "--model", "scripted:some.jsonl", "--out", "b", "--allow-unproven", code=1)
    assert "better" == _json(cli, "a", "full")["word"]
    found = _json(cli, "a", "b")
    assert (32, 8, 8) == (found["n_items"], found["n_dropped"], found["b"]["n_unknown"])
    assert "better" == found["words"]["unknown dropped"]
    assert "too small to tell" == found["words"]["all against B"] == found["word"]
    shown = cli("compare", "a", "b").stdout
    assert "8 unknown (void, error, unfinished): bounds [0.300, 0.500]" in shown
    assert "B against A: too small to tell" in shown


def test_answers_that_could_not_be_read_are_shown_beside_the_rates(cli: Cli, tmp_path: Path, suite: Path) -> None:
    """A difference may be one of form; the count is of the compared items. [S-13] [O-17]"""
    _run(cli, tmp_path, "a", _base), _run(cli, tmp_path, "b", _new)
    rows = [json.loads(line) | {"reply": "I give up."} for line in (tmp_path / "b.jsonl").read_text().splitlines()]
    _write(tmp_path / "mute.jsonl", rows)
    cli("run", "s.jsonl", "--model", "scripted:mute.jsonl", "--out", "c", "--allow-unproven")
    assert [{}, {"extraction_failure": N}] == [run["anomalies"] for run in _json(cli, "a", "c")["runs"]]
    assert f"A none; B {N} extraction_failure" in cli("compare", "a", "c").stdout
    assert "anomalies" not in cli("compare", "a", "b").stdout


def test_rollouts_that_an_interrupted_run_never_made_are_unknown(cli: Cli, tmp_path: Path, suite: Path) -> None:
    """A journal that ends early is no smaller suite. [O-17]"""
    _run(cli, tmp_path, "a", _base)
    journal = _run(cli, tmp_path, "b", _new) / "rollouts.jsonl"
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:-5]))
    cli("judge", "b")
    assert (35, 5) == ((found := _json(cli, "a", "b"))["n_items"], found["b"]["n_unknown"])


def test_items_outside_the_other_runs_plan_are_left_out_and_counted(cli: Cli, tmp_path: Path, suite: Path) -> None:
    """One run had a limit. [O-17]"""
    _run(cli, tmp_path, "a", _base, "--limit", 30), _run(cli, tmp_path, "b", _new)
    found = _json(cli, "a", "b")
    assert (30, 0, [0, 10]) == (found["n_items"], found["n_dropped"], [run["n_only_here"] for run in found["runs"]])
    assert "0 items only in A, 10 items only in B" in cli("compare", "a", "b").stdout


def test_flips_show_both_answers_side_by_side(cli: Cli, tmp_path: Path, suite: Path) -> None:
    """Lost ones first, with the misses; in a terminal, as JSON and in Markdown. [O-17]"""
    _run(cli, tmp_path, "a", lambda i, _: i in (1, 2)), _run(cli, tmp_path, "b", lambda i, _: i in (2, 3))
    listed = _json(cli, "a", "b", "--flips")["flips"]
    assert [("q1", -1.0), ("q3", 1.0)] == [(flip["item"], flip["change"]) for flip in listed]
    assert ("It is 1001.", "No idea, 1?") == (listed[0]["a"]["answer"], listed[0]["b"]["answer"])
    shown = cli("compare", "a", "b", "--flips").stdout
    assert re.search(r"^lost {2}q1 {2}target 1001$", shown, re.MULTILINE)
    assert re.search(r"^It is 1001\. +\| No idea, 1\?$", shown, re.MULTILINE)
    markdown = cli("compare", "a", "b", "--flips", "--markdown").stdout
    assert markdown.startswith("### B against A: too small to tell\n")
    assert "<summary>1 items lost, 1 gained</summary>" in markdown
    assert "flips" not in _json(cli, "a", "b")


def test_markdown_is_a_heading_and_tables(cli: Cli, tmp_path: Path, suite: Path) -> None:
    """Every row of a table has as many cells as its head. [O-17]"""
    _run(cli, tmp_path, "a", _base), _run(cli, tmp_path, "b", _new)
    markdown = cli("compare", "a", "b", "--markdown").stdout
    assert markdown.startswith("### B is better than A\n")
    tables = [block.splitlines() for block in markdown.split("\n\n") if block.startswith("|")]
    assert 4 == len(tables)
    assert all(1 == len({row.count("|") for row in table}) for table in tables)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--protocol", "native"), "protocol is 'tagged' in a, 'native' in b"),
        (("--temperature", 0.5), "temperature is None in a, 0.5 in b"),
        (("--system", "Be brief."), "system is None in a, 'Be brief.' in b"),
        (("--max-turns", 3), "max_turns is 8 in a, 3 in b"),
    ],
)
def test_other_settings_are_refused_by_name_unless_allowed(
    cli: Cli, tmp_path: Path, suite: Path, more: tuple[object, ...], words: str
) -> None:
    """Protocol, sampling, system prompt and limits are held fixed. [O-14] [O-17]"""
    _run(cli, tmp_path, "a", _base), _run(cli, tmp_path, "b", _new, *more)
    refused = cli("compare", "a", "b", code=2).stderr
    name = words.split(maxsplit=1)[0]
    assert words in refused
    assert f"--allow {name}" in refused
    found = _json(cli, "a", "b", "--allow", name)
    assert [name] == list(found["allowed"])
    assert f"{name}: " in cli("compare", "a", "b", "--allow", name).stdout
    assert "did you mean" in cli("compare", "a", "b", "--allow", name[:-1], code=2).stderr


def test_other_questions_are_refused(cli: Cli, tmp_path: Path) -> None:
    """The first item that was asked otherwise is named, with the way on. [O-18]"""
    _write(tmp_path / "s.jsonl", _items(5))
    _run(cli, tmp_path, "a", _base)
    _write(tmp_path / "s.jsonl", [{**item, "input": item["input"] + " Be exact."} for item in _items(5)])
    _run(cli, tmp_path, "b", _new)
    for order in (("a", "b"), ("b", "a")):
        refused = cli("compare", *order, code=2).stderr
        assert 'item "q0" asked something else' in refused
        assert "steelyard run" in refused
        assert 1 == len(refused.splitlines())


def test_judgements_under_another_ruler_are_refused_until_judged_again(cli: Cli, tmp_path: Path) -> None:
    """The suite's targets changed after the run: `judge`, or `--judge` for both sides. [O-18]"""
    _write(tmp_path / "s.jsonl", _items(8))
    _run(cli, tmp_path, "a", _base), _run(cli, tmp_path, "b", _new)
    _write(tmp_path / "s.jsonl", [{**item, "target": "7"} for item in _items(8)])
    refused = cli("compare", "a", "b", code=2).stderr
    assert "8 of 8 items of a were judged under another ruler than today's" in refused
    assert "steelyard judge a" in refused
    cli("judge", "a")
    assert "steelyard judge b" in cli("compare", "a", "b", code=2).stderr
    judged = cli("compare", "a", "b", "--judge")
    assert "b: 8 items judged" in judged.stderr
    assert 0.0 == _json(cli, "a", "b")["difference"]


def test_a_run_without_judgements_or_with_later_rollouts_is_judged_first(cli: Cli, tmp_path: Path, suite: Path) -> None:
    """Neither is compared on what is there. [O-18]"""
    _run(cli, tmp_path, "a", _base), _run(cli, tmp_path, "b", _new)
    judgements = tmp_path / "b" / "judgements"
    judgements.rename(tmp_path / "away")
    assert "this run has not been judged; do: steelyard judge b" in cli("compare", "a", "b", code=2).stderr
    (tmp_path / "away").rename(judgements)
    journal = tmp_path / "b" / "rollouts.jsonl"
    late = json.loads(journal.read_text().splitlines()[0]) | {"rollout": 1}
    with journal.open("a") as lines:
        lines.write(json.dumps(late) + "\n")
    assert "b has rollouts that are not judged" in cli("compare", "a", "b", code=2).stderr
    cli("compare", "a", "b", "--judge")


def test_runs_without_a_common_item_are_refused(cli: Cli, tmp_path: Path) -> None:
    """Another suite altogether. [O-17]"""
    _write(tmp_path / "s.jsonl", _items(3))
    _run(cli, tmp_path, "a", _base)
    _write(tmp_path / "s.jsonl", [{**item, "id": f"z{i}"} for i, item in enumerate(_items(3))])
    _run(cli, tmp_path, "b", _new)
    assert "no item was asked in all of a, b" in cli("compare", "a", "b", "--suite", "s.jsonl", code=2).stderr


def test_the_seed_spread_asks_for_more_than_the_baseline_varies(cli: Cli, tmp_path: Path) -> None:
    """Seed 001: .050, .025, .000 of 40 tasks; one more on each seed is the spread, and does not beat it. [O-17]"""
    _write(tmp_path / "s.jsonl", _items(40))
    _run(cli, tmp_path, "a", lambda i, seed: i < 2 - seed, rollouts=3)
    _run(cli, tmp_path, "b", lambda i, seed: i < 3 - seed, rollouts=3)
    _run(cli, tmp_path, "c", lambda i, seed: i < 5 - seed, rollouts=3)
    found = _json(cli, "a", "b", "--seed-spread")["seed_spread"]
    assert [0.05, 0.025, 0.0] == found["a"]
    assert (pytest.approx(0.025), pytest.approx(0.025), False) == (found["mean_a"], found["spread"], found["beats"])
    assert _json(cli, "a", "c", "--seed-spread")["seed_spread"]["beats"] is True
    assert (
        "B does not beat A by more than A's spread: +0.0250 against 0.0250"
        in cli("compare", "a", "b", "--seed-spread").stdout
    )
    _run(cli, tmp_path, "d", _new)
    assert "differ in rollouts (3 in a, 1 in d)" in cli("compare", "a", "d", "--seed-spread", code=2).stderr
    assert "needs two seeds or more" in cli("compare", "d", "d", "--seed-spread", code=2).stderr


def test_more_runs_give_a_matrix_with_corrected_values_and_a_ranking_with_ties(
    cli: Cli, tmp_path: Path, suite: Path
) -> None:
    """Two alike and one better than both. [T-37] [O-17]"""
    _run(cli, tmp_path, "a", _base), _run(cli, tmp_path, "b", lambda i, _: i % 4 == 1)
    _run(cli, tmp_path, "c", lambda i, _: i % 8 != 7)
    found = _json(cli, "a", "b", "c")
    assert ["B", "C", "C"] == [pair["to"] for pair in found["pairs"]]
    assert all(pair["p_holm"] >= pair["p"] for pair in found["pairs"])
    assert [(1, "C", []), (2, "A", ["B"]), (2, "B", ["A"])] == [
        (row["rank"], row["label"], row["ties"]) for row in found["ranking"]
    ]
    shown = cli("compare", "a", "b", "c").stdout
    assert re.search(r"^2= +A ", shown, re.MULTILINE)
    assert re.search(r"^2= +B ", shown, re.MULTILINE)
    assert "C is better than A" in shown
    assert cli("compare", "a", "b", "c", "--markdown").stdout.startswith("### Comparison of 3 runs\n")
    assert "name just those two" in cli("compare", "a", "b", "c", "--flips", code=2).stderr


def test_one_run_alone_and_a_wrong_level_are_refused(cli: Cli, tmp_path: Path, suite: Path) -> None:
    """With the form of the command."""
    _run(cli, tmp_path, "a", _base)
    assert "steelyard compare A B" in cli("compare", "a", code=2).stderr
    assert "--level must be" in cli("compare", "a", "a", "--level", 95, code=2).stderr
    assert "not a run folder" in cli("compare", "a", "nowhere", code=2).stderr


def test_size_names_every_test_and_says_what_a_number_of_items_can_show(cli: Cli) -> None:
    """305, 324 and 302; the detectable effect of 300 is .0806. [T-19] [T-20]"""
    shown = cli("size", "--delta", 0.08, "--discordant", 0.25, "--n", 300).stdout
    for row in (r"asymptotic +305$", r"exact +324$", r"mid-p +302$", r"asymptotic +0\.0806 "):
        assert re.search(row, shown, re.MULTILINE), shown
    found = json.loads(cli("size", "--delta", 0.05, "--json").stdout)
    assert {"asymptotic": 783, "exact": 817, "midp": 779} == found["required_n"]
    assert 454 == json.loads(cli("size", "--alpha", 0.01, "--json").stdout)["required_n"]["asymptotic"]
    assert "cannot exceed the discordant rate" in cli("size", "--delta", 0.3).stdout
    assert "must lie strictly between 0 and 1" in cli("size", "--power", 1, code=2).stderr
    assert "--n must be at least 1" in cli("size", "--n", 0, code=2).stderr


def test_size_from_two_runs_says_what_the_next_comparison_needs(cli: Cli, tmp_path: Path, suite: Path) -> None:
    """Ten of 40 differ: the rate with its interval, and sizes at both of its ends. [T-20]"""
    _run(cli, tmp_path, "a", _base), _run(cli, tmp_path, "b", _new)
    found = json.loads(cli("size", "--from", "a", "b", "--delta", 0.08, "--json").stdout)
    assert (0.25, 305) == (found["from"]["rate"], found["required_n"]["asymptotic"])
    low, high = (found[f"required_n_{end}"]["exact"] for end in ("low", "high"))
    assert low < 324 < high
    shown = cli("size", "--from", "a", "b").stdout
    assert "discordant rate 0.250  [" in shown
    assert "to find a difference of 0.05 " in shown
    assert "leave out --discordant" in cli("size", "--from", "a", "b", "--discordant", 0.2, code=2).stderr
    assert "discordant rate 0.000" in cli("size", "--from", "a", "a").stdout
