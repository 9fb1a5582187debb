"""What an instruction kind is: its arguments, the reading of its English sentence, and the published runner's.

Source: IFEval (Zhou et al. 2023, arXiv:2311.07911), its 541 prompts and the runner of July 2024.
`fixed` says what is wrong, or None where the reply follows the instruction. `published` gives the verdict of the
runner, faults included; its third argument seeds what the runner draws at random.
Easy to break: both get a reply that has visible text, and neither may raise on any text or take more than linear time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec

Relation = Literal["at least", "less than"]


class Arguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of an instruction's arguments; unknown ones are refused."""


class Kind(msgspec.Struct, frozen=True):
    """One instruction kind; `needs` names what the published reading imports beyond this package."""

    arguments: type[Arguments]
    fixed: Callable[[str, Any], str | None]
    published: Callable[[str, Any, str], bool]
    needs: tuple[Literal["langdetect", "nltk"], ...] = ()
    check: Callable[[Any], None] | None = None
    """Refuses arguments that cannot work in the fixed reading, with InputError."""


def holds(count: int, relation: Relation, bound: int) -> bool:
    """Whether a count stands in the relation to the bound; `less than` is strict."""
    return count < bound if relation == "less than" else count >= bound


def counted(what: str, count: int, relation: Relation, bound: int) -> str | None:
    """None where the count holds, else the count and what was asked."""
    return None if holds(count, relation, bound) else f"{count} {what} where {relation} {bound} was asked"
