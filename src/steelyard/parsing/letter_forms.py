"""One spelling for a reply that may name a letter: widths, fonts and circles in ASCII, LaTeX fonts and hedges blanked.

Not covered: letters of other alphabets that look alike.
Easy to break: every replacement keeps the length, so that positions stay true.
"""

from __future__ import annotations

import re

_FANCY: dict[int, str] = {}
for _start, _first in (
    *((code, "A") for code in (0xFF21, 0x24B6, 0x1F110, 0x1F130, 0x1F150, 0x1F170)),
    *((code, "a") for code in (0xFF41, 0x24D0, 0x249C)),
    *((0x1D400 + 52 * k, "A") for k in range(13)),
    *((0x1D41A + 52 * k, "a") for k in range(13)),
):
    _FANCY |= {_start + i: chr(ord(_first) + i) for i in range(26)}
_FANCY |= {ord(wide): narrow for wide, narrow in zip("（）．：【】’「」，。；、", "().:[]'[],.;,", strict=True)}
_FIRST_FANCY = sorted(code for code in _FANCY if code - 1 not in _FANCY)
_LAST_FANCY = sorted(code for code in _FANCY if code + 1 not in _FANCY)
_FANCY_ONE = re.compile(f"[{''.join(f'{chr(a)}-{chr(b)}' for a, b in zip(_FIRST_FANCY, _LAST_FANCY, strict=True))}]")
"""As ranges: one by one, these thousand letters would be compared with every character."""
_FONT = re.compile(r"\\(?:text|mathrm|mathbf|textbf|boxed|fbox|mathsf|mathit|textit|bf|rm|operatorname)(?![A-Za-z])")
_HTML = re.compile(
    r"<(b|i|strong|em|u|span|p|code)>(?=[^<]{0,200}</\1>)|</(?:b|i|strong|em|u|span|p|code)>", re.IGNORECASE
)
_HEDGE_CUES = ("sure", "certain", "confident", "positive", "if i ", "if we ", "if forced", "if pressed")
_HEDGES = re.compile(
    r"\b(?:not|n['’]t)(?: \w+)?(?: (?:sure|certain|confident|positive))(?: (?:about|of) (?:it|this|that))?"
    r"|\bif (?:i|we) (?:(?:had|have|were) to|must|really must) (?:guess|choose|pick|say|bet)(?: one)?|\bif (?:forced"
    r"|pressed)(?: to \w+)?",
    re.IGNORECASE,
)


def plain(text: str) -> str:
    """`text` with letters of other widths and styles in ASCII and LaTeX fonts and hedges blanked; positions stay."""
    if not text.isascii() and _FANCY_ONE.search(text):
        text = text.translate(_FANCY)
    if "\\" in text:
        text = _FONT.sub(_blanks, text)
    if "</" in text:
        text = _HTML.sub(_blanks, text)
    low = text.lower()
    return _HEDGES.sub(_blanks, text) if any(cue in low for cue in _HEDGE_CUES) else text


def _blanks(match: re.Match[str]) -> str:
    return " " * len(match[0])
