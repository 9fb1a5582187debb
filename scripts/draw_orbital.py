"""Draw docs/pictures/encounter.svg and docs/pictures/pass.svg: what two families ask about, from made-up objects.

Both pictures are plain SVG text made from an item of the synthetic sky, so anyone gets the same bytes.
`encounter`: the distance of two objects around their closest approach, and what samples at every minute see of it.
`pass`: a pass on the sky of a station: azimuth and elevation with the mask, rise, highest point and set.

Run: python scripts/draw_orbital.py [--check]
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.families.orbital import encounter_items, encounter_prompts, ground_site, passes_items
from steelyard.families.orbital.dynamics import checked_states, julian, moment, record, states_of, utc_text
from steelyard.families.orbital.elements import Elements
from steelyard.families.orbital.encounters import LAZY_STEP_S, Window, meeting, sampled
from steelyard.families.orbital.ground_site import Pass

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
SEED = "picture"
OBJECTS = 1500
AROUND_S, NEAR_S = 90.0, 0.5
INK, GREY, LIGHT, BLUE, RED, BAND = "#1b1f24", "#6b7280", "#d7dbe0", "#1f5fa8", "#b3261e", "#dbe9d8"

Point = tuple[float, float]


def encounter() -> str:
    """The distance of an encounter item's objects around the closest approach: 90 s to each side, and half a second."""
    item = next(encounter_items.make(SEED, objects=OBJECTS))
    given = encounter_prompts.read(item.prompt)
    (a, b), window = given.objects, given.window
    met = meeting(a, b, window).nearest
    lazy = sampled(a, b, window, LAZY_STEP_S)

    def curve(seconds: Any) -> list[Point]:
        minutes = met.after_min + np.asarray(seconds) / 60
        return list(zip(list(map(float, seconds)), _apart_km(a, b, window, minutes), strict=True))

    offset_s = (met.after_min * 60) % LAZY_STEP_S
    looks = curve([s for s in (k * LAZY_STEP_S - offset_s for k in range(-2, 4)) if abs(s) <= AROUND_S])
    wide, near = curve(np.linspace(-AROUND_S, AROUND_S, 181)), curve(np.linspace(-NEAR_S, NEAR_S, 101))
    most_km, most_near_km = math.ceil(max(y for _, y in wide) / 200) * 200, math.ceil(max(y for _, y in near))
    left = _Box((60, 60), (400, 330), (-AROUND_S, AROUND_S), (0.0, float(most_km)))
    right = _Box((470, 60), (740, 330), (-NEAR_S, NEAR_S), (0.0, float(most_near_km)))
    band_km = encounter_items.ATOL_KM + encounter_items.RTOL * met.distance_km
    (band_left, band_top), (band_right, band_bottom) = (
        right.at(x, met.distance_km + y * band_km) for x, y in ((-NEAR_S, 1), (NEAR_S, -1))
    )
    return _svg(
        770,
        430,
        "An encounter: distance around the time of closest approach",
        [
            f'<rect x="{_number(band_left)}" y="{_number(band_top)}" width="{_number(band_right - band_left)}" '
            f'height="{_number(band_bottom - band_top)}" fill="{BAND}"/>',
            *left.axes((-90, -60, -30, 0, 30, 60, 90), range(0, most_km + 1, 200)),
            *right.axes((-0.4, -0.2, 0, 0.2, 0.4), range(most_near_km + 1)),
            _path([left.at(*p) for p in wide], BLUE),
            _path([right.at(*p) for p in near], BLUE),
            *(_dot(*left.at(*p), RED) for p in looks),
            _dot(*right.at(0.0, met.distance_km), INK),
            _text(230, 392, "Red: what samples at every minute see.", anchor="middle", fill=GREY),
            _text(230, 410, f"The least of a day's is {lazy.distance_km:.1f} km.", anchor="middle", fill=GREY),
            _text(
                605,
                392,
                f"{met.distance_km:.3f} km at {window.utc(met.after_min)[:19]}Z, {met.speed_km_s:.2f} km/s;",
                anchor="middle",
                fill=GREY,
            ),
            _text(605, 410, "the strip is the band of right answers.", anchor="middle", fill=GREY),
        ],
    )


def _apart_km(a: Elements, b: Elements, window: Window, minutes: Any) -> list[float]:
    found = checked_states((a, b), window.start, minutes)
    return [float(km) for km in np.linalg.norm(found.position_km[1] - found.position_km[0], axis=1)]


def sky_pass() -> str:
    """The track of a pass item's object over its station: north is up, east to the right, zenith in the middle."""
    item = next(passes_items.make(SEED, level="hard"))
    asked = passes_items.read_prompt(item.prompt)
    seen = ground_site.passes_over(asked.elements, asked.site, asked.start, asked.hours, asked.mask_deg)
    best = max(seen.passes, key=lambda p: p.peak_deg)
    minutes = np.linspace(best.rise_min - 2, best.set_min + 2, 241)
    track = [_on_sky(*one) for one in _azimuth_elevation_deg(asked, minutes) if one[1] >= 0]
    inside = [_on_sky(*one) for one in _azimuth_elevation_deg(asked, np.linspace(best.rise_min, best.set_min, 161))]
    return _svg(
        520,
        540,
        "A pass on the sky of a station",
        [
            *_sky(asked.mask_deg),
            _path(track, LIGHT),
            _path(inside, BLUE),
            *_named(asked, best),
            _text(260, 522, f"Red: minimum elevation, {asked.mask_deg:.0f} deg.", anchor="middle", fill=GREY),
        ],
    )


def _azimuth_elevation_deg(asked: passes_items.Asked, minutes: Any) -> list[Point]:
    """Azimuth from north over east, and elevation, in degrees."""
    found = states_of([record(asked.elements)], asked.start, minutes)
    fixed = ground_site.itrs_position(found.position_km[0], ground_site.sidereal_angle(*julian(asked.start, minutes)))
    station, up = (np.array(v) for v in ground_site.site_km(asked.site))
    east = np.array([-up[1], up[0], 0.0]) / math.hypot(up[0], up[1])
    line = fixed - station
    azimuth = np.degrees(np.arctan2(line @ east, line @ np.cross(up, east))) % 360
    elevation = ground_site.elevation_deg(fixed, (station.tolist(), up.tolist()))
    return list(zip(azimuth.tolist(), elevation.tolist(), strict=True))


def _on_sky(azimuth_deg: float, elevation_deg: float) -> Point:
    radius = 190 * (90 - elevation_deg) / 90
    turned = math.radians(azimuth_deg)
    return 260 + radius * math.sin(turned), 270 - radius * math.cos(turned)


def _sky(mask_deg: float) -> list[str]:
    circles = [_circle(190 * (90 - deg) / 90, LIGHT) for deg in (0, 30, 60)]
    labels = [_text(*_on_sky(180, deg), f"{deg} deg", dy=-4, fill=GREY, size=11, anchor="middle") for deg in (30, 60)]
    corners = [
        _text(*_on_sky(az, -9), name, dy=4, anchor="middle") for az, name in zip((0, 90, 180, 270), "NESW", strict=True)
    ]
    cross = [_path([_on_sky(az, 0), _on_sky(az + 180, 0)], LIGHT, 1) for az in (0, 90)]
    return [*circles, *cross, _circle(190 * (90 - mask_deg) / 90, RED), *labels, *corners]


def _named(asked: passes_items.Asked, one: Pass) -> list[str]:
    """Rise, highest point and set, with their times below the sky."""
    drawn, told = [], []
    for name, minute in (("rise", one.rise_min), ("highest", one.peak_min), ("set", one.set_min)):
        ((azimuth, elevation),) = _azimuth_elevation_deg(asked, np.array([minute]))
        x, y = _on_sky(azimuth, elevation)
        drawn += [_dot(x, y, INK), _text(x + 9, y, name, dy=4, halo=True)]
        height = f", {elevation:.1f} deg" if name == "highest" else ""
        told.append(f"{name} {utc_text(moment(asked.start, minute))[11:21]}{height}")
    return [*drawn, _text(260, 502, "; ".join(told) + " (UTC)", anchor="middle", fill=GREY)]


class _Box:
    """A plot area: its upper left and lower right corners in pixels, and the ranges of x and y."""

    def __init__(self, corner: Point, opposite: Point, x: Point, y: Point) -> None:
        (self._left, self._top), (self._right, self._bottom), self._x, self._y = corner, opposite, x, y

    def at(self, x: float, y: float) -> Point:
        """Pixels of a value."""
        across, up = (x - self._x[0]) / (self._x[1] - self._x[0]), (y - self._y[0]) / (self._y[1] - self._y[0])
        return self._left + across * (self._right - self._left), self._bottom - up * (self._bottom - self._top)

    def axes(self, xs: Sequence[float], ys: Sequence[float]) -> list[str]:
        """Grid lines, numbers, and the names of the axes: seconds from the closest approach, and km."""
        drawn = [_text(self._left - 8, self._top - 14, "km", anchor="end")]
        drawn += [_text((self._left + self._right) / 2, self._bottom + 36, "s from closest approach", anchor="middle")]
        for x in xs:
            drawn += [_path([self.at(x, self._y[0]), self.at(x, self._y[1])], LIGHT, 1)]
            drawn += [_text(*self.at(x, self._y[0]), f"{x:g}", dy=16, fill=GREY, anchor="middle")]
        for y in ys:
            drawn += [_path([self.at(self._x[0], y), self.at(self._x[1], y)], LIGHT, 1)]
            drawn += [_text(self._left - 8, self.at(0, y)[1], f"{y:g}", dy=4, fill=GREY, anchor="end")]
        return drawn


def _number(value: float) -> str:
    return f"{value:.1f}"


def _path(points: Sequence[Point], colour: str, width: float = 2) -> str:
    line = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
    return f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="{width}"/>'


def _circle(radius: float, colour: str) -> str:
    return f'<circle cx="260" cy="270" r="{_number(radius)}" fill="none" stroke="{colour}"/>'


def _dot(x: float, y: float, colour: str) -> str:
    return f'<circle cx="{_number(x)}" cy="{_number(y)}" r="4" fill="{colour}"/>'


def _text(
    x: float,
    y: float,
    text: str,
    *,
    dy: float = 0,
    anchor: str = "start",
    fill: str = INK,
    size: int = 13,
    halo: bool = False,
) -> str:
    place = f'x="{_number(x)}" y="{_number(y + dy)}" text-anchor="{anchor}"'
    look = f'fill="{fill}" font-size="{size}"'
    under = f'<text {place} {look} stroke="white" stroke-width="4">{text}</text>\n' if halo else ""
    return f"{under}<text {place} {look}>{text}</text>"


def _svg(width: int, height: int, title: str, parts: Sequence[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="sans-serif" role="img">\n<title>{title}</title>\n'
        f'<rect width="{width}" height="{height}" fill="white"/>\n'
    )
    heading = _text(width / 2, 24, title, anchor="middle", size=15)
    return head + "\n".join([heading, *parts]) + "\n</svg>\n"


def main() -> int:
    """Write the pictures, or with --check say whether they are up to date."""
    stale = []
    for name, drawn in (("encounter.svg", encounter()), ("pass.svg", sky_pass())):
        path = PICTURES / name
        if "--check" in sys.argv[1:]:
            if not path.exists() or path.read_text(encoding="utf-8") != drawn:
                stale.append(name)
        else:
            PICTURES.mkdir(exist_ok=True)
            path.write_text(drawn, encoding="utf-8")
    if stale:
        print(f"stale: {', '.join(stale)}; run python scripts/draw_orbital.py", file=sys.stderr)
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main())
