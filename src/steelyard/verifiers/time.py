"""`time`: the instant that an answer commits to lies within `atol_s` seconds of the target, inclusive.

The target is an ISO 8601 instant in UTC. An answer without a zone counts as UTC when `assume_utc` (the default).
An answer that is off by TAI - UTC or TT - UTC, or that names another scale, misses as `wrong-scale`.
A reading's value is ISO 8601 UTC text; another named scale stays behind it (`2009-02-10T16:57:06 TT`).
Not covered: times without a date, windows, other calendars.
Easy to break: exactness; instants are Fractions, so that 0.8 s is 0.8 s.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.parsing.prose import Candidate, commitments, final_part, is_refusal
from steelyard.parsing.times import TT_MINUS_TAI_S, Instant, instant_from_text, instants, iso_text, tai_minus_utc_s
from steelyard.verdict import PASSED, Reading, Unread, Verdict, failed
from steelyard.verifiers.contract import NO_ANSWER, Config, Spoil, Verifier


class TimeConfig(Config, frozen=True):
    """`atol_s` in seconds, inclusive; `assume_utc` takes times without a zone as UTC."""

    atol_s: float = 0.0
    assume_utc: bool = True


_ASIDE = re.compile(
    r"(?:\b(?:epoch|from|between|since|until|till|after|before|window|start(?:s|ing|ed)?|end(?:s|ing|ed)?|not)\b[^.;\n]{0,16}"
    r"|[(\[][^)\]\n]{0,40})$",
    re.IGNORECASE,
)
_RANGE = re.compile(r"[ ]{0,2}(?:-|–|—|to|until|or|and|/|through)[ ]{0,2}", re.IGNORECASE)
_CLOCK_AFTER = re.compile(r"[ ]{0,2}(?:-|–|—|to|until|or|and|/|through)[ ]{0,2}\d{1,2}:\d{2}", re.IGNORECASE)
"""The second clock time of `10 Feb 2009 16:00 to 17:00`, which names no instant."""
_UNMARKED = frozenset({"bold", "last-line", "whole"})


def _check(target: str, config: TimeConfig) -> None:
    if not (math.isfinite(config.atol_s) and config.atol_s >= 0):
        raise InputError(f"atol_s must be a finite number >= 0, got {config.atol_s}")
    _gold(target)


@lru_cache(maxsize=256)
def _instant(text: str) -> Instant | None:
    return instant_from_text(text)  # a right answer is mostly the target's very text


def _gold(target: str) -> Fraction:
    gold = _instant(target)
    if gold is None or gold.scale != "UTC":
        raise InputError(
            f'the target must be an ISO 8601 time in UTC such as 2009-02-10T16:55:59.8Z, got "{target[:60]}"'
        )
    return gold.seconds


def _read(attempt: Attempt, config: TimeConfig) -> Reading | Unread:
    part = final_part(attempt.answer)
    if part.reason:
        return Unread(part.reason)
    for candidate in commitments(part):
        chosen = _committed(candidate.text, marked=candidate.rule not in _UNMARKED)
        if isinstance(chosen, Unread):
            return chosen
        if chosen is not None:
            return _reading(chosen, candidate, config)
        if is_refusal(candidate.text):
            return Unread("the answer says that there is none")
    return Unread("no date with a time in the answer")


def _committed(text: str, *, marked: bool) -> Instant | Unread | None:
    """The first instant of a marked answer, else the only one that is not an aside; several commit to nothing."""
    found = instants(text)
    ranged = {
        i
        for a, b in pairwise(found)
        if _RANGE.fullmatch(text[a.end : b.start]) and a.seconds != b.seconds
        for i in (a, b)
    }
    plain = [i for i in found if not _ASIDE.search(text[max(0, i.start - 60) : i.start])] or found
    if not plain:
        return None
    chosen = plain[0] if marked else plain[-1]
    if chosen in ranged or _CLOCK_AFTER.match(text, chosen.end):
        return Unread("a range of times or two alternatives")
    if not marked and len({i.seconds for i in plain}) > 1:
        return Unread("several times, none of them marked as the answer")
    return chosen


def _reading(instant: Instant, candidate: Candidate, config: TimeConfig) -> Reading | Unread:
    if not instant.zoned and not config.assume_utc:
        return Unread("the time has no zone")
    value = iso_text(instant.seconds)
    if instant.scale != "UTC":
        value = f"{value.removesuffix('Z')} {instant.scale}"
    start = candidate.span[0]
    return Reading(value, candidate.rule, (start + instant.start, start + instant.end))


def _decide(found: Reading, target: str, config: TimeConfig) -> Verdict:
    gold = _gold(target)
    instant = _instant(found.value) if isinstance(found.value, str) else None
    if instant is None:
        return failed("wrong-time", f"expected an ISO 8601 time, got {type(found.value).__name__!s}")
    if instant.scale != "UTC":
        return failed("wrong-scale", f"the answer is in {instant.scale}; UTC was asked for")
    if not instant.zoned and not config.assume_utc:
        return failed("wrong-time", "the time has no zone")
    off = instant.seconds - gold
    atol = Fraction(repr(config.atol_s))
    if abs(off) <= atol:
        return PASSED
    detail = f"{found.value} is {float(off):+.3f} s from {target}, allowed {config.atol_s} s"
    scale = _scale(off, gold, atol)
    return failed("wrong-scale", f"{detail}; that is {scale} - UTC") if scale else failed("wrong-time", detail)


def _scale(off: Fraction, gold: Fraction, atol: Fraction) -> str:
    """The time scale whose offset from UTC explains the error; empty where the band is too wide to tell."""
    tai = tai_minus_utc_s(gold)
    for scale, offset in (("TT", tai + TT_MINUS_TAI_S), ("TAI", Fraction(tai))):
        if tai and atol < offset / 4 and abs(abs(off) - offset) <= max(atol, Fraction(1, 2)):
            return scale
    return ""


def _render(target: str, _config: TimeConfig) -> str | None:
    return iso_text(_gold(target))


def _off(seconds: Any) -> Any:
    def make(target: str, config: TimeConfig, _prompt: str) -> str | None:
        gold = _gold(target)
        shift: Fraction = seconds(gold, Fraction(repr(config.atol_s)))
        return iso_text(gold + shift) if abs(shift) > Fraction(repr(config.atol_s)) else None

    return make


def _tt(gold: Fraction, atol: Fraction) -> Fraction:
    offset = tai_minus_utc_s(gold) + TT_MINUS_TAI_S
    return offset if tai_minus_utc_s(gold) and atol < offset / 4 else Fraction(0)


def _echo(target: str, config: TimeConfig, prompt: str) -> str | None:
    found = _read(Attempt(answer=prompt), config)
    right = isinstance(found, Reading) and _decide(found, target, config).passed
    return None if right or not prompt else prompt


def _date_only(target: str, _config: TimeConfig, _prompt: str) -> str:
    return iso_text(_gold(target))[:10]


def _shown(before: str, after: str, zone: int = 0) -> Any:
    def make(target: str, _config: TimeConfig, _prompt: str) -> str:
        text = iso_text(_gold(target) + zone * 3600).removesuffix("Z")
        return before + text + after

    return make


def _spaced(target: str, _config: TimeConfig, _prompt: str) -> str:
    return iso_text(_gold(target)).replace("T", " ").replace("Z", " UTC")


def _basic(target: str, _config: TimeConfig, _prompt: str) -> str:
    return iso_text(_gold(target)).replace("-", "").replace(":", "")


def _time_first(target: str, _config: TimeConfig, _prompt: str) -> str:
    date, clock = iso_text(_gold(target)).removesuffix("Z").split("T")
    return f"{clock} UTC on {date}"


VERIFIERS: tuple[Verifier, ...] = (
    Verifier(
        name="time",
        config=TimeConfig,
        misses=("wrong-time", "wrong-scale"),
        read=_read,
        decide=_decide,
        check=_check,
        render=_render,
        spoil={
            "after-band": Spoil(_off(lambda _gold, atol: atol + max(atol / 100, Fraction(1, 1000))), ("wrong-time",)),
            "before-band": Spoil(_off(lambda _gold, atol: -atol - max(atol / 100, Fraction(1, 1000))), ("wrong-time",)),
            "another-day": Spoil(_off(lambda _gold, _atol: Fraction(86400)), ("wrong-time",)),
            "utc-tt-mixup": Spoil(_off(_tt), ("wrong-scale",)),
            "date-only": Spoil(_date_only, (NO_ANSWER,)),
            "prompt-echoed": Spoil(_echo, ("wrong-time", "wrong-scale", NO_ANSWER)),
        },
        vary={
            "space-and-utc": _spaced,
            "basic-format": _basic,
            "time-first": _time_first,
            "offset": _shown("", "+02:00", 2),
            "bold": _shown("The time of closest approach is **", "Z**."),
            "box": _shown("\\boxed{", "Z}"),
            "fenced": _shown('```json\n{"answer": "', 'Z"}\n```'),
            "full-stop": _shown("", "Z."),
        },
    ),
)
