"""The synthetic catalogue against the real one that its statistics were taken from, and against its own promises."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from steelyard.errors import InputError
from steelyard.families.orbital import sky
from steelyard.families.orbital.catalogue import load_catalogue
from steelyard.families.orbital.elements import (
    Elements,
    apogee_altitude_km,
    perigee_altitude_km,
    satrec,
)
from steelyard.families.orbital.screening import screen

pytest.importorskip("sgp4", reason="needs the extra orbital")

SAMPLE = 4000
FIRST = (12.96158694, 0.0025826, 90.7624, 0.0042881)
SHARE = 0.03  # four standard deviations of a share near 1/2 among 4,000 draws
BORDERS = 0.06  # cells of the statistics that lie across a border of coarse places
SGP4_MEDIAN = 0.01  # the drag rate leaves out J2 terms of C1


def regime(elements: Elements) -> str:
    """LEO, GEO, MEO or HEO, as ORBITAL-style tables count them."""
    if apogee_altitude_km(elements) < 2000:
        return "LEO"
    if elements.eccentricity > 0.1:
        return "HEO"
    return "GEO" if 0.98 < elements.mean_motion_rev_per_day < 1.02 else "MEO"


def cell(elements: Elements) -> tuple[int, int, int]:
    """A coarse place: 100 km of perigee and apogee up to 2000 km, 10 degrees of inclination."""
    perigee, apogee = perigee_altitude_km(elements), apogee_altitude_km(elements)
    return min(int(perigee // 100), 20), min(int(apogee // 100), 20), int(elements.inclination_deg // 10)


def variation(a: list[Elements], b: list[Elements]) -> float:
    """Total variation distance of two catalogues over coarse places: 0 = the same, 1 = nothing in common."""
    left, right = (Counter(map(cell, some)) for some in (a, b))
    return sum(abs(left[place] / len(a) - right[place] / len(b)) for place in left.keys() | right.keys()) / 2


@pytest.fixture(scope="module")
def real(shared: Path) -> list[Elements]:
    """The catalogue of 2024-11-01, without objects that SGP4 cannot start."""
    loaded = load_catalogue(shared / "data" / "orbital" / "celestrak_on_orbit_2024-11-01.csv")
    return [e for e in loaded.objects if e.norad_id not in loaded.sgp4_errors]


@pytest.mark.shared
def test_the_shipped_statistics_are_those_of_the_real_catalogue(real: list[Elements]) -> None:
    """sky.json is what `statistics_of` makes of the snapshot; no cell tells of fewer than three objects. [T-39]"""
    made = sky.statistics_of(real, datetime(2024, 11, 1, tzinfo=UTC))
    assert made == sky.shipped()
    assert 3 == min(cell[4] for cell in made.cells)
    assert len(real) - made.objects < 0.01 * len(real)


@pytest.mark.shared
def test_the_sky_is_filled_as_the_real_one(real: list[Elements]) -> None:
    """Shares of regimes are the real ones; over coarse places it differs as a part of the real one does. [T-38]"""
    made = sky.catalogue("shares", SAMPLE)
    for kind in ("LEO", "MEO", "GEO", "HEO"):
        expected = sum(regime(e) == kind for e in real) / len(real)
        assert pytest.approx(expected, abs=SHARE) == sum(regime(e) == kind for e in made) / SAMPLE
    again = Random(1).sample(real, SAMPLE)
    assert variation(real, made) < variation(real, again) + BORDERS


@pytest.mark.shared
def test_no_real_element_set_is_among_the_made_up_ones(real: list[Elements]) -> None:
    """No object repeats the mean motion and the inclination of a real one. [T-39]"""
    known = {(e.mean_motion_rev_per_day, e.inclination_deg) for e in real}
    assert not known & {(e.mean_motion_rev_per_day, e.inclination_deg) for e in sky.catalogue("shares", SAMPLE)}


def test_a_larger_catalogue_begins_with_the_smaller_and_a_seed_gives_the_same() -> None:
    """Object k depends on the seed and on k alone; numbers start at 100000. [T-4]"""
    small, large = sky.catalogue(7, 50), sky.catalogue(7, 200)
    assert small == large[:50] == sky.catalogue("7", 50)
    assert small != sky.catalogue(8, 50)
    assert list(range(100_000, 100_200)) == [e.norad_id for e in large]


def test_the_first_object_of_seed_0_stays_what_it_is() -> None:
    """Items name `synthetic-sky:1`: another draw would need another number. [T-4]"""
    first = sky.catalogue(0, 1)[0]
    assert FIRST == (first.mean_motion_rev_per_day, first.eccentricity, first.inclination_deg, first.bstar)


def test_every_object_can_be_propagated_for_a_day_but_for_the_decaying_few() -> None:
    """Epochs lie within three days before the reference; under 1 % of objects lose their state. [T-38]"""
    made = sky.catalogue("shares", SAMPLE)
    ages = [(sky.REFERENCE - e.epoch) / timedelta(days=1) for e in made]
    assert 0 <= min(ages) <= max(ages) <= 3
    lost = sum(satrec(e).sgp4_tsince((age + 1) * 1440)[0] != 0 for e, age in zip(made, ages, strict=True))
    assert lost < 0.01 * SAMPLE


def test_close_approaches_exist_in_a_made_up_sky() -> None:
    """1,500 objects and 24 h hold about a hundred approaches under 5 km, at all speeds. [T-38]"""
    found = screen(sky.catalogue("approaches", 1500), sky.REFERENCE, 24, 5)
    assert 50 < len(found.events) < 300
    assert min(e.speed_km_s for e in found.events) < 5 < 14 < max(e.speed_km_s for e in found.events)


def test_the_drag_rate_is_what_sgp4_makes_of_b_star() -> None:
    """Half of the change of sgp4's own mean motion over a tenth of a day, where drag is felt. [T-38]"""
    ratios = []
    for elements in sky.catalogue("drag", 400):
        if elements.bstar > 0 and 250 < perigee_altitude_km(elements) < 1000:
            record = satrec(elements)
            record.sgp4_tsince(0.0)
            before = record.nm
            record.sgp4_tsince(144.0)
            rate = (record.nm - before) / 0.1 * 1440 / math.tau / 2
            made = sky.drag_rate(elements.mean_motion_rev_per_day, elements.eccentricity, elements.bstar)
            ratios.append(made / rate)
    assert len(ratios) > 100
    assert pytest.approx(1, abs=SGP4_MEDIAN) == statistics.median(ratios)


@pytest.mark.parametrize("objects", [0, -1, 999_900_001])
def test_a_size_that_numbers_do_not_hold_is_an_input_error(objects: int) -> None:
    """The message names the range. [T-38]"""
    with pytest.raises(InputError, match=f"got {objects}"):
        sky.catalogue(0, objects)
