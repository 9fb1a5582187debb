"""Probing an endpoint: a server that honours everything, and the same one with one fault at a time."""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from endpoint_server import EndpointServer, Seen, Step, completion, refusal, reply, said
from steelyard.errors import PermanentError
from steelyard.models.caps import Capped, Caps
from steelyard.models.endpoint import Endpoint
from steelyard.models.pool import Pool
from steelyard.models.probe import FRESH_S, Probe, cached_at, probe_endpoint, probe_for_run
from steelyard.models.scripted import Scripted

CANARY = "sk-canary-0123456789"
CONTEXT = 100
KNOWN = {"model", "messages", "max_tokens", "temperature", "seed", "n", "stop", "logprobs", "top_logprobs"}
KNOWN |= {"response_format", "tools", "tool_choice"}
Play = Callable[[dict[str, Any]], Step]


class Whole(EndpointServer):
    """The test server, with a probe's requests played like any other."""

    def _step(self, seen: Seen) -> Step:
        if seen.method == "POST" and callable(self._script):
            return self._script(seen.json)
        return super()._step(seen)


def playing(fault: str = "", calls: list[int] | None = None) -> Play:
    """A model of ten words that honours every setting, but for one fault."""
    calls = calls if calls is not None else []

    def play(body: dict[str, Any]) -> Step:
        calls.append(1)
        if body["model"] != "m" and fault != "any model":
            return refusal(404, f"no model {body['model']}")
        if set(body) - KNOWN and fault != "any field":
            return refusal(400, f"unknown fields {sorted(set(body) - KNOWN)}")
        if len(body["messages"][0]["content"].split()) > CONTEXT:
            return refusal(400, "maximum context length is 100" if fault != "odd words" else "no")
        if fault == "no schema" and "response_format" in body:
            return refusal(422, "response_format is not supported")
        return said(200, _completion(body, fault, len(calls)))

    return play


def _completion(body: dict[str, Any], fault: str, call: int) -> dict[str, Any]:
    seed = (body["seed"] if fault != "no seed" else 0) if body["temperature"] else 0
    rng = random.Random(call if fault == "restless" else seed)
    words = rng.sample([f"word{i}" for i in range(50)], body["max_tokens"])
    choice: dict[str, Any] = {"message": {"role": "assistant", "content": " ".join(words)}, "finish_reason": "length"}
    n_choices = body.get("n", 1) if fault != "one choice" else 1
    for stop in body.get("stop", []) if fault != "no stop" else []:
        choice["message"]["content"] = choice["message"]["content"].partition(stop)[0]
        choice["finish_reason"] = "stop"
    if "response_format" in body:
        choice["message"]["content"] = '{"verdict": "amber-17"}' if fault != "free text" else "hello"
    if body.get("logprobs") and fault != "no logprobs":
        choice["logprobs"] = {"content": [{"token": "a", "logprob": -0.1, "top_logprobs": [{}, {}]}]}
    if (fault not in ("no tools", "other tool") and body.get("tool_choice")) or (
        fault == "other tool" and "tools" in body
    ):
        wanted = body["tool_choice"] if fault != "other tool" else "required"
        name = "steelyard_time" if wanted == "required" else wanted["function"]["name"]
        choice["message"]["tool_calls"] = [{"id": "1", "function": {"name": name, "arguments": "{}"}}]
    counted = body["max_tokens"] * (n_choices if fault != "counts one" else 1)
    usage = {"prompt_tokens": 5, "completion_tokens": counted, "total_tokens": 5 + counted}
    if fault == "no finish":
        choice["finish_reason"] = None
    return completion(choices=[choice] * n_choices, usage=usage if fault != "no usage" else None, model=body["model"])


def probed(play: Play, *, models: Any = ({"id": "m", "max_model_len": CONTEXT},), **options: Any) -> Probe:
    """The probe of a server that plays so."""

    async def call(url: str) -> Probe:
        endpoint = Endpoint(url, "m", CANARY)
        try:
            return await probe_endpoint(endpoint, **options)
        finally:
            await endpoint.close()

    with Whole(play, models=models) as server:
        return asyncio.run(call(server.url))


def states(probe: Probe) -> dict[str, str]:
    """Finding's name to state."""
    return {finding.name: finding.state for finding in probe.findings}


def test_a_server_that_honours_everything_works_in_every_line() -> None:
    """Seventeen settings; echo and unknown fields are refused there, and that is said. [O-19]"""
    probe = probed(playing())
    refused = {"echo": "refused", "unknown fields": "refused"}
    assert states(probe) == dict.fromkeys(states(probe), "works") | refused
    assert 17 == len(probe.findings)
    assert (18, "full", "m") == (probe.requests, probe.depth, probe.model)


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("no seed", {"seed": "not honoured"}),
        (
            "restless",
            {"seed": "not honoured", "repeatable alone": "not honoured", "repeatable at once": "not honoured"},
        ),
        ("no stop", {"stop": "not honoured"}),
        ("one choice", {"n": "not honoured", "usage of n": "unknown"}),
        ("counts one", {"usage of n": "not honoured"}),
        ("no usage", {"usage": "not honoured", "usage of n": "unknown"}),
        ("no finish", {"finish_reason": "not honoured", "usage of n": "unknown"}),
        ("no logprobs", {"logprobs": "not honoured"}),
        ("no tools", {"tool_choice required": "not honoured", "tool_choice named": "not honoured"}),
        ("other tool", {"tool_choice named": "not honoured"}),
        ("free text", {"json_schema": "not honoured"}),
        ("no schema", {"json_schema": "refused"}),
        ("any model", {"model name": "not honoured"}),
        ("any field", {"echo": "not honoured", "unknown fields": "not honoured"}),
        ("odd words", {"context error": "not honoured"}),
    ],
)
def test_one_fault_changes_its_own_lines(fault: str, expected: dict[str, str]) -> None:
    """What is accepted and not done is told apart from what is refused. [O-19]"""
    good = dict.fromkeys(states(probed(playing())), "works") | {"echo": "refused", "unknown fields": "refused"}
    found = states(probed(playing(fault)))
    assert expected == {name: state for name, state in found.items() if state != good[name]}


def test_a_model_that_the_endpoint_does_not_list_is_said() -> None:
    """With the names that it does list. [O-19]"""
    assert "not honoured" == states(probed(playing(), models=[{"id": "other"}], depth="light"))["listed models"]
    assert "unknown" == states(probed(playing(), models=None, depth="light"))["listed models"]


@pytest.mark.parametrize("models", [[{"id": "m"}], [{"id": "m", "max_model_len": 131072}]])
def test_a_context_that_is_not_known_or_long_is_not_tried(models: list[dict[str, Any]]) -> None:
    """A paid endpoint is not sent a hundred thousand tokens. [O-19]"""
    assert "unknown" == states(probed(playing(), models=models))["context error"]


@pytest.mark.parametrize(
    "step",
    [
        Step(act="hang"),
        Step(act="half", body=b"{"),
        Step(act="reset"),
        refusal(500, "boom"),
        refusal(429, "slow", Retry_After="3600"),
        said(200, b"{}"),
        said(200, b"[" * 100_000),
    ],
    ids=["hang", "half", "reset", "500", "429", "no-choices", "deep"],
)
def test_what_breaks_is_unknown_and_not_refused(step: Step) -> None:
    """No line claims what was not seen, and the probe ends in its time. [O-19]"""
    started = time.monotonic()
    probe = probed(lambda _: step, depth="light", timeout_s=0.3, total_s=0.5)
    assert {"unknown"} == {state for name, state in states(probe).items() if name != "listed models"}
    assert time.monotonic() - started < 30


@pytest.mark.parametrize("status", [401, 403, 404])
def test_an_endpoint_that_refuses_every_call_stops_the_probe_in_its_words(status: int) -> None:
    """There is nothing to find out. [O-19]"""
    with pytest.raises(PermanentError, match=f"answered {status}: no \\*\\*\\*API key\\*\\*\\* here"):
        probed(lambda _: refusal(status, f"no {CANARY} here"))


def test_the_key_is_in_no_probe() -> None:
    """Not where a model, a list of models or a refusal repeats it. [S-9]"""
    listed = [{"id": "m"}, {"id": CANARY}]
    for play in (lambda _: reply(CANARY), lambda _: refusal(400, CANARY)):
        probe = probed(play, models=listed)
        assert CANARY not in msgspec.json.encode(probe).decode()


def test_a_runs_probe_is_light_and_taken_from_the_cache_for_a_day(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Three requests the first time, none the second, again when a day has passed. [O-19]"""
    monkeypatch.setenv("STEELYARD_CACHE", str(tmp_path))
    calls: list[int] = []

    async def call(url: str, facts: dict[str, Any]) -> dict[str, Any]:
        pool = Pool([Endpoint(url, "m", CANARY)])
        try:
            return await probe_for_run(pool, facts)
        finally:
            await pool.close()

    with Whole(playing(calls=calls)) as server:
        first = asyncio.run(call(server.url, {"servers": 1}))
        second = asyncio.run(call(server.url, {}))
        assert (3, "light", False, True) == (len(calls), first["depth"], first["cached"], second["cached"])
        assert first["findings"] == second["findings"]
        asyncio.run(call(server.url, {"engine_version": "2"}))
        assert 6 == len(calls)
        for path in (tmp_path / "probes").iterdir():
            os.utime(path, (time.time() - FRESH_S - 1,) * 2)
        asyncio.run(call(server.url, {}))
        assert 9 == len(calls)
        for path in (tmp_path / "probes").iterdir():
            path.write_text("{broken")
        assert asyncio.run(call(server.url, {}))["cached"] is False
    json.dumps(first)


def test_a_child_of_ours_is_known_by_its_weights_and_not_by_its_port(tmp_path: Path) -> None:
    """Each start has another port. [O-19]"""
    two = [Endpoint(f"http://127.0.0.1:{port}", "m", "") for port in (1, 2)]
    embedded = {cached_at(one, {"weights_sha256": "a", "engine_version": "1"}) for one in two}
    remote = {cached_at(one, {}) for one in two}
    assert (1, 2) == (len(embedded), len(remote))


def test_a_probe_never_fails_a_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing answers, the cache is a file, the run has caps: each is said in its place; a script has no endpoint."""
    monkeypatch.setenv("STEELYARD_CACHE", str(tmp_path / "file"))
    (tmp_path / "file").write_text("")

    async def call() -> list[dict[str, Any]]:
        gone = Endpoint("http://127.0.0.1:1", "m", "")
        found = [
            await probe_for_run(gone, {}),
            await probe_for_run(Capped(gone, Caps(max_requests=1)), {}),
            await probe_for_run(Scripted(["x"]), {}),
            await probe_for_run(gone, {"odd": object()}),
        ]
        await gone.close()
        return found

    dead, capped, scripted, odd = asyncio.run(call())
    assert "PermanentError: http://127.0.0.1:1/v1 cannot be reached" in dead["failed"]
    assert "the run has caps" in capped["skipped"]
    assert ({}, ["failed"]) == (scripted, list(odd))
