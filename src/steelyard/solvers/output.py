"""Tool output as a model gets it: normalised, cut, and free of reserved chat tokens.

Source: seed 001. Test timings, memory addresses, temporary paths and traceback markers differ between two equal runs,
so they are replaced; the words of a chat template inside a result could end the model's turn, so such a result is
withheld. Only command output is normalised: a file is shown as it is.
Easy to break: the order. Normalise first, then look for tokens, then cut, so that a cut never hides half a token.
"""

from __future__ import annotations

import re

from steelyard.sandbox.scratch import PREFIX

RESERVED = re.compile(
    r"<\|[A-Za-z][\w .:-]{0,40}\|>|</?tool_(?:call|response)>|</?think>|<(?:start|end)_of_turn>"
    r"|\[/?INST\]|<｜[^｜>]{1,40}｜>"
)
"""Tokens of chat templates (ChatML, Llama 3, Qwen, Gemma, Mistral, DeepSeek) that no tool result may carry."""

_REPLACED = (
    (re.compile(r"\x1b\[[0-9;]*[A-Za-z]"), ""),
    (re.compile(r"(?m)^(Ran \d+ tests?) in \d+\.\d+s$"), r"\1 in 0.000s"),
    (re.compile(r"(\d+ (?:passed|failed|errors?|skipped|xfailed|warnings?)\b.*? in )\d+\.\d+s"), r"\g<1>0.00s"),
    (re.compile(r"\b0x[0-9a-fA-F]{6,16}\b"), "0x0"),
    (re.compile(rf"(?<![\w.-])/[^\s\"':<>]*/{PREFIX}\w+/work\b"), "/work"),
    (re.compile(r"(?m)^[ \t]*[~^][~^ \t]*\n"), ""),
)


def normalised(text: str) -> str:
    """Command output without what differs between equal runs; a session's folder on the host reads as /work."""
    for pattern, instead in _REPLACED:
        text = pattern.sub(instead, text)
    return text


def reserved_token(text: str) -> str | None:
    """The first reserved chat token in the text."""
    found = RESERVED.search(text)
    return found[0] if found else None


def cut(text: str, limit: int) -> str:
    """The first `limit` characters, and how many were left out."""
    return text if len(text) <= limit else f"{text[:limit]}\n[truncated {len(text) - limit} characters]"
