"""Whole tokens: positions and properties."""

from hypothesis import given
from hypothesis import strategies as st

from steelyard.parsing.tokens import holds, occurrences, prepared


def test_every_occurrence_is_found_with_its_place():
    """Only whole tokens are found [O-20]."""
    assert [(0, 2), (8, 10)] == list(occurrences("12 x12, 12 12.5", "12"))[:2]


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_a_number_stands_in_no_other_number(one, other):
    """Whatever the thousands separators, only the same number holds [O-20]."""
    assert (one == other) is holds(f"We have {one:,} of them.", str(other))


@given(st.text(alphabet="ab1-._,' ", min_size=1, max_size=12))
def test_a_token_between_brackets_is_whole(token):
    """A token with neutral neighbours stands, whatever it is made of [O-20]."""
    if token.strip() and prepared(token) == token:
        assert holds(f"({token.strip()})", token)
