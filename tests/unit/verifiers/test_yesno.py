"""`yesno`: which side a reply commits to, seed 000's wrong results among the tests."""

import pytest

from judged import own_answers_are_made_and_judged, reading_of
from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.verdict import Reading, Unread
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
    ("Nope, they miss.", "no"),
    ("Not at all.", "no"),
    ("Unfortunately, not.", "no"),
    ("Absolutely!", "yes"),
    ("**Absolutely!** They meet.", "yes"),
    ("Certainly! Let me look at the orbits.", None),
    ("Sure. No, they miss.", "no"),
    ("Correct.", "yes"),
    ("That's incorrect.", "no"),
    ("I don't think so.", "no"),
    ("Nein.", "no"),
    ("はい。", "yes"),
    ("ＮＯ", "no"),
    ("Not necessarily.", None),
    ("Is it so? no?", None),
    ("They meet, yes?", None),
    ("It is true?", None),
    ("I cannot say yes.", None),
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
    bound = bind_spec({"name": "yesno"}, "true")
    assert bound.decide(Reading(True, "field")).passed
    assert not bound.decide(Reading(False, "field")).passed
    assert not bound.decide(Reading(1, "field")).passed


WITNESSES: list[tuple[str, dict[str, object], str, dict[str, str | None]]] = [
    (
        "yes",
        {},
        "Name the lake.",
        {
            "render": "yes",
            "other-side": "no",
            "both-sides": "yes or no",
            "marked-other-side": "yes. No wait. Answer: no",
            "capitals": "YES",
            "full-stop": "Yes.",
            "bold": "**yes**",
            "box": "\\boxed{yes}",
            "sentence": "The answer is yes.",
        },
    ),
    (
        "false",
        {},
        "Name the lake.",
        {
            "render": "no",
            "other-side": "yes",
            "both-sides": "yes or no",
            "marked-other-side": "no. No wait. Answer: yes",
            "capitals": "NO",
            "full-stop": "No.",
            "bold": "**no**",
            "box": "\\boxed{no}",
            "sentence": "The answer is no.",
        },
    ),
    (
        "clear",
        {"yes": ["conjunct"], "no": ["clear"]},
        "Name the lake.",
        {
            "render": "clear",
            "other-side": "conjunct",
            "both-sides": "conjunct or clear",
            "marked-other-side": "clear. No wait. Answer: conjunct",
            "capitals": "CLEAR",
            "full-stop": "Clear.",
            "bold": "**clear**",
            "box": "\\boxed{clear}",
            "sentence": "The answer is clear.",
        },
    ),
]


@pytest.mark.parametrize(("target", "config", "prompt", "made"), WITNESSES)
def test_the_verifiers_own_answers_are_made_and_judged_as_named(target, config, prompt, made):
    """Renderings and variations pass, spoils fail as they name; None where one does not apply [T-13]."""
    bound = bind_spec({"name": "yesno", **config}, target)
    own_answers_are_made_and_judged(bound, prompt, made)


READ: list[tuple[dict[str, object], str, object]] = [
    ({}, "<think>Rome?</think>\nWell, no.", ("no", "answer", (27, 29))),
    ({}, "Answer: yes", ("yes", "label", (8, 11))),
    ({}, "They do not.", None),
    ({}, "It is not true.", ("no", "denied-word", (10, 14))),
    ({}, "No manoeuvre was seen.", ("no", "no-before-noun", (0, 2))),
    ({}, " ", None),
    ({}, "<think>yes", None),
    ({}, "Answer: unknown", None),
    ({}, "Hm.", None),
    ({}, "yes or no. It is true. yes/no", ("yes", "word", (17, 21))),
    ({}, "I'd say no", ("no", "word", (8, 10))),
    ({}, "No, never.\nIt is true that they fly.", ("no", "answer", (0, 2))),
    ({}, "No, never. It is **true** that they fly.", ("no", "answer", (0, 2))),
    ({}, "Answer: see below.\n\nYes, they meet.", ("yes", "answer", (20, 23))),
    ({}, "It is true. There is no manoeuvre.", ("yes", "word", (6, 10))),
    ({}, "no idea; no question", None),
    ({}, "They might; no one knows. True.", ("yes", "word", (26, 30))),
    ({}, "yes/no? No.", ("no", "answer", (8, 10))),
    ({}, "It is true.\nIt is true.", ("yes", "word", (18, 22))),
    ({}, "That is not true enough", None),
    ({}, "It is not true whether or not", None),
    ({}, "**Well:** no", ("no", "answer", (10, 12))),
    ({}, "No. It is not false.", ("no", "answer", (0, 2))),
]


@pytest.mark.parametrize(("config", "answer", "found"), READ)
def test_a_reading_says_what_was_found_by_which_rule_and_where(config, answer, found):
    """The span is of the whole reply, reasoning included; nothing where nothing is committed to. [T-13]"""
    bound = bind_spec({"name": "yesno", **config}, "yes")
    assert found == reading_of(bound, answer)


@pytest.mark.parametrize(("target", "answer"), [("YES ", "up"), (" No", "down"), ("Up", "up"), ("down", "Down")])
def test_yes_and_no_name_the_sides_whatever_their_words(target, answer):
    """A target may be a side or one of its words, in any case. [T-12]"""
    bound = bind_spec({"name": "yesno", "yes": ["up"], "no": ["down"]}, target)
    assert bound.decide(bound.read(Attempt(answer=answer))).passed
    other = "down" if answer == "up" else "up"
    assert ["wrong-side"] == [miss.name for miss in bound.decide(bound.read(Attempt(answer=other))).misses]


@pytest.mark.parametrize("words", [{"yes": []}, {"no": []}, {"yes": [""]}, {"no": [""]}, {"yes": ["NO"]}])
def test_a_side_without_a_word_of_its_own_is_refused(words):
    """Each side has a word, none is empty, and case does not tell them apart. [T-8]"""
    with pytest.raises(InputError, match="none in common"):
        bind_spec({"name": "yesno", **words}, "yes")


def test_of_very_many_words_the_last_count():
    """Two hundred words are weighed at most, from the end. [T-13]"""
    bound = bind_spec({"name": "yesno"}, "no")
    assert bound.decide(bound.read(Attempt(answer="yes. " + "It is false. " * 200))).passed
    assert not bound.decide(bound.read(Attempt(answer="yes. " + "It is false. " * 199))).passed


def test_everyday_answers_count_only_where_the_plain_word_is_listed():
    """With words of its own a question is not answered by `nope` or `absolutely`. [T-12]"""
    own = bind_spec({"name": "yesno", "yes": ["up"], "no": ["down", "no"]}, "up")
    found = [own.read(Attempt(answer=answer)) for answer in ("Absolutely.", "Nope.")]
    assert [None, "no"] == [None if isinstance(one, Unread) else one.value for one in found]
    neither = bind_spec({"name": "yesno", "yes": ["up"], "no": ["down"]}, "up")
    assert isinstance(neither.read(Attempt(answer="Nope.")), Unread)


def test_everyday_answers_are_looked_for_at_both_ends_of_a_long_reply():
    """An answer opens or closes a reply; the middle of a long one is not searched. [T-12]"""
    bound = bind_spec({"name": "yesno"}, "no")
    filling = "They fly on. " * 1_000
    for answer, passed in (("Nope. " + filling, True), (filling + "Nope.", True), (f"{filling}Nope. {filling}", False)):
        assert passed is bound.decide(bound.read(Attempt(answer=answer))).passed


def test_false_in_a_json_field_is_no():
    """Both truth values are sides. [T-12]"""
    bound = bind_spec({"name": "yesno"}, "no")
    assert [True, False] == [bound.decide(Reading(value, "field")).passed for value in (False, True)]
