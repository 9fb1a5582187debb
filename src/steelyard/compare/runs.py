"""Reading runs to compare: their items joined one by one, and every reason why they cannot be compared.

A comparison is refused, with the command that helps, where runs differ in a setting that is not the model's, where an
item was asked otherwise, and where judgements are missing, unfinished or not under today's ruler. Items outside a
run's plan (another limit or split) are left out and counted; a rollout that was planned and never finished is unknown.
Memory grows by a few numbers a rollout: transcripts are read one item at a time.
Not covered: whether the models were served alike; the report shows what is recorded of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import combinations, islice
from pathlib import Path
from typing import Any

import msgspec

from steelyard.attempt import Attempt
from steelyard.compare.figures import Counts, Pair
from steelyard.errors import RefusedError, did_you_mean
from steelyard.item import Item
from steelyard.run.journal import Rollout, RolloutIndex
from steelyard.run.judged import read_current, read_outcomes
from steelyard.run.judgements import missing_item
from steelyard.run.plan import Header, Plan, items_of_plan, read_header
from steelyard.suite import Suite
from steelyard.transcripts import Difference, first_difference
from steelyard.verifiers import registry

PARTED_SHOWN = 3
"""Transcripts that part, of which the place is told."""

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Side(msgspec.Struct, kw_only=True):
    """One run: what it was told, how many rollouts of each item it stores, and their outcomes (None is void)."""

    label: str
    folder: Path
    header: Header
    ruler: str
    planned: set[str]
    errors: dict[str, int]
    stored: dict[str, int] = {}
    outcomes: dict[str, dict[int, bool | None]] = {}

    @property
    def plan(self) -> Plan:
        return self.header.plan

    def counts(self, item: str) -> Counts:
        """An item's rollouts; those that were planned and are not there are unknown."""
        found = self.outcomes.get(item, {})
        passed, failed = sum(o is True for o in found.values()), sum(o is False for o in found.values())
        seen = len(found) + self.errors.get(item, 0)
        return Counts(passed, failed, max(self.plan.rollouts, seen) - passed - failed)


class Parted(msgspec.Struct, frozen=True):
    """A rollout whose transcript is not the same in the first two runs, and the first message in which they differ."""

    item: str
    rollout: int
    difference: Difference


class Joined(msgspec.Struct, frozen=True):
    """Runs over the items that all were asked, in suite order; `only` counts what each has beyond them.

    `identical[i, j]` is how many rollouts of runs i and j have the same transcript, and how many both have; `parted`
    are the first transcripts of the first two runs that are not the same.
    """

    suite: Suite
    sides: list[Side]
    items: list[Item]
    only: list[int]
    identical: dict[tuple[int, int], tuple[int, int]]
    parted: list[Parted]
    allowed: dict[str, list[Any]]

    def pairs(self, i: int = 0, j: int = 1) -> list[Pair]:
        """Runs i and j as pairs of counts."""
        a, b = self.sides[i], self.sides[j]
        return [
            Pair(item.id, item.group, a.counts(item.id), b.counts(item.id), item.domain, item.difficulty or "")
            for item in self.items
        ]


def join(folders: Sequence[Path], suite: Suite, allow: Collection[str] = ()) -> Joined:
    """Runs joined on their common items, or the RefusedError that says why they cannot be; `allow` names settings."""
    if not 2 <= len(folders) <= len(LETTERS):
        raise RefusedError(f"a comparison takes 2 to {len(LETTERS)} runs, got {len(folders)}")
    headers = [read_header(folder) for folder in folders]
    allowed = _check_settings(folders, [header.plan for header in headers], allow)
    with _indices(folders) as indices:
        sides = [
            _side(LETTERS[i], folder, header, suite, indices[i])
            for i, (folder, header) in enumerate(zip(folders, headers, strict=True))
        ]
        common = set.intersection(*(side.planned for side in sides))
        if not common:
            raise RefusedError(
                f"no item was asked in all of {', '.join(map(str, folders))}; runs are compared on the items they share"
            )
        by_id = {item.id: item for item in suite.items}
        for name in sorted(common - set(by_id)):
            raise missing_item(name, suite)
        items = [item for item in suite.items if item.id in common]
        identical, parted = _check_asks(sides, items, indices)
        revisions = registry.revisions(items, suite.bound)
        for side in sides:
            _check_judged(side, revisions, suite)
    only = [len(side.planned - common) for side in sides]
    return Joined(suite, sides, items, only, identical, parted, allowed)


@contextmanager
def _indices(folders: Sequence[Path]) -> Iterator[list[RolloutIndex]]:
    found: list[RolloutIndex] = []
    try:
        found.extend(RolloutIndex(folder) for folder in folders)
        yield found
    finally:
        for index in found:
            index.close()


def settings(plan: Plan) -> dict[str, Any]:
    """Everything that a comparison holds fixed: solver, limits, protocol, system prompt, sampling, sandbox."""
    solver, sampling = msgspec.structs.asdict(plan.solver), msgspec.structs.asdict(plan.sampling)
    found = {"solver": solver.pop("name")} | solver | sampling
    return found | {"sandbox": plan.sandbox, "deterministic": plan.deterministic}


def _check_settings(folders: Sequence[Path], plans: Sequence[Plan], allow: Collection[str]) -> dict[str, list[Any]]:
    """The settings that differ and are allowed to; refuses those that are not."""
    told = [settings(plan) for plan in plans]
    for name in allow:
        if name not in told[0]:
            raise RefusedError(f'no setting "{name}"{did_you_mean(name, told[0])}')
    differ = {name: [one[name] for one in told] for name in told[0] if any(one[name] != told[0][name] for one in told)}
    refused = [name for name in differ if name not in allow]
    if refused:
        values = "; ".join(
            f"{name} is "
            + ", ".join(f"{value!r} in {folder}" for value, folder in zip(differ[name], folders, strict=True))
            for name in refused
        )
        raise RefusedError(
            f"the runs were made under other settings, which are not the model's: {values}; run them alike, or compare "
            f"all the same with {' '.join(f'--allow {name}' for name in refused)}"
        )
    return differ


def _side(label: str, folder: Path, header: Header, suite: Suite, index: RolloutIndex) -> Side:
    current = read_current(folder)
    ran = index.items()
    planned = {item.id for item in items_of_plan(suite, header.plan, ran)} | set(ran)
    errors: dict[str, int] = {}
    for item, _ in index.errors:
        errors[item] = errors.get(item, 0) + 1
    return Side(
        label=label,
        folder=folder,
        header=header,
        ruler=current.ruler if current else "",
        planned=planned,
        errors=errors,
    )


def _check_asks(
    sides: Sequence[Side], items: Sequence[Item], indices: Sequence[RolloutIndex]
) -> tuple[dict[tuple[int, int], tuple[int, int]], list[Parted]]:
    """Refuse an item that was asked otherwise; counts identical transcripts on the way, and finds where some part."""
    identical: dict[tuple[int, int], tuple[int, int]] = {}
    parted: list[Parted] = []
    for item in items:
        rollouts = [{r.rollout: r for r in index.of(item.id)} for index in indices]
        _check_ask(item, sides, rollouts)
        for side, found in zip(sides, rollouts, strict=True):
            side.stored[item.id] = len(found)
        for i, j in combinations(range(len(sides)), 2):
            made = _made_by_both(rollouts[i], rollouts[j])
            unlike = [pair for pair in made if transcript(pair[1]) != transcript(pair[2])]
            same, both = identical.get((i, j), (0, 0))
            identical[i, j] = (same + len(made) - len(unlike), both + len(made))
            if (i, j) == (0, 1):
                parted += islice(_parted(item.id, unlike), PARTED_SHOWN - len(parted))
    return identical, parted


def _made_by_both(first: dict[int, Rollout], second: dict[int, Rollout]) -> list[tuple[int, Attempt, Attempt]]:
    """The rollouts of which both runs have an attempt, with the two."""
    return [
        (n, one, other)
        for n in sorted(first.keys() & second.keys())
        if (one := first[n].attempt) is not None and (other := second[n].attempt) is not None
    ]


def _parted(item: str, unlike: Sequence[tuple[int, Attempt, Attempt]]) -> Iterator[Parted]:
    for number, one, other in unlike:
        if (found := first_difference(one, other)) is not None:
            yield Parted(item, number, found)


def transcript(attempt: Attempt) -> tuple[Any, ...]:
    """What makes two attempts the same, word for word: the answer and every message as the model met or sent it."""
    return attempt.answer, [(m.role, m.content, m.tool_calls) for m in attempt.messages]


def _check_ask(item: Item, sides: Sequence[Side], rollouts: Sequence[Mapping[int, Rollout]]) -> None:
    asked = [(side, next(iter(found.values())).ask) for side, found in zip(sides, rollouts, strict=True) if found]
    for side, ask in asked[1:]:
        first, wanted = asked[0]
        if ask != wanted:
            raise RefusedError(
                f'item "{item.id}" asked something else in {side.folder} than in {first.folder}, and answers to '
                "different questions are not compared; run both models on one suite: "
                f"steelyard run {first.plan.suite_path} --model {side.plan.model}"
            )


def _check_judged(side: Side, revisions: Mapping[str, str], suite: Suite) -> None:
    """Read a run's outcomes; refuses where some are not judged, or not under today's ruler."""
    other: list[tuple[str, str]] = []
    judged: dict[str, int] = {}
    for line in read_outcomes(side.folder, side.ruler):
        if line.id not in revisions:
            continue
        if line.revision != revisions[line.id]:
            other.append((line.id, line.revision))
        record = line.feedback_result
        side.outcomes[line.id] = {one.index: one.correct for one in record.rollouts}
        judged[line.id] = record.n_rollouts + record.n_errors
    way_on = f"do: {_judge_command(side, suite)}, or add --judge, which judges all runs first"
    if other:
        name, then = other[0]
        raise RefusedError(
            f"{len(other)} of {len(revisions)} items of {side.folder} were judged under another ruler than today's "
            f'(first: "{name}", revision {then[:12]}, today {revisions[name][:12]}), and scores under two rulers are '
            f"not compared; {way_on}"
        )
    late = [name for name, stored in side.stored.items() if stored > judged.get(name, 0)]
    if late:
        raise RefusedError(f'{side.folder} has rollouts that are not judged (first: item "{late[0]}"); {way_on}')


def _judge_command(side: Side, suite: Suite) -> str:
    current = read_current(side.folder)
    asked = (current.suite_path if current else "") or side.plan.suite_path
    elsewhere = suite.path is not None and Path(asked) != suite.path.absolute()
    return f"steelyard judge {side.folder}" + (f" --suite {suite.path}" if elsewhere else "")
