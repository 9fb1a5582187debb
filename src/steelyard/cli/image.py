"""Images for the docker backend, built from this machine without a registry: build one, list them.

`python` is this Python with its standard library, a shell and a few dozen plain programs; `scratch` is one static
busybox. An image is recorded by its digest; building it again changes nothing while the machine's files are the same.
Engine: the `docker` on PATH, or the program that STEELYARD_DOCKER names.
"""

from __future__ import annotations

import argparse

import msgspec

from steelyard.sandbox.engine import RECIPES, find_engine
from steelyard.sandbox.images import build, listed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `steelyard image`."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="build | list")
    made = verbs.add_parser("build", help="build an image from this machine and import it")
    made.add_argument("name", metavar="NAME", help=f"a recipe: {' or '.join(RECIPES)}")
    shown = verbs.add_parser("list", help="the recipes, and which of their images are here")
    shown.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Do one of the verbs."""
    return _build(args) if args.verb == "build" else _list(args)


def _build(args: argparse.Namespace) -> int:
    made = build(find_engine(), args.name)
    print(f"{made.name}  {made.image.id}  {made.image.size_bytes / 1e6:.0f} MB")
    print("made anew" if made.changed else "already here with the same contents; nothing changed")
    return 0


def _list(args: argparse.Namespace) -> int:
    engine = find_engine()
    found = listed(engine)
    if args.json:
        rows = [
            {"name": name, "id": image.id if image else "", "bytes": image.size_bytes if image else 0}
            for name, image in found.items()
        ]
        print(msgspec.json.encode({"engine": engine.version, "images": rows}).decode())
        return 0
    for name, image in found.items():
        print(f"{name:<8} {image.digest12 if image else 'not built':<12} {_size(image.size_bytes if image else 0)}")
    return 0


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:.0f} MB" if size_bytes else ""
