"""Making suites: what is taken of each order, how it is counted, what is refused, and what the manifest names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from steelyard.errors import InputError
from steelyard.family import Family
from steelyard.item import Item
from steelyard.making import REPEATS, Order, Taken, make_suite
from steelyard.plugins import find_family
from steelyard.store import inline
from steelyard.suite import family_references, load

GOOD: dict[str, Any] = {"id": "a", "input": "1 + 1?", "target": "2", "verifier": {"name": "number"}}
FILE = """
from steelyard import Family, Item
def make(seed):
    for i in range(9):
        yield Item(id=f"{seed}-{i}", input=f"{i} + 1?", target=str(i + 1), verifier={"name": "number"})
family = Family(name="sums", make=make)
"""


def _sums(name: str = "sums", *, prefix: str = "", distinct: int | None = None) -> Family:
    def make(seed: str) -> Iterator[Item]:
        for i in count():
            asked = f"{prefix}{seed}: {i if distinct is None else i % distinct} + 0?"
            yield Item(id=f"sum-{seed}-{i}", input=asked, target=str(i), verifier={"name": "number"})

    return Family(name=name, make=make)


def test_the_manifest_names_a_local_family_relative_to_the_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No absolute path is written, and the reference is found from any folder, also after both moved together."""
    (tmp_path / "home" / "mine").mkdir(parents=True)
    (tmp_path / "home" / "mine" / "sums.py").write_text(FILE)
    monkeypatch.chdir(tmp_path / "home")
    references = ["./mine/sums.py:sums", str(tmp_path / "home" / "mine" / "sums.py")]
    make_suite([Order(r, find_family(r), 2) for r in references], Path("suites/one"))
    manifest = json.loads(Path("suites/one/manifest.json").read_text())
    written = [f["reference"] for f in manifest["provenance"]["families"]]
    assert ["../../mine/sums.py:sums", "../../mine/sums.py"] == written
    monkeypatch.chdir("/")
    (tmp_path / "home").rename(tmp_path / "moved")
    found = family_references(load(tmp_path / "moved" / "suites" / "one"))
    assert ["sums", "sums"] == [find_family(reference).name for reference in found]


def test_each_order_is_counted_alone(tmp_path: Path) -> None:
    """The same family twice gives the next items, and both counts are kept in the manifest."""
    made = make_suite([Order("x", _sums(), 3), Order("x", _sums(), 2)], tmp_path / "s")
    assert [Taken("sums", 3, 3, 0), Taken("sums", 2, 2, 3)] == made.orders
    families = json.loads((tmp_path / "s" / "manifest.json").read_text())["provenance"]["families"]
    assert [3, 2] == [family["n"] for family in families]
    assert 5 == len(load(tmp_path / "s").items)


def test_a_family_that_runs_out_of_questions_gives_what_it_has(tmp_path: Path) -> None:
    """After 1000 repeats in a row nothing new is expected; an earlier order's items are not held against it."""
    made = make_suite([Order("x", _sums(distinct=4), 10)], tmp_path / "few")
    assert [Taken("sums", 10, 4, REPEATS)] == made.orders
    twice = make_suite([Order("x", _sums(), REPEATS + 1), Order("x", _sums(), 2)], tmp_path / "many")
    assert [REPEATS + 1, 2] == [taken.n for taken in twice.orders]


def test_one_id_from_two_families_names_both_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """Ids are for one item; the folder is free for the next try."""
    with pytest.raises(InputError, match='item id "sum-0-0" is made by "one" and again by "two"'):
        make_suite([Order("x", _sums("one"), 1), Order("y", _sums("two", prefix="what is "), 1)], tmp_path / "s")
    assert 1 == make_suite([Order("x", _sums(), 1)], tmp_path / "s").orders[0].n


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (None, "make must give items, got NoneType"),
        ([{"id": "a"}], "make must yield an Item, got dict"),
        ([None], "make must yield an Item, got NoneType"),
        ([Item(**{**GOOD, "target": 5})], 'item "a": Expected `str`, got `int` - at `$.target`'),
        ([Item(**{**GOOD, "metadata": {"x": object()}})], 'item "a": Encoding objects of type object is unsupported'),
        ([Item(**{**GOOD, "files": {"x": "nope"}})], 'item "a": not a file reference'),
        ([Item(**{**GOOD, "files": {"../x": inline("")}})], 'item "a": files: a path is relative'),
        ([Item(**{**GOOD, "input": " "})], 'item "a": the prompt is empty'),
        ([Item(**{**GOOD, "target": "many"})], 'item "a": '),
    ],
)
def test_what_a_family_yields_is_checked_as_if_it_were_read(tmp_path: Path, made: Any, words: str) -> None:
    """Types, references, paths and targets, before anything is written."""
    with pytest.raises(InputError) as caught:
        make_suite([Order("x", Family(name="x", make=lambda seed: made), 1)], tmp_path / "s")
    assert words in str(caught.value)
    assert [] == list((tmp_path / "s").iterdir())


def test_options_that_a_family_does_not_take_are_told_from_its_own_type_errors(tmp_path: Path) -> None:
    """Only a call that does not fit is about the options."""

    def make(seed: str) -> Iterator[Item]:
        raise TypeError("mine")

    with pytest.raises(InputError, match="does not take these options: got an unexpected keyword argument 'x'"):
        make_suite([Order("f", Family(name="f", make=make), 1, "0", {"x": 1})], tmp_path / "a")
    with pytest.raises(InputError, match=r'^family "f": make: TypeError: mine \(test_making.py:\d+\)$'):
        make_suite([Order("f", Family(name="f", make=make), 1)], tmp_path / "b")


def _sharing(name: str, groups: int) -> Family:
    """Items without end that take their groups in turn, so that a group comes again and again."""

    def make(seed: str) -> Iterator[Item]:
        for i in count():
            yield Item(
                id=f"{name}-{i}",
                input=f"{name} {i}?",
                target=str(i),
                verifier={"name": "number"},
                group=f"shared-{i % groups}",
            )

    return Family(name=name, make=make)


def test_both_splits_are_made_at_once_and_no_group_is_in_both(tmp_path: Path) -> None:
    """Dev is filled first, then test; what would part a group is left out and counted, also across families. [T-21]"""
    orders = [Order("a", _sharing("a", 5), 6), Order("b", _sharing("b", 5), 6), Order("x", _sums(), 6)]
    made = make_suite(orders, tmp_path / "s", split="test", dev=2)
    assert [Taken("a", 8, 8, 0, elsewhere=2), Taken("b", 8, 8, 0, elsewhere=2), Taken("sums", 8, 8, 0)] == made.orders
    suite = load(tmp_path / "s")
    groups = {split: {item.group for item in suite.split(split).items} for split in ("dev", "test")}
    assert (6, 18) == (len(suite.split("dev").items), len(suite.split("test").items))
    assert set() == groups["dev"] & groups["test"]
    assert {"dev": 6, "test": 18} == suite.manifest["counts"]
    assert [2, 2, 2] == [family["dev"] for family in suite.manifest["provenance"]["families"]]


def test_a_family_of_one_group_fills_one_split(tmp_path: Path) -> None:
    """It cannot be parted, so it gives what fits and stops after 1000 items for nothing. [T-21]"""
    made = make_suite([Order("a", _sharing("a", 1), 3)], tmp_path / "s", split="test", dev=2)
    assert [Taken("a", 5, 2, 0, elsewhere=REPEATS)] == made.orders
    assert {"dev": 2, "test": 0} == load(tmp_path / "s").manifest["counts"]


def test_the_dev_items_stay_the_same_when_test_grows(tmp_path: Path) -> None:
    """The first items of a family are dev's, however many are made after them. [T-21]"""
    for n in (3, 9):
        make_suite([Order("x", _sums(), n)], tmp_path / str(n), split="test", dev=4)
    assert (tmp_path / "3" / "dev.jsonl").read_bytes() == (tmp_path / "9" / "dev.jsonl").read_bytes()
    few, many = ((tmp_path / n / "test.jsonl").read_bytes() for n in ("3", "9"))
    assert many.startswith(few)


def test_dev_items_beside_dev_items_are_refused(tmp_path: Path) -> None:
    """There are two splits, so dev beside another means beside test."""
    with pytest.raises(InputError, match="dev items beside others need the split test"):
        make_suite([Order("x", _sums(), 1)], tmp_path / "s", dev=1)
