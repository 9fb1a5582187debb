"""`exact`: the same text, under a folding that never merges two meanings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judged import own_answers_are_made_and_judged, reading_of
from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.verdict import Reading
from steelyard.verifiers.registry import bind_spec


def passes(answer: str, target: str, **config: object) -> bool | None:
    """Whether an answer passes."""
    bound = bind_spec({"name": "exact", **config}, target)
    return bound.decide(bound.read(Attempt(answer=answer))).passed


SAME = [
    ("Zürich", "Zu\u0308rich"),
    ("o\ufb03ce", "office"),
    ("\ufb02our", "flour"),
    ("LONDON", "london"),
    ("Groß", "GROSS"),
    ("ΣΊΣΥΦΟΣ", "σίσυφος"),
    ("Ｌｉｍａ", "Lima"),
    ("ｶﾀｶﾅ", "カタカナ"),
    ("New\tYork", "New York"),
    ("New\n York", "New York"),
    ("New\u2009York", "New York"),
    ("New\u3000York", "New York"),
    ("  Rome  ", "Rome"),
    ("Rome.", "Rome"),
    ("Rome", "Rome."),
    ("Rome .", "Rome"),
    ("东京。", "东京"),
    ("it‘s", "it's"),
    ("“so”", '"so"'),
    ("„so“", '"so"'),
    ("10—12", "10-12"),
    ("10‑12", "10-12"),
    ("−4", "-4"),
    ("4 \u212a", "4 K"),
    ("1 \u212b", "1 Å"),
    ("5 ㎏", "5 kg"),
    ("20 ℃", "20 °C"),
    ("3 µm", "3 μm"),
    ("co\u00adoperate", "cooperate"),
    ("zero\u200bwidth", "zerowidth"),
    ("\ufeffRome", "Rome"),
    ("Ro\u2060me", "Rome"),
    ("a\u200db", "ab"),
    ("<think>Paris?</think>Rome", "Rome"),
    ("Paris</think>\nRome", "Rome"),
    ("Rome\n\nQuestion: And Spain?\nAnswer: Madrid", "Rome"),
    ("~~Paris~~ Rome", "Rome"),
    ("10²", "10²"),
    ("½ cup", "½ Cup"),
    ("C++", "c++"),
    ("U.S.", "U.S"),
    ("...", "..."),
    ("𝐑𝐨𝐦𝐞", "Rome"),
]
DIFFERENT = [
    ("102", "10²"),
    ("H2O", "H₂O"),
    ("1/2", "½"),
    ("12", "1½"),
    ("Rome and Paris", "Rome"),
    ("not Rome", "Rome"),
    ("Rom", "Rome"),
    ("NewYork", "New York"),
    ("+5", "5"),
    ("5", "+5"),
    ("-5", "5"),
    ("1.5", "15"),
    ("1,5", "1.5"),
    ("C", "C#"),
    ("c", "c++"),
    ("50%", "50"),
    ("$5", "5"),
    ("€5", "$5"),
    ("a/b", "ab"),
    ("O'Brien", "OBrien"),
    ("well-known", "well known"),
    ("Rome!", "Rome"),
    ("Rome?", "Rome"),
    ("Rome..", "Rome"),
    ("(Rome)", "Rome"),
    ("The Rome", "Rome"),
    ("a", "the"),
    ("resume", "résumé"),
    ("x_1", "x1"),
    ("①", "1"),
    ("<think>Rome", "Rome"),
    ("<think>Rome</think>", "Rome"),
    ("The answer is Rome", "Rome"),
    ("Rome, no wait, Paris", "Rome"),
    ("", "Rome"),
    (" . ", "Rome"),
    ("[]", "{}"),
    ("a b", "ab"),
    ("x≠y", "x=y"),
    ("3'", "3"),
]


@pytest.mark.parametrize(("answer", "target"), SAME)
def test_what_never_carries_meaning_is_folded(answer, target):
    """Canonical forms, case, white space, dashes, quotes, invisible characters, one last full stop [T-9, T-13]."""
    assert passes(answer, target)


@pytest.mark.parametrize(("answer", "target"), DIFFERENT)
def test_every_other_difference_counts(answer, target):
    """Signs, digits, superscripts, fractions and all other punctuation tell texts apart [T-9, T-13]."""
    assert not passes(answer, target)


def test_the_seeds_norm_strips_lowers_and_joins_white_space():
    """Seed 000's `_norm` is a part of the folding [T-9]."""
    assert passes("  The   ISS \n", "the iss")


def test_without_folding_bytes_must_be_equal():
    """`fold: none` is seed 004's comparison of fields [G-8]."""
    assert passes("open", "open", fold="none")
    assert not passes("Open", "open", fold="none")
    assert not passes("open ", "open", fold="none")
    assert not passes("open.", "open", fold="none")
    assert passes("~~a~~", "~~a~~", fold="none")


@pytest.mark.parametrize(
    "answer",
    [
        "Rome",
        "The answer is Rome.",
        "**Answer:** Rome",
        "I first took Paris.\n\n\\boxed{Rome}",
        "Paris. No wait, it's Rome.",
    ],
)
def test_the_committed_answer_can_be_read(answer):
    """`read: final` takes the answer that the prose commits to [T-13]."""
    assert passes(answer, "Rome", read="final")
    assert not passes(answer, "Paris", read="final")


@pytest.mark.parametrize("target", ["", "  ", "\u200b"])
def test_a_target_that_an_empty_answer_would_meet_is_refused(target):
    """An empty target is the author's error [T-8]."""
    with pytest.raises(InputError, match="visible text"):
        bind_spec({"name": "exact"}, target)


@pytest.mark.parametrize("value", [5, True, None, ["Rome"]])
def test_a_json_value_that_is_no_text_differs(value):
    """`5` is not `"5"` [G-7]."""
    bound = bind_spec({"name": "exact"}, "5")
    assert not bound.decide(Reading(value, "field")).passed


@given(st.text(min_size=1))
def test_a_text_is_itself_and_not_itself_with_another_letter(text):
    """Whatever the text, it passes as its own target, and one letter more fails."""
    try:
        bound = bind_spec({"name": "exact", "fold": "none"}, text)
    except InputError:
        return
    assert not bound.decide(bound.read(Attempt(answer=text + "x"))).passed


WITNESSES: list[tuple[str, dict[str, object], str, dict[str, str | None]]] = [
    (
        "Lake Ohrid",
        {},
        "Name the lake.",
        {
            "render": "Lake Ohrid",
            "longer-text": "Lake Ohrid or something else entirely",
            "negated": "not Lake Ohrid",
            "prompt-echo": "Name the lake.",
            "full-stop": "Lake Ohrid.",
            "capitals": "LAKE OHRID",
            "blank-lines": "\n Lake Ohrid\n\n",
            "box": None,
        },
    ),
    (
        "Lake Ohrid",
        {"read": "final"},
        "Name the lake.",
        {
            "render": "Lake Ohrid",
            "longer-text": "Lake Ohrid or something else entirely",
            "negated": "not Lake Ohrid",
            "prompt-echo": None,
            "full-stop": "Lake Ohrid.",
            "capitals": "LAKE OHRID",
            "blank-lines": "\n Lake Ohrid\n\n",
            "box": "So we get \\boxed{Lake Ohrid}.",
        },
    ),
    (
        "Lake Ohrid.",
        {"fold": "none"},
        "Name the lake.",
        {
            "render": "Lake Ohrid.",
            "longer-text": "Lake Ohrid. or something else entirely",
            "negated": "not Lake Ohrid.",
            "prompt-echo": "Name the lake.",
            "full-stop": None,
            "capitals": None,
            "blank-lines": None,
            "box": None,
        },
    ),
    (
        "name the LAKE",
        {},
        "Name the lake.",
        {
            "render": "name the LAKE",
            "longer-text": "name the LAKE or something else entirely",
            "negated": "not name the LAKE",
            "prompt-echo": None,
            "full-stop": "name the LAKE.",
            "capitals": "NAME THE LAKE",
            "blank-lines": "\n name the LAKE\n\n",
            "box": None,
        },
    ),
    (
        "{x}",
        {"read": "final"},
        " ",
        {
            "render": "{x}",
            "longer-text": "{x} or something else entirely",
            "negated": "not {x}",
            "prompt-echo": None,
            "full-stop": "{x}.",
            "capitals": "{X}",
            "blank-lines": "\n {x}\n\n",
            "box": None,
        },
    ),
    (
        "straße",
        {"fold": "none", "read": "final"},
        "",
        {
            "render": "straße",
            "longer-text": "straße or something else entirely",
            "negated": "not straße",
            "prompt-echo": None,
            "full-stop": None,
            "capitals": None,
            "blank-lines": None,
            "box": None,
        },
    ),
    (
        "A.",
        {},
        "",
        {
            "render": "A.",
            "longer-text": "A. or something else entirely",
            "negated": "not A.",
            "prompt-echo": None,
            "full-stop": None,
            "capitals": "A.",
            "blank-lines": "\n A.\n\n",
            "box": None,
        },
    ),
    (
        "ROME",
        {"fold": "none"},
        "",
        {
            "render": "ROME",
            "longer-text": "ROME or something else entirely",
            "negated": "not ROME",
            "prompt-echo": None,
            "full-stop": None,
            "capitals": None,
            "blank-lines": None,
            "box": None,
        },
    ),
]


@pytest.mark.parametrize(("target", "config", "prompt", "made"), WITNESSES)
def test_the_verifiers_own_answers_are_made_and_judged_as_named(target, config, prompt, made):
    """Renderings and variations pass, spoils fail as they name; None where one does not apply [T-13]."""
    bound = bind_spec({"name": "exact", **config}, target)
    own_answers_are_made_and_judged(bound, prompt, made)


READ: list[tuple[dict[str, object], str, object]] = [
    ({}, "<think>Rome?</think>\n  Lake Ohrid \n", ("Lake Ohrid", "whole", (23, 33))),
    ({"fold": "none"}, "<think>Rome?</think>\nLake Ohrid \n", ("\nLake Ohrid \n", "whole", (20, 33))),
    ({"fold": "none"}, "", None),
    ({"fold": "none"}, "<think>hm", None),
    ({}, " ", None),
    ({}, "<think>hm", None),
    (
        {"read": "final"},
        "<think>Rome?</think>\nSo it is **Lake Ohrid**.",
        ("So it is **Lake Ohrid**.", "last-line", (21, 45)),
    ),
    ({"read": "final"}, "Answer: Lake Ohrid", ("Lake Ohrid", "label", (8, 18))),
    ({"read": "final"}, "", None),
    ({"read": "final", "fold": "none"}, "Answer: Lake Ohrid", ("Lake Ohrid", "label", (8, 18))),
    ({"read": "final"}, "...", ("...", "last-line", (0, 3))),
    ({"read": "final"}, "**", None),
]


@pytest.mark.parametrize(("config", "answer", "found"), READ)
def test_a_reading_says_what_was_found_by_which_rule_and_where(config, answer, found):
    """The span is of the whole reply, reasoning included; nothing where nothing is committed to. [T-13]"""
    bound = bind_spec({"name": "exact", **config}, "Lake Ohrid")
    assert found == reading_of(bound, answer)


@pytest.mark.parametrize("config", [{}, {"fold": "none"}, {"read": "final"}])
def test_no_text_is_no_answer_and_another_text_differs(config):
    """An empty answer is not read, whatever the folding; a value that is no text differs. [T-13]"""
    bound = bind_spec({"name": "exact", **config}, "Rome")
    assert ["no-answer"] == [miss.name for miss in bound.decide(bound.read(Attempt(answer=""))).misses]
    assert ["differs"] == [miss.name for miss in bound.decide(bound.read(Attempt(answer="Oslo"))).misses]
    assert ["differs"] == [miss.name for miss in bound.decide(Reading(["Rome"], "field")).misses]


def test_white_space_is_a_target_where_bytes_are_compared():
    """`fold: none` takes a blank as a text like any other, and refuses an empty one. [T-8]"""
    assert bind_spec({"name": "exact", "fold": "none"}, " ").target == " "
    with pytest.raises(InputError, match="visible text"):
        bind_spec({"name": "exact", "fold": "none"}, "")
