"""The endpoint client against a real local server: replies, refusals, retries, time-outs, and the key."""

import asyncio
import json
from typing import Any

import pytest

from endpoint_server import EndpointServer, Step, completion, refusal, reply, said
from steelyard.attempt import Message, ModelOutput, ToolCall, Usage
from steelyard.errors import CallError, InputError, PermanentError
from steelyard.models.endpoint import Endpoint
from steelyard.ports import Sampling, ToolSpec

CANARY = "sk-canary-0123456789"
HI = [Message("user", "Hi")]
HANG, HALF, RESET = Step(act="hang"), Step(body=b'{"id": ', act="half"), Step(act="reset")


def ask(url: str, *, times: int = 1, **options: Any) -> ModelOutput:
    """The last of `times` replies to "Hi", with short waits."""
    settings = {"first_wait_s": 0.01, "max_wait_s": 0.05, "retries": 2, "api_key": CANARY} | options

    async def call() -> ModelOutput:
        model = Endpoint(url, "asked-model", **settings)
        try:
            for _ in range(times - 1):
                await model.generate(HI, Sampling())
            return await model.generate(HI, Sampling())
        finally:
            await model.close()

    return asyncio.run(call())


def test_the_whole_reply_is_kept_and_the_request_is_recorded_without_its_messages() -> None:
    """Texts, reasoning, finish reason, tool calls, usage, id and settings arrive as served [S-1, S-9]."""
    message = {
        "role": "assistant",
        "content": "42",
        "reasoning_content": "six times seven",
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}],
    }
    choices = [{"index": 0, "message": message, "finish_reason": "tool_calls"}]
    tool = ToolSpec("add", "adds", {"type": "object"})
    history = [
        Message("system", "Be brief."),
        Message("user", "6*7?"),
        Message("assistant", "", tool_calls=[ToolCall("add", "{}", "c0")]),
        Message("tool", "0", tool_call_id="c0"),
    ]

    async def call(url: str) -> ModelOutput:
        model = Endpoint(url, "asked-model", CANARY, extra_body={"cache_prompt": False})
        try:
            sampling = Sampling(temperature=0.0, max_tokens=5, stop=["\n"])
            return await model.generate(history, sampling, seed=7, tools=[tool], response_format={"type": "text"})
        finally:
            await model.close()

    with EndpointServer([said(200, completion(choices=choices))]) as server:
        output = asyncio.run(call(server.url))
        sent = server.posts[0]
    settings = {
        "model": "asked-model",
        "temperature": 0.0,
        "max_tokens": 5,
        "stop": ["\n"],
        "seed": 7,
        "tools": [
            {
                "type": "function",
                "function": {"name": "add", "description": "adds", "parameters": {"type": "object"}},
            }
        ],
        "response_format": {"type": "text"},
        "cache_prompt": False,
    }
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "6*7?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c0", "type": "function", "function": {"name": "add", "arguments": "{}"}}],
        },
        {"role": "tool", "content": "0", "tool_call_id": "c0"},
    ]
    assert sent.path == "/v1/chat/completions"
    assert sent.headers["authorization"] == f"Bearer {CANARY}"
    assert sent.json == {"messages": messages} | settings
    assert output.seconds > 0
    assert output == ModelOutput(
        model="served-model",
        texts=["42"],
        reasoning_texts=["six times seven"],
        finish_reasons=["tool_calls"],
        tool_calls=[ToolCall("add", '{"a": 1}', "c1")],
        usage=Usage(7, 3, 10),
        request=settings,
        seconds=output.seconds,
        response_id="chatcmpl-1",
    )


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
def test_the_address_may_be_given_with_or_without_its_usual_path(path: str) -> None:
    """A bare host, /v1 and the full path all reach /v1/chat/completions [T-14]."""
    with EndpointServer([reply()]) as server:
        ask(server.url + path)
        assert server.posts[0].path == "/v1/chat/completions"


@pytest.mark.parametrize("content", [None, ""])
def test_an_empty_message_is_an_answer(content: str | None) -> None:
    """Null and empty content give one empty text with its finish reason [S-9]."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "length"}
    with EndpointServer([said(200, completion(choices=[choice]))]) as server:
        output = ask(server.url)
    assert ([""], ["length"]) == (output.texts, output.finish_reasons)


def test_a_reply_without_usage_has_no_usage() -> None:
    """What the endpoint did not count is None, not zero [S-1]."""
    with EndpointServer([reply(usage=None)]) as server:
        assert ask(server.url).usage is None


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 529])
def test_a_passing_fault_is_tried_again(status: int) -> None:
    """The second try's answer is the answer [S-24]."""
    with EndpointServer([refusal(status, "later"), reply("done")]) as server:
        assert ask(server.url).texts == ["done"]
        assert len(server.posts) == 2


@pytest.mark.parametrize("broken", [RESET, HALF, said(200, b'{"choices": [')], ids=["reset", "half", "broken-json"])
def test_a_broken_exchange_is_tried_again(broken: Step) -> None:
    """A reset, half a body and torn JSON are faults of one try [S-24]."""
    with EndpointServer([broken, reply("done")]) as server:
        assert ask(server.url).texts == ["done"]


@pytest.mark.parametrize(
    ("step", "kind", "words"),
    [
        (refusal(500, "boom"), "server-error", "boom"),
        (said(200, {"error": {"message": "upstream died", "code": 502}}), "server-error", "upstream died"),
        (said(200, {"object": "list"}), "reply", 'JSON without "choices"'),
        (HALF, "reply", "broke off"),
    ],
)
def test_a_fault_that_stays_fails_the_call_with_the_last_words(step: Step, kind: str, words: str) -> None:
    """After the retries the kind and the endpoint's own words remain, and the number of tries [S-24]."""
    with EndpointServer([step]) as server:
        with pytest.raises(CallError, match=words) as caught:
            ask(server.url)
        assert (3, kind) == (len(server.posts), caught.value.kind)
        assert "tried 3 times" in str(caught.value)


def test_refusals_for_too_many_requests_cost_a_fifth_of_a_try() -> None:
    """Most are made by the calls beside this one; what stays is told all the same. [S-24]"""
    with EndpointServer([refusal(429, "slow down")]) as server:
        with pytest.raises(CallError, match=r"slow down.*tried 11 times") as caught:
            ask(server.url)
        assert (11, "rate-limit") == (len(server.posts), caught.value.kind)


def test_a_choice_that_ended_in_an_error_is_tried_again() -> None:
    """Gateways say so under status 200; its text is no answer. [S-24]"""
    broken = {"message": {"content": "The ans"}, "finish_reason": "error", "error": {"message": "engine died"}}
    with EndpointServer([said(200, completion(choices=[broken])), reply("done")]) as server:
        assert ["done"] == ask(server.url).texts


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"\xef\xbb\xbf" + json.dumps(completion("marked")).encode(), "marked"),
        (json.dumps(completion("cut \ud83d")).encode(), "cut \ufffd"),
        (json.dumps(completion("whole \U0001f600")).encode(), "whole \U0001f600"),
        (json.dumps(completion("numbered", id=7)).encode(), "numbered"),
    ],
)
def test_small_faults_of_the_wire_lose_no_answer(body: bytes, text: str) -> None:
    """A byte order mark, half a surrogate pair where a token limit cut a text, a number for an id. [S-24]"""
    with EndpointServer([said(200, body)]) as server:
        assert [text] == ask(server.url).texts


def test_a_key_inside_the_address_s_path_is_refused_without_repeating_it() -> None:
    """The address is recorded. [S-9]"""
    with pytest.raises(InputError) as caught:
        Endpoint(f"http://127.0.0.1:9/{CANARY}/v1", "m", CANARY)
    assert CANARY not in str(caught.value)


def test_a_reply_that_does_not_come_is_a_timeout() -> None:
    """Silence ends at the read time-out and is tried again [S-24]."""
    with EndpointServer([HANG]) as server:
        with pytest.raises(CallError, match="no whole reply within") as caught:
            ask(server.url, read_timeout_s=0.1, retries=1)
        assert (2, "timeout") == (len(server.posts), caught.value.kind)


def test_retry_after_lengthens_the_wait() -> None:
    """The next try does not come before the server's time [S-24]."""
    with EndpointServer([refusal(429, "wait", Retry_After="0.3"), reply()]) as server:
        ask(server.url, max_wait_s=5.0)
        first, second = server.posts
    assert second.at_s - first.at_s >= 0.3


def test_retry_after_is_capped() -> None:
    """A server that asks for an hour is asked again after the cap [S-24]."""
    with EndpointServer([refusal(503, "wait", Retry_After="3600"), reply("done")]) as server:
        assert ask(server.url, max_wait_s=0.02).texts == ["done"]


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (refusal(400, "unknown parameter: tpo_p"), "answered 400: unknown parameter: tpo_p"),
        (refusal(401, "bad key"), "answered 401: bad key; set STEELYARD_API_KEY"),
        (refusal(403, "not yours"), "answered 403: not yours"),
        (said(404, b"404 page not found"), "answered 404: 404 page not found; check the base URL"),
        (said(422, {"detail": [{"loc": ["top_p"], "msg": "too high"}]}), "too high"),
        (said(429, {"error": {"message": "pay first", "code": "insufficient_quota"}}), "pay first"),
        (said(308, b"", Location="https://other.example/v1?x=1"), "redirects to https://other.example/v1;"),
        (said(200, b"<html><title>Welcome</title>", Content_Type="text/html"), "text/html.*<html>.*end in /v1"),
    ],
)
def test_what_every_call_would_meet_stops_at_once_with_the_endpoints_own_words(step: Step, words: str) -> None:
    """Permanent refusals are not tried again [S-24]."""
    with EndpointServer([step]) as server:
        with pytest.raises(PermanentError, match=words):
            ask(server.url)
        assert len(server.posts) == 1


@pytest.mark.parametrize(
    "error",
    [
        {"message": "request (9 tokens) exceeds", "type": "exceed_context_size_error"},
        {"message": "too long", "code": "context_length_exceeded"},
        {"message": "This model's maximum context length is 8 tokens."},
    ],
)
def test_a_conversation_that_does_not_fit_fails_its_own_call_only(error: dict[str, str]) -> None:
    """Context overflow is a 400 that says something about one conversation [O-25]."""
    with EndpointServer([said(400, {"error": error})]) as server:
        with pytest.raises(CallError) as caught:
            ask(server.url)
        assert (1, "context") == (len(server.posts), caught.value.kind)


def test_a_filtered_prompt_fails_its_own_call_only() -> None:
    """A content filter refuses one item, not the run [S-24]."""
    step = said(400, {"error": {"message": "filtered", "code": "content_filter"}})
    with EndpointServer([step]) as server, pytest.raises(CallError) as caught:
        ask(server.url)
    assert caught.value.kind == "content-filter"


def test_an_address_where_nothing_ever_answered_stops_the_run() -> None:
    """Before the first answer a refused connection is the user's address or server [T-14]."""
    with EndpointServer([reply()]) as server:
        gone = server.url
    with pytest.raises(PermanentError, match=r"nothing answers at http://127.*is the server running\?"):
        ask(gone)


def test_a_server_that_goes_away_later_fails_the_call() -> None:
    """After one answer a refused connection is a fault of the moment [S-24]."""

    async def call() -> None:
        with EndpointServer([reply()]) as server:
            model = Endpoint(server.url, "m", CANARY, retries=1, first_wait_s=0.01)
            await model.generate(HI, Sampling())
        try:
            await model.generate(HI, Sampling())
        finally:
            await model.close()

    with pytest.raises(CallError, match="cannot be reached") as caught:
        asyncio.run(call())
    assert caught.value.kind == "connection"


def test_many_calls_are_in_flight_at_once() -> None:
    """One endpoint object serves concurrent callers [S-24]."""

    async def call(url: str) -> None:
        model = Endpoint(url, "m", CANARY)
        await asyncio.gather(*(model.generate(HI, Sampling()) for _ in range(16)))
        await model.close()

    with EndpointServer(lambda _: Step(body=json.dumps(completion()).encode(), delay_s=0.2)) as server:
        asyncio.run(call(server.url))
        assert server.most_in_flight == 16


def test_the_key_shows_nowhere() -> None:
    """Neither repr, nor record, nor a message that quotes the endpoint's echo of it holds the key [S-9]."""
    with EndpointServer([reply(), refusal(401, f"key {CANARY} is unknown"), refusal(500, CANARY)]) as server:
        output = ask(server.url)
        with pytest.raises(PermanentError) as refused:
            ask(server.url)
        with pytest.raises(CallError) as failed:
            ask(server.url)
        model = Endpoint(server.url, "m", CANARY)
    shown = [repr(model), str(output), repr(refused.value), repr(failed.value)]
    assert [CANARY in text for text in shown] == [False] * 4
    assert "key ***API key*** is unknown" in str(refused.value)


def test_the_key_comes_from_the_environment_unless_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """STEELYARD_API_KEY goes before OPENAI_API_KEY; an empty text sends none [T-14]."""
    with EndpointServer([reply()]) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "from-openai")
        ask(server.url, api_key=None)
        monkeypatch.setenv("STEELYARD_API_KEY", "from-steelyard\n")
        ask(server.url, api_key=None)
        ask(server.url, api_key="")
        sent = [seen.headers.get("authorization") for seen in server.posts]
    assert sent == ["Bearer from-openai", "Bearer from-steelyard", None]


@pytest.mark.parametrize("address", ["localhost:8000", "ftp://host/v1", "http://", "http://host:port/v1", ""])
def test_an_address_that_is_none_is_refused_at_construction(address: str) -> None:
    """The message shows what an address looks like [T-14]."""
    with pytest.raises(InputError, match="must look like http://host:port/v1"):
        Endpoint(address, "m")


def test_a_key_inside_the_address_is_refused_without_repeating_it() -> None:
    """User info in a URL would end in logs [T-14]."""
    with pytest.raises(InputError) as caught:
        Endpoint(f"https://user:{CANARY}@host/v1", "m")
    assert CANARY not in str(caught.value)


def test_a_query_in_the_address_is_sent_and_not_shown() -> None:
    """Gateways put a version, and sometimes a secret, behind the question mark [T-14]."""
    with EndpointServer([reply(), refusal(404, "gone")]) as server:
        ask(f"{server.url}/deployments/d?api-version=1")
        with pytest.raises(PermanentError) as caught:
            ask(f"{server.url}/deployments/d?api-version=1")
        assert server.posts[0].path == "/deployments/d/chat/completions?api-version=1"
    assert "api-version" not in str(caught.value)


def test_a_proxy_is_not_asked_for_a_server_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """http_proxy does not divert loopback [T-14]."""
    with EndpointServer([refusal(502, "proxy")]) as proxy, EndpointServer([reply("direct")]) as server:
        monkeypatch.setenv("http_proxy", proxy.url)
        assert ask(server.url).texts == ["direct"]


@pytest.mark.parametrize(
    ("models", "name", "expected"),
    [
        (
            [{"id": "a", "created": 1}, {"id": "m", "created": 2, "meta": {"n_ctx": 8}}],
            "m",
            {"model": {"id": "m", "meta": {"n_ctx": 8}}},
        ),
        ([{"id": "a", "created": 1}], "m", {"listed": [{"id": "a"}]}),
        (None, "m", {}),
        (["not an object"], "m", {}),
    ],
)
def test_describe_tells_what_the_endpoint_lists(models: Any, name: str, expected: dict[str, Any]) -> None:
    """The model's own entry without its time stamp, else the list, else nothing [S-9]."""

    async def call(url: str) -> dict[str, Any]:
        model = Endpoint(url, name, CANARY)
        try:
            return await model.describe()
        finally:
            await model.close()

    with EndpointServer([reply()], models=models) as server:
        assert expected == asyncio.run(call(server.url))


def test_a_cancelled_call_ends_at_once_and_drops_its_request() -> None:
    """The task ends, and the server sees the connection close rather than generate for nobody [S-24]."""

    async def call(server: EndpointServer) -> bool:
        model = Endpoint(server.url, "m", CANARY)
        task = asyncio.create_task(model.generate(HI, Sampling()))
        while not server.in_flight:
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])
        while server.in_flight:
            await asyncio.sleep(0.01)
        await model.close()
        return task.cancelled()

    with EndpointServer([Step(act="until-closed")]) as server:
        assert asyncio.run(call(server)) is True


def test_a_closed_endpoint_says_so() -> None:
    """A call after close is a failed call, not a crash [S-24]."""

    async def call() -> None:
        model = Endpoint("http://127.0.0.1:9", "m", CANARY)
        await model.close()
        await model.generate(HI, Sampling())

    with pytest.raises(CallError, match="was closed"):
        asyncio.run(call())


@pytest.mark.parametrize("option", ["connect_timeout_s", "read_timeout_s", "total_timeout_s", "retries", "max_wait_s"])
def test_a_negative_setting_is_refused_by_name(option: str) -> None:
    """Settings are checked at construction [T-14]."""
    with pytest.raises(InputError, match=option):
        Endpoint("http://127.0.0.1:9", "m", **{option: -1})
