"""Cue words of a grader's reply are found by the texts they open with, as the whole pattern would find them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.parsing.grade_cues import MARKER, VERB, Cue, word_spans

_MARKERS = (
    "grade", "grading", "verdict", "judgement", "judgment", "decision", "rating", "score", "label", "conclusion",
    "evaluation", "assessment", "classification", "ruling", "outcome", "result", "category", "status", "final",
    "final answer", "urteil", "bewertung", "note", "评分", "判断", "结论", "评价", "判定",
)  # fmt: skip
_VERBS = (
    "grade", "graded", "mark", "marked", "rate", "rated", "label", "labelled", "labeled", "classify", "classified",
    "judge", "judged", "deem", "deemed", "consider", "considered", "choose", "chose", "select", "selected", "pick",
    "picked", "assign", "assigned", "award", "awarded", "give", "given", "gave", "go with", "going with", "settle on",
    "settle for", "output", "answer with", "vote", "say", "find", "found",
)  # fmt: skip
_OTHERS = ("regrade", "essay", "is", ":", "=", "A", "\n", "the", "this", "the answer", "as", "to be", "(x)", "of")


def _by_pattern(cue: Cue, low: str) -> list[tuple[int, int]]:
    """The spans by search alone: every match that starts a word, each from behind the one before."""
    found, at = [], 0
    while match := cue.pattern.search(low, at):
        start, end = match.span()
        if start and low[start - 1].isalnum():
            at = start + 1
        else:
            found.append((start, end))
            at = end
    return found


@settings(max_examples=300)
@given(st.lists(st.sampled_from(_MARKERS + _VERBS + _OTHERS), max_size=14), st.sampled_from((MARKER, VERB)))
def test_stems_find_what_the_pattern_finds(words: list[str], cue: Cue) -> None:
    """Looking for stems first leaves out no span and adds none."""
    low = " ".join(words).lower()
    assert _by_pattern(cue, low) == list(word_spans(cue, low))


@pytest.mark.parametrize("word", _MARKERS + _VERBS)
def test_every_cue_word_is_found_in_either_place(word: str) -> None:
    """A word whose stem were missing would be found by the pattern alone."""
    cue = MARKER if word in _MARKERS else VERB
    low = f"so {word}{':' if cue is MARKER else ' it as'} a\n{word} the response as: b"
    assert (_by_pattern(cue, low), True) == (list(word_spans(cue, low)), bool(_by_pattern(cue, low)))
