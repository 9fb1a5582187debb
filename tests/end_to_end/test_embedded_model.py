"""A real small model, pulled, listed, served, probed and removed on this machine.

Skipped with the reason where the weights or the engine cannot be had; under CI that is a failure.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from conftest import need_embedded
from steelyard.attempt import Message, ModelOutput
from steelyard.errors import ModelError
from steelyard.models.embedded import start_embedded
from steelyard.models.endpoint import Endpoint
from steelyard.models.open import Embedded, open_model
from steelyard.models.weights import WEIGHTS, installed
from steelyard.ports import Sampling

pytestmark = pytest.mark.model
NAME = "smollm2-135m"


@pytest.fixture(scope="module", autouse=True)
def weights() -> None:
    """The weights, in the user's cache, and the engine."""
    need_embedded(NAME)


def is_alive(pid: int) -> bool:
    """Whether the process exists and is no zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not (stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z")


def test_a_chat_is_answered_with_usage_and_a_finish_reason_and_the_child_ends() -> None:
    """A whole ModelOutput, the weights' hash in the description, no process left [T-14, S-1]."""

    async def call() -> tuple[ModelOutput, dict[str, object], int]:
        model = await open_model(NAME, context_tokens=512, slots=2)
        assert isinstance(model, Embedded)
        try:
            output = await model.generate([Message("user", "Say hi.")], Sampling(temperature=0.0, max_tokens=8), seed=1)
            return output, await model.describe(), model.pid
        finally:
            await model.close()

    output, described, pid = asyncio.run(call())
    assert output.usage is not None
    assert (NAME, True, True) == (output.model, bool(output.texts[0]), output.finish_reasons[0] in ("stop", "length"))
    assert 0 < (output.usage.output_tokens or 0) <= 8
    assert (WEIGHTS[NAME].sha256, 2) == (described["weights_sha256"], described["slots"])
    assert not is_alive(pid)


def test_deterministic_mode_repeats_itself_and_follows_the_seed() -> None:
    """Equal seeds give equal texts whatever was asked between; another seed gives another [O-19]."""

    async def call() -> list[str]:
        model = await open_model(NAME, context_tokens=512, deterministic=True)
        try:
            texts = []
            for seed, question in (
                (1, "Tell a story."),
                (7, "Tell me of the sea."),
                (1, "Tell a story."),
                (2, "Tell a story."),
            ):
                sampling = Sampling(temperature=1.0, max_tokens=24)
                output = await model.generate([Message("user", question)], sampling, seed=seed)
                assert output.request["cache_prompt"] is False
                texts.append(output.texts[0])
            return texts
        finally:
            await model.close()

    first, _, again, other = asyncio.run(call())
    assert first == again
    assert first != other


def test_a_file_that_is_no_model_fails_with_the_childs_last_words(tmp_path: Path) -> None:
    """The engine's own log lines are in the error [T-14]."""
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"not a model")
    with pytest.raises(
        ModelError, match=r"ended while starting the model[\s\S]*broken\.gguf[\s\S]*Failed to init server"
    ):
        start_embedded(broken)


def test_the_key_is_in_no_process_list_and_no_log() -> None:
    """It travels by stdin [S-9]."""
    with start_embedded(NAME, context_tokens=512, slots=1) as server:
        listed = Path(f"/proc/{server.pid}/cmdline")
        shown = repr(server) + (listed.read_text() if listed.exists() else "") + server.log.read_text(errors="replace")
        assert server.api_key not in shown
        assert server.log.exists()
    assert not server.log.exists()


def test_the_child_ends_with_a_parent_that_is_killed() -> None:
    """Kill -9 of the parent leaves no server behind [T-14]."""
    code = (
        "import time\nfrom steelyard.models.embedded import start_embedded\n"
        f"print(start_embedded({NAME!r}, context_tokens=256, slots=1).pid, flush=True)\ntime.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        alive = is_alive(pid)
        parent.send_signal(signal.SIGKILL)
    for _ in range(100):
        if not is_alive(pid):
            break
        time.sleep(0.1)
    assert (True, False) == (alive, is_alive(pid))


def test_two_deterministic_processes_answer_as_one_does() -> None:
    """Four calls at once over two 1-slot processes give the texts that one process gives in turn. [O-19]"""
    asked = [(seed, question) for seed in (1, 2) for question in ("Tell a story.", "Tell me of the sea.")]

    async def texts(processes: int) -> tuple[list[str], list[int]]:
        model = await open_model(NAME, context_tokens=256, deterministic=True, processes=processes)
        try:
            calls = [
                model.generate([Message("user", question)], Sampling(temperature=1.0, max_tokens=12), seed=seed)
                for seed, question in asked
            ]
            together = processes > 1
            outputs = await asyncio.gather(*calls) if together else [await call for call in calls]
            facts = await model.describe()
            assert (1, 1, False) == (facts["slots"], facts["threads"], facts["cache_prompt"])
            return [output.texts[0] for output in outputs], [facts.get("servers", 1)]
        finally:
            await model.close()

    alone, one = asyncio.run(texts(1))
    beside, two = asyncio.run(texts(2))
    assert (alone, [1], [2]) == (beside, one, two)
    assert len(set(alone)) == 4


def test_a_model_is_put_into_a_cache_listed_and_removed(
    cli: Callable[..., CompletedProcess[str]], tmp_path: Path
) -> None:
    """By --from FILE, then list, a second pull and rm: each says what it did, the licence included. [T-14]"""
    source = installed(NAME)
    environment = {**os.environ, "STEELYARD_CACHE": str(tmp_path / "cache")}
    pulled = cli("models", "pull", NAME, "--from", source, env=environment).stdout
    assert ("licence Apache-2.0" in pulled, WEIGHTS[NAME].sha256[:12] in pulled) == (True, True)
    rows = json.loads(cli("models", "list", "--json", env=environment).stdout)["models"]
    (row,) = [row for row in rows if row["path"]]
    assert (NAME, WEIGHTS[NAME].sha256) == (row["name"], row["sha256"])
    assert "already here; nothing was fetched" in cli("models", "pull", NAME, env=environment).stdout
    assert "98 MB freed" in cli("models", "rm", NAME, env=environment).stdout
    assert f"{NAME}" in cli("models", "list", env=environment).stdout
    assert [] == list((tmp_path / "cache").iterdir())
    assert "0 MB freed" in cli("models", "rm", NAME, env=environment).stdout


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_served_model_answers_until_it_is_stopped(steelyard_command: list[str], ending: signal.Signals) -> None:
    """`models serve` prints address and key, asks for the key, and leaves no process behind. [T-14]"""

    async def ask(address: str, key: str) -> ModelOutput:
        endpoint = Endpoint(address, NAME, key, retries=0)
        try:
            return await endpoint.generate([Message("user", "Hi")], Sampling(max_tokens=4), seed=1)
        finally:
            await endpoint.close()

    command = [*steelyard_command, "models", "serve", NAME, "--slots", "1", "--context-tokens", "256"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as served:
        try:
            assert served.stdout is not None
            address = served.stdout.readline().split(" at ")[1].strip()
            key = served.stdout.readline().split()[1]
            usage = asyncio.run(ask(address, key)).usage
            with pytest.raises(ModelError, match="answered 401"):
                asyncio.run(ask(address, "another key"))
            served.send_signal(ending)
            assert served.wait(30) in (0, -signal.SIGTERM)
        finally:
            served.kill()
    assert usage is not None
    assert 0 < (usage.output_tokens or 0) <= 4
    for _ in range(100):
        try:
            asyncio.run(ask(address, key))
        except ModelError:
            break
        time.sleep(0.1)
    else:
        pytest.fail("the child still answers")


def test_the_doctor_of_an_embedded_model_finds_what_its_engine_ignores(
    cli: Callable[..., CompletedProcess[str]], tmp_path: Path
) -> None:
    """Seed, schema and context errors work; tool_choice, model name and echo do not; the probe is kept. [O-19]"""
    source = installed(NAME)
    assert source is not None
    (tmp_path / source.name).symlink_to(source)
    (tmp_path / f"{source.name}.ok").write_text(WEIGHTS[NAME].sha256)
    environment = {**os.environ, "STEELYARD_CACHE": str(tmp_path)}
    done = cli("doctor", "endpoint", NAME, "--context-tokens", 512, "--json", env=environment)
    found = {finding["name"]: finding["state"] for finding in json.loads(done.stdout)["findings"]}
    works = ("seed", "usage", "n", "stop", "logprobs", "json_schema", "context error")
    ignored = ("tool_choice required", "tool_choice named", "model name", "echo", "unknown fields", "usage of n")
    assert {"works"} == {found[name] for name in works}, found
    assert {"not honoured"} == {found[name] for name in ignored}, found
    (kept,) = (tmp_path / "probes").iterdir()
    assert json.loads(done.stdout) == json.loads(kept.read_text())
