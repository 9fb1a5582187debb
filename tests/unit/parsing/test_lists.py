"""Lists in replies."""

import re

import pytest

from steelyard.parsing.lists import items_of
from steelyard.parsing.prose import final_part

COMMA = re.compile(r"\s*,\s*")


@pytest.mark.parametrize(
    ("reply", "values", "rule"),
    [
        ('["a", 1, null]', ["a", 1, None], "json"),
        ("[1] first\n[2, 3]", [2, 3], "json"),
        ("[NaN]", ["NaN"], "last-line"),
        ("Here:\n- a\n- b", ["a", "b"], "lines"),
        ("- a\n- b\n\nAnswer: c, d", ["c", "d"], "label"),
        ("1. x\n2. y\n\nSo:\n1. a\n2. b", ["a", "b"], "lines"),
        ("They are: a, b", ["a", "b"], "last-line"),
        ("a\nb", ["a\nb"], "whole"),
    ],
)
def test_the_list_that_a_reply_commits_to_is_found(reply, values, rule):
    """JSON arrays, list lines, rows [T-13]."""
    items = items_of(final_part(reply), COMMA)
    assert (values, rule) == (items.values, items.rule)


def test_nothing_is_no_list():
    """An empty reply has no items [T-13]."""
    assert items_of(final_part(" "), COMMA) is None


def test_deep_nesting_is_no_crash():
    """A hostile array is skipped [T-13]."""
    assert items_of(final_part("[" * 100_000), COMMA) is not None
