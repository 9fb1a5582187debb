"""Family `orbital-altitude`: apogee and perigee altitude of one eccentric object, with the convention in the prompt.

Convention: mean-element altitude a (1 +- e) - 6378.137 km, with a from the printed (Kozai) mean motion by Kepler's
third law. SGP4's own (Brouwer) axis, with either set of constants, gives up to 11 km another altitude (median 3 km at
apogee, 1 km at perigee); an object for which that leaves the band is refused, so both readings pass. The band is 5 km
+ 0.1 %, of which the second term ends at 1.5 km: a ball of 6371 km (7.137 km off) fails everywhere. It stands in each
item as one width. Eccentricity is above 0.05, so that a circle taken for the orbit fails.
Levels: easy = a list with the mean motion, one of the two altitudes; medium = TLE, both; hard = a state vector (the
two-body state of the elements), both.
Not covered: the true extremes of the distance over a revolution, heights above the ellipsoid.
Easy to break: the target is computed from the numbers that are printed, not from those before rounding.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from random import Random
from typing import Any

import msgspec

from steelyard.errors import InputError
from steelyard.families.orbital import tle
from steelyard.families.orbital.elements import (
    EARTH_RADIUS_KM,
    MINUTES_PER_DAY,
    MU_EARTH_KM3_S2,
    Elements,
    axis_from_period_km,
    semi_major_axis_km,
)
from steelyard.families.orbital.ground_site import MEAN_RADIUS_KM
from steelyard.families.orbital.period_items import two_body_state, vis_viva_axis_km
from steelyard.families.orbital.population import Population, population
from steelyard.families.orbital.tapes import Tapes, places
from steelyard.family import Family, Spoil
from steelyard.item import Item

NAME = "orbital-altitude"
ATOL_KM = 5.0
RTOL = 0.001
MOST_BY_SHARE_KM = 1.5  # so that the band stays below the 7.137 km between the equatorial and the mean radius
LEAST_ECCENTRICITY = 0.05
WRONG_ALTITUDE = "wrong-altitude"
_BLOCK = 4  # objects that belong to one item
FIELDS = ("apogee_altitude_km", "perigee_altitude_km")


class Constants(msgspec.Struct, frozen=True):
    """What SGP4 takes from a gravity model: J2, sqrt(mu) in Earth radii^1.5 per minute, the Earth's radius in km."""

    j2: float
    ke: float
    radius_km: float


WGS72 = Constants(0.001082616, 0.0743669161331734, 6378.135)  # Spacetrack Report No. 3
WGS84 = Constants(0.00108262998905, 0.07436685316871385, 6378.137)  # AIAA 2006-6753, getgravconst
RULES = {
    "brouwer-differs": "SGP4's own mean motion gives an altitude outside the band, with WGS 72 or WGS 84 constants",
    "circle-fits": "the altitude of a circular orbit lies inside the band",
}
"""Every reason for which an object is refused, in words."""

_CONVENTION = (
    f"Altitudes are those of the mean orbit: a(1 + e) - {EARTH_RADIUS_KM} km at apogee and "
    f"a(1 - e) - {EARTH_RADIUS_KM} km at perigee."
)
_AS_PRINTED = (
    "Take the semi-major axis a from the mean motion exactly as it is given, by Kepler's third law with "
    f"mu = {MU_EARTH_KM3_S2} km^3/s^2."
)
_TWO_BODY = f"Assume two-body motion about the Earth with mu = {MU_EARTH_KM3_S2} km^3/s^2."
_QUESTIONS = {
    ("apogee_altitude_km",): "What is the apogee altitude of this object?",
    ("perigee_altitude_km",): "What is the perigee altitude of this object?",
    FIELDS: "What are the apogee and perigee altitudes of this object?",
}
_LINES = re.compile(r"^(1 .{67})\n(2 .{67})$", re.MULTILINE)
_LISTED = re.compile(r"eccentricity: ([\d.]+)\n.*\nmean motion: ([\d.]+) rev/day", re.ASCII)
_VECTOR = r"\((-?[\d.]+), (-?[\d.]+), (-?[\d.]+)\)"
_STATE = re.compile(rf"position: {_VECTOR} km\nvelocity: {_VECTOR} km/s", re.ASCII)


class Orbit(msgspec.Struct, frozen=True):
    """Size and shape as a prompt gives them, and the altitudes that it asks for."""

    axis_km: float
    eccentricity: float
    fields: tuple[str, ...]

    def altitude_km(self, field: str, radius_km: float = EARTH_RADIUS_KM) -> float:
        """Altitude in km at apogee or perigee, above a ball of `radius_km`."""
        sign = 1 if field == FIELDS[0] else -1
        return self.axis_km * (1 + sign * self.eccentricity) - radius_km


def _drawn_from(seed: str, catalogue: str | None, level: str) -> Iterator[Item | str]:
    source = population(seed, catalogue, lambda e: e.eccentricity > LEAST_ECCENTRICITY)
    return _outcomes(seed, source, level)


_TAPES = Tapes(_drawn_from)
make, refusals = _TAPES.make, _TAPES.refusals


def _outcomes(seed: str, source: Population, level: str) -> Iterator[Item | str]:
    for index, difficulty in places(level):
        block = source.block(index, _BLOCK)
        if not block:
            return
        rng = Random(f"{seed}/{index}")
        fields = (rng.choice(FIELDS),) if difficulty == "easy" else FIELDS
        for elements in block:
            refused = refusal(elements)
            if refused:
                yield refused
                continue
            text = prompt(source.shown([elements], rng)[0], difficulty, fields)
            yield Item(
                id=f"{NAME}-{level + '-' if level else ''}{seed}-{index:05d}",
                input=text,
                target=_as_json(text, decimals=6),
                verifier={"name": "fields", "fields": _rules(text)},
                family=NAME,
                domain="elements",
                difficulty=difficulty,
                **source.about([elements]),
            )
            break


def band_km(altitude_km: float) -> float:
    """Half the width of the band around an altitude, in km, as it stands in an item."""
    return round(ATOL_KM + min(RTOL * abs(altitude_km), MOST_BY_SHARE_KM), 3)


def _rules(text: str) -> dict[str, Any]:
    """How each asked altitude of a prompt is judged."""
    orbit = read_prompt(text)
    return {
        name: {
            "verifier": {"name": "number", "unit": "km", "atol": band_km(orbit.altitude_km(name))},
            "miss": WRONG_ALTITUDE,
        }
        for name in orbit.fields
    }


def brouwer_axis_km(elements: Elements, constants: Constants = WGS72) -> float:
    """SGP4's own semi-major axis in km: the printed mean motion freed of Kozai's J2 term."""
    per_min = elements.mean_motion_rev_per_day * math.tau / MINUTES_PER_DAY
    axis = (constants.ke / per_min) ** (2 / 3)
    tilt = 3 * math.cos(math.radians(elements.inclination_deg)) ** 2 - 1
    bulge = 0.75 * constants.j2 * tilt / (1 - elements.eccentricity**2) ** 1.5
    first = bulge / axis**2
    freed = axis * (1 - first**2 - first * (1 / 3 + 134 * first**2 / 81))
    return float((constants.ke / (per_min / (1 + bulge / freed**2))) ** (2 / 3)) * constants.radius_km


def refusal(elements: Elements) -> str | None:
    """The first of `RULES` that refuses an object, or None."""
    printed = Orbit(semi_major_axis_km(elements), elements.eccentricity, FIELDS)
    axes = [brouwer_axis_km(elements, constants) for constants in (WGS72, WGS84)]
    for field in FIELDS:
        altitude = printed.altitude_km(field)
        others = [msgspec.structs.replace(printed, axis_km=axis).altitude_km(field) for axis in axes]
        if any(abs(other - altitude) > band_km(altitude) for other in others):
            return "brouwer-differs"
        if abs(printed.axis_km - EARTH_RADIUS_KM - altitude) <= 2 * band_km(altitude):
            return "circle-fits"
    return None


def prompt(elements: Elements, level: str, fields: tuple[str, ...]) -> str:
    """The text of a question."""
    shown = {"easy": _as_list, "medium": _as_tle, "hard": _as_state}[level](elements)
    how = _TWO_BODY if level == "hard" else _AS_PRINTED
    listed = " and ".join(f'"{name}"' for name in fields)
    form = f"Answer with one JSON object with the {'fields' if len(fields) > 1 else 'field'} {listed}, in km"
    return f"{shown}\n\n{_QUESTIONS[fields]} {_CONVENTION} {how} {form} (numbers with at least one decimal)."


def _as_list(elements: Elements) -> str:
    return (
        "Mean orbital elements:\n"
        f"inclination: {elements.inclination_deg:.4f} deg\n"
        f"eccentricity: {elements.eccentricity:.7f}\n"
        f"argument of perigee: {elements.arg_perigee_deg:.4f} deg\n"
        f"mean motion: {elements.mean_motion_rev_per_day:.8f} rev/day"
    )


def _as_tle(elements: Elements) -> str:
    return "Two-line element set:\n" + "\n".join(tle.write_lines(elements))


def _as_state(elements: Elements) -> str:
    position, velocity = two_body_state(elements)
    return (
        "State in an inertial frame with its origin at the centre of the Earth:\n"
        f"position: ({', '.join(f'{x:.6f}' for x in position)}) km\n"
        f"velocity: ({', '.join(f'{v:.9f}' for v in velocity)}) km/s"
    )


@lru_cache(maxsize=64)
def read_prompt(text: str) -> Orbit:
    """What a prompt gives; InputError when it is not one of this family's."""
    fields = next((fields for fields, question in _QUESTIONS.items() if question in text), None)
    lines, listed, state = _LINES.search(text), _LISTED.search(text), _STATE.search(text)
    if fields and lines:
        elements = tle.elements_from_lines(lines[1], lines[2])
        return Orbit(semi_major_axis_km(elements), elements.eccentricity, fields)
    if fields and listed:
        return Orbit(axis_from_period_km(MINUTES_PER_DAY / float(listed[2])), float(listed[1]), fields)
    if fields and state:
        numbers = [float(x) for x in state.groups()]
        return Orbit(vis_viva_axis_km(numbers[:3], numbers[3:]), shape(numbers[:3], numbers[3:]), fields)
    raise InputError("the prompt has no orbit and question about its altitudes")


def shape(position_km: list[float], velocity_km_s: list[float]) -> float:
    """Eccentricity of the two-body orbit of a state: the length of ((v^2 - mu/r) r - (r.v) v) / mu."""
    radius = math.hypot(*position_km)
    along = sum(x * v for x, v in zip(position_km, velocity_km_s, strict=True))
    speed_squared = sum(v * v for v in velocity_km_s)
    vector = [
        ((speed_squared - MU_EARTH_KM3_S2 / radius) * x - along * v) / MU_EARTH_KM3_S2
        for x, v in zip(position_km, velocity_km_s, strict=True)
    ]
    return math.hypot(*vector)


def _as_json(text: str, value: Callable[[Orbit, str], float | str] = Orbit.altitude_km, *, decimals: int = 3) -> str:
    orbit = read_prompt(text)
    values = {name: value(orbit, name) for name in orbit.fields}
    return json.dumps({name: round(v, decimals) if isinstance(v, float) else v for name, v in values.items()})


def solve(item: Item) -> str:
    """The altitudes from the numbers in the prompt, in km, as JSON."""
    return _as_json(item.prompt)


def _wrong(value: Callable[[Orbit, str], float | str]) -> Spoil:
    """A spoil that gives every field by a mistaken rule; None where all of them stay inside the band after all."""

    def spoiled(item: Item) -> str | None:
        orbit = read_prompt(item.prompt)
        wrong = [(value(orbit, name), orbit.altitude_km(name)) for name in orbit.fields]
        fits = all(isinstance(w, float) and abs(w - right) <= 1.01 * band_km(right) for w, right in wrong)
        return None if fits else _as_json(item.prompt, value)

    return Spoil(spoiled, (WRONG_ALTITUDE,))


def _brouwer(text: str) -> str | None:
    """What SGP4's own axis gives, where there is a TLE to free of Kozai's term: inside the band by rule."""
    lines = _LINES.search(text)
    if not lines:
        return None
    axis_km = brouwer_axis_km(tle.elements_from_lines(lines[1], lines[2]))
    return _as_json(text, lambda orbit, name: msgspec.structs.replace(orbit, axis_km=axis_km).altitude_km(name))


def _other(field: str) -> str:
    return FIELDS[1 - FIELDS.index(field)]


altitude = Family(
    name=NAME,
    make=make,
    solve=solve,
    refusals=refusals,
    spoil={
        "circle-for-ellipse": _wrong(lambda orbit, _: orbit.axis_km - EARTH_RADIUS_KM),
        "apogee-for-perigee": _wrong(lambda orbit, name: orbit.altitude_km(_other(name))),
        "radius-for-altitude": _wrong(lambda orbit, name: orbit.altitude_km(name, 0.0)),
        "spherical-earth": _wrong(lambda orbit, name: orbit.altitude_km(name, MEAN_RADIUS_KM)),
        "metres-called-kilometres": _wrong(lambda orbit, name: f"{orbit.altitude_km(name) * 1000:.1f} km"),
        "kilometres-called-miles": _wrong(lambda orbit, name: f"{orbit.altitude_km(name):.2f} mi"),
        "eccentricity-doubled": _wrong(
            lambda orbit, name: 2 * orbit.altitude_km(name) - orbit.axis_km + EARTH_RADIUS_KM
        ),
    },
    vary={
        "two-decimals": lambda item: _as_json(item.prompt, decimals=2),
        "with-unit": lambda item: _as_json(item.prompt, lambda orbit, name: f"{orbit.altitude_km(name):.2f} km"),
        "in-metres": lambda item: _as_json(item.prompt, lambda orbit, name: f"{orbit.altitude_km(name) * 1000:.0f} m"),
        "brouwer-axis": lambda item: _brouwer(item.prompt),
    },
)
