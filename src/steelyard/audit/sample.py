"""A stratified sample of verdicts, and the error rates that its labels estimate. Pure.

Strata are verdict x family (the verifier where an item has no family). Each gets some of the sample, the rest goes in
proportion to size. Within a stratum verdicts are drawn by the hash of (seed, item, rollout): a simple random sample
that a larger `--sample` with the same seed extends.

Formulas. Among the verdicts of one kind, with N_h verdicts, n_h labels and w_h of them wrong in stratum h:
    W_h = N_h / sum N,    p = sum W_h w_h / n_h         (stratified estimator; Cochran 1977, Sampling Techniques, 5.1)
    n_eff = 1 / sum(W_h^2 / n_h)                         (effective size under unequal weights; Kish 1965, 11.7)
and Wilson's interval (1927) at n_eff. Rates over right or wrong *answers* join both kinds. With a the share of failed
verdicts that is wrong, b that of passed ones, F failed and P passed verdicts in the run:
    false-negative rate = F a / (F a + P (1 - b)),   false-positive rate = P b / (P b + F (1 - a))
whose interval takes a and b at the ends of their 97.5 % intervals (Bonferroni), so it holds at least 95 %.
Assumes that labels are right, and in n_eff one error rate in all strata of a verdict. The population's finite size is
not used, so intervals are too wide, never too narrow, when most of a run is labelled. Strata without labels are taken
to be like the others of their verdict. Voids are no answers refused or accepted: their share has its own line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from steelyard.canonical import sha256_hex
from steelyard.errors import InputError
from steelyard.stats.rates import wilson

DEFAULT_SAMPLE = 50
AT_LEAST = 2
"""Verdicts drawn of every stratum that has them, room permitting."""

Word = Literal["passed", "failed", "void"]
Stratum = tuple[Word, str]
Rollout = tuple[str, int]


class Counted(msgspec.Struct, frozen=True):
    """One stratum: how many verdicts it has, how many are labelled, and how many of those are wrong."""

    verdict: Word
    of: str
    size: int
    labelled: int
    wrong: int


class Share(msgspec.Struct, frozen=True):
    """An estimated rate in [0, 1] with its interval, from `n` labels; 95 % where nothing else is said."""

    rate: float
    low: float
    high: float
    n: int


class Estimate(msgspec.Struct, frozen=True):
    """What the labels say; None where there are none to say it."""

    strata: list[Counted]
    skipped: int
    wrong_among: dict[str, Share | None]
    false_negative_rate: Share | None
    false_positive_rate: Share | None


def allocate(sizes: Mapping[Stratum, int], n: int) -> dict[Stratum, int]:
    """How many to draw of each stratum: some of each, then whoever is furthest below its proportional share."""
    total = sum(sizes.values())
    n = min(n, total)
    if n < len(sizes):
        raise InputError(f"--sample {n} cannot cover the {len(sizes)} strata (verdict x family); ask for more")
    least = AT_LEAST if sum(min(AT_LEAST, size) for size in sizes.values()) <= n else 1
    drawn = {stratum: min(least, size) for stratum, size in sizes.items()}
    while sum(drawn.values()) < n:
        open_strata = [s for s in sorted(sizes) if drawn[s] < sizes[s]]
        furthest = max(open_strata, key=lambda s: n * sizes[s] / total - drawn[s])
        drawn[furthest] += 1
    return drawn


def draw(verdicts: Mapping[Stratum, Iterable[Rollout]], n: int, seed: str) -> list[Rollout]:
    """A stratified random sample, in an order that says nothing about the verdicts."""

    def rank(rollout: Rollout) -> str:
        return sha256_hex(f"{seed}\n{rollout[0]}\n{rollout[1]}".encode())

    ranked = {stratum: sorted(rollouts, key=rank) for stratum, rollouts in verdicts.items()}
    take = allocate({stratum: len(rollouts) for stratum, rollouts in ranked.items()}, n)
    return sorted((r for stratum, rollouts in ranked.items() for r in rollouts[: take[stratum]]), key=rank)


def wrong_share(strata: Sequence[Counted], level: float = 0.95) -> Share | None:
    """The share of wrong verdicts in the run's verdicts of these strata; None without labels."""
    known = [s for s in strata if s.labelled]
    if not known:
        return None
    total = sum(s.size for s in known)
    rate = sum(s.size / total * s.wrong / s.labelled for s in known)
    effective = 1 / sum((s.size / total) ** 2 / s.labelled for s in known)
    return Share(rate, *wilson(rate, effective, level), n=sum(s.labelled for s in known))


def estimate(strata: Sequence[Counted], skipped: int = 0) -> Estimate:
    """Every rate that the labels give."""
    by: dict[str, list[Counted]] = {
        word: [s for s in strata if s.verdict == word] for word in ("passed", "failed", "void")
    }
    return Estimate(
        list(strata),
        skipped,
        {word: wrong_share(found) for word, found in by.items() if found},
        _over_answers(by["failed"], by["passed"]),
        _over_answers(by["passed"], by["failed"]),
    )


def _over_answers(wrongly: Sequence[Counted], rightly: Sequence[Counted]) -> Share | None:
    """Of the answers that deserved the other verdict than `wrongly`, the share that did not get it."""
    level = 1 - 0.05 / 2
    a, b = wrong_share(wrongly, level), wrong_share(rightly, level)
    if (wrongly and a is None) or (rightly and b is None):
        return None
    a, b = a or Share(0.0, 0.0, 0.0, 0), b or Share(0.0, 0.0, 0.0, 0)
    n_wrongly, n_rightly = sum(s.size for s in wrongly), sum(s.size for s in rightly)

    def rate(wrong: float, other: float) -> float | None:
        bad, good = n_wrongly * wrong, n_rightly * (1 - other)
        return bad / (bad + good) if bad + good else None

    middle = rate(a.rate, b.rate)
    if middle is None:  # no answer of that sort was seen
        return None
    low, high = rate(a.low, b.low), rate(a.high, b.high)
    return Share(middle, middle if low is None else low, middle if high is None else high, a.n + b.n)
