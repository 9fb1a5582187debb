"""Fourteen kinds of jobs at the lending desk; every item is one of them over a workspace of its own.

A job is drawn as a whole: prompt, check, how an expert does it, and a few attempts that must fail or pass. The expert
reads before it writes. Not covered: the exploits of tests as a judge, which the verifier's own wrong attempts try.
Easy to break: a prompt that resembles one of an eval's (`steelyard traces --refuse-overlap` compares them).
"""

from __future__ import annotations

import configparser
import csv
import json
import random
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from steelyard.attempt import ToolCall
from steelyard.errors import InputError
from steelyard.families.toollib.desk import (
    BOOKS,
    DATES,
    FINES,
    LOANS,
    NEW_BOOKS,
    PACKAGE,
    README,
    SETTINGS,
    ids_of_tests,
)
from steelyard.item import Edit
from steelyard.store import inline
from steelyard.verifiers.contract import Script

Workspace = Mapping[str, str]


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One drawn job."""

    kind: str
    prompt: str
    verifier: dict[str, Any]
    solution: Script
    target: str = ""
    derived: bool = False
    edits: list[Edit] = []
    spoil: dict[str, Script] = {}
    vary: dict[str, Script] = {}


Draw = Callable[[Workspace, random.Random], Job]


def _call(name: str, **arguments: str) -> ToolCall:
    return ToolCall(name, json.dumps(arguments))


def _swapped(text: str, old: str, new: str) -> str:
    if text.count(old) != 1:
        raise InputError(f"expected {old!r} once in the text, found it {text.count(old)} times")
    return text.replace(old, new)


def _settings(workspace: Workspace) -> configparser.ConfigParser:
    settings = configparser.ConfigParser()
    settings.read_string(workspace[SETTINGS])
    return settings


def _books(workspace: Workspace) -> list[dict[str, str]]:
    return list(csv.DictReader(workspace[BOOKS].splitlines()))


def _answer(prompt: str, value: str, says: str, guess: str, calls: list[ToolCall], *, derived: bool = False) -> Job:
    return Job(
        kind="answer",
        prompt=prompt,
        verifier={"name": "token"},
        target=value,
        derived=derived,
        solution=Script(says.format(value), calls),
        spoil={"plausible-guess": Script(says.format(guess))},
        vary={"in-bold": Script(f"The desk's files say **{value}**.")},
    )


def _from_settings(section: str, name: str, prompt: str, says: str, guess: str) -> Draw:
    def draw(workspace: Workspace, _rng: random.Random) -> Job:
        calls = [_call("list_files", path="config"), _call("read_file", path=SETTINGS)]
        return _answer(prompt, _settings(workspace)[section][name], says, guess, calls)

    return draw


def _author(workspace: Workspace, rng: random.Random) -> Job:
    book = rng.choice(_books(workspace))
    calls = [_call("grep", pattern=book["title"], path="data")]
    return _answer(f'Who wrote "{book["title"]}"?', book["author"], "It was written by {}.", "Jane Roe", calls)


def _copies(workspace: Workspace, rng: random.Random) -> Job:
    book = rng.choice(_books(workspace))
    prompt = f'How many copies of "{book["title"]}" does this library own? A number is enough.'
    calls = [_call("list_files"), _call("read_file", path=BOOKS)]
    return _answer(prompt, book["copies"], "It owns {} of them.", "40", calls)


def _titles(workspace: Workspace, _rng: random.Random) -> Job:
    calls = [_call("read_file", path=BOOKS)]
    prompt = "Count the different titles in the catalogue of books and tell me the number."
    return _answer(prompt, str(len(_books(workspace))), "The catalogue has {} titles.", "90", calls, derived=True)


def _keeper(workspace: Workspace, _rng: random.Random) -> Job:
    name = workspace[README].partition("Kept by ")[2].partition(".")[0]
    return _answer(
        "Whom would I write to about this repository? Find the person who keeps it.",
        name,
        "Write to {}.",
        "the desk",
        [_call("list_files"), _call("read_file", path=README)],
    )


def _rate(workspace: Workspace, _rng: random.Random) -> Job:
    line = next(line for line in workspace[FINES].splitlines() if line.startswith("RATE_CENTS"))
    return _answer(
        "What does one day too late cost at this desk, in cents?",
        line.rpartition(" ")[2],
        "A day costs {} cents.",
        "10",
        [_call("grep", pattern="RATE", path="lending")],
    )


def _file(prompt: str, path: str, before: str, after: str, pattern: str, slip: str) -> Job:
    keep = [line for line in before.splitlines() if line.strip() and line in after.splitlines()]
    new = [line for line in after.splitlines() if line not in before.splitlines()]
    calls = [_call("read_file", path=path), _call("write_file", path=path, content=after)]
    return Job(
        kind="file",
        prompt=prompt,
        verifier={"name": "files", "checks": [{"path": path, "pattern": pattern, "keep": keep}]},
        solution=Script("That is done; the other lines are untouched.", calls),
        spoil={
            "lines-lost": Script("Done.", changes={path: "\n".join(new) + "\n"}),
            "wrong-value": Script("Done.", changes={path: slip}),
        },
        vary={"windows-lines": Script("Done.", changes={path: after.replace("\n", "\r\n")})},
    )


def _new_book(workspace: Workspace, rng: random.Random) -> Job:
    title, author = rng.choice(NEW_BOOKS)
    row = f"{201 + len(_books(workspace))},{title},{author},{rng.randint(1, 4)}"
    copies = row.rpartition(",")[2]
    prompt = (
        f'The library has bought {copies} x "{title}" by {author}. Enter it at the end of {BOOKS} under the next free '
        "id; no line that is there may change."
    )
    after = f"{workspace[BOOKS]}{row}\n"
    return _file(prompt, BOOKS, workspace[BOOKS], after, rf"^{row}\s*$", after.replace(row, f"{row}0"))


def _longer_loans(workspace: Workspace, rng: random.Random) -> Job:
    days = str(rng.choice((41, 45, 48)))
    old = f"loan_days = {_settings(workspace)['desk']['loan_days']}"
    after = _swapped(workspace[SETTINGS], old, f"loan_days = {days}")
    prompt = f"From today books may be kept for {days} days. Enter that in {SETTINGS}; nothing else there is to change."
    return _file(
        prompt,
        SETTINGS,
        workspace[SETTINGS],
        after,
        rf"^loan_days\s*[=:]\s*{days}\s*$",
        after.replace(days, f"{days}0"),
    )


def _bug(prompt: str, planted: Edit, mended: tuple[str, str], otherwise: tuple[str, str]) -> Draw:
    def draw(workspace: Workspace, _rng: random.Random) -> Job:
        path = planted.path
        broken = _swapped(workspace[path], planted.old, planted.new)
        calls = [
            _call("run_tests"),
            _call("read_file", path=path),
            _call("write_file", path=path, content=_swapped(broken, *mended)),
            _call("run_tests"),
        ]
        return Job(
            kind="tests",
            prompt=prompt,
            verifier={"name": "tests", "ids": list(ids_of_tests()), "protect": ["tests/**"], "on_tamper": "fail"},
            edits=[planted],
            solution=Script(f"{path} was wrong; the tests pass now.", calls),
            vary={"other-repair": Script("Mended.", changes={path: _swapped(broken, *otherwise)})},
        )

    return draw


def _feature(name: str, prompt: str, path: str, code: str, otherwise: str, example: str, test: str) -> Draw:
    def draw(workspace: Workspace, _rng: random.Random) -> Job:
        gap = "\n" if path == LOANS else "\n\n"
        held = f"{workspace[path]}{gap}"
        calls = [
            _call("read_file", path=path),
            _call("write_file", path=path, content=held + code),
            _call("run_tests"),
        ]
        return Job(
            kind="hidden",
            prompt=prompt,
            verifier={
                "name": "tests",
                "ids": [*ids_of_tests(), f"tests.test_{name}.NewTest.test_it"],
                "hidden": {f"tests/test_{name}.py": inline(test)},
                "protect": ["tests/**"],
                "on_tamper": "fail",
            },
            solution=Script("It is there, and the tests pass.", calls),
            spoil={"example-only": Script("Added.", changes={path: held + example})},
            vary={"other-code": Script("Added.", changes={path: held + otherwise})},
        )

    return draw


def _version(workspace: Workspace, _rng: random.Random) -> Job:
    version = workspace[PACKAGE].split('"')[-2]
    calls = [_call("list_files", path="lending"), _call("read_file", path=PACKAGE)]
    return _answer(
        "I have to file a report: what release of lending is checked out?", version, "It is {}.", "0.9", calls
    )


_TEST_HEAD = "import unittest\n\n{}\n\n\nclass NewTest(unittest.TestCase):\n    def test_it(self):\n"

DRAWS: dict[str, Draw] = {
    "loan-days": _from_settings(
        "desk", "loan_days", "For how many days may a reader keep a book?", "For {} days.", "30"
    ),
    "author": _author,
    "new-book": _new_book,
    "early-fine": _bug(
        "Readers who bring books back early are asked to pay. Find out why and put it right.",
        Edit(FINES, "max(0, days_late)", "max(1, days_late)"),
        ("max(1, days_late)", "max(0, days_late)"),
        ("max(1, days_late) * rate", "(days_late if days_late > 0 else 0) * rate"),
    ),
    "sender": _from_settings(
        "mail", "sender", "From which address do reminders go out?", "They go out from {}.", "mail@library.example"
    ),
    "is-out": _feature(
        "is_out",
        f"The desk wants to ask whether a title is on loan: add is_out(title) to the class Loans in {LOANS}, True or "
        "False.",
        LOANS,
        '    def is_out(self, title):\n        """Whether somebody has the book."""\n'
        "        return title in self.holders\n",
        "    def is_out(self, title):\n        return self.holders.get(title) is not None\n",
        "    def is_out(self, title):\n        return True\n",
        _TEST_HEAD.format("from lending.loans import Loans")
        + '        loans = Loans()\n        self.assertIs(loans.is_out("Maps"), False)\n'
        '        loans.lend("Maps", "ada")\n        self.assertIs(loans.is_out("Maps"), True)\n'
        '        loans.give_back("Maps")\n        self.assertIs(loans.is_out("Maps"), False)\n',
    ),
    "copies": _copies,
    "longer-loans": _longer_loans,
    "capped-fine": _bug(
        "Small fines are raised to the highest one there is, and high ones have no end. Correct the code.",
        Edit(FINES, "min(cents, most)", "max(cents, most)"),
        ("max(cents, most)", "min(cents, most)"),
        ("max(cents, most)", "most if cents > most else cents"),
    ),
    "titles": _titles,
    "sum-of-fines": _feature(
        "sum_of_fines",
        f"Write sum_of_fines(days, rate=RATE_CENTS) in {FINES}: what a reader owes for several books, given a list of "
        "how many days late each one is. Early ones neither cost nor earn anything; for [1, -3] at 20 it is 20.",
        FINES,
        'def sum_of_fines(days, rate=RATE_CENTS):\n    """What is due for several books."""\n'
        "    return sum(fine(late, rate) for late in days)\n",
        "def sum_of_fines(days, rate=RATE_CENTS):\n    return rate * sum(late for late in days if late > 0)\n",
        "def sum_of_fines(days, rate=RATE_CENTS):\n    return rate\n",
        _TEST_HEAD.format("from lending.fines import sum_of_fines")
        + "        self.assertEqual(sum_of_fines([1, -3], 20), 20)\n"
        "        self.assertEqual(sum_of_fines([2, 0, 5], 10), 70)\n        self.assertEqual(sum_of_fines([]), 0)\n",
    ),
    "keeper": _keeper,
    "late-days": _bug(
        "The sign is wrong: a book that came back three days too late counts as three days early. Mend that.",
        Edit(DATES, "(returned - due_day).days", "(due_day - returned).days"),
        ("(due_day - returned).days", "(returned - due_day).days"),
        ("(due_day - returned).days", "-(due_day - returned).days"),
    ),
    "rate": _rate,
    "max-loans": _from_settings(
        "desk", "max_loans", "What is the largest number of books one reader can have out?", "At most {} books.", "5"
    ),
    "version": _version,
}
"""Kind of job -> how it is drawn, in the order in which items take turns."""
