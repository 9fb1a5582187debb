"""Replies in pieces, as the replies that they would have been whole."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from endpoint_server import EndpointServer, Step, completion, reply
from steelyard.attempt import Message, ModelOutput, ToolCall, Usage
from steelyard.errors import CallError, InputError
from steelyard.models.chat_format import UnreadableReplyError, read_reply
from steelyard.models.endpoint import Endpoint
from steelyard.models.masking import MARK
from steelyard.models.streaming import is_stream, whole_reply
from steelyard.ports import Sampling

CANARY = "sk-canary-0123456789"


def piece(delta: dict[str, Any], finish: str | None = None, index: int = 0, **more: Any) -> dict[str, Any]:
    """One chunk of one choice."""
    choice = {"index": index, "delta": delta, "finish_reason": finish, **more}
    return {"id": "c-1", "model": "served", "choices": [choice]}


def events(*chunks: dict[str, Any] | str, end: str = "data: [DONE]\n\n", line: str = "\n") -> bytes:
    """The body of a stream."""
    said = "".join(f"data: {chunk if isinstance(chunk, str) else json.dumps(chunk)}\n\n" for chunk in chunks)
    return (said + end).replace("\n", line).encode()


def read(body: bytes) -> ModelOutput:
    """A stream as a ModelOutput."""
    return read_reply(whole_reply(body), "asked", {}, 0.0)


SPOKEN = (
    piece({"role": "assistant", "content": ""}),
    piece({"reasoning_content": "So "}),
    piece({"reasoning_content": "four."}),
    piece({"content": "Four"}),
    piece({"content": ", då."}),
    piece({}, "stop"),
    {"id": "c-1", "choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 6, "total_tokens": 11}},
)


@pytest.mark.parametrize("line", ["\n", "\r\n", "\r"])
def test_pieces_make_the_reply_that_was_spoken(line: str) -> None:
    """Text, reasoning, how it finished, the tokens and whose it is, under every line ending. [S-24]"""
    output = read(events(*SPOKEN, line=line))
    assert (["Four, då."], ["So four."], ["stop"]) == (output.texts, output.reasoning_texts, output.finish_reasons)
    assert ("served", "c-1", Usage(5, 6, 11)) == (output.model, output.response_id, output.usage)


def test_tool_calls_are_joined_by_their_index() -> None:
    """A name comes once, arguments in pieces, two calls in turns. [O-24]"""

    def call(index: int, **told: Any) -> dict[str, Any]:
        return piece({"tool_calls": [{"index": index, **told}]})

    output = read(
        events(
            call(0, id="a", type="function", function={"name": "read_file", "arguments": ""}),
            call(0, function={"arguments": '{"path": '}),
            call(1, id="b", function={"name": "grep", "arguments": "{}"}),
            call(0, function={"arguments": '"x"}'}),
            piece({}, "tool_calls"),
        )
    )
    assert [ToolCall("read_file", '{"path": "x"}', "a"), ToolCall("grep", "{}", "b")] == output.tool_calls


def test_log_probabilities_are_joined() -> None:
    """Of every piece that told them. [S-24]"""
    told = [piece({"content": c}, logprobs={"content": [{"token": c, "logprob": -1.0}]}) for c in "ab"]
    output = read(events(*told, piece({}, "stop")))
    assert [[{"token": "a", "logprob": -1.0}, {"token": "b", "logprob": -1.0}]] == [
        told["content"] for told in output.logprobs
    ]


def test_comments_and_other_fields_are_passed_over() -> None:
    """Gateways keep the line open with comments; an event may have a name and several lines. [S-24]"""
    split = json.dumps(piece({"content": "ok"}, "stop"), indent=1).replace("\n", "\ndata: ")
    body = f": WAIT\n\nevent: message\nid: 7\nretry: 10\ndata: {split}\n\n: BYE\n\ndata: [DONE]\n\n"
    assert ["ok"] == read(body.encode()).texts


def test_choices_are_kept_apart() -> None:
    """Each with its own text. [S-24]"""
    body = events(piece({"content": "a"}, "stop", 1), piece({"content": "b"}, "length", 0))
    output = read(body)
    assert (["b", "a"], ["length", "stop"]) == (output.texts, output.finish_reasons)


@pytest.mark.parametrize(
    "body",
    [
        events(*SPOKEN[:4], end=""),
        events(*SPOKEN[:4]),  # and says [DONE] all the same
        events(*SPOKEN[:3], end='data: {"choices": [{"delta": {"cont'),
        events(end=""),
        b"",
        events(piece({"content": "a"}, "stop"), piece({"content": "b"}, None, 1), end=""),
    ],
)
def test_a_stream_that_broke_off_is_no_answer(body: bytes) -> None:
    """A short answer and half an answer look alike; only the first says that it ended. [S-24]"""
    with pytest.raises(UnreadableReplyError, match="broke off"):
        whole_reply(body)


def test_a_finished_choice_needs_no_last_word() -> None:
    """Some servers close the connection after the finish reason. [S-24]"""
    assert ["a"] == read(events(piece({"content": "a"}, "stop"), end="")).texts


@pytest.mark.parametrize(
    "event", ["[]", '"text"', "7", '{"choices": 7}', '{"choices": [{"delta": []}]}', '{"choices": [{"index": "x"}]}']
)
def test_events_of_odd_shapes_are_unreadable(event: str) -> None:
    """And never another error. [S-24]"""
    with pytest.raises(UnreadableReplyError, match="a stream of something else"):
        read(events(event))


@pytest.mark.parametrize(
    "body",
    [
        events(SPOKEN[0], {"error": {"message": "the engine died"}}),
        events(SPOKEN[3], {"object": "error", "message": "the engine died", "code": 500}),
        events(SPOKEN[3], end='event: error\ndata: {"message": "the engine died"}\n\ndata: [DONE]\n\n'),
        events(SPOKEN[3], piece({}, "error", error={"message": "the engine died"})),
    ],
)
def test_an_error_inside_a_stream_is_told_in_its_own_words(body: bytes) -> None:
    """Gateways answer 200 and then break, each in its own form. [S-24]"""
    with pytest.raises(UnreadableReplyError, match="the engine died"):
        read(body)


@pytest.mark.parametrize("index", [{"index": 0}, {}, {"index": None}])
def test_another_id_is_another_call_whatever_its_index(index: dict[str, Any]) -> None:
    """Some servers count every call as the first. [O-24]"""
    called = [
        {**index, "id": "a", "function": {"name": "f", "arguments": '{"x":'}},
        {**index, "function": {"arguments": "1}"}},
        {**index, "id": "b", "function": {"name": "g", "arguments": "{}"}},
    ]
    output = read(events(*(piece({"tool_calls": [call]}) for call in called), piece({}, "tool_calls")))
    assert [ToolCall("f", '{"x":1}', "a"), ToolCall("g", "{}", "b")] == output.tool_calls


def test_a_whole_message_is_read_as_a_piece() -> None:
    """Some servers send it at once; lists of parts as well. [S-24]"""
    whole = {"index": 0, "message": {"content": [{"type": "text", "text": "ok"}]}, "finish_reason": "stop"}
    assert ["ok"] == read(events({"choices": [whole]})).texts


def test_a_surrogate_pair_across_two_pieces_is_one_character() -> None:
    """A tokenizer cuts where it likes. [S-24]"""
    output = read(events(piece({"content": "a\ud83d"}), piece({"content": "\ude00b\ud83d"}), piece({}, "stop")))
    assert ["a\U0001f600b\ufffd"] == output.texts


@pytest.mark.parametrize(
    ("content_type", "body", "expected"),
    [
        ("text/event-stream", b"", True),
        ("Text/Event-Stream; charset=utf-8", b"{}", True),
        ("text/plain", b"data: {}", True),
        ("", b"\xef\xbb\xbfevent: x", True),
        ("application/json", b": OPEN", True),
        ("application/json", b'{"data: ": 1}', False),
        ("", b"", False),
    ],
)
def test_what_is_a_stream_is_told_by_its_type_or_its_beginning(content_type: str, body: bytes, expected: bool) -> None:
    """JSON never begins so. [S-24]"""
    assert expected == is_stream(content_type, body)


def ask(server: EndpointServer, **options: Any) -> ModelOutput:
    """One call with short waits."""

    async def call() -> ModelOutput:
        model = Endpoint(server.url, "m", CANARY, first_wait_s=0.005, **options)
        try:
            return await model.generate([Message("user", "Hi")], Sampling())
        finally:
            await model.close()

    return asyncio.run(call())


def streamed(body: bytes) -> Step:
    """A stream as a server sends it."""
    return Step(200, body, {"Content-Type": "text/event-stream"})


def test_an_endpoint_streams_where_it_is_asked_to() -> None:
    """The request says so, the record as well, and the answer is whole. [S-24, S-9]"""
    with EndpointServer([streamed(events(*SPOKEN))]) as server:
        output = ask(server, stream=True)
        assert {"stream": True, "stream_options": {"include_usage": True}}.items() <= server.posts[0].json.items()
    assert (["Four, då."], True) == (output.texts, output.request["stream"])


def test_a_stream_that_broke_off_is_asked_for_again() -> None:
    """And one that never holds fails its call. [S-24]"""
    broken = streamed(events(*SPOKEN[:4], end=""))
    with EndpointServer([broken, streamed(events(*SPOKEN))]) as server:
        assert ["Four, då."] == ask(server, stream=True).texts
    with EndpointServer([broken]) as server, pytest.raises(CallError, match="broke off before its end"):
        ask(server, stream=True, retries=1)


def test_a_line_that_stays_open_after_the_end_is_not_waited_for() -> None:
    """Everything has been said. [S-24]"""
    with EndpointServer([Step(200, events(*SPOKEN), {"Content-Type": "text/event-stream"}, act="half")]) as server:
        assert ["Four, då."] == ask(server, stream=True, retries=0).texts


def test_an_endpoint_that_does_not_stream_is_understood() -> None:
    """It answers whole, whatever was asked. [S-24]"""
    with EndpointServer([reply("whole")]) as server:
        assert ["whole"] == ask(server, stream=True).texts


def test_the_key_is_masked_across_pieces() -> None:
    """No piece holds it whole, the answer does. [S-9]"""
    body = events(piece({"content": CANARY[:9]}), piece({"content": CANARY[9:]}, "stop"))
    with EndpointServer([streamed(body)]) as server:
        assert [MARK] == ask(server, stream=True).texts


def test_extra_fields_go_with_every_request_and_may_not_hold_the_key() -> None:
    """They are kept in every record. [S-9]"""
    with EndpointServer([reply()]) as server:
        output = ask(server, extra_body={"reasoning_effort": "low"})
        assert "low" == server.posts[0].json["reasoning_effort"] == output.request["reasoning_effort"]
    with pytest.raises(InputError, match="the API key stands in extra_body"):
        Endpoint("http://127.0.0.1:9", "m", CANARY, extra_body={"user": CANARY})


def test_a_whole_completion_has_the_same_output_as_its_stream() -> None:
    """But for the identity of the reply. [S-24]"""
    whole = read_reply(json.dumps(completion("Four, då.", id="c-1", model="served")).encode(), "asked", {}, 0.0)
    usage = {"id": "c-1", "choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}}
    assert whole == read(events(SPOKEN[3], SPOKEN[4], SPOKEN[5], usage))
