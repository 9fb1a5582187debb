"""Words of a reply as a reader counts them, and whole-word occurrences of a term.

A word is what white space, a long dash, an ellipsis or an unspaced comma sets off, when it holds a letter or a digit:
`well-known`, `don't`, `3.5` and `U.S.` are one word each. Han and kana have no spaces: each character is a word there.
A term stands whole where no letter, digit or combining mark is glued to it; an underscore is decoration.
Case, quotation marks, hyphens, invisible characters, white space and emphasis inside a term do not count.
Not covered: words of Thai, Lao, Khmer and Burmese (a run between spaces is one word), and inflected forms of a term.
Easy to break: linear time.
"""

from __future__ import annotations

import re
import unicodedata

_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
_MARKS = str.maketrans(
    {**dict.fromkeys("\u2018\u2019\u02bc", "'"), **dict.fromkeys("\u201c\u201d", '"'), "\u2010": "-", "\u2011": "-"}
)
_EMPHASIS = re.compile(r"\*\*+|(?<![^\W_])\*|\*(?![^\W_])")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]"
)
_CHARACTER_WORDS = re.compile(
    "([\u3005-\u3007\u3041-\u3096\u30a1-\u30fa\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff])"
)
_BREAK = re.compile(r"[\s—―…]+|--+|\.{2,}|(?<=[^\W\d_])[–,;!?](?=[^\W\d_])")
_POSSESSIVE = re.compile(r"['’]s?$")


def words(text: str) -> list[str]:
    """The words of a text, with whatever punctuation is glued to them."""
    spaced = text if text.isascii() else _CHARACTER_WORDS.sub(r" \1 ", text)
    return [piece for piece in _BREAK.split(spaced) if piece.isalnum() or any(map(str.isalnum, piece))]


def is_capital(word: str) -> bool:
    """Whether every cased letter of a word is a capital and there is one; a possessive s does not count."""
    if not any(map(str.isupper, word)):
        return False
    end = len(word)
    while not word[end - 1].isalnum():
        end -= 1
    return _POSSESSIVE.sub("", word[:end]).isupper()


def folded(text: str) -> str:
    """`text` in the form in which terms are sought."""
    text = _INVISIBLE.sub("", unicodedata.normalize("NFC", text)).translate(_MARKS)
    return " ".join(text.casefold().split())


def unemphasised(text: str) -> str:
    """`text` without asterisks and ticks that only decorate."""
    return _EMPHASIS.sub("", text).replace("`", "")


def plain(text: str) -> str:
    """`text` folded and without decoration."""
    return folded(unemphasised(text))


def term_count(reply: str, term: str) -> int:
    """How often a term stands whole in a reply, without overlaps."""
    sought = folded(term)
    text = folded(reply) if "*" in sought or "`" in sought else plain(reply)
    count, at = 0, text.find(sought)
    while at >= 0:
        end = at + len(sought)
        whole = stands_whole(text, at, end)
        count += whole
        at = text.find(sought, end if whole else at + 1)
    return count


def stands_whole(text: str, start: int, end: int) -> bool:
    """Whether no word goes on across either edge of text[start:end]."""
    return not (start and _joined(text[start - 1], text[start])) and not (
        end < len(text) and _joined(text[end], text[end - 1])
    )


def has_text(text: str) -> bool:
    """Whether a text holds a letter, a digit or a pictograph."""
    return any(char.isalnum() or unicodedata.category(char) == "So" for char in text)


def _joined(neighbour: str, edge: str) -> bool:
    """Whether a neighbour character continues the word that ends in `edge`."""
    if not _is_word(neighbour) or not _is_word(edge):
        return False
    return not (_UNSPACED.match(neighbour) or _UNSPACED.match(edge))


def _is_word(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char)[0] == "M"
