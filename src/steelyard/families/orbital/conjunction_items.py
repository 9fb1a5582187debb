"""Family `orbital-conjunction`: whether two objects come closer than a threshold in a window, and when if they do.

Balanced: every two items are a yes and a no on the same rung, and share an object; the no passes the apogee/perigee
filter and stays 6 to 50 km away. A yes needs the time of closest approach within 1 s. A no can be guessed, so the
floor is one half; with `tca="always"` the time is asked for in both cases, and guessing gives nothing.
Levels by the longest step whose samples are sure to show an approach at the pair's relative speed: easy from 1 s on,
medium from 0.75 s on, hard below. Refused candidates are counted by rule (`refusals`).
Not covered: probability of collision, which needs covariance.
Easy to break: the guard band; a verdict must not hang on the constants of a gravity model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator
from functools import lru_cache
from itertools import islice
from random import Random
from typing import Any

import msgspec

from steelyard.errors import InputError, did_you_mean
from steelyard.families.orbital import encounter_prompts as prompts
from steelyard.families.orbital import pool as pools
from steelyard.families.orbital import supply
from steelyard.families.orbital.ambiguity import Uses, refusal
from steelyard.families.orbital.approach import Approach
from steelyard.families.orbital.elements import Elements
from steelyard.families.orbital.encounters import (
    ROUGH_KM,
    TT_MINUS_UTC_S,
    WRONG_WAYS,
    Window,
    level_of,
    meeting,
    rough_minima_km,
    sure_step_s,
    wrong_way,
)
from steelyard.families.orbital.tapes import Tape, known_level
from steelyard.family import Family, Spoil
from steelyard.item import Item

NAME = "orbital-conjunction"
THRESHOLD_KM = 5.0
CLEAR_KM = (6.0, 50.0)
ATOL_S = 1.0
CUTS_S = (1.0, 0.75)
ASKED = ("when-yes", "always")
WRONG_SIDE, WRONG_TIME = "wrong-side", "wrong-tca"
_CROWD, _MOST_CROWDS = 20, 30
_SIDE_RULE = {"conjunction": {"verifier": {"name": "yesno"}, "miss": WRONG_SIDE}}
_TIME_RULE = {"tca": {"verifier": {"name": "time", "atol_s": ATOL_S}, "miss": WRONG_TIME}}
_ASK = (
    f"Do the two objects come closer than {THRESHOLD_KM:g} km to each other in this window? "
    'Answer with one JSON object with two fields: "conjunction" ("yes" or "no") and '
)
_WHEN = {
    "when-yes": (
        f'"tca" (if yes, the time of the closest approach of all in the window: {prompts.TIME_FORM}; if no, null). '
        f"A yes counts only with the time right within {ATOL_S:g} s. {prompts.CONTINUOUS}"
    ),
    "always": (
        '"tca" (whether yes or no, the time of the closest approach of all in the window: '
        f"{prompts.TIME_FORM}). Both are needed, the time within {ATOL_S:g} s. {prompts.CONTINUOUS}"
    ),
}


class _Settings(msgspec.Struct, frozen=True):
    """What the items of one `make` have in common."""

    seed: str
    pool: pools.Pool
    window: Window
    form: str
    tca: str


class _Pair(msgspec.Struct, frozen=True):
    """Two objects, as they are and as they are printed."""

    objects: tuple[Elements, Elements]
    printed: tuple[Elements, Elements]
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
    tca: str = "when-yes",
) -> Iterator[Item]:
    """Yes and no in equal shares, until the seed's pool has no encounter left; `level` keeps to easy, medium or hard.

    `objects` and `hours` size the pool, `start` (UTC) begins its window; `form` is how elements are printed: tle or
    omm, else either; `tca` is when-yes or always.
    """
    level = known_level(level)
    tape = _tape(str(seed), catalogue, objects, hours, start, form, tca)
    return (item for item in tape if level in ("", item.difficulty))


def refusals(
    seed: int | str = 0,
    n: int = 120,
    *,
    catalogue: str | None = None,
    objects: int = pools.OBJECTS,
    hours: float = pools.HOURS,
    start: str = "",
    form: str = "",
    tca: str = "when-yes",
) -> dict[str, int]:
    """How many candidates each rule of `ambiguity.RULES` refused before the first `n` items were there."""
    return _tape(str(seed), catalogue, objects, hours, start, form, tca).refusals(n)


@lru_cache(maxsize=4)
def _tape(seed: str, catalogue: str | None, objects: int, hours: float, start: str, form: str, tca: str) -> Tape:
    if tca not in ASKED:
        raise InputError(f'tca must be when-yes or always, got "{tca}"{did_you_mean(tca, ASKED)}')
    if form:
        prompts.form_for(form, ())
    pool = pools.pool(seed, catalogue=catalogue, objects=objects, hours=hours, threshold_km=THRESHOLD_KM, start=start)
    return Tape(_outcomes(_Settings(seed, pool, supply.window_of(pool), form, tca)))


def _outcomes(settings: _Settings) -> Iterator[Item | str]:
    uses, made = Uses(), 0
    pool, seed = settings.pool, settings.seed
    for k, objects in enumerate(supply.pairs_met(pool, Random(f"{seed}/{NAME}"), THRESHOLD_KM)):
        rng = Random(f"{seed}/{k}")
        met = _printed(settings, objects, rng)
        a, b = met.printed
        refused = uses.refusal(objects) or refusal(a, b, settings.window, threshold_km=THRESHOLD_KM)
        if refused:
            yield refused
            continue
        missed = yield from _counterpart(settings, met, uses, rng)
        if missed is None:
            yield "no-counterpart"
            continue
        sides = [met, missed]
        for pair in sides:
            uses.add(pair.objects)
        rng.shuffle(sides)
        for pair in sides:
            yield _item(settings, pair, made)
            made += 1


def _printed(settings: _Settings, objects: tuple[Elements, Elements], rng: Random) -> _Pair:
    form = prompts.form_for(settings.form or rng.choice(prompts.FORMS), objects)
    a, b = prompts.as_printed(supply.shown(settings.pool, objects, rng), form)
    return _Pair(objects, (a, b), form)


def _counterpart(settings: _Settings, met: _Pair, uses: Uses, rng: Random) -> Generator[str, None, _Pair | None]:
    """A pair that shares an object and the rung with `met` and stays clear, or None; yields why others were refused."""
    asked, level, timed = met.objects[rng.randrange(2)], _level(met, settings.window), settings.tca == "always"
    for other in _passing(settings, asked, rng):
        if uses.refusal((asked, other)):
            continue
        missed = _printed(settings, (asked, other) if rng.random() < 0.5 else (other, asked), rng)
        a, b = missed.printed
        low, high = CLEAR_KM
        if not low <= meeting(a, b, settings.window).distance_km <= high or _level(missed, settings.window) != level:
            continue
        refused = refusal(a, b, settings.window, threshold_km=THRESHOLD_KM, rivals=timed)
        if not refused:
            return missed
        yield refused
    return None


def _passing(settings: _Settings, asked: Elements, rng: Random) -> Iterator[Elements]:
    """Objects that pass the apogee/perigee filter with `asked` and, looked at roughly, may stay 6 to 50 km away."""
    drawn = supply.neighbours(settings.pool, asked, rng)
    for _ in range(_MOST_CROWDS):
        crowd = list(islice(drawn, _CROWD))
        rough = rough_minima_km(asked, crowd, settings.window)
        yield from (e for e, km in zip(crowd, rough, strict=True) if km <= CLEAR_KM[1] + ROUGH_KM)


def _level(pair: _Pair, window: Window) -> str:
    speed_km_s = meeting(*pair.printed, window).nearest.speed_km_s
    return level_of(sure_step_s(0.0, THRESHOLD_KM, speed_km_s), CUTS_S)


def _item(settings: _Settings, pair: _Pair, place: int) -> Item:
    met = meeting(*pair.printed, settings.window).nearest
    yes, timed = met.distance_km < THRESHOLD_KM, settings.tca == "always"
    target = {"conjunction": "yes" if yes else "no"}
    if yes or timed:
        target["tca"] = settings.window.utc(met.after_min)
    rules = _SIDE_RULE | _TIME_RULE if yes or timed else _SIDE_RULE
    return Item(
        id=f"{NAME}-{'tca-' if timed else ''}{settings.seed}-{place:05d}",
        input=prompts.text(pair.printed, pair.form, settings.window, _ASK + _WHEN[settings.tca]),
        target=json.dumps(target),
        verifier={"name": "fields", "fields": rules},
        family=NAME,
        difficulty=_level(pair, settings.window),
        **supply.about(settings.pool, settings.seed, pair.objects),
    )


class _Asked(msgspec.Struct, frozen=True):
    """A prompt read back: the pair, the window, the threshold, and whether a no needs its time as well."""

    a: Elements
    b: Elements
    window: Window
    threshold_km: float
    timed: bool

    @property
    def nearest(self) -> Approach:
        return meeting(self.a, self.b, self.window).nearest

    def answer(self, met: Approach) -> str:
        """The answer of someone who finds this nearest approach."""
        return self.as_json(met.distance_km < self.threshold_km, met.after_min)

    def as_json(self, yes: bool, after_min: float) -> str:
        """An answer in the form that was asked for."""
        tca = self.window.utc(after_min) if yes or self.timed else None
        return json.dumps({"conjunction": "yes" if yes else "no", "tca": tca})


def _read(item: Item) -> _Asked:
    given = prompts.read(item.prompt)
    if len(given.objects) != 2 or given.threshold_km is None:
        raise InputError(f'item "{item.id}" is not one of {NAME}: no two objects with a threshold in its prompt')
    return _Asked(*given.objects, given.window, given.threshold_km, "whether yes or no" in item.prompt)


def solve(item: Item) -> str:
    """The verdict from the elements in the prompt, with the time where it is asked for."""
    asked = _read(item)
    return asked.answer(asked.nearest)


def _found_by(name: str, *, timed: bool) -> Callable[[Item], str | None]:
    """A spoil that answers with what a wrong way finds; None where that is right by luck.

    For items that want a time, or for those that do not: what an item's verifier can say of the answer differs.
    """

    def spoiled(item: Item) -> str | None:
        asked = _read(item)
        right = asked.nearest
        if timed != (asked.timed or right.distance_km < asked.threshold_km):
            return None
        wrong = wrong_way(name, asked.a, asked.b, asked.window)
        if wrong is None:
            return None
        yes = wrong.distance_km < asked.threshold_km
        same_side = yes == (right.distance_km < asked.threshold_km)
        same_time = abs(wrong.after_min - right.after_min) * 60 <= ATOL_S
        return None if same_side and (same_time or not (yes or asked.timed)) else asked.answer(wrong)

    return spoiled


def _other_side(item: Item) -> str:
    asked = _read(item)
    return asked.as_json(asked.nearest.distance_km >= asked.threshold_km, asked.nearest.after_min)


def _in_metres(item: Item) -> str | None:
    """Metres held against a threshold in km: everything is clear."""
    asked = _read(item)
    yes = asked.nearest.distance_km < asked.threshold_km
    return asked.as_json(False, asked.nearest.after_min) if yes else None


def _in_tt(item: Item) -> str | None:
    """The right instant, read off a clock of terrestrial time."""
    asked = _read(item)
    yes = asked.nearest.distance_km < asked.threshold_km
    later = asked.nearest.after_min + TT_MINUS_UTC_S / 60
    return asked.as_json(yes, later) if yes or asked.timed else None


def _without_time(item: Item) -> str | None:
    """The right side and no time, where the time is asked for."""
    answer = json.loads(solve(item))
    return json.dumps(answer | {"tca": None}) if answer["tca"] else None


def _changed(change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> Callable[[Item], str | None]:
    """A vary: the right answer with some fields written otherwise."""

    def varied(item: Item) -> str | None:
        answer = json.loads(solve(item))
        fields = change(answer)
        return None if fields is None else json.dumps(answer | fields)

    return varied


def _with_reason(item: Item) -> str:
    """A vary: the answer in a fence, after prose."""
    return f"Closest approach refined by Newton.\n\n```json\n{solve(item)}\n```"


_ANY = (WRONG_SIDE, WRONG_TIME)
_ELSEWHERE = ("kozai-for-brouwer", "one-epoch-for-both")  # they move an object, and so may find a meeting there is not

conjunction = Family(
    name=NAME,
    make=make,
    solve=solve,
    refusals=refusals,
    spoil={
        "opposite-verdict": Spoil(_other_side, (WRONG_SIDE,)),
        "metres-for-kilometres": Spoil(_in_metres, (WRONG_SIDE,)),
        "tt-for-utc": Spoil(_in_tt, (WRONG_TIME,)),
        "time-left-out": Spoil(_without_time, (WRONG_TIME,)),
        **{name: Spoil(_found_by(name, timed=True), _ANY) for name in WRONG_WAYS},
        **{f"{name}-says-yes": Spoil(_found_by(name, timed=False), (WRONG_SIDE,)) for name in _ELSEWHERE},
    },
    vary={
        "boolean": _changed(lambda answer: {"conjunction": answer["conjunction"] == "yes"}),
        "capitals": _changed(lambda answer: {"conjunction": answer["conjunction"].upper()}),
        "zero-offset": _changed(
            lambda answer: {"tca": answer["tca"].replace("Z", "+00:00")} if answer["tca"] else None
        ),
        "tenth-of-a-second": _changed(lambda answer: {"tca": answer["tca"][:-3] + "Z"} if answer["tca"] else None),
        "fenced": _with_reason,
    },
)
