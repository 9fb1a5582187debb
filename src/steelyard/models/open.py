"""Opening a model by its name on the command line: an endpoint, an embedded model, a script, or one in this process.

`NAME` with a base URL is an endpoint's model, with several URLs a pool; `http(s)://...` with `model=` is the same;
`NAME` or `embedded:NAME` of the weights table (or `embedded:FILE.gguf`) is served from this machine, by one process or
by several; `scripted:FILE` answers from a file; `hf:PATH` is loaded into this process (see `hf`).
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

    @property
    def endpoint(self) -> Endpoint:
        """What a probe talks to."""
        return self._endpoint

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
    base_url: str | Sequence[str] | None = None,
    model: str | None = None,
    context_tokens: int = 4096,
    slots: int = 4,
    threads: int | None = None,
    processes: int = 1,
    deterministic: bool = False,
    **endpoint_options: Any,
) -> Model:
    """The model that `spec` names (see the module); `endpoint_options` are Endpoint's keyword arguments.

    InputError for a name that nothing knows. `context_tokens`, `slots`, `threads` and `processes` are for embedded
    models only; with `deterministic` a process answers one call at a time, so more processes are the way to go faster.
    `deterministic` cannot be enforced on somebody else's endpoint and changes nothing there.
    """
    if spec.startswith(("http://", "https://")):
        base_url, spec = spec, model or ""
        if not spec:
            raise InputError(f"which model at {base_url}? give its name: --base-url {base_url} --model NAME")
    if base_url:
        return _endpoints([base_url] if isinstance(base_url, str) else base_url, spec, endpoint_options)
    if spec.startswith("scripted:"):
        from steelyard.models.scripted import scripted_from_file

        return scripted_from_file(spec.removeprefix("scripted:"))
    if spec.startswith("hf:"):
        from steelyard.models.hf import open_local

        path = spec.removeprefix("hf:")
        return await asyncio.to_thread(open_local, path, threads=threads, deterministic=deterministic)
    name = spec.removeprefix("embedded:")
    if name not in WEIGHTS and not (spec.startswith("embedded:") and Path(name).is_file()):
        known = (*WEIGHTS, "scripted:FILE", "embedded:FILE.gguf", "hf:PATH")
        raise InputError(f'no model is named "{spec}"{did_you_mean(name, known)} (an endpoint needs --base-url)')
    if processes < 1:
        raise InputError(f"processes must be at least 1, got {processes}")
    servers = {"context_tokens": context_tokens, "slots": slots, "threads": threads, "deterministic": deterministic}
    if processes == 1:
        return await _embedded(name, servers, endpoint_options)
    return await _embedded_pool(name, processes, servers, endpoint_options)


def _endpoints(addresses: Sequence[str], model: str, options: dict[str, Any]) -> Model:
    """One endpoint, or a pool of several that serve the same model."""
    from steelyard.models.endpoint import Endpoint
    from steelyard.models.pool import Pool

    models = [Endpoint(address, model, **options) for address in addresses]
    return models[0] if len(models) == 1 else Pool(models)


async def _embedded_pool(name: str, processes: int, servers: dict[str, Any], options: dict[str, Any]) -> Model:
    """Several child processes of the same weights; when one does not start, none is left behind."""
    from steelyard.models.pool import Pool

    started: list[Model] = []
    try:
        while len(started) < processes:
            started.append(await _embedded(name, servers, options))
    except BaseException:
        await asyncio.gather(*(model.close() for model in started))
        raise
    return Pool(started)


async def _embedded(name: str, servers: dict[str, Any], options: dict[str, Any]) -> Embedded:
    from steelyard.models.embedded import start_embedded
    from steelyard.models.endpoint import Endpoint

    server = await asyncio.to_thread(start_embedded, name, **servers)
    given = {**options, "api_key": server.api_key}
    if servers["deterministic"]:
        given["most_in_flight"] = 1
    given["extra_body"] = {**server.extra_body, **options.get("extra_body", {})}
    return Embedded(server, Endpoint(server.base_url, server.model_id, **given))
