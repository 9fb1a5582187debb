"""`number`: the one number that an answer commits to lies within a band around the target.

Rule: |x - x*| <= atol + rtol |x*|, inclusive, in exact rational arithmetic; without a tolerance the values are equal.
With `unit`, answers in another unit of the same dimension are converted and a bare number is taken in `unit`.
Without one, units and currency signs drop and never rescale, and `n%` matches n/100 as well as n.
A reading's value is the number as plain text (`0.25`, `1/3`), in `unit`; from a JSON field it may be a JSON number.
Not covered: number words, complex numbers, intervals.
Easy to break: floats. A JSON float is read from its shortest decimal text, never from its binary value.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.parsing.numbers import number_from_text, plain_text
from steelyard.parsing.one_number import Number, Uncommitted, committed_number
from steelyard.parsing.prose import Candidate, commitments, final_part, is_refusal
from steelyard.parsing.units import Unit, convert, parse_unit, siblings
from steelyard.verdict import PASSED, Reading, Unread, Verdict, failed
from steelyard.verifiers.contract import NO_ANSWER, Config, Spoil, Verifier


class NumberConfig(Config, frozen=True):
    """`unit` of the target and of bare answers; `atol` in that unit; `rtol` as a share of the target."""

    unit: str | None = None
    atol: float = 0.0
    rtol: float = 0.0


_LINE_ENDS = dict.fromkeys(map(ord, "\r\x0b\x0c\x85\u2028\u2029"), "\n")
_UNMARKED = frozenset({"bold", "last-line", "whole"})


def _check(target: str, config: NumberConfig) -> None:
    for name, value in (("atol", config.atol), ("rtol", config.rtol)):
        if not (math.isfinite(value) and value >= 0):
            raise InputError(f"{name} must be a finite number >= 0, got {value}")
    if config.unit is not None:
        parse_unit(config.unit)
    _gold(target)


def _read(attempt: Attempt, config: NumberConfig) -> Reading | Unread:
    part = final_part(attempt.answer.translate(_LINE_ENDS))
    if part.reason:
        return Unread(part.reason)
    for candidate in commitments(part):
        if candidate.rule == "last-line":
            continue  # one_number looks through the sentences of the whole text itself
        found = committed_number(candidate.text, config.unit, marked=candidate.rule not in _UNMARKED)
        if isinstance(found, Number):
            return _reading(found, candidate)
        if isinstance(found, Uncommitted):
            return Unread(found.reason)
        if is_refusal(candidate.text):
            return Unread("the answer says that there is none")
    return Unread("no number in the answer" if part.text.strip() else "the answer is empty")


def _reading(found: Number, candidate: Candidate) -> Reading:
    start = candidate.span[0]
    value = plain_text(found.value) + ("%" if found.percent else "")
    return Reading(value, candidate.rule, (start + found.start, start + found.end))


def _decide(found: Reading, target: str, config: NumberConfig) -> Verdict:
    values = _values(found.value)
    gold = _gold(target)
    if not values:
        return failed("wrong-value", f"expected a number, got {_shown(found.value)!r}")
    low, high = _bounds(target, config)
    if any(low <= value <= high for value in values):
        return PASSED
    detail = f"{_shown(found.value)} is not within {config.atol} + {config.rtol} |x*| of {target[:60]}"
    if config.unit and (other := _mixed_up(values[0], gold, config)):
        return failed("wrong-unit", f"{detail}; it would be in {other.name}")
    return failed("wrong-value", detail)


def _values(value: Any) -> list[Fraction]:
    """What a reading's value may stand for: one number, or n/100 and n for `n%`; none for what is no number."""
    if isinstance(value, bool):
        return []
    if isinstance(value, int):
        return [Fraction(value)]
    if isinstance(value, float):
        return [Fraction(repr(value))] if math.isfinite(value) else []
    if not isinstance(value, str):
        return []
    percent = value.endswith("%")
    number = _number(value.removesuffix("%"))
    if number is None:
        return []
    return [number / 100, number] if percent else [number]


@lru_cache(maxsize=256)
def _exact(number: float) -> Fraction:
    return Fraction(repr(number))


def _band(gold: Fraction, config: NumberConfig) -> Fraction:
    return _exact(config.atol) + _exact(config.rtol) * abs(gold)


@lru_cache(maxsize=256)
def _bounds(target: str, config: NumberConfig) -> tuple[Fraction, Fraction]:
    gold = _gold(target)
    if not config.atol and not config.rtol:
        return gold, gold
    band = _band(gold, config)
    return gold - band, gold + band


def _within(value: Fraction, gold: Fraction, config: NumberConfig) -> bool:
    return abs(value - gold) <= _band(gold, config)


def _mixed_up(value: Fraction, gold: Fraction, config: NumberConfig) -> Unit | None:
    """The unit that would make the value right: its digits were meant in that unit, or were given that unit wrongly."""
    unit = parse_unit(config.unit or "")
    if not value:
        return None  # zero is right in every unit, so says nothing
    for other in siblings(unit):
        if any(_within(v, gold, config) for v in (convert(value, other, unit), convert(value, unit, other))):
            return other
    return None


def _shown(value: Any) -> str:
    """A value for a message; never the digits of a huge integer, which Python refuses to print."""
    if isinstance(value, int) and value.bit_length() > 1000:
        return f"an integer of {value.bit_length()} bits"
    return str(value)[:60]


@lru_cache(maxsize=256)
def _number(text: str) -> Fraction | None:
    return number_from_text(text)  # a right answer is mostly the target's very text


def _gold(target: str) -> Fraction:
    gold = _number(target)
    if gold is None:
        raise InputError(f'the target must be a number such as 12.5, 1/2 or 1e3, got "{target[:60]}"')
    return gold


def _plain(value: Fraction, config: NumberConfig) -> str:
    return f"{plain_text(value)} {config.unit}" if config.unit else plain_text(value)


def _render(target: str, config: NumberConfig) -> str | None:
    return _plain(_gold(target), config)


def _wrong(value: Fraction | None, target: str, config: NumberConfig) -> str | None:
    """A wrong value as an answer; None where it is no value or right after all."""
    return None if value is None or _within(value, _gold(target), config) else _plain(value, config)


def _outside(sign: int) -> Any:
    def make(target: str, config: NumberConfig, _prompt: str) -> str | None:
        gold = _gold(target)
        band = _band(gold, config)
        step = band / 100 or Fraction(1, 10 ** len(target.partition(".")[2]))
        return _plain(gold + sign * (band + step), config)

    return make


def _longer(target: str, config: NumberConfig, _prompt: str) -> str | None:
    text = plain_text(_gold(target))
    longer = text.replace("-", "-1", 1) if text.startswith("-") else f"1{text}"
    return _wrong(number_from_text(longer), target, config)


def _cut_at_comma(target: str, config: NumberConfig, _prompt: str) -> str | None:
    gold = _gold(target)
    if abs(gold) < 1000:
        return None
    return _wrong(Fraction(int(gold) // 1000 if gold > 0 else -(int(-gold) // 1000)), target, config)


def _wrong_sign(target: str, config: NumberConfig, _prompt: str) -> str | None:
    return _wrong(-_gold(target), target, config)


def _wrong_unit(target: str, config: NumberConfig, _prompt: str) -> str | None:
    gold = _gold(target)
    if config.unit is None or not gold:
        return None
    unit = parse_unit(config.unit)
    others = (u for u in siblings(unit) if not _within(convert(gold, u, unit), gold, config))
    other = next(others, None)
    return f"{plain_text(gold)} {other.name}" if other else None


def _two_answers(target: str, config: NumberConfig, _prompt: str) -> str | None:
    gold = _gold(target)
    return f"{_plain(gold, config)} or {_plain(gold + 2 * _band(gold, config) + 1, config)}"


def _echo(target: str, config: NumberConfig, prompt: str) -> str | None:
    found = _read(Attempt(answer=prompt), config) if prompt else Unread("no prompt")
    right = isinstance(found, Reading) and _decide(found, target, config).passed
    return None if right or not prompt else prompt


def _grouped(mark: str) -> Any:
    def make(target: str, config: NumberConfig, _prompt: str) -> str | None:
        whole, dot, decimals = plain_text(_gold(target)).partition(".")
        if "/" in whole or len(whole.lstrip("-")) < 4 or len(whole) > 100:
            return None
        grouped = f"{int(whole):,}".replace(",", mark) + dot + decimals
        return f"{grouped} {config.unit}" if config.unit else grouped

    return make


def _unicode_minus(target: str, config: NumberConfig, _prompt: str) -> str | None:
    text = _plain(_gold(target), config)
    return text.replace("-", "−", 1) if text.startswith("-") else None


def _scientific(target: str, config: NumberConfig, _prompt: str) -> str | None:
    text = plain_text(_gold(target))
    if "/" in text:
        return None
    whole, _, decimals = text.lstrip("-").partition(".")
    digits = (whole + decimals).lstrip("0") or "0"
    exponent = len(whole) - 1 - (len(whole + decimals) - len(digits)) if digits != "0" else 0
    mantissa = digits[0] + ("." + digits[1:].rstrip("0") if digits[1:].rstrip("0") else "")
    unit = f" {config.unit}" if config.unit else ""
    return f"{'-' if text.startswith('-') else ''}{mantissa} × 10^{exponent}{unit}"


def _box(target: str, config: NumberConfig, _prompt: str) -> str:
    unit = f"\\text{{ {config.unit}}}".replace("%", "\\%") if config.unit else ""
    return f"\\boxed{{{plain_text(_gold(target))}{unit}}}"


def _around(before: str, after: str) -> Any:
    def make(target: str, config: NumberConfig, _prompt: str) -> str:
        return before + _plain(_gold(target), config) + after

    return make


def _equal_unit(target: str, config: NumberConfig, _prompt: str) -> str | None:
    if config.unit is None:
        return None
    unit, gold = parse_unit(config.unit), _gold(target)
    texts = ((plain_text(convert(gold, unit, other)), other) for other in siblings(unit))
    exact = [(len(text), text, other.name) for text, other in texts if "/" not in text]
    return "{1} {2}".format(*min(exact)) if exact else None


_FAILS = ("wrong-value", "wrong-unit")

VERIFIERS: tuple[Verifier, ...] = (
    Verifier(
        name="number",
        config=NumberConfig,
        misses=_FAILS,
        read=_read,
        decide=_decide,
        check=_check,
        render=_render,
        spoil={
            "above-band": Spoil(_outside(1), _FAILS),
            "below-band": Spoil(_outside(-1), _FAILS),
            "inside-longer-number": Spoil(_longer, _FAILS),
            "cut-at-comma": Spoil(_cut_at_comma, _FAILS),
            "wrong-sign": Spoil(_wrong_sign, _FAILS),
            "wrong-unit": Spoil(_wrong_unit, ("wrong-unit",)),
            "two-answers": Spoil(_two_answers, (NO_ANSWER,)),
            "prompt-echoed": Spoil(_echo, (*_FAILS, NO_ANSWER)),
        },
        vary={
            "thousands-comma": _grouped(","),
            "thousands-space": _grouped("\u202f"),
            "unicode-minus": _unicode_minus,
            "scientific": _scientific,
            "box": _box,
            "bold": _around("The answer is **", "**."),
            "sentence": _around("So, in the end, it comes to ", "."),
            "full-stop": _around("", "."),
            "fenced": _around('```json\n{"answer": "', '"}\n```'),
            "equal-unit": _equal_unit,
        },
    ),
)
