"""`combination:*`: the request repeated before the answer, and two responses.

Fixed: the request stands word for word at the very start, in any case, and an answer follows it; the two responses are
set apart by a run of exactly six asterisks and differ in more than case, white space and a label such as `Response 1:`.
Published: the reply need only begin with the letters of the request; any six asterisks part it.
"""

from __future__ import annotations

import re

from steelyard.errors import InputError
from steelyard.parsing.instructions.kind import Arguments, Kind
from steelyard.parsing.instructions.words import folded, has_text, plain, stands_whole

_DIVIDER = re.compile(r"(?<!\*)\*{6}(?!\*)")
_NAME = r"^[\W_]*(?:response|answer|version|option|reply)"
_LABEL = re.compile(
    rf"{_NAME}(?:[ ](?:\d{{1,2}}|one|two|[ab])(?![^\W_])[\W_]*|[\W_]*:[\W_]*)"
    r"|^[\W_]*(?:first|second|another)[ ](?:response|answer|version|option|reply)[*_ ]*:[\W_]*"
)


class _Repeat(Arguments, frozen=True):
    prompt_to_repeat: str


def _repeat(reply: str, asked: _Repeat) -> str | None:
    text, request = folded(reply), folded(asked.prompt_to_repeat)
    if not text.startswith(request) or not stands_whole(text, 0, len(request)):
        return "does not begin with the request"
    return None if has_text(text[len(request) :]) else "no answer follows the request"


def _two_responses(reply: str, _asked: Arguments) -> str | None:
    chunks = _DIVIDER.split(reply)
    filled = [chunk for chunk in chunks if chunk.strip()]
    if not all(chunk.strip() for chunk in chunks[1:-1]):
        return "an empty response stands between two dividers"
    if len(filled) != 2:
        return f"{len(filled)} responses where two were asked"
    return "the two responses are the same" if _bare(filled[0]) == _bare(filled[1]) else None


def _bare(response: str) -> str:
    text = plain(response)
    return _LABEL.sub("", text, count=1).strip()


def _published_repeat(reply: str, asked: _Repeat, _seed: str) -> bool:
    return reply.strip().lower().startswith(asked.prompt_to_repeat.strip().lower())


def _published_two_responses(reply: str, _asked: Arguments, _seed: str) -> bool:
    chunks = reply.split("******")
    filled = [chunk.strip() for chunk in chunks if chunk.strip()]
    return all(chunk.strip() for chunk in chunks[1:-1]) and len(filled) == 2 and filled[0] != filled[1]


def _check_repeat(asked: _Repeat) -> None:
    if not has_text(asked.prompt_to_repeat):
        raise InputError(f"prompt_to_repeat must hold some text, got {asked.prompt_to_repeat!r}")


KINDS = {
    "combination:repeat_prompt": Kind(_Repeat, _repeat, _published_repeat, check=_check_repeat),
    "combination:two_responses": Kind(Arguments, _two_responses, _published_two_responses),
}
