"""Family `orbital-partner`: which one of K objects comes close to the one asked about; the answer is its number.

Exactly one comes closer than 4.5 km, all others stay more than 6 km away, and all pass the apogee/perigee filter. The
others are drawn from those that look nearest in samples at every minute, so that such samples do not tell them apart.
Levels by the longest step whose samples are sure to show the partner nearer than any other: easy from 1 s on, medium
from 0.7 s on, hard below. Refused candidates are counted by rule (`refusals`).
Not covered: none, or several partners.
Easy to break: every one of the others needs a state in all of the window, and second opinions as well.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from random import Random
from typing import Any

import msgspec

from steelyard.errors import InputError
from steelyard.families.orbital import encounter_prompts as prompts
from steelyard.families.orbital import pool as pools
from steelyard.families.orbital import supply
from steelyard.families.orbital.ambiguity import GUARD_KM, Uses, refusal
from steelyard.families.orbital.dynamics import state
from steelyard.families.orbital.elements import Elements
from steelyard.families.orbital.encounters import (
    Window,
    level_of,
    meeting,
    sure_step_s,
    wrong_way,
)
from steelyard.families.orbital.opinions import opinions_km
from steelyard.families.orbital.tapes import Tape, known_level
from steelyard.family import Family, Spoil
from steelyard.item import Item

NAME = "orbital-partner"
K = 20
BELOW_KM = 4.5
CLEAR_KM = 6.0
CUTS_S = (1.0, 0.7)
WRONG_PARTNER = "wrong-partner"
VERIFIER: dict[str, Any] = {
    "name": "fields",
    "fields": {"partner": {"verifier": {"name": "number"}, "miss": WRONG_PARTNER}},
}
_CROWD = 2  # objects that look near for each that is shown
_QUESTION = (
    "Which of the other {others} objects comes closer than {below:g} km to object {asked} in this window? Exactly one "
    "does; all the rest stay more than {clear:g} km away from it. {continuous} "
    'Answer with one JSON object with one field: "partner" (the number of that object in decimal digits).'
)
_ASKED = re.compile(r"to object (\d+) in this window", re.ASCII)


class _Settings(msgspec.Struct, frozen=True):
    """What the items of one `make` have in common."""

    seed: str
    pool: pools.Pool
    window: Window
    form: str
    k: int


class _Scene(msgspec.Struct, frozen=True):
    """The asked-about object, its partner, and the others: as they are and, in the same order, as they are printed."""

    objects: tuple[Elements, ...]
    printed: tuple[Elements, ...]
    form: str


def make(
    seed: int | str = 0,
    *,
    catalogue: str | None = None,
    objects: int = pools.OBJECTS,
    hours: float = pools.HOURS,
    start: str = "",
    form: str = "",
    level: str = "",
    k: int = K,
) -> Iterator[Item]:
    """One item an encounter of the seed's pool that has no second partner; `level` keeps to easy, medium or hard.

    `objects` and `hours` size the pool, `start` (UTC) begins its window; `form` is how elements are printed: tle or
    omm, else either; `k` objects, at least two, stand beside the one that is asked about.
    """
    level = known_level(level)
    return (
        item for item in _tape(str(seed), catalogue, objects, hours, start, form, k) if level in ("", item.difficulty)
    )


def refusals(
    seed: int | str = 0,
    n: int = 120,
    *,
    catalogue: str | None = None,
    objects: int = pools.OBJECTS,
    hours: float = pools.HOURS,
    start: str = "",
    form: str = "",
    k: int = K,
) -> dict[str, int]:
    """How many candidates each rule of `ambiguity.RULES` refused before the first `n` items were there."""
    return _tape(str(seed), catalogue, objects, hours, start, form, k).refusals(n)


@lru_cache(maxsize=4)
def _tape(seed: str, catalogue: str | None, objects: int, hours: float, start: str, form: str, k: int) -> Tape:
    if type(k) is not int or k < 2:
        raise InputError(f"k must be a whole number of at least 2, got {k!r}")
    if form:
        prompts.form_for(form, ())
    pool = pools.pool(seed, catalogue=catalogue, objects=objects, hours=hours, start=start)
    return Tape(_outcomes(_Settings(seed, pool, supply.window_of(pool), form, k)))


def _outcomes(settings: _Settings) -> Iterator[Item | str]:
    pool, seed, window = settings.pool, settings.seed, settings.window
    samples, uses, made = supply.Samples(pool), Uses(), 0
    for place, pair in enumerate(supply.pairs_met(pool, Random(f"{seed}/{NAME}"), BELOW_KM)):
        rng = Random(f"{seed}/{place}")
        refused = uses.refusal(pair) or refusal(*pair, window, rivals=False)
        others = None if refused else _others(settings, samples, pair, rng)
        if refused or others is None:
            yield refused or "no-counterpart"
            continue
        scene = _printed(settings, (*pair, *others), rng)
        refused = _scene_refusal(scene, window)
        if refused:
            yield refused
            continue
        uses.add(pair)
        yield _item(settings, scene, made, rng)
        made += 1


def _others(
    settings: _Settings, samples: supply.Samples, pair: tuple[Elements, Elements], rng: Random
) -> list[Elements] | None:
    """Objects that stay clear of the first of the pair and look near it by samples, or None where there are too few."""
    asked, partner = pair
    wanted = settings.k - 1
    passing = [e for e in supply.neighbours(settings.pool, asked, rng) if e.norad_id != partner.norad_id]
    crowd = samples.nearest(asked, passing, _CROWD * wanted)
    if len(crowd) < wanted:
        return None
    rng.shuffle(crowd)
    clear = (e for e in crowd if meeting(asked, e, settings.window).distance_km >= CLEAR_KM + GUARD_KM)
    found = list(islice(clear, wanted))
    return found if len(found) == wanted else None


def _printed(settings: _Settings, objects: tuple[Elements, ...], rng: Random) -> _Scene:
    form = prompts.form_for(settings.form or rng.choice(prompts.FORMS), objects)
    return _Scene(objects, prompts.as_printed(supply.shown(settings.pool, objects, rng), form), form)


def _scene_refusal(scene: _Scene, window: Window) -> str | None:
    """The rule that refuses the printed scene: the partner's as any encounter's, the others' for coming too near."""
    asked, partner, *others = scene.printed
    refused = refusal(asked, partner, window, rivals=False)
    if refused:
        return refused
    if meeting(asked, partner, window).distance_km >= BELOW_KM:
        return "near-threshold"
    try:
        others_km = [km for other in others for km in opinions_km(asked, other, window)]
    except InputError:
        return "engine-differs"
    return "near-threshold" if min(others_km) < CLEAR_KM + GUARD_KM else None


def _item(settings: _Settings, scene: _Scene, place: int, rng: Random) -> Item:
    asked, partner, *others = scene.printed
    met = meeting(asked, partner, settings.window).nearest
    crowd = [partner, *others]
    rng.shuffle(crowd)
    question = _QUESTION.format(
        others=len(crowd), below=BELOW_KM, asked=asked.norad_id, clear=CLEAR_KM, continuous=prompts.CONTINUOUS
    )
    return Item(
        id=f"{NAME}-{settings.seed}-{place:05d}",
        input=prompts.text([asked, *crowd], scene.form, settings.window, question),
        target=_answer(partner.norad_id),
        verifier=VERIFIER,
        family=NAME,
        difficulty=level_of(sure_step_s(met.distance_km, CLEAR_KM, met.speed_km_s), CUTS_S),
        **supply.about(settings.pool, settings.seed, scene.objects[:1]),
    )


def _answer(number: int | str) -> str:
    return json.dumps({"partner": number})


class _Asked(msgspec.Struct, frozen=True):
    """A prompt read back: the object asked about, the others in printed order, the window."""

    asked: Elements
    others: tuple[Elements, ...]
    window: Window

    def nearest(self) -> list[Elements]:
        """The others, the one that comes nearest first."""
        return sorted(self.others, key=lambda other: meeting(self.asked, other, self.window).distance_km)


def _read(item: Item) -> _Asked:
    given, found = prompts.read(item.prompt), _ASKED.search(item.prompt)
    asked = [e for e in given.objects if found and e.norad_id == int(found[1])]
    if len(asked) != 1:
        raise InputError(f'item "{item.id}" is not one of {NAME}: it asks about none of its objects')
    return _Asked(asked[0], tuple(e for e in given.objects if e is not asked[0]), given.window)


def solve(item: Item) -> str:
    """The number of the object that comes nearest by the elements in the prompt."""
    return _answer(_read(item).nearest()[0].norad_id)


def _found_by(name: str) -> Callable[[Item], str | None]:
    """A spoil that takes the partner that a wrong way finds; None where that is right by luck."""

    def spoiled(item: Item) -> str | None:
        read = _read(item)
        found = [(wrong_way(name, read.asked, other, read.window), other.norad_id) for other in read.others]
        distances = [(met.distance_km, number) for met, number in found if met is not None]
        if not distances or min(distances)[1] == read.nearest()[0].norad_id:
            return None
        return _answer(min(distances)[1])

    return spoiled


def _next_nearest(item: Item) -> str:
    return _answer(_read(item).nearest()[1].norad_id)


def _asked_itself(item: Item) -> str:
    return _answer(_read(item).asked.norad_id)


def _nearest_at_start(item: Item) -> str | None:
    """The object that is nearest when the window opens."""
    read = _read(item)
    first = [(math.dist(*(state(e, read.window.start)[0] for e in (read.asked, one))), one) for one in read.others]
    number = min(first, key=lambda pair: pair[0])[1].norad_id
    return None if number == read.nearest()[0].norad_id else _answer(number)


def _written(form: Callable[[int], str]) -> Callable[[Item], str]:
    return lambda item: form(_read(item).nearest()[0].norad_id)


partner = Family(
    name=NAME,
    make=make,
    solve=solve,
    refusals=refusals,
    spoil={
        "next-nearest": Spoil(_next_nearest, (WRONG_PARTNER,)),
        "asked-about-itself": Spoil(_asked_itself, (WRONG_PARTNER,)),
        "nearest-at-start": Spoil(_nearest_at_start, (WRONG_PARTNER,)),
        **{
            name: Spoil(_found_by(name), (WRONG_PARTNER,))
            for name in ("sampled-without-refinement", "kozai-for-brouwer", "one-epoch-for-both")
        },
    },
    vary={
        "as-text": _written(lambda number: _answer(str(number))),
        "fenced": _written(lambda number: f"```json\n{_answer(number)}\n```"),
        "after-prose": _written(lambda number: f"I looked at all of them.\n\n{_answer(number)}"),
    },
)
