"""`language:response_language`: the whole reply in one language.

Fixed: no library and nothing random. The script must be the language's; among languages of one script the function
words and letters of their own decide, for the reply as a whole and for every sentence that is long enough to tell.
Foreign names and terms are no fault; a sentence of another language is, and a reply in which nothing tells fails.
Published: whatever langdetect guesses from the first characters; a text with nothing to go by passes.
Not covered: what stands after the first 50,000 characters; languages outside the lists of `language_words` are refused
at load.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache

from steelyard.errors import InputError, did_you_mean
from steelyard.parsing.instructions import libraries
from steelyard.parsing.instructions.kind import Arguments, Kind
from steelyard.parsing.instructions.language_words import (
    ALONE,
    ENDINGS,
    LETTERS,
    SCRIPTS,
    SHARED,
    SIMPLIFIED,
    TRADITIONAL,
    WORDS,
)

_LEAST_SHARE = 0.6
_SENTENCE_WORDS = 6
_LITTLE = 3.0
_SHORT_WORD = 3
_MOST_CHARACTERS = 50_000
_SCRIPT = {name: re.compile(f"[{ranges}]") for name, ranges in SCRIPTS.items()}
_WORD = re.compile(r"[^\W\d_]+(?:[\u0300-\u036f\u0610-\u065f\u0900-\u0903\u093a-\u094f\u200c\u200d'’]+[^\W\d_]*)*")
_SENTENCE = re.compile(r"\n|(?<=[.!?。！？।])\s")
_NOISE = re.compile(r"https?://\S+|[^\s@]{1,64}@[^\s@]{1,255}|`[^`\n]*`|<[^<>\n]{1,80}>")
_CHINESE = {"zh-cn": SIMPLIFIED, "zh-tw": TRADITIONAL}
LANGUAGES = frozenset([*ALONE, *SHARED, *WORDS, *_CHINESE, "ja", "zh"])
"""Codes of the languages that can be asked for."""


class _Language(Arguments, frozen=True):
    language: str


def _response_language(reply: str, asked: _Language) -> str | None:
    text = _NOISE.sub(" ", reply[:_MOST_CHARACTERS])
    found = language_of(text)
    if found != asked.language and not _could_be(text, asked.language):
        return f"reads as {found or 'no language that can be told'}"
    for line in _SENTENCE.split(text):
        if len(_WORD.findall(line)) >= _SENTENCE_WORDS and not _may_be(line, asked.language):
            return f"a sentence reads as another language: {line.strip()[:60]!r}"
    return None


def language_of(text: str) -> str | None:
    """The code of the language that a text is written in, or None where nothing tells."""
    script = _script(text)
    if script in ("han", "kana"):
        return _east_asian(text)
    alone = next((code for code, own in ALONE.items() if own == script), None)
    if alone or script is None:
        return alone
    scores = _scores(text, script)
    best = max(scores, key=lambda code: (scores[code], code == "en"), default=None)
    return best if best and scores[best] > 0 else None


def _could_be(text: str, language: str) -> bool:
    """Whether a text that reads as another language may be this one: too little tells, and it is not behind."""
    script = _script(text)
    if script in ("han", "kana"):
        found = _east_asian(text)
        return found in _CHINESE and (language == "zh" or (language in _CHINESE and not _differ(text)))
    if script is None or language not in WORDS or SHARED.get(language, "latin") != script:
        return False
    scores = _scores(text, script)
    best = max(scores.values())
    if best <= 0:
        return script != "latin" and scores[language] >= best
    return best < _LITTLE and scores[language] >= 0.8 * best


def _differ(text: str) -> bool:
    """Whether any character of a Chinese text is written in one way only."""
    return any(char in text for char in SIMPLIFIED + TRADITIONAL)


def _script(text: str) -> str | None:
    """The script of most letters; kana among Han characters make it Japanese."""
    counts = {name: len(pattern.findall(text)) for name, pattern in _SCRIPT.items()}
    if counts["kana"] * 8 >= counts["han"] > 0:
        counts["kana"] += counts["han"]
    best = max(counts, key=counts.__getitem__)
    weight = 2 if best in ("han", "kana", "hangul") else 1  # one such character says as much as two letters
    return best if counts[best] and counts[best] * weight >= _LEAST_SHARE * sum(counts.values()) else None


def _east_asian(text: str) -> str:
    if _script(text) == "kana":
        return "ja"
    simplified, traditional = (sum(map(text.count, chars)) for chars in (SIMPLIFIED, TRADITIONAL))
    return "zh-tw" if traditional > simplified else "zh-cn"


def _scores(text: str, script: str) -> dict[str, float]:
    scores: dict[str, float] = dict.fromkeys((c for c in WORDS if SHARED.get(c, "latin") == script), 0.0)
    lowered = text.lower().replace("’", "'")
    for word in _WORD.findall(lowered):
        for code, weight in _weights().get(word, ()):
            if code in scores:
                scores[code] += weight
        for code, endings in ENDINGS.items() if script == "devanagari" else ():
            scores[code] += 0.5 * (len(word) > _SHORT_WORD and word.endswith(endings))
    for letter, owners in _owners()[script].items():
        count = lowered.count(letter)
        for code in scores if count else ():
            scores[code] += count * (0.5 / len(owners) if code in owners else -0.25)
    return scores


@cache
def _owners() -> dict[str, dict[str, list[str]]]:
    """Script -> letter -> the languages that use it."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for code, letters in LETTERS.items():
        for letter in letters:
            found[SHARED.get(code, "latin")][letter].append(code)
    return found


@cache
def _weights() -> dict[str, list[tuple[str, float]]]:
    """Function word -> the languages it belongs to, each with one over how many of one script share it."""
    owners: dict[tuple[str, str], list[str]] = defaultdict(list)
    for code, listed in WORDS.items():
        for word in dict.fromkeys(listed.split()):
            owners[word, SHARED.get(code, "latin")].append(code)
    weights: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for (word, _), codes in owners.items():
        weights[word] += [(code, 1 / len(codes)) for code in codes]
    return weights


def _may_be(line: str, language: str | None) -> bool:
    """Whether a line that is long enough to tell can be of the language: another one must lead clearly."""
    script = _script(line)
    if script is None or language is None:
        return True
    own = ALONE.get(language) or SHARED.get(language) or ("latin" if language in WORDS else None)
    if own is None:  # Chinese and Japanese
        return script in ("han", "kana") or max(_scores(line, script).values(), default=0.0) < 2
    if script != own:
        scores = _scores(line, script)
        return bool(scores) and max(scores.values()) < 2
    if language in ALONE:
        return True
    scores = _scores(line, script)
    return max(scores.values()) <= max(2.0, 2 * scores[language])


def _published_language(reply: str, asked: _Language, _seed: str) -> bool:
    return libraries.detected_language(reply) in (asked.language, None)


def _check_language(asked: _Language) -> None:
    if asked.language not in LANGUAGES:
        raise InputError(f'unknown language "{asked.language}"{did_you_mean(asked.language, LANGUAGES)}')


KINDS = {
    "language:response_language": Kind(
        _Language, _response_language, _published_language, needs=("langdetect",), check=_check_language
    )
}
