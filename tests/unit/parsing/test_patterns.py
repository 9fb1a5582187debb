"""Patterns that are compiled at their first use do what compiled ones do."""

from __future__ import annotations

import re

import pytest

from steelyard.parsing.patterns import late


def test_a_late_pattern_answers_as_a_compiled_one() -> None:
    """Every method that the house uses, with its flags. [F-4]"""
    mine, theirs, text = late(r"a(b)?", re.IGNORECASE), re.compile(r"a(b)?", re.IGNORECASE), "xAB a"
    assert theirs.findall(text) == mine.findall(text)
    assert [m.span() for m in theirs.finditer(text)] == [m.span() for m in mine.finditer(text)]
    assert theirs.sub("-", text) == mine.sub("-", text)
    assert theirs.split(text) == mine.split(text)
    assert (theirs.pattern, theirs.groups) == (mine.pattern, mine.groups)
    assert None is mine.match("xa")
    assert None is mine.fullmatch("abc")


def test_a_faulty_pattern_is_told_at_its_first_use() -> None:
    """By the error that `re` gives. [F-7]"""
    faulty = late("(")
    with pytest.raises(re.error):
        faulty.search("x")
