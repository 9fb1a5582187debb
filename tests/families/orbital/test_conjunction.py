"""Family orbital-conjunction: sides, negatives, and the time that goes with a yes."""

import json
from collections import Counter
from datetime import UTC, datetime
from itertools import islice

import msgspec
import pytest

from judged import verdict_of
from steelyard.errors import InputError
from steelyard.families.orbital import conjunction_items, tle
from steelyard.families.orbital import encounter_prompts as prompts
from steelyard.families.orbital.conjunction_items import conjunction
from steelyard.families.orbital.elements import Elements
from steelyard.families.orbital.encounters import Window, meeting, taken_for_brouwer
from steelyard.families.orbital.supply import heights_meet
from steelyard.item import Item
from steelyard.verifiers.registry import bind, declared_misses

pytest.importorskip("sgp4", reason="needs the extra orbital")

SMALL = {"objects": 700}
PAIR_OF_2009 = (
    "1 24946U 97051C   09040.78448243  .00000153  00000-0  47668-4 0  4775",
    "2 24946  86.3994 121.7028 0002288  85.1644 274.9812 14.34219863597336",
    "1 22675U 93036A   09040.49834364 -.00000001  00000-0  95251-5 0  7411",
    "2 22675  74.0355  19.4646 0016027  98.7014 261.5952 14.31135643817415",
)


def _distance_km(item: Item) -> float:
    given = prompts.read(item.prompt)
    a, b = given.objects
    return meeting(a, b, given.window).distance_km


def test_sides_are_balanced_on_every_rung() -> None:
    """Every two items are a yes and a no of one level that share an object. [T-3]"""
    items = list(islice(conjunction.make(5, **SMALL), 8))
    sides = Counter((item.difficulty, json.loads(item.target)["conjunction"]) for item in items)
    assert all(sides[level, "yes"] == sides[level, "no"] for level, _ in sides)
    for one, other in zip(items[::2], items[1::2], strict=True):
        numbers = [set(item.group.rsplit(":")[-1].split("-")) for item in (one, other)]
        assert len(numbers[0] & numbers[1]) == 1


def test_a_no_passes_the_height_filter_and_stays_6_to_50_km_away() -> None:
    """A no is not to be seen from the heights alone, and a yes is outside the guard band. [T-38]"""
    for item in islice(conjunction.make(5, **SMALL), 8):
        distance_km, (a, b) = _distance_km(item), prompts.read(item.prompt).objects
        assert heights_meet(a, b)
        assert 6 <= distance_km <= 50 if json.loads(item.target)["conjunction"] == "no" else distance_km <= 4.75


def test_a_yes_needs_its_time_and_a_no_does_not() -> None:
    """A bare yes fails, a bare no passes where it is right. [T-12]"""
    for item in islice(conjunction.make(5, **SMALL), 4):
        side = json.loads(item.target)["conjunction"]
        assert verdict_of(item, json.dumps({"conjunction": side})).passed is (side == "no")
        assert verdict_of(item, json.dumps({"conjunction": side, "tca": None})).passed is (side == "no")


def test_the_time_can_be_asked_for_always() -> None:
    """Then no constant answer passes, and ids differ from those of the plain items. [T-3]"""
    plain = list(islice(conjunction.make(5, **SMALL), 4))
    timed = list(islice(conjunction.make(5, tca="always", **SMALL), 4))
    assert not {item.id for item in plain} & {item.id for item in timed}
    for item in timed:
        assert verdict_of(item, conjunction.solve(item)).passed is True
        assert verdict_of(item, '{"conjunction": "no", "tca": null}').passed is False
    with pytest.raises(InputError, match='did you mean "always"'):
        conjunction.make(5, tca="alway", **SMALL)


def test_the_pair_of_2009_is_a_conjunction() -> None:
    """Iridium 33 and Cosmos 2251 come closer than 5 km at 16:55:59.796 UTC. [T-12]"""
    objects = [tle.elements_from_lines(*PAIR_OF_2009[k : k + 2]) for k in (0, 2)]
    window = Window(datetime(2009, 2, 10, tzinfo=UTC), 24.0)
    prompt = prompts.text(objects, "tle", window, "Do they come closer than 5 km to each other?")
    answer = conjunction.solve(Item(id="x", input=prompt, verifier={"name": "fields"}))
    assert json.loads(answer) == {"conjunction": "yes", "tca": "2009-02-10T16:55:59.796Z"}


def _flown_as(wanted: Elements) -> Elements:
    """Elements that a solver who takes the mean motion for Brouwer's flies as the wanted ones."""
    made = wanted
    for _ in range(20):
        off = wanted.mean_motion_rev_per_day / taken_for_brouwer(made).mean_motion_rev_per_day
        made = msgspec.structs.replace(made, mean_motion_rev_per_day=made.mean_motion_rev_per_day * off)
    return msgspec.structs.replace(made, mean_motion_rev_per_day=round(made.mean_motion_rev_per_day, 8))


def test_a_no_that_a_mistake_turns_into_a_yes_fails_for_its_side() -> None:
    """4.7 km apart, and 0.7 km for who mistakes the mean motion: a no has no time that could be wrong. [T-3]"""
    a, b = (_flown_as(tle.elements_from_lines(*PAIR_OF_2009[k : k + 2])) for k in (0, 2))
    window = Window(datetime(2009, 2, 10, tzinfo=UTC), 24.0)
    question = (conjunction_items._ASK + conjunction_items._WHEN["when-yes"]).replace("5 km", "4 km")
    prompt = prompts.text((a, b), "omm", window, question)
    rules = {"name": "fields", "fields": {"conjunction": {"verifier": {"name": "yesno"}, "miss": "wrong-side"}}}
    item = Item(id="x", input=prompt, target='{"conjunction": "no"}', verifier=rules)
    made = {name: answer for name, spoil in conjunction.spoil.items() if (answer := spoil.make(item)) is not None}
    assert json.loads(made["kozai-for-brouwer-says-yes"])["conjunction"] == "yes"
    for name, answer in made.items():
        assert set(conjunction.spoil[name].misses) <= declared_misses(bind(item)), name
        assert {miss.name for miss in verdict_of(item, answer).misses} == {"wrong-side"}


def test_a_prompt_without_a_threshold_is_refused() -> None:
    """A question of another family is no question of this one. [T-3]"""
    objects = [tle.elements_from_lines(*PAIR_OF_2009[k : k + 2]) for k in (0, 2)]
    prompt = prompts.text(objects, "tle", Window(datetime(2009, 2, 10, tzinfo=UTC), 24.0), "How close?")
    with pytest.raises(InputError, match="threshold"):
        conjunction.solve(Item(id="x", input=prompt, verifier={"name": "fields"}))
