"""Whether digits are no number of their own, by what stands right before and after them.

Digits of labels (`Table 4`), names (`Apollo 11`), glued words (`B12`, `COVID-19`), formulas (`2x + 3`, `f(3)`),
denials (`not 65`, `more than 5`) and confidence remarks (`95% sure`) are not numbers that an answer commits to.
Source: forms seen in the outputs of public models and in reports about public graders.
Not covered: names that are not listed and stand apart from their digits (`Studio 54`).
Easy to break: speed. This runs for every number, so the last words are taken out once and looked up in sets.
"""

from __future__ import annotations

import re

LETTER = re.compile(r"[A-Za-zªµº\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u0370-\u052f_]")
_LABELS = frozenset(
    (
        "abbildung", "abschnitt", "act", "agent", "airbus", "apartment", "apollo", "appendix", "approach", "apt",
        "area", "ariane", "article", "boeing", "building", "bus", "call", "case", "catch", "channel", "chapter",
        "chapters", "choice", "clause", "corollary", "cosmos", "definition", "district", "doi", "episode", "eq", "eqn",
        "equation", "equations", "example", "examples", "exercise", "falcon", "fax", "fig", "figure", "figures",
        "flight", "floor", "footnote", "formula", "galaxy", "gate", "gemini", "highway", "http", "hypothesis", "id",
        "interstate", "iphone", "iridium", "isbn", "iso", "issue", "item", "java", "kapitel", "law", "lemma", "lesson",
        "line", "lines", "mark", "method", "mobile", "model", "module", "norad", "note", "object", "objects", "option",
        "options", "p", "page", "pages", "paragraph", "part", "phase", "phone", "platform", "postcode", "pp", "problem",
        "problems", "proposition", "psalm", "python", "question", "questions", "ref", "reference", "release", "rfc",
        "room", "round", "route", "rule", "sat", "satellite", "satellites", "scene", "schritt", "season", "sec", "sect",
        "section", "sections", "sector", "seite", "sonnet", "soyuz", "stage", "starlink", "step", "steps", "studio",
        "suite", "symphony", "tab", "tabelle", "table", "tables", "team", "tel", "telephone", "theorem", "type", "v",
        "ver", "verse", "version", "vol", "volume", "voyager", "windows", "zip", "zone",
    )
)  # fmt: skip
_NUMBERED = frozenset(
    (
        "catalog", "catalogue", "doi", "fax", "id", "isbn", "mobile", "norad", "phone", "postcode", "tel",
        "telephone", "zip",
    )
)  # fmt: skip
_COUNTED = frozenset(("no", "nr", "number", "code", "cat"))
_CODES = frozenset(("error", "status", "exit", "area", "country"))
_NOT = frozenset(
    ("not", "nicht", "niet", "pas", "never", "unlike", "cannot", "without", "isn't", "wasn't", "n't", "aren't", "can't")
)
_NOT_ELSEWHERE = ("不是", " не", "Не", " não é", "Não é")
_FILLERS = frozenset(
    (
        "a", "about", "around", "as", "be", "equal", "equals", "exactly", "the", "to",
    )
)  # fmt: skip
_MORE = frozenset(
    (
        "bigger", "fewer", "greater", "higher", "larger", "less", "lower", "more", "other", "rather", "smaller",
    )
)  # fmt: skip
_FUNCTIONS = frozenset(("sqrt", "log", "ln", "sin", "cos", "tan", "exp", "squared", "root"))
_WORDS_BACK = re.compile(r"([A-Za-z']+)(?:[ ]+([A-Za-z']+))?(?:[ ]+([A-Za-z']+))?")
_AFTER_LABEL = re.compile(r"\.?[ \u00a0]?#?[ \u00a0]{0,2}")
_AFTER_NUMBERED = re.compile(r"[ ]?[:.]?[ ]?")
_CONFIDENT_BEFORE = re.compile(
    r"(?:confidence|certainty|likelihood)(?:[ ](?:level|score|rating|interval|is|of|at|in|about|around|roughly|my|the"
    r"|this|answer|estimate|percent)|[\s:=*_~\"'(\[)\]|-]|\d{1,3}(?:\.\d)?[%-]{0,2})*+$",
    re.IGNORECASE,
)
_CONFIDENT_AFTER = re.compile(r"[ ]{0,2}%?[ ]?(?:[a-z]{1,12}[ ])?(?:confiden|sure\b|certain|CI\b)", re.IGNORECASE)
_HOST = re.compile(r"(?:\blocalhost|\w\.[a-z]{2,24}|\d\.\d{1,3}|\]):$", re.IGNORECASE)
_OPERATED = re.compile(
    r"(?:(?<![A-Za-z])[A-Za-zπθ]|[)\]}])[ ]?(?:[+*/×·÷^]|\^[ ]?\{|-(?=[ ]?$))[ ]?$"
    r"|[√π][ ]?[({]?$|\w[({](?:[A-Za-z]{1,3}[ ]?=[ ]?)?$"
)
_OPERATORS = frozenset("+*/×·÷^-√π({=")
_FORMULA_AFTER = re.compile(
    r"[ ]?(?:[+*×·÷][ ]?[(\[]|\^[ ]?\(|[+*×·÷^][ ]?(?:[A-Za-z√π\\]|\d*[a-z]\b))|[ ]?/[ ]?[A-Za-z](?![A-Za-z])"
    r"|[ ]?-[ ]?(?:[b-zB-HJ-Z]\b|√|π|\\)|[ ]?[<≤][ ]?[A-Za-z](?!\w{0,9}>)|[ ]?[√π]"
)
_ONE_LETTER = re.compile(r"-[A-Za-z](?![A-Za-z])")
_BETWEEN = "+*/×·÷- ()[]{}\u00a0"
_JOINED = 9
_BACK = 60


def is_label(text: str, start: int, end: int, after: int = -1) -> bool:
    """Whether the digits at [start, end), sign and currency included, are no number because of their surroundings.

    `after` is where the number before ends: what stands between two numbers is for their joining to judge.
    """
    left = text[max(0, start - _BACK) : start]
    last, before = left[-1:], left[-2:-1]
    if last and last not in " \n" and _is_glued(text, left, last, before, end):
        return True
    bare = left.rstrip(" \u00a0")
    gap = text[after:start] if 0 <= start - after < _JOINED and after >= 0 else ""
    joined = bool(gap.strip(" ()[]{}\u00a0")) and not gap.strip(_BETWEEN)
    if bare and bare[-1] in _OPERATORS and not joined and _OPERATED.search(left[-8:]):
        return True
    if _follows_words(left):
        return True
    low = left.lower()
    if ("confid" in low or "certain" in low or "likelihood" in low) and _CONFIDENT_BEFORE.search(left):
        return True
    return _CONFIDENT_AFTER.match(text, end) is not None


def is_formula(text: str, end: int) -> bool:
    """Whether the digits that end at `end` go on as a word or a formula (`5x`, `2-D`, `3 + x`)."""
    return any(pattern.match(text, end) for pattern in (LETTER, _ONE_LETTER, _FORMULA_AFTER))


def _is_glued(text: str, left: str, last: str, before: str, end: int) -> bool:
    if LETTER.match(last) or last in "^@\\±§¶第":
        return True
    if last == "'":
        return before.isalpha() or text.startswith("s", end)
    if last == "#":
        return before != "#"
    if last in ".-/−+":
        return bool(before) and (LETTER.match(before) is not None or before == last == "/")
    if last == ":":
        return before == ":" or _HOST.search(left) is not None
    return _is_bound(text, left, end)


def _is_bound(text: str, left: str, end: int) -> bool:
    """`> 5`, `≠ 5`; not the arrow of `=> 5` and not `<5>`."""
    bare = left.rstrip(" =!")
    if bare[-1:] in "<≤≥≠" and bare:
        return not (bare.endswith("<") and text.startswith(">", end))
    spaced = left.rstrip(" ")
    return spaced.endswith("!=") or (bare.endswith(">") and spaced[-2:-1] not in ("=", "-"))


def _follows_words(left: str) -> bool:
    """Whether the words right before the digits make them a label or deny them."""
    if left.endswith((" ", "\u00a0")) and _is_bound("", left, 0):
        return True
    tail = left.rstrip(" .#:\u00a0$€£")
    if not tail.isascii() and tail.endswith(_NOT_ELSEWHERE):
        return True
    gap = left[len(tail) :]
    if not tail or not tail[-1].isalpha():
        return tail.endswith(("§", "¶"))
    found = _WORDS_BACK.match(tail[::-1].lower())
    if found is None:
        return False
    last, second, third = ((word or "")[::-1] for word in found.groups())
    if (last in _LABELS or (last in _COUNTED and (second in _LABELS or second in _CODES))) and _AFTER_LABEL.fullmatch(
        gap
    ):
        return True
    owner = second if last in _COUNTED or last == "is" else last
    owner = third if last == "is" and second in _COUNTED else owner
    if owner in _NUMBERED and _AFTER_NUMBERED.fullmatch(gap):
        return True
    return ":" not in gap and (_is_denial(last, second, third) or (last in _FUNCTIONS and "." not in gap))


def _is_denial(last: str, second: str, third: str) -> bool:
    if last == "es" and second == "no":
        return True
    if last == "but" and second in ("anything", "everything", "all"):
        return True
    if last == "than" or (last == "of" and second == "instead"):
        return last == "of" or second in _MORE
    if last in _FILLERS:
        if second == "than":
            return third in _MORE
        return second in _NOT or (second in _FILLERS and third in _NOT)
    return last in _NOT
