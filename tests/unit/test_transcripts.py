"""Reading stored transcripts again: calls, results, and where two of them part."""

from __future__ import annotations

import json

import msgspec
import pytest

from steelyard.attempt import Attempt, Message, ModelOutput, ToolCall, Usage
from steelyard.item import Item
from steelyard.transcripts import Difference, TalkCounts, exchanges, first_difference

ITEM = Item(
    id="port",
    input="Which port?",
    target="8042",
    verifier={"name": "token"},
    tools=["read_file", "grep", "write_file", "shell"],
)


def call(name: str, **arguments: object) -> str:
    """One tagged call."""
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


def talk(*contents: str, answer: str = "", stop: str = "answer") -> Attempt:
    """An attempt whose messages are assistant turns; a text that begins with `>` is a tool's."""
    said = [Message("tool", text[1:]) if text.startswith(">") else Message("assistant", text) for text in contents]
    messages = [Message("user", ITEM.prompt), *said]
    return Attempt(answer=answer, messages=messages, stop=stop)


def test_every_call_is_paired_with_its_result() -> None:
    """Two calls of a turn get their two results in order; a broken call is kept with its error. [O-15, O-24]"""
    broken = "<tool_call>{nope</tool_call>"
    attempt = talk(
        call("read_file", path="a") + broken,
        ">text of a",
        ">error: tool call is not valid JSON: nope",
        call("read_file", path="b"),
        ">error: cannot read b: no such file",
        "8042",
    )
    made = exchanges(ITEM, attempt, "tagged")
    assert [("read_file", True, False), ("", False, False), ("read_file", True, True)] == [
        (e.call.name, e.is_valid, e.is_refused) for e in made
    ]
    assert ["text of a", "error: tool call is not valid JSON: nope", "error: cannot read b: no such file"] == [
        e.result for e in made
    ]


def test_a_last_call_without_a_result_is_still_a_call() -> None:
    """The conversation ended before the tool ran. [O-15]"""
    made = exchanges(ITEM, talk(call("read_file", path="a")), "tagged")
    assert [("read_file", None)] == [(e.call.name, e.result) for e in made]


def test_native_results_are_paired_by_id() -> None:
    """Native results may come back in another order. [O-15]"""
    calls = [ToolCall("read_file", '{"path": "a"}', "1"), ToolCall("read_file", '{"path": "b"}', "2")]
    messages = [
        Message("user", "?"),
        Message("assistant", "", tool_calls=calls),
        Message("tool", "B", tool_call_id="2"),
        Message("tool", "A", tool_call_id="1"),
    ]
    made = exchanges(ITEM, Attempt(messages=messages), "native")
    assert {"a": "A", "b": "B"} == {e.call.arguments["path"]: e.result for e in made}


def test_the_json_action_protocol_is_read_with_its_own_rules() -> None:
    """A run's transcript is read with the run's protocol. [O-15]"""
    attempt = talk('{"tool": "read_file", "arguments": {"path": "a"}}', ">A", '{"answer": "8042"}')
    assert [("read_file", "A")] == [(e.call.name, e.result) for e in exchanges(ITEM, attempt, "json_action")]


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        (talk("a", ">b", "c", answer="c"), None),
        (talk("x", ">b", "c", answer="c"), Difference(1, "model", "a", "x")),
        (talk("a", ">y", "c", answer="c"), Difference(2, "tool", "b", "y")),
        (talk("a", ">b", answer="c"), Difference(3, "model", "c", None)),
        (talk("a", ">b", "c", answer="d"), Difference(4, "model", "answer: c", "answer: d")),
        (talk("a", ">b", "c", answer="c", stop="length"), Difference(4, "model", "answer: c", "length: c")),
    ],
)
def test_the_first_difference_names_the_message_and_who_wrote_it(second: Attempt, expected: Difference | None) -> None:
    """Two runs that should be equal: which message differs, and whose it is. [O-19]"""
    first = talk("a", ">b", "c", answer="c")
    assert expected == first_difference(first, second)
    mirrored = (
        None if expected is None else Difference(expected.index, expected.author, expected.second, expected.first)
    )
    assert mirrored == first_difference(second, first)


def test_times_and_tokens_are_no_difference() -> None:
    """Equal messages are promised, not equal seconds. [O-19]"""
    first = talk("a", answer="a")
    second = msgspec.structs.replace(first, outputs=[ModelOutput("m", ["a"], seconds=3.0)], usage=Usage(1, 2, 3))
    assert first_difference(first, second) is None


def test_native_calls_are_compared_too() -> None:
    """A turn may say nothing and differ in its call. [O-19]"""
    one, two = (
        Attempt(messages=[Message("assistant", "", tool_calls=[ToolCall("grep", f'{{"pattern": "{p}"}}', "1")])])
        for p in "ab"
    )
    found = first_difference(one, two)
    assert found is not None
    assert ("model", 'grep({"pattern": "a"})') == (found.author, (found.first or "").strip())


def test_counts_add_up_over_attempts() -> None:
    """Valid calls, tool errors, stops and tokens; a reply that was not counted is said so. [O-25]"""
    attempt = talk(call("read_file", path="a") + "<tool_call>{x</tool_call>", ">A", ">error: ...", "8042")
    counts = TalkCounts()
    counts.add(msgspec.structs.replace(attempt, usage=Usage(10, 5, 15)), exchanges(ITEM, attempt, "tagged"))
    counts.add(talk(stop="turns"), [])
    figures = counts.figures()
    assert (2, 1, 0.5, 0) == tuple(figures[n] for n in ("calls", "valid_calls", "valid_call_rate", "tool_errors"))
    assert {"answer": 1, "turns": 1} == figures["stops"]
    assert (10, 5, 1) == (figures["input_tokens"], figures["output_tokens"], figures["n_without_token_counts"])
    assert TalkCounts().figures()["valid_call_rate"] is None
