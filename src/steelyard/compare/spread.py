"""Seed 001's rule: the new run must beat the baseline by more than the baseline's own spread over seeds.

Both runs need the same items, seeds and number of rollouts (and, by the join, the same limits). The spread is the
sample standard deviation of the baseline's pass rates, one a seed. Not a test of significance: with three seeds the
spread itself is a rough guess, so the word of the comparison stands beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean, stdev

import msgspec

from steelyard.compare.figures import READINGS, Counts
from steelyard.compare.runs import Joined, Side
from steelyard.errors import RefusedError

_TIE = 1e-12
"""0.050 - 0.025 must not beat 0.025 by a rounding error."""


class SeedSpread(msgspec.Struct, frozen=True):
    """Pass rates by seed, their means and the baseline's spread; `beats` is None where what is unknown decides it."""

    seeds: list[int]
    a: list[float]
    b: list[float]
    mean_a: float
    mean_b: float
    spread: float
    beats: bool | None


def seed_spread(joined: Joined, i: int = 0, j: int = 1) -> SeedSpread:
    """The rule for runs i (baseline) and j (new); RefusedError where they differ in items, seeds or rollouts."""
    a, b = joined.sides[i], joined.sides[j]
    _check(joined, a, b, (i, j))
    found = {name: [_by_seed(joined, side, passes) for side, passes in zip((a, b), how, strict=True)]
             for name, how in READINGS.items()}  # fmt: skip
    rates_a, rates_b = found["unknown dropped"]
    if not rates_a or not rates_b:
        raise RefusedError("the seed spread needs a judged rollout of every seed on both sides")
    answers = {beats(*rates) for rates in found.values()}
    seeds = [a.plan.seed + n for n in range(a.plan.rollouts)]
    verdict = answers.pop() if len(answers) == 1 else None
    return SeedSpread(seeds, rates_a, rates_b, mean(rates_a), mean(rates_b), stdev(rates_a), verdict)


def beats(baseline: Sequence[float], new: Sequence[float]) -> bool:
    """Whether the mean of the new rates is above the baseline's by more than the baseline's sample deviation."""
    return mean(new) - mean(baseline) > stdev(baseline) + _TIE


def _check(joined: Joined, a: Side, b: Side, which: tuple[int, int]) -> None:
    differ = [
        f"{name} ({one} in {a.folder}, {other} in {b.folder})"
        for name, one, other in (
            ("base seed", a.plan.seed, b.plan.seed),
            ("rollouts", a.plan.rollouts, b.plan.rollouts),
            ("items beyond the common ones", joined.only[which[0]], joined.only[which[1]]),
        )
        if one != other
    ]
    if differ:
        raise RefusedError(
            f"the seed spread needs the same items, seeds and rollouts; they differ in {'; '.join(differ)}"
        )
    if a.plan.rollouts < 2:
        raise RefusedError(
            f"the seed spread needs two seeds or more, and {a.folder} has one rollout an item; extend both runs: "
            "steelyard run ... --rollouts 3 --resume"
        )


def _by_seed(joined: Joined, side: Side, passes: bool | None) -> list[float]:
    """The pass rate of each rollout index; empty where one has no judged rollout."""
    rates = []
    for number in range(side.plan.rollouts):
        outcomes = [side.outcomes.get(item.id, {}).get(number) for item in joined.items]
        counts = Counts(outcomes.count(True), outcomes.count(False), outcomes.count(None)).read(passes)
        if not counts.judged:
            return []
        rates.append(counts.rate)
    return rates
