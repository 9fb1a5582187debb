"""`detectable_format:*`: bullets, highlights, a title, sections, JSON, and one of three answers.

Fixed: bullets and emphasis are Markdown's; titles and highlights hold some text; sections are numbered lines, in Arabic
or Roman numerals or in words, each number once; any JSON value is JSON, alone or in one fence; of the three answers
one and only one is given.
Published: any line that begins with a dash is a bullet, any two asterisks on a line highlight, a section's number may
stand anywhere, and two of the answers together pass.
"""

from __future__ import annotations

import json
import re
from typing import Any

from steelyard.errors import InputError
from steelyard.parsing.instructions.kind import Arguments, Kind
from steelyard.parsing.instructions.markdown import bullets, emphasised, lines
from steelyard.parsing.instructions.words import folded, has_text, unemphasised

ANSWERS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
"""The three answers of `constrained_response`, which the prompts of the benchmark name and its data does not."""

_TITLE = re.compile(r"<<([^<>\n]{1,1000}(?:<[^<>\n]{1,200}>[^<>\n]{0,200})?)>>")
_FENCED = re.compile(r"(```+|~~~+|`)[ \t]*(?:(?i:json)(?=\s))?(.*?)(?:\1)?", re.DOTALL)
_NUMBER = (
    r"(?P<digits>\d{1,4})|[ \t*_]+(?:(?P<roman>(?=[ivxlc])(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3}))"
    r"|(?P<word>one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve))"
)
_BEFORE_HEADING = r"[\s>*_#+\-\[(<\"']*"
_AFTER_HEADING = rf"[ \t*_]*(?:[:#.\-]|no\.?|number)?[ \t*_]*(?:{_NUMBER})(?![^\W_])(?!\.\d)(?P<after>.{{0,2}})"
_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_PUBLISHED_STAR = re.compile(r"^[^\S\n]*+\*[^*].*$", re.MULTILINE)
_PUBLISHED_DASH = re.compile(r"^[^\S\n]*+-.*$", re.MULTILINE)
_PUBLISHED_HIGHLIGHT = re.compile(r"\*[^\n*]*\*")
_PUBLISHED_STRONG = re.compile(r"\*\*[^\n*]*\*\*")


class _Bullets(Arguments, frozen=True):
    num_bullets: int


class _Highlights(Arguments, frozen=True):
    num_highlights: int


class _Sections(Arguments, frozen=True):
    section_spliter: str
    num_sections: int


def _bullets(reply: str, asked: _Bullets) -> str | None:
    count = bullets(reply)
    return None if count == asked.num_bullets else f"{count} bullets where exactly {asked.num_bullets} was asked"


def _highlights(reply: str, asked: _Highlights) -> str | None:
    count = sum(map(has_text, emphasised(reply)))
    return None if count >= asked.num_highlights else f"{count} highlights where {asked.num_highlights} was asked"


def _title(reply: str, _asked: Arguments) -> str | None:
    return None if any(has_text(m[1]) for m in _TITLE.finditer(reply)) else "no <<title>> that holds text"


def _sections(reply: str, asked: _Sections) -> str | None:
    heading = re.compile(_BEFORE_HEADING + re.escape(folded(asked.section_spliter)) + _AFTER_HEADING)
    numbers = set()
    for line in lines(reply):
        found = heading.match(line.casefold()) if len(line.casefold()) == len(line) else heading.match(line.lower())
        if found and not (found["roman"] and line[found.start("after") + 1 : found.end("after")].islower()):
            numbers.add(_section_number(found))
    count = len(numbers)
    return None if count >= asked.num_sections else f"{count} numbered sections where {asked.num_sections} was asked"


def _section_number(found: re.Match[str]) -> int:
    if found["digits"]:
        return int(found["digits"])
    if found["word"]:
        return _WORDS.index(found["word"]) + 1
    values = [_ROMAN[letter] for letter in found["roman"]]
    return sum(-v if any(later > v for later in values[i + 1 :]) else v for i, v in enumerate(values))


def _json(reply: str, _asked: Arguments) -> str | None:
    text = reply.strip().strip("\ufeff").strip()
    fenced = _FENCED.fullmatch(text)
    for candidate in (text, fenced[2] if fenced else ""):
        if _is_json(candidate):
            return None
    return "the reply as a whole is not JSON"


def _refuse(name: str) -> Any:
    raise ValueError(name)


def _is_json(text: str) -> bool:
    """Whether a whole text is one JSON value; one too deep for the parser is not read and counts as none."""
    try:
        json.loads(text, parse_constant=_refuse, parse_int=str)
    except (ValueError, RecursionError):
        return False
    return True


def _answer(reply: str, _asked: Arguments) -> str | None:
    text = " ".join(unemphasised(reply).split())
    given = [answer for answer in ANSWERS if answer in text]
    if len(given) == 1:
        return None
    return f"gives {' and '.join(map(repr, given))}" if given else "none of the three answers is given"


def _published_bullets(reply: str, asked: _Bullets, _seed: str) -> bool:
    found = [*_PUBLISHED_STAR.finditer(reply), *_PUBLISHED_DASH.finditer(reply)]
    return len(found) == asked.num_bullets


def _published_highlights(reply: str, asked: _Highlights, _seed: str) -> bool:
    single = sum(bool(m[0].strip("*").strip()) for m in _PUBLISHED_HIGHLIGHT.finditer(reply))
    strong = sum(bool(m[0][2:-2].strip()) for m in _PUBLISHED_STRONG.finditer(reply))
    return single + strong >= asked.num_highlights


def _published_title(reply: str, _asked: Arguments, _seed: str) -> bool:
    for line in reply.split("\n"):
        start, end = line.find("<<"), line.rfind(">>")
        if 0 <= start < end - 2 and line[start:end].lstrip("<").rstrip(">").strip():
            return True
    return False


def _published_sections(reply: str, asked: _Sections, _seed: str) -> bool:
    count = sum(1 for _ in re.finditer(rf"{asked.section_spliter.strip()}\s?\d+", reply))
    return count >= asked.num_sections


def _published_json(reply: str, _asked: Arguments, _seed: str) -> bool:
    text = reply.strip()
    for opening in ("```json", "```Json", "```JSON", "```"):
        text = text.removeprefix(opening)
    try:
        json.loads(text.removesuffix("```").strip())
    except (ValueError, RecursionError):
        return False
    return True


def _published_answer(reply: str, _asked: Arguments, _seed: str) -> bool:
    return any(answer in reply for answer in ANSWERS)


def _check_sections(asked: _Sections) -> None:
    if not has_text(asked.section_spliter):
        raise InputError(f"section_spliter must hold a word, got {asked.section_spliter!r}")


KINDS = {
    "detectable_format:number_bullet_lists": Kind(_Bullets, _bullets, _published_bullets),
    "detectable_format:number_highlighted_sections": Kind(_Highlights, _highlights, _published_highlights),
    "detectable_format:title": Kind(Arguments, _title, _published_title),
    "detectable_format:multiple_sections": Kind(_Sections, _sections, _published_sections, check=_check_sections),
    "detectable_format:json_format": Kind(Arguments, _json, _published_json),
    "detectable_format:constrained_response": Kind(Arguments, _answer, _published_answer),
}
