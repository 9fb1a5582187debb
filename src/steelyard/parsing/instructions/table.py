"""Every instruction kind by its id, the target that lists instructions, and the eight texts of the loose verdict.

A target is a JSON list of `{"id": ..., "kwargs": {...}}`; the data set's own spelling (`instruction_id_list` beside a
list of `kwargs`, where unused arguments may be null) and one instruction alone (`instruction_id`) are read too.
Source of the loose verdict: the reply as it stands, without its first line, without its last, without both, and each
of these without asterisks; one that follows is enough.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from steelyard.errors import InputError, did_you_mean
from steelyard.parsing.instructions import (
    case,
    combination,
    content,
    format,  # noqa: A004 - named for the group of instructions that it holds
    keywords,
    language,
    length,
    libraries,
    punctuation,
    start_end,
)
from steelyard.parsing.instructions.kind import Arguments, Kind
from steelyard.parsing.json_prose import strict_json

KINDS: dict[str, Kind] = {
    **keywords.KINDS,
    **language.KINDS,
    **length.KINDS,
    **content.KINDS,
    **format.KINDS,
    **combination.KINDS,
    **case.KINDS,
    **start_end.KINDS,
    **punctuation.KINDS,
}


class Instruction(msgspec.Struct, frozen=True):
    """One instruction of a target."""

    id: str
    arguments: Arguments

    @property
    def kind(self) -> Kind:
        return KINDS[self.id]


def instructions(target: str) -> list[Instruction]:
    """The instructions that a target lists; InputError names the one that cannot be read."""
    found = [_instruction(index, *one) for index, one in enumerate(_pairs(strict_json(target)))]
    if not found:
        raise InputError("the target lists no instruction")
    return found


def follows(instruction: Instruction, reply: str, seed: str, published: bool) -> str | None:
    """None where a reply follows an instruction, else what is wrong; a reply without visible text follows nothing."""
    if not reply.strip():
        return "the reply is empty"
    if not published:
        if not any(map(str.isprintable, reply.replace(" ", ""))):
            return "the reply holds no visible character"
        return instruction.kind.fixed(reply, instruction.arguments)
    return None if instruction.kind.published(reply, instruction.arguments, seed) else "not followed"


def loose_texts(reply: str) -> list[str]:
    """The texts that the loose verdict tries, without repeats, the reply itself first."""
    rows = reply.split("\n")
    cut = [reply, *("\n".join(part).strip() for part in (rows[1:], rows[:-1], rows[1:-1]))]
    return list(dict.fromkeys([*cut, *(text.replace("*", "") for text in cut)]))


def check_published(instruction: Instruction, seed: str) -> None:
    """Loads what the published reading needs and tries it once; InputError where the runner itself would break."""
    for name in instruction.kind.needs:
        libraries.require(name)
    try:
        instruction.kind.published("a reply", instruction.arguments, seed)
    except re.error as error:
        raise InputError(f"{instruction.id}: the published runner searches its text as a pattern: {error}") from error


def _pairs(value: Any) -> list[tuple[Any, Any]]:
    if isinstance(value, dict) and "instruction_id_list" in value:
        ids, kwargs = value["instruction_id_list"], value.get("kwargs")
        if not (isinstance(ids, list) and isinstance(kwargs, list) and len(ids) == len(kwargs)):
            raise InputError("instruction_id_list and kwargs must be lists of the same length")
        return list(zip(ids, kwargs, strict=True))
    rows = value if isinstance(value, list) else [value]
    for row in rows:
        if not isinstance(row, dict) or not {"id", "instruction_id"} & row.keys() or row.keys() - _KEYS:
            raise InputError(f'an instruction is {{"id": ..., "kwargs": {{...}}}}, got {str(row)[:200]}')
    return [(row.get("id", row.get("instruction_id")), row.get("kwargs", {})) for row in rows]


_KEYS = {"id", "instruction_id", "kwargs"}


def _instruction(index: int, name: Any, kwargs: Any) -> Instruction:
    kind = KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise InputError(f'instruction {index}: unknown id "{name}"{did_you_mean(str(name), KINDS)}')
    if not isinstance(kwargs, dict):
        raise InputError(f"instruction {index}: kwargs of {name} must be an object, got {str(kwargs)[:200]}")
    given = {key: value for key, value in kwargs.items() if value is not None}
    try:
        arguments = msgspec.convert(given, kind.arguments)
    except msgspec.ValidationError as error:
        raise InputError(f"instruction {index}: {name}: {error}") from error
    if kind.check is not None:
        kind.check(arguments)
    return Instruction(name, arguments)
