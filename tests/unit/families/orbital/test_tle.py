"""Element lines: every column, the checksum, Alpha-5, the year pivot, and writing."""

from random import Random

import msgspec
import pytest

from steelyard.errors import InputError
from steelyard.families.orbital import synthetic, tle

IRIDIUM_1 = "1 24946U 97051C   09040.78448243  .00000153  00000-0  47668-4 0  4775"
IRIDIUM_2 = "2 24946  86.3994 121.7028 0002288  85.1644 274.9812 14.34219863597336"
SEED_A1 = "1 25544U 98067A   26203.51782528  .00016717  00000-0  30074-3 0  9991"
SEED_A2 = "2 25544  51.6382  88.4247 0004796  76.6963 283.4442 15.50075566454121"
SEED_B1 = "1 48274U 21035A    26203.47630000  .00002182  00000-0  62911-4 0  9992"
SEED_B2 = "2 48274  51.6431  84.9110 0007899  92.1004 268.0912 15.48920201123456"
"""Seed 000's four lines, all with a wrong checksum; the third has one space too many."""


def with_checksum(line: str) -> str:
    """The line with the checksum that its columns ask for."""
    return line[:68] + str(tle.checksum(line))


def kinds(line_1: str, line_2: str) -> set[tuple[int, int, str]]:
    """(line, column, kind) of every fault."""
    return {(f.line, f.column, f.kind) for f in tle.faults(line_1, line_2)}


def test_a_clean_pair_of_lines_has_no_faults() -> None:
    """Valid columns and checksums give an empty list. [T-38]"""
    assert tle.faults(IRIDIUM_1, IRIDIUM_2) == []


def test_seed_000_object_a_is_refused_for_both_checksums_and_nothing_else() -> None:
    """The lines want 0 and 6 and carry 1 and 1. [T-38]"""
    assert kinds(SEED_A1, SEED_A2) == {(1, 69, "checksum"), (2, 69, "checksum")}
    assert (tle.checksum(SEED_A1), tle.checksum(SEED_A2)) == (0, 6)


def test_seed_000_object_b_is_refused_for_its_70_columns_and_its_checksums() -> None:
    """One space too many moves every field after the designator; engines read it and give not-a-number. [T-38]"""
    found = kinds(SEED_B1, SEED_B2)
    assert {(1, 70, "length"), (1, 33, "columns"), (1, 69, "checksum"), (2, 69, "checksum")} <= found
    repaired = tle.respaced(SEED_B1, SEED_B2)
    assert (len(repaired[0]), tle.checksum(repaired[0]), tle.checksum(repaired[1])) == (69, 5, 4)


@pytest.mark.parametrize(
    ("line", "old", "new", "column"),
    [
        (2, "0002288", "000 288", 27),
        (2, "14.34219863", "14,34219863", 53),
        (2, " 86.3994", "  6.39 4", 9),
        (2, "121.7028", "121.702\u0660", 25),
        (2, "121.7028 0", "121.7028\u00a00", 26),
        (1, "47668-4", "4766 -4", 54),
        (1, ".00000153", "0.0000153", 34),
        (1, "09040.78448243", "09040,78448243", 21),
    ],
)
def test_a_damaged_field_is_refused_at_its_column(line: int, old: str, new: str, column: int) -> None:
    """Spaces, commas, foreign digits and non-breaking spaces are found even when the checksum is made to fit. [T-38]"""
    lines = [IRIDIUM_1, IRIDIUM_2]
    lines[line - 1] = with_checksum(lines[line - 1].replace(old, new, 1))
    assert column in {f.column for f in tle.faults(*lines) if f.line == line and f.kind == "columns"}
    with pytest.raises(InputError, match=f"line {line}, column"):
        tle.elements_from_lines(*lines)


def test_lines_of_two_objects_are_refused() -> None:
    """The catalogue numbers of both lines must be equal. [T-38]"""
    other = with_checksum(IRIDIUM_2.replace("24946", "24947", 1))
    assert kinds(IRIDIUM_1, other) == {(2, 3, "columns")}


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("00005", 5),
        ("    5", 5),
        ("A0000", 100000),
        ("H9999", 179999),
        ("J0000", 180000),
        ("N9999", 229999),
        ("P0000", 230000),
        ("T0001", 270001),
        ("Z9999", 339999),
    ],
)
def test_alpha_5_numbers_skip_i_and_o(text: str, number: int) -> None:
    """A is 10, J follows H, P follows N, Z9999 is 339999. [T-38]"""
    assert tle.from_alpha5(text) == number
    assert tle.to_alpha5(number) == text.replace(" ", "0")


@pytest.mark.parametrize("text", ["I0000", "O0000", "a0000", "AA000", "123", ""])
def test_texts_that_are_no_catalogue_number_are_refused(text: str) -> None:
    """I and O are not letters of Alpha-5. [T-38]"""
    with pytest.raises(InputError, match="catalogue number"):
        tle.from_alpha5(text)


def test_a_number_above_339999_does_not_fit_a_tle() -> None:
    """Six digits from 340000 on need an OMM. [T-38]"""
    with pytest.raises(InputError, match="use an OMM"):
        tle.to_alpha5(340_000)


@pytest.mark.parametrize(("digits", "year"), [("57", 1957), ("99", 1999), ("00", 2000), ("56", 2056)])
def test_two_digit_years_turn_over_at_57(digits: str, year: int) -> None:
    """57 to 99 are of the twentieth century, 00 to 56 of the twenty-first. [T-38]"""
    line = with_checksum(f"{IRIDIUM_1[:18]}{digits}{IRIDIUM_1[20:]}")
    assert tle.elements_from_lines(line, IRIDIUM_2).epoch.year == year


@pytest.mark.parametrize("day", ["000.00000000", "367.00000000"])
def test_a_day_that_no_year_has_is_refused(day: str) -> None:
    """Days count from 1 to 366. [T-38]"""
    line = with_checksum(f"{IRIDIUM_1[:20]}{day}{IRIDIUM_1[32:]}")
    with pytest.raises(InputError, match="epoch day"):
        tle.elements_from_lines(line, IRIDIUM_2)


def test_written_lines_are_valid_and_read_back_as_the_same_elements() -> None:
    """Two hundred synthetic objects survive writing and reading unchanged. [T-38]"""
    rng = Random(3)
    for _ in range(200):
        elements = synthetic.draw(rng)
        lines = tle.write_lines(elements)
        assert tle.faults(*lines) == []
        assert tle.elements_from_lines(*lines) == elements


def test_a_published_pair_of_lines_is_written_as_it_was_read() -> None:
    """Reading and writing a real set gives the same 138 characters. [T-38]"""
    assert tle.write_lines(tle.elements_from_lines(IRIDIUM_1, IRIDIUM_2)) == (IRIDIUM_1, IRIDIUM_2)


def test_negative_and_tiny_drag_terms_are_written_with_one_digit_of_exponent() -> None:
    """A value too small for the columns becomes zero; a sign stays. [T-38]"""
    elements = tle.elements_from_lines(IRIDIUM_1, IRIDIUM_2)
    changed = msgspec.structs.replace(elements, bstar=-0.00013525, mean_motion_ddot=1e-12, mean_motion_dot=-1e-8)
    line = tle.write_lines(changed)[0]
    assert (line[53:61], line[44:52], line[33:43]) == ("-13525-3", " 00000-0", "-.00000001")
