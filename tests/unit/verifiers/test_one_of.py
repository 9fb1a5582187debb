"""`one_of`: one of several accepted texts."""

import pytest

from judged import own_answers_are_made_and_judged, reading_of
from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.verdict import Reading
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


WITNESSES: list[tuple[str, dict[str, object], str, dict[str, str | None]]] = [
    (
        '["Rome", "Roma"]',
        {},
        "Name the lake.",
        {
            "render": "Rome",
            "longer-text": "Rome or something else entirely",
            "negated": "not Rome",
            "prompt-echo": "Name the lake.",
            "plain": "Roma",
            "full-stop": "Roma.",
            "capitals": "ROMA",
            "blank-lines": "\n Roma\n\n",
            "box": None,
        },
    ),
    (
        '["Rome", "Rome or something else entirely", "not Rome"]',
        {},
        "Roma?",
        {
            "render": "Rome",
            "longer-text": None,
            "negated": None,
            "prompt-echo": "Roma?",
            "plain": "not Rome",
            "full-stop": "not Rome.",
            "capitals": "NOT ROME",
            "blank-lines": "\n not Rome\n\n",
            "box": None,
        },
    ),
    (
        '["not Rome", "Rome"]',
        {"fold": "none"},
        "Rome",
        {
            "render": "not Rome",
            "longer-text": "not Rome or something else entirely",
            "negated": "not not Rome",
            "prompt-echo": None,
            "plain": "Rome",
            "full-stop": None,
            "capitals": None,
            "blank-lines": None,
            "box": None,
        },
    ),
    (
        "x",
        {"accepts": ["Bonn", "Köln"]},
        "Name the lake.",
        {
            "render": "Bonn",
            "longer-text": "Bonn or something else entirely",
            "negated": "not Bonn",
            "prompt-echo": "Name the lake.",
            "plain": "Köln",
            "full-stop": "Köln.",
            "capitals": "KÖLN",
            "blank-lines": "\n Köln\n\n",
            "box": None,
        },
    ),
]


@pytest.mark.parametrize(("target", "config", "prompt", "made"), WITNESSES)
def test_the_verifiers_own_answers_are_made_and_judged_as_named(target, config, prompt, made):
    """Renderings and variations pass, spoils fail as they name; None where one does not apply [T-13]."""
    bound = bind_spec({"name": "one_of", **config}, target)
    own_answers_are_made_and_judged(bound, prompt, made)


READ: list[tuple[dict[str, object], str, object]] = [
    ({}, "<think>Rome?</think>\n Rome ", ("Rome", "whole", (22, 26))),
]


@pytest.mark.parametrize(("config", "answer", "found"), READ)
def test_a_reading_says_what_was_found_by_which_rule_and_where(config, answer, found):
    """The span is of the whole reply, reasoning included; nothing where nothing is committed to. [T-13]"""
    bound = bind_spec({"name": "one_of", **config}, '["Rome","Roma"]')
    assert found == reading_of(bound, answer)


def test_folding_and_a_value_that_is_no_text():
    """Texts are compared as `exact` does; a JSON value that is no text is not accepted. [T-13]"""
    assert not verdict("rome", '["Rome"]', fold="none").passed
    bound = bind_spec({"name": "one_of"}, '["5"]')
    assert ["not-accepted"] == [miss.name for miss in bound.decide(Reading(5, "field")).misses]
