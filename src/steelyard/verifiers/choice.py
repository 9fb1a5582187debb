"""`choice`: the one letter of a multiple-choice question that the reply commits to.

Reading, in this order: committed answers of the prose (boxes, `Answer: B`, `I pick B`; see `parsing.prose`), a letter
alone on the first line before prose, the last line, a line that is only a letter, the whole reply; see
`parsing.letters` for what counts as a letter. An answer that says that there is none (`none of the above`) or that
names two letters ends the search. Of a reply of more than 200,000 characters the last 150,000 count, and where nothing
is marked there, what is marked in the first 50,000.
A committed answer that is one option's whole text stands for its letter.
Not covered: an option's text inside other prose.
Since `rules: 2` a list of bare letters, the two of `between A and C`, a letter with an index and the name of a thing
(`one mole of H`) are no answer; `therefore option C` and `C as the answer` are.
Easy to break: the article `A`, the pronoun `I`, and a list of all options, none of which commits.
"""

from __future__ import annotations

import re
from string import ascii_uppercase

import msgspec

from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.parsing.alternatives import Alternative, Alternatives, words
from steelyard.parsing.fold import fold
from steelyard.parsing.letter_forms import plain
from steelyard.parsing.letters import (
    Clash,
    Letter,
    ends_a_list,
    head_letter,
    is_short,
    line_letter,
    lists_options,
    opening_line,
    opens_option,
    prose_letter,
)
from steelyard.parsing.prose import Candidate, Part, commitments, final_part, is_refusal, undecorated
from steelyard.verdict import PASSED, Reading, Unread, Verdict, failed
from steelyard.verifiers.contract import NO_ANSWER, Config, Spoil, Verifier

_KINDS = ("option", "choice", "alternative", "letter", "statement", "selection", "pick", "one")
_KINDS_NEEDED = ("one", "option", "letter", "statement", "choice", "alternative", "selection", "pick")
_KIND = f"(?:{'|'.join(_KINDS)})"
_BEST = ("correct", "right", "best", "final", "chosen", "appropriate", "suitable", "proper", "true", "accurate")
_CHOOSE = (
    *("choose", "chose", "pick", "select", "go with", "going with", "went with", "go for", "opt for", "vote for"),
    *("settle", "lean", "bet on", "say"),
)
_PHRASES = Alternatives(
    [
        Alternative(
            rf"(?:{'|'.join(_BEST)}) {_KIND}(?: here| therefore| thus)?"
            r"(?: is| was| would be| must be| should be| seems to be|'s|:)(?: indeed| clearly| definitely| therefore)?",
            (_KINDS_NEEDED, tuple(f"{best} " for best in _BEST)),
        ),
        Alternative(
            rf"{_KIND} (?:that|which) (?:[\w'’-]{{1,20}} ){{1,6}}?is(?![\w'’])",
            (_KINDS_NEEDED, (" that ", " which "), (" is",)),
        ),
        Alternative(
            r"(?:my|our|the) (?:final |best )?(?:vote|pick|choice|selection|guess|bet|money|decision|verdict"
            r"|conclusion)(?: therefore| thus)? (?:goes to|is|goes for|goes with|would be|is on|falls on)",
            (("vote", "pick", "choice", "selection", "guess", "bet", "money", "decision", "verdict", "conclusion"),),
        ),
        Alternative(
            r"(?:i|we)(?:['’]ll|['’]d|['’]m| am| will| would| must| should| can)?"
            r" (?:(?!initially|originally|first|once|almost|nearly|never|wrongly|mistakenly|previously)\w{1,12} )?"
            r"(?:choose|chose|pick"
            r"|picked|select|selected|go with|going with|went with|go for|opt for|vote for|settled? on|lean towards?"
            r"|leaning towards?|bet on|say)(?: for)?",
            (_CHOOSE,),
        ),
        Alternative(
            r"(?:choosing|picking|selecting|going with|settling on)",
            (("choosing", "picking", "selecting", "going with", "settling on"),),
        ),
        Alternative(
            r"(?:so|thus|therefore|hence),? (?:it is|it['’]s|it must be|this is|that['’]s|that is|the answer)",
            (("so it", "so this is", "so that", "so the answer", "so, ", "thus", "therefore", "hence"),),
        ),
        Alternative(
            r"(?:so|thus|therefore|hence),?(?= (?:option|choice|answer|letter) [(*]{0,3}[a-z][)*]{0,3}(?:[.!\n]|$))",
            (("so", "thus", "therefore", "hence"), (" option ", " choice ", " answer ", " letter ")),
        ),
        Alternative(r"(?:leaves|leaving)(?: us)?(?: only| just)?(?: with)?(?: only| just)?", (("leaves", "leaving"),)),
        Alternative(
            r"(?:matches|corresponds to|which is|that is|equals|means|i\.e\.,?)(?= (?:option|choice|answer|letter) )",
            ((" option ", " choice ", " answer ", " letter "),),
        ),
        *words("故选", "应选", "應選", "答案选", "選擇", "选择"),
        *words("ich wähle", "je choisis", "elijo"),
        Alternative(r"richtig ist(?: antwort| option)?", (("richtig ist",),)),
    ]
)
_ROOM = 400
_HEAD, _TAIL = 50_000, 150_000
"""Characters read of a reply that is longer than both: no model writes so much but in a loop."""
_NONE_FITS = re.compile(
    r"[\s*_`\"'(]*(?:none of (?:the|these|them|those)(?: above| options| choices| answers| given)?"
    r"(?: is| are)?(?: correct| right| true)?[\s.!*_`\"')]*(?:$|[(\n,;—–-]))",
    re.IGNORECASE,
)
_FALL_BACKS = frozenset({"bold", "last-line", "whole"})
_MARKED = frozenset({"correction", "box", "tag", "hashes", "label", "phrase"})


class ChoiceConfig(Config, frozen=True):
    """The options, in the order of their letters A, B, C, ...; filled from the item's `choices`."""

    choices: list[str] = msgspec.field(default_factory=list)


def _read(attempt: Attempt, config: ChoiceConfig) -> Reading | Unread:
    part = final_part(attempt.answer)
    if not part.text.strip():
        return Unread(part.reason or "the answer is empty")
    if len(part.text) <= _HEAD + _TAIL:
        return _read_part(part, config)
    tail = len(part.text) - _TAIL
    found = _read_part(Part(part.text[tail:], part.offset + tail), config)
    if isinstance(found, Reading) and found.rule in _MARKED:
        return found
    head = _read_part(Part(part.text[:_HEAD], part.offset), config)
    return head if isinstance(head, Reading) and (head.rule in _MARKED or isinstance(found, Unread)) else found


def _read_part(part: Part, config: ChoiceConfig) -> Reading | Unread:
    clash: Clash | None = None
    known: dict[str, Letter | Clash | None] = {}
    listed: bool | None = None  # looked up for unmarked answers only, which alone need it
    for candidate in commitments(part, _PHRASES):
        if listed is None and candidate.rule in _FALL_BACKS:
            text = plain(part.text)
            listed = lists_options(text)
            if ends_a_list(text):
                return Unread("letters on lines of their own that differ")
            if _NONE_FITS.match(text):
                return Unread("the reply says that it has no answer")
        if candidate.rule == "whole" and not listed and (line := line_letter(plain(candidate.text))):
            return _reading(line, candidate, "line")
        if candidate.rule == "last-line" and (opening := _opened(part, candidate)):
            return opening
        found = _letter(candidate, len(config.choices), listed=bool(listed), known=known)
        if isinstance(found, Letter):
            return _reading(found, candidate, candidate.rule)
        if found is None and (letter := _option_repeated(candidate.text, config)):
            return Reading(letter, "option-text", candidate.span)
        if isinstance(found, Clash):
            clash = clash or found
            if candidate.rule not in _FALL_BACKS:
                break
    return Unread(clash.reason if clash else "no letter that the reply commits to")


def _opened(part: Part, last_line: Candidate) -> Reading | None:
    """The letter that has the first line to itself, where the last line is prose about the options."""
    text = plain(part.text)
    found = opening_line(text)
    if found is None or head_letter(plain(last_line.text)):
        return None
    at = part.offset + found.at
    return Reading(found.letter, "line", (at, at + 1))


def _option_repeated(text: str, config: ChoiceConfig) -> str | None:
    """The letter of the one option whose whole text this is."""
    if len(text) > _ROOM + 4 * max(map(len, config.choices), default=0):
        return None  # folding a long text to learn that it is no option would cost more than all the rest
    said = fold(undecorated(text))
    same = [letter for letter, option in zip(ascii_uppercase, config.choices, strict=False) if fold(option) == said]
    return same[0] if len(same) == 1 else None


def _reading(found: Letter, candidate: Candidate, rule: str) -> Reading:
    at = candidate.span[0] + found.at
    return Reading(found.letter, rule, (at, at + 1))


def _letter(
    candidate: Candidate, n_choices: int, *, listed: bool, known: dict[str, Letter | Clash | None]
) -> Letter | Clash | None:
    """The letter of a candidate; `known` keeps what the prose of a text says: a reply of one line is two candidates."""
    text = plain(candidate.text)
    if candidate.rule not in _FALL_BACKS:
        head = head_letter(text)
        if head is None and is_refusal(text):
            return Clash("the reply says that it has no answer")
        return head or prose_letter(text, n_choices)
    if listed and candidate.rule == "last-line" and opens_option(text):
        return None
    opens = not (listed and candidate.rule == "whole") and (is_short(text) or text.lstrip(" (")[:1].isupper())
    head = head_letter(text) if opens else None
    if head is None and text not in known:
        known[text] = prose_letter(text, n_choices)
    return head or known[text]


def _decide(found: Reading, target: str, config: ChoiceConfig) -> Verdict:
    letter = found.value.strip().upper() if isinstance(found.value, str) else found.value
    if letter == target.strip().upper():
        return PASSED
    known = isinstance(letter, str) and letter in set(_letters(config))
    return failed("wrong-choice", f"expected {target}, got {letter}" + ("" if known else ", which is no option"))


def _letters(config: ChoiceConfig) -> str:
    return ascii_uppercase[: len(config.choices)]


def _check(target: str, config: ChoiceConfig) -> None:
    if not 2 <= len(config.choices) <= len(ascii_uppercase):
        raise InputError(f"expected 2 to 26 choices on the item or in the verifier, got {len(config.choices)}")
    if target.strip().upper() not in set(_letters(config)):
        raise InputError(f"expected a target letter from A to {_letters(config)[-1]}, got {target!r}")


def _render(target: str, _config: ChoiceConfig) -> str:
    return target.strip().upper()


def _another(target: str, config: ChoiceConfig, _prompt: str) -> str:
    letters = _letters(config)
    return letters[(letters.index(target.strip().upper()) + 1) % len(letters)]


def _all_listed(_target: str, config: ChoiceConfig, _prompt: str) -> str:
    return "\n".join(f"{letter}) {text}" for letter, text in zip(ascii_uppercase, config.choices, strict=False))


def _called_wrong(target: str, _config: ChoiceConfig, _prompt: str) -> str:
    return f"Option {target} is wrong."


def _two(target: str, config: ChoiceConfig, prompt: str) -> str:
    return f"{target} or {_another(target, config, prompt)}"


_WRONG = ("wrong-choice", NO_ANSWER)

VERIFIERS: tuple[Verifier, ...] = (
    Verifier(
        name="choice",
        rules=2,
        config=ChoiceConfig,
        misses=("wrong-choice",),
        read=_read,
        decide=_decide,
        check=_check,
        render=_render,
        spoil={
            "another-choice": Spoil(_another, _WRONG),
            "every-choice": Spoil(_all_listed, _WRONG),
            "called-wrong": Spoil(_called_wrong, _WRONG),
            "two-choices": Spoil(_two, _WRONG),
        },
        vary={
            "sentence": lambda target, _config, _prompt: f"The answer is {target}.",
            "label": lambda target, _config, _prompt: f"Answer: ({target})",
            "bold": lambda target, _config, _prompt: f"**{target}**",
            "box": lambda target, _config, _prompt: f"\\boxed{{{target}}}",
            "lower-case": lambda target, _config, _prompt: target.lower(),
            "full-stop": lambda target, _config, _prompt: f"{target}.",
        },
    ),
)
