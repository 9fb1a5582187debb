"""The child of an embedded model, played by a small engine of ours: what is set for it, and how its end is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.errors import ModelError
from steelyard.models.embedded import start_embedded

ENGINE = """
import os, signal
class _Bag:
    def __getattr__(self, name):
        bag = _Bag()
        object.__setattr__(self, name, bag)
        return bag
CommonParams = _Bag
def Server(params):
    raise RuntimeError(f"OMP_WAIT_POLICY={os.environ.get('OMP_WAIT_POLICY')} slots={params.n_parallel} "
                       f"threads={params.cpuparams.n_threads} context={params.n_ctx} cache={params.cache_prompt}")
"""


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that stands for weights, and the folder that the child imports its engine from."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "tiny.gguf").write_bytes(b"x")
    return tmp_path / "tiny.gguf"


@pytest.mark.parametrize(
    ("deterministic", "expected"),
    [
        (False, "OMP_WAIT_POLICY=passive slots=3 threads=2 context=300 cache=True"),
        (True, "OMP_WAIT_POLICY=passive slots=1 threads=1 context=100 cache=False"),
    ],
)
def test_the_engine_gets_its_settings(weights: Path, deterministic: bool, expected: str) -> None:
    """Waiting threads do not spin, a slot has the whole context, deterministic is one slot without a cache. [O-19]"""
    (weights.parent / "xllamacpp.py").write_text(ENGINE)
    with pytest.raises(ModelError, match="ended while starting the model") as caught:
        start_embedded(weights, context_tokens=100, slots=3, threads=2, deterministic=deterministic)
    assert expected in str(caught.value)


def test_a_cpu_without_the_engines_instructions_is_told_so(weights: Path) -> None:
    """The child dies of an illegal instruction while it loads the engine. [T-14]"""
    (weights.parent / "xllamacpp.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGILL)\n")
    with pytest.raises(ModelError, match=r"lacks instructions .* \(AVX2 on x86-64\); use --base-url"):
        start_embedded(weights)


def test_an_engine_that_dies_while_it_is_loaded_leaves_its_last_words(weights: Path) -> None:
    """The exit code and the log's end are in the error. [T-14]"""
    (weights.parent / "xllamacpp.py").write_text("import sys\nsys.exit('no such library')\n")
    with pytest.raises(ModelError, match=r"ended while loading its engine \(exit code 1\)[\s\S]*no such library"):
        start_embedded(weights)
