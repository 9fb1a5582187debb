"""Text of models and graders made safe to print on a terminal: escapes shown, never obeyed; long text cut.

Not covered: look-alike letters. Easy to break: a lone surrogate stops `print`, and an escape sequence in an answer
can rewrite the lines above it.
"""

from __future__ import annotations

import re

_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def safe(text: str) -> str:
    """The text with control characters, direction overrides and lone surrogates as visible escapes."""
    return _UNSAFE.sub(lambda found: ascii(found[0])[1:-1], text.replace("\r\n", "\n"))


def one_line(text: str, limit: int = 120) -> str:
    """Safe text on one line of at most `limit` characters."""
    flat = " ".join(safe(text[: limit * 4]).split())
    return flat if len(flat) <= limit else flat[: limit - 3] + "..."


def cut(text: str, limit: int) -> str:
    """Safe text of about `limit` characters at most: its two ends, and how much stands between them."""
    if len(text) <= limit:
        return safe(text)
    head, tail = limit // 3, limit - limit // 3
    return f"{safe(text[:head])}\n[... {len(text) - limit} more characters ...]\n{safe(text[-tail:])}"
