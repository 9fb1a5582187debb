"""`token`: whole tokens by seed 001's second rule, widened where that was wrong."""

import pytest

from judged import own_answers_are_made_and_judged, reading_of
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


FIRST = [
    ("The number of lamps in stock is 123.", "12", True),
    ("LISBON.", "Lisbon", True),
    ("It is 1,200", "12", False),
    ("Rina  Okafor", "Rina Okafor", False),
    ("<think>12</think>13", "12", False),
    ("None of them.", "12", False),
]


@pytest.mark.parametrize(("answer", "target", "passed"), FIRST)
def test_the_first_rule_takes_the_target_anywhere(answer, target, passed):
    """Seed 001's first version, for judging old runs: 123 passes for 12, whatever the case [O-18] [O-20]."""
    bound = bind_spec({"name": "token", "rules": 1}, target)
    verdict = bound.decide(bound.read(Attempt(answer=answer)))
    assert (passed, [] if passed else ["token-absent"]) == (verdict.passed, [miss.name for miss in verdict.misses])
    with pytest.raises(InputError, match='"token"'):
        bind_spec({"name": "token", "rules": 3}, target)


def test_an_empty_target_is_refused():
    """An empty token would stand everywhere [O-20]."""
    with pytest.raises(InputError, match="token"):
        bind_spec({"name": "token"}, " ")


WITNESSES: list[tuple[str, dict[str, object], str, dict[str, str | None]]] = [
    (
        "Oslo",
        {},
        "Name the lake.",
        {
            "render": "Oslo",
            "inside-longer-token": "It is Oslo3.",
            "part-of-compound": "It is a Oslo-pack.",
            "thousand-times": None,
            "prompt-echo": "Name the lake.",
            "sentence": "The answer is Oslo.",
            "bold": "It is **Oslo**.",
            "code": "It is `Oslo`.",
            "capitals": "OSLO",
            "thousands": None,
        },
    ),
    (
        "120",
        {},
        "Name the lake.",
        {
            "render": "120",
            "inside-longer-token": "It is 1203.",
            "part-of-compound": "It is a 120-pack.",
            "thousand-times": "It is 120,000.",
            "prompt-echo": "Name the lake.",
            "sentence": "The answer is 120.",
            "bold": "It is **120**.",
            "code": "It is `120`.",
            "capitals": "120",
            "thousands": None,
        },
    ),
    (
        "1204",
        {},
        "Is it 1204?",
        {
            "render": "1204",
            "inside-longer-token": "It is 12043.",
            "part-of-compound": "It is a 1204-pack.",
            "thousand-times": None,
            "prompt-echo": None,
            "sentence": "The answer is 1204.",
            "bold": "It is **1204**.",
            "code": "It is `1204`.",
            "capitals": "1204",
            "thousands": "It is 1,204.",
        },
    ),
    (
        "0123",
        {},
        "  ",
        {
            "render": "0123",
            "inside-longer-token": "It is 01233.",
            "part-of-compound": "It is a 0123-pack.",
            "thousand-times": None,
            "prompt-echo": None,
            "sentence": "The answer is 0123.",
            "bold": "It is **0123**.",
            "code": "It is `0123`.",
            "capitals": "0123",
            "thousands": None,
        },
    ),
    (
        "٣٣٣٣",
        {},
        "Name the lake.",
        {
            "render": "٣٣٣٣",
            "inside-longer-token": "It is ٣٣٣٣3.",
            "part-of-compound": "It is a ٣٣٣٣-pack.",
            "thousand-times": None,
            "prompt-echo": "Name the lake.",
            "sentence": "The answer is ٣٣٣٣.",
            "bold": "It is **٣٣٣٣**.",
            "code": "It is `٣٣٣٣`.",
            "capitals": "٣٣٣٣",
            "thousands": None,
        },
    ),
    (
        "12345",
        {},
        "",
        {
            "render": "12345",
            "inside-longer-token": "It is 123453.",
            "part-of-compound": "It is a 12345-pack.",
            "thousand-times": None,
            "prompt-echo": None,
            "sentence": "The answer is 12345.",
            "bold": "It is **12345**.",
            "code": "It is `12345`.",
            "capitals": "12345",
            "thousands": "It is 12,345.",
        },
    ),
    (
        "-7",
        {},
        "Name the lake.",
        {
            "render": "-7",
            "inside-longer-token": "It is -73.",
            "part-of-compound": "It is a -7-pack.",
            "thousand-times": None,
            "prompt-echo": "Name the lake.",
            "sentence": "The answer is -7.",
            "bold": "It is **-7**.",
            "code": "It is `-7`.",
            "capitals": "-7",
            "thousands": None,
        },
    ),
]


@pytest.mark.parametrize(("target", "config", "prompt", "made"), WITNESSES)
def test_the_verifiers_own_answers_are_made_and_judged_as_named(target, config, prompt, made):
    """Renderings and variations pass, spoils fail as they name; None where one does not apply [T-13]."""
    bound = bind_spec({"name": "token", **config}, target)
    own_answers_are_made_and_judged(bound, prompt, made)


READ: list[tuple[dict[str, object], str, object]] = [
    ({}, "<think>Rome?</think>\nIt is 12.\n", ("\nIt is 12.\n", "whole", (20, 31))),
    ({}, " ", None),
    ({}, "<think>12", None),
]


@pytest.mark.parametrize(("config", "answer", "found"), READ)
def test_a_reading_says_what_was_found_by_which_rule_and_where(config, answer, found):
    """The span is of the whole reply, reasoning included; nothing where nothing is committed to. [T-13]"""
    bound = bind_spec({"name": "token", **config}, "12")
    assert found == reading_of(bound, answer)
