"""`keywords:*`: words that must, must not, or must so often be in a reply, and letters to count.

Fixed: keywords are whole words in any case, and any one character can be counted.
Published: `existence` and `frequency` search a pattern inside words (`cat` in `concatenate`); a letter outside a-z is
silently replaced by a random one.
"""

from __future__ import annotations

import random
import re
import string
import unicodedata
from typing import Any

import msgspec

from steelyard.errors import InputError
from steelyard.parsing.instructions.kind import Arguments, Kind, Relation, counted, holds
from steelyard.parsing.instructions.words import folded, term_count


class _Keywords(Arguments, frozen=True):
    keywords: list[str]


class _Forbidden(Arguments, frozen=True):
    forbidden_words: list[str]


class _Frequency(Arguments, frozen=True):
    keyword: str
    frequency: int
    relation: Relation


class _Letter(Arguments, frozen=True):
    letter: str
    let_frequency: int
    let_relation: Relation


def _existence(reply: str, asked: _Keywords) -> str | None:
    lacking = [word for word in asked.keywords if not term_count(reply, word)]
    return f"lacks {', '.join(map(repr, lacking))}" if lacking else None


def _forbidden(reply: str, asked: _Forbidden) -> str | None:
    used = [word for word in asked.forbidden_words if term_count(reply, word)]
    return f"uses {', '.join(map(repr, used))}" if used else None


def _frequency(reply: str, asked: _Frequency) -> str | None:
    return counted(repr(asked.keyword), term_count(reply, asked.keyword), asked.relation, asked.frequency)


def _letters(reply: str, asked: _Letter) -> str | None:
    text, letter = (unicodedata.normalize("NFC", one).lower() for one in (reply, asked.letter))
    return counted(repr(asked.letter), text.count(letter), asked.let_relation, asked.let_frequency)


def _matches(pattern: str, reply: str) -> int:
    return sum(1 for _ in re.finditer(pattern, reply, re.IGNORECASE))


def _published_existence(reply: str, asked: _Keywords, _seed: str) -> bool:
    return all(re.search(word, reply, re.IGNORECASE) for word in asked.keywords)


def _published_forbidden(reply: str, asked: _Forbidden, _seed: str) -> bool:
    return not any(re.search(rf"\b{word}\b", reply, re.IGNORECASE) for word in asked.forbidden_words)


def _published_frequency(reply: str, asked: _Frequency, _seed: str) -> bool:
    return holds(_matches(asked.keyword.strip(), reply), asked.relation, asked.frequency)


def _published_letters(reply: str, asked: _Letter, seed: str) -> bool:
    letter = asked.letter
    if not (len(letter) == 1 and "a" <= letter.lower() <= "z"):
        letter = random.Random(seed).choice(string.ascii_letters)
    return holds(reply.lower().count(letter.lower()), asked.let_relation, asked.let_frequency)


def _check_terms(asked: Any) -> None:
    """Refuses terms that hold nothing, and terms that are no pattern, which the published runner cannot search."""
    for value in msgspec.structs.astuple(asked):
        for term in value if isinstance(value, list) else [value]:
            if isinstance(term, str) and not folded(term):
                raise InputError(f"a keyword must hold some text, got {term!r}")
        if value == []:
            raise InputError("a list of keywords must hold one at least")


def _check_letter(asked: _Letter) -> None:
    if not asked.letter:
        raise InputError("letter must be a character, got an empty text")


KINDS = {
    "keywords:existence": Kind(_Keywords, _existence, _published_existence, check=_check_terms),
    "keywords:forbidden_words": Kind(_Forbidden, _forbidden, _published_forbidden, check=_check_terms),
    "keywords:frequency": Kind(_Frequency, _frequency, _published_frequency, check=_check_terms),
    "keywords:letter_frequency": Kind(_Letter, _letters, _published_letters, check=_check_letter),
}
