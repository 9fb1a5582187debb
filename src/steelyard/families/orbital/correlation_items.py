"""Family `orbital-correlation`: which of five to twenty catalogued objects is where a noisy state was measured.

Gold: the candidate whose SGP4 state (WGS 72) at the instant is nearest to the measured position. The next candidate is
at least 20 times the noise away; WGS 84 constants and another implementation of SGP4 must give the same object.
Levels: easy = TEME, five candidates of any kind; medium = TEME, twelve; hard = ITRS, twenty. At medium and hard some
decoys are the sky's nearest in size, inclination and node. In a made-up sky three more fly on the right object's own
orbit, elsewhere along it, so that the shape and the plane of the orbit do not answer alone, and three on a neighbour's,
so that being one of a family does not either.
Not covered: uncorrelated tracks (the object is always among the candidates), covariance.
Easy to break: the gold must come from the printed numbers: elements, instant and state, read back.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from random import Random
from typing import Any

import msgspec

from steelyard.errors import InputError
from steelyard.families.orbital import tle
from steelyard.families.orbital.dynamics import Model, age_days, julian, states, utc_text
from steelyard.families.orbital.elements import Elements, semi_major_axis_km
from steelyard.families.orbital.ground_site import itrs_position, itrs_velocity, sidereal_angle, teme_position
from steelyard.families.orbital.opinions import dissent
from steelyard.families.orbital.period_items import vis_viva_axis_km
from steelyard.families.orbital.population import Population, population
from steelyard.families.orbital.tapes import Tapes, places
from steelyard.family import Family, Spoil
from steelyard.item import Item

NAME = "orbital-correlation"
SEPARATION = 20.0
OLDEST_DAYS = 3.0
MOST_SIGMAS = 5.0
_BLOCK = 4  # objects that belong to one item
_DECOYS_FROM = 3000  # the first objects of the population
_TLE_DAY = timedelta(microseconds=864)  # 1e-8 day
_EPOCH_TICKS = 6_000_000  # 86 min
TT_MINUS_UTC_S = 69.184  # since 2017: 37 leap seconds and TT - TAI
WRONG_OBJECT = "wrong-object"
WRONG = (WRONG_OBJECT,)
VERIFIER: dict[str, Any] = {
    "name": "fields",
    "fields": {"object": {"verifier": {"name": "number"}, "miss": WRONG_OBJECT}},
}

RULES = {
    "no-state": "SGP4 gives an error, or a state that is not a number, for a candidate",
    "few-candidates": "the catalogue holds fewer fresh objects than the level shows",
    "stale-epoch": f"a candidate's epoch lies more than {OLDEST_DAYS:g} days from the instant",
    "second-candidate": f"another candidate is nearer than {SEPARATION:g} times the noise",
    "wgs84-differs": "WGS 84 constants give another candidate",
    "engine-differs": "another implementation of SGP4 gives another candidate",
    "noise": f"the drawn noise is more than {MOST_SIGMAS:g} standard deviations",
}
"""Every reason for which a question is refused, in words."""


class _Plan(msgspec.Struct, frozen=True):
    """Candidates in all, neighbours among them, companions of two objects, the frame, and a range of noise (km)."""

    size: int
    neighbours: int
    companions: int
    frame: str
    noise_km: tuple[float, float]


_PLANS = {
    "easy": _Plan(5, 0, 0, "TEME", (0.5, 1.0)),
    "medium": _Plan(12, 3, 3, "TEME", (0.5, 2.0)),
    "hard": _Plan(20, 8, 3, "ITRS", (1.0, 3.0)),
}
_SPEED_PER_KM = 0.001  # noise of speed in km/s for each km of noise of position

_SET = re.compile(r"^(1 .{67})\n(2 .{67})$", re.MULTILINE)
_STATE = re.compile(r"at (\S+)Z in the frame (TEME|ITRS):")
_VECTOR = r"\((-?[\d.]+), (-?[\d.]+), (-?[\d.]+)\)"
_POSITION = re.compile(rf"position: {_VECTOR} km", re.ASCII)
_VELOCITY = re.compile(rf"velocity: {_VECTOR} km/s", re.ASCII)
_NOISE = re.compile(r"standard deviation of ([\d.]+) km in position", re.ASCII)


class Asked(msgspec.Struct, frozen=True):
    """What a prompt gives: candidates, the instant, the frame, the state (km, km/s) and the noise in km."""

    candidates: list[Elements]
    when: datetime
    frame: str
    position_km: list[float]
    velocity_km_s: list[float]
    noise_km: float


def _drawn_from(seed: str, catalogue: str | None, level: str) -> Iterator[Item | str]:
    return _outcomes(seed, population(seed, catalogue, lambda _: True), level)


_TAPES = Tapes(_drawn_from)
make, refusals = _TAPES.make, _TAPES.refusals


def _outcomes(seed: str, source: Population, level: str) -> Iterator[Item | str]:
    for index, difficulty in places(level):
        block = source.block(index, _BLOCK)
        if not block:
            return
        rng = Random(f"{seed}/{index}")
        for truth in block:
            asked = _drawn(rng, source, truth, difficulty)
            refused = asked if isinstance(asked, str) else refusal(asked)
            if refused or isinstance(asked, str):
                yield str(refused)
                continue
            text = prompt(asked)
            yield Item(
                id=f"{NAME}-{level + '-' if level else ''}{seed}-{index:05d}",
                input=text,
                target=_as_json(_right(text)),
                verifier=VERIFIER,
                family=NAME,
                domain="correlation",
                difficulty=difficulty,
                **source.about([truth]),
            )
            break


def _drawn(rng: Random, source: Population, truth: Elements, level: str) -> Asked | str:
    """A question about an object, with the numbers that a prompt prints; or the rule that refuses it."""
    plan = _PLANS[level]
    when = source.start + timedelta(milliseconds=rng.randrange(24 * 3600 * 1000))
    if not _fresh(truth, when):
        return "stale-epoch"
    others = [e for e in source.first(_DECOYS_FROM) if e.norad_id != truth.norad_id and _fresh(e, when)]
    chosen = [truth, *_decoys(rng, others, truth, plan, made_up=not source.real)]
    if len(chosen) < plan.size:
        return "few-candidates"
    shown = [tle.elements_from_lines(*tle.write_lines(e)) for e in source.shown(chosen, rng)]
    noise_km = round(rng.uniform(*plan.noise_km), 1)
    try:
        position, velocity = _states(shown[:1], when, plan.frame)
    except InputError:
        return "no-state"
    measured = [round(x + rng.gauss(0, noise_km), 3) for x in position[0].tolist()]
    speeds = [round(v + rng.gauss(0, noise_km * _SPEED_PER_KM), 6) for v in velocity[0].tolist()]
    if math.dist(measured, position[0].tolist()) > MOST_SIGMAS * noise_km:
        return "noise"
    rng.shuffle(shown)
    return Asked(shown, when, plan.frame, measured, speeds, noise_km)


def _decoys(rng: Random, others: list[Elements], truth: Elements, plan: _Plan, *, made_up: bool) -> list[Elements]:
    """Neighbours, companions of the object and of its first neighbour (made-up ones alone), and others."""
    near = sorted(others, key=lambda e: _unlike(e, truth))[: plan.neighbours]
    taken = {e.norad_id for e in near}
    free = [e for e in others if e.norad_id not in taken]
    rest = rng.sample(free, min(plan.size, len(free)))
    hosts = [host for host in (truth, *near[:1]) for _ in range(plan.companions)] if made_up else []
    companions = [_companion(rng, host, e) for host, e in zip(hosts, rest, strict=False)]
    return [*companions, *near, *rest[len(companions) :]][: plan.size - 1]


def _companion(rng: Random, host: Elements, named: Elements) -> Elements:
    """An object with the other's name on the host's orbit, at least 20 degrees away along it."""
    return msgspec.structs.replace(
        host,
        norad_id=named.norad_id,
        epoch=host.epoch - rng.randrange(_EPOCH_TICKS) * _TLE_DAY,
        mean_anomaly_deg=round((host.mean_anomaly_deg + rng.uniform(20, 340)) % 360, 4) % 360,
        raan_deg=round((host.raan_deg + rng.uniform(-0.05, 0.05)) % 360, 4) % 360,
        inclination_deg=min(round(host.inclination_deg + rng.uniform(0, 0.005), 4), 180.0),
        arg_perigee_deg=round((host.arg_perigee_deg + rng.uniform(-1, 1)) % 360, 4) % 360,
        bstar=named.bstar,
        mean_motion_dot=named.mean_motion_dot,
        element_set=named.element_set,
        revolution=named.revolution,
    )


def _fresh(elements: Elements, when: datetime) -> bool:
    return abs(age_days(elements, when)) <= OLDEST_DAYS


def _unlike(e: Elements, truth: Elements) -> float:
    """How much two orbits differ in size, eccentricity and plane; 1 is about 100 km, 0.01 or 1 degree."""
    node = abs((e.raan_deg - truth.raan_deg + 180) % 360 - 180) * math.sin(math.radians(truth.inclination_deg))
    size = abs(semi_major_axis_km(e) - semi_major_axis_km(truth)) / 100
    return size + abs(e.eccentricity - truth.eccentricity) * 100 + abs(e.inclination_deg - truth.inclination_deg) + node


def _states(candidates: Sequence[Elements], when: datetime, frame: str, model: Model = "wgs72") -> tuple[Any, Any]:
    """Positions and velocities of the candidates in a frame; InputError when one has no state."""
    found = states(candidates, when, [0.0], model)
    if found.codes.any():
        raise InputError(f"SGP4 gives no state of a candidate at {utc_text(when)}")
    position, velocity = found.position_km[:, 0], found.velocity_km_s[:, 0]
    if frame == "TEME":
        return position, velocity
    angle = sidereal_angle(*julian(when, [0.0]))
    return itrs_position(position, angle), itrs_velocity(position, velocity, angle)


def refusal(asked: Asked) -> str | None:
    """The first of `RULES` that refuses this question, or None."""
    if not all(_fresh(e, asked.when) for e in asked.candidates):
        return "stale-epoch"
    try:
        ranked = distances_km(asked)
    except InputError:
        return "no-state"
    if ranked[1][0] < SEPARATION * asked.noise_km:
        return "second-candidate"
    opinion = dissent(lambda model: distances_km(asked, model)[0][1] == ranked[0][1])
    return f"{opinion}-differs" if opinion else None


def distances_km(asked: Asked, model: Model = "wgs72") -> list[tuple[float, int]]:
    """Distance from the measured position to every candidate, with its catalogue number; the nearest first."""
    return _ranked(asked, asked.when, asked.frame, model)


def _ranked(asked: Asked, when: datetime, frame: str, model: Model = "wgs72") -> list[tuple[float, int]]:
    position, _ = _states(asked.candidates, when, frame, model)
    away = [math.dist(p, asked.position_km) for p in position.tolist()]
    return sorted(zip(away, [e.norad_id for e in asked.candidates], strict=True))


def prompt(asked: Asked) -> str:
    """The text of a question."""
    listed = "\n".join("\n".join([f"Object {e.norad_id}:", *tle.write_lines(e)]) for e in asked.candidates)
    position = ", ".join(f"{x:.3f}" for x in asked.position_km)
    velocity = ", ".join(f"{v:.6f}" for v in asked.velocity_km_s)
    fixed = (
        " ITRS is TEME turned by Greenwich mean sidereal time (IAU 1982) with UT1 = UTC, without polar motion; "
        "the velocity is relative to the turning Earth."
    )
    return (
        f"A sensor measured the state of one object at {utc_text(asked.when)} in the frame {asked.frame}:\n"
        f"position: ({position}) km\nvelocity: ({velocity}) km/s\n"
        f"Every component carries independent Gaussian noise with a standard deviation of {asked.noise_km:.1f} km in "
        f"position and {asked.noise_km * _SPEED_PER_KM * 1000:.1f} m/s in velocity. The time is UTC."
        f"{fixed if asked.frame == 'ITRS' else ''}\n\n"
        f"It is one of these {len(asked.candidates)} objects, as two-line element sets:\n{listed}\n\n"
        "Propagate with SGP4 (WGS 72 constants, improved mode). Which object was measured? "
        'Answer with one JSON object with the field "object" (the catalogue number in decimal digits, as it stands '
        "after the word Object)."
    )


@lru_cache(maxsize=64)
def read_prompt(text: str) -> Asked:
    """What a prompt gives; InputError when it is not one of this family's."""
    lines, state = _SET.findall(text), _STATE.search(text)
    position, velocity, noise = _POSITION.search(text), _VELOCITY.search(text), _NOISE.search(text)
    if not (lines and state and position and velocity and noise):
        raise InputError("the prompt has no measured state and candidates")
    return Asked(
        [tle.elements_from_lines(*pair) for pair in lines],
        datetime.fromisoformat(f"{state[1]}+00:00"),
        state[2],
        [float(x) for x in position.groups()],
        [float(v) for v in velocity.groups()],
        float(noise[1]),
    )


@lru_cache(maxsize=64)
def _right(text: str) -> int:
    return distances_km(read_prompt(text))[0][1]


def solve(item: Item) -> str:
    """The catalogue number of the candidate that is nearest to the measured position."""
    return _as_json(_right(item.prompt))


def _as_json(number: int | str) -> str:
    return json.dumps({"object": number})


def _wrong(pick: Callable[[Asked], int | None]) -> Callable[[Item], str | None]:
    """A spoil: the object that a mistaken method picks, where it is another one."""

    def spoiled(item: Item) -> str | None:
        asked = read_prompt(item.prompt)
        try:
            number = pick(asked)
        except InputError:
            return None  # the mistake leads to no state at all
        return None if number in (None, _right(item.prompt)) else _as_json(number)

    return spoiled


def _by_shape(asked: Asked) -> int | None:
    """The nearest in semi-major axis alone, from the state's energy; only where the frame does not turn."""
    if asked.frame != "TEME":
        return None
    axis_km = vis_viva_axis_km(asked.position_km, asked.velocity_km_s)
    return min(asked.candidates, key=lambda e: abs(semi_major_axis_km(e) - axis_km)).norad_id


def _by_plane(asked: Asked) -> int | None:
    """The nearest in inclination and node alone, from the state's angular momentum."""
    if asked.frame != "TEME":
        return None
    (x, y, z), (vx, vy, vz) = asked.position_km, asked.velocity_km_s
    hx, hy, hz = y * vz - z * vy, z * vx - x * vz, x * vy - y * vx
    tilt, node = math.degrees(math.acos(hz / math.hypot(hx, hy, hz))), math.degrees(math.atan2(hx, -hy))
    return min(
        asked.candidates,
        key=lambda e: abs(e.inclination_deg - tilt) + abs((e.raan_deg - node + 180) % 360 - 180),
    ).norad_id


def _at_epochs(asked: Asked) -> int:
    """The nearest when no element set is propagated from its epoch."""
    away = [
        (math.dist(_states([e], e.epoch, asked.frame)[0][0].tolist(), asked.position_km), e.norad_id)
        for e in asked.candidates
    ]
    return min(away)[1]


def _other_frame(asked: Asked) -> int:
    """The nearest when TEME and ITRS are taken for each other."""
    return _ranked(asked, asked.when, "ITRS" if asked.frame == "TEME" else "TEME")[0][1]


def _other_scale(asked: Asked) -> int:
    """The nearest when the instant is taken for TT."""
    return _ranked(asked, asked.when - timedelta(seconds=TT_MINUS_UTC_S), asked.frame)[0][1]


def _opposite_turn(asked: Asked) -> int | None:
    """The nearest when the Earth is turned the wrong way."""
    if asked.frame != "ITRS":
        return None
    position, _ = _states(asked.candidates, asked.when, "TEME")
    turned = teme_position(position, sidereal_angle(*julian(asked.when, [0.0])))
    away = [math.dist(p, asked.position_km) for p in turned.tolist()]
    return min(zip(away, [e.norad_id for e in asked.candidates], strict=True))[1]


correlation = Family(
    name=NAME,
    make=make,
    solve=solve,
    refusals=refusals,
    spoil={
        "second-candidate": Spoil(_wrong(lambda asked: distances_km(asked)[1][1]), WRONG),
        "farthest-candidate": Spoil(_wrong(lambda asked: distances_km(asked)[-1][1]), WRONG),
        "size-alone": Spoil(_wrong(_by_shape), WRONG),
        "plane-alone": Spoil(_wrong(_by_plane), WRONG),
        "not-propagated": Spoil(_wrong(_at_epochs), WRONG),
        "teme-itrs-mixup": Spoil(_wrong(_other_frame), WRONG),
        "utc-tt-mixup": Spoil(_wrong(_other_scale), WRONG),
        "turned-the-wrong-way": Spoil(_wrong(_opposite_turn), WRONG),
        "next-number": Spoil(lambda item: _as_json(_right(item.prompt) + 1), WRONG),
    },
    vary={
        "as-text": lambda item: _as_json(str(_right(item.prompt))),
        "with-reason": lambda item: f"The others are far away.\n\n{_as_json(_right(item.prompt))}",
    },
)
