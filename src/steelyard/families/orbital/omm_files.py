"""Files of Orbit Mean-Elements Messages: CSV (one object a row), JSON (a list of objects), XML (one segment an object).

Source: CCSDS 505.0-B for the XML; CelesTrak's and Space-Track's `FORMAT=csv`, `json` and `xml` for what occurs.
Every record comes with the line where it begins, so that a refusal can be looked up. Numbers stay text until their
field is read: JSON numbers are not passed through a binary float by the way.
Not covered: KVN; comments; several files in one.
Easy to break: XML with a document type is refused, since its entities may grow without bound.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape

from steelyard.errors import FormatError
from steelyard.families.orbital.elements import Elements
from steelyard.families.orbital.omm import (
    MEAN_ELEMENTS,
    METADATA,
    REQUIRED,
    TLE_PARAMETERS,
    FieldError,
    elements_from_fields,
    fields_of,
)

_TAGS = {*METADATA, *MEAN_ELEMENTS, *TLE_PARAMETERS}
_DEEPEST = 40

Record = tuple[int, Elements | tuple[int, str]]
"""Line of the file, and the elements or (cell of a CSV row or 1, what is wrong)."""


def csv_records(text: str, path: Path) -> Iterator[Record]:
    """The rows of a CSV file; FormatError when its header lacks a field."""
    rows = _rows(text, path)
    line, header = next(rows)
    names = [name.strip() for name in header]
    for name in REQUIRED:
        if name not in names:
            raise FormatError(path, line, f'the header has no column "{name}"; expected {", ".join(REQUIRED)}')
    for line, row in rows:
        if len(row) != len(names):
            cell = min(len(row), len(names)) + 1
            yield line, (cell, f"{len(row)} cells, the header has {len(names)}")
        else:
            yield line, _read(dict(zip(names, map(str.strip, row), strict=True)), names)


def _rows(text: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """(line, cells) of every row that is not blank."""
    reader = csv.reader(text.splitlines())
    try:
        yield from ((reader.line_num, row) for row in reader if row)
    except csv.Error as error:
        raise FormatError(path, reader.line_num, f"not a CSV row: {error}") from error


def json_records(text: str, path: Path) -> Iterator[Record]:
    """The objects of a JSON list, or the one object that the file is; FormatError where it is not JSON."""
    decoder = json.JSONDecoder(parse_float=str, parse_int=str)
    place = _blank(text, 0)
    many = text[place : place + 1] == "["
    place = _blank(text, place + 1) if many else place
    line, counted = 1, 0
    while not (many and text[place : place + 1] == "]"):
        line, counted = line + text.count("\n", counted, place), place
        try:
            value, place = decoder.raw_decode(text, place)
            place = _blank(text, place)
            yield line, _object(value)
            if many and text[place : place + 1] == ",":
                place = _blank(text, place + 1)
            elif not many or text[place : place + 1] != "]":
                break
        except (json.JSONDecodeError, RecursionError) as error:
            raise FormatError(path, getattr(error, "lineno", line), f"not JSON: {error}") from error
    rest = text[place + many :]
    if rest.strip() or (many and text[place : place + 1] != "]"):
        at = text.count("\n", 0, place) + 1
        raise FormatError(path, at, f"not JSON: expected the end of the list, got {text[place : place + 20]!r}")


def _blank(text: str, place: int) -> int:
    while text[place : place + 1] in (" ", "\t", "\r", "\n"):
        place += 1
    return place


def _object(value: Any) -> Elements | tuple[int, str]:
    if not isinstance(value, dict):
        return 1, f"expected an object with the fields of a message, got {str(value)[:40]!r}"
    for name, held in value.items():
        if not isinstance(held, str | None) and name in _TAGS:
            return 1, f"{name}: expected a number or text, got {held!r}"
    return _read({name: held.strip() for name, held in value.items() if isinstance(held, str)}, [])


def xml_records(text: str, path: Path) -> Iterator[Record]:
    """The segments of an XML file; FormatError where it is not XML, or has a document type."""
    reader = _Segments()
    try:
        reader.parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        raise FormatError(path, error.lineno, f"not XML: {expat.ErrorString(error.code)}") from error
    except FieldError as error:
        raise FormatError(path, reader.parser.CurrentLineNumber, str(error)) from error
    if not reader.found:
        raise FormatError(path, None, f"expected messages with a <segment> each, got XML of <{reader.outermost}>")
    for line, fields in reader.found:
        yield line, _read(fields, [])


class _Segments:
    """Collects (line, fields) of every <segment>; a prefix of a namespace makes no difference."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate("utf-8")  # the text was decoded already, whatever it declares
        self.found: list[tuple[int, dict[str, str]]] = []
        self.outermost = ""
        self._fields: dict[str, str] | None = None
        self._line = self._depth = 0
        self._text: list[str] = []
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text_part
        self.parser.StartDoctypeDeclHandler = self._doctype

    def _doctype(self, *_: object) -> None:
        raise FieldError("", "the XML has a document type; export it without")

    def _start(self, tag: str, _attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise FieldError("", f"the XML is nested more than {_DEEPEST} deep")
        self._text = []
        tag = tag.rpartition(":")[2]
        self.outermost = self.outermost or tag
        if tag == "segment":
            self._fields, self._line = {}, self.parser.CurrentLineNumber

    def _text_part(self, data: str) -> None:
        self._text.append(data)

    def _end(self, tag: str) -> None:
        self._depth -= 1
        tag = tag.rpartition(":")[2]
        if tag == "segment" and self._fields is not None:
            self.found.append((self._line, self._fields))
            self._fields = None
        elif tag in _TAGS and self._fields is not None:
            self._fields[tag] = "".join(self._text).strip()
        self._text = []


def _read(fields: dict[str, str], header: list[str]) -> Elements | tuple[int, str]:
    try:
        return elements_from_fields(fields)
    except FieldError as error:
        return (header.index(error.field) + 1 if error.field in header else 1), str(error)


def csv_text(objects: Iterable[Elements]) -> str:
    """The objects as CSV, with CelesTrak's columns."""
    names = ["OBJECT_NAME", "OBJECT_ID", *MEAN_ELEMENTS, *TLE_PARAMETERS]
    out = io.StringIO()
    writer = csv.DictWriter(out, names, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(fields_of(e) for e in objects)
    return out.getvalue()


def json_text(objects: Iterable[Elements]) -> str:
    """The objects as a JSON list, one object a line; numbers are numbers."""
    texts = {"OBJECT_NAME", "OBJECT_ID", "EPOCH", "CLASSIFICATION_TYPE", *METADATA}
    rows = []
    for elements in objects:
        cells = (
            f"{json.dumps(name)}:{json.dumps(value) if name in texts else value}"
            for name, value in fields_of(elements).items()
        )
        rows.append("{" + ",".join(cells) + "}")
    return "[" + ",\n".join(rows) + "]\n"


def xml_text(objects: Iterable[Elements]) -> str:
    """The objects as one NDM of one-segment messages."""
    out = ['<?xml version="1.0" encoding="UTF-8"?>', "<ndm>"]
    for elements in objects:
        fields = fields_of(elements)
        parts = [
            f"<{block}>" + "".join(f"<{name}>{escape(fields[name])}</{name}>" for name in names) + f"</{block}>"
            for block, names in (
                ("metadata", METADATA),
                ("meanElements", MEAN_ELEMENTS),
                ("tleParameters", TLE_PARAMETERS),
            )
        ]
        segment = f"<segment>{parts[0]}<data>{parts[1]}{parts[2]}</data></segment>"
        out.append(f'<omm id="CCSDS_OMM_VERS" version="3.0"><body>{segment}</body></omm>')
    return "\n".join([*out, "</ndm>", ""])
