"""What a model's name on the command line opens."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from steelyard.errors import InputError, SteelyardError
from steelyard.models.embedded import start_embedded
from steelyard.models.endpoint import Endpoint
from steelyard.models.open import open_model
from steelyard.models.scripted import Scripted
from steelyard.ports import Model


def opened(spec: str, **options: Any) -> Model:
    """The model, closed again."""

    async def call() -> Model:
        model = await open_model(spec, **options)
        await model.close()
        return model

    return asyncio.run(call())


@pytest.mark.parametrize(
    ("spec", "options"),
    [
        ("my-model", {"base_url": "http://localhost:8000"}),
        ("http://localhost:8000", {"model": "my-model"}),
        ("my-model", {"base_url": "http://localhost:8000", "retries": 1, "deterministic": True}),
    ],
)
def test_an_address_and_a_name_open_an_endpoint(spec: str, options: dict[str, Any]) -> None:
    """Either of the two may come first [T-14]."""
    model = opened(spec, **options)
    assert isinstance(model, Endpoint)
    assert ("my-model", "http://localhost:8000/v1") == (model.id, model.base_url)


def test_an_address_alone_asks_for_the_model() -> None:
    """The message holds the command [T-14]."""
    with pytest.raises(InputError, match="--base-url http://h/v1 --model NAME"):
        opened("http://h/v1")


def test_a_script_is_opened_by_its_prefix(tmp_path: Path) -> None:
    """`scripted:FILE` [O-7]."""
    (tmp_path / "r.jsonl").write_text('{"reply": "x"}\n')
    assert isinstance(opened(f"scripted:{tmp_path / 'r.jsonl'}"), Scripted)


@pytest.mark.parametrize("spec", ["smollm-135m", "embedded:smollm-135m"])
def test_an_unknown_name_gets_the_nearest(spec: str) -> None:
    """And is told that an endpoint needs its address [T-14]."""
    with pytest.raises(InputError, match=r'did you mean "smollm2-135m"\? \(an endpoint needs --base-url\)'):
        opened(spec)


def test_weights_that_were_not_pulled_name_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing is downloaded behind the user's back [T-14]."""
    monkeypatch.setenv("STEELYARD_CACHE", str(tmp_path))
    with pytest.raises(SteelyardError, match="steelyard models pull smollm2-135m"):
        opened("smollm2-135m")


@pytest.mark.parametrize("option", ["slots", "threads", "context_tokens"])
def test_an_embedded_setting_below_one_is_refused(option: str) -> None:
    """By name and value [T-14]."""
    with pytest.raises(InputError, match=f"{option} must be at least 1, got 0"):
        start_embedded("smollm2-135m", **{option: 0})
