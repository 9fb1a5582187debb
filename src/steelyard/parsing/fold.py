"""Folding text for comparison: the differences that never carry meaning, and no others.

Folded: canonical forms, ligatures, widths, fonts and unit signs (NFKC), full case folding, runs of white space, dashes,
quotation marks, invisible characters (Unicode's default-ignorable), one full stop at the very end.
Kept: superscripts, subscripts, fractions, circled digits, every sign and every other punctuation mark.
Source: Unicode Standard Annex 15 (normal forms), DerivedCoreProperties (Default_Ignorable_Code_Point).
Easy to break: `fold(fold(x)) == fold(x)` but for a second full stop; NFKC as a whole would turn 10² into 102.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_KEPT = ("<super>", "<sub>", "<fraction>", "<circle>")
_MARKS = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u02bc", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
    }
)


def fold(text: str) -> str:
    """`text` in the form in which two texts are compared."""
    text = " ".join(_normal(text).split())
    if len(text) > 1 and text[-1] in ".。":
        text = text[:-1].rstrip()
    return text


def _normal(text: str) -> str:
    if text.isascii():
        return text.lower()
    text = _INVISIBLE.sub("", text)
    text = unicodedata.normalize("NFC", "".join(map(_compatible, unicodedata.normalize("NFC", text))))
    return unicodedata.normalize("NFC", text.casefold()).translate(_MARKS)


@lru_cache(maxsize=4096)
def _compatible(char: str) -> str:
    """NFKC of one character, unless that changes what it says."""
    parts = unicodedata.decomposition(char)
    if parts.startswith(_KEPT):
        return char
    if parts.startswith("<") and len(parts.split()) > 2:  # a sign such as ㎡ is made of an m and a ², which stays
        return "".join(_compatible(chr(int(code, 16))) for code in parts.split()[1:])
    normal = unicodedata.normalize("NFKC", char)
    return char if len(normal) > 1 and normal[0] == " " else normal
