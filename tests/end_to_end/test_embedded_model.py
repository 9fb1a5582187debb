"""A real small model, pulled and served from this machine.

Skipped with the reason where the weights or the engine cannot be had; under CI that is a failure.
"""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from steelyard.attempt import Message, ModelOutput
from steelyard.errors import ModelError
from steelyard.models.embedded import start_embedded
from steelyard.models.open import Embedded, open_model
from steelyard.models.weights import WEIGHTS, pull
from steelyard.ports import Sampling

pytestmark = pytest.mark.model
NAME = "smollm2-135m"


def unless_in_ci(reason: str) -> None:
    """Skip here, fail in CI."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module", autouse=True)
def weights() -> None:
    """The weights, in the user's cache, and the engine."""
    try:
        pull(NAME)
    except ModelError as error:
        unless_in_ci(str(error))
    if subprocess.run([sys.executable, "-c", "import xllamacpp"], capture_output=True, check=False).returncode:
        unless_in_ci("xllamacpp cannot be imported here")


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
