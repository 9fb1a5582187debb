"""Cue words after which a grader's reply names its grade: `Judgement: yes`, `I grade it as B`.

A cue is sought by the texts that it can open with, which is fast, and only there by its pattern.
Not covered: cue words of languages other than English, German and Chinese.
Easy to break: an alternative of a pattern that opens with none of its cue's `stems` is never found (a test compares).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec


class Cue(msgspec.Struct, frozen=True):
    """A pattern over lower-case text that counts where it starts a word; every match opens with one of `stems`."""

    pattern: re.Pattern[str]
    stems: tuple[str, ...]


def word_spans(cue: Cue, low: str) -> Iterator[tuple[int, int]]:
    """Spans of a cue in order. Its stems are looked for first: the pattern alone would be tried at every character."""
    starts: set[int] = set()
    for stem in cue.stems:
        at = low.find(stem)
        while at >= 0:
            if not at or not low[at - 1].isalnum():
                starts.add(at)
            at = low.find(stem, at + 1)
    at = 0
    for start in sorted(starts):
        match = cue.pattern.match(low, start) if start >= at else None
        if match:
            at = match.end()
            yield start, at


WORD = (
    r"grade|grading|verdict|judge?ment|decision|rating|score|label|conclusion|evaluation|assessment"
    r"|classification|ruling|outcome"
    r"|result|category|status|final(?: answer)?|urteil|bewertung|note|评分|判断|结论|评价|判定"
)
_WEAK = r"(?:is[ _])?correct(?:ness)?|equivalent|equivalence|match(?:es)?|answer|response|passed|accuracy|output"
LEAD = (
    r"(?:(?:so|therefore|thus|hence|my|the|our|final|overall|your|final answer|is|llm|grader['’]?s?"
    r"|judge['’]?s?)[\s*_`,]+){0,4}"
)
_JOIN = (
    r"(?:[\s*_`\"”\])]*(?:[:：=→-]|->|=>|–|—)|[*_`\"\])]*\s+(?:is|was|should be|must be|will be|has to be"
    r"|would be|remains|=|→)\s*:?)"
)
_MARKER = re.compile(rf"(?:{WORD})(?:\s+(?:for|of)\s+(?:the|this)\s+\w+)?(?:\s?\([^()\n]{{0,40}}\))?{_JOIN}")
MARKER = Cue(
    _MARKER,
    ("grad", "verdict", "judg", "decision", "rating", "score", "label", "conclusion", "evaluation", "assessment",
     "classification", "ruling", "outcome", "result", "category", "status", "final", "urteil", "bewertung", "note",
     "评分", "判断", "结论", "评价", "判定"),
)  # fmt: skip
LED = re.compile(rf"(?<![^\W_]){LEAD}$")
LED_BACK = 80
WEAK_LINE = re.compile(
    rf"^[ \t>*_#`\[(\"'-]*{LEAD}(?:{_WEAK})[\s*_`\"\])]*(?:[:：=]|\s+is\s*:)", re.IGNORECASE | re.MULTILINE
)
_VERB = re.compile(
    r"(?:grade|graded|mark|marked|rate|rated|label|labell?ed|classify|classified|judge|judged|deem"
    r"|deemed|consider|considered|choose"
    r"|chose|select|selected|pick|picked|assign|assigned|award|awarded|give|given|gave|go with|going with"
    r"|settle (?:on|for)|output|answer with|vote|say"
    r"|(?:find|found)(?= (?:it|this|that|the (?:answer|response|reply|submission|prediction)) ))"
    r"(?:\s+(?:it|this|that|the (?:answer|response|reply|submission|prediction)|(?:a|the) (?:grade|score"
    r"|rating|label|verdict)(?: of)?|them)){0,2}"
    r"(?:\s+(?:as|to be|a|an|the|of|with|grade|option|letter|for)){0,2}\s*:?(?=[\s*_`\"'“‘(\[])",
)
VERB = Cue(
    _VERB,
    ("grade", "mark", "rate", "label", "classif", "judge", "deem", "consider", "choose", "chose", "select", "pick",
     "assign", "award", "give", "gave", "go with", "going with", "settle", "output", "answer with", "vote", "say",
     "find", "found"),
)  # fmt: skip
TAGGED = re.compile(
    r"<(verdict|grade|judge?ment|answer|result|score|rating|label|decision|final|output)>([^<]{0,200})</\1>",
    re.IGNORECASE,
)
BOXED = re.compile(r"\\boxed\s?\{\s?(?:\\text(?:bf)?\{)?([^{}]{1,60})\}")
