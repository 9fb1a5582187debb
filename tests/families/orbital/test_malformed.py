"""Family orbital-malformed: the damages, what they reveal, and that everything else is sound."""

from __future__ import annotations

import json
from itertools import islice
from random import Random

import pytest

from steelyard.errors import InputError
from steelyard.families.orbital import sky, tle
from steelyard.families.orbital.damage import CHECKSUM_KINDS, KINDS, damaged
from steelyard.families.orbital.malformed_items import malformed, prompt, read_prompt
from steelyard.item import Item

SKY = sky.catalogue("malformed", 40)


@pytest.fixture(scope="module")
def items() -> list[Item]:
    return list(islice(malformed.make(0), 90))


@pytest.mark.parametrize("kind", KINDS)
def test_a_damage_shows_on_its_own_line_and_in_its_own_way(kind: str) -> None:
    """Checksum kinds show in the checksum alone, the others in columns or length; the other line stays sound. [T-3]"""
    made = 0
    for k, elements in enumerate(SKY):
        lines = tle.write_lines(elements)
        for number in (1, 2):
            line = damaged(Random(k), lines, number, kind)
            if line is None:
                continue
            made += 1
            found = tle.faults(line, lines[1]) if number == 1 else tle.faults(lines[0], line)
            assert {fault.line for fault in found} == {number}
            assert ({fault.kind for fault in found} == {"checksum"}) == (kind in CHECKSUM_KINDS)
    assert made > len(SKY) / 2


def test_some_damages_keep_the_checksum() -> None:
    """Commas, letters, spaces for zeros and moved fields are not seen by a reader who only adds digits. [T-38]"""
    lines = tle.write_lines(SKY[0])
    for kind in ("comma-for-point", "letter-for-zero", "space-for-zero", "field-moved"):
        line = damaged(Random(1), lines, 2, kind)
        assert line is not None
        assert int(line[68]) == tle.checksum(line), kind


def test_the_faulty_lines_are_those_that_another_checker_finds(items) -> None:
    """sgp4's own checksum agrees on every medium item: one line fails, all others pass. [T-4]"""
    io = pytest.importorskip("sgp4.io", reason="needs the extra orbital")
    for item in (i for i in items if i.difficulty == "medium"):
        lines = [line for pair in read_prompt(item.prompt).pairs for line in pair]
        wrong = [k for k, line in enumerate(lines, 1) if io.compute_checksum(line) != int(line[68])]
        assert {"line": wrong[0]} == json.loads(item.target)
        assert len(wrong) == 1


def test_hard_items_need_both_readers(items) -> None:
    """Two to four lines are damaged, one at least in the checksum alone and one in its columns. [T-3]"""
    for item in (i for i in items if i.difficulty == "hard"):
        wanted = json.loads(item.target)["lines"]
        assert 2 <= len(wanted) <= 4
        kinds = []
        for first, second in read_prompt(item.prompt).pairs:
            found = tle.faults(first, second)
            kinds += [{f.kind for f in found if f.line == n} for n in sorted({f.line for f in found})]
        assert len(kinds) == len(wanted)
        assert {"checksum"} in kinds
        assert any(kind != {"checksum"} for kind in kinds)


def test_easy_items_have_sets_of_all_sorts_of_damage(items) -> None:
    """One set of eight; over 30 items, swapped lines and lines of two objects among them. [T-3]"""
    swapped = mixed = 0
    for item in (i for i in items if i.difficulty == "easy"):
        pairs = read_prompt(item.prompt).pairs
        bad = [k for k, pair in enumerate(pairs, 1) if tle.faults(*pair)]
        assert {"set": bad[0]} == json.loads(item.target)
        assert (len(bad), len(pairs)) == (1, 8)
        first, second = pairs[bad[0] - 1]
        swapped += first.startswith("2 ")
        mixed += first.startswith("1 ") and first[2:7] != second[2:7] and len(second) == 69
    assert min(swapped, mixed) > 0


def test_places_are_balanced(items) -> None:
    """No set and no line is the answer much more often than the others. [T-3]"""
    for level, most in (("easy", 12), ("medium", 8)):
        targets = [i.target for i in items if i.difficulty == level]
        assert max(targets.count(one) for one in targets) <= most


def test_a_prompt_gives_back_what_it_was_made_from(items) -> None:
    """Lines are read with every column, and the text printed again is the same. [T-4]"""
    for item in items[:9]:
        assert prompt(read_prompt(item.prompt)) == item.prompt


def test_the_seeds_own_example_is_found_to_be_malformed() -> None:
    """A line with 70 columns and a wrong checksum, as in the seed, is one of the kinds here. [T-38]"""
    lines = tle.write_lines(SKY[0])
    line = damaged(Random(0), lines, 2, "space-added")
    assert line is not None
    assert {fault.kind for fault in tle.faults(lines[0], line)} >= {"length"}


def test_a_prompt_of_another_family_is_refused() -> None:
    """Reading back a text without numbered lines is an error. [T-3]"""
    with pytest.raises(InputError, match="no pairs of numbered lines"):
        read_prompt("What is the period?")
