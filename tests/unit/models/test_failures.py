"""Sorting of statuses and bodies; the wait that a server asks for."""

from datetime import UTC, datetime

import pytest

from steelyard.models.chat_format import UnreadableReplyError, error_words, read_reply
from steelyard.models.failures import Failure, failure_from_status, retry_after_s

NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("Thu, 01 Jan 2026 12:00:30 GMT", 30.0),
        ("Thu, 01 Jan 2026 11:00:00 GMT", 0.0),
        ("soon", None),
        ("", None),
        ("nan", None),
        ("inf", None),
        (None, None),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(header: str | None, expected: float | None) -> None:
    """RFC 9110 section 10.2.3; nonsense says nothing [S-24]."""
    assert expected == retry_after_s(header, NOW)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("plain", "plain"),
        ({"error": {"message": "inner"}}, "inner"),
        ({"detail": "fastapi"}, "fastapi"),
        ({"message": ""}, '{"message":""}'),
        (None, "null"),
    ],
)
def test_an_errors_own_words_are_found_in_the_usual_shapes(error: object, expected: str) -> None:
    """OpenAI, FastAPI and bare texts [S-24]."""
    assert expected == error_words(error)


@pytest.mark.parametrize(
    ("status", "body", "kind", "fate"),
    [
        (413, b"", "context", "call"),
        (422, b"maximum context length is 8", "context", "call"),
        (402, b"pay", "refused", "run"),
        (204, b"", "refused", "run"),
        (301, b"", "redirect", "run"),
        (599, b"\xff", "server-error", "retry"),
    ],
)
def test_a_status_has_one_fate(status: int, body: bytes, kind: str, fate: str) -> None:
    """Try again, fail the call, or stop the run [S-24]."""
    failure = failure_from_status(status, lambda _: None, body)
    assert Failure(kind, failure.words, fate) == failure


def test_an_empty_body_is_said_to_be_empty() -> None:
    """Words never end in nothing [S-24]."""
    assert failure_from_status(500, lambda _: None, b"").words == "answered 500: (an empty body)"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('[{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}, {"text": "b"}]', "ab"),
        ("7", ""),
    ],
)
def test_content_in_parts_is_joined(content: str, expected: str) -> None:
    """Some gateways send a list of parts [S-1]."""
    body = f'{{"choices": [{{"message": {{"content": {content}}}}}]}}'.encode()
    assert [expected] == read_reply(body, "m", {}, 0.0).texts


def test_arguments_that_come_as_an_object_are_kept_as_json_text() -> None:
    """Some servers do not write arguments as text [S-1]."""
    body = b'{"choices": [{"message": {"tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]}}]}'
    assert [call.arguments for call in read_reply(body, "m", {}, 0.0).tool_calls] == ['{"a":1}']


@pytest.mark.parametrize("body", [b"[]", b"7", b"{}", b'{"choices": []}', b'{"choices": "none"}', b"\xff", b""])
def test_what_is_no_chat_completion_is_unreadable(body: bytes) -> None:
    """No shape of body escapes as another exception [S-24]."""
    with pytest.raises(UnreadableReplyError):
        read_reply(body, "m", {}, 0.0)
