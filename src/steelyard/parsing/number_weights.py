"""How much a number of a text counts beside others: asides, notes, years and list labels count last.

Weight 0: in brackets, in a note or a check, a year, a threshold, a list label. Weight 1: after a loose word
(`after 3`), part of a compound, only called possible. Weight 3: said to be the answer (`42 is the answer`). Numbers
that are called wrong (`42 is not the answer`) or supposed (`if x were 42 ...`) are left out.
Not covered: asides that only their sense gives away.
Easy to break: linear time. Every pattern looks a bounded way around.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from steelyard.parsing.quantities import Term


class Group(NamedTuple):
    """Joined terms and what they commit to: a term, or nothing with a reason; `weight` 0 counts last."""

    start: int
    end: int
    term: Term | None
    reason: str = ""
    weight: int = 2


_YEAR_WORD = re.compile(
    r"\b(?:in|since|by|of|year|years|during|circa|from|until|till|before|after|early|late|mid|as of|according to"
    r"|copyright|census|the|and)[ ]$|©[ ]?$",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"\b(?:threshold|limit|cut-?off|tolerance|margin|criterion|screening|error|uncertainty|radius|out of|because|since"
    r"|satisf(?:y|ies|ying)|rounded|rounding to|accurate to|correct to)\b[^\n.;,]{0,30}$|[±]\s?$",
    re.IGNORECASE,
)
_ASIDE_AFTER = re.compile(
    r"[ -]?(?:[a-z/]{1,6}[ ])?(?:threshold|limit\b|cut-?off|tolerance|decimals?\b|significant|sig\b|steps?\b"
    r"|d\.?p\.?\b)",
    re.IGNORECASE,
)
_LOOSE = re.compile(
    r"\b(?:after|in|from|per|every|each|within|on|during|before|for|with|of|than|at|over|choos(?:e|ing)|pick(?:ing)?"
    r"|select(?:ing)?|arrang(?:e|ing))[ ]"
    r"(?:only |just |about |the (?:first|last|next) |the )?[$€£]?$",
    re.IGNORECASE,
)
_NOTE_LINE = re.compile(
    r"^[ \t>*_(\[-]{0,6}(?:note|sources?|references?|footnote|p\.?s\.?|remark|see|hint|checked|disclaimer"
    r"|(?:(?:sanity |double[ -]?)?check(?:ing)?|verif(?:y|ying|ication))(?=[*_]{0,3}[ ]?[:：—–]|[ ]that\b"
    r"|[ ](?:the|my|our)[ ](?:answer|result|work|solution))"
    r"|\[\^?\d{1,3}\])(?!\w)[^\n]*",
    re.IGNORECASE | re.MULTILINE,
)
_SAID_AFTER = re.compile(
    r"[*`]{0,2}[ ](?:(?P<answer>(?:is|was|must be|would be|has to be)[ ](?:thus |indeed |therefore )?(?:the|our|my)[ ]"
    r"(?:final |correct |right |only )?(?:answer|solution|result|total)\b)"
    r"|(?P<wrong>(?:is|was|would be|seems|must be)[ ](?:\w{1,12}ly )?(?:wrong|incorrect|impossible|too[ ]\w{2,6})\b"
    r"|(?:(?:is|was|does)[ ](?:\w{1,12}ly )?not|isn['’]t|wasn['’]t|cannot be|can['’]t be)[ ](?:the"
    r" (?:right|correct|final)|(?:the|our|my) (?:answer|solution|result)|right|correct|valid|it\b|possible))"
    r"|(?P<other>(?:is|was|would be|seems)[ ](?:also |only |just )?(?:possible|plausible|conceivable|tempting|close"
    r"|the (?:runner-up|reversed|other|old|previous|wrong))\b|would be\b))",
    re.IGNORECASE,
)
"""What is said of a number after it: `42 is the answer`, `43 is too big`, `41 is the runner-up`."""
_SUPPOSED = re.compile(r"\b[Ii]f[ ][^.!?\n]{1,60}\bwere\b[^.!?\n]{0,120}\bwould\b[^.!?\n]{0,80}")
"""`If x were 42, we would have a contradiction.`"""
_LIST_LABEL = re.compile(r"(?:^|\n)[ \t>*_#]{0,6}$")
_BRACKETS = re.compile(
    r"\([^()\n]{0,200}\)|\[[^\[\]\n]{0,200}\]|【[^】\n]{0,80}】|\{\^[^{}\n]{0,20}\}|<sup>[^<\n]{0,20}</sup>"
)
_YEAR_AFTER = re.compile(r"[ ](?:data|census|figures?|report|estimates?|survey|edition|prices|dollars|values)\b")
_LIST_LINE = re.compile(r"\n[ \t>*_#]{0,6}\d{1,2}[.)][ ]")
_LIST_LABEL_END = re.compile(r"[.)][ ]+\S")
_COMPOUND = re.compile(r"-[A-Za-z]")


def weigh(groups: list[Group], text: str) -> list[Group]:
    """Weight 0 for asides (brackets, years, notes, list labels, thresholds), 1 after loose words, else 2."""
    if not groups:
        return groups
    asides = sorted(m.span() for pattern in (_BRACKETS, _NOTE_LINE) for m in pattern.finditer(text))
    starts = [start for start, _ in asides]
    if " were " in text:
        supposed = [m.span() for m in _SUPPOSED.finditer(text)]
        groups = [g for g in groups if not any(low <= g.start < high for low, high in supposed)]
    listed = _LIST_LINE.search(text) is not None
    weights = [_weight(group, text, asides, starts, listed=listed) for group in groups]
    return [group._replace(weight=weight) for group, weight in zip(groups, weights, strict=True) if weight >= 0]


def _weight(group: Group, text: str, asides: list[tuple[int, int]], starts: list[int], *, listed: bool) -> int:
    index = bisect_right(starts, group.start)
    if any(start <= group.start and group.end <= end for start, end in asides[max(0, index - 2) : index]):
        return 0
    start, end = (group.term.start, group.term.end) if group.term else (group.start, group.end)
    left = text[max(0, start - 60) : start]
    if _ASIDE.search(left) or _ASIDE_AFTER.match(text, end):
        return 0
    if listed and _LIST_LABEL.search(left) and _LIST_LABEL_END.match(text, group.end):
        return 0
    digits = text[group.start : group.end]
    if (
        len(digits) == 4
        and digits.isdigit()
        and "1000" <= digits <= "2100"
        and (_YEAR_WORD.search(left) or _YEAR_AFTER.match(text, group.end))
    ):
        return 0
    if text[end : end + 1] in " *`" and (said := _SAID_AFTER.match(text, end)):
        return {"answer": 3, "wrong": -1, "other": 1}[said.lastgroup or "other"]
    return 1 if _COMPOUND.match(text, group.end) or _LOOSE.search(left) else 2
