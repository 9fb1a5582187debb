"""`order`: the target's labels in the target's order."""

import pytest

from steelyard.attempt import Attempt
from steelyard.errors import InputError
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
