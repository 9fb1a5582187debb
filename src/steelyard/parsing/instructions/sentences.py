"""How many sentences a text holds, without a trained model.

A sentence ends at `.`, `!`, `?`, an ellipsis or their kin of other scripts, with closing quotes and brackets after it,
before white space or the end. What stands after the last end counts as one when it holds a letter or a digit.
No sentence ends at a full stop after a title (`Dr.`), an initial (`J. Smith`), a list number or an abbreviation that
the sentence goes on after; nor at a mark before a lower-case word (`"Really?" she said`), unless half of the sentences
begin so. A line break alone ends nothing: headings and list items without a stop run on, as in Punkt.
Source: the classes of Punkt (Kiss & Strunk 2006), with fixed lists in place of training.
Not covered: abbreviations that are not listed and stand before a capital.
Easy to break: linear time; a look goes one word back and one forward.
"""

from __future__ import annotations

import re

from steelyard.parsing.instructions.words import has_text

_END = re.compile(r"[.!?…]+[\"'”’)\]»*_`]*(?=\s|$)|[。！？।॥۔؟]+[\"'”’)\]»」』*_`]*")


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TITLES = _listed(
    "mr mrs ms mx dr prof rev hon st mt ft gen col capt lt sgt maj sen rep gov pres messrs vs v cf e.g i.e eg ie "
    "approx ca resp incl esp viz"
)
_BEFORE_NUMBERS = _listed("no nos nr fig figs eq vol p pp ch sec art par")
_GO_ON = _listed(
    "etc inc ltd co corp llc jr sr a.m p.m u.s u.k u.n e.u d.c ph.d m.d b.a m.a b.sc m.sc ave blvd rd dept univ est "
    "jan feb apr jun jul aug sep sept oct nov dec mon tue wed thu fri al p.s p.p.s"
)
_STARTERS = _listed(
    "the it he she they we i you this that these those there here in on at as but and so then a an if when what who "
    "why how where while after before for to my our your his her its their however no yes"
)
_WORD_BEFORE = re.compile(r"[^\s\"'“‘(\[*_]*$")
_REACH = 40


def sentence_count(text: str) -> int:
    """How many sentences stand in a text."""
    ends = [(end, _following(text, end.end())) for end in _END.finditer(text)]
    first_letters = [word[0] for end, word in ends if word and word[0].isalpha() and end[0] in (".", "!", "?")]
    lower_case = 2 * sum(map(str.islower, first_letters)) >= max(1, len(first_letters))
    count = start = last = 0
    filled = False
    for end, word in ends:
        filled = filled or has_text(text[last : end.start()])
        last = end.end()
        if filled and _ends(text, start, end, word, lower_case):
            count, start, filled = count + 1, last, False
    return count + (filled or has_text(text[last:]))


def _following(text: str, at: int) -> str:
    """The first word after a stop, without quotation marks and emphasis before it."""
    following = text[at : at + _REACH].split(maxsplit=1)
    return following[0].lstrip("\"'“‘(*_`") if following else ""


def _ends(text: str, start: int, end: re.Match[str], after: str, lower_case: bool) -> bool:
    new_line = "\n" in text[end.end() : end.end() + 3]
    if not after:
        return True
    if after[0].islower() and not new_line and not (lower_case and end[0] in (".", "!", "?")):
        return False
    if end[0][0] != "." or end[0].startswith(".."):
        return True
    found = _WORD_BEFORE.search(text, max(start, end.start() - _REACH), end.start())
    word = found[0] if found else ""
    name = word.lower()
    if name in _TITLES or (name in _BEFORE_NUMBERS and after[0].isdigit()):
        return False
    if name in _GO_ON or (len(word) > 1 and _is_dotted(word)):
        return new_line or after.strip(",.;:").lower() in _STARTERS
    if word.isdigit() and len(word) <= 3:
        before = text[max(start, end.start() - _REACH) : end.start() - len(word)]
        return has_text(before) and not before.rstrip(" \t*_>").endswith("\n")
    if len(word) == 1 and word.isupper():
        return _after_initial(text, start, end.start() - 1, word, after)
    return True


def _is_dotted(word: str) -> bool:
    """Whether a word is letters with stops between them (`U.S`)."""
    return all(len(part) == 1 and part.isalpha() for part in word.split("."))


def _after_initial(text: str, start: int, at: int, word: str, after: str) -> bool:
    """Whether a stop after a single capital ends a sentence: `Plan B. We left` does, `J. Smith` does not."""
    if after.strip(",.;:").lower() in _STARTERS:
        return True
    before = text[max(start, at - _REACH) : at].split()
    return word == "I" or (bool(before) and not before[-1][0].isupper())
