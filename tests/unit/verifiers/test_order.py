"""`order`: the target's labels in the target's order."""

import pytest

from judged import own_answers_are_made_and_judged, reading_of
from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.verdict import Reading
from steelyard.verifiers.registry import bind_spec


def misses(answer: str, target: str = '["B", "A", "C"]') -> list[str]:
    """The names of the misses of an answer."""
    bound = bind_spec({"name": "order"}, target)
    return [miss.name for miss in bound.decide(bound.read(Attempt(answer=answer))).misses]


@pytest.mark.parametrize(
    "answer",
    [
        '["B", "A", "C"]',
        "B > A > C",
        "B>A>C",
        "B, A, C",
        "B -> A -> C",
        "B → A → C.",
        "b, a, c",
        "B, then A, then C",
        "First B, then A and finally C",
        "C < A < B",
        "1. B\n2. A\n3. C",
        "- B\n- A\n- C",
        "The order is: B, A, C.",
        "Answer: B > A > C",
        "The answer is B > A > C.",
        "\\boxed{B > A > C}",
        "**B, A, C**",
        "BAC",
        "<think>A, B, C</think>B, A, C",
        "First guess: A, B, C.\n\nFinal answer: B, A, C",
    ],
)
def test_the_right_order_passes_in_any_form(answer):
    """Rows, lines and JSON lists are read [T-1]."""
    assert [] == misses(answer)


@pytest.mark.parametrize(
    ("answer", "miss"),
    [
        ("A > B > C", "wrong-order"),
        ("B < A < C", "wrong-order"),
        ('["C", "A", "B"]', "wrong-order"),
        ("B, A", "wrong-elements"),
        ("B, A, C, D", "wrong-elements"),
        ("B, A, A", "wrong-elements"),
        ("no idea", "wrong-elements"),
        ("", "no-answer"),
    ],
)
def test_a_wrong_order_and_wrong_elements_are_told_apart(answer, miss):
    """A permutation of the labels is one miss, anything else another [T-1]."""
    assert [miss] == misses(answer)


@pytest.mark.parametrize("target", ["B > A", '["A"]', '["A", "a"]', "[[1], [2]]", '["", "A"]'])
def test_a_target_without_two_distinct_labels_is_refused(target):
    """The author's error is found when the suite is loaded [T-8]."""
    with pytest.raises(InputError, match="labels"):
        bind_spec({"name": "order"}, target)


WITNESSES: list[tuple[str, dict[str, object], str, dict[str, str | None]]] = [
    (
        '["B","A","C"]',
        {},
        "Name the lake.",
        {
            "render": '["B","A","C"]',
            "first-two-swapped": '["A","B","C"]',
            "backwards": '["C","A","B"]',
            "last-lost": '["B","A"]',
            "greater-than": "B > A > C",
            "commas": "B, A, C",
            "arrows": "B → A → C",
            "numbered": "1. B\n2. A\n3. C",
        },
    ),
    (
        '["up-hill","down"]',
        {},
        "Name the lake.",
        {
            "render": '["up-hill","down"]',
            "first-two-swapped": '["down","up-hill"]',
            "backwards": '["down","up-hill"]',
            "last-lost": '["up-hill"]',
            "greater-than": "up-hill > down",
            "commas": "up-hill, down",
            "arrows": "up-hill → down",
            "numbered": "1. up-hill\n2. down",
        },
    ),
    (
        '["two words","x"]',
        {},
        "Name the lake.",
        {
            "render": '["two words","x"]',
            "first-two-swapped": '["x","two words"]',
            "backwards": '["x","two words"]',
            "last-lost": '["two words"]',
            "greater-than": None,
            "commas": None,
            "arrows": None,
            "numbered": None,
        },
    ),
    (
        "[2,1]",
        {},
        "Name the lake.",
        {
            "render": "[2,1]",
            "first-two-swapped": '["1","2"]',
            "backwards": '["1","2"]',
            "last-lost": '["2"]',
            "greater-than": "2 > 1",
            "commas": "2, 1",
            "arrows": "2 → 1",
            "numbered": "1. 2\n2. 1",
        },
    ),
]


@pytest.mark.parametrize(("target", "config", "prompt", "made"), WITNESSES)
def test_the_verifiers_own_answers_are_made_and_judged_as_named(target, config, prompt, made):
    """Renderings and variations pass, spoils fail as they name; None where one does not apply [T-13]."""
    bound = bind_spec({"name": "order", **config}, target)
    own_answers_are_made_and_judged(bound, prompt, made)


READ: list[tuple[dict[str, object], str, object]] = [
    ({}, "<think>Rome?</think>\nfirst a, then b", (["a", "b"], "last-line", (21, 36))),
    ({}, "<think>Rome?</think>\na < b", (["b", "a"], "last-line", (21, 26))),
    ({}, "a < b -> c", (["a", "b", "c"], "last-line", (0, 10))),
    ({}, "1. a < x\n2. b", (["a < x", "b"], "lines", (3, 13))),
    ({}, '["order a","b"]', (["order a", "b"], "json", (0, 15))),
    ({}, " ", None),
    ({}, "order a, b", (["a", "b"], "last-line", (0, 10))),
    ({}, "order order a, b", (["order a", "b"], "last-line", (0, 16))),
    ({}, "Order: b, a", (["b", "a"], "last-line", (0, 11))),
    ({}, "a ≺ b", (["b", "a"], "last-line", (0, 5))),
    ({}, "a ≺ b ≻ c", (["a", "b", "c"], "last-line", (0, 9))),
    ({}, "first order first a", (["order first a"], "last-line", (0, 19))),
]


@pytest.mark.parametrize(("config", "answer", "found"), READ)
def test_a_reading_says_what_was_found_by_which_rule_and_where(config, answer, found):
    """The span is of the whole reply, reasoning included; nothing where nothing is committed to. [T-13]"""
    bound = bind_spec({"name": "order", **config}, '["a","b"]')
    assert found == reading_of(bound, answer)


@pytest.mark.parametrize(
    ("value", "miss"),
    [("BAC", "wrong-elements"), (None, "wrong-elements"), (["BCA"], "wrong-order"), (["BA"], "wrong-elements")],
)
def test_a_field_must_hold_a_list(value, miss):
    """A JSON value that is no list has no elements; one text of one-letter labels is a row of them. [T-1]"""
    found = bind_spec({"name": "order"}, '["B", "A", "C"]').decide(Reading(value, "field"))
    assert (False, [miss]) == (found.passed, [miss.name for miss in found.misses])


def test_one_text_is_no_row_of_longer_labels():
    """Only labels of one letter each can stand without separators. [T-1]"""
    assert ["wrong-elements"] == misses("ab", '["a", "bc"]')
    assert ["wrong-elements"] == misses("abc", '["ab", "c"]')


def test_an_opener_inside_a_label_stays():
    """`first` and `order` are dropped at the front alone. [T-1]"""
    assert [] == misses("very first try, second try", '["very first try", "second try"]')
