"""Orbit Mean-Elements Messages in CSV, JSON and XML: what is written is read back, what is damaged has its line."""

import json
from pathlib import Path

import msgspec
import pytest

from steelyard.errors import FormatError, InputError
from steelyard.families.orbital import sky
from steelyard.families.orbital.catalogue import catalogue_text, load_catalogue
from steelyard.families.orbital.elements import Elements

pytest.importorskip("sgp4", reason="needs the extra orbital")

OBJECTS = sky.catalogue("files", 30)
FIELDS = {
    "OBJECT_NAME": "MADE UP",
    "OBJECT_ID": "2026-001A",
    "EPOCH": "2026-03-01T06:00:00.123456",
    "MEAN_MOTION": 15.1,
    "ECCENTRICITY": 0.0012,
    "INCLINATION": 51.6,
    "RA_OF_ASC_NODE": 10.5,
    "ARG_OF_PERICENTER": 20.5,
    "MEAN_ANOMALY": 30.5,
    "EPHEMERIS_TYPE": 0,
    "CLASSIFICATION_TYPE": "U",
    "NORAD_CAT_ID": 100_000,
    "ELEMENT_SET_NO": 999,
    "REV_AT_EPOCH": 1,
    "BSTAR": 0.0001,
    "MEAN_MOTION_DOT": 1e-05,
    "MEAN_MOTION_DDOT": 0,
}


def written(folder: Path, text: str, name: str) -> Path:
    """A file with this text in the folder."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def nameless(objects: list[Elements]) -> list[Elements]:
    """The objects without the names that a file of messages must give them."""
    return [msgspec.structs.replace(e, name="") for e in objects]


@pytest.mark.parametrize("suffix", [".json", ".csv", ".xml", ".tle", ".3le"])
def test_a_written_catalogue_is_read_back_to_the_last_digit(tmp_path: Path, suffix: str) -> None:
    """Every format holds the same elements, and nothing of it is refused. [T-38]"""
    loaded = load_catalogue(written(tmp_path, catalogue_text(OBJECTS, suffix), f"objects{suffix}"))
    assert (OBJECTS, []) == (nameless(loaded.objects), loaded.refused)


@pytest.mark.parametrize("suffix", [".json", ".csv", ".xml"])
def test_messages_hold_numbers_of_nine_digits(tmp_path: Path, suffix: str) -> None:
    """A number that no TLE holds is kept, and the object still propagates. [T-38]"""
    many = [msgspec.structs.replace(OBJECTS[0], norad_id=n) for n in (339_999, 340_000, 999_999_999)]
    loaded = load_catalogue(written(tmp_path, catalogue_text(many, suffix), f"objects{suffix}"))
    assert [339_999, 340_000, 999_999_999] == [e.norad_id for e in loaded.objects]
    assert {} == loaded.sgp4_errors


def test_a_tle_of_a_number_above_alpha_5_is_refused_with_the_way_out() -> None:
    """Six digits above 339999 go into a message only. [T-38]"""
    with pytest.raises(InputError, match="use an OMM"):
        catalogue_text([msgspec.structs.replace(OBJECTS[0], norad_id=340_000)], ".tle")


def test_an_unknown_suffix_is_an_input_error() -> None:
    """The message lists what is written. [T-38]"""
    with pytest.raises(InputError, match=r'\.3le.*, got "\.jsn"; did you mean "\.json"'):
        catalogue_text(OBJECTS, ".jsn")


def test_json_may_have_its_numbers_as_text_and_be_one_object(tmp_path: Path) -> None:
    """Space-Track writes every value as text; a file may be a single message. [T-38]"""
    texts = {name: str(value) for name, value in FIELDS.items()}
    one = load_catalogue(written(tmp_path, json.dumps(FIELDS), "one.json")).objects
    assert one == load_catalogue(written(tmp_path, json.dumps([texts], indent=2), "texts.json")).objects
    assert (100_000, "26001A", 15.1) == (one[0].norad_id, one[0].designator, one[0].mean_motion_rev_per_day)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"MEAN_MOTION": "15,1"}, "MEAN_MOTION: expected a decimal number, got '15,1'"),
        ({"MEAN_MOTION": float("nan")}, "MEAN_MOTION: expected a number or text, got nan"),
        ({"MEAN_MOTION": [15.1]}, "MEAN_MOTION: expected a number or text, got ['15.1']"),
        ({"MEAN_MOTION": None}, 'no field "MEAN_MOTION"'),
        ({"ECCENTRICITY": 1.5}, "eccentricity must be in [0, 1)"),
        ({"INCLINATION": 181}, "inclination must be in [0, 180]"),
        ({"NORAD_CAT_ID": 1_234_567_890}, "NORAD_CAT_ID: expected up to nine digits"),
        ({"EPOCH": "2026-13-01T00:00:00"}, "EPOCH: expected"),
        ({"MEAN_ELEMENT_THEORY": "SGP4-XP"}, "MEAN_ELEMENT_THEORY: expected SGP4"),
        ({"REF_FRAME": "GCRF"}, "REF_FRAME: expected TEME, got 'GCRF'"),
        ({"TIME_SYSTEM": "TT"}, "TIME_SYSTEM: expected UTC"),
        ({"CENTER_NAME": "MOON"}, "CENTER_NAME: expected EARTH"),
    ],
)
def test_a_damaged_json_message_is_refused_at_its_line(tmp_path: Path, changed: dict[str, object], words: str) -> None:
    """The other message loads; numbers, ranges, another theory, frame or time scale are found. [T-38] [T-39]"""
    text = "[\n" + json.dumps(FIELDS | changed) + ",\n\n" + json.dumps(FIELDS | {"NORAD_CAT_ID": 8}) + "\n]"
    loaded = load_catalogue(written(tmp_path, text, "two.json"))
    assert ([8], [2]) == ([e.norad_id for e in loaded.objects], [r.line for r in loaded.refused])
    assert words in loaded.refused[0].reason


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[\n{"NORAD_CAT_ID": 5},\n{"NORAD', r"two\.json:3: not JSON"),
        ('[{"NORAD_CAT_ID": 5}\n{"NORAD_CAT_ID": 6}]', r"two\.json:2: not JSON: expected the end of the list"),
        ('{"NORAD_CAT_ID": 5}\n{"NORAD_CAT_ID": 6}', r"two\.json:2: not JSON"),
        ('[{"NORAD_CAT_ID": 5}]\n[]', r"two\.json:1: not JSON|two\.json:2: not JSON"),
        ('[{"NORAD_CAT_ID": 5}', r"two\.json:1: not JSON"),
        ("[", r"two\.json:1: not JSON"),
        ("[" * 100_000, r"two\.json:1: not JSON"),
        ("[]", "no element set loads"),
        ("[3]", "expected an object with the fields of a message, got '3'"),
    ],
)
def test_broken_json_is_a_format_error_with_file_and_line(tmp_path: Path, text: str, words: str) -> None:
    """A cut file, two lists, deep nesting: one line that says where. [T-38]"""
    with pytest.raises(FormatError, match=words):
        load_catalogue(written(tmp_path, text, "two.json"))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("</ndm>", "", r"objects\.xml:\d+: not XML: no element found"),
        ("<ndm>", '<!DOCTYPE a [<!ENTITY b "c">]><ndm>', r"objects\.xml:2: the XML has a document type"),
        ("<ndm>", "<ndm>" + "<a>" * 60, r"objects\.xml:2: the XML is nested more than 40 deep"),
        ("<metadata>", "<metadata", r"objects\.xml:3: not XML"),
    ],
)
def test_broken_xml_is_a_format_error_with_file_and_line(tmp_path: Path, old: str, new: str, words: str) -> None:
    """A cut file, a document type and deep nesting are refused before anything grows. [T-38]"""
    text = catalogue_text(OBJECTS[:2], ".xml").replace(old, new, 1)
    with pytest.raises(FormatError, match=words):
        load_catalogue(written(tmp_path, text, "objects.xml"))


def test_a_prefix_of_a_namespace_makes_no_difference(tmp_path: Path) -> None:
    """CCSDS 505.0-B writes ndm:omm as well as omm. [T-38]"""
    text = catalogue_text(OBJECTS[:2], ".xml").replace("<", "<n:").replace("<n:/", "</n:").replace("<n:?", "<?")
    prefixed = text.replace("<n:ndm>", '<n:ndm xmlns:n="urn:ccsds:schema:ndmxml">')
    loaded = load_catalogue(written(tmp_path, prefixed, "objects.xml"))
    assert (OBJECTS[:2], []) == (nameless(loaded.objects), loaded.refused)


def test_xml_that_is_no_message_is_told_by_its_outermost_element(tmp_path: Path) -> None:
    """A provider's page of excuses is a common one. [T-38]"""
    with pytest.raises(FormatError, match="expected messages with a <segment> each, got XML of <html>"):
        load_catalogue(written(tmp_path, "<html><body>Invalid query</body></html>", "objects.xml"))


@pytest.mark.parametrize(("kind", "refused"), [(0, 0), ("2", 0), (3, 0), (4, 1), ("6", 1), ("x", 1)])
def test_a_message_of_another_ephemeris_type_is_refused(tmp_path: Path, kind: object, refused: int) -> None:
    """4 is SGP4-XP: SGP4 would fly its elements wrongly. [T-38]"""
    text = json.dumps([FIELDS | {"EPHEMERIS_TYPE": kind}, FIELDS | {"NORAD_CAT_ID": 100_001}])
    loaded = load_catalogue(written(tmp_path, text, "objects.json"))
    assert len(loaded.refused) == refused
    assert all("ephemeris type: expected 0, 2, 3 (SGP4)" in one.reason for one in loaded.refused)


def test_the_encoding_that_a_file_declares_does_not_matter(tmp_path: Path) -> None:
    """Files are UTF-8; an unknown encoding in the declaration is not an error of ours. [T-38]"""
    text = catalogue_text(OBJECTS[:2], ".xml").replace("UTF-8", "UTV-8", 1)
    assert OBJECTS[:2] == nameless(load_catalogue(written(tmp_path, text, "objects.xml")).objects)


def test_a_damaged_xml_message_is_refused_at_the_line_of_its_segment(tmp_path: Path) -> None:
    """The others load. [T-38]"""
    text = catalogue_text(OBJECTS[:3], ".xml").replace("<ECCENTRICITY>", "<ECCENTRICITY>-", 2).replace(">-", ">", 1)
    loaded = load_catalogue(written(tmp_path, text, "objects.xml"))
    assert ([100_000, 100_002], [4]) == ([e.norad_id for e in loaded.objects], [r.line for r in loaded.refused])


def test_sgp4s_own_readers_take_what_is_written(tmp_path: Path) -> None:
    """CSV and XML go through sgp4.omm, TLE lines through its checksum test and twoline2rv, to the same state. [T-38]"""
    from sgp4 import io, omm
    from sgp4.api import Satrec

    from steelyard.families.orbital.elements import satrec

    expected = [satrec(e).sgp4_tsince(100.0) for e in OBJECTS]
    lines = catalogue_text(OBJECTS, ".tle").splitlines()
    io.verify_checksum(*lines)
    found = [Satrec.twoline2rv(*lines[k : k + 2]) for k in range(0, len(lines), 2)]
    assert [e.norad_id for e in OBJECTS] == [one.satnum for one in found]
    for suffix, parse in ((".csv", omm.parse_csv), (".xml", omm.parse_xml)):
        with written(tmp_path, catalogue_text(OBJECTS, suffix), f"o{suffix}").open() as file:
            for fields in parse(file):
                found.append(Satrec())
                omm.initialize(found[-1], fields)
    for place, one in enumerate(found):
        code, position, _ = one.sgp4_tsince(100.0)
        assert expected[place % 30][0] == code
        assert expected[place % 30][1] == pytest.approx(position, abs=1e-4, nan_ok=True)
