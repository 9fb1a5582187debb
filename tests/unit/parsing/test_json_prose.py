"""Strict JSON in replies."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import InputError
from steelyard.parsing.json_prose import JsonFound, json_in, storable, strict_json, typed_equal

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def _found(text: str, tolerant: bool = True) -> JsonFound:
    value = json_in(text, tolerant)
    assert isinstance(value, JsonFound), value
    return value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1, "a": 1}', 'duplicate key "a"'),
        ('{"a": {"b": 1, "b": 2}}', 'duplicate key "b"'),
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": -Infinity}', "-Infinity is not JSON"),
        ("[" * 100_000, "nested deeper than 256"),
        ('{"a":' * 100_000, "nested deeper than 256"),
    ],
)
def test_json_that_python_would_let_through_or_choke_on_is_refused_with_its_reason(text: str, reason: str) -> None:
    """Duplicate names, NaN and deep nesting are refused, the last without a crash. [G-7]"""
    with pytest.raises(InputError) as raised:
        strict_json(text)
    assert reason == str(raised.value)


@pytest.mark.parametrize("text", ['{"a": 1,}', "{'a': 1}", "{a: 1}", '{"a": 01}', '{"a": 1} x', "", "// no\n{}"])
def test_what_is_not_json_is_refused(text: str) -> None:
    """Trailing commas, single quotes, comments and trailing text are no JSON. [G-7]"""
    with pytest.raises(InputError):
        strict_json(text)


def test_integers_are_exact_at_any_size() -> None:
    """No integer is rounded, whether it is written with digits only or with an exponent."""
    digits = "9" * 5000
    assert Decimal(digits) == strict_json(digits)
    assert 9007199254740993 == strict_json("9007199254740993")
    assert 9007199254740993 == strict_json("9007199254740993.0")
    assert 10**23 == strict_json("1e23")
    assert not typed_equal(strict_json("9" * 5000), strict_json("9" * 4999 + "8"))
    assert typed_equal(strict_json("1e400"), strict_json("1" + "0" * 400))


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        ("1", 1, False),
        (None, False, False),
        ([1, 2], [2, 1], False),
        ([1, 2], [1, 2, 3], False),
        ({"a": [1, {"b": 2}]}, {"a": [1.0, {"b": 2.0}]}, True),
        ({"a": 1}, {"a": 1, "b": None}, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ([True], [1], False),
        (2**60, 2.0**60, True),
        (2**60 + 1, 2.0**60, False),
        ("é", "e\u0301", False),
    ],
)
def test_values_are_compared_by_type_and_value(left: Any, right: Any, equal: bool) -> None:
    """1 equals 1.0 and nothing else crosses types; lists are ordered, objects are not; text is compared exactly."""
    assert equal is typed_equal(left, right)
    assert equal is typed_equal(right, left)


@given(JSON_VALUES)
def test_every_json_value_is_read_back_equal_from_plain_text_from_a_fence_and_from_prose(value: Any) -> None:
    """Whatever json writes is found as it stands and in a fence; an object is also found in prose."""
    text = json.dumps(value)
    value = strict_json(text)
    assert typed_equal(value, _found(text).value)
    assert typed_equal(value, _found(text, tolerant=False).value)
    if isinstance(value, dict | list):
        assert typed_equal(value, _found(f"Here:\n```json\n{text}\n```\nDone.").value)
    if isinstance(value, dict) and value:
        assert typed_equal(value, _found(f"The answer is {text}, as asked.").value)


@pytest.mark.parametrize(
    ("text", "value", "rule"),
    [
        ('{"body": "Line\\n```py\\nx\\n```"}', {"body": "Line\n```py\nx\n```"}, "text"),
        ('```json\n{"a": "```json"}\n```', {"a": "```json"}, "fence"),
        ('~~~\n{"a": 1}\n~~~', {"a": 1}, "fence"),
        ('```json\n{"a": 1}', {"a": 1}, "fence"),
        ('```json\n{"a": 1}\n```\nCorrected:\n```json\n{"a": 2}\n```', {"a": 2}, "fence"),
        ('```python\nprint()\n```\n```\n{"a": 1}\n```', {"a": 1}, "fence"),
        ('```json\n{"a": 1}```\nThat is it.', {"a": 1}, "fence"),
        ('```json\n{"a": 1}\n```\nIn Python:\n```python\n{"a": 2}\n```', {"a": 1}, "fence"),
        ('Use \\{x\\} and {1, 2}: {"a": {"b": 1}}.', {"a": {"b": 1}}, "prose"),
        ('In short {"a": "}"} is it', {"a": "}"}, "prose"),
        ('{"a": 1} and again {"a": 1.0}', {"a": 1}, "prose"),
        ('\ufeff {"a": 1}\n', {"a": 1}, "text"),
    ],
)
def test_the_text_as_it_stands_comes_before_a_fence_and_a_fence_before_prose(text: str, value: Any, rule: str) -> None:
    """Each place is tried in its order, and the rule says which one gave the value."""
    assert (value, rule) == (_found(text).value, _found(text).rule)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1} or {"a": 2}', "several objects that differ"),
        ('Here: {"x": NaN, "y": {"a": 1}}', "NaN is not JSON"),
        ('```json\n{"a": 1}\n```\nNo:\n```json\n{"a": 2,}\n```', "Expecting property name"),
        ('The object {"a": 1', "Expecting ',' delimiter"),
        ("no object here", "Expecting value"),
        ('Half: {"outer": {"a": 1}, oops}', "Expecting property name"),
    ],
)
def test_a_broken_or_ambiguous_object_is_never_replaced_by_a_part_of_it(text: str, reason: str) -> None:
    """The inside of a broken object is not searched, and two different objects are no answer."""
    answer = json_in(text)
    assert isinstance(answer, str)
    assert reason in answer


def test_the_span_is_where_the_value_stands() -> None:
    """The span cuts the value's own text out of the reply."""
    text = 'So:\n```json\n {"a": 1}\n```\n'
    start, end = _found(text).span
    assert '{"a": 1}' == text[start:end]


@pytest.mark.parametrize(
    "text",
    [
        '{"' * 50_000,
        "{ " * 50_000,
        '"\\"' * 50_000,
        '{"a":"' + '\\"' * 50_000,
        "{a" * 50_000,
        ("{" + " " * 500) * 200,
        "```\n{" * 20_000,
        "\\" * 100_000 + '{"',
    ],
)
def test_hostile_text_of_a_hundred_kilobytes_has_no_answer(text: str) -> None:
    """Unclosed braces, quotes and fences end in a reason."""
    assert isinstance(json_in(text), str)


def test_a_value_that_a_record_would_change_is_known() -> None:
    """A lone surrogate or a number past 4300 digits cannot be stored as it is."""
    assert storable(strict_json('{"a": [1, "x", null]}'))
    assert not storable(strict_json('["\\ud800"]'))
    assert not storable(strict_json('{"\\ud800": 1}'))
    assert not storable(strict_json("[" + "9" * 5000 + "]"))
