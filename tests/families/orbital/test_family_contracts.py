"""What the families of passes, decay, correlation, malformed sets and altitudes have in common."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from itertools import islice
from pathlib import Path

import msgspec
import pytest

from judged import verdict_of
from steelyard.errors import InputError
from steelyard.families.orbital import (
    altitude_items,
    correlation_items,
    decay_items,
    malformed_items,
    passes_items,
    sky,
    tle,
)
from steelyard.family import Family
from steelyard.item import Item, ask
from steelyard.proving import prove_family

pytest.importorskip("numpy", reason="needs the extra orbital")
pytest.importorskip("sgp4", reason="needs the extra orbital")

MODULES = {
    passes_items: (passes_items.orbital_pass, 9),
    decay_items: (decay_items.decay, 2),
    correlation_items: (correlation_items.correlation, 9),
    malformed_items: (malformed_items.malformed, 24),
    altitude_items: (altitude_items.altitude, 24),
}
"""Each module with its family and how many items a quick test looks at."""
SELDOM = {"utc-tt-mixup", "spherical-earth", "apogee-order", "kozai-taken-for-brouwer"}
"""Mistakes that often stay inside the band or find the right object all the same; the families' own tests try them."""
CASES = [pytest.param(module, family, n, id=family.name) for module, (family, n) in MODULES.items()]
each = pytest.mark.parametrize(("module", "family", "n"), CASES)


def _items(family: Family, n: int, seed: int = 0, **options: str) -> list[Item]:
    return list(islice(family.make(seed, **options), n))


@each
def test_items_made_again_are_the_same_and_the_first_do_not_depend_on_how_many_are_taken(module, family, n) -> None:
    """A fresh make gives the same items, and fewer of them are the first ones. [T-3]"""
    many = _items(family, n)
    module._TAPES.forget()
    assert _items(family, n // 2) == many[: n // 2]


@each
def test_ids_and_asks_are_unique_and_no_object_is_asked_about_twice(module, family, n) -> None:
    """No item repeats, and every group stands once. [T-3]"""
    items = _items(family, n)
    assert len({i.id for i in items}) == len({ask(i) for i in items}) == len({i.group for i in items}) == n


@each
def test_solve_gives_the_target_without_reading_it(module, family, n) -> None:
    """With the target blanked the reference is accepted by the item's verifier. [T-4]"""
    for item in _items(family, n):
        answer = family.solve(msgspec.structs.replace(item, target=""))
        assert verdict_of(item, answer).passed is True, (item.id, answer)


@each
def test_the_families_items_prove(module, family, n) -> None:
    """Null fails, reference passes, every spoil fails as named, every vary passes. [T-4]"""
    report = prove_family(family, n=min(n, 3))
    assert report.all_proven, [proof.reasons for proof in report.proofs if proof.state != "proven"]


@each
def test_every_spoil_and_vary_applies_to_some_item(module, family, n) -> None:
    """No wrong attempt or unusual form is dead; each behaves as it says wherever it applies. [T-3]"""
    tried: Counter[str] = Counter()
    for item in _items(family, n):
        for name, spoil in family.spoil.items():
            if (answer := spoil.make(item)) is not None:
                tried[name] += 1
                verdict = verdict_of(item, answer)
                assert verdict.passed is False, (name, answer, item.target)
                assert {miss.name for miss in verdict.misses} & set(spoil.misses), (name, answer, verdict)
        for name, vary in family.vary.items():
            if (answer := vary(item)) is not None:
                tried[name] += 1
                assert verdict_of(item, answer).passed is True, (name, answer, item.target)
    assert set(tried) >= set(family.vary)
    assert set(family.spoil) - set(tried) <= SELDOM


@each
def test_synthetic_items_say_where_they_come_from(module, family, n) -> None:
    """Made-up objects are CC0, name the sky's version, and carry numbers from 100000. [T-39]"""
    items = _items(family, n)
    assert {(i.provenance, i.license, i.family) for i in items} == {(sky.PROVENANCE, "CC0-1.0", family.name)}
    assert all(re.fullmatch(r"objects:0:\d{6,}(-\d{6,})*", i.group) for i in items)
    assert {i.difficulty for i in items} <= {"easy", "medium", "hard"}


@each
def test_a_level_keeps_to_itself_and_one_that_is_none_is_refused(module, family, n) -> None:
    """The error comes before the first item and names the nearest level. [T-3]"""
    assert {i.difficulty for i in _items(family, 2, level="easy")} == {"easy"}
    with pytest.raises(InputError, match='did you mean "medium"'):
        family.make(0, level="medum")


@each
def test_refusals_are_counted_by_rules_that_have_words(module, family, n) -> None:
    """Every counted reason is one of the module's rules. [T-3]"""
    assert set(module.refusals(0, n)) <= set(module.RULES)


@pytest.fixture(scope="module")
def users_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Objects with names, five-digit numbers and designators, as a provider would give them."""
    lines = []
    for number, elements in enumerate(sky.catalogue("user", 3000), 20_000):
        known = msgspec.structs.replace(elements, norad_id=number, designator="97051C")
        lines += ["IRIDIUM 33 DEB", *tle.write_lines(known)]
    path = tmp_path_factory.mktemp("user") / "mine.3le"
    path.write_text("\n".join(lines))
    return path


@each
def test_items_from_a_users_catalogue_hide_who_the_objects_are(module, family, n, users_file: Path) -> None:
    """Provenance is the file's hash, there is no licence, and no name, number or designator is printed. [T-39]"""
    snapshot = hashlib.sha256(users_file.read_bytes()).hexdigest()[:12]
    for item in _items(family, max(n // 4, 1), catalogue=str(users_file)):
        assert (item.provenance, item.license) == (f"snapshot:{snapshot}", "")
        assert item.group.startswith("objects:2")
        assert not re.search(r"97051|IRIDIUM", item.prompt)
        numbers = {
            int(tle.from_alpha5(found)) for found in re.findall(r"^(?:\d\d\|)?[12] (\d{5})", item.prompt, re.MULTILINE)
        }
        assert all(number >= 90_000 for number in numbers), numbers
        assert verdict_of(item, family.solve(item)).passed is True


def test_a_catalogue_without_fit_objects_is_refused(users_file: Path, tmp_path: Path) -> None:
    """Debris is known by its name, so a catalogue without names has no inert objects. [T-38]"""
    path = tmp_path / "nameless.tle"
    path.write_text("\n".join(line for line in users_file.read_text().splitlines() if not line.startswith("IRI")))
    with pytest.raises(InputError, match="no object of the kind"):
        next(decay_items.decay.make(0, catalogue=str(path)))


def test_a_catalogue_that_is_used_up_ends_the_items(tmp_path: Path) -> None:
    """Twelve objects give one pass item at most, and then the iterator ends. [T-3]"""
    path = tmp_path / "few.tle"
    path.write_text("\n".join(line for e in sky.catalogue("few", 12) for line in tle.write_lines(e)))
    assert len(list(passes_items.orbital_pass.make(0, catalogue=str(path)))) <= 1
