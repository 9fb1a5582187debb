"""Family orbital-partner: one object comes near, the others stay clear."""

import json
from itertools import islice

import pytest

from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.families.orbital import encounter_prompts as prompts
from steelyard.families.orbital import partner_items
from steelyard.families.orbital.encounters import meeting, sampled
from steelyard.families.orbital.partner_items import partner
from steelyard.families.orbital.supply import heights_meet
from steelyard.item import Item
from steelyard.verifiers.registry import bind

pytest.importorskip("sgp4", reason="needs the extra orbital")

SMALL = {"objects": 700}


def _asked_and_others(item: Item):
    given = prompts.read(item.prompt)
    asked, *others = given.objects
    assert f"object {asked.norad_id} in this window" in item.prompt
    return asked, others, given.window


def test_one_of_twenty_comes_within_4_5_km_and_the_others_stay_beyond_6() -> None:
    """All twenty pass the apogee/perigee filter, and the answer is the one that comes near. [T-38]"""
    for item in islice(partner.make(5, **SMALL), 3):
        asked, others, window = _asked_and_others(item)
        found = {other.norad_id: meeting(asked, other, window).distance_km for other in others}
        number = json.loads(item.target)["partner"]
        assert len(found) == 20
        assert all(heights_meet(asked, other) for other in others)
        assert found.pop(number) < 4.5
        assert min(found.values()) >= 6.25


def test_the_partner_stands_in_no_fixed_place() -> None:
    """Its place among the others differs from item to item. [T-3]"""
    places = set()
    for item in islice(partner.make(5, **SMALL), 8):
        _, others, _ = _asked_and_others(item)
        places.add([other.norad_id for other in others].index(json.loads(item.target)["partner"]))
    assert len(places) > 3


def test_samples_at_every_minute_often_mislead() -> None:
    """The others look near in such samples, so that a third at least are answered wrongly by them. [T-3]"""
    misled = 0
    for item in islice(partner.make(5, **SMALL), 9):
        asked, others, window = _asked_and_others(item)
        looks = min(others, key=lambda other: sampled(asked, other, window).distance_km)
        misled += looks.norad_id != json.loads(item.target)["partner"]
    assert misled >= 3


def test_fewer_others_can_be_asked_for_but_not_one() -> None:
    """`k` sets how many stand beside the one asked about. [T-3]"""
    (item,) = islice(partner.make(5, k=3, **SMALL), 1)
    assert len(_asked_and_others(item)[1]) == 3
    with pytest.raises(InputError, match="k must be a whole number of at least 2"):
        partner.make(5, k=1, **SMALL)


def test_listing_every_object_is_no_answer() -> None:
    """An answer that names all of them does not pass. [T-3]"""
    (item,) = islice(partner.make(5, **SMALL), 1)
    bound = bind(item)
    every = [other.norad_id for other in _asked_and_others(item)[1]]
    for answer in ({"partner": every}, {"partner": ", ".join(map(str, every))}):
        assert bound.decide(bound.read(Attempt(answer=json.dumps(answer)))).passed is False


def test_a_pool_that_is_too_small_for_the_crowd_says_so() -> None:
    """Encounters without enough neighbours are refused by that rule, and nothing is made of them. [T-3]"""
    assert list(partner.make(5, k=701, **SMALL)) == []
    assert "no-counterpart" in partner_items.refusals(5, 1, k=701, **SMALL)
