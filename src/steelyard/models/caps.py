"""What a run may spend at a model: requests, tokens and money, counted over the whole run, resumed parts included.

A cap is checked before each call, so a call that is in flight when it is reached is still paid for and kept. Money
is counted with prices that the user gives, in the user's currency; Steelyard knows no prices.
Not covered: retries of a call, which are not counted as requests of their own, and what an endpoint charges beside
tokens.
Easy to break: an endpoint that does not say its tokens. Then a cap on tokens or money cannot be held, and no further
call is made after the first such reply.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from steelyard.attempt import Message, ModelOutput, Usage
from steelyard.errors import CapReachedError, FormatError, InputError, did_you_mean
from steelyard.ports import Model, Sampling, ToolSpec


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of one million tokens, in the user's currency; 0 or more."""

    input: float
    output: float

    def __post_init__(self) -> None:
        if not (self.input >= 0 and self.output >= 0):
            raise InputError(f"a price must be 0 or more, got input {self.input} and output {self.output}")


class Caps(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Upper limits of one run; None is no limit. `max_cost` needs `price`."""

    max_requests: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    price: Price | None = None

    def __post_init__(self) -> None:
        for name in ("max_requests", "max_tokens", "max_cost"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InputError(f"{name} must be above 0, got {value}")
        if self.max_cost is not None and self.price is None:
            raise InputError("a cap on money needs the model's price: give a price table")


def read_price(path: Path, model: str) -> Price:
    """A model's price from a JSON table {model: {"input": 0.15, "output": 0.6}} of prices per million tokens."""
    try:
        table = msgspec.json.decode(path.read_bytes(), type=dict[str, Price])
    except OSError as error:
        raise InputError(f"cannot read the price table {path}: {error.strerror}") from error
    except (msgspec.DecodeError, InputError) as error:
        raise FormatError(
            path, None, f'not a price table {{"MODEL": {{"input": 0.15, "output": 0.6}}}}: {error}'
        ) from error
    if model not in table:
        raise InputError(f'{path} has no price for "{model}"{did_you_mean(model, table)}')
    return table[model]


class Spent(msgspec.Struct):
    """What a run has spent so far; tokens as the endpoint counted them."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    uncounted: bool = False
    """Whether a reply came whose tokens the endpoint did not say."""

    def add(self, usage: Usage | None) -> None:
        """Count one reply."""
        self.requests += 1
        if usage is None or usage.input_tokens is None or usage.output_tokens is None:
            self.uncounted = True
            return
        self.input_tokens += usage.input_tokens
        self.output_tokens += usage.output_tokens

    def cost(self, price: Price) -> float:
        """In the currency of the price."""
        return (self.input_tokens * price.input + self.output_tokens * price.output) / 1_000_000


def spent_on(calls: Iterable[ModelOutput | None]) -> Spent:
    """What stored calls have cost, for a run that is resumed; None is one that failed and took no tokens."""
    spent = Spent()
    for output in calls:
        if output is None:
            spent.requests += 1
        else:
            spent.add(output.usage)
    return spent


class Capped:
    """A model that is not called any more once a cap is reached. Implements `ports.Model`."""

    def __init__(self, model: Model, caps: Caps, spent: Spent | None = None) -> None:
        self._model, self._caps = model, caps
        self.spent = spent or Spent()
        self._sent = self.spent.requests

    @property
    def id(self) -> str:
        return self._model.id

    @property
    def endpoint(self) -> Any:
        """The endpoint behind it, which knows no caps; None when there is none."""
        return getattr(self._model, "endpoint", None)

    async def describe(self) -> dict[str, Any]:
        """What the model says of itself."""
        return await self._model.describe()

    async def generate(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        *,
        seed: int | None = None,
        tools: Sequence[ToolSpec] = (),
        response_format: Mapping[str, Any] | None = None,
    ) -> ModelOutput:
        """One choice, or CapReachedError before it is asked for."""
        if reached := self._reached():
            raise CapReachedError(reached)
        self._sent += 1
        output = await self._model.generate(messages, sampling, seed=seed, tools=tools, response_format=response_format)
        self.spent.add(output.usage)
        return output

    async def close(self) -> None:
        """Release the model."""
        await self._model.close()

    def _reached(self) -> str:
        """Why no further call may be made; "" while it may."""
        caps, spent = self._caps, self.spent
        cap = ""
        if caps.max_requests is not None and self._sent >= caps.max_requests:
            cap = f"{caps.max_requests} requests"
        elif caps.max_tokens is None and caps.max_cost is None:
            return ""
        elif spent.uncounted:
            return (
                f"{self.id} does not say how many tokens a reply took, so a cap on tokens or money cannot be held; "
                "use a cap on requests"
            )
        elif caps.max_tokens is not None and spent.input_tokens + spent.output_tokens >= caps.max_tokens:
            cap = f"{caps.max_tokens} tokens over the whole run"
        elif caps.max_cost is not None and caps.price is not None and spent.cost(caps.price) >= caps.max_cost:
            cap = f"{caps.max_cost:g} in money"
        return f"the cap of {cap} is reached; go on with a higher one and --resume" if cap else ""
