"""Family `orbital-encounter`: how close two objects come in a window, and when; both must be right.

Gold: the nearest minimum under SGP4 (WGS 72), from the printed elements. Band: 0.1 km + 1 % and 1 s, which is twice or
more what defensible oracles differ by (`opinions`), and far less than what sampling without refinement gives.
Levels by the longest step whose samples are sure to be inside the band: easy from 0.18 s on, medium from 0.13 s on,
hard below. Refused candidates are counted by rule (`refusals`).
Not covered: several approaches of one pair; probability.
Easy to break: the gold must come from the printed elements, read back (`encounter_prompts.read`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import lru_cache
from random import Random
from typing import Any

from steelyard.errors import InputError
from steelyard.families.orbital import encounter_prompts as prompts
from steelyard.families.orbital import pool as pools
from steelyard.families.orbital import supply
from steelyard.families.orbital.ambiguity import Uses, refusal
from steelyard.families.orbital.approach import Approach
from steelyard.families.orbital.dynamics import moment
from steelyard.families.orbital.elements import Elements
from steelyard.families.orbital.encounters import (
    TT_MINUS_UTC_S,
    WRONG_WAYS,
    Window,
    level_of,
    meeting,
    sure_step_s,
    wrong_way,
)
from steelyard.families.orbital.tapes import Tape, known_level
from steelyard.family import Family, Spoil
from steelyard.item import Item

NAME = "orbital-encounter"
BELOW_KM = 4.5
ATOL_KM = 0.1
RTOL = 0.01
ATOL_S = 1.0
CUTS_S = (0.18, 0.13)
WRONG_DISTANCE, WRONG_TIME = "wrong-miss-distance", "wrong-tca"
VERIFIER: dict[str, Any] = {
    "name": "fields",
    "fields": {
        "miss_distance_km": {
            "verifier": {"name": "number", "unit": "km", "atol": ATOL_KM, "rtol": RTOL},
            "miss": WRONG_DISTANCE,
        },
        "tca": {"verifier": {"name": "time", "atol_s": ATOL_S}, "miss": WRONG_TIME},
    },
}
_QUESTION = (
    "How close do the two objects come to each other in this window, and when? Take the nearest approach of all. "
    f"{prompts.CONTINUOUS} Answer with one JSON object with two fields: "
    '"miss_distance_km" (a number in km, with at least three decimals) and '
    f'"tca" (the time of closest approach: {prompts.TIME_FORM}). '
    f"Both are needed: the distance within {ATOL_KM} km + {RTOL:.0%}, the time within {ATOL_S:g} s."
)


def make(
    seed: int | str = 0,
    *,
    catalogue: str | None = None,
    objects: int = pools.OBJECTS,
    hours: float = pools.HOURS,
    start: str = "",
    form: str = "",
    level: str = "",
) -> Iterator[Item]:
    """Every unambiguous encounter of the seed's pool in a drawn order; `level` keeps to easy, medium or hard.

    `objects` and `hours` size the pool, `start` (UTC) begins its window; `form` is how elements are printed: tle or
    omm, else either.
    """
    level = known_level(level)
    return (item for item in _tape(str(seed), catalogue, objects, hours, start, form) if level in ("", item.difficulty))


def refusals(
    seed: int | str = 0,
    n: int = 120,
    *,
    catalogue: str | None = None,
    objects: int = pools.OBJECTS,
    hours: float = pools.HOURS,
    start: str = "",
    form: str = "",
) -> dict[str, int]:
    """How many candidates each rule of `ambiguity.RULES` refused before the first `n` items were there."""
    return _tape(str(seed), catalogue, objects, hours, start, form).refusals(n)


@lru_cache(maxsize=4)
def _tape(seed: str, catalogue: str | None, objects: int, hours: float, start: str, form: str) -> Tape:
    if form:
        prompts.form_for(form, ())
    pool = pools.pool(seed, catalogue=catalogue, objects=objects, hours=hours, start=start)
    return Tape(_outcomes(seed, pool, form))


def _outcomes(seed: str, pool: pools.Pool, form: str) -> Iterator[Item | str]:
    window, uses, made = supply.window_of(pool), Uses(), 0
    for k, pair in enumerate(supply.pairs_met(pool, Random(f"{seed}/{NAME}"), BELOW_KM)):
        rng = Random(f"{seed}/{k}")
        printed_form = prompts.form_for(form or rng.choice(prompts.FORMS), pair)
        a, b = prompts.as_printed(supply.shown(pool, pair, rng), printed_form)
        refused = uses.refusal(pair) or refusal(a, b, window)
        if refused:
            yield refused
            continue
        uses.add(pair)
        met = meeting(a, b, window).nearest
        band_km = ATOL_KM + RTOL * met.distance_km
        yield Item(
            id=f"{NAME}-{seed}-{made:05d}",
            input=prompts.text((a, b), printed_form, window, _QUESTION),
            target=_answer(met, window, decimals=6),
            verifier=VERIFIER,
            family=NAME,
            difficulty=level_of(sure_step_s(met.distance_km, met.distance_km + band_km, met.speed_km_s), CUTS_S),
            **supply.about(pool, seed, pair),
        )
        made += 1


def _answer(met: Approach, window: Window, decimals: int = 4) -> str:
    return _as_json(round(met.distance_km, decimals), window.utc(met.after_min))


def _as_json(distance: float | str, tca: str) -> str:
    return json.dumps({"miss_distance_km": distance, "tca": tca})


def _pair(item: Item) -> tuple[Elements, Elements, Window]:
    given = prompts.read(item.prompt)
    if len(given.objects) != 2:
        raise InputError(f'item "{item.id}" is not one of {NAME}: {len(given.objects)} objects in its prompt')
    return *given.objects, given.window


def _nearest(item: Item) -> tuple[Approach, Window]:
    a, b, window = _pair(item)
    return meeting(a, b, window).nearest, window


def solve(item: Item) -> str:
    """Miss distance and time of closest approach from the elements in the prompt."""
    return _answer(*_nearest(item))


def _in_band(wrong: Approach, right: Approach) -> tuple[bool, bool]:
    """Whether a wrong way hits the distance, and the time, all the same."""
    return (
        abs(wrong.distance_km - right.distance_km) <= ATOL_KM + RTOL * right.distance_km,
        abs(wrong.after_min - right.after_min) * 60 <= ATOL_S,
    )


def _found_by(name: str) -> Callable[[Item], str | None]:
    """A spoil that answers with what a wrong way finds; None where that is right by luck."""

    def spoiled(item: Item) -> str | None:
        a, b, window = _pair(item)
        wrong = wrong_way(name, a, b, window)
        if wrong is None or all(_in_band(wrong, meeting(a, b, window).nearest)):
            return None
        return _answer(wrong, window)

    return spoiled


def _in_metres(item: Item) -> str:
    """Metres given as km."""
    met, window = _nearest(item)
    return _as_json(round(met.distance_km * 1000, 1), window.utc(met.after_min))


def _in_tt(item: Item) -> str:
    """The right instant, read off a clock of terrestrial time."""
    met, window = _nearest(item)
    return _as_json(round(met.distance_km, 4), window.utc(met.after_min + TT_MINUS_UTC_S / 60))


def _written(form: Callable[[float, str], str]) -> Callable[[Item], str]:
    """A vary: the right distance in km and time, put into words by `form`."""

    def varied(item: Item) -> str:
        met, window = _nearest(item)
        return form(met.distance_km, window.utc(met.after_min))

    return varied


def _rounded(item: Item) -> str:
    met, window = _nearest(item)
    tenth = round(met.after_min * 600) / 600
    return _as_json(round(met.distance_km, 2), f"{moment(window.start, tenth).isoformat(timespec='milliseconds')}")


_BOTH = (WRONG_DISTANCE, WRONG_TIME)

encounter = Family(
    name=NAME,
    make=make,
    solve=solve,
    refusals=refusals,
    spoil={
        "metres-for-kilometres": Spoil(_in_metres, (WRONG_DISTANCE,)),
        "tt-for-utc": Spoil(_in_tt, (WRONG_TIME,)),
        **{name: Spoil(_found_by(name), _BOTH) for name in WRONG_WAYS},
    },
    vary={
        "metres-with-unit": _written(lambda km, tca: _as_json(f"{km * 1000:.1f} m", tca)),
        "unit-spelled-out": _written(lambda km, tca: _as_json(f"{km:.4f} kilometers", tca)),
        "zero-offset": _written(lambda km, tca: _as_json(round(km, 4), tca.replace("Z", "+00:00"))),
        "rounded": _rounded,
        "fenced": _written(lambda km, tca: f"```json\n{_as_json(round(km, 4), tca)}\n```"),
        "after-prose": _written(lambda km, tca: f"I refined the minimum by Newton.\n\n{_as_json(round(km, 4), tca)}"),
    },
)
