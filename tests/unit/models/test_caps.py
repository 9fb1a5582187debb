"""Caps on requests, tokens and money."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from steelyard.attempt import Message, ModelOutput, Usage
from steelyard.errors import CapReachedError, FormatError, InputError
from steelyard.models.caps import Capped, Caps, Price, Spent, read_price, spent_on
from steelyard.models.scripted import Scripted
from steelyard.ports import Sampling

HI = [Message("user", "Hi")]
COUNTED = ModelOutput("scripted", ["ok"], usage=Usage(60, 40, 100))


def calls_until_cap(caps: Caps, output: ModelOutput = COUNTED, spent: Spent | None = None) -> tuple[int, str]:
    """How many of ten calls were made, and the words of the cap."""

    async def call() -> tuple[int, str]:
        made, model = 0, Capped(Scripted(lambda _messages, _seed: output), caps, spent)
        try:
            for _ in range(10):
                await model.generate(HI, Sampling())
                made += 1
        except CapReachedError as reached:
            return made, str(reached)
        return made, ""

    return asyncio.run(call())


@pytest.mark.parametrize(
    ("caps", "made", "words"),
    [
        (Caps(max_requests=3), 3, "the cap of 3 requests is reached"),
        (Caps(max_tokens=250), 3, "the cap of 250 tokens over the whole run is reached"),
        (Caps(max_cost=0.001, price=Price(1.0, 10.0)), 3, "the cap of 0.001 in money is reached"),
        (Caps(max_requests=50, max_tokens=5000), 10, ""),
    ],
)
def test_no_call_is_made_once_a_cap_is_reached(caps: Caps, made: int, words: str) -> None:
    """The reply that crosses a cap is kept; the next call is not made. [O-25]"""
    got = calls_until_cap(caps)
    assert made == got[0]
    assert got[1].startswith(words)


def test_what_a_resumed_run_has_spent_counts() -> None:
    """Caps are of the whole run. [O-25]"""
    assert 1 == calls_until_cap(Caps(max_tokens=250), spent=spent_on([COUNTED, COUNTED]))[0]
    assert 2 == calls_until_cap(Caps(max_requests=3), spent=spent_on([COUNTED]))[0]
    assert 1 == calls_until_cap(Caps(max_requests=3), spent=spent_on([COUNTED, None]))[0]
    assert 0 == calls_until_cap(Caps(max_tokens=9_999), spent=spent_on([ModelOutput("scripted", ["ok"])]))[0]


def test_an_endpoint_that_counts_no_tokens_cannot_be_held_to_a_cap_on_them() -> None:
    """Spending on without knowing what was spent is refused after the first such reply. [O-25]"""
    made, words = calls_until_cap(Caps(max_tokens=10_000), ModelOutput("scripted", ["ok"]))
    assert 1 == made
    assert "does not say how many tokens" in words
    assert 10 == calls_until_cap(Caps(max_requests=20), ModelOutput("scripted", ["ok"]))[0]


def test_a_price_table_is_read_and_checked(tmp_path: Path) -> None:
    """Prices are the user's, per million tokens; a missing model names the nearest. [O-25]"""
    table = tmp_path / "prices.json"
    table.write_text('{"model-a": {"input": 0.15, "output": 0.6}}')
    assert Price(0.15, 0.6) == read_price(table, "model-a")
    assert 0.75 == pytest.approx(Spent(2, 1_000_000, 1_000_000).cost(read_price(table, "model-a")))
    with pytest.raises(InputError, match='did you mean "model-a"'):
        read_price(table, "model-b")
    table.write_text('{"model-a": {"input": -1, "output": 0}}')
    with pytest.raises(FormatError):
        read_price(table, "model-a")


@pytest.mark.parametrize("caps", [{"max_requests": 0}, {"max_tokens": -1}, {"max_cost": 1.0}])
def test_a_cap_that_means_nothing_is_refused(caps: dict[str, float]) -> None:
    """Zero, negative, and money without a price. [O-25]"""
    with pytest.raises(InputError):
        Caps(**caps)
