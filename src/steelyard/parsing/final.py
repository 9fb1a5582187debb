"""Which part of a reply counts: outside reasoning blocks, before a run-on into the next example.

Rules, in this order:
1. text inside a reasoning block (`<think>...</think>` and its kin) does not count, nor does anything before a lone
   closing tag; a block that is never closed leaves no answer. A tag in backticks is a mention of the tag;
2. text that is struck out (`~~x~~`, `<del>x</del>`) is withdrawn;
3. once an answer has been given, text from a new example's heading on (`Question:`, `Q:`, `Passage:`) is a run-on.

What does not count inside the part is blanked by spaces of equal length, so offsets stay true. Every line break of
Unicode starts a line for a heading; the text that counts keeps its own.
Not covered: reasoning that is not marked off, and headings in languages that are not listed.
Easy to break: linear time. Every pattern is bounded or anchored; none nests one repetition in another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from steelyard.parsing.markers import first_mark
from steelyard.parsing.patterns import late


class Part(msgspec.Struct, frozen=True):
    """The text that counts and where it starts in the reply; `reason` says why nothing does (then text is empty)."""

    text: str
    offset: int = 0
    reason: str = ""


_NAMES = r"(?:seed:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratchpad|analysis)"
_IN_TAGS = ("think", "thought", "reason", "reflection", "scratchpad", "analysis", "<|channel|>")
"""One of these is in every tag; looking for them first spares the pattern on text that merely holds brackets."""
_TAG = late(
    rf"<(/?){_NAMES}\s{{0,4}}>|\[(/?)THINK\]|◁(/?)think▷"
    r"|<\|(?:begin|(end))_of_thought\|>|<\|channel\|>(?:analysis|(final))<\|message\|>",
    re.IGNORECASE,
)
_BREAKS = "\r\x0b\x0c\x85\u2028\u2029"
_OTHER_BREAK = late(f"[{_BREAKS}]")
_LINE_BREAKS = dict.fromkeys(map(ord, _BREAKS), "\n")
_STRUCK = late(r"~~(?=[^\s~])[^~\n]{1,500}~~|<(del|s|strike)>[^<\n]{0,500}</\1>", re.IGNORECASE)
_HEADING_LINE = (
    r"[ \t]{0,3}(?:[#>*_\[-]{1,6}[ \t]{0,2})?(?:<\|[a-z_]{1,20}\|>)?"
    r"(?:(?:(?:next|new|another|follow-up)[ \t])?"
    r"(?:(?P<strong>question|q|passage|problem|prompt|instruction|user|human|frage|aufgabe|pregunta|problema|domanda"
    r"|pergunta|вопрос|问题|题目|問題|質問|질문|문제)"
    r"|(?P<weak>example|exercise|context|input|task|text|document|story|article|beispiel|exemple|ejemplo))"
    r"[ \t]{0,2}(?:(?:no\.?[ \t]?|nr\.?[ \t]?|#)?\d{1,4})?[ \t]{0,2}[*_\]]{0,3}[ \t]?[:：]"
    r"|(?P<turn><\|(?:im_start|start_header_id)\|>[ \t]?user|\[INST\]|<start_of_turn>user))"
)
_FIRST_HEADING = late(_HEADING_LINE, re.IGNORECASE)
_LATER_HEADING = late(f"\n{_HEADING_LINE}", re.IGNORECASE)
"""Starting with a line break, it is scanned for by that one character, which is fast."""
_ANNOUNCES = late(
    r"\b(?:let me|let's|let us|i(?:'ll| will| need| have| am going)|we (?:need|have|are|will|must)|restat\w+|here(?:'s"
    r"| is)"
    r"|sure|okay|step by step|as follows|given|rephras\w+|to (?:solve|answer|find)|answer(?:ing)? (?:the|this|your))\b",
    re.IGNORECASE,
)


def without_reasoning(response: str) -> Part:
    """`response` without its reasoning blocks; text that no tag touches stays as it is, byte for byte."""
    if ("<" not in response and "[" not in response and "◁" not in response) or not _names_reasoning(response):
        return Part(response)
    start, opened = 0, -1
    blocks: list[tuple[int, int]] = []
    for tag in _TAG.finditer(response):
        if response[tag.start() - 1 : tag.start()] == "`" and response[tag.end() : tag.end() + 1] == "`":
            continue
        if not any(tag.groups()):
            opened = tag.start() if opened < 0 else opened
        elif opened < 0:
            start, blocks = tag.end(), []
        else:
            blocks.append((opened, tag.end()))
            opened = -1
    if opened >= 0:
        return Part("", len(response), "the reasoning block is never closed")
    leading = 0
    while leading < len(blocks) and not response[start : blocks[leading][0]].strip():
        start = blocks[leading][1]
        leading += 1
    return Part(_blank(response[start:], [(a - start, b - start) for a, b in blocks[leading:]]), start)


def _names_reasoning(response: str) -> bool:
    low = response.lower()
    return any(name in low for name in _IN_TAGS)


def final_part(response: str) -> Part:
    """The part of a reply that counts."""
    part = without_reasoning(response)
    text = part.text
    if "~~" in text or "<" in text:
        text = _blank(text, [match.span() for match in _STRUCK.finditer(text)])
    lines = text if _OTHER_BREAK.search(text) is None else text.translate(_LINE_BREAKS)
    return Part(text[: _run_on(lines)], part.offset, part.reason)


def _blank(text: str, spans: list[tuple[int, int]]) -> str:
    pieces, at = [], 0
    for start, end in spans:
        pieces += [text[at:start], " " * (end - start)]
        at = end
    return "".join([*pieces, text[at:]])


def _run_on(text: str) -> int:
    """Where a new example starts, else the length of the text."""
    marked: int | None = None
    if not any(sign in text for sign in (":", "：", "<|", "[INST]", "<start")):
        return len(text)
    for heading in _headings(text):
        at = heading.start() + (text[heading.start()] == "\n")
        if marked is None:
            marked = first_mark(text)
        if marked < at or (not heading["weak"] and _answers(text[max(0, at - 400) : at])):
            return at
    return len(text)


def _headings(text: str) -> Iterator[re.Match[str]]:
    first = _FIRST_HEADING.match(text)
    if first:
        yield first
    yield from _LATER_HEADING.finditer(text, first.end() if first else 0)


def _answers(before: str) -> bool:
    """Whether the unmarked text before a heading is an answer, and not an announcement of the question."""
    tail = before.strip()
    if not tail:
        return False
    last = tail.rsplit("\n", 1)[-1]
    return not (last.endswith((":", "：")) or _FIRST_HEADING.match(last) or _ANNOUNCES.search(last))
