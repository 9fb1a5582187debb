"""Derives every gold of a suite again, from the elements that the items print, and says which do not follow.

Items of this package's families go through their family's `solve`; lines with seed 000's orbital keys are computed
from the element sets in their text. Whether the derived answer agrees is the item's own verifier's word.
Damaged element sets are never trusted: a wrong checksum is a warning when the gold still follows; shifted columns are
put back only to say what the sky would have been, and such an item is at best `refused`.
Not covered: golds of other families (`not-derivable`), and facts that are recalled, such as a catalogue number.
Easy to break: an item whose key claims a computed gold but which prints no elements is a mismatch, not a shrug.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from steelyard.attempt import Attempt
from steelyard.errors import FormatError, InputError
from steelyard.families.orbital import tle
from steelyard.families.orbital.approach import Approach, closest_approach
from steelyard.families.orbital.compare_items import compare
from steelyard.families.orbital.elements import Elements, apogee_altitude_km, perigee_altitude_km, period_min
from steelyard.families.orbital.extreme_items import extreme
from steelyard.families.orbital.period_items import period
from steelyard.item import Item, item_from_line
from steelyard.judging import judge
from steelyard.verifiers.registry import bind

Status = Literal["ok", "mismatch", "not-derivable", "refused"]
FAMILIES = {family.name: family for family in (period, compare, extreme)}
_QUANTITIES = {
    "period_min": (period_min, "min"),
    "apogee_alt_km": (apogee_altitude_km, "km"),
    "perigee_alt_km": (perigee_altitude_km, "km"),
}
_PAIR_KEYS = ("conjunction", "miss_distance_km")
_LINES = re.compile(r"^(1 [^\n]{40,})\n(2 [^\n]{40,})$", re.MULTILINE)
_THRESHOLD = re.compile(r"within (\d+(?:\.\d+)?) ?km", re.IGNORECASE)
_WINDOW = re.compile(r"next (\d+(?:\.\d+)?) ?h(?:ours?)?", re.IGNORECASE)
_GUARD_KM = 0.25  # five times the spread of defensible engines (WGS 72 or 84, rounding of fields)


class Check(msgspec.Struct, frozen=True):
    """What became of one gold; `derived` is empty when nothing could be computed."""

    id: str
    status: Status
    expected: str
    derived: str = ""
    reason: str = ""

    @property
    def bad(self) -> bool:
        """Whether the gold must not be used as it stands."""
        return self.status in ("mismatch", "refused")


class _Set(msgspec.Struct, frozen=True):
    """One element set of a prompt: its elements if any can be had, its faults in words, whether columns moved."""

    elements: Elements | None
    faults: list[str]
    moved: bool


def check_file(path: Path | str) -> list[Check]:
    """Check every item of a `.jsonl` file, or of the dev.jsonl and test.jsonl of a suite's folder, in order."""
    return [check_item(item) for item in _read(Path(path))]


def _read(path: Path) -> Iterator[Item]:
    sources = [path / "dev.jsonl", path / "test.jsonl"] if path.is_dir() else [path]
    present = [source for source in sources if source.exists()]
    if not present:
        raise FormatError(path, None, "expected a .jsonl file or a suite's folder with dev.jsonl or test.jsonl")
    for source in present:
        for line, data in enumerate(source.read_bytes().splitlines(), 1):
            if data.strip():
                yield item_from_line(data, source, line)


def check_item(item: Item) -> Check:
    """Derive one item's gold again and compare."""
    if item.family in FAMILIES:
        return _check_own(item)
    key = item.verifier["name"]
    if key in _QUANTITIES:
        return _check_quantity(item)
    if key in _PAIR_KEYS:
        return _check_pair(item)
    return Check(item.id, "not-derivable", item.target, reason=f'a gold under "{key}" is not computed from elements')


def _compared(item: Item, answer: str) -> tuple[Status, str]:
    """The item's own verifier on a derived answer: ok, mismatch, or refused with the reason of a void."""
    verdict = judge(item, bind(item), Attempt(answer=answer)).verdict
    if verdict.passed is None:
        return "refused", verdict.note
    return ("ok", "") if verdict.passed else ("mismatch", "the derived answer differs")


def _check_own(item: Item) -> Check:
    solve = FAMILIES[item.family].solve
    try:
        derived = str(solve(item)) if solve else ""
    except InputError as error:
        return Check(item.id, "refused", item.target, reason=str(error))
    status, why = _compared(item, derived)
    return Check(item.id, status, item.target, derived, why)


def _sets(text: str) -> list[_Set]:
    return [_set(lines[0].rstrip(), lines[1].rstrip()) for lines in _LINES.findall(text)]


def _set(line_1: str, line_2: str) -> _Set:
    found = tle.faults(line_1, line_2)
    name = line_1[2:7].strip()
    words = [f"{name} line {f.line}, column {f.column}: {f.reason}" for f in found]
    moved = any(f.kind != "checksum" for f in found)
    try:
        lines = tle.respaced(line_1, line_2) if moved else (line_1, line_2)
        return _Set(tle.elements_from_lines(*lines), words, moved)
    except InputError as error:
        return _Set(None, [*words, str(error)], moved)


def _founded(item: Item, sets: list[_Set], needed: int) -> list[Elements] | Check:
    """The elements that a gold is computed from, or the check of an item whose text does not hold them."""
    elements = [one.elements for one in sets[:needed] if one.elements is not None]
    if len(elements) == needed:
        return elements
    if len(sets) < needed:
        reason = f"unfounded: the text holds {len(sets)} element sets in full, {needed} needed"
    else:
        reason = "unfounded: the element sets are refused"
    faults = [word for one in sets for word in one.faults]
    return Check(item.id, "mismatch", item.target, reason="; ".join([reason, *_shortened(faults)]))


def _judged(item: Item, derived: str, sets: list[_Set], note: str = "") -> Check:
    faults = [word for one in sets for word in one.faults]
    moved = any(one.moved for one in sets)
    label = ("element sets refused: " if moved else "warning: ") if faults else ""
    reason = "; ".join([*([label + "; ".join(_shortened(faults))] if faults else []), *([note] if note else [])])
    status, why = _compared(item, derived)
    if status == "ok" and moved:
        status = "refused"
    return Check(item.id, status, item.target, derived, reason or why)


def _shortened(faults: list[str]) -> list[str]:
    """One shifted line breaks every column after the shift: the first three faults of a line tell it."""
    kept: list[str] = []
    seen: Counter[str] = Counter()
    for fault in faults:
        line = fault.split(",")[0]
        seen[line] += 1
        if seen[line] <= 3 or "checksum" in fault:
            kept.append(fault)
    return kept


def _check_quantity(item: Item) -> Check:
    sets = _sets(item.prompt)
    founded = _founded(item, sets, 1)
    if isinstance(founded, Check):
        return founded
    quantity, unit = _QUANTITIES[item.verifier["name"]]
    return _judged(item, f"{quantity(founded[0]):.4f} {unit}", sets[:1])


def _check_pair(item: Item) -> Check:
    sets = _sets(item.prompt)
    founded = _founded(item, sets, 2)
    if isinstance(founded, Check):
        return founded
    a, b = founded
    window, threshold = _WINDOW.search(item.prompt), _THRESHOLD.search(item.prompt)
    asks_verdict = item.verifier["name"] == "conjunction"
    if window is None or (asks_verdict and threshold is None):
        return Check(item.id, "not-derivable", item.target, reason="the question names no window or no threshold")
    try:
        found = closest_approach(a, b, max(a.epoch, b.epoch), float(window[1]))
    except InputError as error:
        return Check(item.id, "refused", item.target, reason=str(error))
    note = _told(found, repaired=any(one.moved for one in sets))
    if threshold is None or not asks_verdict:
        return _judged(item, f"{found.distance_km:.3f} km", sets, note)
    limit_km = float(threshold[1])
    derived = "yes" if found.distance_km < limit_km else "no"
    if abs(found.distance_km - limit_km) < _GUARD_KM:
        return Check(item.id, "refused", item.target, derived, f"{note}, too close to the threshold to be a gold")
    return _judged(item, derived, sets, note)


def _told(found: Approach, *, repaired: bool) -> str:
    where = f"{found.after_min:.2f} min after the later epoch{', at the edge of the window' if found.at_edge else ''}"
    before = "with its columns put back, " if repaired else ""
    return f"{before}the least distance by SGP4 is {found.distance_km:.3f} km, {where}"
