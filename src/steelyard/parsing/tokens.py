"""Whole tokens: where a word, number or phrase stands in a text and is not part of a longer one.

Rule (seed 001): no letter, digit, underscore, dot or dash just before; no letter, digit, underscore, dash or decimal
part just after; case does not count. Widened: thousands separators are removed on both sides, and a version may carry
a `v`. Letters are Unicode letters with their combining marks; widths and canonical forms are folded.
Not covered: a decimal comma and lists of numbers without spaces look alike (`1,12`), and read as a list.
Easy to break: linear time; positions are those of the prepared text, `Prepared.place` leads back to the reply.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

_DASHES = frozenset("-\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d")
_GROUPED = re.compile(
    r"(?<![\w.,'’])(?!0)\d{1,3}(?:(?:,\d{3})+(?!\d|,\d)|(?:,\d{2})+,\d{3}(?!\d|,\d)|(?:['’]\d{3})+(?!\w|['’]\d)"
    r"|(?:_\d{3})+(?!\w)|(?:[\u00a0\u2007\u2008\u2009\u202f]\d{3})+(?!\d)|(?: \d{3}){0,6}?(?: 0\d\d)(?:"
    r" \d{3}){0,6}(?!\d))"
)
_SPACED = re.compile(r"(?<![\w.,'’])(?!0)\d{1,3}(?: \d{3})+(?![\d])")
_NOT_DIGIT = re.compile(r"\D")
_VERSION = re.compile(r"\d+(?:\.\d+)+")


def canonical(text: str) -> str:
    """`text` in canonical form and narrow width, without thousands separators; case is kept."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).translate(_WIDE)
    return _GROUPED.sub(lambda m: _NOT_DIGIT.sub("", m[0]), text)


def prepared(text: str) -> str:
    """`text` in the form in which tokens are sought: canonical and without case."""
    return canonical(text).casefold()


def occurrences(text: str, token: str) -> Iterator[tuple[int, int]]:
    """Spans of whole-token occurrences of `token` in `text`, both prepared."""
    if not token:
        return
    version = _VERSION.fullmatch(token) is not None
    candidates = _candidates(token, version)
    found = candidates.search(text)
    while found:
        at, end = found.span()
        if _free_before(text, at, version) and _free_after(text, end):
            yield at, end
        found = candidates.search(text, at + 1)


@lru_cache(maxsize=256)
def _candidates(token: str, version: bool) -> re.Pattern[str]:
    """Where a token stands with no letter beside it; the token comes first, for that is what is scanned for fast."""
    before = "" if version else rf"(?<!\w.{{{len(token)}}})"
    return re.compile(rf"{re.escape(token)}{before}(?!\w)", re.DOTALL)


def holds(text: str, token: str) -> bool:
    """Whether `token` stands as a whole token in `text`, neither prepared."""
    text, token = prepared(text), prepared(token.strip())
    if next(occurrences(text, token), None):
        return True
    joined = _SPACED.sub(lambda m: m[0].replace(" ", ""), text)
    return joined != text and next(occurrences(joined, token), None) is not None


_WIDE = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)} | {0x3000: " ", 0xFF0D: "-"}


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_" or unicodedata.category(char)[0] == "M"


def _free_before(text: str, at: int, version: bool) -> bool:
    if at == 0:
        return True
    char = text[at - 1]
    if version and char == "v":
        return _free_before(text, at - 1, version=False)
    return not (_is_word(char) or char == "." or char in _DASHES)


def _free_after(text: str, end: int) -> bool:
    if end == len(text):
        return True
    char = text[end]
    if _is_word(char) or char in _DASHES:
        return False
    return not (char == "." and text[end + 1 : end + 2].isdigit())
