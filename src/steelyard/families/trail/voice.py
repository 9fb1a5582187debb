"""A sentence at every point of a voice, and the style check that reads the point back.

Three traits with two levels each, in this order: length, register, certainty. A point is three bits, 0 for a trait's
first level: `000` is brief, formal and cautious. Each trait leaves one mark and none touches a fact: detailed adds a
practical sentence, casual contracts, cautious credits the notice.
Source: seed 004. Not covered: judging facts (the oracle does), and voices that are not written by `say_at`.
Easy to break: an apostrophe in a place or a reason would read back as casual.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product

from steelyard.errors import InputError

TRAITS = (("brief", "detailed"), ("formal", "casual"), ("cautious", "bold"))
_CREDIT = "The notice says"
_ADVICE = "Check the posted notice"


def points() -> list[str]:
    """The eight points, 000 first."""
    return ["".join(bits) for bits in product("01", repeat=len(TRAITS))]


def hamming(one: str, other: str) -> int:
    """In how many traits two points differ."""
    return sum(a != b for a, b in zip(one, other, strict=True))


def neighbours(point: str) -> list[str]:
    """The points one trait away."""
    return [other for other in points() if hamming(point, other) == 1]


def describe(point: str) -> str:
    """A point in words, such as `brief, formal and cautious`."""
    length, register, certainty = (levels[int(bit)] for levels, bit in zip(TRAITS, point, strict=True))
    return f"{length}, {register} and {certainty}"


def point_of(prompt: str) -> str:
    """The point that a prompt asks for; InputError when it names no voice or none of these."""
    asked = re.search(r"Answer in a (.+?) voice", prompt)
    found = [point for point in points() if asked and describe(point) == asked[1]]
    if len(found) != 1:
        raise InputError(f"the prompt names no voice of this design: {prompt[:60]!r}")
    return found[0]


def say_at(place: str, state: str, reason: str, point: str, unknown: Sequence[str] = ()) -> str:
    """The sentence a visitor reads, at one point; `unknown` names what the notice does not mention."""
    detailed, casual, bold = (bit == "1" for bit in point)
    verb = "'s" if casual else " is"
    text = f"{place}{verb} {state}, because of {reason}."
    text = text[0].upper() + text[1:] if bold else f"{_CREDIT} {text}"
    for topic in unknown:
        text += f" The notice {'doesn’t' if casual else 'does not'} mention a {topic}."
    return text + (f" {_ADVICE} before you set out." if detailed else "")


def voice_of(say: str) -> str:
    """The point that a sentence's marks put it at."""
    casual = re.search(r"\w['’](?:s|t)\b", say) is not None
    marks = (_ADVICE in say, casual, not say.startswith(_CREDIT))
    return "".join("1" if mark else "0" for mark in marks)
