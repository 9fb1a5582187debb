"""Families orbital-period, -compare and -extreme: items, their golds, their wrong and unusual attempts."""

import ast
import hashlib
import re
from collections import Counter
from itertools import islice
from pathlib import Path
from random import Random

import msgspec
import pytest

from judged import verdict_of
from steelyard.errors import InputError
from steelyard.families.orbital import compare_items, extreme_items, synthetic, tle
from steelyard.families.orbital.compare_items import LETTERS, compare, read_prompt
from steelyard.families.orbital.extreme_items import extreme
from steelyard.families.orbital.period_items import period
from steelyard.item import Item, ask
from steelyard.verifiers.registry import bind, declared_misses

FAMILIES = [period, compare, extreme]
IDS = [family.name for family in FAMILIES]
N = 150


@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
def test_the_first_items_do_not_depend_on_how_many_are_taken(family) -> None:
    """`make` is prefix-stable, and a level's items come from the same kind of stream. [T-3]"""
    few, many = (list(islice(family.make(5), n)) for n in (4, 12))
    assert few == many[:4]
    assert list(islice(family.make(5, level="hard"), 3)) == list(islice(family.make(5, level="hard"), 6))[:3]


@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
def test_ids_and_asks_are_unique_and_seeds_differ(family) -> None:
    """No item repeats within a seed, none is shared between two seeds. [T-3]"""
    items = [*islice(family.make(0), N), *islice(family.make(1), N)]
    assert len({item.id for item in items}) == len({ask(item) for item in items}) == 2 * N


@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
def test_solve_never_reads_the_target_and_passes(family) -> None:
    """With the target blanked the reference is the same, and the item's verifier accepts it. [T-4]"""
    for item in islice(family.make(2), N):
        answer = family.solve(msgspec.structs.replace(item, target=""))
        assert answer == family.solve(item)
        assert verdict_of(item, answer).passed is True, (item.id, answer)


@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
def test_every_spoil_that_applies_fails_as_named(family) -> None:
    """A wrong attempt raises one of its misses, and every spoil applies to some item. [T-3]"""
    tried: Counter[str] = Counter()
    for item in islice(family.make(3), N):
        declared = declared_misses(bind(item))
        for name, spoil in family.spoil.items():
            answer = spoil.make(item)
            if answer is None:
                continue
            tried[name] += 1
            assert set(spoil.misses) <= declared, name
            verdict = verdict_of(item, answer)
            assert verdict.passed is False, (name, answer, item.target)
            assert {miss.name for miss in verdict.misses} & set(spoil.misses), (name, answer, verdict)
    assert set(tried) == set(family.spoil)


@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
def test_right_answers_in_unusual_forms_pass(family) -> None:
    """Every vary that applies is accepted, and every one applies to some item. [T-3]"""
    tried: Counter[str] = Counter()
    for item in islice(family.make(4), N):
        for name, vary in family.vary.items():
            answer = vary(item)
            if answer is not None:
                tried[name] += 1
                assert verdict_of(item, answer).passed is True, (name, answer, item.target)
    assert set(tried) == set(family.vary)


@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
def test_synthetic_items_say_where_they_come_from(family) -> None:
    """Generator items are CC0, name the generator, take turns in difficulty and group by object. [T-5]"""
    items = list(islice(family.make(6), 9))
    assert [item.difficulty for item in items] == ["easy", "medium", "hard"] * 3
    assert {(item.provenance, item.license, item.family) for item in items} == {("synthetic:1", "CC0-1.0", family.name)}
    assert all(item.group.startswith("objects:") for item in items)


@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
def test_a_level_that_is_none_is_refused_when_make_is_called(family) -> None:
    """The error comes before the first item and names the nearest level. [T-3]"""
    with pytest.raises(InputError, match='did you mean "medium"'):
        family.make(0, level="medum")


@pytest.fixture
def users_file(tmp_path: Path) -> Path:
    """Thirty objects with names, five-digit numbers and designators, as a provider would give them."""
    rng = Random(12)
    lines = []
    for number in range(24_946, 24_976):
        elements = msgspec.structs.replace(synthetic.draw(rng), norad_id=number, designator="97051C")
        lines += ["IRIDIUM", *tle.write_lines(elements)]
    path = tmp_path / "mine.3le"
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
def test_items_from_a_users_catalogue_hide_who_the_objects_are(family, users_file: Path) -> None:
    """Provenance is the file's hash, there is no licence, and no name, number or designator is printed. [T-5]"""
    pytest.importorskip("sgp4", reason="needs the extra orbital")
    snapshot = hashlib.sha256(users_file.read_bytes()).hexdigest()[:12]
    for item in islice(family.make(0, catalogue=str(users_file)), 60):
        assert (item.provenance, item.license) == (f"snapshot:{snapshot}", "")
        assert not re.search(r"\b249[4-7]\d(?![.\d])|97051|IRIDIUM", item.prompt), item.prompt
        assert verdict_of(item, family.solve(item)).passed is True


@pytest.mark.parametrize("family", [compare, extreme], ids=["orbital-compare", "orbital-extreme"])
def test_objects_that_are_alike_in_one_way_are_asked_about_in_another(family, tmp_path: Path) -> None:
    """Near-circular payloads of one height and many inclinations still give items without end, all of them clear.

    The questions that they cannot answer are left out; objects that are alike in everything are refused. [T-3]
    """
    pytest.importorskip("sgp4", reason="needs the extra orbital")
    rng, lines = Random(3), []
    for number in range(100_000, 100_200):
        alike = {"mean_motion_rev_per_day": round(15.2 + rng.uniform(0, 0.02), 8), "eccentricity": 0.0001}
        tilt = {"inclination_deg": round(rng.uniform(20, 140), 4)}
        lines += tle.write_lines(msgspec.structs.replace(synthetic.draw(rng), norad_id=number, **alike, **tilt))
    path = tmp_path / "alike.tle"
    path.write_text("\n".join(lines))
    if family is compare:
        items = list(islice(compare.make(0, catalogue=str(path), level="easy"), 20))
        assert {read_prompt(item.prompt).question.name for item in items} == {"inclination"}
    else:
        items = list(islice(extreme.make(0, catalogue=str(path)), 20))
        assert all("inclinations" in item.prompt for item in items)
    assert all(verdict_of(item, family.solve(item)).passed for item in items)
    same = tmp_path / "same.tle"
    same.write_text("\n".join(lines[:2]))
    with pytest.raises(InputError, match="nor in any"):
        next(family.make(0, catalogue=str(same)))


@pytest.mark.parametrize("module", [compare_items, extreme_items], ids=["orbital-compare", "orbital-extreme"])
def test_refused_draws_are_counted_by_rules_that_have_words(module) -> None:
    """Draws without a clear answer come before the item that replaced them, and counting draws nothing anew. [T-3]"""
    counts = module.refusals(5, 60)
    assert set(counts) == set(module.RULES)
    assert counts == module.refusals(5, 60)
    assert module.refusals(5, 2).get("too-close", 0) < counts["too-close"]


def test_letters_and_sides_are_balanced() -> None:
    """Over 1,200 items no letter of an option count, and no side, is favoured by more than six points. [T-3]"""
    seen: dict[int, Counter[str]] = {}
    for item in islice(compare.make(8), 1200):
        seen.setdefault(len(item.choices or []), Counter())[item.target] += 1
    for size, counts in seen.items():
        expected = 1 / (size or 2)
        assert all(abs(n / counts.total() - expected) < 0.06 for n in counts.values()), (size, counts)


def test_the_best_is_clear_from_the_printed_numbers() -> None:
    """The gap rule holds for what is printed, not only for what was drawn. [T-3]"""
    for item in islice(compare.make(9), 300):
        asked = read_prompt(item.prompt)
        first, second = (asked.values[i] for i in asked.ranking[:2])
        assert abs(first - second) >= 0.99 * asked.question.gap * max(abs(first), abs(second)), item.prompt


def test_half_of_the_derived_items_cannot_be_answered_from_one_column() -> None:
    """Looking at the first column alone is wrong in at least a third of the derived items. [T-3]"""
    derived = misled = 0
    for item in islice(compare.make(10, level="hard"), 300):
        if read_prompt(item.prompt).question.shape == "derived":
            derived += 1
            misled += compare.spoil["one-column-only"].make(item) is not None
    assert misled / derived > 1 / 3


def test_a_prompt_of_another_family_is_refused() -> None:
    """Reading back a prompt without a table, or a question that its columns do not answer, is an error. [T-3]"""
    with pytest.raises(InputError, match="no table of objects"):
        read_prompt("What is the period?")
    with pytest.raises(InputError, match="do not answer"):
        read_prompt(
            "Satellite A: inclination 5.0 deg\nSatellite B: inclination 9.0 deg\n\n"
            "Does satellite A have a higher apogee than satellite B?"
        )


def test_a_prompt_by_hand_is_read_and_solved() -> None:
    """Apogee from axis and eccentricity: 7000 x 1.2 is above 8000 x 1.0. [T-4]"""
    text = (
        "Which of these 2 Earth satellites has the highest apogee?\n\n"
        "A) semi-major axis 8000.0 km, eccentricity 0.0000\nB) eccentricity 0.2000, semi-major axis 7000.0 km\n\n"
        "Answer with one letter: A or B."
    )
    item = Item(id="x", input=text, verifier={"name": "choice"}, choices=["first", "second"])
    assert compare.solve(item) == "B"
    assert compare.spoil["one-column-only"].make(item) == LETTERS[0]


def test_making_and_solving_comparisons_needs_no_engine() -> None:
    """No file of the package imports an engine at module level; sgp4 and numpy load where they are called. [T-3]"""
    heavy = {"sgp4", "numpy", "scipy", "skyfield"}
    for path in Path(compare_items.__file__).parent.glob("*.py"):
        tree = ast.parse(path.read_text())
        imported = {a.name for node in tree.body if isinstance(node, ast.Import) for a in node.names}
        imported |= {node.module or "" for node in tree.body if isinstance(node, ast.ImportFrom)}
        assert not {module.split(".")[0] for module in imported} & heavy, path.name
