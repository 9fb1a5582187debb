"""Equal and nearly equal prompts: every pair at a limit is found, and none below it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.errors import RefusedError
from steelyard.item import Item
from steelyard.overlap.prompts import RUN_WORDS, RUNS_LIMIT, WORDS_LIMIT, near_prompts, refuse_near_prompts, words

LONG = "Add a function that gives the first letter of every word in a name as a capital with a dot behind it"


def items(*prompts: str, prefix: str = "a") -> list[Item]:
    """Items with these prompts."""
    return [Item(id=f"{prefix}{n}", input=text, verifier={"name": "token"}) for n, text in enumerate(prompts)]


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        ("Which port?", "which  PORT", "equal"),
        ("Which port?", "Ｗhich port!", "equal"),
        ("How many lamps does the shop have?", "How many rugs does the shop have?", "words"),
        ("Set the timeout to 60 seconds.", "Set the timeout to 90 seconds.", "words"),
        ("seconds 60 to timeout the set", "Set the timeout to 60 seconds.", "words"),
        (LONG, f"{LONG}, then show me how it looks when everything else was done.", "runs"),
        (LONG, f"Hello! {LONG}. Write it in a new module, and leave the rest as it was before you came.", "inside"),
        (f"Hello! {LONG}. Write it in a new module, and leave the rest as it was before you came.", LONG, "inside"),
    ],
)
def test_what_asks_nearly_the_same_is_found(first: str, second: str, kind: str) -> None:
    """Case, width, punctuation, a word changed, another order, words added, one in another. [O-28] [T-40]"""
    (found,) = near_prompts(items(first), items(second, prefix="b"))
    assert ("a0", "b0", kind) == (found.first, found.second, found.kind)
    assert min(WORDS_LIMIT, RUNS_LIMIT) <= found.share <= 1


def test_what_asks_something_else_is_not_found() -> None:
    """Sharing a few words is no overlap, and a prompt without a word is like nothing. [O-28]"""
    first = items("How many lamps does the shop have?", "?!", LONG)
    second = items("Which town does the reader live in?", "...", "Count the words of a text.", prefix="b")
    assert [] == near_prompts(first, second)


def test_the_refusal_names_both_items_both_suites_and_the_prompts() -> None:
    """The first pair in the order of the first suite, and how many there are. [O-28]"""
    first, second = items("Which way?", "Which port?", "Who?"), items("Who?", "Which port", prefix="b")
    with pytest.raises(RefusedError) as error:
        refuse_near_prompts(first, second, ("train", "eval"))
    expected = "item \"a1\" of train asks the same as \"b1\" of eval; 2 pairs in all: 'Which port?' and 'Which port'"
    assert str(error.value).startswith(expected)
    refuse_near_prompts(first[:1], second, ("train", "eval"))


_TEXT = st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=9).map(" ".join)


@settings(max_examples=100, deadline=None)
@given(st.lists(_TEXT, max_size=6), st.lists(_TEXT, max_size=6))
def test_the_index_finds_what_comparing_all_pairs_finds(left: list[str], right: list[str]) -> None:
    """The shortcut over rare words loses no pair. [O-28]"""
    first, second = items(*left), items(*right, prefix="b")
    wanted = set()
    for a in first:
        for b in second:
            bags = set(words(a.prompt)), set(words(b.prompt))
            runs = _runs(a.prompt), _runs(b.prompt)
            near = len(bags[0] & bags[1]) / len(bags[0] | bags[1]) >= WORDS_LIMIT
            near |= bool(runs[0] | runs[1]) and len(runs[0] & runs[1]) / len(runs[0] | runs[1]) >= RUNS_LIMIT
            near |= any(some and some <= others for some, others in (runs, runs[::-1]))
            wanted |= {(a.id, b.id)} if near else set()
    assert wanted == {(pair.first, pair.second) for pair in near_prompts(first, second)}


def _runs(text: str) -> set[tuple[str, ...]]:
    said = words(text)
    return {tuple(said[at : at + RUN_WORDS]) for at in range(len(said) - RUN_WORDS + 1)}
