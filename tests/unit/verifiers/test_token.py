"""`token`: whole tokens by seed 001's second rule, widened where that was wrong."""

import pytest

from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.verifiers.registry import bind_spec


def passes(answer: str, target: str) -> bool | None:
    """Whether an answer passes."""
    bound = bind_spec({"name": "token"}, target)
    return bound.decide(bound.read(Attempt(answer=answer))).passed


SEED = [
    ("The number of lamps in stock is 123.", "12", False),
    ("12", "12", True),
    ("There are 12.", "12", True),
    ("12.5", "12", False),
    ("12. Next", "12", True),
    ("-12", "12", False),
    ("3.12", "12", False),
    ("12-pack", "12", False),
    ("x12", "12", False),
    ("(12)", "12", True),
    ("12%", "12", True),
    ("012", "12", False),
    ("1,12", "12", True),
    ("12°", "12", True),
    ("", "12", False),
    ("-> 12", "12", True),
    ("..12", "12", False),
    ("port=8042", "8042", True),
    ("port=8042", "8080", False),
    ("shop/cart.py", "cart", True),
    ("version 1.4.2.", "1.4.2", True),
    ("1.4.2.1", "1.4.2", False),
    (".08", "0.08", False),
    ("Apache-2.0.1", "Apache-2.0", False),
    ("Apache-2.0", "Apache-2.0", True),
    ("Rina  Okafor", "Rina Okafor", False),
    ("LISBON.", "Lisbon", True),
    ("seven", "7", False),
]
WIDENED = [
    ("12,000", "12", False),
    ("v1.4.2", "1.4.2", True),
    ("V1.4.2", "1.4.2", True),
    ("rev1.4.2", "1.4.2", False),
    ("v12", "12", False),
]
FURTHER = [
    ("It costs 45,000 dollars", "45000", True),
    ("It costs 45000 dollars", "45,000", True),
    ("It costs 45'000 francs", "45000", True),
    ("It costs 45\u202f000 euros", "45000", True),
    ("It costs 45 000 euros", "45000", True),
    ("It costs 45 000 euros", "45", False),
    ("It costs 1_000_000", "1000000", True),
    ("12,34,567 rupees", "1234567", True),
    ("145,000", "45000", False),
    ("45,0001", "45000", False),
    ("-45,000", "45000", False),
    ("items 4,5,12", "12", True),
    ("**12**", "12", True),
    ("`12`", "12", True),
    ("_12_", "12", False),
    ("$12.", "12", True),
    ("12!", "12", True),
    ("12?", "12", True),
    ("'12'", "12", True),
    ("12th", "12", False),
    ("12km", "12", False),
    ("12 km", "12", True),
    ("12–15", "12", False),
    ("−12", "12", False),
    ("é12", "12", False),
    ("12²", "12", False),
    ("１２", "12", True),
    ("The café", "caf", False),
    ("The cafe\u0301", "cafe", False),
    ("cafe\u0301", "café", True),
    ("STRASSE", "straße", True),
    ("Ωmega", "Ω", False),
    ("inventory.py", "inventory", True),
    ("inventory.py.bak", "inventory.py", True),
    ("my-inventory.py", "inventory.py", False),
    ("shop_main", "main", False),
    ("Lisboners", "Lisbon", False),
    ("12.", "12", True),
    ("12...", "12", True),
    ("12.x", "12", True),
    ("<think>12</think>13", "12", False),
    ("13</think>12", "12", True),
    ("<think>12", "12", False),
    ("~~12~~ 13", "12", False),
    ("13\n\nQuestion: how many?\nAnswer: 12", "12", False),
    ("a12 and 12", "12", True),
    ("12:30", "12", True),
]


@pytest.mark.parametrize(("answer", "target", "passed"), SEED)
def test_the_seeds_rule_holds(answer, target, passed):
    """No letter, digit, dot or dash before; no letter, digit, dash or decimal part after [O-20]."""
    assert passed is bool(passes(answer, target))


@pytest.mark.parametrize(("answer", "target", "passed"), WIDENED)
def test_where_the_seed_was_wrong_the_rule_is_widened(answer, target, passed):
    """The thousands comma is no hole, and a version may carry a v (decision 13) [O-20]."""
    assert passed is bool(passes(answer, target))


@pytest.mark.parametrize(("answer", "target", "passed"), FURTHER)
def test_tokens_are_whole_in_every_script_and_form(answer, target, passed):
    """Thousands separators, dashes, marks, widths, and what does not count as answer [O-20]."""
    assert passed is bool(passes(answer, target))


def test_an_empty_target_is_refused():
    """An empty token would stand everywhere [O-20]."""
    with pytest.raises(InputError, match="token"):
        bind_spec({"name": "token"}, " ")
