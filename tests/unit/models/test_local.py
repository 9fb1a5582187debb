"""What a model in this process says before any weights are read; with weights: tests/end_to_end/test_local_model.py."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from steelyard.errors import CallError, InputError, ModelError, SteelyardError
from steelyard.models.batches import Batches, Decoding
from steelyard.models.hf import open_local
from steelyard.models.local import Local
from steelyard.models.open import open_model
from steelyard.ports import Sampling, ToolSpec

TOKENIZER = SimpleNamespace(pad_token=None, eos_token="<end>")  # what is looked at before a prompt is rendered


def opened(spec: str) -> None:
    """Open a model by its name."""
    asyncio.run(open_model(spec))


def test_weights_that_were_not_pulled_name_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A name of the weights table is the same weights in this process [T-34]."""
    monkeypatch.setenv("STEELYARD_CACHE", str(tmp_path))
    with pytest.raises(SteelyardError, match="steelyard models pull smollm2-135m"):
        opened("hf:smollm2-135m")


def test_an_unknown_name_gets_the_nearest() -> None:
    """As for embedded models [T-34]."""
    with pytest.raises(InputError, match=r'hf:smollm-135m is neither a path nor .*did you mean "smollm2-135m"\?'):
        opened("hf:smollm-135m")


def test_a_folder_without_weights_says_what_was_expected(tmp_path: Path) -> None:
    """Pickled weights are not looked for [T-34]."""
    (tmp_path / "pytorch_model.bin").write_bytes(b"x")
    with pytest.raises(InputError, match=r"expected a folder with config.json and \*.safetensors files"):
        opened(f"hf:{tmp_path}")


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The command to install it is in the message [T-34]."""
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"needs torch and transformers: pip install 'steelyard\[hf\]'"):
        opened(f"hf:{tmp_path}")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: Batches(None, TOKENIZER, 0), "batch_size must be a whole number of at least 1, got 0"),
        (lambda: Batches(None, TOKENIZER, 2.5), "batch_size must be a whole number of at least 1, got 2.5"),
        (lambda: open_local("x", batch_size=0), "batch_size must be at least 1, got 0"),
        (lambda: open_local("x", threads=0), "threads must be at least 1, got 0"),
        (lambda: Decoding(max_new_tokens=0), "max_new_tokens must be at least 1, got 0"),
        (lambda: Decoding(temperature=-1.0), "temperature must be 0 or more and finite, got -1"),
        (lambda: Batches(None, SimpleNamespace(pad_token=None, eos_token=None), 1), "neither a pad nor an end token"),
    ],
)
def test_a_wrong_argument_is_refused_with_its_value(wrong: Any, words: str) -> None:
    """At construction [T-34]."""
    with pytest.raises(InputError, match=words):
        wrong()


def test_tools_and_schemas_are_refused_call_by_call() -> None:
    """With the protocol that works instead [T-34]."""

    async def calls() -> list[str]:
        local = Local(None, TOKENIZER, name="hf:test", facts={})
        words = []
        for offer in ({"tools": [ToolSpec("t", "d", {})]}, {"response_format": {"type": "json_object"}}):
            with pytest.raises(CallError) as caught:
                await local.generate([], Sampling(), **offer)  # type: ignore[arg-type]
            words.append(str(caught.value))
        await local.close()
        return words

    tools, schema = asyncio.run(calls())
    assert "does not offer tools (use --protocol tagged)" in tools
    assert "does not offer a response format" in schema


def test_sampling_that_a_call_leaves_open_is_the_models_own() -> None:
    """As the makers ship it when they sample, else greedy; a given temperature of 0 wins [O-14]."""
    shipped = SimpleNamespace(do_sample=True, temperature=0.7, top_p=0.8, top_k=20)
    card = Local(SimpleNamespace(generation_config=shipped), TOKENIZER, name="hf:test", facts={})
    plain = Local(SimpleNamespace(), TOKENIZER, name="hf:test", facts={})
    assert Sampling(0.7, 0.8, 20, 512) == card._resolved(Sampling())
    assert Sampling(0.7, 0.5, 20, 9) == card._resolved(Sampling(top_p=0.5, max_tokens=9))
    assert Sampling(0.0, max_tokens=512) == card._resolved(Sampling(temperature=0.0))
    assert Sampling(0.0, max_tokens=512) == plain._resolved(Sampling())


def test_opening_loads_no_torch() -> None:
    """The modules of this room stay light until weights are read [T-34]."""
    code = "import sys, steelyard.models.hf, steelyard.scoring; print({'torch', 'transformers'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "set()" == done.stdout.strip()
