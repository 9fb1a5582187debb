"""`yesno`: which side a reply commits to, seed 000's wrong results among the tests."""

import pytest

from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.verdict import Unread
from steelyard.verifiers.registry import bind_spec

READINGS = [
    ("No, they stay clear.", "no"),
    ("They do not conjunct.", "no"),
    ("There is no doubt: yes", "yes"),
    ("The conjunction is clear: no", "no"),
    ("yes", "yes"),
    ("The two objects will conjunct.", "yes"),
    ("There will be no conjunction.", "no"),
    ("They stay clear of each other.", "no"),
    ("No conjunction occurs.", "no"),
    ("It is not clear whether they conjunct.", None),
    ("Yes, they come within 4.8 km. There is no safe margin.", "yes"),
    ("The objects are not clear of each other", "yes"),
    ("I have no idea.", None),
    ("Is there a conjunction? No.", "no"),
    ("Is there a conjunction?\n\nYes, at 12:00.", "yes"),
    ("They never conjunct", "no"),
    ("<think>yes</think>no", "no"),
    ("Yes. No wait, no.", "no"),
    ("yes or no", None),
    ("Answer yes or no: no", "no"),
    ("**Yes**", "yes"),
    ("\\boxed{\\text{No}}", "no"),
    ("The answer is: no.", "no"),
    ("It is false that they conjunct.", "no"),
    ('{"answer": true}', "yes"),
    ("True", "yes"),
    ("No doubt about it, they conjunct.", "yes"),
    ("If they were in the same plane, they would conjunct. They do not.", None),
    ("NO", "no"),
    ("Yes – they conjunct", "yes"),
    ("It isn't true.", "no"),
    ("No problem! Yes.", "yes"),
    ("no, not at all", "no"),
    ("Yes, no doubt.", "yes"),
    ("Not a conjunction.", "no"),
    ("I would say yes", "yes"),
    ("I'd say no", "no"),
    ("Some would say yes, but the answer is no.", "no"),
    ("~~yes~~ no", "no"),
    ("So no.", "no"),
    ("The objects do conjunct, so yes.", "yes"),
    ("they don't; no", "no"),
    ("no—they stay apart", "no"),
]


@pytest.mark.parametrize(("answer", "side"), READINGS)
def test_the_side_that_a_reply_commits_to_is_read(answer, side):
    """The last committed answer wins; a denied word counts for the other side [T-12]."""
    found = bind_spec({"name": "conjunction"}, "yes").read(Attempt(answer=answer))
    assert side == (None if isinstance(found, Unread) else found.value)


@pytest.mark.parametrize(
    ("answer", "target", "passed"),
    [
        ("They do not conjunct.", "no", True),
        ("They do not conjunct.", "yes", False),
        ("There is no doubt: yes", "yes", True),
        ("The conjunction is clear: no", "yes", False),
        ("The conjunction is clear: no", "no", True),
        ("No, they stay clear.", "yes", False),
    ],
)
def test_the_seeds_wrong_results_are_right_now(answer, target, passed):
    """Seed 000 took the first listed word; these replies are why that was wrong [T-12]."""
    bound = bind_spec({"name": "conjunction"}, target)
    assert passed is bound.decide(bound.read(Attempt(answer=answer))).passed


@pytest.mark.parametrize("target", ["maybe", ""])
def test_a_target_on_neither_side_is_refused(target):
    """The author's error is found when the suite is loaded [T-8]."""
    with pytest.raises(InputError, match="target among"):
        bind_spec({"name": "yesno"}, target)


def test_a_word_on_both_sides_is_refused():
    """The two lists have nothing in common [T-8]."""
    with pytest.raises(InputError, match="none in common"):
        bind_spec({"name": "yesno", "yes": ["yes"], "no": ["yes"]}, "yes")


def test_a_json_boolean_is_a_side():
    """In a JSON field true is yes [T-12]."""
    from steelyard.verdict import Reading

    bound = bind_spec({"name": "yesno"}, "true")
    assert bound.decide(Reading(True, "field")).passed
    assert not bound.decide(Reading(False, "field")).passed
    assert not bound.decide(Reading(1, "field")).passed
