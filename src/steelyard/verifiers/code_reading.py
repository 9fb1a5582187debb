"""Which part of a reply is the program.

Reading, in this order, outside reasoning blocks:
1. a fenced block (backticks or tildes, any info string, indented or never closed). Of several: those marked as Python
   before those without a mark, and before those marked as something else; of these the last that defines the entry
   point, else the last that prints or defines something, else the last;
2. a block between other marks: `[PYTHON]`, `[BEGIN]` and `[DONE]`, `<code>`, a quoted one that starts with the word
   python;
3. the whole reply, without lines of prose before and after the program.

There may be several readings of one block (a docstring may hold a fence, a reply may be indented as a whole). They are
given in order, and the first that compiles is the program; compiling is left to the sandbox.
With a prompt that the reply completes (HumanEval), a reply that defines the entry point stands after the prompt, which
keeps its imports and helpers; any other reply continues the prompt's body.
Not covered: a program spread over several blocks.
Easy to break: rescuing a program with a syntax error by cutting the error away. Only prose is ever cut.
"""

from __future__ import annotations

import re
from textwrap import dedent

import msgspec

from steelyard.parsing.final import without_reasoning


class Program(msgspec.Struct, frozen=True):
    """Readings of the program, best first, and the rule that found it; `reason` says why there is none."""

    sources: tuple[str, ...]
    rule: str
    reason: str = ""


class _Block(msgspec.Struct, frozen=True):
    info: str
    text: str
    start: int
    end: int
    """The lines of its fences."""


_FENCE = re.compile(r"[ \t]*(?:[-*>][ \t]+)?(`{3,}|~{3,})[ \t]*([^\n`]*)")
_PYTHON = frozenset({"python", "py", "python3", "python2", "py3", "pycon", "ipython", "ipython3", "sage", "cpython"})
_MARKS = (
    re.compile(r"\[PYTHON\]\n?(.*?)(?:\[/PYTHON\]|\Z)", re.DOTALL | re.IGNORECASE),
    re.compile(r"\[BEGIN\]\n?(.*?)(?:\[DONE\]|\[END\]|\Z)", re.DOTALL),
    re.compile(r"<(?:code|python|solution)>\n?(.*?)(?:</(?:code|python|solution)>|\Z)", re.DOTALL | re.IGNORECASE),
    re.compile(r"^(?:'''|\"\"\")[ \t]*python[ \t]*\n(.*?)(?:^(?:'''|\"\"\")|\Z)", re.DOTALL | re.MULTILINE),
)
_OPENS = re.compile(
    r"(?:def|class|async def|import|from|if|for|while|try|with|print)\b|@\w|[A-Za-z_]\w*(?:, *\w+)* *[:=]"
)
_PROSE = re.compile(r"(?:[-*•>] |\d+[.)] |#{1,6} |\*\*|[A-Z][\w'’]*(?:,|:|\.|!)?(?: |$))")
_WORDS = re.compile(r"[A-Za-z'’]{2}[ ,.:;!?]{1,5}[A-Za-z'’`(]")


def program_of(response: str, entry_point: str = "", prompt: str = "") -> Program:
    """The program in a reply."""
    part = without_reasoning(response.removeprefix("\ufeff"))
    if not part.text.strip():
        return Program((), "", part.reason or "the reply holds no text")
    texts, rule = _texts(part.text.replace("\r\n", "\n"), entry_point)
    sources = dict.fromkeys(source for text in texts for source in _with_prompt(text, entry_point, prompt))
    return Program(tuple(sources), rule)


def _texts(text: str, entry_point: str) -> tuple[list[str], str]:
    lines = text.split("\n")
    fences = [(i, found[1], found[2].strip()) for i, line in enumerate(lines) if (found := _FENCE.match(line))]
    blocks = _fenced(lines, fences)
    if blocks:
        chosen = _chosen(blocks, entry_point)
        last = fences[-1][0]
        longer = ["\n".join(lines[chosen.start + 1 : last]) + "\n"] if last > chosen.end else []
        return [*_readings(chosen.text), *longer], "fence"
    for mark in _MARKS:
        marked = mark.findall(text)
        if marked and marked[-1].strip():
            return _readings(marked[-1]), "mark"
    stripped = text.strip()
    if len(stripped) > 2 and stripped[0] == stripped[-1] == "`" and "`" not in stripped[1:-1]:
        return [stripped[1:-1]], "mark"
    return [*_readings(text), *_without_prose(text)], "whole"


def _readings(text: str) -> list[str]:
    """A block as it stands, and with its common indentation taken away."""
    level = dedent(text)
    return [text, level] if level != text else [text]


def _fenced(lines: list[str], fences: list[tuple[int, str, str]]) -> list[_Block]:
    """Fenced blocks; one that is never closed runs to the end."""
    blocks = []
    at = 0
    while at < len(fences):
        start, mark, info = fences[at]
        at += 1
        while at < len(fences) and (fences[at][2] or not fences[at][1].startswith(mark)):
            at += 1
        end = fences[at][0] if at < len(fences) else len(lines)
        at += 1
        name = info.split(" ")[0].strip("{}.,:").lower()
        blocks.append(_Block(name, "\n".join(lines[start + 1 : end]) + "\n", start, end))
    return blocks


def _chosen(blocks: list[_Block], entry_point: str) -> _Block:
    ranks = [0 if block.info in _PYTHON else 2 if block.info else 1 for block in blocks]
    for wanted in range(3):
        found = [block for block, rank in zip(blocks, ranks, strict=True) if rank == wanted and block.text.strip()]
        if not found:
            continue
        if entry_point:
            defining = [block for block in found if _defines(block.text, entry_point)]
            if defining:
                return defining[-1]
            if any(_defines(block.text, entry_point) for block in blocks):
                continue
        working = [block for block in found if re.search(r"\b(?:print|def|class|write|input|open)\b", block.text)]
        return (working or found)[-1]
    return blocks[-1]


def _defines(text: str, entry_point: str) -> bool:
    name = re.escape(entry_point.rpartition(".")[2])
    return bool(
        re.search(
            rf"^[ \t]*(?:(?:async[ \t]+)?def|class)[ \t]+{name}\b|^{name}[ \t]*(?::[^=\n]*)?=", text, re.MULTILINE
        )
    )


def _without_prose(text: str) -> list[str]:
    """The text without prose before and after it; nothing where that changes nothing."""
    lines = text.split("\n")
    start, end = 0, len(lines)
    while start < end and not _OPENS.match(lines[start]):
        start += 1
    if start == end or any(line.strip() and not _is_prose(line) for line in lines[:start]):
        return []
    while end > start and (not lines[end - 1].strip() or _is_prose(lines[end - 1])):
        end -= 1
    later = next((i for i in range(start + 1, end) if _is_prose(lines[i]) and not lines[i - 1].strip()), end)
    cut = ["\n".join(lines[start:stop]) + "\n" for stop in (end, later)]
    return [one for one in dict.fromkeys(cut) if one.strip() != text.strip()]


def _is_prose(line: str) -> bool:
    """Whether a line at the margin is prose that no Python statement could be."""
    return bool(_PROSE.match(line) and (_WORDS.search(line) or line.rstrip().endswith((":", ".", "**"))))


def _with_prompt(text: str, entry_point: str, prompt: str) -> list[str]:
    """A program that completes a prompt, or stands by itself."""
    if not prompt:
        return [text]
    head = prompt if prompt.endswith("\n") else prompt + "\n"
    if entry_point and re.search(rf"^(?:async def|def|class) +{re.escape(entry_point)}\b", text, re.MULTILINE):
        return [head + "\n" + text, text]
    indented = "".join(f"    {line}" if line.strip() else line for line in dedent(text).splitlines(keepends=True))
    first = re.sub(r"\A\s*\n", "", text)
    return [head + text, head + "    " + first.lstrip(), head + indented, text]
