"""Units: reading them where they stand and converting exactly."""

from __future__ import annotations

from fractions import Fraction

import pytest

from steelyard.errors import InputError
from steelyard.parsing.units import convert, find_unit, parse_unit, siblings


@pytest.mark.parametrize(
    ("value", "source", "to", "expected"),
    [
        ("4812", "m", "km", "4.812"),
        ("1.5", "h", "min", "90"),
        ("1", "mi", "m", "1609.344"),
        ("36", "km/h", "m/s", "10"),
        ("1", "rev/day", "deg/h", "15"),
        ("1", "km^2", "m^2", "1000000"),
        ("50", "%", "‰", "500"),
        ("25", "°C", "K", "298.15"),
        ("77", "°F", "°C", "25"),
        ("1200", "cents", "$", "12"),
        ("1", "turn", "°", "360"),
    ],
)
def test_units_of_one_dimension_convert_exactly(value: str, source: str, to: str, expected: str) -> None:
    """A conversion is a product of exact fractions [T-12]."""
    assert Fraction(expected) == convert(Fraction(value), parse_unit(source), parse_unit(to))


def test_units_of_two_dimensions_never_convert() -> None:
    """Seconds are no metres, and degrees of an angle no temperature [T-12]."""
    for source, to in (("s", "m"), ("deg", "°C"), ("km", "km/s"), ("$", "€")):
        with pytest.raises(InputError, match="cannot convert"):
            convert(Fraction(1), parse_unit(source), parse_unit(to))


@pytest.mark.parametrize(
    ("text", "glued", "name", "end"),
    [
        ("km.", False, "km", 2),
        ("kilometers away", False, "km", 10),
        ("KM", False, "km", 2),
        ("km/s", False, "km/s", 4),
        ("km per second", False, "km/s", 13),
        ("m/s^2", False, "m/s^2", 5),
        ("m²", False, "m^2", 2),
        ("km s^-1", False, "km/s", 7),
        ("nautical miles", False, "nmi", 14),
        ("degrees Celsius", False, "°C", 15),
        ("per cent", False, "%", 8),
        ("公里", True, "km", 2),
    ],
)
def test_a_unit_is_read_with_exponent_and_denominator(text: str, glued: bool, name: str, end: int) -> None:
    """The whole unit is taken, and nothing after it [T-12]."""
    found = find_unit(text, 0, glued=glued)
    assert (name, end) == (found and found.unit.name, found and found.end)


@pytest.mark.parametrize(("text", "glued"), [("in total", False), ("us all", False), ("people", False), ("M", True),
                                             ("kmx", True), ("B", True), ("x", True), ("", False)])  # fmt: skip
def test_words_and_letters_that_are_no_units_are_left_alone(text: str, glued: bool) -> None:
    """Spellings that are also words count only when glued; single capitals do not [T-12]."""
    assert None is find_unit(text, 0, glued=glued)


def test_an_unknown_unit_names_the_nearest_spelling() -> None:
    """A config's unit must be known [T-8]."""
    with pytest.raises(InputError, match='unknown unit "minuts"; did you mean "minute'):
        parse_unit("minuts")


def test_siblings_are_the_other_units_of_the_dimension() -> None:
    """Each factor once, sorted, without the unit itself [T-12]."""
    assert ["‰"] == [unit.name for unit in siblings(parse_unit("%"))]
    names = [unit.name for unit in siblings(parse_unit("km"))]
    assert ("m" in names, "km" in names, len(names)) == (True, False, len(set(names)))
