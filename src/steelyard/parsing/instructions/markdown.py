"""The little of Markdown that instructions name: fenced code, dividers, bullets, emphasis.

Source: CommonMark 0.31, sections 4.1 (thematic breaks), 4.5 (fences), 5.2 (list items), 6.2 (emphasis).
Emphasis is simpler than the specification: a run opens or closes by what stands on either side, the rule of three is
left out, and only the outermost span of nested ones is given.
Not covered: indented code, HTML, links inside emphasis.
Easy to break: linear time; the stack of open runs is cut off at a blank line.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict, deque
from collections.abc import Iterator
from functools import lru_cache

_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})[ \t]*([^`\n]*)$")
_TICKS = re.compile(r"`+")
_STARTS = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)]|#{1,6})(?=[ \t])")
_BULLET = re.compile(r"[ \t>]*[-*+](?:[ \t]+(?P<text>\S.*))?$")
_BREAK = re.compile(r"[ \t]{0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_STARS = re.compile(r"[ \t]{0,3}(?:\*[ \t]*){3,}$")
_RUN = re.compile(r"\\.|\*+|_+", re.DOTALL)


def lines(text: str) -> list[str]:
    """The lines of a text; those of fenced code are blank, unless a fence holds the whole text."""
    found = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    bare = [line for line in found if line.strip()]
    opened = _FENCE.match(bare[0]) if bare else None
    if opened and len(bare) > 1 and _closes(bare[-1], opened[1]) and not any(_closes(b, opened[1]) for b in bare[1:-1]):
        return [line if line not in (bare[0], bare[-1]) else "" for line in found]
    mark = ""
    for index, line in enumerate(found):
        opening = _FENCE.match(line)
        if mark:
            mark = "" if _closes(line, mark) else mark
            found[index] = ""
        elif opening:
            mark, found[index] = opening[1], ""
    return found


def _closes(line: str, mark: str) -> bool:
    bare = line.strip()
    return len(bare) >= len(mark) and set(bare) == {mark[0]}


def is_divider(line: str) -> bool:
    """Whether a line is a thematic break made of asterisks."""
    return _STARS.match(line) is not None


def bullets(text: str) -> int:
    """How many bulleted list items with some text stand in a text, nested ones included."""
    count = 0
    for line in lines(text):
        item = _BULLET.match(line)
        count += item is not None and item["text"] is not None and not _BREAK.match(line)
    return count


def emphasised(text: str) -> list[str]:
    """The outermost spans of emphasis, strong or not, outside code."""
    return [span for block in _blocks(text) for span in _spans(_without_code(block))]


def _blocks(text: str) -> Iterator[str]:
    """Runs of lines that emphasis may cross: a blank line, a list item or a heading starts a new one."""
    block: list[str] = []
    for line in lines(text):
        starts = _STARTS.match(line)
        if block and (starts or not line.strip()):
            yield "\n".join(block)
            block = []
        if line.strip() and not _BREAK.match(line):
            block.append(line[starts.end() :] if starts else line)
    yield "\n".join(block)


def _without_code(block: str) -> str:
    """A block with its code spans turned into a letter, so that marks inside them mean nothing."""
    if "`" not in block:
        return block
    ticks = [(m.start(), m[0]) for m in _TICKS.finditer(block)]
    closers: dict[str, deque[int]] = defaultdict(deque)
    for start, run in ticks:
        closers[run].append(start)
    pieces, at = [], 0
    for start, run in ticks:
        closers[run].popleft()
        if start >= at and closers[run]:
            pieces += [block[at:start], "x"]
            at = closers[run][0] + len(run)
    return "".join([*pieces, block[at:]])


def _spans(block: str) -> list[str]:
    opened: dict[str, list[tuple[int, int]]] = {"*": [], "_": []}
    spans: list[tuple[int, int]] = []
    for run in _RUN.finditer(block):
        char = run[0][0]
        if char == "\\":
            continue
        before = block[run.start() - 1 : run.start()] or " "
        after = block[run.end() : run.end() + 1] or " "
        opens, closes = _flanks(char, before, after)
        left = len(run[0])
        stack = opened[char]
        while closes and left and stack:
            start, length = stack.pop()
            used = min(length, left, 2)
            left -= used
            spans.append((start + length - used, run.end() - left))
            for other in opened.values():
                while other and other[-1][0] > start:
                    other.pop()
            if length > used:
                stack.append((start, length - used))
        if opens and left:
            stack.append((run.end() - left, left))
    return _outermost(block, spans)


def _flanks(char: str, before: str, after: str) -> tuple[bool, bool]:
    """Whether a delimiter run between two characters can open and can close emphasis."""
    left = not after.isspace() and (not _punctuation(after) or before.isspace() or _punctuation(before))
    right = not before.isspace() and (not _punctuation(before) or after.isspace() or _punctuation(after))
    if char == "*":
        return left, right
    return left and (not right or _punctuation(before)), right and (not left or _punctuation(after))


@lru_cache(maxsize=4096)
def _punctuation(char: str) -> bool:
    return unicodedata.category(char)[0] in "PS"


def _outermost(block: str, spans: list[tuple[int, int]]) -> list[str]:
    found, end = [], 0
    for start, stop in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= end:
            found.append(block[start:stop].strip("*_"))
            end = stop
    return found
