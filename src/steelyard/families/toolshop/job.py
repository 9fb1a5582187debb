"""What a job is: what is asked, how it is judged, how an expert does it, and attempts at it that must fail or pass.

Easy to break: a job whose key stands in its prompt, or a `solve` that knows the key instead of working it out from the
workspace that it is given.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

from steelyard.attempt import ToolCall
from steelyard.errors import InputError
from steelyard.item import Edit
from steelyard.verifiers.contract import Script

Kind = Literal["answer", "file", "tests", "hidden"]
Workspace = Mapping[str, str]
Make = Callable[[Workspace], Script]

SETTINGS, CUSTOMERS, README = "config/settings.ini", "data/customers.csv", "README.md"
PACKAGE, CART, INVENTORY = "shop/__init__.py", "shop/cart.py", "shop/inventory.py"
PRICES, TEXT = "shop/prices.py", "shop/text.py"


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One job. `solve`, `spoil` and `vary` get the workspace as the model meets it.

    `verifier` is the check of today, `first_verifier` the one of version 1 where that differed; `target` is given as in
    the seed's list; `topic` is the part of the shop that the job turns on.
    """

    id: str
    kind: Kind
    topic: str
    prompt: str
    difficulty: str
    verifier: dict[str, Any]
    solve: Make
    first_verifier: dict[str, Any] | None = None
    target: str = ""
    derived: bool = False
    edits: list[Edit] = []
    spoil: Mapping[str, Make] = {}
    vary: Mapping[str, Make] = {}


def call(name: str, **arguments: str) -> ToolCall:
    """One tool call as a script holds it."""
    return ToolCall(name, json.dumps(arguments))


def exchanged(text: str, old: str, new: str) -> str:
    """`text` with `old`, which must stand there exactly once, replaced by `new`; else an InputError."""
    if text.count(old) != 1:
        raise InputError(f"expected {old!r} once in the text, found it {text.count(old)} times")
    return text.replace(old, new)
