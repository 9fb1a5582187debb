"""Family `orbital-compare`: which of two to four objects is highest, fastest, most inclined; by letter or yes/no.

Every question names a quantity that follows from the numbers in the prompt and a direction. Levels: easy = compare
printed numbers of two objects; medium = printed numbers of three or four, or one inverse step (period from mean
motion) with two; hard = a derived quantity (apogee from axis and eccentricity, say) or an inverse step, with four.
Gap rule: computed from the printed numbers, the best differs from the next by at least the question's `gap` of the
larger of the two and by `least`; closer draws are refused by rule and drawn again, and where objects are too alike for
the drawn question (payloads of one constellation, say) another of its shape is asked.
Not covered: answers in words; ties.
Easy to break: the gold must come from the rounded, printed numbers; the letters must stay balanced.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from random import Random

import msgspec

from steelyard.errors import InputError
from steelyard.families.orbital import objects
from steelyard.families.orbital.compare_questions import COLUMNS, QUESTIONS, Question, Row
from steelyard.families.orbital.elements import EARTH_RADIUS_KM, Elements
from steelyard.families.orbital.tapes import Tapes, places
from steelyard.family import Family, Spoil
from steelyard.item import Item

NAME = "orbital-compare"
LETTERS = "ABCD"
_MOST_DRAWS = 400
_YESNO_SHARE = 0.3
_RADIUS_NOTE = f"Altitudes are above the Earth's equatorial radius of {EARTH_RADIUS_KM} km."


RULES = {
    "too-close": "one object was drawn twice, or the best differs from the next by less than the question's gap",
    "first-column": "the object that leads in the first column is the answer, where another was wanted",
}
"""Every reason for which a draw is refused, in words."""

_PLANS: dict[str, tuple[tuple[str, int], ...]] = {
    "easy": (("direct", 2),),
    "medium": (("direct", 3), ("direct", 4), ("inverse", 2)),
    "hard": (("inverse", 4), ("derived", 3), ("derived", 4)),
}
_SPARE = {
    "direct": ("inclination", "eccentricity", "apogee altitude", "period"),
    "inverse": ("eccentricity",),
    "derived": ("inclination",),
}


class Asked(msgspec.Struct, frozen=True):
    """A prompt read back: its rows in letter order, the question, the direction, and yes/no or by letter.

    `sign` is +1 where the greatest value is asked for, -1 for the least; `pair` is (subject, other) of a yes/no item.
    """

    rows: list[Row]
    question: Question
    sign: int
    pair: tuple[int, int] | None = None

    @property
    def values(self) -> list[float]:
        """The asked-for quantity of every object, in letter order."""
        return [self.question.value(row) for row in self.rows]

    @property
    def ranking(self) -> list[int]:
        """Positions of the objects, the answer first."""
        return sorted(range(len(self.rows)), key=lambda i: -self.sign * self.values[i])


def _drawn_from(seed: str, catalogue: str | None, level: str) -> Iterator[Item | str]:
    return _outcomes(seed, objects.source(catalogue), level)


_TAPES = Tapes(_drawn_from)
make, refusals = _TAPES.make, _TAPES.refusals


def _outcomes(seed: str, source: objects.Source, level: str) -> Iterator[Item | str]:
    for index, difficulty in places(level):
        rng = Random(f"{seed}/{index}")
        shape, size = rng.choice(_PLANS[difficulty])
        yesno = size == 2 and rng.random() < _YESNO_SHARE
        question = rng.choice([q for q in QUESTIONS if q.shape == shape])
        sign = rng.choice((1, -1))
        draws = _Draws(rng, source, size, [])
        question, sign, chosen = draws.about(question, sign)
        yield from draws.refused
        yes = rng.random() < 0.5
        place = (0 if yes else 1) if yesno else rng.randrange(size)
        ranked = chosen[1:]
        rng.shuffle(ranked)
        placed = [*ranked[:place], chosen[0], *ranked[place:]]
        labels = _labels(rng, question)
        cells = [_cells(e, labels) for e in placed]
        yield Item(
            id=f"{NAME}-{level + '-' if level else ''}{seed}-{index:05d}",
            input=_prompt(cells, question, sign, yesno=yesno),
            target=("yes" if yes else "no") if yesno else LETTERS[place],
            verifier={"name": "yesno"} if yesno else {"name": "choice"},
            choices=None if yesno else cells,
            group=objects.group(placed),
            family=NAME,
            domain="elements",
            difficulty=difficulty,
            provenance=source.provenance,
            license=source.license,
        )


class _Draws(msgspec.Struct, frozen=True):
    """What the objects of one item are drawn with: how many of them, and why draws were refused so far."""

    rng: Random
    source: objects.Source
    size: int
    refused: list[str]

    def about(self, question: Question, sign: int) -> tuple[Question, int, list[Elements]]:
        """The question and direction with objects that differ in it, or another one that has such objects."""
        others = [(q, s) for q in QUESTIONS for s in (1, -1) if q.shape == question.shape]
        found = objects.asked_about(self.rng, (question, sign), others, lambda one: self.clear(*one))
        if found is None:
            raise InputError(
                f"{_MOST_DRAWS} draws held no {self.size} objects that differ clearly in {question.name}, nor in any "
                "other; use a catalogue of more, and more varied, objects"
            )
        return *found[0], found[1]

    def clear(self, question: Question, sign: int) -> list[Elements] | None:
        """Objects of one item, the answer first, the best apart from the second by the question's gap, or None.

        A derived quantity should not follow from one column alone: one time in two, a draw is wanted where the object
        that leads in the first column is not the answer; when `_MOST_DRAWS` hold none, the last clear draw is taken.
        """
        tricky = question.shape == "derived" and self.rng.random() < 0.5
        clear: list[Elements] | None = None
        for _ in range(_MOST_DRAWS):
            drawn = [self.source.draw(self.rng) for _ in range(self.size)]
            asked = Asked([_row(e, question.needs) for e in drawn], question, sign)
            if len({e.norad_id for e in drawn}) < self.size or not _apart(asked):
                self.refused.append("too-close")
                continue
            clear = [drawn[i] for i in asked.ranking]
            if not tricky or asked.ranking[0] not in _leaders(asked):
                return clear
            self.refused.append("first-column")
        return clear


def _leaders(asked: Asked) -> set[int]:
    """The objects that are first when only the first column is looked at."""
    column = [row[asked.question.needs[0]] for row in asked.rows]
    return {max(range(len(column)), key=lambda i: asked.sign * column[i])}


def _apart(asked: Asked) -> bool:
    """Whether the best value stands apart from the next, computed from the printed numbers."""
    first, second = (asked.values[i] for i in asked.ranking[:2])
    size = max(abs(first), abs(second))
    return abs(first - second) >= max(asked.question.gap * size, asked.question.least_gap) and first != second


def _row(elements: Elements, labels: tuple[str, ...]) -> Row:
    return {label: round(COLUMNS[label].value(elements), COLUMNS[label].decimals) for label in labels}


def _labels(rng: Random, question: Question) -> tuple[str, ...]:
    """The columns to print: what the question needs and one that it does not, in a drawn order."""
    spare = [label for label in _SPARE[question.shape] if label not in question.needs]
    labels = [*question.needs, rng.choice(spare)] if rng.random() < 0.5 else list(question.needs)
    rng.shuffle(labels)
    return tuple(labels)


def _prompt(cells: list[str], question: Question, sign: int, *, yesno: bool) -> str:
    which, whether = question.most if sign > 0 else question.least
    note = f"{_RADIUS_NOTE} " if any("altitude" in c for c in cells) or question.shape == "derived" else ""
    if yesno:
        table = "\n".join(f"Satellite {letter}: {text}" for letter, text in zip(LETTERS, cells, strict=False))
        asked = f"{note}Does satellite A {whether} satellite B? Answer yes or no."
        return f"Two satellites orbit the Earth.\n{table}\n\n{asked}"
    options = "\n".join(f"{letter}) {text}" for letter, text in zip(LETTERS, cells, strict=False))
    letters = f"{', '.join(LETTERS[: len(cells) - 1])} or {LETTERS[len(cells) - 1]}"
    asked = f"Which of these {len(cells)} Earth satellites {which}?"
    return f"{asked}\n\n{options}\n\n{note}Answer with one letter: {letters}."


def _cells(elements: Elements, labels: tuple[str, ...]) -> str:
    row = _row(elements, labels)
    return ", ".join(
        f"{label} {row[label]:.{COLUMNS[label].decimals}f} {COLUMNS[label].unit}".rstrip() for label in labels
    )


_OBJECT = re.compile(r"^(?:Satellite [A-D]:|[A-D]\)) (.+)$", re.MULTILINE)
_CELL = re.compile(r"([a-z][a-z -]*[a-z]) (-?\d+(?:\.\d+)?)(?: [a-z/]+)?(?:, |$)", re.ASCII)
_QUESTION = re.compile(
    r"Which of these \d Earth satellites (?P<which>.+?)\?|Does satellite A (?P<whether>.+?) satellite B\?"
)


def read_prompt(text: str) -> Asked:
    """The table and the question of a prompt; InputError where it is not one of this family's."""
    rows = [{label: float(number) for label, number in _CELL.findall(cells)} for cells in _OBJECT.findall(text)]
    found = _QUESTION.search(text)
    if not rows or not found:
        raise InputError("the prompt has no table of objects with a question about them")
    form, words = (0, found["which"]) if found["which"] else (1, found["whether"])
    for question in _readable(rows[0]):
        for sign, phrases in ((1, question.most), (-1, question.least)):
            if phrases[form] == words:
                return Asked(rows, question, sign, (0, 1) if form else None)
    raise InputError(f'the printed columns {sorted(rows[0])} do not answer "{words}"')


def _readable(row: Row) -> list[Question]:
    return [q for q in QUESTIONS if all(need in row for need in q.needs)]


def solve(item: Item) -> str:
    """The letter, or yes or no, that the printed numbers give."""
    asked = read_prompt(item.prompt)
    if asked.pair is None:
        return LETTERS[asked.ranking[0]]
    return "yes" if asked.ranking[0] == asked.pair[0] else "no"


def _letter(pick: Callable[[Asked], int | None]) -> Callable[[Item], str | None]:
    """A spoil of a by-letter item: the object that `pick` takes, where it is not the answer."""

    def spoiled(item: Item) -> str | None:
        asked = read_prompt(item.prompt)
        place = None if asked.pair is not None else pick(asked)
        return None if place is None or place == asked.ranking[0] else LETTERS[place]

    return spoiled


def _first_column_only(asked: Asked) -> int | None:
    return min(_leaders(asked)) if asked.question.shape == "derived" else None


def _other_side(item: Item) -> str | None:
    return {"yes": "no", "no": "yes"}.get(solve(item))


def _as_letter(form: str) -> Callable[[Item], str | None]:
    return lambda item: None if read_prompt(item.prompt).pair else form.format(solve(item))


def _option_text(item: Item) -> str | None:
    """The letter followed by what stands beside it."""
    asked = read_prompt(item.prompt)
    if asked.pair or item.choices is None:
        return None
    place = asked.ranking[0]
    return f"{LETTERS[place]}) {item.choices[place]}"


def _as_word(form: str) -> Callable[[Item], str | None]:
    return lambda item: form.format(solve(item).capitalize()) if read_prompt(item.prompt).pair else None


compare = Family(
    name=NAME,
    make=make,
    solve=solve,
    refusals=refusals,
    spoil={
        "runner-up": Spoil(_letter(lambda asked: asked.ranking[1]), ("wrong-choice",)),
        "opposite-direction": Spoil(_letter(lambda asked: asked.ranking[-1]), ("wrong-choice",)),
        "off-by-one-letter": Spoil(_letter(lambda asked: (asked.ranking[0] + 1) % len(asked.rows)), ("wrong-choice",)),
        "one-column-only": Spoil(_letter(_first_column_only), ("wrong-choice",)),
        "opposite-side": Spoil(_other_side, ("wrong-side",)),
    },
    vary={
        "sentence": _as_letter("The answer is {}."),
        "bold": _as_letter("The answer is **{}**."),
        "parentheses": _as_letter("({})"),
        "option": _as_letter("Option {}"),
        "option-text": _option_text,
        "full-stop": _as_word("{}."),
        "bold-word": _as_word("**{}**"),
        "answer-label": _as_word("Answer: {}"),
    },
)
