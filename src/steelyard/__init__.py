"""Steelyard: builds, proves, freezes and runs verifiable evaluation suites for language models and agents.

The names below load their modules on first use, so `import steelyard` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0.dev0"

_HOMES = {
    "Attempt": "attempt",
    "Contrast": "family",
    "Family": "family",
    "Item": "item",
    "Message": "attempt",
    "Reading": "verdict",
    "Script": "family",
    "Spoil": "family",
    "Suite": "suite",
    "ToolCall": "attempt",
    "Unread": "verdict",
    "Verdict": "verdict",
    "Verifier": "verifiers.contract",
    "find_family": "plugins",
    "inline": "store",
    "load_suite": "scoring",
    "prove_family": "proving",
    "read_run": "frames",
    "score_model": "scoring",
    "score_model_local": "scoring",
    "verify": "scoring",
    "verify_correct": "scoring",
    "verify_sda_answer": "scoring",
}

__all__ = [*sorted(_HOMES), "__version__"]  # noqa: PLE0604  # every key of _HOMES is a str


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'steelyard' has no attribute {name!r}")
    return getattr(importlib.import_module(f"steelyard.{_HOMES[name]}"), name)
