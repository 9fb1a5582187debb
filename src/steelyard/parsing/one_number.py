"""The one number that a text commits to.

Numbers of a text are joined into groups by what stands between them, and one group is chosen:
- `28 + 32 = 60` is 60; `28 + 32`, `5-7`, `between 5 and 7`, `42 or 43` and `3, 4` commit to nothing;
- numbers in brackets, years, notes, checks and thresholds count only where nothing else does (`number_weights`);
- a number that is supposed, called wrong or given up on (`12, but I cannot answer`) is none.
Of a marked answer the number that opens it counts, of prose a number alone on its line, else the last number of the
last sentence that has one. With a unit, a number with an equal unit of the same dimension is converted and beats a
bare one in prose; other dimensions are no candidates. Without a unit, units and currency signs drop, never rescale.
Not covered: numbers that only knowledge of the question could choose between.
Easy to break: linear time. Only WINDOW characters are read, and every pattern looks a bounded way around.
"""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from steelyard.parsing.number_weights import Group, weigh
from steelyard.parsing.quantities import Term, as_wanted, simple, terms
from steelyard.parsing.quantity_names import two_names
from steelyard.parsing.units import Unit, convert, parse_unit

WINDOW = 8_000
"""Characters in which a number is looked for: the first of a marked answer, the last of prose."""


class Number(NamedTuple):
    """A number that a text commits to, at [start, end).

    `percent` says that it stood before a per cent sign while no unit was asked for; the value is the number before it.
    """

    value: Fraction
    start: int
    end: int
    percent: bool = False


class Uncommitted(NamedTuple):
    """Numbers were found and none is committed to; `reason` says why."""

    reason: str


_GIVES_UP = re.compile(
    r"\b(?:cannot|can['’]?t|could not|couldn['’]?t|unable to|not able to)[ ](?:\w{1,12}[ ])?(?:answer|compute|solve"
    r"|determine|calculate|help)\b",
    re.IGNORECASE,
)
"""`I was asked for 12 but cannot answer.`"""
_BOUNDARY = re.compile(r"\n|[.!?。；;](?=[\s)\"*]|$)|。")
_ONLY_NUMBER_LINE = re.compile(r"[\s*_#>=$:~≈\"']{0,12}")
_TO = re.compile(
    r"(?:,|and|but|,? and)[ ]?(?:at most|max(?:imum)?|no more than|less than|up to)"
    r"|(?:and )?(?:up |down )?to|through|thru|bis|until|à|до|至|到|~|\.\.\.?|…",
    re.IGNORECASE,
)
_EITHER = re.compile(
    r"(?:[A-Za-z]{1,15}[ ]){0,2},?[ ]?[(]?(?:and/or|or|oder|vs\.?|versus|perhaps|maybe|possibly)"
    r"(?:[ ][A-Za-z']{1,12}){0,2}[ ]?=?"
    r"|[,.;?]?[ ]?(?:(?:or|and|but) )?(?:it )?(?:could|might|may|can) (?:also |even )?be"
    r"|\?(?:[ ]or)?(?:[ ]maybe)?|或者?",
    re.IGNORECASE,
)
_AND = re.compile(r",?[ ]?(?:and|&|und|et|y)|(?:[A-Za-z]{1,15}[ ]){1,2}and", re.IGNORECASE)
_ASSIGN = re.compile(r"(?:[,;]|,? ?and)[ ]?[A-Za-z][ ]?=")
_ASSIGNED = re.compile(r"(?<!\w)[A-Za-z][ ]?=[ ]?$")
_COMMA = re.compile(r"[,;、]")
_IS = r"(?:is equal to|equals|equal|is|makes|gives|which is|that is|i\.e\.)"
_EQUAL = re.compile(rf"={{1,3}}|→|-+>|=>|⇒|[,;(]?[ ]?{_IS}(?:,?[ ]{_IS}|[ ]?=)?,?|[A-Za-z]{{1,12}}[ ]?=", re.IGNORECASE)
_ABOUT = re.compile(r"[=]?[≈~≃≅][=]?|(?:is |or |which is )?(?:approximately|roughly|about|approx\.?)", re.IGNORECASE)
_OPERATOR = re.compile(
    r"(?:[A-Za-z]{1,15}[ ]){0,2}(?:[+*×·÷/−-]|--|\*\*)|[xX]|plus|minus|times|over"
    r"|divided by|multiplied by|added to|mod",
    re.IGNORECASE,
)
_ERROR = re.compile(r"±|\+/?[-−]|plus or minus|give or take", re.IGNORECASE)
_LINKS = (
    ("error", _ERROR),
    ("range", _TO),
    ("operator", _OPERATOR),
    ("equal", _EQUAL),
    ("about", _ABOUT),
    ("either", _EITHER),
    ("and", _AND),
    ("comma", _COMMA),
)
_BETWEEN = re.compile(r"\bbetween[ ]?$", re.IGNORECASE)
_LEADING = re.compile(
    r"(?:[^\w\n]|(?<![^\W_])(?:about|approximately|approx|roughly|around|nearly|exactly|precisely|only|just|simply|equals?|equal|to|the"
    r"|value|number|is|are|be|it|its|thus|therefore|hence|so|still|now|actually|a|an|total|sum|of|in|x|y|n|usd|eur|us|rs"
    r"|circa|ca|minus|negative|plus|answer|final|result|that|this|gives?)(?![^\W_]))*+"
)
_LINE_END = re.compile(r"[ \"'*_.!?)\]}>$,;:\u00a0\t\r]*(?:\n|$)")
_MAYBE_ALONE = r"[^\w\n]{0,12}\d[^\sA-Za-z]{0,30}[ ]?[A-Za-z%°]{0,12}[^\w\n]{0,8}(?=\n)"
_FIRST_ALONE, _LATER_ALONE = re.compile(_MAYBE_ALONE), re.compile(rf"\n{_MAYBE_ALONE}")
_SPACE = re.compile(r"\s")
_MOST_GAP = 48
_BACK = 1000


def committed_number(text: str, unit: str | None = None, *, marked: bool = False) -> Number | Uncommitted | None:
    """The number that `text` commits to, in `unit` where one is asked for; None where it holds no number at all.

    `marked` says that the text is a marked answer (after `Answer:`, in a box), where the number that opens it counts.
    """
    window, offset = _window(text, marked=marked)
    if window is None:
        return Uncommitted(f"no white space in {WINDOW} characters")
    wanted = parse_unit(unit) if unit else None
    chosen, shift = (None, 0) if marked else _in_last_line(window, wanted)
    if chosen is None:
        region, shift = simple(window), 0
        groups = weigh(_groups(terms(region, wanted), region, wanted), region)
        chosen = (_first(groups, region) if marked else _only_line(groups, region)) or _last(groups, region, wanted)
    if chosen is None:
        return None
    if chosen.term is None:
        return Uncommitted(chosen.reason)
    term = chosen.term
    percent = wanted is None and term.unit is not None and term.unit.name == "%"
    value = term.value if percent else _in_unit(term, wanted)
    return Number(value, offset + shift + term.start, offset + shift + term.end, percent)


def _in_last_line(text: str, wanted: Unit | None) -> tuple[Group | None, int]:
    """What the whole text would yield, from its last line alone, where that is sure; and where the line starts.

    Only for speed: most answers stand in the last line, and looking around a number is what costs.
    """
    end = len(text.rstrip())
    line = text.rfind("\n", 0, end) + 1
    if not line or _FIRST_ALONE.match(text, 0, end) or _LATER_ALONE.search(text, 0, end):
        return None, 0
    region = simple(text[line - 1 :])
    groups = [g for g in weigh(_groups(terms(region, wanted), region, wanted), region) if g.weight]
    if wanted and not any(group.term and group.term.unit for group in groups):
        return None, 0
    return _last(groups, region, wanted), line - 1


def _window(text: str, *, marked: bool) -> tuple[str | None, int]:
    """The part to read and where it starts: the front of a marked answer, else the end; cut at white space."""
    if len(text) <= WINDOW:
        return text, 0
    if marked:
        cut = max(text.rfind(" ", 0, WINDOW), text.rfind("\n", 0, WINDOW))
        return (text[:cut], 0) if cut >= 0 else (None, 0)
    space = _SPACE.search(text, len(text) - WINDOW)
    return (text[space.start() :], space.start()) if space else (None, 0)


def _in_unit(term: Term, wanted: Unit | None) -> Fraction:
    if term.unit is None:
        return term.value
    if wanted is None:
        return term.value * term.unit.factor if term.unit.dimension == "share" else term.value
    return convert(term.value, as_wanted(term.unit, wanted), wanted)


def _groups(found: list[Term], text: str, wanted: Unit | None) -> list[Group]:
    """Terms joined by what stands between them, and what each group commits to."""
    groups: list[Group] = []
    run: list[Term] = []
    links: list[str] = []
    for term in found:
        if run:
            link = _link(run[-1], term, text)
            if link == "error" or (
                run[-1].kind == "noise" and (link == "operator" or _counts_pages(run[-1], term, text))
            ):
                term = term._replace(kind="noise")
            if link and "noise" not in (term.kind, run[-1].kind) and _joins(run[-1], term, link):
                run.append(term)
                links.append(link)
                continue
            groups += _close(run, links, wanted)
        run, links = [term], []
    return groups + (_close(run, links, wanted) if run else [])


def _counts_pages(left: Term, right: Term, text: str) -> bool:
    """`page 4 of 12`, `step 2 of 5`: no answer either, where the first is none."""
    return text[left.end : right.start] == " of "


def _link(left: Term, right: Term, text: str) -> str:
    """How two neighbouring terms are joined; empty where they are not."""
    if right.start - left.end > _MOST_GAP:
        return ""
    gap = text[left.end : right.start]
    inner = gap.strip(" \u00a0()[]{}")
    if "\n" in gap or not inner:
        return "beside" if gap.strip(" \u00a0") == "" else ""
    if _AND.fullmatch(inner) and _BETWEEN.search(text, max(0, left.start - 12), left.start):
        return "range"
    if _ASSIGN.fullmatch(inner):
        return "and" if _ASSIGNED.search(text, max(0, left.start - 8), left.start) else ""
    name = next((name for name, pattern in _LINKS if pattern.fullmatch(inner)), "")
    if (name == "equal" and "(" in gap) or (name == "range" and gap.lstrip().startswith("(")):
        return ""
    if name == "operator" and _is_quotient(left, right, text, gap, inner):
        return "quotient"
    if not name:
        share = left.unit is not None and left.unit.dimension == "share" and left.kind != "other"
        return "part" if inner == "of" and (share or left.kind == "fraction") else ""
    if name == "comma" and not _LINE_END.match(text, right.end) and (left.unit is None or left.unit != right.unit):
        return ""
    return name


def _is_quotient(left: Term, right: Term, text: str, gap: str, inner: str) -> bool:
    """`(-3)/4`, `(3)/(4)`, `3 over 4`: one number written as a quotient, with nothing more to work out around it."""
    if not ((inner == "/" and gap != inner) or inner.lower() == "over") or left.unit or right.unit or not right.value:
        return False
    before = text[max(0, left.start - 4) : left.start].rstrip("(")
    after = text[right.end : right.end + 4].lstrip(") ")
    joined = before[-1:].isalnum() or before.rstrip()[-1:].isdigit() or before.rstrip()[-1:] in tuple(")]}*×·/^")
    return not joined and after[:1] not in tuple("^!*×·/(√") and {left.kind, right.kind} == {"number"}


def _joins(left: Term, right: Term, link: str) -> bool:
    if link == "range" and left.unit and right.unit and left.unit.dimension != right.unit.dimension:
        return False  # `drops by 20% to $80`
    if link in ("and", "comma", "beside"):
        same = (left.unit.dimension if left.unit else "") == (right.unit.dimension if right.unit else "")
        return same and left.kind != "other"
    return True


def _close(run: list[Term], links: list[str], wanted: Unit | None) -> list[Group]:
    """The group of joined terms as a list of at most one."""
    start, end = run[0].start, run[-1].end
    if run[0].kind == "noise":
        return []
    chosen = _chain(run, links, wanted)
    if isinstance(chosen, str):
        return [] if {term.kind for term in run} == {"other"} else [Group(start, end, None, chosen)]
    if chosen.kind == "other":
        return []
    if chosen.kind in ("huge", "expression"):
        reason = "the number cannot be read" if chosen.kind == "huge" else "a power or root that is not worked out"
        return [Group(start, end, None, reason)]
    return [Group(start, end, chosen)]


def _chain(run: list[Term], links: list[str], wanted: Unit | None) -> Term | str:
    """What a chain of equal sides commits to: its last side, or its first where only that is one number."""
    sides: list[tuple[list[Term], list[str]]] = [([run[0]], [])]
    joints: list[str] = []
    for term, link in zip(run[1:], links, strict=True):
        if link in ("equal", "about"):
            sides.append(([term], []))
            joints.append(link)
        else:
            sides[-1][0].append(term)
            sides[-1][1].append(link)
    if wanted and wanted.dimension == "share" and not joints and set(links) == {"part"}:
        return run[0]
    values = [_side(side, inner, wanted) for side, inner in sides]
    chosen = values[-1]
    if not joints:
        return chosen
    before, first = values[-2], values[0]
    if joints[-1] == "about" and isinstance(before, Term) and before.kind in ("number", "fraction"):
        return before
    return first if isinstance(chosen, str) and isinstance(first, Term) else chosen


def _side(side: list[Term], links: list[str], wanted: Unit | None) -> Term | str:
    """The one value of a side of an equation, or why it has none."""
    if not links:
        return side[0]
    kinds = set(links)
    if links == ["quotient"]:
        return side[0]._replace(end=side[1].end, value=side[0].value / side[1].value, kind="fraction")
    if wanted and kinds <= {"beside", "and", "comma"} and all(term.unit for term in side):
        factors = [term.unit.factor for term in side if term.unit]
        if all(a > b for a, b in pairwise(factors)):
            total = sum((_in_unit(term, wanted) for term in side), Fraction(0))
            return Term(side[0].start, side[-1].end, total, "number", wanted)
    if kinds <= {"either", "comma"} and "either" in kinds:
        shared = next((term.unit for term in reversed(side) if term.unit), None)
        same = [term if term.unit else term._replace(unit=shared) for term in side]
        readable = all(term.kind in ("number", "fraction", "quotient") for term in same)
        if readable and len({_in_unit(term, wanted) for term in same}) == 1:
            return same[0]
    if kinds <= {"operator", "part", "quotient"}:
        return "a sum that is not worked out, or a range"
    return {"range": "a range", "either": "alternatives"}.get(links[-1], "several numbers side by side")


def _first(groups: list[Group], text: str) -> Group | None:
    """The number that a marked answer opens with."""
    first = next((group for group in groups if group.weight), None)
    return first if first and _LEADING.fullmatch(text[: first.start].lower()) else None


def _only_line(groups: list[Group], text: str) -> Group | None:
    """The number that stands alone on a line, where there is one such line."""
    alone = [group for group in groups if group.weight and _is_alone(group, text)]
    return alone[0] if len(alone) == 1 else None


def _is_alone(group: Group, text: str) -> bool:
    if group.term is None or (group.start, group.end) != (group.term.start, group.term.end):
        return False
    low = max(0, group.start - _MOST_GAP)
    line = text.rfind("\n", low, group.start) + 1
    if not line and low:
        return False
    return bool(_ONLY_NUMBER_LINE.fullmatch(text, line, group.start) and _LINE_END.match(text, group.end))


def _last(groups: list[Group], text: str, wanted: Unit | None) -> Group | None:
    """The last number of the last sentence that has one; asides only where there is nothing else."""
    pool = [group for group in groups if group.weight] or groups
    if wanted and any(group.term and group.term.unit for group in pool):
        pool = [group for group in pool if group.term is None or group.term.unit]
    if not pool:
        return None
    last, begin = pool[-1].start, 0
    for boundary in _BOUNDARY.finditer(text, max(0, last - _BACK), last):
        begin = boundary.end()
    sentence = [group for group in pool if group.start >= begin]
    strongest = max(group.weight for group in sentence)
    strong = [group for group in sentence if group.weight == strongest]
    stop = _BOUNDARY.search(text, strong[-1].end)
    if _GIVES_UP.search(text, strong[-1].end, min(stop.start() if stop else len(text), strong[-1].end + _BACK)):
        return Group(strong[-1].start, strong[-1].end, None, "the answer says that there is none")
    return _two_quantities(strong, text) or strong[-1]


def _two_quantities(groups: list[Group], text: str) -> Group | None:
    """A group that commits to nothing where the last two numbers are different quantities named side by side."""
    left, right = groups[-2:] if len(groups) > 1 else groups * 2
    if left.term is None or right.term is None:
        return None
    names = two_names(text, left.start, left.end, right.start)
    if names is None or (left.term.value, left.term.unit) == (right.term.value, right.term.unit):
        return None
    return Group(left.start, right.end, None, f"two quantities: {names[0]} and {names[1]}")
