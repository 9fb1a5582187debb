"""`detectable_content:*`: placeholders in square brackets, and a postscript.

Fixed: a placeholder holds some text, and links, footnotes and task boxes are none; a postscript begins a line or
follows a sentence, holds some text after its marker, and is not a `P.P.S.` where `P.S.` was asked.
Published: any bracket pair on a line is a placeholder, and the marker may stand anywhere, inside another one too.
"""

from __future__ import annotations

import re

from steelyard.errors import InputError
from steelyard.parsing.instructions.kind import Arguments, Kind
from steelyard.parsing.instructions.words import has_text

_BRACKETS = re.compile(r"\[([^\[\]\n]{1,300})\]")
_LINK = re.compile(r"\([^\s()]{0,300}[/#:.][^\s()]{0,300}(?:[ \t]\"[^\"\n]{0,200}\")?\)|:[ \t]*<?https?://")
_BEFORE_MARKER = r"(?:^[ \t>*_#(\[\"“'-]*|[.!?…:;)][\"'”’)*_]{0,9}\s{1,9}[*_(\"“]{0,9})"
_TASK = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+$")


class _Placeholders(Arguments, frozen=True):
    num_placeholders: int


class _Postscript(Arguments, frozen=True):
    postscript_marker: str


def _placeholders(reply: str, asked: _Placeholders) -> str | None:
    count = sum(_is_placeholder(reply, found) for found in _BRACKETS.finditer(reply))
    asked_for = asked.num_placeholders
    return None if count >= asked_for else f"{count} placeholders where {asked_for} was asked"


def _is_placeholder(reply: str, found: re.Match[str]) -> bool:
    inside = found[1].strip()
    if not has_text(inside) or inside.startswith("^") or _LINK.match(reply, found.end()):
        return False
    line = reply.rfind("\n", max(0, found.start() - 40), found.start()) + 1
    return not (inside in ("x", "X") and _TASK.match(reply, line, found.start()))


def _postscript(reply: str, asked: _Postscript) -> str | None:
    letters = [re.escape(one) for one in re.split(r"[.\s]+", asked.postscript_marker) if one]
    stop = r"\." if asked.postscript_marker.strip().endswith(".") else r"\.?"
    marker = re.compile(_BEFORE_MARKER + r"\.[ \t]?".join(letters) + stop + r"(?![^\W_])", re.IGNORECASE | re.MULTILINE)
    for found in marker.finditer(reply):
        if has_text(reply[found.end() :]):
            return None
    return f"no postscript that begins with {asked.postscript_marker!r}"


def _published_placeholders(reply: str, asked: _Placeholders, _seed: str) -> bool:
    count = 0
    for line in reply.split("\n"):
        end = 0
        while (start := line.find("[", end)) >= 0 and (close := line.find("]", start)) >= 0:
            count, end = count + 1, close + 1
    return count >= asked.num_placeholders


def _published_postscript(reply: str, asked: _Postscript, _seed: str) -> bool:
    marker = asked.postscript_marker.strip()
    pattern = {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\."}.get(marker, marker.lower())
    return re.search(pattern, reply.lower()) is not None


def _check_postscript(asked: _Postscript) -> None:
    if not has_text(asked.postscript_marker):
        raise InputError(f"postscript_marker must hold a letter, got {asked.postscript_marker!r}")


KINDS = {
    "detectable_content:number_placeholders": Kind(_Placeholders, _placeholders, _published_placeholders),
    "detectable_content:postscript": Kind(_Postscript, _postscript, _published_postscript, check=_check_postscript),
}
