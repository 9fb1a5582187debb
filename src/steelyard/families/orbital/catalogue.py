"""Catalogues of element sets: TLE and 3LE files, OMM as CSV, JSON or XML, every record checked; and writing them.

A damaged record is refused with its place and the others load; a file of no known format, or one where nothing loads,
is a FormatError. Checked: columns, checksums, numbers, ranges, duplicates, and that SGP4 gives a finite state at epoch.
SGP4's own error codes (a decayed orbit, say) are facts about an object, not damage: they are kept in `sgp4_errors`.
A file may be packed by gzip, and may be UTF-8 or, with its mark, UTF-16; the hash is that of the file as it lies there.
Not covered: OMM as KVN; archives; which of two element sets of one object is the better one (the first is kept).
Easy to break: an element line that is too short is taken for a name; its partner is then refused.
"""

from __future__ import annotations

import codecs
import gzip
import io
import math
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from steelyard.canonical import sha256_hex
from steelyard.errors import FormatError, InputError, did_you_mean
from steelyard.families.orbital import omm_files, tle
from steelyard.families.orbital.elements import Elements, satrec

_LEAST_ELEMENT_COLUMNS = 40  # shorter lines that begin with "1 " or "2 " are names
_LENIENT = ("checksum", "length")
MOST_BYTES = 1 << 29  # of an unpacked file, which no catalogue reaches: a small file cannot fill memory
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BY_FIRST_CHARACTER = {"[": omm_files.json_records, "{": omm_files.json_records, "<": omm_files.xml_records}


class Refused(msgspec.Struct, frozen=True):
    """A record that was not loaded: 1-based line of the file, column (of a TLE line) or cell (of a CSV row), why."""

    line: int
    column: int
    reason: str


class Catalogue(msgspec.Struct, frozen=True):
    """The objects of a file in file order, what was refused, and the sha256 of the file's bytes.

    `sgp4_errors` maps a catalogue number to the error code that SGP4 gives at that object's epoch.
    """

    objects: list[Elements]
    refused: list[Refused]
    sha256: str
    sgp4_errors: dict[int, int] = {}


_Record = tuple[int, Elements | Refused]


def load_catalogue(path: Path | str, *, lenient: bool = False) -> Catalogue:
    """Load a TLE, 3LE or OMM (CSV, JSON, XML) file; FormatError when its format is unknown or nothing in it loads.

    `lenient` is for the verification file of AIAA 2006-6753, whose second lines go on with start, stop and step after
    column 69: text beyond that column, checksums and repeated objects are then let through, and nothing else.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FormatError(path, None, f"cannot be read: {error.strerror}") from error
    text = _text(data, path)
    objects: list[Elements] = []
    refused: list[Refused] = []
    errors: dict[int, int] = {}
    first_line: dict[int, int] = {}
    for line, record in _records(text, path, lenient):
        found = record if isinstance(record, Refused) else _examine(record, line, errors)
        if found is None and isinstance(record, Elements):
            earlier = first_line.setdefault(record.norad_id, line)
            if earlier == line or lenient:
                objects.append(record)
                continue
            found = Refused(line, 1, f"object {record.norad_id} stands already in line {earlier}")
        if found is not None:
            refused.append(found)
    if not objects:
        why = f"; the first refusal is line {refused[0].line}: {refused[0].reason}" if refused else ""
        raise FormatError(path, refused[0].line if refused else None, f"no element set loads from this file{why}")
    return Catalogue(objects, refused, sha256_hex(data), errors)


def _text(data: bytes, path: Path) -> str:
    """The characters of a file; what is no character becomes one that no record may hold."""
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.GzipFile(fileobj=io.BytesIO(data)).read(MOST_BYTES + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise FormatError(path, None, f"begins as gzip and cannot be unpacked: {error}") from error
        if len(data) > MOST_BYTES:
            raise FormatError(path, None, f"unpacks to more than {MOST_BYTES} bytes, which is no catalogue")
    return data.decode("utf-16" if data[:2] in _UTF16 else "utf-8-sig", errors="replace")


def _records(text: str, path: Path, lenient: bool) -> Iterator[_Record]:
    if not text.strip():
        raise FormatError(path, None, "the file is empty; expected TLE, 3LE, or OMM as CSV, JSON or XML")
    first = text.lstrip().split("\n", 1)[0]
    if text.lstrip()[:1] in _BY_FIRST_CHARACTER:
        return _omm_records(_BY_FIRST_CHARACTER[text.lstrip()[:1]](text, path))
    if "NORAD_CAT_ID" in first and "," in first:
        return _omm_records(omm_files.csv_records(text, path))
    if any(_element_line(line, "1") or _element_line(line, "2") for line in text.splitlines()):
        return _tle_records(text, lenient)
    raise FormatError(path, None, f"expected TLE, 3LE, or OMM as CSV, JSON or XML, got {first[:40]!r}")


def _element_line(line: str, number: str) -> bool:
    return line.startswith(f"{number} ") and len(line.rstrip()) >= _LEAST_ELEMENT_COLUMNS


def _tle_records(text: str, lenient: bool) -> Iterator[_Record]:
    name = ""
    pending: tuple[int, str] | None = None
    for place, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if pending is not None and not _element_line(line, "2"):
            yield pending[0], Refused(pending[0], 1, "line 1 of an element set without its line 2")
            pending, name = None, ""
        if _element_line(line, "1"):
            pending = place, line
        elif pending is not None:
            yield pending[0], _pair(pending, (place, line), name, lenient)
            pending, name = None, ""
        elif _element_line(line, "2"):
            yield place, Refused(place, 1, "line 2 of an element set without its line 1")
        else:
            name = line.removeprefix("0 ").strip()
    if pending is not None:
        yield pending[0], Refused(pending[0], 1, "line 1 of an element set without its line 2")


def _pair(first: tuple[int, str], second: tuple[int, str], name: str, lenient: bool) -> Elements | Refused:
    line_1, line_2 = (line[: tle.LINE_COLUMNS] if lenient else line for line in (first[1], second[1]))
    for fault in tle.faults(line_1, line_2):
        if not (lenient and fault.kind in _LENIENT):
            return Refused(first[0] if fault.line == 1 else second[0], fault.column, fault.reason)
    try:
        return tle.elements_from_columns(line_1, line_2, name)
    except InputError as error:
        return Refused(first[0], 1, str(error))


def _omm_records(records: Iterator[omm_files.Record]) -> Iterator[_Record]:
    for line, found in records:
        yield line, Refused(line, *found) if isinstance(found, tuple) else found


def _examine(elements: Elements, line: int, errors: dict[int, int]) -> Refused | None:
    """Propagate once, to the epoch: error code 0 with a state that is not finite is a damaged record."""
    code, position, velocity = satrec(elements).sgp4_tsince(0.0)
    if code:
        errors[elements.norad_id] = code
        return None
    if not all(map(math.isfinite, (*position, *velocity))):
        return Refused(line, 1, f"SGP4 gives a state that is not finite for object {elements.norad_id} at its epoch")
    return None


def catalogue_text(objects: Iterable[Elements], suffix: str) -> str:
    """The text of a catalogue file of this kind: .tle, .3le, .csv, .json or .xml; InputError for another suffix."""
    writers: dict[str, Callable[[Iterable[Elements]], str]] = {
        ".tle": lambda some: "".join("\n".join(tle.write_lines(e)) + "\n" for e in some),
        ".3le": lambda some: "".join(
            "\n".join((f"0 {e.name or f'OBJECT {e.norad_id}'}", *tle.write_lines(e))) + "\n" for e in some
        ),
        ".csv": omm_files.csv_text,
        ".json": omm_files.json_text,
        ".xml": omm_files.xml_text,
    }
    if suffix not in writers:
        raise InputError(
            f'a catalogue is written as {", ".join(writers)}, got "{suffix}"{did_you_mean(suffix, writers)}'
        )
    return writers[suffix](objects)
