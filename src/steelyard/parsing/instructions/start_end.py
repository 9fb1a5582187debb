"""`startend:*`: the phrase that a reply ends with, and quotation marks around all of it.

Fixed: only marks may follow the end phrase, and it stands whole; straight or curly double quotation marks hold some
text and close only at the very end (`"Yes" she said "no"` is not one quotation).
Published: the reply without quotation marks around it ends with the phrase; its first and last character are `"`.
"""

from __future__ import annotations

import re

from steelyard.errors import InputError
from steelyard.parsing.instructions.kind import Arguments, Kind
from steelyard.parsing.instructions.words import folded, has_text, plain, stands_whole

_OPENING, _CLOSING = '"“„＂', '"”“＂'
_QUOTES = re.compile('["“”„＂]')


class _EndPhrase(Arguments, frozen=True):
    end_phrase: str


def _end(reply: str, asked: _EndPhrase) -> str | None:
    phrase = folded(asked.end_phrase)
    text = folded(reply) if "*" in phrase or "`" in phrase else plain(reply)
    at = text.rfind(phrase)
    if at >= 0 and stands_whole(text, at, at + len(phrase)):
        rest = text[at + len(phrase) :]
        return None if not any(map(str.isalnum, rest)) else f"{rest[:40]!r} follows the phrase"
    return f"ends with {text[-40:]!r}"


def _quotation(reply: str, _asked: Arguments) -> str | None:
    text = reply.strip()
    if len(text) < 2 or text[0] not in _OPENING or text[-1] not in _CLOSING:
        return "no double quotation marks around the whole reply"
    if not has_text(text[1:-1]):
        return "the quotation marks hold nothing"
    return _closes_early(text)


def _closes_early(text: str) -> str | None:
    """What is wrong when the first quotation mark is closed before the end; marks that may be either are left out."""
    depth = 1
    for mark in _QUOTES.finditer(text, 1, len(text) - 1):
        before, after = text[mark.start() - 1], text[mark.end()]
        if mark[0] in "“„" and not (mark[0] == "“" and text[0] == "„"):
            depth += 1
        elif mark[0] in "”“":
            depth -= 1
        elif (before.isspace() or before in "([{—–-") and not after.isspace():
            depth += 1
        elif not before.isspace() and not before.isdigit() and not after.isalnum():
            depth -= 1
        if depth == 0:
            return f"the quotation ends at character {mark.start()}"
    return None


def _published_end(reply: str, asked: _EndPhrase, _seed: str) -> bool:
    return reply.strip().strip('"').lower().endswith(asked.end_phrase.strip().lower())


def _published_quotation(reply: str, _asked: Arguments, _seed: str) -> bool:
    text = reply.strip()
    return len(text) > 1 and text[0] == text[-1] == '"'


def _check_end(asked: _EndPhrase) -> None:
    if not has_text(asked.end_phrase):
        raise InputError(f"end_phrase must hold some text, got {asked.end_phrase!r}")


KINDS = {
    "startend:end_checker": Kind(_EndPhrase, _end, _published_end, check=_check_end),
    "startend:quotation": Kind(Arguments, _quotation, _published_quotation),
}
