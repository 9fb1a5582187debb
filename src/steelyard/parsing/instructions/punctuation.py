"""`punctuation:no_comma`: no comma at all.

Fixed: the commas of every script count, those inside numbers too. Published: the ASCII comma alone.
"""

from __future__ import annotations

import re

from steelyard.parsing.instructions.kind import Arguments, Kind

# Every character of Unicode 15 whose name says that it is a comma, but for combining ones and the turned mark.
_COMMA = re.compile(
    "[,\u055d\u060c\u07f8\u1363\u1802\u1808\u2e32\u2e34\u2e41\u2e49\u2e4c\u3001\ua4fe\ua60d\ua6f5\ufe10\ufe11\ufe50\ufe51"
    "\uff0c\uff64]"
)


def _no_comma(reply: str, _asked: Arguments) -> str | None:
    comma = _COMMA.search(reply)
    return f"a comma at character {comma.start()}" if comma else None


def _published_no_comma(reply: str, _asked: Arguments, _seed: str) -> bool:
    return "," not in reply


KINDS = {"punctuation:no_comma": Kind(Arguments, _no_comma, _published_no_comma)}
