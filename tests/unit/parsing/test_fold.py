"""Folding: idempotent, and blind to nothing that carries meaning."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.parsing.fold import fold


@given(st.text(max_size=60))
def test_folding_twice_changes_no_more(text):
    """But for a further full stop at the end [T-9]."""
    once = fold(text)
    if once[-1:] not in (".", "。"):
        assert once == fold(once)


@given(st.text(max_size=40))
def test_case_and_white_space_around_fold_away(text):
    """Upper and lower case of a text fold to the same where Unicode says so [T-9]."""
    assert fold(text) == fold(f"  {text}\n")


@pytest.mark.parametrize("text", ["10²", "x₂", "½", "①", "™", "+5", "c++", "50%", "'", '"'])
def test_what_carries_meaning_stays(text):
    """Superscripts, subscripts, fractions, circled digits, signs [T-9]."""
    assert text.lower() == fold(text)
