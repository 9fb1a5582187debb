r"""Tokens of mathematical notation: LaTeX, plain ASCII and Unicode, in one list.

Sizing commands vanish, digit groups become one number, letters become symbols, functions, separators or words.
Not covered: macros that a text defines itself.
Easy to break: linear time (every pattern is anchored or bounded), and `\text{...}`: its words are words, but a number
in it is a number.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from steelyard.parsing.latex_spelling import normal
from steelyard.parsing.latex_tree import Unreadable
from steelyard.parsing.latex_words import (
    ACCENTS,
    CLOSE,
    CONSTANTS,
    FUNCTIONS,
    GREEK,
    OPEN,
    OPERATORS,
    RELATIONS,
    SCALES,
    SEPARATORS,
    SILENT,
    TEXT,
    UPRIGHT,
    WORD_CONSTANTS,
)
from steelyard.parsing.math_units import UNIT_LETTERS, unit_of

_MOST_NESTED = 4


class Token(NamedTuple):
    """One token: its kind, its text, and whether white space stands before it."""

    kind: str
    text: str
    spaced: bool = False


_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+(?![\d.^]))?|\.\d+(?:[eE][+-]?\d+(?![\d.^]))?")
_GROUPED = re.compile(r"(?:[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d?(?:,\d\d)+,\d{3})(?!\d|,\d)(?:\.\d+)?")
_SPACE_GROUPED = re.compile(r"[1-9]\d{0,2}(?:[ \u00a0\u2009\u202f]\d{3})+(?!\d)(?:\.\d+)?")
_REPEATING = re.compile(
    r"(\d*)\.(\d*)\\(?:overline|bar|dot|overset\{\.\})\s?\{?(\d+)\}?(?:(\d*)\\dot\s?\{?(\d)\}?)?|(\d+)\.(\d*)\((\d+)\)"
)
_LETTERS = re.compile(r"[A-Za-z]+")
_OTHER_LETTERS = re.compile(r"[^\W\d_a-zA-Z][^\W\d_]*")
_COMMAND = re.compile(r"\\(?:[A-Za-z]+\*?|.|$)", re.DOTALL)
_SIGNS = re.compile(r"<=|>=|=<|=>|!=|<>|==|:=|\*\*|\.\.\.|\+/-|\+-(?=\s?\d)|[-+*/^_!%=<>:;,()\[\]{}|'&]")
_BLANK = re.compile(r"\s+")
_LETTER_ABOVE = re.compile(r"(?:sin|cos|tan|cot|sec|csc|ln|log)(?=[a-zA-Z]$)")
_HALF_DAY = re.compile(r"[aApP]\.?\s?[mM]?\b\.*")
_POWER_OF_METRES = re.compile(r"\s*\^\s*(?:[23](?!\d)|\{\s*-?[23]\s*\})")
_X_TIMES = re.compile(r"\s*(?:\d|\()")


def tokens(text: str, nested: int = 0) -> list[Token]:
    """The tokens of a text; raises Unreadable at a character or command that mathematics has no use for."""
    if nested > _MOST_NESTED:
        raise Unreadable(f"text inside text more than {_MOST_NESTED} deep")
    return _Scanner(normal(text), nested).run()


class _Scanner:
    """One pass over a normal text."""

    def __init__(self, text: str, nested: int) -> None:
        self.text = text
        self.nested = nested
        self.at = 0
        self.found: list[Token] = []
        self.spaced = False
        self.depth = 0
        self.parted = ", " in text

    def run(self) -> list[Token]:
        text, end = self.text, len(self.text)
        while self.at < end:
            blank = _BLANK.match(text, self.at)
            if blank:
                self.at, self.spaced = blank.end(), True
                continue
            start = self.at
            self.one(text[start])
            if self.at == start:
                raise Unreadable(f"{text[start : start + 12]!r} is not mathematical notation")
        return self.found

    def put(self, kind: str, text: str, end: int) -> None:
        self.found.append(Token(kind, text, self.spaced))
        self.at, self.spaced = end, False

    def one(self, char: str) -> None:
        if char.isdigit() or char == ".":
            self.number()
        elif char == "\\":
            self.command()
        elif match := _LETTERS.match(self.text, self.at):
            self.letters(match.group(), match.end())
        elif match := _OTHER_LETTERS.match(self.text, self.at):
            word = match.group()
            if word in SEPARATORS:
                self.put("sep", SEPARATORS[word], match.end())
            else:
                self.put("word", word, match.end())
        elif match := _SIGNS.match(self.text, self.at):
            self.sign(match.group(), match.end())
        elif char == '"':
            self.at += 1

    def number(self) -> None:
        text, at = self.text, self.at
        if match := _REPEATING.match(text, at):
            self.put("repeating", match.group(), match.end())
            return
        if (match := _GROUPED.match(text, at)) and (self.depth == 0 or self.parted) and not self.after_list_comma():
            self.put("num", match.group().replace(",", ""), match.end())
            return
        if match := _SPACE_GROUPED.match(text, at):
            self.put("num", re.sub(r"[^\d.]", "", match.group()), match.end())
            return
        if text.startswith("...", at):
            self.put("const", "dots", at + 3)
        elif match := _NUMBER.match(text, at):
            self.put("num", match.group(), match.end())
        elif text.startswith(".", at) and self.found and self.found[-1].kind == "num":
            self.at += 1  # `5.` with nothing after the dot

    def after_list_comma(self) -> bool:
        """Whether `1,` stands directly before, as in 1,2,300."""
        return (
            len(self.found) > 1
            and self.found[-1] == Token("sep", ",")
            and not self.spaced
            and self.found[-2].kind == "num"
        )

    def sign(self, sign: str, end: int) -> None:
        if sign in "([{":
            self.depth += 1
            self.put("open", sign, end)
        elif sign in ")]}":
            self.depth -= 1
            self.put("close", sign, end)
        elif sign in (",", ";"):
            self.put("sep", sign, end)
        elif sign == "|":
            self.put("bar", "|", end)
        elif sign == "...":
            self.put("const", "dots", end)
        elif sign in ("<=", ">=", "=<", "=>", "!=", "<>", "==", ":=", "=", "<", ">", ":"):
            kinds = {"=<": "<=", "=>": "implies", "<>": "!=", "==": "=", ":=": "="}
            self.put("rel", kinds.get(sign, sign), end)
        else:
            starts = not self.found or self.found[-1].kind in ("open", "sep", "rel")
            self.put("op", {"**": "^", "+/-": "pm", "+-": "pm" if starts else "+"}.get(sign, sign), end)
            if sign == "+-" and not starts:
                self.found.append(Token("op", "-"))

    def letters(self, run: str, end: int) -> None:
        text = self.text
        after = text[end : end + 1]
        if run.lower() in ("a", "p", "am", "pm") and self.is_clock() and (clock := _HALF_DAY.match(text, self.at)):
            self.put("word", run[0].lower() + "m", clock.end())
        elif run.lower() in ("and", "or", "und", "oder") and self.found:
            self.put("sep", SEPARATORS[run.lower()], end)
        elif run in WORD_CONSTANTS:
            self.put("const", WORD_CONSTANTS[run], end)
        elif run in ("e", "i"):
            self.put("const", run, end)
        elif run in FUNCTIONS or (run.lower() in FUNCTIONS and after == "("):
            self.put("func", run.lower(), end)
        elif run in ("x", "X") and self.is_times(end):
            self.put("op", "*", end)
        elif run == "U" and self.found and self.found[-1].text in ")]}":
            self.put("op", "cup", end)
        elif run in ("percent", "per") and self.percent(run, end):
            pass
        elif run.lower() in SCALES and self.found and self.found[-1].kind == "num":
            self.put("scale", str(SCALES[run.lower()]), end)
        elif run in GREEK and len(run) > 2:
            self.put("sym", run, end)
        elif match := _LETTER_ABOVE.match(run):
            self.put("func", match.group(), self.at + match.end())
        elif len(run) == 1:
            self.put("letter" if self.spaced else "sym", run, end)
        elif len(run) > 2 and after == "(":
            self.put("func", run, end)
        else:
            self.put("letters", run, end)

    def is_clock(self) -> bool:
        """Whether `4:30` stands directly before."""
        return len(self.found) > 2 and self.found[-1].kind == "num" and self.found[-2][:2] == ("rel", ":")

    def is_times(self, end: int) -> bool:
        """Whether an x stands between two numbers."""
        return bool(self.found) and self.found[-1].kind == "num" and _X_TIMES.match(self.text, end) is not None and (
            self.text[end : end + 1] != "(" or self.spaced
        )  # fmt: skip

    def percent(self, run: str, end: int) -> bool:
        if run == "per":
            match = re.compile(r"\s?cent\b").match(self.text, end)
            if not match:
                return False
            end = match.end()
        self.put("op", "%", end)
        return True

    def command(self) -> None:
        match = _COMMAND.match(self.text, self.at)
        if match is None:
            raise Unreadable("a lone backslash")
        name, end = match.group()[1:].rstrip("*"), match.end()
        if name in SILENT:
            if name in ("left", "right") and self.text[end : end + 1] == ".":
                end += 1
            self.at = end
        elif name in TEXT or name in UPRIGHT:
            self.styled(name, end)
        elif name in ACCENTS:
            self.at = end
        elif name == "mathbb":
            letter = re.compile(r"\s*\{?\s*([A-Za-z])\s*\}?").match(self.text, end)
            if letter is None or letter[1] not in "RZNQC":
                raise Unreadable("\\mathbb without a known letter")
            self.put("const", letter[1], letter.end())
        elif name in ("\\", "cr", "newline"):
            self.put("row", "\\\\", end)
        elif name in ("Rightarrow", "implies", "therefore", "Longrightarrow"):
            self.put("rel", "implies", end)
        elif name in ("lor", "vee"):
            self.put("sep", "or", end)
        elif name in ("land", "wedge"):
            self.put("sep", "and", end)
        else:
            self.named(name, end)

    def named(self, name: str, end: int) -> None:
        if name in RELATIONS:
            self.put("rel", RELATIONS[name], end)
        elif name == "not":
            raise Unreadable("a struck-out relation")
        elif name in OPERATORS:
            self.put("op", OPERATORS[name], end)
        elif name in OPEN:
            self.depth += 1
            self.put("open", OPEN[name], end)
        elif name in CLOSE:
            self.depth -= 1
            self.put("close", CLOSE[name], end)
        elif name in ("|", "vert", "mid", "Vert"):
            self.put("bar", "\\mid" if name == "mid" else "|", end)
        elif name in CONSTANTS:
            self.put("const", CONSTANTS[name], end)
        elif name in ("dfrac", "tfrac", "cfrac", "frac", "dbinom", "tbinom", "binom"):
            self.put("cmd", "binom" if "binom" in name else "frac", end)
        elif name == "sqrt":
            self.put("cmd", "sqrt", end)
        elif name in ("circ", "degree", "degrees"):
            self.put("deg", "", end)
        elif name == "prime":
            self.put("op", "'", end)
        elif name in ("%", "&", "#"):
            self.put("op", "%", end) if name == "%" else self.put("sep", "and", end)
        elif name in ("begin", "end"):
            kind = re.compile(r"\s*\{([A-Za-z]+)\*?\}").match(self.text, end)
            if kind is None:
                raise Unreadable(f"\\{name} without a name")
            self.put("begin" if name == "begin" else "close_env", kind[1], kind.end())
        elif name in FUNCTIONS:
            self.put("func", name, end)
        elif name in GREEK:
            self.put("sym", name, end)
        elif name in ("top", "intercal"):
            self.put("sym", "T", end)
        else:
            self.glued(name)

    def glued(self, name: str) -> None:
        r"""`\cotx`, `\pir`: a known command with letters run into it."""
        for cut in range(len(name) - 1, 1, -1):
            head = name[:cut]
            if head in FUNCTIONS or head in GREEK or head in CONSTANTS or head in OPERATORS or head in RELATIONS:
                self.named(head, self.at + 1 + cut)
                return
        raise Unreadable(f"unknown command \\{name[:20]}")

    def styled(self, name: str, end: int) -> None:
        r"""The content of `\text{...}` and its kin."""
        content, end = _braced(self.text, end)
        plain = content.strip()
        word = plain.strip(" ,;.()[]").lower()
        if name in UPRIGHT:
            self.upright(plain, end)
        elif word in SCALES and self.after_value():
            self.put("scale", str(SCALES[word]), end)
        elif not plain:
            self.at, self.spaced = end, True
        elif word in SEPARATORS and word != "y":
            self.put("sep", SEPARATORS[word], end)
        elif plain in (",", ";"):
            self.put("sep", plain, end)
        elif word in ("if", "for", "when", "where", "otherwise", "not"):
            raise Unreadable(f"a condition in words ({word})")
        elif any(c.isdigit() for c in plain) or "\\" in plain or not any(c.isalpha() for c in plain) or len(word) == 1:
            inner = tokens(plain, self.nested + 1)
            kind = "word" if plain in UNIT_LETTERS and self.after_value() else inner[0].kind if inner else ""
            self.found += [t if n else t._replace(kind=kind, spaced=True) for n, t in enumerate(inner)]
            self.at, self.spaced = end, False
        else:
            self.spaced = self.spaced or content[0] in " ~"
            self.put("word", plain, end)

    def after_value(self) -> bool:
        return bool(self.found) and self.found[-1].kind in ("num", "deg", "close", "repeating")

    def upright(self, plain: str, end: int) -> None:
        if plain in FUNCTIONS:
            self.put("func", plain, end)
        elif plain in ("e", "i"):
            self.put("const", plain, end)
        elif plain == "m" and self.after_value() and _POWER_OF_METRES.match(self.text, end):
            self.put("word", plain, end)
        elif len(plain) == 1 and plain.isalpha():
            self.put("letter" if self.found and self.found[-1].kind == "num" else "sym", plain, end)
        elif plain.replace(" ", "").isalpha() or (self.after_value() and unit_of(plain) is not None):
            self.put("word", plain, end)
        else:
            inner = tokens(plain, self.nested + 1)
            self.found += inner
            self.at, self.spaced = end, False


_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)


def _braced(text: str, at: int) -> tuple[str, int]:
    """The content of the brace group at `at` and where it ends; one character where there is no brace."""
    while at < len(text) and text[at].isspace():
        at += 1
    if not text.startswith("{", at):
        return text[at : at + 1], min(len(text), at + 1)
    depth = 0
    for brace in _BRACE.finditer(text, at):
        depth += {"{": 1, "}": -1}.get(brace.group(), 0)
        if depth == 0:
            return text[at + 1 : brace.start()], brace.end()
    raise Unreadable("a brace is never closed")
