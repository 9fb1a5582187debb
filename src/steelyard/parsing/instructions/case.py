"""`change_case:*`: all capitals, no capitals, and words in capitals to count.

Fixed: letters alone decide; no language is guessed, and a reply without any cased letter follows neither.
Published: the language must be guessed as English too, so short texts fail at random; words are nltk's tokens.
"""

from __future__ import annotations

from steelyard.parsing.instructions import libraries
from steelyard.parsing.instructions.kind import Arguments, Kind, Relation, counted, holds
from steelyard.parsing.instructions.words import is_capital, words


class _CapitalWords(Arguments, frozen=True):
    capital_frequency: int
    capital_relation: Relation


def _capital(reply: str, _asked: Arguments) -> str | None:
    return None if reply.isupper() else _wrong_case(reply, str.isupper, "capital")


def _lowercase(reply: str, _asked: Arguments) -> str | None:
    return None if reply.islower() else _wrong_case(reply, str.islower, "lower-case")


def _wrong_case(reply: str, right: object, name: str) -> str:
    wrong = next((c for c in reply if (c.islower() or c.isupper() or c.istitle()) and not right(c)), None)  # type: ignore[operator]
    return f"{wrong!r} is no {name} letter" if wrong else f"holds no {name} letter"


def _capital_words(reply: str, asked: _CapitalWords) -> str | None:
    count = sum(map(is_capital, words(reply)))
    return counted("words in capitals", count, asked.capital_relation, asked.capital_frequency)


def _guessed_english(reply: str) -> bool:
    return libraries.detected_language(reply) in ("en", None)


def _published_capital(reply: str, _asked: Arguments, _seed: str) -> bool:
    return reply.isupper() and _guessed_english(reply)


def _published_lowercase(reply: str, _asked: Arguments, _seed: str) -> bool:
    return reply.islower() and _guessed_english(reply)


def _published_capital_words(reply: str, asked: _CapitalWords, _seed: str) -> bool:
    count = sum(map(str.isupper, libraries.treebank_words(reply)))
    return holds(count, asked.capital_relation, asked.capital_frequency)


KINDS = {
    "change_case:english_capital": Kind(Arguments, _capital, _published_capital, needs=("langdetect",)),
    "change_case:english_lowercase": Kind(Arguments, _lowercase, _published_lowercase, needs=("langdetect",)),
    "change_case:capital_word_frequency": Kind(
        _CapitalWords, _capital_words, _published_capital_words, needs=("nltk",)
    ),
}
