"""How encounter items show their objects and ask: element sets as TLE or as OMM in CSV, a window, the conventions.

Everything that an answer depends on is in the text: `read` gets it back, and golds are computed from what was read.
Every object is called by its catalogue number; those of real objects are replaced, so that nothing can be recalled.
Not covered: OMM as JSON or XML in a prompt.
Easy to break: a TLE holds fewer digits than an OMM, so elements must go through `as_printed` before they are judged.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

import msgspec

from steelyard.errors import InputError, did_you_mean
from steelyard.families.orbital import omm_files, tle
from steelyard.families.orbital.elements import LARGEST_SATREC_ID, Elements
from steelyard.families.orbital.encounters import Window

FORMS = ("tle", "omm")
CONVENTION = (
    "Propagate with SGP4 (WGS 72 constants, improved mode). Distances are between the centres of the objects in the "
    "frame TEME, in km; times are UTC. No covariance is involved."
)
CONTINUOUS = "The minimum is meant in continuous time, not the least of samples."
TIME_FORM = "UTC, ISO 8601 ending in Z, with at least one decimal of a second"
_HEADING = {"tle": "Two-line element sets:", "omm": "Element sets as OMM in CSV (frame TEME, epochs in UTC):"}
_WINDOW = re.compile(r"Window: from (\S+)Z to (\S+)Z\.", re.ASCII)
_THRESHOLD = re.compile(r"closer than (\d+(?:\.\d+)?) km", re.ASCII)
_LINES = re.compile(r"^(1 .{67})\n(2 .{67})$", re.MULTILINE)
_CSV = re.compile(r"^OBJECT_NAME,.*\n(?:.+\n)+", re.MULTILINE)


class Given(msgspec.Struct, frozen=True):
    """What a prompt gives: its objects in printed order, the window, and the threshold in km where it names one."""

    objects: tuple[Elements, ...]
    window: Window
    threshold_km: float | None


def form_for(wanted: str, objects: Sequence[Elements]) -> str:
    """`wanted`, unless a catalogue number is too large for a TLE; InputError when it is no form."""
    if wanted not in FORMS:
        raise InputError(f'form must be tle or omm, got "{wanted}"{did_you_mean(wanted, FORMS)}')
    return "omm" if any(e.norad_id > LARGEST_SATREC_ID for e in objects) else wanted


def element_text(objects: Sequence[Elements], form: str) -> str:
    """The element sets as a prompt prints them."""
    if form == "omm":
        return f"{_HEADING[form]}\n\n{omm_files.csv_text(objects).rstrip()}\n"
    sets = (f"Object {e.norad_id}:\n" + "\n".join(tle.write_lines(e)) for e in objects)
    return _HEADING[form] + "\n\n" + "\n\n".join(sets) + "\n"


def as_printed(objects: Sequence[Elements], form: str) -> tuple[Elements, ...]:
    """The elements that a reader gets from the printed ones."""
    return _elements(element_text(objects, form))


def text(objects: Sequence[Elements], form: str, window: Window, question: str) -> str:
    """A whole prompt."""
    span = f"Window: from {_utc(window.start)} to {_utc(window.end)}."
    return f"{element_text(objects, form)}\n{CONVENTION}\n{span}\n\n{question}"


def _utc(when: datetime) -> str:
    return f"{when:%Y-%m-%dT%H:%M:%S}Z"


@lru_cache(maxsize=256)
def read(prompt: str) -> Given:
    """What a prompt of these families gives; InputError where it is none of them."""
    objects, span, threshold = _elements(prompt), _WINDOW.search(prompt), _THRESHOLD.search(prompt)
    if len(objects) < 2 or span is None:
        raise InputError(f"expected a prompt with two element sets or more and a window, got {prompt[:60]!r}")
    start, end = (datetime.fromisoformat(part).replace(tzinfo=UTC) for part in span.groups())
    return Given(
        objects, Window(start, (end - start).total_seconds() / 3600), float(threshold[1]) if threshold else None
    )


def _elements(prompt: str) -> tuple[Elements, ...]:
    if table := _CSV.search(prompt):
        found = tuple(one for _, one in omm_files.csv_records(table[0], Path("prompt")))
        return tuple(msgspec.structs.replace(one, name="") for one in found if isinstance(one, Elements))
    return tuple(tle.elements_from_lines(*lines) for lines in _LINES.findall(prompt))
