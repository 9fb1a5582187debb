"""Tool calls without tags: OpenAI's JSON and Python calls."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.parsing.call_dialects import untagged_calls


def _read(text: str) -> tuple[str, list[tuple[str, dict[str, Any], str]]]:
    rule, calls = untagged_calls(text)
    return rule, [(call.name, call.arguments, call.error) for call in calls]


@pytest.mark.parametrize(
    ("text", "rule", "calls"),
    [
        ("get(city='Rome')", "python", [("get", {"city": "Rome"})]),
        ("get(n=1)\nget(n=2);", "python", [("get", {"n": 1}), ("get", {"n": 2})]),
        ("get(n=1).", "python", [("get", {"n": 1})]),
        ("[get(n=1), ns.stop()]", "python", [("get", {"n": 1}), ("ns.stop", {})]),
        ("```python\nget(n=-1.5)\n```", "python", [("get", {"n": -1.5})]),
        (
            "  [f(a=[1, (2,)], b={'k': None}, c=true)]\n",
            "python",
            [("f", {"a": [1, [2]], "b": {"k": None}, "c": True})],
        ),
        ("f(a=\"b, c=(d)\", e='it\\'s')", "python", [("f", {"a": "b, c=(d)", "e": "it's"})]),
        ('[{"name": "f", "arguments": {"a": 1}}]', "openai", [("f", {"a": 1})]),
        ('{"function": {"name": "f", "arguments": "{\\"a\\": 1}"}}', "openai", [("f", {"a": 1})]),
        ('{"tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {}}}]}', "openai", [("f", {})]),
    ],
)
def test_a_reply_that_is_only_calls_is_read(text: str, rule: str, calls: list[tuple[str, dict[str, Any]]]) -> None:
    """Each form gives the names and the arguments as JSON values."""
    assert (rule, [(name, arguments, "") for name, arguments in calls]) == _read(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "sqrt(16)",
        "f(x) = x + 1",
        "f(x=1) is what I would call.",
        "I would call get(city='Rome').",
        '{"city": "Rome"}',
        "[1, 2]",
        "(f)(a=1)",
        "f(a=1)\nx = 2",
        "[f(a=1), 2]",
        "```\nf(a=1)\n```\n```\nf(a=2)\n```",
        "get(" + "a" * 30_000 + "=1)",
    ],
)
def test_prose_terms_and_values_are_no_calls(text: str) -> None:
    """A reply that makes no call is an abstention."""
    assert ("", []) == _read(text)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[f(a=1]", "error: tool call is not a Python call: closing parenthesis ']' does not match opening"),
        ("[f(1)]", "error: every argument must be named, and once"),
        ("f(a=1, a=2)", "error: every argument must be named, and once"),
        ("f(a=1, **more)", "error: every argument must be named, and once"),
        ("f(a=g())", "error: an argument is no literal"),
        ("f(a=1+1)", "error: an argument is no literal"),
        ("f(a={1, 2})", "error: an argument is no literal"),
        ("f(a=-'x')", "error: an argument is no literal"),
        ("f(a={1: 2})", "error: a name in an argument is no text"),
        ("[f()()]", "error: tool call is not a Python call: its name is no name"),
        ("f(a=" + "[" * 300 + "]" * 300 + ")", "error: tool call is not a Python call: too many nested parentheses"),
        ('{"function": {"name": "f"}}', 'error: a tool call must be a JSON object with exactly "name" and "arguments"'),
        ('{"function": {"name": "f", "arguments": 1}}', "error: arguments must be a JSON object"),
        ('{"function": {"name": "f", "arguments": "{"}}', "error: tool call is not valid JSON: "),
        ('[{"name": "f", "arguments": {]', "error: tool call is not valid JSON: "),
    ],
)
def test_a_call_that_does_not_parse_is_an_error_and_not_dropped(text: str, error: str) -> None:
    """The reader's own words say what is wrong. [O-24]"""
    rule, calls = _read(text)
    assert (True, error) == (bool(rule), calls[0][2][: len(error)])


@settings(max_examples=60)
@given(st.text(alphabet="[]{}()=,.'\"\\ fab1:-\n", max_size=40))
def test_no_text_raises(text: str) -> None:
    """Whatever stands in a reply, it is read or not."""
    for start in ("", "f(a=", "[f(", '{"name": '):
        assert untagged_calls(start + text)[0] in ("", "python", "openai")
