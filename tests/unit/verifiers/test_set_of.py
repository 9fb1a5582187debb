"""`set`: exactly the elements of the target, in any order."""

import pytest

from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.verdict import Reading
from steelyard.verifiers.registry import bind_spec


def verdict(answer: str, target: str, **config: object):
    """The verdict on an answer."""
    bound = bind_spec({"name": "set", **config}, target)
    return bound.decide(bound.read(Attempt(answer=answer)))


@pytest.mark.parametrize(
    "answer",
    [
        '["b", "a", "c d"]',
        '```json\n["a", "b", "c d"]\n```',
        'Here it is: ["a","b","c d"]',
        "a, b, c d",
        "a, b and c d",
        "A; B; C D.",
        "- a\n- c d\n- b",
        "1. a\n2. b\n3. c d",
        "The elements are: a, b, and c d.",
        "Answer: b, c d, a",
        "**a, b, c d**",
        "a\nb\nc d",
        "<think>a, x</think>c d, b, a",
        "I found these:\n\n* `a`\n* `b`\n* `c d`\n",
        "a, b, b, c d",
    ],
)
def test_the_same_elements_in_any_order_and_form_pass(answer):
    """JSON, list lines and rows are read [T-1, T-3]."""
    assert verdict(answer, '["a", "b", "c d"]').passed


@pytest.mark.parametrize(
    ("answer", "misses"),
    [
        ('["a"]', {"missing-element"}),
        ('["a", "b", "c"]', {"extra-element"}),
        ('["a", "x"]', {"missing-element", "extra-element"}),
        ("a", {"missing-element"}),
        ("a, b, and more", {"extra-element"}),
        ("[]", {"missing-element"}),
        ("", {"no-answer"}),
        ("<think>a, b", {"no-answer"}),
    ],
)
def test_lost_and_added_elements_are_named(answer, misses):
    """Each lost and each added element is a miss of its own [T-3]."""
    assert misses == {miss.name for miss in verdict(answer, '["a", "b"]').misses}


def test_json_elements_are_typed():
    """1 is 1.0, but neither true nor "1" [T-3]."""
    assert verdict("[1.0, 2]", "[1, 2]").passed
    assert not verdict("[true, 2]", "[1, 2]").passed
    assert not verdict('["1", "2"]', "[1, 2]").passed
    assert verdict("1, 2", "[1, 2]").passed


def test_a_field_value_is_typed():
    """A JSON value from a field is compared as it stands [G-8]."""
    bound = bind_spec({"name": "set"}, '["detour"]')
    assert bound.decide(Reading(["detour"], "field")).passed
    assert not bound.decide(Reading("detour", "field")).passed
    assert not bound.decide(Reading([], "field")).passed


def test_an_element_may_hold_and():
    """What is expected decides whether `and` parts [T-3]."""
    assert verdict("Chad, Trinidad and Tobago", '["Trinidad and Tobago", "Chad"]').passed


def test_a_multiset_counts():
    """With `multiset` each repetition counts [T-3]."""
    assert verdict('["a", "a"]', '["a", "a"]', multiset=True).passed
    assert not verdict('["a"]', '["a", "a"]', multiset=True).passed
    with pytest.raises(InputError, match="distinct"):
        bind_spec({"name": "set"}, '["a", "A"]')


def test_an_empty_set_is_met_by_an_empty_list_only():
    """Nothing said is no answer; `[]` is one [T-3]."""
    assert verdict("[]", "[]").passed
    assert not verdict("", "[]").passed


@pytest.mark.parametrize("target", ["a, b", '{"a": 1}', ""])
def test_a_target_that_is_no_list_is_refused(target):
    """The author's error is found when the suite is loaded [T-8]."""
    with pytest.raises(InputError, match="JSON list"):
        bind_spec({"name": "set"}, target)
