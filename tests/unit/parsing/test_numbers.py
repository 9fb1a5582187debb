"""Number literals, read exactly."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.parsing.numbers import MOST_DIGITS, decimal_value, fold, number_from_text, plain_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,234.5", "1234.5"),
        ("1.234,5", "1234.5"),
        ("12,34,567", "1234567"),
        ("1 234 567", "1234567"),
        ("1'234'567", "1234567"),
        ("1_234", "1234"),
        ("3.141\u202f592", "3.141592"),
        ("0,5", "0.5"),
        ("-2 3/4", "-11/4"),
        ("2¾", "11/4"),
        ("³⁄₄", "3/4"),
        ("-1.5e-3", "-0.0015"),
        ("1.5×10⁻³", "0.0015"),
        ("10^3", "1000"),
        ("1/3", "1/3"),
        ("+7.", "7"),
        ("−7", "-7"),
        ("٧", "7"),
    ],
)
def test_a_number_that_is_the_whole_text_is_read_exactly(text: str, expected: str) -> None:
    """Groups, decimal commas, fractions and powers of ten give one exact value [T-10]."""
    assert Fraction(expected) == number_from_text(text)


@pytest.mark.parametrize(
    "text", ["", "x", "1,23,4", "1.2.3", "1/0", "1 2", "5 km", "1e", "--5", "12:30", "2009-02-10", "nan"]
)
def test_other_text_is_no_number(text: str) -> None:
    """Nothing is guessed from part of a text [T-10]."""
    assert None is number_from_text(text)


def test_a_number_of_too_many_digits_has_no_value() -> None:
    """The cap counts significand and exponent, so that no huge integer is ever built [T-13]."""
    assert 10 ** (MOST_DIGITS - 1) == decimal_value("1", str(MOST_DIGITS - 1))
    assert None is decimal_value("1", str(MOST_DIGITS))
    assert None is decimal_value("9" * (MOST_DIGITS + 1))
    assert None is decimal_value("1", "-" + "9" * 50)
    assert 0 == decimal_value("0", "9" * 50)


@given(value=st.fractions(max_denominator=10**6))
@settings(max_examples=200, deadline=None)
def test_plain_text_reads_back(value: Fraction) -> None:
    """A value's plain text is a decimal or a/b and gives the value again [T-10]."""
    assert value == number_from_text(plain_text(value))


@given(text=st.text(max_size=40))
@settings(max_examples=200, deadline=None)
def test_folding_twice_changes_nothing(text: str) -> None:
    """Folding is a normal form [T-9]."""
    assert fold(text) == fold(fold(text))


@pytest.mark.parametrize("value", [Fraction(10**5000 + 7), Fraction(-(10**4500) - 1, 3), Fraction(1, 7**5000)])
def test_a_value_of_any_size_is_written_out(value: Fraction) -> None:
    """Python refuses to print an integer of more than 4,300 digits; a value is written in pieces [T-12]."""
    digits = plain_text(value).lstrip("-").split("/")
    assert [abs(value.numerator), value.denominator][: len(digits)] == [_from_digits(text) for text in digits]
    assert plain_text(value).startswith("-") is (value < 0)


def _from_digits(text: str) -> int:
    number = 0
    for start in range(0, len(text), 1000):
        piece = text[start : start + 1000]
        number = number * 10 ** len(piece) + int(piece)
    return number
