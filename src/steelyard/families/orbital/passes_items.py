"""Family `orbital-pass`: passes of one object over a station: when it rises, how high it gets, how often it comes.

Gold: SGP4 (WGS 72), TEME to ITRS by sidereal time, geometric elevation from a WGS 84 station (`ground_site`).
Band: 5 s and 0.2 degrees. Constants, time scales and frames of defensible oracles differ by hundredths of that
(Skyfield: tests/authority/test_passes_skyfield.py); a UTC/TT mix-up (69.184 s) or another revolution does not fit in.
Levels: easy = the next rise; medium = the next rise and its highest elevation; hard = the highest pass of a day, with
the number of passes. All fields must be right.
Not covered: refraction, visibility by sunlight.
Easy to break: masks below 10 degrees, where refraction and the figure of the Earth would move a rise by 5 s and more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import lru_cache
from random import Random
from typing import Any

import msgspec

from steelyard.errors import InputError
from steelyard.families.orbital import ground_site, tle
from steelyard.families.orbital.dynamics import Model, age_days, moment, utc_text
from steelyard.families.orbital.elements import Elements
from steelyard.families.orbital.encounters import taken_for_brouwer
from steelyard.families.orbital.ground_site import Pass, Sightings, Site
from steelyard.families.orbital.opinions import dissent
from steelyard.families.orbital.population import Population, population
from steelyard.families.orbital.tapes import Tapes, places
from steelyard.family import Family, Spoil
from steelyard.item import Item

NAME = "orbital-pass"
ATOL_S = 5.0
ATOL_DEG = 0.2
MASKS_DEG = (10, 12, 15, 20)
GUARD_DEG = 1.0
OLDEST_DAYS = 3.0
AGREE_S = 1.0
AGREE_DEG = 0.05
WRONG_RISE, WRONG_ELEVATION, WRONG_COUNT = "wrong-rise", "wrong-max-elevation", "wrong-count"
TT_MINUS_UTC_S = 69.184  # since 2017: 37 leap seconds and TT - TAI
_CANDIDATES = 12  # objects that belong to one item; the first that is fit is asked about
_HOURS = {"easy": 12, "medium": 24, "hard": 24}
_HIGHEST_LATITUDE_DEG = 65.0

RULES = {
    "no-state": "SGP4 gives an error, or a state that is not a number, somewhere in the window",
    "stale-epoch": f"the epoch lies more than {OLDEST_DAYS:g} days before the window, or after it",
    "never-up": "the object stays below the mask in all of the window",
    "always-up": "the object stays above the mask in all of the window",
    "cut-by-window": "the object is above the mask at an end of the window",
    "near-mask": f"a turning point of elevation is within {GUARD_DEG:g} degree of the mask",
    "rival-pass": f"the second highest pass is within {GUARD_DEG:g} degree of the highest",
    "wgs84-differs": "WGS 84 constants give other passes",
    "engine-differs": "another implementation of SGP4 gives other passes",
}
"""Every reason for which an object is refused, in words."""

_FIELDS: dict[str, dict[str, Any]] = {
    "rise": {"verifier": {"name": "time", "atol_s": ATOL_S}, "miss": WRONG_RISE},
    "max_elevation_deg": {"verifier": {"name": "number", "unit": "deg", "atol": ATOL_DEG}, "miss": WRONG_ELEVATION},
    "count": {"miss": WRONG_COUNT},
}
_ASKED = {"easy": ("rise",), "medium": ("rise", "max_elevation_deg"), "hard": ("rise", "max_elevation_deg", "count")}
_QUESTIONS = {
    "easy": "When does the first pass in this window begin?",
    "medium": "When does the first pass in this window begin, and what is its highest elevation?",
    "hard": (
        "Of all passes in this window, take the one with the highest elevation. When does it begin, what is its "
        "highest elevation, and how many passes are there in the window?"
    ),
}
_MEANINGS = {
    "rise": f'"rise" (the begin of the pass: UTC, ISO 8601 ending in Z, with one decimal of a second; +-{ATOL_S:g} s)',
    "max_elevation_deg": f'"max_elevation_deg" (a number in degrees; +-{ATOL_DEG:g})',
    "count": '"count" (the number of passes, an integer)',
}
_CONVENTION = (
    "Propagate with SGP4 (WGS 72 constants, improved mode). Turn TEME into ITRS by Greenwich mean sidereal time "
    "(IAU 1982) with UT1 = UTC; polar motion does not matter. The station lies on the WGS 84 ellipsoid (latitude is "
    "geodetic). Elevation is geometric, without refraction, above the plane tangent to the ellipsoid. A pass is the "
    "time during which elevation is at or above the minimum elevation; it begins when the object rises through it."
)
_LINES = re.compile(r"^(1 .{67})\n(2 .{67})$", re.MULTILINE)
_SITE = re.compile(
    r"latitude (-?[\d.]+) deg \(north positive\), longitude (-?[\d.]+) deg \(east positive\), height (-?\d+) m",
    re.ASCII,
)
_WINDOW = re.compile(r"Window: from (\S+)Z to (\S+)Z\. Minimum elevation: (\d+) deg\.", re.ASCII)


class Asked(msgspec.Struct, frozen=True):
    """What a prompt gives: the object, the station, the window, the mask, and the level of its question."""

    elements: Elements
    site: Site
    start: datetime
    hours: float
    mask_deg: float
    level: str


class Answer(msgspec.Struct, frozen=True):
    """The pass that is asked for, and how many passes there are."""

    chosen: Pass
    count: int


def _drawn_from(seed: str, catalogue: str | None, level: str) -> Iterator[Item | str]:
    return _outcomes(seed, population(seed, catalogue, lambda _: True), level)


_TAPES = Tapes(_drawn_from)
make, refusals = _TAPES.make, _TAPES.refusals


def _outcomes(seed: str, source: Population, level: str) -> Iterator[Item | str]:
    for index, difficulty in places(level):
        block = source.block(index, _CANDIDATES)
        if not block:
            return
        rng = Random(f"{seed}/{index}")
        for elements in block:
            asked = _drawn(rng, source, elements, difficulty)
            refused = refusal(asked)
            if refused:
                yield refused
                continue
            text = prompt(asked)
            yield Item(
                id=f"{NAME}-{level + '-' if level else ''}{seed}-{index:05d}",
                input=text,
                target=_as_json(asked, _right(text), decimals=6),
                verifier={"name": "fields", "fields": {name: _FIELDS[name] for name in _ASKED[difficulty]}},
                family=NAME,
                domain="pass",
                difficulty=difficulty,
                **source.about([elements]),
            )
            break


def _drawn(rng: Random, source: Population, elements: Elements, level: str) -> Asked:
    """A station, a window and a mask for an object; what a prompt prints, and no digit more."""
    site = Site(
        latitude_deg=round(rng.uniform(-_HIGHEST_LATITUDE_DEG, _HIGHEST_LATITUDE_DEG), 4),
        longitude_deg=round(rng.uniform(-180, 180), 4),
        height_m=rng.randint(0, 2500),
    )
    start = source.start + timedelta(minutes=rng.randrange(0, 24 * 60, 10))
    printed = tle.elements_from_lines(*tle.write_lines(source.shown([elements], rng)[0]))
    return Asked(printed, site, start, _HOURS[level], rng.choice(MASKS_DEG), level)


def refusal(asked: Asked) -> str | None:
    """The first of `RULES` that refuses this question, or None."""
    if not -asked.hours / 24 <= age_days(asked.elements, asked.start) <= OLDEST_DAYS:
        return "stale-epoch"
    try:
        seen = _sightings(asked)
    except InputError:
        return "no-state"
    return _of_sightings(seen, asked) or _of_opinions(seen, asked)


def _of_sightings(seen: Sightings, asked: Asked) -> str | None:
    if seen.always_up:
        return "always-up"
    if seen.up_at_start or seen.up_at_end:
        return "cut-by-window"
    if any(abs(height - asked.mask_deg) < GUARD_DEG for height in seen.extrema_deg):
        return "near-mask"
    if not seen.passes:
        return "never-up"
    best = sorted((p.peak_deg for p in seen.passes), reverse=True)[:2]
    if asked.level == "hard" and len(best) == 2 and best[0] - best[1] < GUARD_DEG:
        return "rival-pass"
    return None


def _of_opinions(seen: Sightings, asked: Asked) -> str | None:
    def same(model: Model) -> bool:
        other = _sightings(asked, model).passes
        return len(other) == len(seen.passes) and all(map(_agree, seen.passes, other))

    opinion = dissent(same)
    return f"{opinion}-differs" if opinion else None


def _agree(one: Pass, other: Pass) -> bool:
    return abs(one.rise_min - other.rise_min) * 60 <= AGREE_S and abs(one.peak_deg - other.peak_deg) <= AGREE_DEG


def _sightings(asked: Asked, model: Model = "wgs72") -> Sightings:
    return ground_site.passes_over(asked.elements, asked.site, asked.start, asked.hours, asked.mask_deg, model)


def _answer(seen: Sightings, asked: Asked) -> Answer | None:
    if not seen.passes:
        return None
    highest = max(seen.passes, key=lambda p: p.peak_deg)
    return Answer(highest if asked.level == "hard" else seen.passes[0], len(seen.passes))


def prompt(asked: Asked) -> str:
    """The text of a question."""
    site = asked.site
    fields = [_MEANINGS[name] for name in _ASKED[asked.level]]
    listed = " and ".join(filter(None, (", ".join(fields[:-1]), fields[-1])))
    form = f"Answer with one JSON object with {'the field' if len(fields) == 1 else 'the fields'} {listed}."
    end = moment(asked.start, asked.hours * 60)
    return (
        "Two-line element set:\n" + "\n".join(tle.write_lines(asked.elements)) + "\n\n"
        f"Ground station: latitude {site.latitude_deg:.4f} deg (north positive), longitude {site.longitude_deg:.4f} "
        f"deg (east positive), height {site.height_m:.0f} m above the ellipsoid.\n"
        f"Window: from {asked.start:%Y-%m-%dT%H:%M:%S}Z to {end:%Y-%m-%dT%H:%M:%S}Z. "
        f"Minimum elevation: {asked.mask_deg:.0f} deg.\n\n{_CONVENTION}\n\n{_QUESTIONS[asked.level]} {form}"
    )


@lru_cache(maxsize=64)
def read_prompt(text: str) -> Asked:
    """What a prompt gives; InputError when it is not one of this family's."""
    lines, site, window = _LINES.search(text), _SITE.search(text), _WINDOW.search(text)
    level = next((level for level in reversed(_QUESTIONS) if _QUESTIONS[level] in text), None)
    if not (lines and site and window and level):
        raise InputError("the prompt has no element set, station, window and question about passes")
    start, end = (datetime.fromisoformat(f"{window[k]}+00:00") for k in (1, 2))
    return Asked(
        tle.elements_from_lines(lines[1], lines[2]),
        Site(*(float(site[k]) for k in (1, 2, 3))),
        start,
        (end - start) / timedelta(hours=1),
        float(window[3]),
        level,
    )


@lru_cache(maxsize=64)
def _seen(text: str) -> Sightings:
    return _sightings(read_prompt(text))


def _right(text: str) -> Answer:
    found = _answer(_seen(text), read_prompt(text))
    if found is None:
        raise InputError("there is no pass in the window of this prompt")
    return found


def _as_json(asked: Asked, answer: Answer, decimals: int = 3) -> str:
    values = {
        "rise": utc_text(moment(asked.start, answer.chosen.rise_min)),
        "max_elevation_deg": round(answer.chosen.peak_deg, decimals),
        "count": answer.count,
    }
    return json.dumps({name: values[name] for name in _ASKED[asked.level]})


def solve(item: Item) -> str:
    """The answer from the elements, the station and the window in the prompt."""
    return _as_json(read_prompt(item.prompt), _right(item.prompt))


def _wrong(by: Callable[[Asked, Answer], Answer | None]) -> Callable[[Item], str | None]:
    """A spoil with a wrong rise; None where the mistake moves the rise by less than 1.1 times the band."""

    def spoiled(item: Item) -> str | None:
        asked, right = read_prompt(item.prompt), _right(item.prompt)
        wrong = by(asked, right)
        if wrong is None or abs(wrong.chosen.rise_min - right.chosen.rise_min) * 60 < 1.1 * ATOL_S:
            return None
        return _as_json(asked, wrong)

    return spoiled


def _moved(right: Answer, rise_min: float) -> Answer:
    return Answer(msgspec.structs.replace(right.chosen, rise_min=rise_min), right.count)


def _by_method(
    elevation_of: Callable[[Asked], Callable[[Any], Any]],
) -> Callable[[Asked, Answer], Answer | None]:
    """The whole answer with another elevation function."""

    def answered(asked: Asked, _right: Answer) -> Answer | None:
        step_s = ground_site.grid_step_s(asked.elements)
        return _answer(ground_site.sightings(elevation_of(asked), asked.hours, asked.mask_deg, step_s), asked)

    return answered


def _next_revolution(asked: Asked, right: Answer) -> Answer | None:
    """The pass after the asked one, or the one before it."""
    passes = _seen(prompt(asked)).passes
    place = passes.index(right.chosen)
    others = [*passes[place + 1 :], *passes[:place][::-1]]
    return Answer(others[0], right.count) if others else None


def _above_horizon(asked: Asked, right: Answer) -> Answer | None:
    """The rise over the horizon in place of the one over the mask."""
    step_s = ground_site.grid_step_s(asked.elements)
    elevation = ground_site.elevations(asked.elements, ground_site.site_km(asked.site), asked.start)
    seen = ground_site.sightings(elevation, asked.hours, 0.0, step_s)
    return next(
        (_moved(right, p.rise_min) for p in seen.passes if p.rise_min <= right.chosen.peak_min <= p.set_min), None
    )


def _first_sample(_asked: Asked, right: Answer) -> Answer:
    """The first whole minute at which the object is up, without refinement."""
    return _moved(right, float(-(-right.chosen.rise_min // 1)))


def _west(asked: Asked) -> Site:
    return msgspec.structs.replace(asked.site, longitude_deg=-asked.site.longitude_deg)


_METHODS: dict[str, Callable[[Asked], Callable[[Any], Any]]] = {
    "spherical-earth": lambda a: ground_site.elevations(a.elements, ground_site.spherical_site_km(a.site), a.start),
    "teme-taken-for-itrs": lambda a: ground_site.elevations(
        a.elements, ground_site.site_km(a.site), a.start, turning=False
    ),
    "longitude-to-the-west": lambda a: ground_site.elevations(a.elements, ground_site.site_km(_west(a)), a.start),
    "kozai-taken-for-brouwer": lambda a: ground_site.elevations(
        taken_for_brouwer(a.elements), ground_site.site_km(a.site), a.start
    ),
}


def _changed(field: str, change: Callable[[Asked, Any], Any]) -> Callable[[Item], str | None]:
    """A spoil of one field where the level asks for it."""

    def spoiled(item: Item) -> str | None:
        asked, answer = read_prompt(item.prompt), json.loads(solve(item))
        return json.dumps(answer | {field: change(asked, answer[field])}) if field in answer else None

    return spoiled


def _restyled(field: str, style: Callable[[Any], Any]) -> Callable[[Item], str | None]:
    return _changed(field, lambda _asked, value: style(value))


orbital_pass = Family(
    name=NAME,
    make=make,
    solve=solve,
    refusals=refusals,
    spoil={
        "utc-tt-mixup": Spoil(
            _wrong(lambda _, right: _moved(right, right.chosen.rise_min + TT_MINUS_UTC_S / 60)), (WRONG_RISE,)
        ),
        "set-for-rise": Spoil(_wrong(lambda _, right: _moved(right, right.chosen.set_min)), (WRONG_RISE,)),
        "one-revolution-off": Spoil(_wrong(_next_revolution), (WRONG_RISE,)),
        "horizon-for-mask": Spoil(_wrong(_above_horizon), (WRONG_RISE,)),
        "minute-samples": Spoil(_wrong(_first_sample), (WRONG_RISE,)),
        **{name: Spoil(_wrong(_by_method(method)), (WRONG_RISE,)) for name, method in _METHODS.items()},
        "elevation-at-rise": Spoil(_changed("max_elevation_deg", lambda asked, _: asked.mask_deg), (WRONG_ELEVATION,)),
        "zenith-angle": Spoil(_changed("max_elevation_deg", lambda _, value: 90 - value), (WRONG_ELEVATION,)),
        "degrees-called-radians": Spoil(
            _changed("max_elevation_deg", lambda _, value: f"{value:.3f} rad"), (WRONG_ELEVATION,)
        ),
        "one-pass-more": Spoil(_changed("count", lambda _, value: value + 1), (WRONG_COUNT,)),
    },
    vary={
        "whole-seconds": _restyled("rise", lambda text: re.sub(r"\.\d+Z$", "Z", text)),
        "space-and-utc": _restyled("rise", lambda text: text.replace("T", " ").replace("Z", " UTC")),
        "two-decimals": _restyled("max_elevation_deg", lambda value: round(value, 2)),
        "elevation-with-unit": _restyled("max_elevation_deg", lambda value: f"{value:.2f} deg"),
    },
)
