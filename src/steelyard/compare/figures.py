"""The figures of one paired comparison, from counts an item. Pure.

B is compared with A: a difference is B - A, the mean over items of the difference of the item's two pass rates. One
rollout an item and no groups: McNemar's test, and Tango's interval widened to agree with the exact test. Else whole
groups are resampled (expanded percentile bootstrap), and the interval is widened to hold 0 where the sign-flip test,
which is exact however few the groups, does not reject. With fewer than 20 groups, or so few that differ that no exact
test could reject, resampling sees too little: the interval is at least Tango's over groups, each won, lost or even.
An outcome that is not known (void, error, unfinished) is dropped for the figures; the word must survive both bounds.
Easy to break: mirroring. Swapping A and B must turn every figure around, to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from steelyard.compare.words import agreed, word
from steelyard.errors import InputError
from steelyard.stats.bootstrap import bootstrap_ratio
from steelyard.stats.intervals import paired_difference, tango
from steelyard.stats.needs import numpy
from steelyard.stats.paired import mcnemar_p, sign_flip
from steelyard.stats.power import mde_mcnemar, mde_paired_mean
from steelyard.stats.rates import Interval, bounds, mean_rate, wilson

FEW_GROUPS = 20
"""Below this a resampled interval may be far too narrow: six equal differences would have none at all."""


class Counts(msgspec.Struct, frozen=True):
    """One side's rollouts of an item; `unknown` are voids, errors and rollouts that were never finished."""

    passed: int
    failed: int
    unknown: int = 0

    @property
    def judged(self) -> int:
        return self.passed + self.failed

    @property
    def total(self) -> int:
        return self.judged + self.unknown

    @property
    def rate(self) -> float:
        return self.passed / self.judged

    def read(self, passes: bool | None) -> Counts:
        """The counts when all that is unknown is dropped (None), passed, or failed."""
        if passes is None:
            return Counts(self.passed, self.failed)
        return Counts(self.passed + self.unknown * passes, self.failed + self.unknown * (not passes))


class Pair(msgspec.Struct, frozen=True):
    """One item on both sides, with the labels that it is grouped by."""

    item: str
    group: str
    a: Counts
    b: Counts
    domain: str = ""
    difficulty: str = ""


class Criteria(msgspec.Struct, frozen=True):
    """What a comparison is held to: `margin` in rate units, interval `level`, and the seed of every resampling."""

    margin: float = 0.05
    level: float = 0.95
    power: float = 0.80
    seed: int = 0
    n_boot: int = 10_000

    def __post_init__(self) -> None:
        word(0.0, 0.0, self.margin)  # refuses a margin that is none

    @property
    def alpha(self) -> float:
        return 1 - self.level


class Mcnemar(msgspec.Struct, frozen=True):
    """One rollout on each side: items only B passes, items only A passes, and both p-values."""

    gained: int
    lost: int
    exact: float
    midp: float


class Rate(msgspec.Struct, frozen=True, omit_defaults=True):
    """A side's mean pass rate over the paired items, its interval, its bounds where something is unknown, rollouts."""

    rate: float
    interval: Interval
    n: int
    n_unknown: int = 0
    bounds: tuple[float, float] | None = None


class Figures(msgspec.Struct, frozen=True):
    """A comparison of B with A. None where no item is judged on both sides."""

    n_items: int
    n_dropped: int
    n_groups: int
    a: Rate | None
    b: Rate | None
    difference: float | None
    interval: Interval | None
    p: float | None
    test: str
    mcnemar: Mcnemar | None
    mde: float | None
    word: str
    words: dict[str, str]


class Shown(msgspec.Struct, frozen=True):
    """What one reading of the unknown shows."""

    difference: float
    interval: Interval
    p: float
    test: str
    mcnemar: Mcnemar | None = None
    se: float | None = None
    """Of the difference over groups; None where pairs were tested."""


READINGS: dict[str, tuple[bool | None, bool | None]] = {
    "unknown dropped": (None, None),
    "all against B": (True, False),
    "all for B": (False, True),
}
"""How a reading counts what is unknown on side A and on side B."""


def figures(pairs: Sequence[Pair], criteria: Criteria) -> Figures:
    """The comparison of B with A over these items; its word is the one that every reading of the unknown gives."""
    used = [p for p in pairs if p.a.judged and p.b.judged]
    groups, unknown = len({p.group for p in used}), any(p.a.unknown or p.b.unknown for p in pairs)
    main = show(pairs, criteria, "unknown dropped")
    words = {}
    for reading in READINGS if unknown else ("unknown dropped",):
        shown = main if reading == "unknown dropped" else show(pairs, criteria, reading)
        words[reading] = (
            "nothing to compare" if shown is None else word(shown.interval.low, shown.interval.high, criteria.margin)
        )
    return Figures(
        n_items=len(used),
        n_dropped=len(pairs) - len(used),
        n_groups=groups,
        a=_rate([(p.a, p.group) for p in used], [p.a for p in pairs], criteria.level),
        b=_rate([(p.b, p.group) for p in used], [p.b for p in pairs], criteria.level),
        difference=main.difference if main else None,
        interval=main.interval if main else None,
        p=main.p if main else None,
        test=main.test if main else "",
        mcnemar=main.mcnemar if main else None,
        mde=_mde(main, len(used), groups, criteria) if main else None,
        word=agreed(list(words.values())) if main else agreed([]),
        words=words,
    )


def _rate(used: Sequence[tuple[Counts, str]], all_counts: Sequence[Counts], level: float) -> Rate | None:
    if not used:
        return None
    interval = mean_rate([(c.judged, c.passed) for c, _ in used], [group for _, group in used], level)
    rate = sum(c.rate for c, _ in used) / len(used)
    unknown = sum(c.unknown for c in all_counts)
    limits = bounds(sum(c.passed for c in all_counts), sum(c.judged for c in all_counts), unknown) if unknown else None
    return Rate(rate, interval, sum(c.judged for c, _ in used), unknown, limits)


def show(pairs: Sequence[Pair], criteria: Criteria, reading: str = "unknown dropped") -> Shown | None:
    """The difference under one of `READINGS`; None where no item is left on both sides."""
    if reading not in READINGS:
        raise InputError(f'no reading "{reading}"; known: {", ".join(READINGS)}')
    on_a, on_b = READINGS[reading]
    read = [(p.a.read(on_a), p.b.read(on_b), p.group) for p in pairs]
    read = [(a, b, group) for a, b, group in read if a.judged and b.judged]
    if not read:
        return None
    single = all(p.a.total <= 1 and p.b.total <= 1 for p in pairs)
    if single and len({group for *_, group in read}) == len(read):
        return _by_pairs([(a.passed, b.passed) for a, b, _ in read], criteria)
    shown = _by_groups(read, criteria)
    return (
        msgspec.structs.replace(shown, mcnemar=_mcnemar([(a.passed, b.passed) for a, b, _ in read]))
        if single
        else shown
    )


def _mcnemar(outcomes: Sequence[tuple[int, int]]) -> Mcnemar:
    gained, lost = sum(b > a for a, b in outcomes), sum(a > b for a, b in outcomes)
    return Mcnemar(gained, lost, mcnemar_p(gained, lost), mcnemar_p(gained, lost, "midp"))


def _by_pairs(outcomes: Sequence[tuple[int, int]], criteria: Criteria) -> Shown:
    """One rollout on each side of independent items."""
    test, n = _mcnemar(outcomes), len(outcomes)
    interval = paired_difference(test.gained, test.lost, n, criteria.level)
    return Shown((test.gained - test.lost) / n, interval, test.exact, "mcnemar_exact", test)


def _mde(shown: Shown, n: int, groups: int, criteria: Criteria) -> float | None:
    """The minimum detectable effect of the test that was used; None where nothing can be detected or said."""
    if shown.se is not None:
        return mde_paired_mean(shown.se, criteria.alpha, criteria.power, groups) if shown.se > 0 else None
    if shown.mcnemar is None:
        return None
    discordant = shown.mcnemar.gained + shown.mcnemar.lost
    psi = discordant / n if discordant else wilson(0.0, n, criteria.level)[1]
    return mde_mcnemar(n, psi, criteria.alpha, criteria.power, "exact")


def _by_groups(read: Sequence[tuple[Counts, Counts, str]], criteria: Criteria) -> Shown:
    """Several rollouts, or items that share groups: groups are the independent things."""
    sums, sizes = _group_sums(read)
    found = bootstrap_ratio(sums, sizes, criteria.level, criteria.n_boot, criteria.seed, "difference", "expanded")
    test = sign_flip(sums, seed=criteria.seed)
    low, high, method = found.ci_low, found.ci_high, found.method
    won, lost, g = int((sums > 0).sum()), int((sums < 0).sum()), len(sums)
    if g < FEW_GROUPS or 2.0 ** (1 - won - lost) >= criteria.alpha:
        least = tango(won, lost, g, criteria.level)
        low, high, method = min(low, least.low), max(high, least.high), f"{method}, at least tango over groups"
    if test.pvalue >= criteria.alpha:
        low, high = min(low, 0.0), max(high, 0.0)
    interval = Interval(low, high, criteria.level, method)
    return Shown(found.point, interval, test.pvalue, test.method, se=found.extra["se"])


def _group_sums(read: Sequence[tuple[Counts, Counts, str]]) -> tuple[Any, Any]:
    """Arrays of each group's sum of differences and number of items."""
    cells: dict[str, list[float]] = {}
    for a, b, group in read:
        cell = cells.setdefault(group, [0.0, 0.0])
        cell[0] += b.rate - a.rate
        cell[1] += 1
    table = numpy().asarray(list(cells.values()))
    return table[:, 0], table[:, 1]
