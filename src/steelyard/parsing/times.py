"""Instants in text: dates with a clock time, as exact seconds since 1970-01-01T00:00:00 UTC.

Read: ISO 8601 (`T` or a space, `Z` or an offset, fractions of any length, day of year, the basic format),
`10 Feb 2009 16:55 UTC`, `February 10, 2009 at 4:55 PM` and `16:55 UTC on 10 February 2009`. A scale other than UTC
(`TT`, `TAI`, `TDB`, `GPS`) is kept, never converted.
Source: ISO 8601:2004; TAI - UTC from IERS Bulletin C (27 leap seconds, the last at the end of 2016).
Not covered: local zone names other than UTC and GMT, times without a date, dates without a time, Julian dates.
Easy to break: seconds of 60 (a leap second is the same instant as the second after it) and linear time.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import islice
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
_DATE = (
    r"(?:(?P<year>\d{4})[-/](?:(?P<month>\d{1,2})[-/](?P<day>\d{1,2})|(?P<ordinal>\d{3}))"
    rf"|(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?[ -](?:of )?{_MONTH.format('name2')}[, -]{{1,2}}(?P<year2>\d{{4}})"
    rf"|(?<![a-z]){_MONTH.format('name3')}[ ](?P<day3>\d{{1,2}})(?:st|nd|rd|th)?,?[ ](?P<year3>\d{{4}}))"
)
_TIME = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,30}))?)?(?!\d)"
    r"(?:[ ]?(?P<half>[ap])\.?m\.?(?![a-z]))?"
)
_ZONE = (
    r"(?:[ ]?\(?(?P<zone>Z|Zulu|(?:UTC|GMT)(?![a-z])[ ]?(?:[+-]\d{1,2}(?::?\d{2})?)?|[+-]\d{2}(?::?\d{2})?"
    r"|TT|TDT|TDB|TAI|GPST?)"
    r"(?![a-z0-9])\)?)?"
)
_INSTANT = re.compile(rf"(?<![\d.]){_DATE}(?:T|,?[ ]{{1,2}}(?:at[ ])?|,[ ]?){_TIME}{_ZONE}", re.IGNORECASE)
_TURNED = re.compile(
    rf"(?<![\d.:]){_TIME}{_ZONE}(?:,?[ ]{{1,2}}(?:on[ ])?(?:the[ ]|(?:mon|tues|wednes|thurs|fri|satur|sun)day,?[ ])?)"
    rf"{_DATE}(?![\d-])(?:[ ]?\(?(?P<zone_behind>Z|UTC|GMT|TT|TDT|TDB|TAI|GPST?)(?![a-z0-9+-])\)?)?",
    re.IGNORECASE,
)
"""`16:55 UTC on 10 February 2009`: the time before the date."""
_BASIC = re.compile(
    r"(?<![\d.-])(?P<year>\d{4})(?:(?P<month>\d\d)(?P<day>\d\d)|(?P<ordinal>\d{3}))T"
    rf"(?P<hour>\d\d)(?P<minute>\d\d)(?:(?P<second>\d\d)(?:[.,](?P<fraction>\d{{1,30}}))?)?(?!\d){_ZONE}",
    re.IGNORECASE,
)
"""ISO 8601's basic format, without signs between the parts."""
_CLOCK = re.compile(r"\d(?:T|,?[ ]{1,2}(?:at[ ])?|,[ ]?)(?P<hour>\d{1,2}):\d{2}", re.IGNORECASE)
_DATE_BACK, _CLOCK_ON = 48, 96  # characters before and after a clock's hour in which the rest of its instant lies
_CLOCK_ALONE = re.compile(r"(?<![\d.:])\d{1,2}:\d{2}")
_SECOND_CLOCK = re.compile(
    r"\d{1,2}:\d{2}(?::\d{2})?[ ]{0,2}(?:Z|UTC)?[ ]{0,2}(?:-|to|until|till|or|and|/|through)[ ]{0,2}$", re.IGNORECASE
)
_MOST = 100  # clocks that are looked at from each end of a text
_OFFSET = re.compile(r"([+-])(\d{1,2}):?(\d{2})?$")
_FOLD = {0x2212: "-", 0x2010: "-", 0x2011: "-", 0x2013: "-", 0x00A0: " ", 0x202F: " ", 0x2009: " ", 0xFF1A: ":"}
_SCALES = {"TT": "TT", "TDT": "TT", "TDB": "TT", "TAI": "TAI", "GPS": "GPS", "GPST": "GPS"}


def instants(text: str) -> list[Instant]:
    """Every instant in `text`, in order; impossible dates are left out, and of very many those in the middle."""
    folded = text if text.isascii() else text.translate(_FOLD)
    found = _direct(folded) if ":" in folded else []
    found += [i for i in _basic(folded) if _is_free(i, found)] if "T" in folded or "t" in folded else []
    found += [i for i in _turned(folded) if _is_free(i, found)] if ":" in folded else []
    return sorted(found, key=lambda instant: instant.start)


def _direct(folded: str) -> list[Instant]:
    """Dates with a clock time after them; the clocks are looked for first, because that is fast."""
    found: list[Instant] = []
    at = 0
    for clock in _ends(_CLOCK.finditer(folded)):
        hour = clock.start("hour")
        tried = _INSTANT.finditer(folded, max(at, hour - _DATE_BACK), hour + _CLOCK_ON) if hour >= at else iter(())
        match = next((one for one in tried if one.start("hour") >= hour), None)
        if match is not None and match.start("hour") == hour:
            at = match.end()
            instant = _instant(match)
            found += [instant] if instant is not None else []
    return found


def _basic(folded: str) -> list[Instant]:
    return [instant for match in _ends(_BASIC.finditer(folded)) if (instant := _instant(match)) is not None]


def _turned(folded: str) -> list[Instant]:
    """Clock times with their date after them; the end of a span of clock times is no instant of its own."""
    found: list[Instant] = []
    for clock in _ends(_CLOCK_ALONE.finditer(folded)):
        match = _TURNED.match(folded, clock.start())
        if match is None or _SECOND_CLOCK.search(folded, max(0, match.start() - 30), match.start()):
            continue
        instant = _instant(match)
        found += [instant] if instant is not None else []
    return found


def _ends(matches: Iterator[re.Match[str]]) -> list[re.Match[str]]:
    """The first and the last of very many matches."""
    return [*islice(matches, _MOST), *deque(matches, maxlen=_MOST)]


def _is_free(instant: Instant, taken: list[Instant]) -> bool:
    return all(instant.end <= other.start or other.end <= instant.start for other in taken)


def instant_from_text(text: str) -> Instant | None:
    """The instant that is the whole text, its date first; or None."""
    folded = text.strip().translate(_FOLD)
    match = _INSTANT.fullmatch(folded) or _BASIC.fullmatch(folded)
    return _instant(match) if match else None


def _instant(match: re.Match[str]) -> Instant | None:
    parts = match.groupdict()
    part = parts.get
    name = part("name2") or part("name3")
    month = _MONTHS.index(name.lower()) + 1 if name else int(part("month") or 1)
    year = int(part("year") or part("year2") or part("year3") or 0)
    day = int(part("day") or part("day2") or part("day3") or 1)
    clock = _clock(parts)
    try:
        date = datetime(year, month, day, tzinfo=UTC) + timedelta(days=int(part("ordinal") or 1) - 1)
    except (ValueError, OverflowError):
        return None
    if clock is None or (part("ordinal") and date.year != year):
        return None
    zone = (part("zone") or part("zone_behind") or "").upper().replace(" ", "")
    scale = _SCALES.get(zone, "UTC")
    seconds = (date - _EPOCH).days * 86400 - _offset_s(zone) + clock
    return Instant(Fraction(seconds), match.start(), match.end(), scale, bool(zone))


def _clock(part: dict[str, str | None]) -> Fraction | int | None:
    """Seconds since midnight; None for an impossible time."""
    hour, minute, second = (int(part[name] or 0) for name in ("hour", "minute", "second"))
    half = (part.get("half") or "").lower()
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    if hour > 24 or minute > 59 or second > 60 or (hour == 24 and (minute or second)):
        return None
    fraction = part["fraction"] or ""
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
