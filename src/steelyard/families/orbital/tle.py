"""Two-line element sets: reading every column, and writing.

Source: Spacetrack Report No. 3; CelesTrak's TLE format notes; Alpha-5 as Space-Track publishes it (no I, no O).
Columns are 1-based, as in those papers. Engines accept a shifted column, a lost space, a decimal comma or a wrong
checksum and then give plausible or not-a-number states, so every column is checked here before an engine sees it.
Not covered: which of two lines is the damaged one; a wrong digit that keeps the checksum.
Easy to break: the year pivot (57-99 are 19xx, 00-56 are 20xx); ndot is printed halved and nddot divided by six.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Literal

import msgspec

from steelyard.errors import InputError
from steelyard.families.orbital.elements import LARGEST_SATREC_ID, Elements, other_theory, out_of_range

LINE_COLUMNS = 69
FIRST_YEAR = 1957  # Sputnik 1: two-digit years from 57 on are of the twentieth century
LONGEST_YEAR_DAYS = 366
ALPHA5_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
_MICROSECONDS_PER_DAY_DIGIT = 864  # 1e-8 day

FaultKind = Literal["checksum", "length", "columns", "values"]


class Fault(msgspec.Struct, frozen=True):
    """What is wrong with one line of an element set: `line` is 1 or 2, `column` counts from 1."""

    line: int
    column: int
    kind: FaultKind
    reason: str


class _Field(msgspec.Struct, frozen=True):
    name: str
    first: int
    last: int
    pattern: re.Pattern[str]
    shape: str


def _field(name: str, first: int, last: int, pattern: str, shape: str) -> _Field:
    return _Field(name, first, last, re.compile(pattern, re.ASCII), shape)


_NUMBER = _field("catalogue number", 3, 7, r"[A-HJ-NP-Z]\d{4}| *\d+", "five digits, or a letter (not I, O) and four")
_ANGLE = r" {0,2}\d{1,3}\.\d{4}"
_ANGLE_SHAPE = "NNN.NNNN"
_EXPONENT = r"[ +-]\d{5}[+-]\d"
_LINE_1 = (
    _NUMBER,
    _field("classification", 8, 8, r"[UCS ]", "U, C or S"),
    _field("designator", 10, 17, r"\d{5}[A-Z]{0,3} *| +", "YYNNNAAA"),
    _field("epoch year", 19, 20, r"\d\d", "two digits"),
    _field("epoch day", 21, 32, r" {0,2}\d{1,3}\.\d{8}", "DDD.DDDDDDDD"),
    _field("mean motion dot", 34, 43, r"[ +-]\.\d{8}", "+.NNNNNNNN"),
    _field("mean motion double dot", 45, 52, _EXPONENT, "+NNNNN-N"),
    _field("B*", 54, 61, _EXPONENT, "+NNNNN-N"),
    _field("ephemeris type", 63, 63, r"[\d ]", "a digit"),
    _field("element set number", 65, 68, r" *\d+|    ", "four digits"),
)
_LINE_2 = (
    _NUMBER,
    _field("inclination", 9, 16, _ANGLE, _ANGLE_SHAPE),
    _field("right ascension of the ascending node", 18, 25, _ANGLE, _ANGLE_SHAPE),
    _field("eccentricity", 27, 33, r"\d{7}", "seven digits"),
    _field("argument of perigee", 35, 42, _ANGLE, _ANGLE_SHAPE),
    _field("mean anomaly", 44, 51, _ANGLE, _ANGLE_SHAPE),
    _field("mean motion", 53, 63, r"[ \d]\d\.\d{8}", "NN.NNNNNNNN"),
    _field("revolution number", 64, 68, r" *\d+|     ", "five digits"),
)
_FIELDS = {1: _LINE_1, 2: _LINE_2}
_BLANKS = {
    number: [c for c in range(2, LINE_COLUMNS) if not any(f.first <= c <= f.last for f in fields)]
    for number, fields in _FIELDS.items()
}


def checksum(line: str) -> int:
    """Checksum of columns 1 to 68: the digits, and one for each minus sign, modulo ten."""
    text = line[: LINE_COLUMNS - 1]
    return (sum(digit * text.count(str(digit)) for digit in range(1, 10)) + text.count("-")) % 10


def faults(line_1: str, line_2: str) -> list[Fault]:
    """Everything that is wrong with the two lines, in reading order; trailing white space is not looked at."""
    found = [fault for number, line in ((1, line_1), (2, line_2)) for fault in _line_faults(number, line.rstrip())]
    if line_1[2:7] != line_2[2:7]:
        reason = f'catalogue number "{line_2[2:7]}" is not line 1\'s "{line_1[2:7]}"'
        found.append(Fault(2, 3, "columns", reason))
    return found


def _line_faults(number: int, line: str) -> Iterator[Fault]:
    if not line.isascii():
        column = next(i for i, c in enumerate(line, 1) if not c.isascii())
        yield Fault(number, column, "columns", f"character {line[column - 1]!r} is not ASCII")
        return
    if len(line) != LINE_COLUMNS:
        yield Fault(number, min(len(line), LINE_COLUMNS) + 1, "length", f"{len(line)} columns, expected {LINE_COLUMNS}")
    if line[:1] != str(number):
        yield Fault(number, 1, "columns", f'expected "{number}", got {line[:1]!r}')
    for column in _BLANKS[number]:
        if line[column - 1 : column] not in ("", " "):
            yield Fault(number, column, "columns", f"expected a space, got {line[column - 1]!r}")
    for field in _FIELDS[number]:
        text = line[field.first - 1 : field.last]
        if not field.pattern.fullmatch(text) or len(text) != field.last - field.first + 1:
            yield Fault(number, field.first, "columns", f"{field.name}: expected {field.shape}, got {text!r}")
    given = line[LINE_COLUMNS - 1 : LINE_COLUMNS]
    if given != str(checksum(line)):
        yield Fault(number, LINE_COLUMNS, "checksum", f"checksum: expected {checksum(line)}, got {given or 'none'}")


def elements_from_lines(line_1: str, line_2: str, name: str = "") -> Elements:
    """The elements that the columns of two lines hold; InputError where a column cannot be read.

    Length and checksums are not looked at: `faults` judges, this reads.
    """
    problem = next((f for f in faults(line_1, line_2) if f.kind == "columns"), None)
    if problem is not None:
        raise InputError(f"TLE line {problem.line}, column {problem.column}: {problem.reason}")
    return elements_from_columns(line_1, line_2, name)


def elements_from_columns(line_1: str, line_2: str, name: str = "") -> Elements:
    """The elements of two lines in which `faults` found no fault of columns; InputError on a value out of range.

    Also on an ephemeris type of another theory than SGP4: such elements would be propagated wrongly.
    """
    if foreign := other_theory(line_1[62]):
        raise InputError(f"TLE line 1, column 63: {foreign}")
    elements = Elements(
        norad_id=from_alpha5(line_1[2:7]),
        epoch=_epoch(line_1[18:32]),
        mean_motion_rev_per_day=float(line_2[52:63]),
        eccentricity=float(f"0.{line_2[26:33]}"),
        inclination_deg=float(line_2[8:16]),
        raan_deg=float(line_2[17:25]),
        arg_perigee_deg=float(line_2[34:42]),
        mean_anomaly_deg=float(line_2[43:51]),
        bstar=_assumed_decimal(line_1[53:61]),
        mean_motion_dot=float(line_1[33:43]),
        mean_motion_ddot=_assumed_decimal(line_1[44:52]),
        element_set=int(line_1[64:68].strip() or 0),
        revolution=int(line_2[63:68].strip() or 0),
        classification=line_1[7].strip() or "U",
        designator=line_1[9:17].strip(),
        name=name,
    )
    wrong = out_of_range(elements)
    if wrong:
        raise InputError(f"TLE of {elements.norad_id}: {wrong}")
    return elements


def respaced(line_1: str, line_2: str) -> tuple[str, str]:
    """The two lines with their words put back into their columns: for reports on damaged sets, never for loading.

    InputError when the words are not those of an element set.
    """
    first, second = line_1.split(), line_2.split()
    if len(first) == 8:
        first.insert(2, "")
    if len(first) != 9 or len(second) not in (8, 9) or "." not in second[7]:
        raise InputError(f"TLE lines of {len(first)} and {len(second)} words cannot be put back into columns")
    whole, _, decimals = second[7].partition(".")
    revolution = decimals[8:] if len(second) == 8 else second[8]
    return (
        f"1 {first[1]:>6} {first[2]:8} {first[3]:>14} {first[4]:>10} {first[5]:>8} {first[6]:>8} "
        f"{first[7]} {first[8]:>5}",
        f"2 {second[1]:>5} {second[2]:>8} {second[3]:>8} {second[4]:>7} {second[5]:>8} {second[6]:>8} "
        f"{whole:>2}.{decimals[:8]}{revolution:>6}",
    )


def _epoch(text: str) -> datetime:
    day, _, fraction = text[2:].partition(".")
    year = int(text[:2]) + (1900 if int(text[:2]) >= FIRST_YEAR % 100 else 2000)
    if not 1 <= int(day) <= LONGEST_YEAR_DAYS:
        raise InputError(f"TLE line 1, column 21: epoch day must be in [1, {LONGEST_YEAR_DAYS + 1}), got {text[2:]}")
    microseconds = int(fraction) * _MICROSECONDS_PER_DAY_DIGIT
    return datetime(year, 1, 1, tzinfo=UTC) + timedelta(days=int(day) - 1, microseconds=microseconds)


def _assumed_decimal(text: str) -> float:
    return float(f"{text[0].strip()}.{text[1:6]}e{text[6:]}")


def from_alpha5(text: str) -> int:
    """The catalogue number of columns 3 to 7; InputError on I, O and anything else that is not one."""
    if not _NUMBER.pattern.fullmatch(text) or len(text) != 5:
        raise InputError(f"a TLE's catalogue number is {_NUMBER.shape}, got {text!r}")
    if text[0] in ALPHA5_LETTERS:
        return (ALPHA5_LETTERS.index(text[0]) + 10) * 10_000 + int(text[1:])
    return int(text)


def to_alpha5(norad_id: int) -> str:
    """Columns 3 to 7 of a catalogue number in [0, 339999]; InputError above, where only an OMM can hold it."""
    if not 0 <= norad_id <= LARGEST_SATREC_ID:
        raise InputError(f"a TLE holds catalogue numbers 0 to {LARGEST_SATREC_ID}, got {norad_id}; use an OMM")
    head, rest = divmod(norad_id, 10_000)
    return f"{norad_id:05d}" if head < 10 else f"{ALPHA5_LETTERS[head - 10]}{rest:04d}"


def write_lines(elements: Elements) -> tuple[str, str]:
    """The two lines of an element set with valid checksums; values are rounded to what the columns hold."""
    year_start = datetime(elements.epoch.year, 1, 1, tzinfo=UTC)
    microseconds = round((elements.epoch - year_start) / timedelta(microseconds=1))
    day, fraction = divmod(round(microseconds / _MICROSECONDS_PER_DAY_DIGIT), 10**8)
    eccentricity = min(round(elements.eccentricity * 10**7), 10**7 - 1)
    number = to_alpha5(elements.norad_id)
    first = (
        f"1 {number}{elements.classification} {elements.designator:8s} "
        f"{elements.epoch.year % 100:02d}{day + 1:03d}.{fraction:08d} {_signed_fraction(elements.mean_motion_dot)} "
        f"{_with_exponent(elements.mean_motion_ddot)} {_with_exponent(elements.bstar)} 0 "
        f"{elements.element_set % 10_000:4d}"
    )
    second = (
        f"2 {number} {elements.inclination_deg:8.4f} {elements.raan_deg:8.4f} {eccentricity:07d} "
        f"{elements.arg_perigee_deg:8.4f} {elements.mean_anomaly_deg:8.4f} "
        f"{elements.mean_motion_rev_per_day:11.8f}{elements.revolution % 100_000:5d}"
    )
    return f"{first}{checksum(first)}", f"{second}{checksum(second)}"


def _signed_fraction(value: float) -> str:
    return ("-" if value < 0 else " ") + f"{abs(value):.8f}"[1:]


def _with_exponent(value: float) -> str:
    mantissa, exponent = f"{abs(value):.4e}".split("e")
    if value == 0 or int(exponent) + 1 < -9:  # one digit of exponent: nothing smaller fits
        return " 00000-0"
    return f"{'-' if value < 0 else ' '}{mantissa.replace('.', '')}{int(exponent) + 1:+d}"
