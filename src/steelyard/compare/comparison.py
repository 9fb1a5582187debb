"""A whole comparison as one dictionary, printed for a person or as JSON: two runs in detail, or a matrix of more.

Strata carry p-values that are corrected over their table by Benjamini-Hochberg, pairs of several runs by Holm; a
stratum or pair is called better or worse only where its corrected p-value rejects too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from steelyard.compare.figures import Criteria, Figures, Pair, figures
from steelyard.compare.flips import flips
from steelyard.compare.runs import Joined, Side
from steelyard.compare.spread import seed_spread
from steelyard.compare.words import BETTER, MARGIN, TOO_SMALL, WORSE
from steelyard.errors import FormatError, InputError, RefusedError
from steelyard.report import FILE
from steelyard.run.anomalies import read_anomalies
from steelyard.run.stored import read
from steelyard.shortcuts import shortcut_floor
from steelyard.stats.multiple import benjamini_hochberg, holm
from steelyard.suite import Suite


def margin_of(suite: Suite) -> float:
    """The margin that the suite's manifest names as its target difference, else 0.05."""
    for block in (suite.manifest, suite.manifest.get("sealed", {})):
        sizing = block.get("sizing_rationale", {}) if isinstance(block, dict) else {}
        delta = sizing.get("target_detectable_delta") if isinstance(sizing, dict) else None
        if isinstance(delta, int | float) and 0 < delta <= 1:
            return float(delta)
    return MARGIN


def compare(
    joined: Joined, criteria: Criteria, *, with_flips: bool = False, with_spread: bool = False
) -> dict[str, Any]:
    """The comparison of two runs, or of each pair of more."""
    if len(joined.sides) > 2:
        if with_flips or with_spread:
            raise InputError("flips and the seed spread are of two runs; name just those two")
        return _facts(joined, criteria) | _matrix(joined, criteria)
    pairs = joined.pairs()
    same, both = joined.identical[0, 1]
    found: dict[str, Any] = _facts(joined, criteria)
    found |= _plain(figures(pairs, criteria))
    found["identical"] = {"n": same, "of": both}
    found["parted"] = [_plain(one) for one in joined.parted]
    found["by_difficulty"] = _strata(pairs, lambda p: p.difficulty, criteria)
    found["by_domain"] = _strata(pairs, lambda p: p.domain, criteria)
    if with_spread:
        found["seed_spread"] = _plain(seed_spread(joined))
    if with_flips:
        found["flips"] = [_plain(flip) for flip in flips(joined)]
    return found


def _plain(value: msgspec.Struct) -> dict[str, Any]:
    return dict(msgspec.to_builtins(value))


def _facts(joined: Joined, criteria: Criteria) -> dict[str, Any]:
    suite = joined.suite
    return {
        "runs": [
            _run(side, only) | {"anomalies": _anomalies(joined, side)}
            for side, only in zip(joined.sides, joined.only, strict=True)
        ],
        "suite": {"name": suite.name, "revision": suite.revision},
        "allowed": joined.allowed,
        "criteria": _plain(criteria),
        "floor": _floor(joined),
    }


def _run(side: Side, only: int) -> dict[str, Any]:
    plan = side.plan
    return {
        "label": side.label,
        "run": str(side.folder),
        "model": plan.model_id,
        "weights_sha256": plan.model_facts.get("weights_sha256"),
        "suite": plan.suite_name,
        "suite_revision": plan.suite_revision,
        "split": plan.split,
        "seed": plan.seed,
        "rollouts": plan.rollouts,
        "ruler": side.ruler,
        "n_only_here": only,
    }


def _anomalies(joined: Joined, side: Side) -> dict[str, int]:
    """Rollouts of the compared items that each rule flags: a token cap or an unread answer can make a difference."""
    compared = {item.id for item in joined.items}
    counts: dict[str, int] = {}
    for anomaly in read_anomalies(side.folder).found:
        if anomaly.item in compared:
            counts[anomaly.rule] = counts.get(anomaly.rule, 0) + len(anomaly.rollouts)
    return counts


def _floor(joined: Joined) -> dict[str, Any]:
    """The floor of the items compared: from a report of just those under the same ruler, else made now."""
    for side, only in zip(joined.sides, joined.only, strict=True):
        report = _report(side)
        if report is not None and report.floor and not only and report.ruler == side.ruler:
            return report.floor
    floor = shortcut_floor(joined.items, joined.suite.bound)
    return {"rate": round(floor.rate, 6), "baseline": floor.baseline}


class _Report(msgspec.Struct, frozen=True):
    """What is read of a stored report."""

    ruler: str = ""
    floor: dict[str, Any] | None = None


def _report(side: Side) -> _Report | None:
    """A run's report.json; None where there is none that can be read, since all of it can be made again."""
    path = side.folder / FILE
    try:
        return read(path, _Report, "a report") if path.exists() else None
    except FormatError:
        return None


def _strata(pairs: Sequence[Pair], label: Callable[[Pair], str], criteria: Criteria) -> dict[str, Any]:
    """Figures of each stratum; empty where there is just one, which is the whole."""
    labels = sorted({label(pair) for pair in pairs} - {""})
    if len(labels) < 2:
        return {}
    found = {name: figures([pair for pair in pairs if label(pair) == name], criteria) for name in labels}
    tested = [name for name in labels if found[name].p is not None]
    adjusted = benjamini_hochberg([found[name].p or 0.0 for name in tested], criteria.alpha)
    corrected = dict(zip(tested, zip(adjusted.adjusted, adjusted.reject, strict=True), strict=True))
    return {name: _corrected(one, "p_bh", corrected.get(name)) for name, one in found.items()}


def _corrected(one: Figures, key: str, corrected: tuple[float, bool] | None) -> dict[str, Any]:
    """Figures whose word says better or worse only where the corrected p-value rejects."""
    p, rejects = corrected or (None, False)
    word = one.word if rejects or one.word not in (BETTER, WORSE) else TOO_SMALL
    return _plain(one) | {"word": word, key: p}


def _matrix(joined: Joined, criteria: Criteria) -> dict[str, Any]:
    """Each pair of runs with Holm's correction over all pairs, and the ranking."""
    sides = joined.sides
    found = {(i, j): figures(joined.pairs(i, j), criteria) for i in range(len(sides)) for j in range(i + 1, len(sides))}
    if any(one.p is None for one in found.values()):
        raise RefusedError("two of the runs share no judged item; compare those that do")
    adjusted = holm([one.p or 0.0 for one in found.values()], criteria.alpha)
    cells = []
    for (pair, one), p, rejects in zip(found.items(), adjusted.adjusted, adjusted.reject, strict=True):
        same, both = joined.identical[pair]
        labels = {"from": sides[pair[0]].label, "to": sides[pair[1]].label}
        cells.append(labels | _corrected(one, "p_holm", (p, rejects)) | {"identical": {"n": same, "of": both}})
    return {"pairs": cells, "ranking": ranking(joined, cells)}


def ranking(joined: Joined, cells: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Runs from best to worst: `rank` is 1 + how many are shown to be better, `ties` those that no word separates."""
    rates = {cell["from"]: cell["a"] for cell in cells} | {cell["to"]: cell["b"] for cell in cells}
    rows = []
    for side in joined.sides:
        above, ties = 0, []
        for cell in cells:
            if side.label not in (cell["from"], cell["to"]):
                continue
            other = cell["to"] if side.label == cell["from"] else cell["from"]
            lost = cell["word"] == (BETTER if side.label == cell["from"] else WORSE)
            above += lost
            if cell["word"] not in (BETTER, WORSE):
                ties.append(other)
        rate = rates[side.label]
        row = {"rank": 1 + above, "label": side.label, "model": side.plan.model_id, "rate": rate["rate"], "ties": ties}
        rows.append(row | {"interval": rate["interval"]})
    return sorted(rows, key=lambda row: (row["rank"], -row["rate"], row["label"]))
