"""Which part of a reply counts: outside reasoning blocks, before a run-on into the next example.

Rules, in this order:
1. text inside a reasoning block (`<think>...</think>` and its kin) does not count, nor does anything before a lone
   closing tag; a block that is never closed leaves no answer. A tag in backticks is a mention of the tag;
2. text that is struck out (`~~x~~`, `<del>x</del>`) is withdrawn;
3. once an answer has been given, text from a new example's heading on (`Question:`, `Q:`, `Passage:`) is a run-on.

What does not count inside the part is blanked by spaces of equal length, so offsets stay true.
Not covered: reasoning that is not marked off, and headings in languages that are not listed.
Easy to break: linear time. Every pattern is bounded or anchored; none nests one repetition in another.
"""

from __future__ import annotations

import re

import msgspec

from steelyard.parsing.markers import first_mark


class Part(msgspec.Struct, frozen=True):
    """The text that counts and where it starts in the reply; `reason` says why nothing does (then text is empty)."""

    text: str
    offset: int = 0
    reason: str = ""


_NAMES = r"(?:seed:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratchpad|analysis)"
_TAG = re.compile(
    rf"<(?P<close>/?){_NAMES}\s{{0,4}}>|\[(?P<close2>/?)THINK\]|◁(?P<close3>/?)think▷"
    r"|<\|(?:begin|(?P<close4>end))_of_thought\|>|<\|channel\|>(?:analysis|(?P<close5>final))<\|message\|>",
    re.IGNORECASE,
)
_STRUCK = re.compile(r"~~(?=[^\s~])[^~\n]{1,500}~~|<(del|s|strike)>[^<\n]{0,500}</\1>", re.IGNORECASE)
_HEADING = re.compile(
    r"(?:^|\n)[ \t]{0,3}(?:[#>*_\[-]{1,6}[ \t]{0,2})?(?:<\|[a-z_]{1,20}\|>)?"
    r"(?:(?:(?:next|new|another|follow-up)[ \t])?"
    r"(?:(?P<strong>question|q|passage|problem|prompt|instruction|user|human|frage|aufgabe|pregunta|problema|domanda"
    r"|pergunta|вопрос|问题|题目|問題|質問|질문|문제)"
    r"|(?P<weak>example|exercise|context|input|task|text|document|story|article|beispiel|exemple|ejemplo))"
    r"[ \t]{0,2}(?:(?:no\.?[ \t]?|nr\.?[ \t]?|#)?\d{1,4})?[ \t]{0,2}[*_\]]{0,3}[ \t]?[:：]"
    r"|(?P<turn><\|(?:im_start|start_header_id)\|>[ \t]?user|\[INST\]|<start_of_turn>user))",
    re.IGNORECASE,
)
_ANNOUNCES = re.compile(
    r"\b(?:let me|let's|let us|i(?:'ll| will| need| have| am going)|we (?:need|have|are|will|must)|restat\w+|here(?:'s"
    r"| is)"
    r"|sure|okay|step by step|as follows|given|rephras\w+|to (?:solve|answer|find)|answer(?:ing)? (?:the|this|your))\b",
    re.IGNORECASE,
)


def without_reasoning(response: str) -> Part:
    """`response` without its reasoning blocks; text that no tag touches stays as it is, byte for byte."""
    if "<" not in response and "[" not in response and "◁" not in response:
        return Part(response)
    start, opened = 0, -1
    blocks: list[tuple[int, int]] = []
    for tag in _TAG.finditer(response):
        if response[tag.start() - 1 : tag.start()] == "`" and response[tag.end() : tag.end() + 1] == "`":
            continue
        if not any(value for key, value in tag.groupdict().items() if key.startswith("close")):
            opened = tag.start() if opened < 0 else opened
        elif opened < 0:
            start, blocks = tag.end(), []
        else:
            blocks.append((opened, tag.end()))
            opened = -1
    if opened >= 0:
        return Part("", len(response), "the reasoning block is never closed")
    while blocks and not response[start : blocks[0][0]].strip():
        start = blocks.pop(0)[1]
    return Part(_blank(response[start:], [(a - start, b - start) for a, b in blocks]), start)


def final_part(response: str) -> Part:
    """The part of a reply that counts."""
    part = without_reasoning(response)
    text = part.text
    if "~~" in text or "<" in text:
        text = _blank(text, [match.span() for match in _STRUCK.finditer(text)])
    return Part(text[: _run_on(text)], part.offset, part.reason)


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
    for heading in _HEADING.finditer(text):
        at = heading.start() + heading[0].startswith("\n")
        if marked is None:
            marked = first_mark(text)
        if marked < at or (not heading["weak"] and _answers(text[max(0, at - 400) : at])):
            return at
    return len(text)


def _answers(before: str) -> bool:
    """Whether the unmarked text before a heading is an answer, and not an announcement of the question."""
    tail = before.strip()
    if not tail:
        return False
    last = tail.rsplit("\n", 1)[-1]
    return not (last.endswith((":", "：")) or _HEADING.match(last) or _ANNOUNCES.search(last))
