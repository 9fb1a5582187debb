"""Family `orbital-period`: the period of one object in minutes, from an element list, a TLE, an axis or a state.

Conventions stand in the prompt. With a mean motion the period is 1440 / n with n as printed (Kozai); SGP4's own value
differs by at most 0.15 min in low orbits and lies inside the band. With an axis or a state it is two-body motion.
Levels: easy = a list with the mean motion; medium = TLE columns, or a semi-major axis; hard = a state vector (the
two-body state of the elements), where the period follows from the vis-viva equation.
Not covered: nodal and anomalistic periods.
Easy to break: the target is computed from the numbers that are printed, not from those before rounding.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from random import Random

import msgspec

from steelyard.errors import InputError
from steelyard.families.orbital import objects, tle
from steelyard.families.orbital.elements import (
    EARTH_RADIUS_KM,
    MINUTES_PER_DAY,
    MU_EARTH_KM3_S2,
    Elements,
    axis_from_period_km,
    period_from_axis_min,
    period_min,
    semi_major_axis_km,
)
from steelyard.families.orbital.tapes import known_level, places
from steelyard.family import Family, Spoil
from steelyard.item import Item

NAME = "orbital-period"
ATOL_MIN = 0.1  # seed 000, equation 10.7
RTOL = 0.001
VERIFIER = {"name": "number", "unit": "min", "atol": ATOL_MIN, "rtol": RTOL}
_ANSWER_FORM = "Answer with the period in minutes, with at least two decimals."
_AS_PRINTED = "Use the mean motion exactly as it is given, without any correction for drag or perturbations."
_TWO_BODY = f"Assume two-body motion about the Earth with mu = {MU_EARTH_KM3_S2} km^3/s^2."
_ASK = "What is the orbital period of this object, in minutes?"

_MEAN_MOTION = re.compile(r"mean motion: ([\d.]+) rev/day", re.ASCII)
_AXIS = re.compile(r"semi-major axis: ([\d.]+) km", re.ASCII)
_TLE = re.compile(r"^(1 .{67,})\n(2 .{67,})$", re.MULTILINE)
_VECTOR = r"\((-?[\d.]+), (-?[\d.]+), (-?[\d.]+)\)"
_POSITION = re.compile(rf"position: {_VECTOR} km", re.ASCII)
_VELOCITY = re.compile(rf"velocity: {_VECTOR} km/s", re.ASCII)


class _Shown(msgspec.Struct, frozen=True):
    """What a prompt gives, and how to make and grade it: the text, its convention, and the printed period."""

    text: str
    convention: str
    period_min: float


def _as_list(elements: Elements) -> _Shown:
    text = (
        "Mean orbital elements:\n"
        f"inclination: {elements.inclination_deg:.4f} deg\n"
        f"eccentricity: {elements.eccentricity:.7f}\n"
        f"argument of perigee: {elements.arg_perigee_deg:.4f} deg\n"
        f"mean motion: {elements.mean_motion_rev_per_day:.8f} rev/day"
    )
    return _Shown(text, _AS_PRINTED, period_min(elements))


def _as_tle(elements: Elements) -> _Shown:
    return _Shown("Two-line element set:\n" + "\n".join(tle.write_lines(elements)), _AS_PRINTED, period_min(elements))


def _as_axis(elements: Elements) -> _Shown:
    axis_km = round(semi_major_axis_km(elements), 3)
    text = f"Orbit:\nsemi-major axis: {axis_km:.3f} km\neccentricity: {elements.eccentricity:.7f}"
    return _Shown(text, _TWO_BODY, period_from_axis_min(axis_km))


def _as_state(elements: Elements) -> _Shown:
    position, velocity = two_body_state(elements)
    position_km = [round(x, 6) for x in position]
    velocity_km_s = [round(v, 9) for v in velocity]
    text = (
        "State in an inertial frame with its origin at the centre of the Earth:\n"
        f"position: ({', '.join(f'{x:.6f}' for x in position_km)}) km\n"
        f"velocity: ({', '.join(f'{v:.9f}' for v in velocity_km_s)}) km/s"
    )
    return _Shown(text, _TWO_BODY, period_from_axis_min(vis_viva_axis_km(position_km, velocity_km_s)))


_SHOW: dict[str, tuple[Callable[[Elements], _Shown], ...]] = {
    "easy": (_as_list,),
    "medium": (_as_tle, _as_axis),
    "hard": (_as_state,),
}


def two_body_state(elements: Elements) -> tuple[list[float], list[float]]:
    """Position (km) and velocity (km/s) at epoch of the Kepler orbit with these elements."""
    e, axis_km = elements.eccentricity, semi_major_axis_km(elements)
    anomaly = eccentric_anomaly(math.radians(elements.mean_anomaly_deg), e)
    root = math.sqrt(1 - e * e)
    radius_km = axis_km * (1 - e * math.cos(anomaly))
    rate = math.sqrt(MU_EARTH_KM3_S2 * axis_km) / radius_km
    in_plane = (axis_km * (math.cos(anomaly) - e), axis_km * root * math.sin(anomaly))
    in_plane_rate = (-rate * math.sin(anomaly), rate * root * math.cos(anomaly))
    towards, ahead = _perifocal_axes(elements)
    return (
        [in_plane[0] * p + in_plane[1] * q for p, q in zip(towards, ahead, strict=True)],
        [in_plane_rate[0] * p + in_plane_rate[1] * q for p, q in zip(towards, ahead, strict=True)],
    )


def _perifocal_axes(elements: Elements) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Unit vectors towards perigee and 90 degrees ahead of it (Vallado, Fundamentals of Astrodynamics, 2.6)."""
    node, argument = math.radians(elements.raan_deg), math.radians(elements.arg_perigee_deg)
    tilt = math.radians(elements.inclination_deg)
    cn, sn, ca, sa, ci, si = (f(x) for x in (node, argument, tilt) for f in (math.cos, math.sin))
    towards = (cn * ca - sn * sa * ci, sn * ca + cn * sa * ci, sa * si)
    ahead = (-cn * sa - sn * ca * ci, -sn * sa + cn * ca * ci, ca * si)
    return towards, ahead


def eccentric_anomaly(mean_anomaly: float, e: float) -> float:
    """Solve Kepler's equation E - e sin E = M for E, radians, 0 <= e < 1, by Newton from pi (which converges)."""
    mean_anomaly %= math.tau
    anomaly = math.pi
    for _ in range(60):
        step = (anomaly - e * math.sin(anomaly) - mean_anomaly) / (1 - e * math.cos(anomaly))
        anomaly -= step
        if abs(step) < 1e-14:
            break
    return anomaly


def vis_viva_axis_km(position_km: list[float], velocity_km_s: list[float]) -> float:
    """Semi-major axis in km from v^2 = mu (2/r - 1/a); InputError where the orbit is not closed."""
    speed_squared = sum(v * v for v in velocity_km_s)
    inverse = 2 / math.hypot(*position_km) - speed_squared / MU_EARTH_KM3_S2
    if inverse <= 0:
        raise InputError(f"the state with position {position_km} km is not on a closed orbit")
    return 1 / inverse


def make(seed: int | str = 0, *, catalogue: str | None = None, level: str = "") -> Iterator[Item]:
    """Period items without end; `level` keeps to easy, medium or hard, else they take turns."""
    level = known_level(level)
    return _items(seed, objects.source(catalogue), level)


def _items(seed: int | str, source: objects.Source, level: str) -> Iterator[Item]:
    for index, difficulty in places(level):
        rng = Random(f"{seed}/{index}")
        elements = source.draw(rng)
        shown = rng.choice(_SHOW[difficulty])(source.shown(elements))
        yield Item(
            id=f"{NAME}-{level + '-' if level else ''}{seed}-{index:05d}",
            input=f"{shown.text}\n\n{_ASK} {shown.convention} {_ANSWER_FORM}",
            target=f"{shown.period_min:.6f}",
            verifier=dict(VERIFIER),
            group=objects.group([elements]),
            family=NAME,
            domain="elements",
            difficulty=difficulty,
            provenance=source.provenance,
            license=source.license,
        )


def given_period_min(text: str) -> float:
    """The period in minutes that a prompt's printed numbers give; InputError when it prints none of the four forms."""
    if lines := _TLE.search(text):
        return period_min(tle.elements_from_lines(lines[1], lines[2]))
    if mean_motion := _MEAN_MOTION.search(text):
        return MINUTES_PER_DAY / float(mean_motion[1])
    if axis := _AXIS.search(text):
        return period_from_axis_min(float(axis[1]))
    position, velocity = _POSITION.search(text), _VELOCITY.search(text)
    if position and velocity:
        axis_km = vis_viva_axis_km([float(x) for x in position.groups()], [float(v) for v in velocity.groups()])
        return period_from_axis_min(axis_km)
    raise InputError("the prompt gives no TLE, mean motion, semi-major axis or state to take a period from")


def solve(item: Item) -> str:
    """The period from the numbers in the prompt, in minutes with four decimals."""
    return f"{given_period_min(item.prompt):.4f} min"


def _scaled(factor: float, unit: str) -> Callable[[Item], str]:
    return lambda item: f"{given_period_min(item.prompt) * factor:.4f} {unit}"


def _mean_motion(item: Item) -> str:
    return f"{MINUTES_PER_DAY / given_period_min(item.prompt):.4f} minutes"


def _altitude_as_axis(item: Item) -> str | None:
    """Only where an axis or a state is given: the altitude put where the radius belongs."""
    if not (_AXIS.search(item.prompt) or _POSITION.search(item.prompt)):
        return None
    axis_km = axis_from_period_km(given_period_min(item.prompt))
    return f"{period_from_axis_min(axis_km - EARTH_RADIUS_KM):.4f} minutes"


def _circular(item: Item) -> str | None:
    """Only for a state well away from its mean radius: r taken for a, as if the orbit were a circle."""
    position = _POSITION.search(item.prompt)
    if not position:
        return None
    wrong = period_from_axis_min(math.hypot(*(float(x) for x in position.groups())))
    right = given_period_min(item.prompt)
    return f"{wrong:.4f} minutes" if abs(wrong - right) > 2 * (ATOL_MIN + RTOL * right) else None


period = Family(
    name=NAME,
    make=make,
    solve=solve,
    spoil={
        "hours-called-minutes": Spoil(_scaled(1 / 60, "minutes"), ("wrong-unit",)),
        "seconds-called-minutes": Spoil(_scaled(60, "minutes"), ("wrong-unit",)),
        "minutes-called-hours": Spoil(_scaled(1, "hours"), ("wrong-unit",)),
        "unit-of-length": Spoil(_scaled(1, "km"), ("wrong-unit", "no-answer")),
        "mean-motion-as-period": Spoil(_mean_motion, ("wrong-value", "wrong-unit")),
        "altitude-for-radius": Spoil(_altitude_as_axis, ("wrong-value",)),
        "circle-for-ellipse": Spoil(_circular, ("wrong-value",)),
    },
    vary={
        "two-decimals": lambda item: f"{given_period_min(item.prompt):.2f} minutes",
        "sentence": lambda item: f"The orbital period is about {given_period_min(item.prompt):.2f} min.",
        "bold": lambda item: f"The period is **{given_period_min(item.prompt):.3f} minutes**.",
        "boxed": lambda item: f"\\boxed{{{given_period_min(item.prompt):.2f}}}",
        "hours": lambda item: f"{given_period_min(item.prompt) / 60:.5f} h",
        "seconds": lambda item: f"{given_period_min(item.prompt) * 60:.1f} s",
    },
)
