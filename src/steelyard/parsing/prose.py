"""What a reply commits to: the part that counts, and its committed answers, best first.

`final_part` drops reasoning blocks, struck-out text and run-ons. `committed` then lists candidates by these rules:
1. `correction`: what a withdrawal puts in the place of the last answer (`no wait, it is x`);
2. marked answers from the last to the first: `box`, `tag`, `hashes` (`#### x`), `label` (`Answer: x`, in many
   languages) and `phrase` (`the answer is x`). Left out: withdrawn ones, suppositions (`if the answer is x`), other
   people's (`some say the answer is x`), quoted and denied ones (of `the answer is not x but y` y stays);
3. fall-backs, from after the last withdrawal on: `bold` (the last line that is only bold), `last-line`, `whole`.
A verifier takes the first candidate that it can read and stops at one that `is_refusal`.
Not covered: irony, and commitments that only knowledge of the question could see.
Easy to break: linear time; only the last `markers.MOST` marks are looked at.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator

import msgspec

from steelyard.parsing.alternatives import Alternatives
from steelyard.parsing.final import Part, final_part, without_reasoning
from steelyard.parsing.markers import Mark, lowered, marks_from_last
from steelyard.parsing.moods import (
    asserts,
    corrected,
    doubt,
    last_withdrawal,
    positive,
    sentence_end,
    withdrawal,
)
from steelyard.parsing.patterns import late

__all__ = [
    "Candidate",
    "Part",
    "commitments",
    "committed",
    "final_part",
    "is_refusal",
    "undecorated",
    "without_reasoning",
]


class Candidate(msgspec.Struct, frozen=True):
    """A text that a reply may commit to; `span` is [start, end) in the whole reply."""

    text: str
    span: tuple[int, int]
    rule: str


_SHORT_CORRECTION, _SHORTEST = 40, 15
_TAIL = 300
_REFUSAL = late(
    r"(?:i (?:really |honestly )?(?:do not|don['’]t|cannot|can['’]t|am not|have no)|i['’]m not|not? (?:sure|known"
    r"|enough|given|possible"
    r"|determin\w+|applicable|specified|stated|answer)|unknown|unsure|uncertain|unclear|undetermined|indeterminate"
    r"|impossible to|cannot"
    r"|can['’]t|could not|do(?: not|n['’]t) know|no idea|none(?: of (?:the|these|them|those)\b.*)?(?:$|\s?\()|none of"
    r"|neither of|n/?a$|\?+$|insufficient|ambiguous)",
    re.IGNORECASE,
)
_LABEL_PROSE = late(
    r"[*_ \t]{0,4}(?:let|we|i|first|to|there|since|if|given|this|step|she|he|they|it|in order|because|consider|using"
    r"|note)(?:['’]\w{1,2})?[ \t,]",
    re.IGNORECASE,
)
_TRAILER = late(
    r"[\s*_(>\-]*(?:confidence|certainty|probability that|sources?[ \t]?:|references?[ \t]?:|note[ \t]?:|i hope"
    r" (?:this|that|it)"
    r"|hope (?:this|that|it)|let me know|feel free|please let|is there anything|do you want|would you like|if you"
    r" (?:have|need|want)|```)",
    re.IGNORECASE,
)
_BOLD_LINE = late(r"^[ \t>*\-]{0,6}\*\*([^*\n]{1,300})\*\*[ \t.!]{0,4}$", re.MULTILINE)
_PAIRS = (
    *(("**", "**"), ("__", "__"), ("`", "`"), ("*", "*"), ("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]")),
    *((f"\\{name}{{", "}") for name in ("boxed", "fbox", "text", "textbf", "textit", "mathbf", "mathrm")),
    *(('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("「", "」"), ("«", "»")),
)


def committed(part: Part, phrases: Alternatives | None = None) -> list[Candidate]:
    """The candidates of a part, best first; `phrases` marks further places after which an answer stands."""
    return list(commitments(part, phrases))


def commitments(part: Part, phrases: Alternatives | None = None) -> Iterator[Candidate]:
    """The same one by one: whoever stops at the first saves what finding the others would cost."""
    text, low = part.text, lowered(part.text)
    start, below, found, known = 0, len(text), False, False
    for mark in marks_from_last(text, low, phrases):
        known = True
        if not asserts(text, mark):
            continue
        end = _content_end(text, mark)
        cue = withdrawal(text, low, mark, end, below)
        some: list[Candidate] = []
        if cue is None:
            if below == len(text):
                some += _second_thought(part, end)
            if mark.rule != "label" or not _is_explanation(text, mark, end):
                some += _candidate(part, positive(text, mark.content, end), mark.rule)
        elif below == len(text):
            start = cue[1]
            some += _candidate(part, corrected(text, start), "correction")
        below, found = mark.start, found or bool(some)
        yield from some
    if not found and start == 0 and (loose := last_withdrawal(low)) is not None:
        start = loose
        some = _candidate(part, corrected(text, loose), "correction")
        found = bool(some)
        yield from some
    if not known and not found:
        yield from _second_thought(part, max(0, len(text) - _TAIL), _SHORTEST)
    yield from _fallbacks(part, start)


def is_refusal(text: str) -> bool:
    """Whether a candidate says that there is no answer (`unknown`, `I don't know`, `none of the above`)."""
    return _REFUSAL.match(undecorated(text).lstrip("([{ ")) is not None


def undecorated(text: str) -> str:
    """`text` without surrounding white space and paired emphasis, quotes, code, math and box marks."""
    text = text.strip()
    for _ in range(8):
        if not text or (text[0].isalnum() and text[-1].isalnum()):
            break
        inner = next((text[len(a) : -len(b)] for a, b in _PAIRS if _wraps(text, a, b)), None)
        if inner is None:
            break
        text = inner.strip()
    return text


def _wraps(text: str, left: str, right: str) -> bool:
    if len(text) < len(left) + len(right) or not (text.startswith(left) and text.endswith(right)):
        return False
    inner = text[len(left) : -len(right)]
    return right not in inner or (left != right and inner.count(right[-1]) == inner.count(left[-1]))


def _candidate(part: Part, span: tuple[int, int] | None, rule: str) -> list[Candidate]:
    """The candidate for a span of the part, without white space and unpaired emphasis around it; none when empty."""
    if span is None:
        return []
    raw = part.text[span[0] : span[1]]
    left = len(raw) - len(raw.lstrip())
    text = raw.strip()
    if text.startswith("*") and not text.endswith("*") and "*" not in text.lstrip("*"):
        left += len(text) - len(text.lstrip("*").lstrip())
        text = text.lstrip("*").lstrip()
    elif text.endswith("*") and "*" not in text.rstrip("*"):
        text = text.rstrip("*").rstrip()
    if not text:
        return []
    start = part.offset + span[0] + left
    return [Candidate(text, (start, start + len(text)), rule)]


def _content_end(text: str, mark: Mark) -> int:
    return sentence_end(text, mark.content, mark.end) if mark.rule in ("label", "phrase") else mark.end


def _is_explanation(text: str, mark: Mark, end: int) -> bool:
    """Whether what follows a label opens an explanation (`Answer: Let's think ...`) that goes on after it."""
    return _LABEL_PROSE.match(text, mark.content, end) is not None and bool(text[end + 1 :].strip(" \t\n.*"))


def _second_thought(part: Part, end: int, longest: int = _SHORT_CORRECTION) -> list[Candidate]:
    """A short `actually, it is x` after the last mark."""
    cue = doubt(part.text, end, len(part.text))
    span = corrected(part.text, cue) if cue is not None else None
    if span is None or span[1] - span[0] > longest or part.text[span[1] : span[1] + 1] == "?":
        return []  # `Hmm, 14?` is no answer
    return _candidate(part, span, "correction")


def _fallbacks(part: Part, start: int) -> Iterator[Candidate]:
    text = part.text
    bold = deque(_BOLD_LINE.finditer(text, start), maxlen=1) if text.find("**", start) >= 0 else None
    if bold and not bold[0][1].rstrip().endswith((":", "：")):
        yield from _candidate(part, bold[0].span(1), "bold")
    end = len(text)
    while end > start:
        if text[end - 1].isspace():
            end -= 1
            continue
        line = max(start, text.rfind("\n", start, end) + 1)
        if not _TRAILER.match(text, line, end):
            yield from _candidate(part, (line, end), "last-line")
            break
        end = line - 1
    yield from _candidate(part, (start, len(text)), "whole")
