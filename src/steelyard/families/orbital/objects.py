"""Where a family's objects come from: a user's catalogue, or the seeded generator.

Provider elements are under the provider's terms, so items made from a catalogue carry no licence; items from the
generator, and from a file that `orbital synthesise` wrote, are CC0-1.0 (`snapshots.licence_of`).
Names, designators and catalogue numbers of real objects are never shown: an answer must not be recalled.
Easy to break: the first items must not depend on how many are taken, so every draw comes from the item's own `rng`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import TypeVar

import msgspec

from steelyard.families.orbital import synthetic
from steelyard.families.orbital.elements import Elements, perigee_altitude_km
from steelyard.families.orbital.snapshots import licence_of

Question = TypeVar("Question")
ANONYMOUS_ID = 99_999
_LEAST_PERIGEE_KM = 120.0  # below this an element set describes a decay, not an orbit


class Source(msgspec.Struct, frozen=True):
    """`draw` gives one object; provenance and licence go into every item.

    `real` says that the objects exist, so that their catalogue numbers must not be shown.
    """

    draw: Callable[[Random], Elements]
    provenance: str
    license: str
    real: bool

    def shown(self, elements: Elements) -> Elements:
        """The elements as a prompt may print them."""
        if not self.real:
            return elements
        return msgspec.structs.replace(elements, norad_id=ANONYMOUS_ID, designator="", name="")


def source(catalogue: str | Path | None = None) -> Source:
    """The generator, or the orbiting objects of a catalogue file."""
    if catalogue is None:
        return Source(synthetic.draw, f"synthetic:{synthetic.GENERATOR_VERSION}", "CC0-1.0", real=False)
    from steelyard.families.orbital.catalogue import load_catalogue  # needs the extra "orbital"; the generator does not

    loaded = load_catalogue(catalogue)
    pool = sorted(
        (
            e
            for e in loaded.objects
            if e.norad_id not in loaded.sgp4_errors and perigee_altitude_km(e) > _LEAST_PERIGEE_KM
        ),
        key=lambda e: e.norad_id,
    )
    licence = licence_of(catalogue)
    return Source(lambda rng: rng.choice(pool), f"snapshot:{loaded.sha256[:12]}", licence, real=not licence)


def asked_about(
    rng: Random,
    wanted: Question,
    questions: Sequence[Question],
    draw: Callable[[Question], list[Elements] | None],
) -> tuple[Question, list[Elements]] | None:
    """The wanted question with objects that fit it, else another of `questions` in a drawn order; None if none fit.

    Objects of one kind, such as the payloads of one constellation, leave some questions without an answer.
    """
    found = draw(wanted)
    if found is not None:
        return wanted, found
    others = [one for one in questions if one != wanted]
    rng.shuffle(others)
    return next(((other, fit) for other in others if (fit := draw(other)) is not None), None)


def group(objects: list[Elements]) -> str:
    """The group of an item about these objects: the same for the same set, in any order."""
    return "objects:" + "-".join(str(n) for n in sorted(e.norad_id for e in objects))
