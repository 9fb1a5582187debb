"""A probe of an endpoint: which settings it honours, as a plain record that every run keeps.

`probe_endpoint` asks everything (some twenty short requests, for `steelyard doctor endpoint`), or only what a run needs
most: listed models, seed, usage and finish reason, by three requests. A run takes a probe of the same endpoint, model
and server from the user's cache while it is younger than a day.
Not covered: the other servers of a pool; the first stands for all, which must be alike anyway.
Easy to break: a probe must never make a run fail. What goes wrong is written down in its place.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from steelyard.canonical import digest
from steelyard.errors import PermanentError
from steelyard.models import probe_checks as checks
from steelyard.models.caps import Capped
from steelyard.models.probe_checks import Asker, Finding, Reply
from steelyard.models.weights import cache_folder
from steelyard.ports import Model
from steelyard.store import write_json

if TYPE_CHECKING:  # it brings the HTTP client, which a scripted run does without
    from steelyard.models.endpoint import Endpoint

FRESH_S = 24 * 3600.0
"""How long a probe in the cache stands for its endpoint."""

_CAPPED = "the run has caps, which a probe would spend on; steelyard doctor endpoint makes one"


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """What was found at one endpoint; `made` is in UTC, `findings` in the order in which they were asked."""

    base_url: str
    model: str
    depth: Literal["light", "full"]
    made: str
    requests: int
    seconds: float
    findings: list[Finding]


async def probe_endpoint(
    endpoint: Endpoint,
    *,
    facts: Mapping[str, Any] | None = None,
    depth: Literal["light", "full"] = "full",
    timeout_s: float = 30.0,
    total_s: float = 240.0,
) -> Probe:
    """Probe an endpoint; `facts` are what is known of its server, as `describe` tells them.

    Each request has `timeout_s`, the whole `total_s`; what is not answered by then is `unknown`. PermanentError when
    not even the first request can be made: nothing answers, the key is refused, or it is no such API.
    """
    started = time.monotonic()
    asker = Asker(endpoint, timeout_s=timeout_s, total_s=total_s)
    listed = await endpoint.listed()
    findings, first = await checks.check_seed(asker)
    _stop_where_nothing_works(endpoint, first)
    if first.failure is not None and first.failure.kind == "timeout":
        asker.stop()
    if depth == "full":
        own = next((entry for entry in listed if entry.get("id") == endpoint.id), {})
        findings += await _the_rest(asker, own, facts or {})
    return Probe(
        base_url=endpoint.base_url,
        model=endpoint.id,
        depth=depth,
        made=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        requests=asker.requests,
        seconds=round(time.monotonic() - started, 3),
        findings=[_listed(listed, endpoint.id), *findings],
    )


async def probe_for_run(model: Model, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The probe that a run keeps, as plain data: from the cache, or a light one; {} for a model without endpoint.

    Never raises for what an endpoint does; `failed` or `skipped` then say why there is no probe.
    """
    endpoint: Endpoint | None = getattr(model, "endpoint", None)
    if endpoint is None:
        return {}
    try:
        path = cached_at(endpoint, facts)
        if (known := _read(path)) is not None:
            return {**msgspec.to_builtins(known), "cached": True}
        if isinstance(model, Capped):
            return {"skipped": _CAPPED}
        probe = await probe_endpoint(endpoint, facts=facts, depth="light", timeout_s=10.0, total_s=20.0)
        keep(path, probe)
        return {**msgspec.to_builtins(probe), "cached": False}
    except Exception as error:  # noqa: BLE001 - what informs about a run must not end it, and says what it met
        return {"failed": f"{type(error).__name__}: {error}"}


def cached_at(endpoint: Endpoint, facts: Mapping[str, Any]) -> Path:
    """Where the cache keeps a probe: by model and server, and by address unless the server is a child of ours."""
    same = {"model": endpoint.id, "facts": {name: value for name, value in facts.items() if name != "servers"}}
    if "weights_sha256" not in facts:
        same["base_url"] = endpoint.base_url
    return cache_folder() / "probes" / f"{digest(same)[:32]}.json"


def keep(path: Path, probe: Probe) -> None:
    """Put a probe into the cache unless it found nothing out; a cache that cannot be written is no reason to fail."""
    if all(line.state == "unknown" for line in probe.findings[1:]):
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, probe)
    except OSError:
        return


def _read(path: Path) -> Probe | None:
    """A probe of the cache that is young enough."""
    try:
        if not 0 <= time.time() - path.stat().st_mtime < FRESH_S:
            return None
        return msgspec.json.decode(path.read_bytes(), type=Probe)
    except (OSError, msgspec.DecodeError, UnicodeError):
        return None


def _stop_where_nothing_works(endpoint: Endpoint, first: Reply) -> None:
    """PermanentError for what every further request would meet; a refused setting (400, 422) is a finding."""
    failure = first.failure
    if failure is None or first.status in (400, 422):
        return
    if failure.fate == "run" or (failure.kind == "connection" and not endpoint.answered):
        raise PermanentError(f"{endpoint.base_url} {failure.words}", kind=failure.kind)


async def _the_rest(asker: Asker, listed: Mapping[str, Any], facts: Mapping[str, Any]) -> list[Finding]:
    repeats, greedy = await checks.check_determinism(asker)
    return [
        *repeats,
        await checks.check_stop(asker, greedy),
        *await checks.check_choices(asker),
        await checks.check_schema(asker),
        *await checks.check_tool_choice(asker),
        *await checks.check_other_fields(asker),
        await checks.check_model_name(asker),
        await checks.check_context(asker, listed, facts),
    ]


def _listed(entries: list[dict[str, Any]], model: str) -> Finding:
    names = [str(entry.get("id")) for entry in entries]
    if not names:
        return Finding("listed models", "unknown", "GET /models names none")
    seen = f"{len(names)}: {', '.join(names[:5])}{' ...' if len(names) > 5 else ''}"
    if model in names:
        return Finding("listed models", "works", seen)
    return Finding("listed models", "not honoured", f'"{model}" is not among {seen}')
