"""The two libraries that the published runner counts and guesses with, loaded on first use and never by the fixed mode.

`langdetect` 1.0.9 guesses a language at random unless it is seeded, so its seed is set to 0; `nltk` needs the data
package `punkt_tab`, found through the environment variable `NLTK_DATA`. Nothing is downloaded.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from steelyard.errors import InputError


def require(name: str) -> None:
    """Loads a library and its data; InputError says how to install what is missing."""
    if name == "nltk":
        _punkt()
    else:
        _langdetect()


def detected_language(text: str) -> str | None:
    """The code that langdetect gives to the language of a text; None where it finds nothing to go by."""
    library = _langdetect()
    try:
        return str(library.detect(text))
    except library.LangDetectException:
        return None


def punkt_sentences(text: str) -> int:
    """How many sentences nltk's trained Punkt finds."""
    return len(_punkt().tokenize(text))


def treebank_words(text: str) -> list[str]:
    """The tokens of nltk's word_tokenize."""
    _punkt()
    import nltk

    return list(nltk.word_tokenize(text))


@cache
def _langdetect() -> Any:
    try:
        import langdetect
    except ImportError as error:
        raise InputError(_missing("langdetect")) from error
    langdetect.DetectorFactory.seed = 0
    return langdetect


@cache
def _punkt() -> Any:
    try:
        from nltk.tokenize.punkt import PunktTokenizer
    except ImportError as error:
        raise InputError(_missing("nltk")) from error
    try:
        return PunktTokenizer("english")
    except LookupError as error:
        raise InputError(
            'ifeval in mode "reference" counts sentences with nltk\'s data package punkt_tab, which is not there; '
            'put it into a folder named by NLTK_DATA, or use mode "fixed"'
        ) from error


def _missing(name: str) -> str:
    return (
        f'ifeval in mode "reference" needs {name}, which is not installed; '
        'pip install "steelyard[ifeval-reference]", or use mode "fixed"'
    )
