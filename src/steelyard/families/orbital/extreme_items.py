"""Family `orbital-extreme`: the greatest or least of some printed orbital quantities, answered by its value.

The plainest comparison there is, in reach of a small chat model, which a choice by letter is not: the letter adds a
bias of its own. Levels: easy = two values, medium = three, hard = five. The asked-for value differs from every other
by at least 5 % of the larger of the two, computed from the printed numbers; closer draws are drawn again.
Not covered: derived quantities (see `compare_items`).
Easy to break: the gold must be the printed number, rounded as it is printed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from random import Random

import msgspec

from steelyard.errors import InputError
from steelyard.families.orbital import objects
from steelyard.families.orbital.elements import Elements, apogee_altitude_km, perigee_altitude_km, period_min
from steelyard.families.orbital.tapes import Tapes, places
from steelyard.family import Family, Spoil
from steelyard.item import Item

NAME = "orbital-extreme"
SIZES = {"easy": 2, "medium": 3, "hard": 5}
_WORDS = {2: "Two", 3: "Three", 5: "Five"}
_GAP = 0.05
_MOST_DRAWS = 400


class _Quantity(msgspec.Struct, frozen=True):
    """A printed number: its plural and singular names, unit, decimals, value, and the words for most and least."""

    plural: str
    singular: str
    unit: str
    decimals: int
    value: Callable[[Elements], float]
    most: str
    least: str


RULES = {"too-close": "one object was drawn twice, or the asked-for value is within 5 % of the next"}
"""Every reason for which a draw is refused, in words."""

_QUANTITIES = (
    _Quantity("apogee altitudes", "apogee altitude", "km", 1, apogee_altitude_km, "highest", "lowest"),
    _Quantity("perigee altitudes", "perigee altitude", "km", 1, perigee_altitude_km, "highest", "lowest"),
    _Quantity("orbital periods", "orbital period", "min", 2, period_min, "longest", "shortest"),
    _Quantity("inclinations", "inclination", "deg", 2, lambda e: e.inclination_deg, "greatest", "smallest"),
)


def _drawn_from(seed: str, catalogue: str | None, level: str) -> Iterator[Item | str]:
    return _outcomes(seed, objects.source(catalogue), level)


_TAPES = Tapes(_drawn_from)
make, refusals = _TAPES.make, _TAPES.refusals


def _outcomes(seed: str, source: objects.Source, level: str) -> Iterator[Item | str]:
    for index, difficulty in places(level):
        rng = Random(f"{seed}/{index}")
        wanted = rng.choice(_QUANTITIES), rng.choice((1, -1))
        refused: list[str] = []
        draw = partial(_draw, rng, source, SIZES[difficulty], refused)
        others = [(q, sign) for q in _QUANTITIES for sign in (1, -1)]
        found = objects.asked_about(rng, wanted, others, draw)
        yield from refused
        if found is None:
            raise InputError(
                f"{_MOST_DRAWS} draws held no {SIZES[difficulty]} objects apart in {wanted[0].singular}, nor in any "
                "other quantity; use a larger catalogue"
            )
        (quantity, sign), chosen = found
        printed = [_printed(quantity, e) for e in chosen]
        yield Item(
            id=f"{NAME}-{level + '-' if level else ''}{seed}-{index:05d}",
            input=_prompt(quantity, sign, printed),
            target=_extreme(printed, sign),
            verifier={"name": "number", "unit": quantity.unit},
            group=objects.group(chosen),
            family=NAME,
            domain="elements",
            difficulty=difficulty,
            provenance=source.provenance,
            license=source.license,
        )


def _draw(
    rng: Random, source: objects.Source, size: int, refused: list[str], asked: tuple[_Quantity, int]
) -> list[Elements] | None:
    """Distinct objects whose asked-for value stands apart from all others, or None; refused draws are listed."""
    quantity, sign = asked
    for _ in range(_MOST_DRAWS):
        drawn = [source.draw(rng) for _ in range(size)]
        values = sorted((float(_printed(quantity, e)) for e in drawn), key=lambda value: -sign * value)
        apart = abs(values[0] - values[1]) >= _GAP * max(abs(values[0]), abs(values[1]))
        if apart and len({e.norad_id for e in drawn}) == size:
            return drawn
        refused.append("too-close")
    return None


def _printed(quantity: _Quantity, elements: Elements) -> str:
    return f"{quantity.value(elements):.{quantity.decimals}f}"


def _extreme(printed: list[str], sign: int) -> str:
    return max(printed, key=lambda text: sign * float(text))


def _prompt(quantity: _Quantity, sign: int, printed: list[str]) -> str:
    given = [f"{text} {quantity.unit}" for text in printed]
    listed = f"{', '.join(given[:-1])} and {given[-1]}"
    word = quantity.most if sign > 0 else quantity.least
    return (
        f"{_WORDS[len(printed)]} Earth satellites have {quantity.plural} of {listed}. "
        f"Which is the {word} {quantity.singular}, in {quantity.unit}? Answer with the number."
    )


def _read(item: Item) -> tuple[list[str], int]:
    """The printed values of a prompt in order, and the direction: +1 for the greatest, -1 for the least."""
    given, _, asked = item.prompt.partition(". Which is the ")
    values = re.findall(r"-?\d+\.\d+", given)
    words = {q.most: 1 for q in _QUANTITIES} | {q.least: -1 for q in _QUANTITIES}
    word = asked.partition(" ")[0]
    if len(values) < 2 or word not in words:
        raise InputError(f'item "{item.id}" is not one of {NAME}: no values and direction in its prompt')
    return values, words[word]


def solve(item: Item) -> str:
    """The greatest or least of the printed values."""
    return _extreme(*_read(item))


def _opposite(item: Item) -> str:
    values, sign = _read(item)
    return _extreme(values, -sign)


def _runner_up(item: Item) -> str | None:
    values, sign = _read(item)
    return sorted(values, key=lambda text: -sign * float(text))[1] if len(values) > 2 else None


def _all_of_them(item: Item) -> str:
    return "The values are " + ", ".join(_read(item)[0]) + "."


extreme = Family(
    name=NAME,
    make=make,
    solve=solve,
    refusals=refusals,
    spoil={
        "opposite-direction": Spoil(_opposite, ("wrong-value",)),
        "runner-up": Spoil(_runner_up, ("wrong-value",)),
        "all-of-them": Spoil(_all_of_them, ("wrong-value", "no-answer")),
    },
    vary={
        "sentence": lambda item: f"The answer is {solve(item)}.",
        "bold": lambda item: f"It is **{solve(item)}**.",
    },
)
