"""Instants in text."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.parsing.times import (
    _FOLD,
    _INSTANT,
    _direct,
    _instant,
    instant_from_text,
    instants,
    iso_text,
    tai_minus_utc_s,
)


@given(milliseconds=st.integers(-62_000_000_000_000, 250_000_000_000_000))
@settings(max_examples=100, deadline=None)
def test_iso_text_reads_back(milliseconds: int) -> None:
    """Any instant of the years 5 to 9000 survives being written and read [T-12]."""
    seconds = Fraction(milliseconds, 1000)
    instant = instant_from_text(iso_text(seconds))
    assert seconds == (instant and instant.seconds)


def test_instants_are_found_with_their_places() -> None:
    """Spans cover date, time and zone; impossible dates are left out [T-12]."""
    text = "At 2024-05-01T12:30:05Z, not 2024-13-01T00:00:00Z, but 1 May 2024 13:30 UTC."
    assert [(3, 23), (55, 75)] == [(i.start, i.end) for i in instants(text)]


def test_offsets_and_scales_are_kept_apart() -> None:
    """An offset changes the instant; a scale is only named [T-12]."""
    east = instant_from_text("1970-01-01T02:00:00+02:00")
    tai = instant_from_text("1970-01-01T00:00:10 TAI")
    assert (0, "UTC") == (east and east.seconds, east and east.scale)
    assert (10, "TAI") == (tai and tai.seconds, tai and tai.scale)


def test_leap_seconds_follow_bulletin_c() -> None:
    """TAI - UTC: 10 s in 1972, 34 s in February 2009, 37 s since 2017 [T-12]."""
    dates = (
        "1971-06-01T00:00:00Z",
        "1972-01-01T00:00:00Z",
        "2009-02-10T00:00:00Z",
        "2016-12-31T23:59:59Z",
        "2024-01-01T00:00:00Z",
    )
    found = [instant_from_text(date) for date in dates]
    assert [0, 10, 34, 36, 37] == [tai_minus_utc_s(i.seconds) for i in found if i]


_PIECES = [
    *("2024-01-01", "T", "12:34", ":56", ".789", "Z", " ", "  ", ",", ", ", "at ", "10 Feb 2009", "February 10, 2009"),
    *("10th of September--2009", "2024-032", " pm", " UTC", "+02:00", " (TT)", "x", "1", "20:15", "/", "-", "GPS"),
    *("24/02/01", " UTC+1", "2009/2/3", "a.m.", "\u2212", "\uff1a", "(Z)", "2009-02-10 1:0", "3, 1:23"),
]


@given(text=st.lists(st.sampled_from(_PIECES), max_size=14).map("".join))
@settings(max_examples=500, deadline=None)
def test_looking_for_clocks_first_finds_what_the_whole_pattern_finds(text: str) -> None:
    """A clock after a date is looked for first only because that is fast [T-12]."""
    whole = [_instant(match) for match in _INSTANT.finditer(text.translate(_FOLD))]
    assert [instant for instant in whole if instant is not None] == _direct(text.translate(_FOLD))


def test_a_time_before_its_date_and_the_basic_format_are_instants() -> None:
    """What stands apart from a date with its clock is read too, in the order of the text [T-12]."""
    text = "16:55 UTC on 10 Feb 2009, 20090210T165500Z; then 2009-02-10 16:55"
    assert [(0, 24, True), (26, 42, True), (49, 65, False)] == [(i.start, i.end, i.zoned) for i in instants(text)]
    assert 1 == len({i.seconds for i in instants(text)})


def test_a_clock_that_ends_a_span_is_no_instant() -> None:
    """`16:00 to 16:55 on 10 Feb 2009` names two clock times for one date [T-12]."""
    assert [] == instants("16:00 to 16:55 on 10 Feb 2009")
    assert [] == instants("120090210T165500Z, 2009-0210T165500Z")


def test_of_very_many_instants_those_at_the_ends_are_read() -> None:
    """A hundred from each end, so that reading stays quick [T-12]."""
    text = "2009-02-10 16:55 " * 300
    found = instants(text)
    assert [*range(100), *range(200, 300)] == [instant.start // 17 for instant in found]
