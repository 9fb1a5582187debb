"""Kinds of damage to one line of an element set, and the faults that readers then find.

Every damage is one that a person or a feed makes: a digit mistyped, a column lost or added, a field moved by one
column, a comma for the point, a letter for a zero, an inner space. Some of them keep the checksum (letters, commas,
points and spaces count nothing), so a reader who only adds up digits does not see them; those that touch digits alone
keep the columns, so a reader who only looks at columns does not see them.
Not covered: two digits swapped, which no rule of the format reveals.
Easy to break: a damage must leave the line faulty, and the other line sound: `damaged` looks, with `tle.faults`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from steelyard.families.orbital import tle

Lines = tuple[str, str]
_DIGIT_FIELDS = {1: ((21, 23), (25, 32), (36, 43), (54, 59)), 2: ((12, 16), (21, 25), (27, 33), (38, 42), (47, 51))}
_POINTS = {1: (24, 35), 2: (12, 21, 38, 47, 55)}
_ANGLES = ((9, 16), (18, 25), (35, 42), (44, 51))


def _replaced(line: str, column: int, character: str) -> str:
    return line[: column - 1] + character + line[column:]


def _digits(line: str, number: int) -> list[int]:
    """Columns of line 1 or 2 that lie in fields of digits and hold one."""
    spans = _DIGIT_FIELDS[number]
    return [c for first, last in spans for c in range(first, last + 1) if line[c - 1].isdigit()]


def _wrong_checksum(rng: Random, line: str, _number: int) -> str | None:
    return line[:68] + str((int(line[68]) + rng.randint(1, 9)) % 10)


def _mistyped(rng: Random, line: str, number: int) -> str | None:
    """Another digit in a field, with the checksum of the right one; never out of the field's range."""
    column = rng.choice([c for c in _digits(line, number) if number == 2 or c > 24])
    return _replaced(line, column, str((int(line[column - 1]) + rng.randint(1, 9)) % 10))


def _sign_lost(_rng: Random, line: str, number: int) -> str | None:
    """The minus of an exponent as a plus: a minus counts one in the checksum."""
    return _replaced(line, 60, "+") if number == 1 and line[59] == "-" else None


def _space_lost(rng: Random, line: str, number: int) -> str | None:
    column = rng.choice([c for c in blanks(number) if line[c - 1] == " "])
    return line[: column - 1] + line[column:]


def _space_added(rng: Random, line: str, number: int) -> str | None:
    """The fault of the item that seed 000 shows: one more space between two fields, 70 columns."""
    column = rng.choice([c for c in blanks(number) if line[c - 1] == " "])
    return line[:column] + " " + line[column:]


def _field_moved(rng: Random, line: str, number: int) -> str | None:
    """An angle one column to the left: same length and checksum, a decimal point in the wrong column."""
    movable = [(a, b) for a, b in _ANGLES if line[a - 1] == " "] if number == 2 else []
    if not movable:
        return None
    first, last = rng.choice(movable)
    return line[: first - 1] + line[first:last] + " " + line[last:]


def _comma(rng: Random, line: str, number: int) -> str | None:
    return _replaced(line, rng.choice(_POINTS[number]), ",")


def _letter_for_zero(rng: Random, line: str, number: int) -> str | None:
    zeros = [c for c in _digits(line, number) if line[c - 1] == "0"]
    return _replaced(line, rng.choice(zeros), "O") if zeros else None


def _space_for_zero(rng: Random, line: str, number: int) -> str | None:
    """A space inside the eccentricity or after a point, where a zero was: engines read another number."""
    zeros = [c for c in _digits(line, number) if line[c - 1] == "0"]
    return _replaced(line, rng.choice(zeros), " ") if zeros else None


KINDS: Mapping[str, Callable[[Random, str, int], str | None]] = {
    "wrong-checksum": _wrong_checksum,
    "mistyped-digit": _mistyped,
    "minus-lost": _sign_lost,
    "space-lost": _space_lost,
    "space-added": _space_added,
    "field-moved": _field_moved,
    "comma-for-point": _comma,
    "letter-for-zero": _letter_for_zero,
    "space-for-zero": _space_for_zero,
}
"""Each gives the damaged line of (rng, line, its number), or None where the line offers no place for it."""

CHECKSUM_KINDS = ("wrong-checksum", "mistyped-digit", "minus-lost")
"""Kinds that only the checksum reveals."""


def blanks(number: int) -> list[int]:
    """Columns that must be spaces between two fields of line 1 or 2."""
    return {1: [2, 9, 18, 33, 44, 53, 62, 64], 2: [2, 8, 17, 26, 34, 43, 52]}[number]


def damaged(rng: Random, lines: Lines, number: int, kind: str) -> str | None:
    """Line 1 or 2 with damage of a kind; None without a place for it, or if it does not show on that line alone."""
    line = KINDS[kind](rng, lines[number - 1], number)
    if line is None:
        return None
    found = tle.faults(*((line, lines[1]) if number == 1 else (lines[0], line)))
    alone = bool(found) and all(fault.line == number for fault in found)
    plain = all(fault.kind == "checksum" for fault in found) == (kind in CHECKSUM_KINDS)
    return line if alone and plain else None
