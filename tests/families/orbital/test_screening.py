"""Screening on small made-up cases: what is named apart, what fails, block borders, the two sieves, the command."""

from __future__ import annotations

import json
import signal
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from steelyard.errors import InputError
from steelyard.families.orbital import sieves, sky
from steelyard.families.orbital.approach import closest_approach, closest_approaches
from steelyard.families.orbital.catalogue import catalogue_text
from steelyard.families.orbital.dynamics import (
    MODELS,
    NOT_FINITE,
    age_days,
    checked_states,
    known_model,
    moment,
    state,
    states,
    utc_text,
)
from steelyard.families.orbital.elements import Elements
from steelyard.families.orbital.pool import midnight_after, pool
from steelyard.families.orbital.screening import screen

np = pytest.importorskip("numpy", reason="needs the extra orbital")
pytest.importorskip("sgp4", reason="needs the extra orbital")

START = datetime(2026, 7, 1, tzinfo=UTC)
RING = Elements(
    norad_id=100_000,
    epoch=START - timedelta(hours=6),
    mean_motion_rev_per_day=14.5,
    eccentricity=0.001,
    inclination_deg=60.0,
    raan_deg=10.0,
    arg_perigee_deg=0.0,
    mean_anomaly_deg=0.0,
    bstar=1e-5,
)
SIEVES = ["grid", pytest.param("astroz", marks=pytest.mark.skipif(sieves.best() != "astroz", reason="no astroz"))]


def like(number: int, **changes: object) -> Elements:
    """The ring object with another number and some other elements."""
    return msgspec.structs.replace(RING, norad_id=number, **changes)  # type: ignore[arg-type]


CROSSING = like(100_001, inclination_deg=120.0)
"""Meets the ring object at both nodes, twice a revolution."""


@pytest.mark.parametrize("sieve", SIEVES)
def test_every_meeting_of_two_crossing_rings_is_an_event_once(sieve) -> None:
    """Nothing is lost or comes twice at borders of blocks; times and distances are the pair search's. [T-38]"""
    expected = [
        (one.after_min, one.distance_km)
        for one in closest_approaches(RING, CROSSING, START, 6)
        if one.distance_km <= 50 and not one.at_edge
    ]
    found = screen([RING, CROSSING], START, 6, 50, sieve=sieve)
    assert len(expected) > 3
    assert [x for x, _ in expected] == pytest.approx([e.after_min for e in found.events], abs=1e-5)
    assert [x for _, x in expected] == pytest.approx([e.distance_km for e in found.events], abs=1e-5)


@pytest.mark.parametrize("sieve", SIEVES)
def test_a_meeting_on_a_block_border_is_one_event(sieve) -> None:
    """A window that puts the meeting on the border of two blocks still has it once. [T-38]"""
    met = closest_approach(RING, CROSSING, START, 2)
    start = moment(START, met.after_min - sieves.BLOCK_MIN)
    found = screen([RING, CROSSING], start, 1, met.distance_km + 1, sieve=sieve)
    assert [sieves.BLOCK_MIN] == pytest.approx([e.after_min for e in found.events], abs=1e-5)


@pytest.mark.parametrize("sieve", SIEVES)
def test_identical_and_co_moving_pairs_are_named_apart(sieve) -> None:
    """The same elements, and a follower 70 m behind, are no events and are not dropped. [T-38]"""
    follower = like(100_003, mean_anomaly_deg=359.9994)
    found = screen([RING, like(100_002, name="DOCKED"), follower], START, 3, 5, sieve=sieve)
    assert [] == found.events
    assert [
        ("co-moving", 100_000, 100_003),
        ("co-moving", 100_002, 100_003),
        ("identical", 100_000, 100_002),
    ] == sorted((t.kind, t.nearest.a, t.nearest.b) for t in found.together)
    assert {True} == {t.nearest.speed_km_s < 0.01 for t in found.together}


@pytest.mark.parametrize("sieve", SIEVES)
@pytest.mark.parametrize(("shift_s", "edge_min"), [(0.05, 0.0), (-0.05, 10.0)])
def test_a_meeting_just_outside_the_window_is_named_as_cut_by_its_edge(sieve, shift_s: float, edge_min: float) -> None:
    """Within the threshold at an end, nearest beyond it: named, with the distance at the end. [T-38]"""
    met = closest_approach(RING, CROSSING, START, 2)
    start = moment(START, met.after_min + shift_s / 60 - edge_min)
    found = screen([RING, CROSSING], start, 10 / 60, met.distance_km + 5, sieve=sieve)
    assert [] == found.events
    assert [("edge", edge_min)] == [(t.kind, t.nearest.after_min) for t in found.together]


def test_an_object_without_a_state_is_listed_with_the_reason() -> None:
    """Decayed before the window or inside it: both are named, with the minute; the others are screened. [T-38]"""
    gone = like(100_004, bstar=0.9, mean_motion_rev_per_day=16.3)
    going = like(100_005, bstar=0.01, mean_motion_rev_per_day=16.3)
    found = screen([RING, CROSSING, gone, going], START, 12, 50, sieve="grid")
    assert len(found.events) > 3
    assert [100_004, 100_005] == [f.norad_id for f in found.failed]
    assert 0 == found.failed[0].after_min < found.failed[1].after_min
    assert all(f.code in (1, 6) and f.reason for f in found.failed)


def test_an_object_that_dips_below_the_ground_between_two_hours_is_listed() -> None:
    """A perigee under ground is passed in minutes, which a look at every hour does not see. [T-38]"""
    diving = like(100_006, mean_motion_rev_per_day=2.3, eccentricity=0.74, bstar=0.0, mean_anomaly_deg=190.0)
    codes = states([diving], START, np.arange(0, 1441)).codes[0]
    assert not codes[::60].any()
    (failed,) = screen([RING, CROSSING, diving], START, 24, sieve="grid").failed
    assert (100_006, 6, float(np.flatnonzero(codes)[0])) == (failed.norad_id, failed.code, failed.after_min)


@pytest.mark.parametrize(("hours", "threshold_km"), [(0, 5), (-1, 5), (float("nan"), 5), (1, 0), (1, float("inf"))])
def test_a_window_or_threshold_that_is_none_is_an_input_error(hours: float, threshold_km: float) -> None:
    """The message has both values. [T-38]"""
    with pytest.raises(InputError, match="needs hours > 0 and a threshold > 0 km"):
        screen([RING, CROSSING], START, hours, threshold_km)


@pytest.mark.parametrize(("start", "hours"), [("0001-01-01", 1), ("1956-12-31", 1), ("9999-12-31", 24), (START, 1e9)])
def test_a_window_outside_the_years_of_element_sets_is_an_input_error(start, hours: float) -> None:
    """Dates end somewhere, and nobody has element sets there. [T-38]"""
    when = start if isinstance(start, datetime) else datetime.fromisoformat(start).replace(tzinfo=UTC)
    with pytest.raises(InputError, match="within the years 1957 to 2199"):
        screen([RING, CROSSING], when, hours)


def test_a_number_that_occurs_twice_is_an_input_error() -> None:
    """Events name objects by their numbers. [T-38]"""
    with pytest.raises(InputError, match="occurs twice"):
        screen([RING, RING], START)


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_objects_have_no_events(count: int) -> None:
    """An empty answer, not an error. [T-38]"""
    for sieve in ("grid", sieves.best()):
        assert [] == screen([RING][:count], START, 1, 5, sieve=sieve).events


def test_progress_is_told_block_by_block() -> None:
    """Minutes done, minutes in all, events so far; the last call is the end. [T-38]"""
    heard: list[tuple[float, float, int]] = []
    found = screen([RING, CROSSING], START, 1.25, 50, sieve="grid", progress=lambda *told: heard.append(told))
    assert [(30.0, 75.0), (60.0, 75.0), (75.0, 75.0)] == [told[:2] for told in heard]
    assert len(found.events) == heard[-1][2]


def test_pairs_within_are_those_of_a_full_comparison() -> None:
    """Random points, some in one place and some on cell borders. [T-38]"""
    points = np.random.default_rng(4).uniform(-50, 50, (400, 3)).round(0)
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    expected = {(i, j) for i, j in np.argwhere(distance <= 10).tolist() if i < j}
    first, second = sieves.pairs_within(points, 10.0)
    found = [(min(p), max(p)) for p in zip(first.tolist(), second.tolist(), strict=True)]
    assert sorted(expected) == sorted(found)


def test_all_minima_of_a_pair_come_in_time_order_with_the_ends_marked() -> None:
    """Each is below a fine grid around it; an end of the window counts only as such. [T-38]"""
    found = closest_approaches(RING, CROSSING, START, 6)
    assert [one.after_min for one in found] == sorted(one.after_min for one in found)
    for one in found:
        minutes = one.after_min + np.linspace(-0.2, 0.2, 41)
        minutes = minutes[(minutes >= 0) & (minutes <= 360)]
        got = states([RING, CROSSING], START, minutes)
        least = np.linalg.norm(got.position_km[0] - got.position_km[1], axis=1).min()
        assert one.distance_km <= least + 1e-9
        assert one.at_edge == (one.after_min in (0.0, 360.0))
    assert closest_approach(RING, CROSSING, START, 6) == min(found, key=lambda one: one.distance_km)


def test_models_agree_as_far_as_they_should() -> None:
    """The other constants move a meeting by metres, another engine by less; the names are checked. [T-38]"""
    if sieves.best() != "astroz":
        pytest.skip("no astroz")
    first, *others = (closest_approach(RING, CROSSING, START, 2, model) for model in MODELS)
    for one in others:
        assert first.distance_km == pytest.approx(one.distance_km, abs=0.1)
        assert first.after_min == pytest.approx(one.after_min, abs=1 / 60)
    with pytest.raises(InputError, match='no model "wgs27"; did you mean "wgs72"'):
        known_model("wgs27")


def test_a_state_that_is_not_finite_has_a_code_and_is_never_passed_on() -> None:
    """SGP4 says 0 and gives not-a-number for a B* that is not a number. [T-38]"""
    lost = like(100_006, bstar=float("nan"))
    found = states([RING, lost], START, [0.0, 10.0])
    assert [[0, 0], [NOT_FINITE, NOT_FINITE]] == found.codes.tolist()
    assert np.isnan(found.position_km[1]).all()
    with pytest.raises(InputError, match=r"no state of object 100006 0\.0 min into the window"):
        checked_states([RING, lost], START, [0.0, 10.0])
    with pytest.raises(InputError, match="object 100006"):
        closest_approach(RING, lost, START, 1)
    with pytest.raises(InputError, match="object 100006"):
        state(lost, START)


def test_instants_are_told_in_utc_with_milliseconds_rounded() -> None:
    """Half a millisecond rounds up, into the next second where it must. [T-38]"""
    assert "2026-07-01T00:00:01.000Z" == utc_text(START + timedelta(microseconds=999_500))
    assert "2026-07-01T00:00:00.999Z" == utc_text(START + timedelta(microseconds=999_499))
    assert 0.25 == age_days(RING, START)


def test_a_pool_is_made_once_and_holds_only_objects_with_states() -> None:
    """The same arguments give the same object; every event's objects are in it. [T-4]"""
    made = pool("tests", objects=300, hours=6, threshold_km=20)
    assert made is pool("tests", objects=300, hours=6, threshold_km=20)
    assert ("synthetic-sky:1", "CC0-1.0", False) == (made.provenance, made.license, made.real)
    assert made.screening.events
    assert all(e.a in made.objects and e.b in made.objects for e in made.screening.events)
    one = next(iter(made.objects.values()))
    assert one is made.shown(one)


def test_a_pool_of_a_users_file_shows_nothing_to_remember(tmp_path: Path) -> None:
    """Numbers, names and designators are replaced, there is no licence, and the window starts at midnight. [T-39]"""
    path = tmp_path / "mine.json"
    path.write_text(catalogue_text(sky.catalogue("tests", 60), ".json"))
    made = pool("tests", catalogue=path, objects=40, hours=2)
    assert (True, "", 40, sky.REFERENCE) == (made.real, made.license, len(made.objects), made.start)
    shown = made.shown(next(iter(made.objects.values())), 7)
    assert (7, "", "", 0, 0) == (
        shown.norad_id,
        shown.name,
        shown.designator,
        shown.element_set,
        shown.revolution,
    )
    assert START == midnight_after([START - timedelta(hours=h) for h in (1, 2, 30)])


@pytest.fixture
def ring_file(tmp_path: Path) -> Path:
    """The two rings in a file."""
    path = tmp_path / "rings.tle"
    path.write_text(catalogue_text([RING, CROSSING], ".tle"))
    return path


def test_the_command_prints_a_table_and_progress_beside_it(ring_file: Path, cli) -> None:
    """The table is on standard output, the hours done on standard error. [T-38]"""
    done = cli("orbital", "screen", ring_file, "--start", "2026-07-01", "--hours", 2, "--threshold-km", 50)
    assert "2 objects, 2026-07-01T00:00:00.000Z and 2 h, threshold 50 km, SGP4 with WGS 72" in done.stdout
    assert "100000   100001  2026-07-01T0" in done.stdout
    assert "screened 2.0 of 2.0 h" in done.stderr


def test_the_command_prints_one_json_object(ring_file: Path, cli) -> None:
    """Its events have time, range, speed and both ages. [T-38]"""
    done = cli("orbital", "screen", ring_file, "--start", "2026-07-01T00:00Z", "--threshold-km", 50, "--json")
    event = json.loads(done.stdout)["events"][0]
    assert {"a", "b", "tca", "after_min", "distance_km", "speed_km_s", "age_a_days", "age_b_days"} == set(event)


def test_a_start_that_is_no_instant_is_one_line(ring_file: Path, cli) -> None:
    """With an example of one. [T-38]"""
    done = cli("orbital", "screen", ring_file, "--start", "tomorrow", code=2)
    assert "expected an instant such as 2024-11-01T00:00:00Z, got 'tomorrow'" in done.stderr


def test_element_sets_far_from_the_window_are_told(ring_file: Path, cli) -> None:
    """States come out all the same, so the command says what they are worth. [T-38]"""
    done = cli("orbital", "screen", ring_file, "--start", "2024-01-01", "--hours", "0.2")
    assert "days later than the window in the median" in done.stderr
    done = cli("orbital", "screen", ring_file, "--start", "2026-07-01", "--hours", "0.2")
    assert "in the median" not in done.stderr


def test_an_offset_beyond_the_first_day_of_dates_is_one_line(ring_file: Path, cli) -> None:
    """It is no instant in UTC. [T-38]"""
    done = cli("orbital", "screen", ring_file, "--start", "0001-01-01T00:00+05:00", code=2)
    assert "expected an instant such as" in done.stderr


@pytest.mark.parametrize(
    "options", [{"objects": 0}, {"objects": 1.5}, {"objects": "many"}, {"hours": 0}, {"hours": "abc"}, {"hours": 1e6}]
)
def test_a_pool_of_impossible_size_is_an_input_error(options: dict[str, object]) -> None:
    """Words and numbers that come from the command line are looked at before anything is made. [T-3]"""
    with pytest.raises(InputError, match="must be a"):
        pool("tests", **options)


def test_an_interrupted_screening_says_how_far_it_came(ring_file: Path, steelyard_command: list[str]) -> None:
    """Ctrl-C ends it with exit code 2, a message, and nothing on standard output. [T-38]"""
    arguments = ["orbital", "screen", str(ring_file), "--start", "2026-07-01", "--hours", "5000", "--sieve", "grid"]
    with subprocess.Popen(
        [*steelyard_command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stderr is not None
        assert running.stderr.readline().startswith("screened 0.5 of 5000.0 h")
        running.send_signal(signal.SIGINT)
        out, told = running.communicate(timeout=60)
    assert (2, "") == (running.returncode, out)
    assert "the screening was stopped after" in told


def test_a_pools_window_begins_where_it_is_told() -> None:
    """Encounters are those of the later window; epochs that are old by then are left out; far instants are refused."""
    later = pool("tests", objects=300, hours=6, threshold_km=20, start="2026-07-02T06:00:00+01:00")
    assert datetime(2026, 7, 2, 5, tzinfo=UTC) == later.start
    assert later.screening.events
    assert {later.start + timedelta(days=-3) <= e.epoch for e in later.objects.values()} == {True}
    assert len(later.objects) < len(pool("tests", objects=300, hours=6, threshold_km=20).objects)
    for start, words in (
        ("2027-01-01", "0 usable objects"),
        ("soon", "a time such as"),
        ("2026-07-01T00:00:00.5Z", "whole"),
    ):
        with pytest.raises(InputError, match=words):
            pool("tests", objects=300, start=start)
