"""`orbital check`: golds derived again, seed 000's four example items first of all."""

import argparse
import json
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import msgspec
import pytest

from steelyard.errors import FormatError
from steelyard.families.orbital import tle
from steelyard.families.orbital.approach import closest_approach
from steelyard.families.orbital.check import check_file
from steelyard.families.orbital.commands import add_commands
from steelyard.families.orbital.compare_items import compare
from steelyard.families.orbital.period_items import period

pytest.importorskip("sgp4", reason="needs the extra orbital")

A = (
    "1 25544U 98067A   26203.51782528  .00016717  00000-0  30074-3 0  9991",
    "2 25544  51.6382  88.4247 0004796  76.6963 283.4442 15.50075566454121",
)
B = (
    "1 48274U 21035A    26203.47630000  .00002182  00000-0  62911-4 0  9992",
    "2 48274  51.6431  84.9110 0007899  92.1004 268.0912 15.48920201123456",
)
NEXT_DAY = "Do these two objects conjunct within 5 km in the next 24 hours? Answer yes or no."
SEED_ITEMS = [
    {
        "id": "sda-conj-0001",
        "verifier": "conjunction",
        "input": "OBJECT A:\n" + "\n".join(A) + "\n\nOBJECT B:\n" + "\n".join(B),
        "question": NEXT_DAY,
        "target": "yes",
    },
    {
        "id": "sda-conj-0002",
        "verifier": "miss_distance_km",
        "input": "OBJECT A: 1 25544U 98067A ... / OBJECT B: 1 48274U 21035A ... (both TLEs as above)",
        "question": "What is the miss distance at closest approach, in km, over the next 24 hours?",
        "target": "4.812",
        "tolerance": {"atol": 0.05, "rtol": 0.02},
    },
    {
        "id": "sda-elem-0001",
        "verifier": "period_min",
        "input": "\n".join(A),
        "question": "Compute the orbital period of this object, in minutes.",
        "target": "92.90",
        "tolerance": {"atol": 0.1, "rtol": 0.001},
    },
    {
        "id": "sda-cat-0001",
        "verifier": "catalog",
        "input": "Object with inclination approximately 51.64 deg, mean motion approximately 15.50 rev/day.",
        "question": "What is the NORAD catalog ID of this object? Answer with the number only.",
        "target": "25544",
    },
]


def _written(folder: Path, lines: list[object]) -> Path:
    path = folder / "items.jsonl"
    path.write_bytes(b"\n".join(msgspec.json.encode(line) for line in lines))
    return path


@pytest.fixture
def seed(tmp_path: Path) -> Path:
    """Seed 000's four items, in a file."""
    return _written(tmp_path, list(SEED_ITEMS))


def test_seed_000s_golds_are_named_one_by_one(seed: Path) -> None:
    """Two fabricated golds are mismatches, the period holds, the catalogue number cannot be derived. [T-4]"""
    assert [(c.id, c.status) for c in check_file(seed)] == [
        ("sda-conj-0001", "mismatch"),
        ("sda-conj-0002", "mismatch"),
        ("sda-elem-0001", "ok"),
        ("sda-cat-0001", "not-derivable"),
    ]


def test_the_conjunction_is_refused_for_its_lines_and_far_from_true(seed: Path) -> None:
    """The reason names the checksums, the 70 columns, and the distance with the column put back. [T-4]"""
    check = check_file(seed)[0]
    assert (check.expected, check.derived) == ("yes", "no")
    for words in ("25544 line 1, column 69: checksum", "48274 line 1, column 70: 70 columns", "12337.522 km"):
        assert words in check.reason


def test_a_distance_without_element_sets_is_unfounded(seed: Path) -> None:
    """Abbreviated lines give nothing to compute from. [T-4]"""
    check = check_file(seed)[1]
    assert (check.derived, check.reason) == ("", "unfounded: the text holds 0 element sets in full, 2 needed")


def test_the_period_holds_with_a_warning(seed: Path) -> None:
    """92.8987 lies in the band of 92.90; both wrong checksums are told. [T-4]"""
    check = check_file(seed)[2]
    assert check.derived == "92.8987 min"
    assert check.reason.startswith("warning: 25544 line 1, column 69: checksum: expected 0, got 1")


def test_the_repaired_pair_has_the_measured_distances() -> None:
    """From 2026-07-22T00:00Z the least distance is 12227.661 km at the edge; from the later epoch 12337.522. [T-38]"""
    a, b = tle.elements_from_lines(*A), tle.elements_from_lines(*tle.respaced(*B))
    midnight = closest_approach(a, b, datetime(2026, 7, 22, tzinfo=UTC))
    assert midnight.distance_km == pytest.approx(12227.661095934203, abs=1e-6)
    assert (midnight.after_min, midnight.at_edge) == (0.0, True)
    assert closest_approach(a, b, a.epoch).distance_km == pytest.approx(12337.522, abs=1e-3)


def test_a_repaired_set_never_makes_a_gold_good(tmp_path: Path) -> None:
    """With the gold turned to "no" the derived answer agrees, and the item is still refused for its columns. [T-4]"""
    check = check_file(_written(tmp_path, [{**SEED_ITEMS[0], "target": "no"}]))[0]
    assert (check.status, check.derived) == ("refused", "no")


@pytest.mark.parametrize("family", [period, compare], ids=["period", "compare"])
def test_items_of_this_package_are_derived_again(tmp_path: Path, family) -> None:
    """Fresh items are ok; a changed gold is a mismatch with what should stand there. [T-4]"""
    items = list(islice(family.make(1), 12))
    assert {c.status for c in check_file(_written(tmp_path, items))} == {"ok"}
    turned = {"yes": "no", "no": "yes", "A": "B", "B": "A", "C": "A", "D": "A"}
    wrong = [msgspec.structs.replace(i, target=turned.get(i.target, "1.0")) for i in items]
    assert {c.status for c in check_file(_written(tmp_path, wrong))} == {"mismatch"}


def test_an_item_whose_prompt_was_cut_is_refused(tmp_path: Path) -> None:
    """A family's item that no longer reads back is bad, with the reason. [T-4]"""
    item = msgspec.structs.replace(next(period.make(1)), input="What is the period?")
    check = check_file(_written(tmp_path, [item]))[0]
    assert (check.status, check.bad) == ("refused", True)
    assert "the prompt gives no TLE" in check.reason


def test_a_suites_folder_is_read_dev_first(tmp_path: Path) -> None:
    """Both splits are checked. [T-4]"""
    for name, line in (("test", SEED_ITEMS[3]), ("dev", SEED_ITEMS[2])):
        (tmp_path / f"{name}.jsonl").write_bytes(msgspec.json.encode(line) + b"\n")
    assert [c.id for c in check_file(tmp_path)] == ["sda-elem-0001", "sda-cat-0001"]


def test_a_place_without_items_is_a_format_error(tmp_path: Path) -> None:
    """Neither a file nor a suite's folder. [T-4]"""
    with pytest.raises(FormatError, match="suite's folder with"):
        check_file(tmp_path)


def _run(*words: str) -> int:
    parser = argparse.ArgumentParser(prog="steelyard orbital")
    add_commands(parser)
    arguments = parser.parse_args(words)
    return int(arguments.run(arguments))


def test_the_command_prints_one_line_a_gold_and_exits_1(seed: Path, capsys) -> None:
    """Exit code 1 says that the evals are not good; the lines name the items. [T-4]"""
    assert _run("check", str(seed)) == 1
    out = capsys.readouterr().out
    assert [line.split()[:2] for line in out.splitlines()] == [
        ["mismatch", "sda-conj-0001"],
        ["mismatch", "sda-conj-0002"],
        ["ok", "sda-elem-0001"],
        ["not-derivable", "sda-cat-0001"],
        ["4", "golds,"],
    ]


def test_the_command_gives_json_and_exits_0_where_every_gold_holds(tmp_path: Path, capsys) -> None:
    """A script reads ids and statuses. [T-4]"""
    assert _run("check", str(_written(tmp_path, SEED_ITEMS[2:])), "--json") == 0
    assert [c["status"] for c in json.loads(capsys.readouterr().out)] == ["ok", "not-derivable"]
