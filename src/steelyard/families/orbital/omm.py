"""Orbit Mean-Elements Messages as CSV: one object a row.

Source: CCSDS 502.0-B for the fields, CelesTrak's `FORMAT=csv` for the header. Catalogue numbers have up to nine digits.
Not covered: OMM as JSON, XML or KVN.
Easy to break: `float()` alone accepts "nan" and "1_0"; a decimal comma splits a value into two cells.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from datetime import UTC, datetime

from steelyard.errors import InputError
from steelyard.families.orbital.elements import Elements, out_of_range

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_COUNT = re.compile(r"\d{1,9}", re.ASCII)
_EPOCH = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z?", re.ASCII)
_FLOATS = {
    "MEAN_MOTION": "mean_motion_rev_per_day",
    "ECCENTRICITY": "eccentricity",
    "INCLINATION": "inclination_deg",
    "RA_OF_ASC_NODE": "raan_deg",
    "ARG_OF_PERICENTER": "arg_perigee_deg",
    "MEAN_ANOMALY": "mean_anomaly_deg",
    "BSTAR": "bstar",
}
_OPTIONAL_FLOATS = {"MEAN_MOTION_DOT": "mean_motion_dot", "MEAN_MOTION_DDOT": "mean_motion_ddot"}
_OPTIONAL_COUNTS = {"ELEMENT_SET_NO": "element_set", "REV_AT_EPOCH": "revolution"}
_TEXTS = {"OBJECT_NAME": "name", "CLASSIFICATION_TYPE": "classification"}
REQUIRED = ("NORAD_CAT_ID", "EPOCH", *_FLOATS)


class RowError(InputError):
    """A row that cannot be read; `column` is the cell's number, counted from 1."""

    def __init__(self, column: int, message: str) -> None:
        self.column = column
        super().__init__(message)


def rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """(line number, cells) of every row that is not blank, the header first."""
    reader = csv.reader(text.splitlines())
    for row in reader:
        if row:
            yield reader.line_num, row


def columns(header: list[str]) -> dict[str, int]:
    """Field name -> position; InputError naming the first required field that is missing."""
    places = {name.strip(): place for place, name in enumerate(header)}
    missing = [name for name in REQUIRED if name not in places]
    if missing:
        raise InputError(f'the header has no column "{missing[0]}"; expected {", ".join(REQUIRED)}')
    return places


def elements_from_row(row: list[str], places: dict[str, int]) -> Elements:
    """The elements of one row; RowError with the cell that is wrong."""
    if len(row) != len(places):
        raise RowError(min(len(row), len(places)) + 1, f"{len(row)} cells, the header has {len(places)}")
    values: dict[str, object] = {
        "norad_id": _count(row, places["NORAD_CAT_ID"], "NORAD_CAT_ID"),
        "epoch": _epoch(row, places["EPOCH"]),
    }
    values |= {field: _number(row, places[name], name) for name, field in _FLOATS.items()}
    values |= {f: _number(row, places[n], n) for n, f in _OPTIONAL_FLOATS.items() if _cell(row, places, n)}
    values |= {f: _count(row, places[n], n) for n, f in _OPTIONAL_COUNTS.items() if _cell(row, places, n)}
    values |= {f: _cell(row, places, n) for n, f in _TEXTS.items() if _cell(row, places, n)}
    values["designator"] = _cell(row, places, "OBJECT_ID")[2:].replace("-", "")
    elements = Elements(**values)  # type: ignore[arg-type]  # each value was made for its field above
    wrong = out_of_range(elements)
    if wrong:
        raise RowError(1, wrong)
    return elements


def _cell(row: list[str], places: dict[str, int], name: str) -> str:
    return row[places[name]].strip() if name in places else ""


def _number(row: list[str], place: int, name: str) -> float:
    text = row[place].strip()
    if not _NUMBER.fullmatch(text):
        raise RowError(place + 1, f"{name}: expected a decimal number, got {text!r}")
    return float(text)


def _count(row: list[str], place: int, name: str) -> int:
    text = row[place].strip()
    if not _COUNT.fullmatch(text):
        raise RowError(place + 1, f"{name}: expected up to nine digits, got {text!r}")
    return int(text)


def _epoch(row: list[str], place: int) -> datetime:
    text = row[place].strip()
    expected = "EPOCH: expected YYYY-MM-DDTHH:MM:SS.ffffff"
    if not _EPOCH.fullmatch(text):
        raise RowError(place + 1, f"{expected}, got {text!r}")
    try:
        return datetime.fromisoformat(text.removesuffix("Z")).replace(tzinfo=UTC)
    except ValueError as error:
        raise RowError(place + 1, f"{expected}, got {text!r}: {error}") from error
