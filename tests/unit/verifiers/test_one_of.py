"""`one_of`: one of several accepted texts."""

import pytest

from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.verifiers.registry import bind_spec


def verdict(answer: str, target: str, **config: object):
    """The verdict on an answer."""
    bound = bind_spec({"name": "one_of", **config}, target)
    return bound.decide(bound.read(Attempt(answer=answer)))


def test_each_accepted_text_passes_and_no_other():
    """The target lists what is accepted [G-8]."""
    target = '["washed-out bridge", "the bridge washed out"]'
    assert verdict("Washed-out bridge.", target).passed
    assert verdict("the bridge washed out", target).passed
    assert ["not-accepted"] == [miss.name for miss in verdict("the bridge", target).misses]


def test_the_config_may_list_the_texts():
    """`accepts` stands in for the target's list [G-8]."""
    assert verdict("Rome", "ignored", accepts=["Rome", "Roma"]).passed


@pytest.mark.parametrize("target", ["Rome", "[]", '[""]', "[1]", '{"a": "b"}'])
def test_a_target_that_is_no_list_of_texts_is_refused(target):
    """The author's error is found when the suite is loaded [T-8]."""
    with pytest.raises(InputError, match="expected"):
        bind_spec({"name": "one_of"}, target)
