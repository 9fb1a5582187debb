"""What stands beside the gold of every orbital family: other constants, another engine, or a way that needs neither."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

from judged import verdict_of
from steelyard.errors import InputError
from steelyard.families import orbital
from steelyard.families.orbital import (
    altitude_items,
    conjunction_items,
    correlation_items,
    decay_items,
    dynamics,
    encounter_items,
    malformed_items,
    opinions,
    partner_items,
    passes_items,
    period_items,
    sky,
    tle,
)
from steelyard.families.orbital.catalogue import load_catalogue
from steelyard.families.orbital.elements import EARTH_RADIUS_KM, Elements, perigee_altitude_km, period_min, satrec
from steelyard.families.orbital.encounters import meeting
from steelyard.families.orbital.opinions import PROPAGATED, SECOND_OPINIONS, dissent, second_engine
from steelyard.item import Item

pytest.importorskip("numpy", reason="needs the extra orbital")
sgp4_io = pytest.importorskip("sgp4.io", reason="needs the extra orbital")

POOL = {"objects": 400}
SCREENED: dict[ModuleType, Any] = {
    conjunction_items: conjunction_items.conjunction,
    encounter_items: encounter_items.encounter,
    partner_items: partner_items.partner,
}
FROM_A_FILE: dict[ModuleType, Any] = {
    passes_items: passes_items.orbital_pass,
    decay_items: decay_items.decay,
    correlation_items: correlation_items.correlation,
}
PROPAGATING = SCREENED | FROM_A_FILE
each = pytest.mark.parametrize(("module", "family"), PROPAGATING.items(), ids=[f.name for f in PROPAGATING.values()])


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Low objects, which decay, come over a station, and are told apart."""
    low = [e for e in sky.catalogue("opinions", 6000) if perigee_altitude_km(e) < 420 and period_min(e) < 225][:48]
    path = tmp_path_factory.mktemp("few") / "few.3le"
    path.write_text("\n".join(text for e in low for text in ("MADE UP DEB", *tle.write_lines(e))))
    return path


@pytest.fixture
def anew() -> Iterator[Callable[[], None]]:
    """Forgets what was made under one set of engines; also after the test."""

    def forget() -> None:
        meeting.cache_clear()
        decay_items._opinion.cache_clear()
        for module in SCREENED:
            module._tape.cache_clear()
        for module in FROM_A_FILE:
            module._TAPES.forget()

    yield forget
    forget()


def _made(module: ModuleType, family: Any, few: Path, n: int) -> tuple[list[Item], dict[str, int]]:
    options = POOL if module in SCREENED else {"catalogue": str(few)}
    return list(islice(family.make(5, **options), n)), module.refusals(5, n, **options)


def test_every_family_says_what_stands_beside_its_gold() -> None:
    """The table names all eleven families, and those that propagate have both opinions by rules with words. [T-4]"""
    assert {getattr(orbital, name).name for name in orbital.__all__} == set(SECOND_OPINIONS)
    assert {f.name for f in PROPAGATING.values()} == {
        name for name, how in SECOND_OPINIONS.items() if how == PROPAGATED
    }
    for module in FROM_A_FILE:
        assert {"wgs84-differs", "engine-differs"} <= set(module.RULES)


@each
@pytest.mark.parametrize("broken", ["wgs84", second_engine()])
def test_an_opinion_that_differs_drops_every_item_and_is_counted(
    module, family, broken: str, few: Path, anew, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one of the two engines half a revolution off and dragging twice as much, no item is left. [T-4]"""

    def faulty(elements: Elements, model: str = "wgs72") -> Any:
        if model == broken:
            opposite = (elements.mean_anomaly_deg + 180) % 360
            elements = msgspec.structs.replace(elements, mean_anomaly_deg=opposite, bstar=elements.bstar * 2)
        return satrec(elements, model)

    anew()
    assert _made(module, family, few, 1)[0]
    anew()
    monkeypatch.setattr(dynamics, "satrec", faulty)
    items, refused = _made(module, family, few, 1)
    assert items == []
    assert refused["wgs84-differs" if broken == "wgs84" else "engine-differs"] > 0


@each
def test_an_opinion_without_a_state_drops_the_item_and_does_not_stop_the_making(
    module, family, few: Path, anew, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine that gives up where the reference does not is a difference like any other. [T-4]"""

    def gives_up(elements: Elements, model: str = "wgs72") -> Any:
        return satrec(msgspec.structs.replace(elements, eccentricity=0.99) if model == "wgs84" else elements, model)

    anew()
    monkeypatch.setattr(dynamics, "satrec", gives_up)
    items, refused = _made(module, family, few, 1)
    assert items == []
    assert refused["wgs84-differs"] > 0


@each
def test_the_items_are_the_same_whichever_engine_there_is(
    module, family, few: Path, anew, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without astroz the model in Python is asked, and refuses and keeps the same. [T-4]"""
    anew()
    usual = _made(module, family, few, 1)
    anew()
    monkeypatch.setattr(opinions, "second_engine", lambda: "python")
    assert usual == _made(module, family, few, 1)


def test_the_first_to_dissent_is_named_and_none_when_all_agree() -> None:
    """The constants are asked first, then the engine; no state is dissent. [T-4]"""

    def lost(_model: str) -> bool:
        raise InputError("no state")

    assert dissent(lambda _: True) is None
    assert dissent(lambda model: model != "wgs84") == "wgs84"
    assert dissent(lambda model: model == "wgs84") == "engine"
    assert dissent(lost) == "wgs84"


@pytest.mark.parametrize("model", ["wgs72", "wgs84"])
def test_sgp4s_own_axis_is_the_engines_with_either_constants(model) -> None:
    """The un-Kozai step of the altitudes and sgp4's agree to a part in 10^9 on 300 objects. [T-4]"""
    constants = altitude_items.WGS84 if model == "wgs84" else altitude_items.WGS72
    for e in sky.catalogue("axes", 300):
        axis_km = satrec(e, model).a * constants.radius_km
        assert altitude_items.brouwer_axis_km(e, constants) == pytest.approx(axis_km, rel=1e-9)


@pytest.mark.parametrize("eccentricity", [0.0, 0.001, 0.01, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9])
def test_sgp4s_own_period_lies_inside_the_band_of_every_orbit_above_120_km(eccentricity: float) -> None:
    """Over inclinations and heights, with either constants: the band of 0.1 min + 0.1 % holds both readings. [T-12]"""
    for inclination in (0.0, 30.0, 54.7, 90.0, 180.0):
        for perigee_km in (120.0, 200.0, 500.0, 2000.0, 35_786.0):
            axis_km = (EARTH_RADIUS_KM + perigee_km) / (1 - eccentricity)
            orbit = Elements(
                norad_id=100_000,
                epoch=datetime(2026, 7, 1, tzinfo=UTC),
                mean_motion_rev_per_day=1440 / period_items.period_from_axis_min(axis_km),
                eccentricity=eccentricity,
                inclination_deg=inclination,
                raan_deg=0.0,
                arg_perigee_deg=0.0,
                mean_anomaly_deg=0.0,
            )
            for model, constants in (("wgs72", altitude_items.WGS72), ("wgs84", altitude_items.WGS84)):
                own_min = math.tau * satrec(orbit, model).a ** 1.5 / constants.ke
                band_min = period_items.ATOL_MIN + period_items.RTOL * period_min(orbit)
                assert abs(own_min - period_min(orbit)) < band_min, (inclination, perigee_km, model)


def test_altitudes_by_sgp4s_own_axis_pass_whichever_constants_it_has() -> None:
    """Every medium item accepts the altitudes that sgp4's own record gives with WGS 72 and with WGS 84. [T-12]"""
    for item in islice(altitude_items.altitude.make(5, level="medium"), 12):
        lines = item.prompt.splitlines()[1:3]
        elements = tle.elements_from_lines(*lines)
        for model, constants in (("wgs72", altitude_items.WGS72), ("wgs84", altitude_items.WGS84)):
            axis_km, e = satrec(elements, model).a * constants.radius_km, elements.eccentricity
            values = (axis_km * (1 + e) - EARTH_RADIUS_KM, axis_km * (1 - e) - EARTH_RADIUS_KM)
            answer = json.dumps(dict(zip(altitude_items.FIELDS, values, strict=True)))
            assert verdict_of(item, answer).passed is True


def test_another_reader_of_checksums_finds_the_same_line(tmp_path: Path) -> None:
    """At medium, sgp4's own check refuses the line of the gold and no other, and the sound sets load. [T-4]"""
    for item in islice(malformed_items.malformed.make(5, level="medium"), 6):
        numbered = {int(text[:2]): text[3:] for text in item.prompt.splitlines() if text[2:3] == "|"}
        found = []
        for number, line in numbered.items():
            try:
                sgp4_io.verify_checksum(line)
            except ValueError:
                found.append(number)
        assert found == [json.loads(item.target)["line"] if item.target.startswith("{") else int(item.target)]
        path = tmp_path / f"{item.id}.tle"
        path.write_text("\n".join(numbered.values()))
        assert len(load_catalogue(path).objects) == len(numbered) // 2 - 1
