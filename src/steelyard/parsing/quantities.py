"""Numbers with sign, currency and unit at their places in a text, apart from digits that are no numbers.

A text is first made simple at equal length: one spelling of digits and dashes, no LaTeX, emphasis or addresses.
Digits of dates, clock times, versions, labels, names, formulas, denials and confidence remarks are terms of kind
`noise`; a number with a unit of another dimension than the one asked for is of kind `other`.
Source: forms seen in the outputs of public models and in reports about public graders.
Not covered: number words.
Easy to break: linear time; every pattern looks a bounded way around.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

from steelyard.parsing.number_context import LETTER, is_formula, is_label
from steelyard.parsing.numbers import NUMBER_START, fold, literal_at
from steelyard.parsing.units import CURRENCIES, Unit, find_unit, parse_unit


class Term(NamedTuple):
    """A number with its sign and unit; `kind` is a Literal's, or `other` for a unit of another dimension."""

    start: int
    end: int
    value: Fraction
    kind: str
    unit: Unit | None


_LATEX = {
    "times": "×", "cdot": "·", "ast": "*", "div": "÷", "approx": "≈", "simeq": "≈", "sim": "~", "pm": "±",
    "%": "%", "$": "$",
    "degree": "°", "pi": "π", "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "neq": "≠", "ne": "≠", "to": "→", "lt": "<",
    "rightarrow": "→", "Rightarrow": "→", "implies": "→", "infty": "∞", "mu": "µ", "Omega": "Ω", "#": "#", "&": "&",
    "pounds": "£", "euro": "€", "sqrt": "√", "equiv": "=",
}  # fmt: skip
_COMMAND = re.compile(r"\\(?:([A-Za-z]+)|([%$#&]))")
_TEXT = re.compile(
    r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mathit|rm|bf|operatorname|mbox|unit|si)[ ]?\{([^{}]{0,80})\}"
)
_DEGREE = re.compile(r"\^[ ]?(?:\\circ|\{[ ]?\\circ[ ]?\})")
_MATH = re.compile(r"(?<!\\)\$\$?(?=[^\s$])([^$\n]{1,200})(?<=[^\s$\\])\$\$?(?!\w)|\\[()\[\]]")
_THIN_SPACE = re.compile(r"\\[,;:! ](?!\d)")
_CALCULATOR = re.compile(r"<<[^<>\n]{0,200}>>")
_KEPT_COMMANDS = frozenset({"frac", "dfrac", "tfrac", "cfrac", "overline"})


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _unmath(match: re.Match[str]) -> str:
    whole, inner = match.group(), match[1]
    if inner is None:
        return " " * len(whole)
    at = whole.index(inner[0], len(whole) - len(whole.lstrip("$")))
    return " " * at + inner + " " * (len(whole) - at - len(inner))


def _command(match: re.Match[str]) -> str:
    name = match[1] or match[2]
    if name in _KEPT_COMMANDS:
        return match.group()
    return _LATEX.get(name, " ").rjust(len(match.group()))


def simple(text: str) -> str:
    """Folded text with LaTeX commands, math signs, emphasis and calculator notes replaced at equal length."""
    text = fold(text)
    if "<<" in text:
        text = _CALCULATOR.sub(_blank, text)
    if "$" in text or "\\" in text:
        text = _MATH.sub(_unmath, text)
    if "\\" in text:
        text = _DEGREE.sub(lambda m: "°".ljust(len(m.group())), text)
        text = _TEXT.sub(lambda m: m[1].rjust(len(m.group()) - 1) + " ", text)
        text = _COMMAND.sub(_command, _THIN_SPACE.sub(_blank, text))
    if "*" in text or "`" in text or "_" in text:
        text = _EMPHASIS.sub(_blank, text)
    if "://" in text or "@" in text or "www." in text:
        text = _ADDRESS.sub(_blank, text)
    if "<" in text:
        text = _TAGS.sub(_blank, text)
    return _DATES.sub(_blank, text) if _HAS_MONTH.search(text) else text


_EMPHASIS = re.compile(
    r"\*\*(?![ ]?-?\d)|(?<![\d)])\*\*(?=\S)|(?<!\w)__?(?=\S)|(?<=\S)__?(?!\w)|`{1,3}"
    r"|(?<![\w)*] )(?<![\w)*])\*(?=[-$€£\d])|(?<=[\d%.])\*(?![\w(*]|[ ]?[\d(])"
)
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s)>\]]{1,300}|(?<![\w.])[\w.+-]{1,60}@[\w-]{1,60}\.[\w.-]{1,60}")
_TAGS = re.compile(r"</?(?!sup\b)[A-Za-z][^<>\n]{0,40}>")
_HAS_MONTH = re.compile("Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec")
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)"
)
_DATES = re.compile(
    rf"\b\d{{1,2}}(?:st|nd|rd|th|\.)?[ ](?:of[ ])?{_MONTH}\b\.?(?:,?[ ]\d{{4}}\b)?"
    rf"|\b{_MONTH}\b\.?[ ]\d{{1,2}}(?:st|nd|rd|th)?\b(?![.,]\d|[ ]?%)(?:,?[ ]\d{{4}}\b)?|\b{_MONTH}\b\.?,?[ ]\d{{4}}\b"
)
_CODES = frozenset(("USD", "EUR", "GBP", "JPY", "INR", "CNY", "RMB", "CHF", "CAD", "AUD", "RS"))
_CURRENCY_BEFORE = re.compile(
    rf"(?:(?:(?<![A-Za-z])(?:US|C|A|NZ|HK|R|S))?[{CURRENCIES}][ ]{{0,12}}"
    r"|(?<![A-Za-z])(?:USD|EUR|GBP|JPY|INR|CNY|RMB|CHF|CAD|AUD|[Rr][Ss]\.?)[ ]?)$"
)
_SIGN = re.compile(
    r"(?:(?P<glued>[-−]{1,2}|\+)|(?P<spaced>−[ \u00a0]{1,4})|(?P<open>[-−])[ ]?\("
    r"|(?:[=(≈]|\b(?:is|equals|be|was))[ \u00a0]{1,4}(?P<hyphen>-[ \u00a0]{1,2})|\b(?P<word>minus|negative)[ ])$",
    re.IGNORECASE,
)
_SIGN_BACK = 16
_MINUTE = parse_unit("min")
_MULTIPLIERS = {
    "hundred": 10**2, "thousand": 10**3, "million": 10**6, "millions": 10**6, "billion": 10**9, "billions": 10**9,
    "trillion": 10**12, "lakh": 10**5, "lakhs": 10**5, "crore": 10**7, "crores": 10**7,
    "万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8,
}  # fmt: skip
_MULTIPLIER = re.compile(
    r"[ ]{0,2}(hundred|thousand|millions?|billions?|trillion|lakhs?|crores?|[万萬亿億])(?![A-Za-z])", re.IGNORECASE
)
_UNIT_SPACE = re.compile(r"[ \u00a0]{0,12}-?(?=[^\s\d])")


def terms(text: str, wanted: Unit | None) -> list[Term]:
    """Every number of a simple text, in order; `wanted` is the unit that is asked for."""
    found: list[Term] = []
    at = 0
    while start := NUMBER_START.search(text, at):
        term = _term_at(text, start.start(), found[-1].end if found else -1, wanted)
        if found and term.kind == "other" and _is_minutes(text, found[-1], term, wanted):
            term = term._replace(kind="number", unit=_MINUTE)
        found.append(term)
        at = max(term.end, start.end())
    return found


def _is_minutes(text: str, before: Term, term: Term, wanted: Unit | None) -> bool:
    """The `m` of `1h 32m`."""
    hours = before.unit is not None and before.unit.name == "h" and before.kind != "noise"
    asked = wanted is not None and wanted.dimension == "time" and term.unit is not None and term.unit.name == "m"
    return hours and asked and not text[before.end : term.start].strip()


def as_wanted(unit: Unit, wanted: Unit) -> Unit:
    """`25 degrees` is a temperature and `5 pounds` is money where that is asked for."""
    if (unit.name, wanted.dimension) in (("deg", "temperature"), ("lb", "sterling")):
        return wanted
    return unit


def _term_at(text: str, at: int, after: int, wanted: Unit | None) -> Term:
    """The number at `at` with sign, currency, multiplier and unit; `after` is where the term before it ends, or -1."""
    literal = literal_at(text, at)
    end, value, kind = literal.end, literal.value, literal.kind
    low = max(after, at - 60, 0)
    unit: Unit | None = None
    negative, start = _sign(text, low, at, after)
    bare = text[max(low, start - _SIGN_BACK) : start].rstrip(" .")
    if bare and (bare[-1] in CURRENCIES or bare[-3:].strip().upper() in _CODES):
        money = _CURRENCY_BEFORE.search(text, max(low, start - _SIGN_BACK), start)
        if money:
            found = find_unit(money.group().strip(" ."), 0, glued=True)
            unit, start = (found.unit if found else None), money.start()
            if not negative:
                negative, start = _sign(text, low, start, after)
    if kind == "noise" or is_label(text, start, end, after):
        return Term(start, end, value, "noise", None)
    multiplier = _MULTIPLIER.match(text, end)
    if multiplier:
        value, end = value * _MULTIPLIERS[multiplier[1].lower()], multiplier.end()
    kind, end, suffix = _suffix(text, end, kind)
    if suffix and (unit is None or "/" in suffix.dimension):
        unit = suffix
    if wanted and unit and as_wanted(unit, wanted).dimension != wanted.dimension and kind != "noise":
        kind = "other"
    return Term(start, end, -value if negative else value, kind, unit)


def _sign(text: str, low: int, start: int, after: int) -> tuple[bool, int]:
    """Whether a minus belongs to the number, and where the number starts with its sign."""
    low = max(low, start - _SIGN_BACK)
    bare = text[low:start].rstrip(" \u00a0")
    if not bare or bare[-1] not in "-−+sSeE(":
        return False, start
    found = _SIGN.search(text, low, start)
    if found is None:
        return False, start
    name = found.lastgroup or "glued"
    begin = found.start(name)
    if after >= 0 and not text[after:begin].strip(" \u00a0)]}"):
        return False, start
    before = text[begin - 1 : begin]
    if name == "glued" and before and (LETTER.match(before) or before in ")]}%"):
        return False, start
    return found.group(name)[0] != "+", begin


def _suffix(text: str, end: int, kind: str) -> tuple[str, int, Unit | None]:
    """What follows the digits: a unit, glued letters that make them no number, or the rest of a formula."""
    space = _UNIT_SPACE.match(text, end)
    if space and (found := find_unit(text, space.end(), glued=space.end() == end)):
        return kind, found.end, found.unit
    return ("noise" if is_formula(text, end) else kind), end, None
