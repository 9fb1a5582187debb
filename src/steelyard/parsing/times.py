"""Instants in text: dates with a clock time, as exact seconds since 1970-01-01T00:00:00 UTC.

Read: ISO 8601 (`T` or a space, `Z` or an offset, fractions of any length, day of year), `10 Feb 2009 16:55 UTC` and
`February 10, 2009 at 4:55 PM`. A scale other than UTC (`TT`, `TAI`, `TDB`, `GPS`) is kept, never converted.
Source: ISO 8601:2004; TAI - UTC from IERS Bulletin C (27 leap seconds, the last at the end of 2016).
Not covered: local zone names other than UTC and GMT, times without a date, dates without a time, Julian dates.
Easy to break: seconds of 60 (a leap second is the same instant as the second after it) and linear time.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import NamedTuple

TT_MINUS_TAI_S = Fraction("32.184")  # by definition of TT, IAU 1991
_LEAPS = [
    "1972-01-01",
    "1972-07-01",
    "1973-01-01",
    "1974-01-01",
    "1975-01-01",
    "1976-01-01",
    "1977-01-01",
    "1978-01-01",
    "1979-01-01",
    "1980-01-01",
    "1981-07-01",
    "1982-07-01",
    "1983-07-01",
    "1985-07-01",
    "1988-01-01",
    "1990-01-01",
    "1991-01-01",
    "1992-07-01",
    "1993-07-01",
    "1994-07-01",
    "1996-01-01",
    "1997-07-01",
    "1999-01-01",
    "2006-01-01",
    "2009-01-01",
    "2012-07-01",
    "2015-07-01",
    "2017-01-01",
]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Instant(NamedTuple):
    """An instant at [start, end): seconds since 1970 on the clock of `scale`; `zoned` says that a zone was given."""

    seconds: Fraction
    start: int
    end: int
    scale: str = "UTC"
    zoned: bool = True


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?P<{0}>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{{0,6}}\.?"
_INSTANT = re.compile(
    r"(?<![\d.])(?:(?P<year>\d{4})[-/](?:(?P<month>\d{1,2})[-/](?P<day>\d{1,2})|(?P<ordinal>\d{3}))"
    rf"|(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?[ -](?:of )?{_MONTH.format('name2')}[, -]{{1,2}}(?P<year2>\d{{4}})"
    rf"|(?<![a-z]){_MONTH.format('name3')}[ ](?P<day3>\d{{1,2}})(?:st|nd|rd|th)?,?[ ](?P<year3>\d{{4}}))"
    r"(?:T|,?[ ]{1,2}(?:at[ ])?|,[ ]?)"
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,30}))?)?(?!\d)"
    r"(?:[ ]?(?P<half>[ap])\.?m\.?(?![a-z]))?"
    r"(?:[ ]?\(?(?P<zone>Z|Zulu|(?:UTC|GMT)(?![a-z])[ ]?(?:[+-]\d{1,2}(?::?\d{2})?)?|[+-]\d{2}(?::?\d{2})?"
    r"|TT|TDT|TDB|TAI|GPST?)"
    r"(?![a-z0-9])\)?)?",
    re.IGNORECASE,
)
_CLOCK = re.compile(r"\d(?:T|,?[ ]{1,2}(?:at[ ])?|,[ ]?)(?P<hour>\d{1,2}):\d{2}", re.IGNORECASE)
_DATE_BACK, _CLOCK_ON = 48, 96  # characters before and after a clock's hour in which the rest of its instant lies
_OFFSET = re.compile(r"([+-])(\d{1,2}):?(\d{2})?$")
_FOLD = {0x2212: "-", 0x2010: "-", 0x2011: "-", 0x2013: "-", 0x00A0: " ", 0x202F: " ", 0x2009: " ", 0xFF1A: ":"}
_SCALES = {"TT": "TT", "TDT": "TT", "TDB": "TT", "TAI": "TAI", "GPS": "GPS", "GPST": "GPS"}


def instants(text: str) -> list[Instant]:
    """Every instant in `text`, in order; impossible dates are left out."""
    if ":" not in text and "\uff1a" not in text:
        return []
    folded = text if text.isascii() else text.translate(_FOLD)
    found: list[Instant] = []
    at = 0
    for clock in _CLOCK.finditer(folded):
        hour = clock.start("hour")
        match = _INSTANT.search(folded, max(at, hour - _DATE_BACK), hour + _CLOCK_ON) if hour >= at else None
        if match is not None and match.start("hour") == hour:
            at = match.end()
            instant = _instant(match)
            found += [instant] if instant is not None else []
    return found


def instant_from_text(text: str) -> Instant | None:
    """The instant that is the whole text, or None."""
    match = _INSTANT.fullmatch(text.strip().translate(_FOLD))
    return _instant(match) if match else None


def _instant(match: re.Match[str]) -> Instant | None:
    name = match["name2"] or match["name3"]
    month = _MONTHS.index(name.lower()) + 1 if name else int(match["month"] or 1)
    year = int(match["year"] or match["year2"] or match["year3"])
    day = int(match["day"] or match["day2"] or match["day3"] or 1)
    clock = _clock(match)
    try:
        date = datetime(year, month, day, tzinfo=UTC) + timedelta(days=int(match["ordinal"] or 1) - 1)
    except (ValueError, OverflowError):
        return None
    if clock is None or (match["ordinal"] and date.year != year):
        return None
    zone = (match["zone"] or "").upper().replace(" ", "")
    scale = _SCALES.get(zone, "UTC")
    seconds = (date - _EPOCH).days * 86400 - _offset_s(zone) + clock
    return Instant(Fraction(seconds), match.start(), match.end(), scale, bool(zone))


def _clock(match: re.Match[str]) -> Fraction | int | None:
    """Seconds since midnight; None for an impossible time."""
    hour, minute, second = int(match["hour"]), int(match["minute"]), int(match["second"] or 0)
    half = (match["half"] or "").lower()
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    if hour > 24 or minute > 59 or second > 60 or (hour == 24 and (minute or second)):
        return None
    fraction = match["fraction"] or ""
    whole = hour * 3600 + minute * 60 + second
    return Fraction(whole * 10 ** len(fraction) + int(fraction or 0), 10 ** len(fraction)) if fraction else whole


def _offset_s(zone: str) -> int:
    match = _OFFSET.search(zone)
    if not match:
        return 0
    size = int(match[2]) * 3600 + int(match[3] or 0) * 60
    return -size if match[1] == "-" else size


def iso_text(seconds: Fraction) -> str:
    """ISO 8601 UTC text of an instant, with the digits that it has, at most 9."""
    whole, rest = divmod(seconds, 1)
    text = (_EPOCH + timedelta(seconds=int(whole))).strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0")
    decimals = f"{int(rest * 10**9):09d}".rstrip("0")
    return f"{text}.{decimals}Z" if decimals else f"{text}Z"


def tai_minus_utc_s(seconds: Fraction) -> int:
    """TAI - UTC in seconds at an instant of 1972 or later; 0 before."""
    date = iso_text(seconds)[:10]
    return bisect_right(_LEAPS, date) + 9 if date >= _LEAPS[0] else 0
