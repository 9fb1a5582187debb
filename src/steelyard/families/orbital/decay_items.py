"""Family `orbital-decay`: in which order do four to six inert objects decay under SGP4.

Gold: the first time below 120 km, or with an error (`decaying`); successive times differ by the level's gap, at least
x1.5, so that neither constants nor the search's step can turn the order. WGS 84 constants and another implementation of
SGP4 must give every time to a tenth.
Levels: easy = four objects, gaps x2; medium = five, x1.5; hard = six, x1.5.
Shortcuts fail by choice: sets are taken in which the order of no single printed quantity (ndot, mean motion, B*,
perigee) is the right one.
Not covered: manoeuvred objects, dates, the truth: SGP4's drag is a model.
Easy to break: the gold must come from the printed elements, read back.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import combinations, pairwise
from random import Random

import msgspec

from steelyard.errors import InputError
from steelyard.families.orbital import tle
from steelyard.families.orbital.decaying import DECAYED_BELOW_KM, HORIZON_DAYS, decay_days
from steelyard.families.orbital.dynamics import Model
from steelyard.families.orbital.elements import (
    EARTH_RADIUS_KM,
    Elements,
    perigee_altitude_km,
    period_min,
)
from steelyard.families.orbital.opinions import dissent
from steelyard.families.orbital.population import SYNTHETIC, Population, population
from steelyard.families.orbital.snapshots import licence_of
from steelyard.families.orbital.tapes import Tapes, places
from steelyard.family import Family, Spoil
from steelyard.item import Item

NAME = "orbital-decay"
LETTERS = "ABCDEF"
PLANS = {"easy": (4, 2.0), "medium": (5, 1.5), "hard": (6, 1.5)}
EARLIEST_DAYS = 3.0
AGREE_SHARE = 0.1
_BLOCK = 48  # objects that belong to one item
_CANDIDATES = 16  # of them are looked at: half the most eccentric, half any
_MOST_SETS = 60  # that are looked at for one item
_ROUNDS = 40  # through a catalogue, where few decay, always in another order
MOST_AN_OBJECT = 6
_HIGHEST_PERIGEE_KM = 450.0
_LONGEST_PERIOD_MIN = 225.0  # above it the Sun and the Moon move perigee, up as well as down

RULES = {
    "no-state": "SGP4 gives no state at the start of the search",
    "outlives-search": f"the object does not decay within {HORIZON_DAYS:g} days",
    "decays-at-once": f"the object decays within {EARLIEST_DAYS:g} days",
    "too-close": "the candidates hold no set of objects that decay far enough from each other",
    "ndot-order": "sorting by the printed mean motion derivative gives the right order",
    "mean-motion-order": "sorting by mean motion gives the right order",
    "bstar-order": "sorting by B* gives the right order",
    "perigee-order": "sorting by perigee altitude gives the right order",
    "wgs84-differs": f"WGS 84 constants move a time by more than {AGREE_SHARE:.0%}",
    "engine-differs": f"another implementation of SGP4 moves a time by more than {AGREE_SHARE:.0%}",
    "overused-object": f"the object stands already in {MOST_AN_OBJECT} items",
    "no-set": "the item's candidates hold no set that is a question",
}
"""Every reason for which an object or a set is refused, in words."""

_SHORTCUTS: dict[str, Callable[[Elements], float]] = {
    "ndot-order": lambda e: -e.mean_motion_dot,
    "mean-motion-order": lambda e: -e.mean_motion_rev_per_day,
    "bstar-order": lambda e: -e.bstar,
    "perigee-order": perigee_altitude_km,
}
"""What is sorted by, ascending, to put first what looks as if it decays first."""

_OBJECT = re.compile(r"^Object ([A-F]):\n(1 .{67})\n(2 .{67})$", re.MULTILINE)
_START = re.compile(r"from (\S+)Z on", re.ASCII)


class Asked(msgspec.Struct, frozen=True):
    """What a prompt gives: the objects in printed order, and when the search starts."""

    objects: list[Elements]
    start: datetime


def _drawn_from(seed: str, catalogue: str | None, level: str) -> Iterator[Item | str]:
    made_up = catalogue in (None, SYNTHETIC) or bool(licence_of(catalogue))
    source = population(seed, catalogue, lambda e: _low(e) and (made_up or inert(e)), _ROUNDS)
    return _outcomes(seed, source, level)


_TAPES = Tapes(_drawn_from)
make, refusals = _TAPES.make, _TAPES.refusals


def inert(elements: Elements) -> bool:
    """Whether an object is debris or a rocket body by its name, and so is never manoeuvred."""
    return " DEB" in elements.name or "R/B" in elements.name


def _low(elements: Elements) -> bool:
    return perigee_altitude_km(elements) < _HIGHEST_PERIGEE_KM and period_min(elements) < _LONGEST_PERIOD_MIN


def _outcomes(seed: str, source: Population, level: str) -> Iterator[Item | str]:
    uses: Counter[int] = Counter()
    for index, difficulty in places(level):
        block = source.block(index, _BLOCK)
        if len(block) < PLANS[difficulty][0]:
            return
        used_up = {e.norad_id for e in block if uses[e.norad_id] >= MOST_AN_OBJECT}
        yield from ["overused-object"] * len(used_up)
        rng = Random(f"{seed}/{index}")
        chosen: list[Elements] = []
        for found in _sets(rng, source.start, _mixed([e for e in block if e.norad_id not in used_up]), difficulty):
            if isinstance(found, str):
                yield found
            else:
                chosen = found
        if not chosen:
            yield "no-set"
            continue
        uses.update(e.norad_id for e in chosen)
        rng.shuffle(chosen)
        text = prompt(Asked([_printed(e) for e in source.shown(chosen, rng)], source.start))
        yield Item(
            id=f"{NAME}-{level + '-' if level else ''}{seed}-{index:05d}",
            input=text,
            target=json.dumps(_right(text)),
            verifier={"name": "order"},
            family=NAME,
            domain="decay",
            difficulty=difficulty,
            **source.about(chosen),
        )


def _mixed(block: list[Elements]) -> list[Elements]:
    """Candidates half of which are eccentric: of two objects with one ndot the eccentric one lives longer."""
    ordered = sorted(block, key=lambda e: -e.eccentricity)
    half = _CANDIDATES // 2
    return [*ordered[:half], *[e for e in block if e in ordered[half:]][:half]]


def _printed(elements: Elements) -> Elements:
    return tle.elements_from_lines(*tle.write_lines(elements))


def _sets(rng: Random, start: datetime, block: list[Elements], level: str) -> Iterator[list[Elements] | str]:
    """Why candidates and sets are refused, and at last a set that is a question, if there is one."""
    days: dict[int, float] = {}
    for elements in block:
        when = _decays(_printed(_nameless(elements)), start)
        if isinstance(when, str):
            yield when
        else:
            days[elements.norad_id] = when
    size, gap = PLANS[level]
    ranked = sorted((e for e in block if e.norad_id in days), key=lambda e: days[e.norad_id])
    sets = [one for one in combinations(ranked, size) if apart([days[e.norad_id] for e in one], gap)]
    if not sets:
        yield "too-close"
    rng.shuffle(sets)
    for one in sets[:_MOST_SETS]:
        refused = refusal(one, [days[e.norad_id] for e in one], start)
        if refused is None:
            yield list(one)
            return
        yield refused


@lru_cache(maxsize=4096)
def _decays(elements: Elements, start: datetime) -> float | str:
    try:
        days = decay_days(elements, start)
    except InputError:
        return "no-state"
    if days is None:
        return "outlives-search"
    return days if days >= EARLIEST_DAYS else "decays-at-once"


@lru_cache(maxsize=4096)
def _opinion(elements: Elements, start: datetime, model: Model) -> float | None:
    """The days by a second opinion, which has twice the time; InputError where it sees no orbit at the start."""
    return decay_days(elements, start, 2 * HORIZON_DAYS, model)


def _nameless(elements: Elements) -> Elements:
    return msgspec.structs.replace(elements, norad_id=0)


def apart(days: Sequence[float], gap: float) -> bool:
    """Whether each of these ascending times is at least `gap` times the one before it."""
    return all(later >= gap * sooner for sooner, later in pairwise(days))


def refusal(ranked: Sequence[Elements], days: Sequence[float], start: datetime) -> str | None:
    """The first of `RULES` that refuses a set of objects, given in the order in which they decay, or None."""
    for name, key in _SHORTCUTS.items():
        if list(ranked) == sorted(ranked, key=key):
            return name

    def same(model: Model) -> bool:
        others = (_opinion(_nameless(e), start, model) for e in ranked)
        pairs = zip(others, days, strict=True)
        return all(other is not None and abs(other - when) <= AGREE_SHARE * when for other, when in pairs)

    opinion = dissent(same)
    return f"{opinion}-differs" if opinion else None


def prompt(asked: Asked) -> str:
    """The text of a question."""
    sets = [
        f"Object {letter}:\n" + "\n".join(tle.write_lines(e)) for letter, e in zip(LETTERS, asked.objects, strict=False)
    ]
    letters = LETTERS[: len(sets)]
    return (
        f"{len(sets)} inert objects, as two-line element sets:\n\n" + "\n\n".join(sets) + "\n\n"
        "Propagate each with SGP4 (WGS 72 constants, improved mode), with drag as its B* gives it and no manoeuvres, "
        f"from {asked.start:%Y-%m-%dT%H:%M:%S}Z on (UTC). An object has decayed at the first time at which its "
        f"distance from the Earth's centre less {EARTH_RADIUS_KM} km is below {DECAYED_BELOW_KM:g} km, or SGP4 reports "
        f"an error. All of them decay within {HORIZON_DAYS:g} days.\n\n"
        "In which order do they decay, the first to decay first? "
        f"Answer with a JSON list of the {len(letters)} letters {', '.join(letters[:-1])} and {letters[-1]}."
    )


@lru_cache(maxsize=64)
def read_prompt(text: str) -> Asked:
    """What a prompt gives; InputError when it is not one of this family's."""
    found, start = _OBJECT.findall(text), _START.search(text)
    if len(found) < 2 or not start:
        raise InputError("the prompt has no objects with element sets and a start")
    objects = [tle.elements_from_lines(first, second) for _, first, second in found]
    return Asked(objects, datetime.fromisoformat(f"{start[1]}+00:00"))


@lru_cache(maxsize=64)
def _days(text: str) -> tuple[float, ...]:
    """Days to the decay of each object of a prompt, in printed order."""
    asked = read_prompt(text)
    days = [decay_days(e, asked.start) for e in asked.objects]
    return tuple(HORIZON_DAYS if one is None else one for one in days)


def _right(text: str) -> list[str]:
    days = _days(text)
    return [LETTERS[k] for k in sorted(range(len(days)), key=lambda k: days[k])]


def solve(item: Item) -> str:
    """The letters in order of decay, as a JSON list."""
    return json.dumps(_right(item.prompt))


def _sorted_by(key: Callable[[Elements], float]) -> Callable[[Item], str | None]:
    """A spoil: the order of one printed quantity, where it is not the right one."""

    def spoiled(item: Item) -> str | None:
        objects = read_prompt(item.prompt).objects
        order = [LETTERS[k] for k in sorted(range(len(objects)), key=lambda k: key(objects[k]))]
        return None if order == _right(item.prompt) else json.dumps(order)

    return spoiled


def _numbers(item: Item) -> str:
    """Catalogue numbers where letters are asked for."""
    objects = read_prompt(item.prompt).objects
    return json.dumps([objects[LETTERS.index(letter)].norad_id for letter in _right(item.prompt)])


def _last_two_swapped(item: Item) -> str:
    order = _right(item.prompt)
    return json.dumps([*order[:-2], order[-1], order[-2]])


decay = Family(
    name=NAME,
    make=make,
    solve=solve,
    refusals=refusals,
    spoil={
        **{name: Spoil(_sorted_by(key), ("wrong-order",)) for name, key in _SHORTCUTS.items()},
        "apogee-order": Spoil(
            _sorted_by(lambda e: -e.mean_motion_rev_per_day * (1 - e.eccentricity)), ("wrong-order",)
        ),
        "last-two-swapped": Spoil(_last_two_swapped, ("wrong-order",)),
        "catalogue-numbers": Spoil(_numbers, ("wrong-elements",)),
    },
    vary={
        "greater-than": lambda item: " > ".join(_right(item.prompt)),
        "label": lambda item: f"Answer: {', '.join(_right(item.prompt))}",
        "box": lambda item: f"\\boxed{{{', '.join(_right(item.prompt))}}}",
        "numbered": lambda item: "\n".join(f"{k}. {letter}" for k, letter in enumerate(_right(item.prompt), 1)),
    },
)
