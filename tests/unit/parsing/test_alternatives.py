"""Tests of alternations that are scanned for by their words."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.parsing import markers, moods
from steelyard.parsing.alternatives import Alternative, Alternatives, words
from steelyard.verifiers import choice

KNOWN = {"labels": markers._LABEL, "withdrawals": moods._WITHDRAWN, "choice phrases": choice._PHRASES}
FILLER = "and so on, with many more words of no meaning here; " * 4
"""Longer than a text on which the whole alternation is used as it stands."""


@pytest.mark.parametrize("name", KNOWN)
@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_a_choice_of_alternatives_matches_where_the_whole_alternation_does(name: str, data: st.DataObject) -> None:
    """What is left out could have matched nowhere."""
    known = KNOWN[name]
    every = sorted({text for part in known.parts for group in part.needs for text in group})
    glue = st.sampled_from(
        ["is", "that", "it", "the", "i", "my", "no", "this", "not", " ", ", ", "5", "b", "x", "\n", "’s"]
    )
    pieces = data.draw(st.lists(st.one_of(st.sampled_from(every), glue), max_size=12))
    text = FILLER + data.draw(st.sampled_from([" ", ""])).join(pieces).lower() + FILLER
    whole = re.compile(f"(?:{'|'.join(part.pattern for part in known.parts)}){known.after}")
    assert [m.span() for m in whole.finditer(text)] == [m.span() for m in known.finditer(text, 0, len(text))]


def test_a_region_is_searched_and_nothing_outside_it() -> None:
    """A word before the region does not bring its alternative in."""
    known = Alternatives([*words("one"), Alternative("t[a-z]+", (("two", "ten"),))])
    text = "one " + "x" * 200 + " two"
    assert ["two"] == [m[0] for m in known.finditer(text, 4, len(text))]


def test_the_first_alternative_that_matches_wins_as_in_a_pattern() -> None:
    """Order is kept when some alternatives are left out."""
    known = Alternatives([*words("zz", "answers", "answer")])
    assert ["answers"] == [m[0] for m in known.finditer("x" * 200 + " answers", 0, 208)]
