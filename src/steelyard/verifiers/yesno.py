"""`yesno`: which side of a yes/no question the reply commits to.

`yes` and `no` list the words of each side. Reading: marked answers first (`Answer: no`); else the last word that
stands as an answer of its own (`No, ...`, `...: yes`), an everyday one too (`nope`, `not at all`, `absolutely`)
where `yes` or `no` is listed; else the last listed word, a denied one counting for the other side (`they do not
conjunct` is no). `no` before a noun (`no manoeuvre`) answers only where nothing else does. A word that is asked
(`no?`) is no answer.
Not covered: hedges that lean to neither side (`not necessarily`); sides that only knowledge tells (`they collide`).
Easy to break: seed 000 took the first listed word, so `There is no doubt: yes` was no; those cases are tests.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Literal

import msgspec

from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.parsing.markers import lowered
from steelyard.parsing.negation import stance
from steelyard.parsing.prose import Candidate, committed, final_part, is_refusal
from steelyard.verdict import PASSED, Reading, Unread, Verdict, failed
from steelyard.verifiers.contract import NO_ANSWER, Config, Spoil, Verifier

Side = Literal["yes", "no"]


class YesNoConfig(Config, frozen=True):
    """The words of each side, in any case; the first of each is the plainest."""

    yes: list[str] = msgspec.field(default_factory=lambda: ["yes", "true"])
    no: list[str] = msgspec.field(default_factory=lambda: ["no", "false"])


_OPENS = re.compile(
    r"(?:^|[.!?:;\n。！？：]|[—–,]\s|=|->|→)[\s*_`\"'“‘$({\[\\#>-]*$|\\(?:text|boxed|mathrm|textbf)\{\s*$"
)
_CLOSES = re.compile(r"[\s*_`\"'”’$)}\]\\]*(?:[.,!:;—–\n。，！、]|\s[-–—]\s|$)")
_NO_NOUN = re.compile(r"\s+(?!(?:i|it|they|we|you|he|she|the|there|this|that|these|those)\b)[a-z]")
_NO_ANSWER = re.compile(
    r"\s+(?:doubt|question|idea|way|information|data|answer|clue|matter|longer|wonder|mistake|one|problem|evidence"
    r"|reason)\b"
)
_UNCLEAR = re.compile(r"\s*(?:whether|if|that|how|what|which|why|who|when|from|enough|to me|yet)\b")
_EVERYDAY: dict[Side, str] = {
    "yes": r"ye(?:p|ah|ss+)|yup|aye|affirmative|that(?:['’]s| is) (?:right|correct|true)|i (?:do )?think so"
    r"|i believe so|indeed(?: (?:it|they) (?:is|are|does|do))?|(?:very )?(?:likely|probably) (?:so|yes)"
    r"|without (?:a |any )?doubt|no doubt(?: about (?:it|that))?|ja|oui|sí|sì|sim|да|是的?|はい|네|예",
    "no": r"nope|nah|nay|negative|not? (?:at all|really|in the (?:least|slightest)|so|quite|true|correct|right|a chance"
    r"|by any means|ever)|by no means|(?:in )?no way|under no circumstances|never|hardly|far from it"
    r"|on the contrary"
    r"|i (?:do not|don['’]t) (?:think|believe) so|i think not|incorrect|wrong"
    r"|that(?:['’]s| is) (?:wrong|incorrect|false)"
    r"|(?:absolutely|most certainly|certainly|definitely|decidedly|emphatically|unfortunately|sadly|alas|regrettably"
    r"|i['’]m afraid|of course|surely|clearly|obviously|evidently|apparently|actually|probably|most likely),? not"
    r"|nein|non|não|нет|否|不是|いいえ|아니요",
}
"""Answers of everyday speech that stand as a sentence or clause of their own."""
_KEEN = (
    r"absolutely|certainly|definitely|of course|surely|sure|indeed|right|exactly|correct|totally|undoubtedly"
    r"|unquestionably|without question|by all means|precisely"
)
"""They say yes too, but often only greet the question (`Certainly! Let me look.`)."""
_GREETS = re.compile(
    r"[\s.,!:;—–*_-]*(?:let['’]?s?|here|i|to|we|first|happy|below|looking|glad|please|so|based|given|in order|using"
    r"|step|what|the (?:answer|question|short))\b"
)
_DECORATION = " \t\n*_`\"'“‘>#"
_UNSURE = re.compile(
    r"(?:\bcan(?:not| not|['’]t)|\bcould(?: not|n['’]t)|unable to|hard to|difficult to|impossible to)"
    r" (?:say|tell|answer|confirm|determine|decide)[^.;\n]{0,20}$"
)
_WIDE = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
_WHOLE = frozenset({"bold", "last-line", "whole"})
_MOST = 200
_LOOK = 20
_REACH = 10_000
_OF_ITS_OWN = 3


@lru_cache(maxsize=64)
def _everyday(sides: tuple[Side, ...]) -> re.Pattern[str]:
    """A pattern of the everyday answers of these sides; the group says which side."""
    keen = rf"|(?P<keen>{_KEEN})" if "yes" in sides else ""
    return re.compile(rf"(?<![\w'’-])(?:{'|'.join(f'(?P<{s}>{_EVERYDAY[s]})' for s in sides)}{keen})(?![\w'’-])")


@lru_cache(maxsize=256)
def _words(yes: tuple[str, ...], no: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str], frozenset[str]]:
    """Patterns for one listed word and for both sides offered at once, and the words of the yes side."""
    listed = "|".join(re.escape(word.lower()) for word in sorted((*yes, *no), key=len, reverse=True))
    word = re.compile(rf"(?<![\w'’-])(?:{listed})(?![\w'’-])")
    offered = re.compile(rf"(?<!\w)(?:{listed})[\"'”’*]?\s*(?:/|\bor\b|\band\b|\|)\s*[\"'“‘*]?(?:{listed})(?!\w)")
    return word, offered, frozenset(word.lower() for word in yes)


def _read(attempt: Attempt, config: YesNoConfig) -> Reading | Unread:
    part = final_part(attempt.answer)
    if not part.text.strip():
        return Unread(part.reason or "the answer is empty")
    for candidate in committed(part):
        if candidate.rule in ("bold", "last-line"):
            continue
        found = _side(candidate, config)
        if found:
            side, start, end, rule = found
            at = candidate.span[0]
            return Reading(side, rule if candidate.rule in _WHOLE else candidate.rule, (at + start, at + end))
        if candidate.rule not in _WHOLE and is_refusal(candidate.text):
            return Unread("the reply says that it has no answer")
    return Unread("no word of either side is asserted")


def _side(candidate: Candidate, config: YesNoConfig) -> tuple[Side, int, int, str] | None:
    low = lowered(candidate.text)
    low = low if low.isascii() else low.translate(_WIDE)
    word, offered, yes = _words(tuple(config.yes), tuple(config.no))
    skipped = [match.span() for match in offered.finditer(low)]
    best: tuple[int, Side, int, int, str] | None = None
    for match in deque(word.finditer(low), maxlen=_MOST):
        start, end = match.span()
        if any(a <= start < b for a, b in skipped):
            continue
        weighed = _weigh(low, start, end, match[0], yes)
        if weighed and (best is None or weighed[0] >= best[0]):
            best = (*weighed[:2], start, end, weighed[2])
    if best is None or best[0] < _OF_ITS_OWN:
        best = _said_otherwise(low, config) or best
    return best[1:] if best else None


def _said_otherwise(low: str, config: YesNoConfig) -> tuple[int, Side, int, int, str] | None:
    """The last everyday answer, of the sides whose plain word is listed."""
    listed: dict[Side, list[str]] = {"yes": config.yes, "no": config.no}
    sides = tuple(side for side, words in listed.items() if side in map(str.lower, words))
    if not sides:
        return None
    found: tuple[int, Side, int, int, str] | None = None
    for match in _near_the_ends(_everyday(sides), low):
        start, end = match.span()
        if not _OPENS.search(low, max(0, start - _LOOK), start) or not _CLOSES.match(low, end) or _is_asked(low, end):
            continue
        if match.lastgroup != "keen" or (not low[:start].strip(_DECORATION) and not _GREETS.match(low, end)):
            found = (_OF_ITS_OWN, "no" if match.lastgroup == "no" else "yes", start, end, "answer")
    return found


def _near_the_ends(pattern: re.Pattern[str], low: str) -> Iterator[re.Match[str]]:
    """Matches in the first and the last part of a text: an answer opens or closes a reply."""
    yield from pattern.finditer(low, 0, _REACH)
    if len(low) > _REACH:
        yield from pattern.finditer(low, max(_REACH, len(low) - _REACH))


def _weigh(low: str, start: int, end: int, word: str, yes: frozenset[str]) -> tuple[int, Side, str] | None:
    """How much one listed word counts, for which side, and by which rule; None when it commits to neither."""
    side: Side = "yes" if word in yes else "no"
    other: Side = "no" if side == "yes" else "yes"
    if _is_asked(low, end):
        return None
    if word in ("no", "yes"):
        if _OPENS.search(low, max(0, start - _LOOK), start) and _CLOSES.match(low, end):
            return _OF_ITS_OWN, side, "answer"
        if word == "no" and _NO_NOUN.match(low, end):
            return None if _NO_ANSWER.match(low, end) else (1, side, "no-before-noun")
    if _UNSURE.search(low, max(0, start - 2 * _LOOK), start):
        return None
    held = stance(low, start, end)
    if held == "asserted":
        return 2, side, "word"
    if held == "denied" and not _UNCLEAR.match(low, end):
        return 2, other, "denied-word"
    return None


def _is_asked(low: str, end: int) -> bool:
    """Whether a question mark follows."""
    return low[end : end + _LOOK].lstrip("*_`\"'”’ )").startswith(("?", "？"))


def _decide(found: Reading, target: str, config: YesNoConfig) -> Verdict:
    side = found.value if not isinstance(found.value, bool) else "yes" if found.value else "no"
    want = _target(target, config)
    if side == want:
        return PASSED
    return failed("wrong-side", f"expected {want}, got {side}"[:200])


def _target(target: str, config: YesNoConfig) -> Side | None:
    word = target.strip().lower()
    if word in ("yes", *(w.lower() for w in config.yes)):
        return "yes"
    return "no" if word in ("no", *(w.lower() for w in config.no)) else None


def _check(target: str, config: YesNoConfig) -> None:
    yes, no = {w.lower() for w in config.yes}, {w.lower() for w in config.no}
    if not yes or not no or "" in yes | no or yes & no:
        raise InputError(f"expected two lists of words with none in common, got yes={config.yes!r} no={config.no!r}")
    if _target(target, config) is None:
        raise InputError(f"expected a target among {sorted(yes | no)}, got {target!r}")


def _render(target: str, config: YesNoConfig) -> str:
    return config.yes[0] if _target(target, config) == "yes" else config.no[0]


def _other(target: str, config: YesNoConfig, _prompt: Any) -> str:
    return config.no[0] if _target(target, config) == "yes" else config.yes[0]


def _both(_target_text: str, config: YesNoConfig, _prompt: str) -> str:
    return f"{config.yes[0]} or {config.no[0]}"


_WRONG = ("wrong-side", NO_ANSWER)

VERIFIERS: tuple[Verifier, ...] = (
    Verifier(
        name="yesno",
        config=YesNoConfig,
        misses=("wrong-side",),
        read=_read,
        decide=_decide,
        check=_check,
        render=_render,
        spoil={
            "other-side": Spoil(_other, _WRONG),
            "both-sides": Spoil(_both, _WRONG),
            "marked-other-side": Spoil(lambda t, c, p: f"{_render(t, c)}. No wait. Answer: {_other(t, c, p)}", _WRONG),
        },
        vary={
            "capitals": lambda t, c, _p: _render(t, c).upper(),
            "full-stop": lambda t, c, _p: f"{_render(t, c).capitalize()}.",
            "bold": lambda t, c, _p: f"**{_render(t, c)}**",
            "box": lambda t, c, _p: f"\\boxed{{{_render(t, c)}}}",
            "sentence": lambda t, c, _p: f"The answer is {_render(t, c)}.",
        },
    ),
)
