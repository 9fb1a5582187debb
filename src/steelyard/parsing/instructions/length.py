"""`length_constraints:*`: words, sentences, paragraphs, and how the nth paragraph begins.

Fixed: words and sentences as a reader counts them; `***` parts paragraphs only as a divider on a line of its own;
blank chunks are no paragraphs, so the nth paragraph is the nth that holds text, and it may have to begin with several
words. An empty paragraph between two dividers fails.
Published: words are runs of word characters, sentences are Punkt's, `***` parts anywhere, and the nth chunk is taken
with blank ones counted, its first word cut at the first mark.
"""

from __future__ import annotations

import re

from steelyard.errors import InputError
from steelyard.parsing.instructions import libraries
from steelyard.parsing.instructions.kind import Arguments, Kind, Relation, counted, holds
from steelyard.parsing.instructions.markdown import is_divider, lines
from steelyard.parsing.instructions.sentences import sentence_count
from steelyard.parsing.instructions.words import folded, has_text, plain, stands_whole, words

_BLANK_LINES = re.compile(r"\n[^\S\n]*\n")
_FIRST_LETTER = re.compile(r"[\W_]*")
_WORD_RUN = re.compile(r"\w+")


class _Words(Arguments, frozen=True):
    num_words: int
    relation: Relation


class _Sentences(Arguments, frozen=True):
    num_sentences: int
    relation: Relation


class _Paragraphs(Arguments, frozen=True):
    num_paragraphs: int


class _FirstWord(Arguments, frozen=True):
    num_paragraphs: int
    nth_paragraph: int
    first_word: str


def _words(reply: str, asked: _Words) -> str | None:
    return counted("words", len(words(reply)), asked.relation, asked.num_words)


def _sentences(reply: str, asked: _Sentences) -> str | None:
    return counted("sentences", sentence_count(reply), asked.relation, asked.num_sentences)


def _paragraphs(reply: str, asked: _Paragraphs) -> str | None:
    chunks: list[list[str]] = [[]]
    shown = lines(reply)
    for line, source in zip(shown, reply.replace("\r\n", "\n").replace("\r", "\n").split("\n"), strict=True):
        if is_divider(line):
            chunks.append([])
        else:
            chunks[-1].append(source)
    filled = [bool("".join(chunk).strip()) for chunk in chunks]
    if not all(filled[1:-1]):
        return "an empty paragraph stands between two dividers"
    return _exactly(sum(filled), asked.num_paragraphs)


def _first_word(reply: str, asked: _FirstWord) -> str | None:
    chunks = [c for c in _BLANK_LINES.split(reply.replace("\r\n", "\n").replace("\r", "\n")) if c.strip()]
    if len(chunks) != asked.num_paragraphs:
        return _exactly(len(chunks), asked.num_paragraphs)
    text, first = plain(chunks[asked.nth_paragraph - 1]), folded(asked.first_word)
    if not (text.startswith(first) and stands_whole(text, 0, len(first))):
        mark = _FIRST_LETTER.match(text)
        text = text[mark.end() :] if mark else text
    if text.startswith(first) and stands_whole(text, 0, len(first)) and not _compound(text, len(first)):
        return None
    return f"paragraph {asked.nth_paragraph} begins with {text[:40]!r}"


def _compound(text: str, end: int) -> bool:
    """Whether a hyphen joins the word that ends here to another."""
    return text[end : end + 1] == "-" and text[end + 1 : end + 2].isalnum()


def _exactly(count: int, asked: int) -> str | None:
    return None if count == asked else f"{count} paragraphs where exactly {asked} was asked"


def _published_words(reply: str, asked: _Words, _seed: str) -> bool:
    return holds(sum(1 for _ in _WORD_RUN.finditer(reply)), asked.relation, asked.num_words)


def _published_sentences(reply: str, asked: _Sentences, _seed: str) -> bool:
    return holds(libraries.punkt_sentences(reply), asked.relation, asked.num_sentences)


def _published_paragraphs(reply: str, asked: _Paragraphs, _seed: str) -> bool:
    filled = [bool(chunk.strip()) for chunk in reply.split("***")]
    return all(filled[1:-1]) and sum(filled) == asked.num_paragraphs


def _published_first_word(reply: str, asked: _FirstWord, _seed: str) -> bool:
    chunks = reply.split("\n\n")
    filled = sum(bool(chunk.strip()) for chunk in chunks)
    if filled != asked.num_paragraphs or asked.nth_paragraph > filled:
        return False
    opening = chunks[asked.nth_paragraph - 1].split(maxsplit=1)
    if not opening:
        return False
    word = re.split(r"[.,?!'\"]", opening[0].lstrip("'").lstrip('"'), maxsplit=1)[0]
    return word.lower() == asked.first_word.lower()


def _check_first_word(asked: _FirstWord) -> None:
    if not 1 <= asked.nth_paragraph <= asked.num_paragraphs:
        raise InputError(f"nth_paragraph {asked.nth_paragraph} is not one of {asked.num_paragraphs} paragraphs")
    if not has_text(asked.first_word):
        raise InputError(f"first_word must hold a letter or a digit, got {asked.first_word!r}")


KINDS = {
    "length_constraints:number_words": Kind(_Words, _words, _published_words),
    "length_constraints:number_sentences": Kind(_Sentences, _sentences, _published_sentences, needs=("nltk",)),
    "length_constraints:number_paragraphs": Kind(_Paragraphs, _paragraphs, _published_paragraphs),
    "length_constraints:nth_paragraph_first_word": Kind(
        _FirstWord, _first_word, _published_first_word, check=_check_first_word
    ),
}
