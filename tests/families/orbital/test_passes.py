"""Family orbital-pass and its ground: the station, elevation, passes, the rules that refuse, and its wrong attempts."""

from __future__ import annotations

import json
import math
from datetime import timedelta
from itertools import islice

import msgspec
import pytest

from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.families.orbital import ground_site, passes_items, sky
from steelyard.families.orbital.elements import Elements
from steelyard.families.orbital.ground_site import Pass, Sightings, Site
from steelyard.families.orbital.passes_items import Asked, orbital_pass, read_prompt, refusal
from steelyard.item import Item
from steelyard.verifiers.registry import bind

np = pytest.importorskip("numpy", reason="needs the extra orbital")
pytest.importorskip("sgp4", reason="needs the extra orbital")

POLAR_RADIUS_KM = 6356.752314245  # WGS 84, NIMA TR8350.2
LOW = Elements(
    norad_id=100_000,
    epoch=sky.REFERENCE - timedelta(days=1),
    mean_motion_rev_per_day=14.9,
    eccentricity=0.001,
    inclination_deg=80.0,
    raan_deg=10.0,
    arg_perigee_deg=0.0,
    mean_anomaly_deg=0.0,
)
STATIONARY = msgspec.structs.replace(LOW, mean_motion_rev_per_day=1.0027379, inclination_deg=0.05)


@pytest.fixture(scope="module")
def items() -> list[Item]:
    return list(islice(orbital_pass.make("tests"), 6))


def test_a_station_lies_on_the_ellipsoid() -> None:
    """Equator and pole have the published radii, and height is along the zenith. [T-38]"""
    assert ground_site.site_km(Site(0, 90))[0] == pytest.approx([0, 6378.137, 0], abs=1e-9)
    position, up = ground_site.site_km(Site(90, 0, 1000))
    assert position == pytest.approx([0, 0, POLAR_RADIUS_KM + 1], abs=1e-8)
    assert up == pytest.approx([0, 0, 1], abs=1e-15)


def test_elevation_is_90_at_the_zenith_and_0_on_the_tangent_plane() -> None:
    """Elevation is measured from the plane tangent to the ellipsoid. [T-38]"""
    site = ground_site.site_km(Site(48, 11))
    position, up = (np.array(x) for x in site)
    east = np.array([-math.sin(math.radians(11)), math.cos(math.radians(11)), 0])
    seen = ground_site.elevation_deg(np.array([position + 500 * up, position + 800 * east]), site)
    assert seen.tolist() == pytest.approx([90, 0], abs=1e-5)


def test_turning_to_itrs_and_back_gives_the_same_position() -> None:
    """`teme_position` is the inverse, and the length stays. [T-38]"""
    position, angle = np.array([[7000.0, -300.0, 1500.0]]), np.array([1.234])
    fixed = ground_site.itrs_position(position, angle)
    assert np.linalg.norm(fixed) == pytest.approx(np.linalg.norm(position))
    assert ground_site.teme_position(fixed, angle)[0] == pytest.approx(position[0])


def test_a_point_that_turns_with_the_earth_stands_still_in_itrs() -> None:
    """The velocity is relative to the turning Earth. [T-38]"""
    rate = ground_site.EARTH_RATE_RAD_S
    position, velocity = np.array([[7000.0, 100.0, 50.0]]), np.array([[-100 * rate, 7000 * rate, 0.0]])
    assert ground_site.itrs_velocity(position, velocity, np.array([2.0]))[0] == pytest.approx([0, 0, 0], abs=1e-12)


def test_passes_are_those_of_a_fine_grid(items) -> None:
    """Sampling every half second finds the same rises and highest elevations, without any search. [T-4]"""
    for item in items[:3]:
        asked = read_prompt(item.prompt)
        elevation = ground_site.elevations(asked.elements, ground_site.site_km(asked.site), asked.start)
        minutes = np.arange(0, asked.hours * 60, 0.5 / 60)
        seen = elevation(minutes)
        up = seen >= asked.mask_deg
        rises = minutes[1:][~up[:-1] & up[1:]]
        passes = ground_site.passes_over(asked.elements, asked.site, asked.start, asked.hours, asked.mask_deg).passes
        assert [p.rise_min * 60 for p in passes] == pytest.approx((rises * 60).tolist(), abs=0.51)
        for p in passes:
            inside = (minutes >= p.rise_min) & (minutes <= p.set_min)
            assert p.peak_deg == pytest.approx(float(seen[inside].max()), abs=0.01)


def test_a_pass_between_two_samples_is_not_overlooked() -> None:
    """An extremum that pokes over the mask between grid points is a pass of its own. [T-38]"""
    seen = ground_site.sightings(lambda t: 11 - (np.asarray(t) - 30.03) ** 2 * 2500, 1.0, 10.0, 60.0)
    assert [(round(p.rise_min, 3), round(p.peak_min, 3), round(p.set_min, 3)) for p in seen.passes] == [
        (30.01, 30.03, 30.05)
    ]


def test_a_station_below_a_stationary_object_always_sees_it_and_one_behind_the_earth_never() -> None:
    """Neither is a question, and each is refused by its own rule. [T-3]"""
    asked = [
        Asked(STATIONARY, Site(0.0, longitude), sky.REFERENCE, 12, 10, "easy") for longitude in range(-180, 180, 5)
    ]
    reasons = {refusal(one) for one in asked}
    assert {"always-up", "never-up"} <= reasons


def _refused(monkeypatch: pytest.MonkeyPatch, seen: Sightings, level: str = "easy") -> str | None:
    by_model = passes_items._sightings
    monkeypatch.setattr(
        passes_items, "_sightings", lambda asked, model="wgs72": seen if model == "wgs72" else by_model(asked, model)
    )
    return refusal(Asked(LOW, Site(10, 10), sky.REFERENCE, 12, 10, level))


def test_each_rule_on_sightings_refuses_by_its_name(monkeypatch) -> None:
    """Cut, grazing, rival and absent passes have rules of their own. [T-3]"""
    one, other = Pass(10, 12, 14, 40.0), Pass(110, 112, 114, 40.5)
    cases = {
        "cut-by-window": Sightings([one], True, False, False, [40.0]),
        "near-mask": Sightings([one], False, False, False, [40.0, 9.4]),
        "never-up": Sightings([], False, False, False, []),
        "always-up": Sightings([], True, True, True, []),
        "rival-pass": Sightings([one, other], False, False, False, [40.0, 40.5]),
        "wgs84-differs": Sightings([one], False, False, False, [40.0]),
    }
    for reason, seen in cases.items():
        assert _refused(monkeypatch, seen, "hard") == reason
    assert _refused(monkeypatch, cases["rival-pass"]) == "wgs84-differs"


def test_an_old_epoch_and_a_decayed_object_are_refused() -> None:
    """Elements of four days ago, and elements that SGP4 cannot fly to the window. [T-3]"""
    old = msgspec.structs.replace(LOW, epoch=sky.REFERENCE - timedelta(days=4))
    gone = msgspec.structs.replace(LOW, mean_motion_rev_per_day=16.4, bstar=0.1)
    refused = [refusal(Asked(e, Site(10, 10), sky.REFERENCE, 12, 10, "easy")) for e in (old, gone)]
    assert refused == ["stale-epoch", "no-state"]


def test_the_band_shuts_out_the_time_scale_and_the_next_revolution(items) -> None:
    """69.184 s and another pass miss as a wrong rise. [T-12]"""
    for item in items:
        bound = bind(item)
        for name in ("utc-tt-mixup", "set-for-rise"):
            answer = orbital_pass.spoil[name].make(item)
            verdict = bound.decide(bound.read(Attempt(answer=answer)))
            assert "wrong-rise" in {miss.name for miss in verdict.misses}


def test_a_fine_answer_at_the_edge_of_the_bands_passes_and_beyond_fails(items) -> None:
    """4.9 s and 0.19 degrees pass; 5.1 s does not. [T-12]"""
    item = next(i for i in items if i.difficulty == "medium")
    right = json.loads(item.target)

    def judged(seconds: float, degrees: float) -> bool | None:
        begin = read_prompt(item.prompt)
        rise = passes_items._right(item.prompt).chosen.rise_min + seconds / 60
        when = passes_items.utc_text(passes_items.moment(begin.start, rise))
        answer = json.dumps({"rise": when, "max_elevation_deg": right["max_elevation_deg"] + degrees})
        bound = bind(item)
        return bound.decide(bound.read(Attempt(answer=answer))).passed

    assert [judged(4.9, 0.19), judged(-4.9, -0.19), judged(5.1, 0.0), judged(0.0, 0.21)] == [True, True, False, False]


def test_a_spherical_earth_leaves_the_band_somewhere() -> None:
    """A ball of 6371 km moves this rise, and about one in twenty, by more than the band. [T-3]"""
    item = next(orbital_pass.make("sphere6", level="easy"))
    assert orbital_pass.spoil["spherical-earth"].make(item) is not None


def test_a_prompt_of_another_family_is_refused() -> None:
    """Reading back a text without a station is an error. [T-3]"""
    with pytest.raises(InputError, match="no element set, station"):
        read_prompt("What is the period?")
