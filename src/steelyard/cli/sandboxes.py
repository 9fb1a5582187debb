"""The options by which a command's sandbox is chosen, and the sandbox that they choose."""

from __future__ import annotations

import argparse

from steelyard.ports import Sandbox
from steelyard.sandbox.choose import open_sandbox


def add_sandbox_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of every command that may open sandboxes."""
    parser.add_argument("--sandbox", default="auto", help="auto (default), bubblewrap, docker, none or unsafe-process")
    parser.add_argument("--allow-unsafe", action="store_true", help="permit the unsafe-process sandbox")
    parser.add_argument("--image", default="python", help="image of the docker sandbox (default python)")


def sandbox_of(args: argparse.Namespace) -> Sandbox | None:
    """The backend that was asked for; None for `none`. Raises what `open_sandbox` raises."""
    return open_sandbox(args.sandbox, allow_unsafe=args.allow_unsafe, image=args.image)
