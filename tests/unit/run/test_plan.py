"""Plans: what they refuse, which items they ask, and what a resumed one keeps."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest

from steelyard.errors import InputError
from steelyard.item import Item
from steelyard.ports import Sampling
from steelyard.run.plan import Plan, check_sampling, items_of_plan
from steelyard.run.start import resumed_plan
from steelyard.solvers.settings import SolverSettings
from steelyard.suite import Suite

PLAN = Plan(
    suite_path="/s",
    suite_name="s",
    suite_revision="draft:1",
    split="dev",
    model="m",
    model_id="m",
    solver=SolverSettings(),
    sampling=Sampling(),
)


@pytest.mark.parametrize(
    "given",
    [
        {"temperature": -0.1},
        {"temperature": math.nan},
        {"temperature": math.inf},
        {"top_p": -0.1},
        {"top_p": 1.1},
        {"top_p": math.inf},
        {"top_k": -1},
        {"max_tokens": 0},
        {"max_tokens": -5},
    ],
)
def test_sampling_below_its_range_or_not_finite_is_refused(given: dict[str, Any]) -> None:
    """The setting and the value are named, when a plan is made."""
    (name,) = given
    with pytest.raises(InputError, match=f"{name} must be .* got"):
        msgspec.structs.replace(PLAN, sampling=Sampling(**given))


def test_sampling_at_the_ends_of_its_ranges_is_taken() -> None:
    """0 and 1 are meant; None is not sent."""
    check_sampling(Sampling(temperature=0.0, top_p=1.0, top_k=0, max_tokens=1))
    check_sampling(Sampling())


def _suite(**splits: str) -> Suite:
    items = tuple(Item(id=name, input=name, verifier={"name": "exact"}) for name in splits)
    return Suite(items=items, revision="draft:1", splits=splits)


def _ids(items: list[Item]) -> list[str]:
    return [item.id for item in items]


def test_a_plan_asks_its_split_up_to_its_limit() -> None:
    """From the whole suite, or from one that holds just the split."""
    suite = _suite(a="test", b="dev", c="dev")
    limited = msgspec.structs.replace(PLAN, limit=1)
    everything = msgspec.structs.replace(PLAN, split="all")
    assert [["b", "c"], ["b"], ["a", "b", "c"]] == [
        _ids(items_of_plan(suite, plan)) for plan in (PLAN, limited, everything)
    ]
    assert ["b"] == _ids(items_of_plan(suite.split("dev"), limited))


def test_another_version_that_splits_otherwise_asks_what_ran() -> None:
    """Items that moved from dev to test are still the run's."""
    assert ["a", "b"] == _ids(items_of_plan(_suite(a="test", b="test", c="test"), PLAN, ["b", "a"]))


def test_a_resumed_plan_keeps_what_speaks_against_it() -> None:
    """Fewer proven items and flags stay, whichever part of the run had them. [O-26]"""
    clean = msgspec.structs.replace(PLAN, proofs={"proven": 3}, suite_path="/new")
    dirty = msgspec.structs.replace(PLAN, proofs={"proven": 1, "none": 2}, allow_unproven=True, rollouts=2)
    for old, new in ((clean, dirty), (dirty, clean)):
        resumed = resumed_plan(old, new)
        assert ({"proven": 1, "none": 2}, True, False, 2, new.suite_path) == (
            resumed.proofs,
            resumed.allow_unproven,
            resumed.trust_proofs,
            resumed.rollouts,
            resumed.suite_path,
        )
