"""The fixture: a package `lending` for a small library's desk, drawn anew for every item.

Source: written for this project, as a second workspace of the kind of seed 001's, so that training never meets the
eval's files. Names and numbers come from `Random(f"{seed}/{index}")`; the code and its seven tests are always the same.
Easy to break: the texts that planted bugs replace must each stand exactly once in their file.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

SETTINGS, BOOKS, README = "config/lending.ini", "data/books.csv", "README.md"
PACKAGE, FINES, LOANS, DATES = "lending/__init__.py", "lending/fines.py", "lending/loans.py", "lending/dates.py"

_BOOKS = (
    ("The Salt Road", "Ines Valverde"),
    ("Nine Harbours", "Pekka Salmi"),
    ("A House of Reeds", "Amara Diallo"),
    ("Winter Atlas", "Greta Lindqvist"),
    ("The Clockmaker", "Yusuf Demir"),
    ("Low Tide", "Nora Byrne"),
    ("Paper Mountains", "Kenji Arai"),
    ("The Quiet Orchard", "Lucia Ferri"),
    ("Letters to Oran", "Samir Haddou"),
    ("Half the Sky", "Wen Li"),
)
NEW_BOOKS = (("The Glass Ferry", "Ana Kovac"), ("Northern Lanterns", "Olav Moe"), ("Seven Wells", "Rosa Ibarra"))
_KEEPERS = ("Hanna Weiss", "Pierre Lacroix", "Maja Nowak", "Tariq Aziz")

_CODE = {
    FINES: '''"""Fines for books that come back late, in cents."""

RATE_CENTS = {rate}
MOST_CENTS = {most}


def fine(days_late, rate=RATE_CENTS):
    """What is due for a book that is so many days late."""
    return max(0, days_late) * rate


def capped(cents, most=MOST_CENTS):
    """The fine, but never more than the most."""
    return min(cents, most)
''',
    LOANS: '''"""Who has which book."""


class Loans:
    """The loans of one desk: title -> member."""

    def __init__(self):
        self.holders = {}

    def lend(self, title, member):
        """Write a loan down; a book that is out cannot be lent."""
        if title in self.holders:
            raise ValueError(f"{title} is out")
        self.holders[title] = member

    def give_back(self, title):
        """Take a book back."""
        del self.holders[title]

    def held_by(self, member):
        """The titles that a member has, in alphabetical order."""
        return sorted(title for title, holder in self.holders.items() if holder == member)
''',
    DATES: '''"""When books are due."""

from datetime import timedelta


def due(start, days):
    """The day on which a loan ends."""
    return start + timedelta(days=days)


def days_late(due_day, returned):
    """How many days after its due day a book came back; negative when it was early."""
    return (returned - due_day).days
''',
}
_TESTS = {
    "tests/test_fines.py": """import unittest

from lending.fines import capped, fine


class FinesTest(unittest.TestCase):
    def test_every_late_day_costs(self):
        self.assertEqual(fine(3, 20), 60)

    def test_an_early_book_costs_nothing(self):
        self.assertEqual(fine(-2, 20), 0)

    def test_a_fine_has_an_upper_end(self):
        self.assertEqual(capped(900, 500), 500)
        self.assertEqual(capped(80, 500), 80)
""",
    "tests/test_loans.py": """import unittest

from lending.loans import Loans


class LoansTest(unittest.TestCase):
    def test_a_member_sees_the_titles_in_order(self):
        loans = Loans()
        for title in ("Low Tide", "Dunes", "Maps"):
            loans.lend(title, "ada")
        self.assertEqual(loans.held_by("ada"), ["Dunes", "Low Tide", "Maps"])

    def test_a_returned_book_can_be_lent_again(self):
        loans = Loans()
        loans.lend("Maps", "ada")
        loans.give_back("Maps")
        loans.lend("Maps", "bo")
        self.assertEqual(loans.held_by("ada"), [])
""",
    "tests/test_dates.py": """import unittest
from datetime import date

from lending.dates import days_late, due


class DatesTest(unittest.TestCase):
    def test_a_loan_ends_after_its_days(self):
        self.assertEqual(due(date(2025, 1, 30), 14), date(2025, 2, 13))

    def test_late_days_are_counted_from_the_due_day(self):
        self.assertEqual(days_late(date(2025, 3, 1), date(2025, 3, 4)), 3)
""",
}


def drawn(seed: str, index: int) -> tuple[Mapping[str, str], random.Random]:
    """The workspace of item `index`, and the generator for what its job still chooses."""
    rng = random.Random(f"{seed}/{index}")
    books = rng.sample(_BOOKS, rng.randint(5, 8))
    rows = [f"{200 + n},{title},{author},{rng.randint(2, 9)}" for n, (title, author) in enumerate(books, 1)]
    rate, most = rng.choice((15, 25, 35, 40)), rng.choice((600, 750, 900, 1200))
    texts = {
        README: f"# lending\n\nKeeps the loans of a small library.\n\nKept by {rng.choice(_KEEPERS)}.\n",
        SETTINGS: (
            f"[desk]\nopens = {rng.choice(('08:30', '09:15', '10:45'))}\nloan_days = {rng.choice((16, 23, 27, 34))}\n"
            f"max_loans = {rng.randint(11, 19)}\n\n[mail]\nsender = desk{rng.randint(21, 99)}@library.example\n"
        ),
        BOOKS: "\n".join(["id,title,author,copies", *rows]) + "\n",
        PACKAGE: f'"""Loans of a small library."""\n\n__version__ = "{rng.randint(2, 6)}.{rng.randint(1, 9)}.0"\n',
        **_CODE,
        FINES: _CODE[FINES].format(rate=rate, most=most),
        **_TESTS,
    }
    return MappingProxyType(dict(sorted(texts.items()))), rng


@cache
def ids_of_tests() -> tuple[str, ...]:
    """The fixture's tests, named from the repository's root."""
    return tuple(
        f"{path.removesuffix('.py').replace('/', '.')}.{one.name}.{test.name}"
        for path, text in _TESTS.items()
        for one in ast.parse(text).body
        if isinstance(one, ast.ClassDef)
        for test in one.body
        if isinstance(test, ast.FunctionDef)
    )
