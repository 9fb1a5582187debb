"""Catalogue files: what loads, what is refused and where, and what is no catalogue at all."""

import gzip
import hashlib
import math
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from steelyard.errors import FormatError
from steelyard.families.orbital import catalogue
from steelyard.families.orbital.catalogue import Refused, load_catalogue

from .test_tle import IRIDIUM_1, IRIDIUM_2, SEED_A1, SEED_A2, SEED_B1, SEED_B2, with_checksum

pytest.importorskip("sgp4", reason="needs the extra orbital")

SHARED = Path(os.environ.get("STEELYARD_SHARED", Path(__file__).parents[5] / "shared")) / "data" / "orbital"

HEADER = (
    "OBJECT_NAME,OBJECT_ID,EPOCH,MEAN_MOTION,ECCENTRICITY,INCLINATION,RA_OF_ASC_NODE,ARG_OF_PERICENTER,"
    "MEAN_ANOMALY,EPHEMERIS_TYPE,CLASSIFICATION_TYPE,NORAD_CAT_ID,ELEMENT_SET_NO,REV_AT_EPOCH,BSTAR,MEAN_MOTION_DOT,"
    "MEAN_MOTION_DDOT"
)
ROW = "MADE UP,,2026-03-01T06:00:00.123456,15.1,.0012,51.6,10.5,20.5,30.5,0,U,{number},999,1,.1E-3,.1E-4,0"


def written(folder: Path, text: str, name: str = "objects.tle") -> Path:
    """A file with this text in the folder."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_three_line_file_keeps_names_and_its_sha256(tmp_path: Path) -> None:
    """Names may have the leading zero or not, CRLF is fine, and the hash is of the file's bytes. [T-39]"""
    text = f"0 IRIDIUM 33\r\n{IRIDIUM_1}\r\n{IRIDIUM_2}\r\n"
    path = tmp_path / "objects.3le"
    path.write_bytes(text.encode())
    loaded = load_catalogue(path)
    assert [(e.norad_id, e.name) for e in loaded.objects] == [(24946, "IRIDIUM 33")]
    assert loaded.sha256 == hashlib.sha256(text.encode()).hexdigest()


def test_the_four_lines_of_seed_000_are_refused_and_the_rest_loads(tmp_path: Path) -> None:
    """Wrong checksums and 70 columns are refused with their place; the clean pair beside them loads. [T-38]"""
    path = written(tmp_path, "\n".join([SEED_A1, SEED_A2, SEED_B1, SEED_B2, IRIDIUM_1, IRIDIUM_2]))
    loaded = load_catalogue(path)
    assert [e.norad_id for e in loaded.objects] == [24946]
    assert loaded.refused == [
        Refused(1, 69, "checksum: expected 0, got 1"),
        Refused(3, 70, "70 columns, expected 69"),
    ]


def test_a_file_where_nothing_loads_is_a_format_error_with_the_first_reason(tmp_path: Path) -> None:
    """Seed 000's lines alone make no catalogue. [T-38]"""
    with pytest.raises(FormatError, match=r":1: no element set loads .*checksum: expected 0, got 1"):
        load_catalogue(written(tmp_path, f"{SEED_A1}\n{SEED_A2}\n"))


@pytest.mark.parametrize("text", ["", "hello\nworld\n", "a,b\n1,2\n"])
def test_a_file_of_unknown_format_is_a_format_error(tmp_path: Path, text: str) -> None:
    """TLE, 3LE and OMM as CSV, JSON and XML are read, and the message says so. [T-38]"""
    with pytest.raises(FormatError, match="expected TLE, 3LE, or OMM as CSV, JSON or XML"):
        load_catalogue(written(tmp_path, text))


def test_a_packed_file_loads_and_its_hash_is_that_of_the_file(tmp_path: Path) -> None:
    """It is unpacked by what the bytes are; one that is cut off, or grows too large, is a format error. [T-39]"""
    data = gzip.compress(f"{IRIDIUM_1}\n{IRIDIUM_2}\n".encode(), mtime=0)
    path = tmp_path / "objects.tle.gz"
    path.write_bytes(data)
    loaded = load_catalogue(path)
    assert ([24946], hashlib.sha256(data).hexdigest()) == ([e.norad_id for e in loaded.objects], loaded.sha256)
    path.write_bytes(data[:-12])
    with pytest.raises(FormatError, match="begins as gzip and cannot be unpacked"):
        load_catalogue(path)


def test_a_packed_file_that_would_fill_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No more than the limit is ever unpacked. [T-39]"""
    monkeypatch.setattr(catalogue, "MOST_BYTES", 100)
    path = tmp_path / "large.gz"
    path.write_bytes(gzip.compress(b" " * 101))
    with pytest.raises(FormatError, match="unpacks to more than 100 bytes"):
        load_catalogue(path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_marks_and_ends_of_lines_make_no_difference(tmp_path: Path, encoding: str, newline: str) -> None:
    """What a shell or an editor saves a download as loads like the download. [T-38]"""
    path = tmp_path / "objects.3le"
    path.write_bytes(newline.join(["0 IRIDIUM 33", IRIDIUM_1, IRIDIUM_2, ""]).encode(encoding))
    loaded = load_catalogue(path)
    assert [(e.norad_id, e.name, e.inclination_deg) for e in loaded.objects] == [(24946, "IRIDIUM 33", 86.3994)]


@pytest.mark.parametrize("text", ["", "\ufeff", " \r\n\n"])
def test_an_empty_file_is_told_as_such(tmp_path: Path, text: str) -> None:
    """An interrupted download leaves one. [T-38]"""
    with pytest.raises(FormatError, match="the file is empty"):
        load_catalogue(written(tmp_path, text))


def test_a_set_of_another_theory_is_refused_at_its_column(tmp_path: Path) -> None:
    """Ephemeris type 4 is SGP4-XP, whose elements SGP4 would fly wrongly; types of old and a blank load. [T-38]"""
    for kind, refused in ((" ", 0), ("0", 0), ("2", 0), ("3", 0), ("4", 1), ("6", 1)):
        line = with_checksum(f"{IRIDIUM_1[:62]}{kind}{IRIDIUM_1[63:]}")
        text = "\n".join([line, IRIDIUM_2, _numbered(IRIDIUM_1), _numbered(IRIDIUM_2)])
        loaded = load_catalogue(written(tmp_path, text))
        assert len(loaded.refused) == refused, kind
        assert all("(4 is SGP4-XP)" in one.reason for one in loaded.refused)


def _numbered(line: str) -> str:
    return with_checksum(f"{line[:2]}24947{line[7:]}")


@pytest.mark.parametrize(
    ("epoch", "expected"),
    [
        ("2026-03-01T06:00:00.123456Z", "2026-03-01T06:00:00.123456"),
        ("2026-03-01T06:00:00.12345649", "2026-03-01T06:00:00.123456"),
        ("2026-03-01T06:00:00.9999996", "2026-03-01T06:00:01.000000"),
        ("2026-060T06:00:00.5", "2026-03-01T06:00:00.500000"),
        ("2024-366T23:59:59", "2024-12-31T23:59:59.000000"),
    ],
)
def test_an_epoch_may_be_written_in_every_form_of_the_standard(tmp_path: Path, epoch: str, expected: str) -> None:
    """With month and day or the day of the year, with any number of decimals. [T-38]"""
    row = ROW.format(number=100_000).replace("2026-03-01T06:00:00.123456", epoch)
    (found,) = load_catalogue(written(tmp_path, f"{HEADER}\n{row}\n", "objects.csv")).objects
    assert f"{expected}+00:00" == found.epoch.isoformat(timespec="microseconds")


@pytest.mark.parametrize(
    "epoch", ["2026-366T00:00:00", "2026-000T00:00:00", "2026-13-01T00:00:00", "2026-1-1T00:00:00"]
)
def test_an_epoch_on_no_day_is_refused(tmp_path: Path, epoch: str) -> None:
    """2026 has 365 days. [T-38]"""
    row = ROW.format(number=100_000)
    text = f"{HEADER}\n{row.replace('2026-03-01T06:00:00.123456', epoch)}\n{ROW.format(number=100_001)}\n"
    loaded = load_catalogue(written(tmp_path, text, "objects.csv"))
    assert [(one.line, one.column) for one in loaded.refused] == [(2, 3)]


def test_a_missing_file_is_a_format_error(tmp_path: Path) -> None:
    """The message names the path. [T-38]"""
    with pytest.raises(FormatError, match="cannot be read"):
        load_catalogue(tmp_path / "absent.tle")


def test_lines_without_their_partner_are_refused(tmp_path: Path) -> None:
    """A line 1 or line 2 alone is refused at its own line, also at the end of the file. [T-38]"""
    other = with_checksum(IRIDIUM_1.replace("24946", "24947", 1))
    path = written(tmp_path, "\n".join([IRIDIUM_2, other, IRIDIUM_1, IRIDIUM_2, other]))
    loaded = load_catalogue(path)
    assert [(r.line, r.reason) for r in loaded.refused] == [
        (1, "line 2 of an element set without its line 1"),
        (2, "line 1 of an element set without its line 2"),
        (5, "line 1 of an element set without its line 2"),
    ]


def test_a_repeated_object_is_refused_and_the_first_kept(tmp_path: Path) -> None:
    """The second set of one catalogue number names the line of the first. [T-38]"""
    loaded = load_catalogue(written(tmp_path, "\n".join([IRIDIUM_1, IRIDIUM_2] * 2)))
    assert loaded.refused == [Refused(3, 1, "object 24946 stands already in line 1")]


@pytest.mark.parametrize("number", [5, 100_000, 339_999, 340_000, 799_999_999])
def test_omm_rows_hold_numbers_of_up_to_nine_digits(tmp_path: Path, number: int) -> None:
    """The real number stays beside the local one that sgp4 is given. [T-38]"""
    loaded = load_catalogue(written(tmp_path, f"{HEADER}\n{ROW.format(number=number)}\n", "omm.csv"))
    assert [e.norad_id for e in loaded.objects] == [number]
    assert loaded.objects[0].epoch.isoformat() == "2026-03-01T06:00:00.123456+00:00"


@pytest.mark.parametrize(
    ("old", "new", "column", "words"),
    [
        (",15.1,", ",nan,", 4, "MEAN_MOTION: expected a decimal number, got 'nan'"),
        (",15.1,", ",1_5,", 4, "MEAN_MOTION: expected a decimal number, got '1_5'"),
        (",15.1,", ',"15,1",', 4, "MEAN_MOTION: expected a decimal number, got '15,1'"),
        (",15.1,", ",15,1,", 18, "18 cells, the header has 17"),
        (",15.1,", ",0,", 1, "mean motion must be positive"),
        (",.0012,", ",1.2,", 1, "eccentricity must be in [0, 1)"),
        ("{number}", "1234567890", 12, "NORAD_CAT_ID: expected up to nine digits"),
        ("T06:00", "T26:00", 3, "EPOCH: expected"),
        ("2026-03-01T", "26060 ", 3, "EPOCH: expected"),
        (".1E-3", "1e400", 1, "bstar is inf"),
    ],
)
def test_a_damaged_omm_row_is_refused_at_its_cell(tmp_path: Path, old: str, new: str, column: int, words: str) -> None:
    """Not-a-number, decimal commas, ranges and lengths are found; the other row loads. [T-38] [T-39]"""
    text = "\n".join([HEADER, ROW.replace(old, new, 1).format(number=7), ROW.format(number=8)])
    loaded = load_catalogue(written(tmp_path, text, "omm.csv"))
    assert [e.norad_id for e in loaded.objects] == [8]
    assert [(r.line, r.column) for r in loaded.refused] == [(2, column)]
    assert words in loaded.refused[0].reason


def test_a_header_without_a_needed_field_is_a_format_error(tmp_path: Path) -> None:
    """The message names the missing column. [T-38]"""
    text = f"{HEADER.replace('ECCENTRICITY', 'E')}\n{ROW.format(number=7)}\n"
    with pytest.raises(FormatError, match='no column "ECCENTRICITY"'):
        load_catalogue(written(tmp_path, text, "omm.csv"))


def test_a_state_that_is_not_finite_with_error_code_zero_is_refused(tmp_path: Path, monkeypatch) -> None:
    """The engine is replaced by one that does what the real one does on a shifted B*. [T-38]"""
    lost = SimpleNamespace(sgp4_tsince=lambda minutes: (0, (math.nan,) * 3, (math.nan,) * 3))
    monkeypatch.setattr(catalogue, "satrec", lambda elements: lost)
    with pytest.raises(FormatError, match="a state that is not finite"):
        load_catalogue(written(tmp_path, f"{IRIDIUM_1}\n{IRIDIUM_2}\n"))


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "count", "errors"),
    [
        ("celestrak_on_orbit_2024-11-01.csv", 26_834, {}),
        ("celestrak_active_2025-10-03.tle", 12_801, {}),
        ("spacetrack_full_2022-01-22.3le", 23_939, {50463: 3}),
    ],
)
def test_a_real_catalogue_loads_whole(name: str, count: int, errors: dict[int, int]) -> None:
    """Nothing is refused; an object that SGP4 calls decayed stays, with its error code beside it. [T-39]"""
    if not (SHARED / name).exists():
        pytest.skip("the shared data folder is absent (STEELYARD_SHARED)")
    loaded = load_catalogue(SHARED / name)
    assert (len(loaded.objects), loaded.refused, loaded.sgp4_errors) == (count, [], errors)
