"""Tool calls written as text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.parsing.toolcalls import ParsedCall, parse_tool_calls, read_tool_calls, render_tool_call
from steelyard.ports import ToolSpec


def _spec(name: str, **kinds: str) -> ToolSpec:
    properties = {argument: {"type": kind} for argument, kind in kinds.items()}
    return ToolSpec(name, "", {"type": "object", "properties": properties, "required": list(properties)})


TOOLS = {
    "read_file": _spec("read_file", path="string"),
    "write_file": _spec("write_file", path="string", content="string"),
    "wait": _spec("wait", seconds="number", times="integer"),
}


def _only(text: str) -> ParsedCall:
    (call,) = parse_tool_calls(text, TOOLS)
    return call


def _body(text: str) -> str:
    return f"<tool_call>{text}</tool_call>"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('{"name": "read_file"', "error: tool call is not valid JSON: "),
        (
            '{"name": "read_file", "arguments": {}, "arguments": {}}',
            "error: tool call is not valid JSON: duplicate key",
        ),
        ('["read_file"]', 'error: a tool call must be a JSON object with exactly "name" and "arguments"'),
        ('{"name": "read_file"}', 'error: a tool call must be a JSON object with exactly "name" and "arguments"'),
        (
            '{"name": "read_file", "arguments": {}, "id": 1}',
            'error: a tool call must be a JSON object with exactly "name" and "arguments"',
        ),
        ('{"name": "rm", "arguments": {}}', "error: unknown tool 'rm'"),
        ('{"name": "rm", "arguments": 1}', "error: unknown tool 'rm'"),
        ('{"name": 3, "arguments": {}}', "error: unknown tool 3"),
        ('{"name": "read_file", "arguments": "x"}', "error: arguments must be a JSON object"),
        (
            '{"name": "write_file", "arguments": {"path": "a", "mode": "w"}}',
            "error: missing arguments ['content'], unknown arguments ['mode']",
        ),
        ('{"name": "read_file", "arguments": {"path": 3}}', "error: every argument must be a string"),
        (
            '{"name": "wait", "arguments": {"seconds": 1.5, "times": 1.5}}',
            'error: argument "times" must be of type integer, got number',
        ),
    ],
)
def test_a_bad_block_says_why_in_the_words_that_the_model_is_shown(text: str, error: str) -> None:
    """Each fault has its own error text, in the order JSON, shape, tool, arguments. [O-24]"""
    assert _only(_body(text)).error.startswith(error)


def test_each_block_is_read_alone() -> None:
    """A bad block becomes its own error and the others still count. [O-24]"""
    text = _body('{"name": "read_file", "arguments": {"path": "a"}}') + _body("oops") + render_tool_call("wait", {})
    good, bad, short = parse_tool_calls(text, TOOLS)
    assert ("read_file", {"path": "a"}, "") == (good.name, good.arguments, good.error)
    assert bad.error.startswith("error: tool call is not valid JSON: ")
    assert "error: missing arguments ['seconds', 'times'], unknown arguments []" == short.error


def test_the_last_block_may_lack_its_closing_tag() -> None:
    """A stop token may have swallowed the tag; the call is whole. [O-24]"""
    assert {"path": "a"} == _only('Reading.\n<tool_call>\n{"name": "read_file", "arguments": {"path": "a"}}').arguments


def test_a_cut_off_call_is_an_error_and_not_silence() -> None:
    """A call that breaks off is reported, never dropped. [O-24]"""
    assert _only('<tool_call>{"name": "read_file", "argu').error.startswith("error: tool call is not valid JSON")
    assert _only("<tool_call>").error.startswith("error: tool call is not valid JSON")


def test_a_tag_inside_a_string_does_not_end_or_start_a_block() -> None:
    """Tags in an argument are text. [O-24]"""
    content = "a </tool_call> b <tool_call> c"
    assert content == _only(render_tool_call("write_file", {"path": "a", "content": content})).arguments["content"]


def test_fenced_json_with_a_name_and_arguments_is_a_call_when_there_are_no_tags() -> None:
    """Small models fence their calls; other fenced JSON is text, and the reading can be switched off."""
    fenced = '```json\n{"name": "read_file", "arguments": {"path": "a"}}\n```'
    assert {"path": "a"} == _only(fenced).arguments
    assert [] == parse_tool_calls(fenced, TOOLS, fenced=False)
    assert [] == parse_tool_calls('```json\n{"port": 8042}\n```', TOOLS)
    assert _only('```json\n{"name": "read_file", "arguments": {"path": "a"}\n```').error


def test_a_reply_that_is_one_json_object_with_a_name_and_arguments_is_a_call() -> None:
    """Small models also leave out the fence."""
    assert {"path": "a"} == _only('{"name": "read_file", "arguments": {"path": "a"}}\n').arguments
    assert _only('{"name": "read_file", "arguments": {"path": "a"}').error
    assert [] == parse_tool_calls('{"port": 8042}', TOOLS)


def test_a_reply_without_calls_has_none() -> None:
    """Prose is an answer."""
    assert [] == parse_tool_calls("The port is 8042.", TOOLS)


@given(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"]))
    ),
)
def test_every_rendered_call_is_read_back(name: str, arguments: dict[str, Any]) -> None:
    """Rendering and reading are inverse, whatever the text holds. [O-24]"""
    (call,) = read_tool_calls(f"First.\n{render_tool_call(name, arguments)}")
    assert (name, arguments, "") == (call.name, call.arguments, call.error)


def test_the_span_holds_the_block_with_its_tags() -> None:
    """What is not in a span is the prose around the calls."""
    text = f"One. {render_tool_call('wait', {'seconds': 1, 'times': 1})} Two."
    start, end = _only(text).span
    assert "One.  Two." == text[:start] + text[end:]


@pytest.mark.parametrize("text", ["<tool_call>{" * 5000, '<tool_call>{"' * 5000, "<tool_call>" + " " * 100_000])
def test_hostile_text_gives_one_error_a_block(text: str) -> None:
    """Thousands of broken blocks are thousands of errors. [O-24]"""
    calls = read_tool_calls(text)
    assert text.count("<tool_call>") == len(calls)
    assert all(call.error for call in calls)
