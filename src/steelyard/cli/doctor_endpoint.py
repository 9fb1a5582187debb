"""What an endpoint does with the settings that a run relies on: some twenty short requests, and what was seen.

TARGET is the address of an OpenAI-compatible endpoint (then --model names the model, unless it lists just one), or the
name of an embedded model. `works`: seen to be honoured; `not honoured`: accepted and then not done; `refused`: the
endpoint says no; `unknown`: could not be found out. The result is kept for a day, and runs against the same endpoint
and model store it. Exit code 0 when the probe was made, whatever it found; 2 when nothing could be asked.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

import msgspec

from steelyard.errors import InputError
from steelyard.models.keys import find_key
from steelyard.models.open import open_model
from steelyard.models.probe import Probe, cached_at, keep, probe_endpoint


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `steelyard doctor endpoint`."""
    parser.add_argument("target", metavar="TARGET", help="address of an endpoint, or name of an embedded model")
    parser.add_argument("--model", metavar="M", help="the model's name at the endpoint")
    parser.add_argument("--api-key-file", type=Path, metavar="FILE", help="a file that holds the endpoint's key alone")
    parser.add_argument("--timeout", type=float, default=30.0, metavar="S", help="of one request (default 30)")
    parser.add_argument("--context-tokens", type=int, default=2048, help="context of an embedded model (default 2048)")
    parser.add_argument("--deterministic", action="store_true", help="an embedded model as --deterministic runs it")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Probe and print."""
    if not args.timeout > 0:
        raise InputError(f"--timeout must be above 0, got {args.timeout:g}")
    probe = asyncio.run(_probe(args))
    print(msgspec.json.encode(probe).decode() if args.json else _table(probe))
    return 0


async def _probe(args: argparse.Namespace) -> Probe:
    if args.target.startswith(("http://", "https://")):
        key = find_key(args.api_key_file)
        name = args.model or await _only_model(args.target, key)
        model = await open_model(name, base_url=args.target, api_key=key)
    else:
        options = {"context_tokens": args.context_tokens, "deterministic": args.deterministic}
        model = await open_model(args.target, **options)
    try:
        endpoint = getattr(model, "endpoint", None)
        if endpoint is None:
            raise InputError(f"{args.target} has no endpoint to probe")
        facts = await model.describe()
        probe = await probe_endpoint(endpoint, facts=facts, timeout_s=args.timeout, total_s=8 * args.timeout)
        keep(cached_at(endpoint, facts), probe)
        return probe
    finally:
        await model.close()


async def _only_model(address: str, key: str) -> str:
    """The one model that an endpoint lists; InputError when it lists none or several."""
    from steelyard.models.endpoint import Endpoint  # the HTTP client is loaded only for those who call one

    endpoint = Endpoint(address, "unnamed", key)
    try:
        names = [str(entry.get("id")) for entry in await endpoint.listed()]
    finally:
        await endpoint.close()
    if len(names) == 1:
        return names[0]
    listed = f"it lists {len(names)}: {', '.join(names[:8])}" if names else "it lists none, or does not answer"
    raise InputError(f"which model at {endpoint.base_url}? name it with --model ({listed})")


def _table(probe: Probe) -> str:
    width = max(len(finding.name) for finding in probe.findings)
    rows = [f"{f.name:<{width}}  {f.state:<12}  {' '.join(f.seen.split())}" for f in probe.findings]
    head = f"{probe.model} at {probe.base_url}, {probe.requests} requests in {probe.seconds:.1f} s"
    return "\n".join([head, "", *rows])
