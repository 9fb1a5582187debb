"""Opening a model by its name on the command line: an endpoint, an embedded model, or a script.

`NAME` with a base URL is an endpoint's model; `http(s)://...` with `model=` the same; `NAME` or `embedded:NAME` of the
weights table (or `embedded:FILE.gguf`) is served from this machine; `scripted:FILE` answers from a file.
Easy to break: the child of an embedded model lives as long as what is returned here; `close` ends both.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.attempt import Message, ModelOutput
from steelyard.errors import InputError, did_you_mean
from steelyard.models.weights import WEIGHTS
from steelyard.ports import Model, Sampling, ToolSpec

if TYPE_CHECKING:  # the HTTP client is loaded only for those who call one
    from steelyard.models.embedded import EmbeddedServer
    from steelyard.models.endpoint import Endpoint


class Embedded:
    """An endpoint together with the child process behind it. Implements `ports.Model`."""

    def __init__(self, server: EmbeddedServer, endpoint: Endpoint) -> None:
        self._server = server
        self._endpoint = endpoint

    def __repr__(self) -> str:
        return f"Embedded({self._server!r})"

    @property
    def id(self) -> str:
        return self._endpoint.id

    @property
    def pid(self) -> int:
        return self._server.pid

    async def describe(self) -> dict[str, Any]:
        """Weights hash, engine, slots and context, and what the server lists."""
        return {**await self._endpoint.describe(), **self._server.describe}

    async def generate(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        *,
        seed: int | None = None,
        tools: Sequence[ToolSpec] = (),
        response_format: Mapping[str, Any] | None = None,
    ) -> ModelOutput:
        """One choice from the child."""
        return await self._endpoint.generate(
            messages, sampling, seed=seed, tools=tools, response_format=response_format
        )

    async def close(self) -> None:
        """Drop the connections and end the child."""
        await self._endpoint.close()
        await asyncio.to_thread(self._server.close)


async def open_model(
    spec: str,
    *,
    base_url: str | None = None,
    model: str | None = None,
    context_tokens: int = 4096,
    slots: int = 4,
    threads: int | None = None,
    deterministic: bool = False,
    **endpoint_options: Any,
) -> Model:
    """The model that `spec` names (see the module); `endpoint_options` are Endpoint's keyword arguments.

    InputError for a name that nothing knows. `context_tokens`, `slots` and `threads` are for embedded models only;
    `deterministic` cannot be enforced on somebody else's endpoint and changes nothing there.
    """
    if spec.startswith(("http://", "https://")):
        base_url, spec = spec, model or ""
        if not spec:
            raise InputError(f"which model at {base_url}? give its name: --base-url {base_url} --model NAME")
    if base_url is not None:
        from steelyard.models.endpoint import Endpoint

        return Endpoint(base_url, spec, **endpoint_options)
    if spec.startswith("scripted:"):
        from steelyard.models.scripted import scripted_from_file

        return scripted_from_file(spec.removeprefix("scripted:"))
    name = spec.removeprefix("embedded:")
    if name not in WEIGHTS and not (spec.startswith("embedded:") and Path(name).is_file()):
        known = (*WEIGHTS, "scripted:FILE", "embedded:FILE.gguf")
        raise InputError(f'no model is named "{spec}"{did_you_mean(name, known)} (an endpoint needs --base-url)')
    return await _embedded(name, context_tokens, slots, threads, deterministic, endpoint_options)


async def _embedded(
    name: str, context_tokens: int, slots: int, threads: int | None, deterministic: bool, options: dict[str, Any]
) -> Embedded:
    from steelyard.models.embedded import start_embedded
    from steelyard.models.endpoint import Endpoint

    server = await asyncio.to_thread(
        start_embedded, name, context_tokens=context_tokens, slots=slots, threads=threads, deterministic=deterministic
    )
    extra = {**server.extra_body, **options.pop("extra_body", {})}
    return Embedded(server, Endpoint(server.base_url, server.model_id, server.api_key, extra_body=extra, **options))
