"""The fixture package: its tests pass, each planted bug fails one, and it ships as data."""

from __future__ import annotations

import subprocess
import sys

import pytest

from steelyard.errors import InputError
from steelyard.families.toolshop.family import TEST_COMMAND
from steelyard.families.toolshop.shop import fixture, ids_of_tests, planted
from steelyard.item import Edit

BUGS = [
    Edit("shop/prices.py", "percent / 100", "percent / 10"),
    Edit("shop/prices.py", "round(amount, 2)", "round(amount, 1)"),
    Edit("shop/cart.py", "sum(price * quantity for", "sum(price for"),
    Edit("shop/inventory.py", "STOCK.get(name, 0) > 0", "STOCK.get(name, 0) >= 0"),
    Edit("shop/inventory.py", "+ count", "- count"),
    Edit("shop/inventory.py", "< threshold", "> threshold"),
    Edit("shop/text.py", "text.lower()", "text"),
    Edit("shop/text.py", "word.capitalize()", "word.upper()"),
    Edit("shop/text.py", "limit - 3", "limit - 2"),
]


def run_tests(folder, files):
    """The fixture's tests in a folder: exit code and output."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    argv = [sys.executable, "-B", *TEST_COMMAND[1:], "-v"]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def test_the_twelve_tests_of_the_fixture_pass(tmp_path):
    """The untouched shop is sound, and the test ids are those that unittest reports. [O-1]"""
    code, output = run_tests(tmp_path, fixture())
    assert code == 0
    assert "Ran 12 tests" in output
    assert len(ids_of_tests()) == 12
    assert all(one.rsplit(".", 1)[1] in output for one in ids_of_tests())


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.old)
def test_each_planted_bug_fails_a_test(tmp_path, bug):
    """Every bug of the seed's list can be planted, once, and is caught. [O-3]"""
    code, _ = run_tests(tmp_path, planted([bug]))
    assert code == 1


@pytest.mark.parametrize("old", ["nowhere", "return"])
def test_a_text_that_does_not_stand_exactly_once_cannot_be_replaced(old):
    """A planted bug names its place without doubt. [O-3]"""
    with pytest.raises(InputError, match="must stand there once, found"):
        planted([Edit("shop/text.py", old, "x")])


def test_the_fixture_has_the_values_that_jobs_ask_for():
    """The values of the seed's fourteen answers stand in the files. [O-1, O-9]"""
    everything = "\n".join(fixture().values())
    for value in ("8042", "shop_main", "45", "1.4.2", "0.08", "Lisbon", "Apache-2.0", "Rina Okafor"):
        assert value in everything
    assert len(fixture()["data/customers.csv"].splitlines()) - 1 == 7
    assert sum(path.startswith("tests/") for path in fixture()) == 4
