"""Which part of a reply is the program.

Reading, in this order, outside reasoning blocks:
1. a fenced block (backticks or tildes, any info string, indented or never closed). Of several: those marked as Python
   before those without a mark, and before those marked as something else; of these the last that defines the entry
   point, else the last that prints or defines something, else the last. A block of Markdown stands for the blocks in
   it;
2. a block between other marks: `[PYTHON]`, `[BEGIN]` and `[DONE]`, `<code>`, a quoted one that starts with the word
   python, `<answer>`;
3. the whole reply, without lines of prose before and after the program.

There may be several readings of one block (a docstring may hold a fence, a reply may be indented as a whole). They are
given in order, and the first that compiles is the program; compiling is left to the sandbox.
With a prompt that the reply completes (HumanEval), a reply that defines the entry point stands after the prompt, which
keeps its imports and helpers; any other reply continues the prompt's body.
Where the block uses functions, classes or imports that only other Python blocks of the reply have, those that have
them (or their import lines) are joined to it, in the order of the reply; alone it is the next reading.
A program with a `class Solution` may use the names in `_PRELUDE` without importing them, as on the sites that such
programs are written for; what it defines or imports itself goes before.
Not covered: a program spread over blocks that are not marked as Python.
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
    re.compile(r"<answer>\n?(.*?)(?:</answer>|\Z)", re.DOTALL | re.IGNORECASE),
)
_MOST_JOINED = 20
"""Only so many blocks are looked through for what a program lacks."""
_MARKDOWN = frozenset({"markdown", "md", "mdx"})
_DEFINES = re.compile(r"^(?:async[ \t]{1,9}def|def|class)[ \t]{1,9}(\w+)", re.MULTILINE)
_BINDS = re.compile(r"^[ \t]*(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]*)?=", re.MULTILINE)
_BEGINS = re.compile(r"^(?:async def|def|class) +(\w+)", re.MULTILINE)
_IMPORT = re.compile(r"^(?:import|from)[ \t][^\n]*", re.MULTILINE)
_BOUND = re.compile(
    r"^[ \t]*[\w, \t]+(?::[^\n=]*)?=(?!=)|\bfor\b[^\n]{1,200}?\bin\b|\bdef\b[^)]{1,400}\)", re.MULTILINE
)
_CALLED = re.compile(r"\b(\w+)\(|[=(,\[][ \t]?(\w+)")
_WORD = re.compile(r"[A-Za-z_]\w*")
_PRELUDE = {
    **dict.fromkeys(
        (
            *("Any", "Callable", "DefaultDict", "Deque", "Dict", "FrozenSet", "Generator", "Iterable", "Iterator"),
            *("List", "Literal", "Mapping", "NamedTuple", "Optional", "Sequence", "Set", "Tuple", "Type", "TypeVar"),
            "Union",
        ),
        "typing",
    ),
    **dict.fromkeys(("Counter", "OrderedDict", "defaultdict", "deque", "namedtuple"), "collections"),
    **dict.fromkeys(("heapify", "heappop", "heappush", "heappushpop", "heapreplace", "nlargest", "nsmallest"), "heapq"),
    **dict.fromkeys(("bisect", "bisect_left", "bisect_right", "insort", "insort_left", "insort_right"), "bisect"),
    **dict.fromkeys(("cache", "cmp_to_key", "lru_cache", "reduce"), "functools"),
    **dict.fromkeys(
        ("accumulate", "chain", "combinations", "count", "cycle", "groupby", "permutations", "product", "zip_longest"),
        "itertools",
    ),
    **dict.fromkeys(
        ("ceil", "comb", "factorial", "floor", "gcd", "inf", "isqrt", "lcm", "log", "log2", "sqrt"), "math"
    ),
    **dict.fromkeys(("deepcopy",), "copy"),
    **dict.fromkeys(("ascii_lowercase", "ascii_uppercase"), "string"),
    **dict.fromkeys(
        ("collections", "functools", "heapq", "itertools", "math", "operator", "random", "re", "string"), ""
    ),
}
"""Name -> the module that it comes from; "" for a module itself."""
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


def prelude_of(sources: tuple[str, ...]) -> dict[str, str]:
    """Names that a program with a `class Solution` may use without importing them, as name -> module ("" for itself).

    Only those that it mentions; empty for any other program.
    """
    if not any(re.search(r"^class[ \t]{1,9}Solution\b", source, re.MULTILINE) for source in sources):
        return {}
    words = {word for source in sources for word in _WORD.findall(source)}
    return {name: module for name, module in _PRELUDE.items() if name in words}


def _texts(text: str, entry_point: str) -> tuple[list[str], str]:
    lines = text.split("\n")
    fences = [(i, found[1], found[2].strip()) for i, line in enumerate(lines) if (found := _FENCE.match(line))]
    blocks = _fenced(lines, fences, len(lines))
    if blocks:
        chosen = _chosen(blocks, entry_point)
        last = fences[-1][0]
        longer = ["\n".join(lines[chosen.start + 1 : last]) + "\n"] if last > chosen.end else []
        joined = _joined(blocks, chosen)
        return [*([joined] if joined else []), *_readings(chosen.text), *longer], "fence"
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


def _fenced(lines: list[str], fences: list[tuple[int, str, str]], last: int, *, is_inner: bool = False) -> list[_Block]:
    """Fenced blocks; one that is never closed runs to the line `last`. One of Markdown gives way to those in it."""
    blocks: list[_Block] = []
    at = 0
    while at < len(fences):
        opens = at
        start, mark, info = fences[at]
        at += 1
        while at < len(fences) and (fences[at][2] or not fences[at][1].startswith(mark)):
            at += 1
        end = fences[at][0] if at < len(fences) else last
        at += 1
        name = info.split(" ")[0].strip("{}.,:").lower()
        within = next((index for index in range(opens + 1, at - 1) if fences[index][2]), None)
        if within is not None and not is_inner and (name in _MARKDOWN or (len(mark) > 3 and not name)):
            blocks += _fenced(lines, fences[within : at - 1], end, is_inner=True)
        else:
            blocks.append(_Block(name, "\n".join(lines[start + 1 : end]) + "\n", start, end))
    return blocks


def _joined(blocks: list[_Block], chosen: _Block) -> str:
    """The chosen block with the Python blocks that define what it lacks; empty where it lacks nothing."""
    others = [block for block in blocks if block is not chosen and (block.info in _PYTHON or not block.info)]
    others = others[-_MOST_JOINED:]
    if not others or (chosen.info and chosen.info not in _PYTHON):
        return ""
    taken, bound = [chosen], _bound(chosen.text)
    called, words = _called(chosen.text), set(_WORD.findall(chosen.text))
    for block in reversed(others):
        if (called - bound) & set(_DEFINES.findall(block.text)):
            taken.append(block)
            bound |= _bound(block.text)
            called |= _called(block.text)
            words |= set(_WORD.findall(block.text))
    lines = [line for block in others if block not in taken for line in _IMPORT.findall(block.text)]
    imports = [line for line in lines if (words - bound) & _imported(line)]
    if len(taken) == 1 and not imports:
        return ""
    return "".join(f"{line}\n" for line in imports) + "\n".join(block.text for block in blocks if block in taken)


def _called(text: str) -> set[str]:
    """Names that are called, or stand where a function may be handed over."""
    return {name for found in _CALLED.findall(text) for name in found}


def _bound(text: str) -> set[str]:
    """Names that a text defines, imports or assigns anywhere."""
    bound = set(_DEFINES.findall(text))
    for line in _IMPORT.findall(text):
        bound |= _imported(line)
    for found in _BOUND.findall(text):
        bound |= set(_WORD.findall(found))
    return bound


def _imported(line: str) -> set[str]:
    """The names that an import line binds."""
    names = line.partition("import")[2].split("#")[0].strip("() ").split(",")
    return {name.split(" as ")[-1].strip().partition(".")[0] for name in names}


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
    name = entry_point.rpartition(".")[2]
    return any(name in found for found in _BINDS.findall(text))


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
    if entry_point and entry_point in _BEGINS.findall(text):
        return [head + "\n" + text, text]
    indented = "".join(f"    {line}" if line.strip() else line for line in dedent(text).splitlines(keepends=True))
    first = re.sub(r"\A\s*\n", "", text)
    return [head + text, head + "    " + first.lstrip(), head + indented, text]
