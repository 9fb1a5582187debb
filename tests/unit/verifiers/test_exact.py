"""`exact`: the same text, under a folding that never merges two meanings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.attempt import Attempt
from steelyard.errors import InputError
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
    from steelyard.verdict import Reading

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
