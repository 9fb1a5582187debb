"""Corrections for several tests: Bonferroni, Holm and Benjamini-Hochberg. Pure.

Bonferroni and Holm (1979, Scand. J. Stat. 6, 65-70) hold the chance of any false rejection at alpha, whatever the
dependence. Benjamini and Hochberg (1995, J. R. Stat. Soc. B 57, 289-300) hold the expected share of false rejections
at q, for independent or positively dependent tests.
Easy to break: a p-value exactly on its threshold is rejected, so thresholds are compared with a tolerance of 1e-12.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from steelyard.errors import InputError
from steelyard.stats.results import check_level

_TIE = 1.0 + 1e-12


class Corrected(msgspec.Struct, frozen=True):
    """In the order given: which hypotheses are rejected, and the adjusted p-values; `k_star` counts rejections."""

    reject: list[bool]
    adjusted: list[float]
    k_star: int
    level: float
    method: str


def bonferroni(pvalues: Sequence[float], alpha: float = 0.05) -> Corrected:
    """Bonferroni: p * m, at most 1."""
    _check(pvalues, alpha)
    return _corrected([min(1.0, p * len(pvalues)) for p in pvalues], alpha, "bonferroni")


def holm(pvalues: Sequence[float], alpha: float = 0.05) -> Corrected:
    """Holm's step-down: the running maximum of p_(i) * (m - i + 1), at most 1."""
    _check(pvalues, alpha)
    m, adjusted, worst = len(pvalues), [1.0] * len(pvalues), 0.0
    for rank, index in enumerate(_order(pvalues)):
        worst = max(worst, min(1.0, pvalues[index] * (m - rank)))
        adjusted[index] = worst
    return _corrected(adjusted, alpha, "holm")


def benjamini_hochberg(pvalues: Sequence[float], q: float = 0.05) -> Corrected:
    """Benjamini-Hochberg's step-up: the running minimum from the largest of p_(i) * m / i."""
    _check(pvalues, q)
    m, adjusted, best = len(pvalues), [1.0] * len(pvalues), 1.0
    order = _order(pvalues)
    for rank in range(m, 0, -1):
        best = min(best, pvalues[order[rank - 1]] * m / rank)
        adjusted[order[rank - 1]] = best
    return _corrected(adjusted, q, "benjamini_hochberg")


def familywise_error(m: int, alpha: float = 0.05) -> float:
    """Chance of at least one false rejection in m independent tests at alpha: 1 - (1 - alpha)^m."""
    if m < 0:
        raise InputError(f"the number of tests must be 0 or more, got {m}")
    return float(1.0 - (1.0 - check_level(alpha, "alpha")) ** m)


def _corrected(adjusted: list[float], level: float, method: str) -> Corrected:
    reject = [p <= level * _TIE for p in adjusted]
    return Corrected(reject, adjusted, sum(reject), level, method)


def _order(pvalues: Sequence[float]) -> list[int]:
    return sorted(range(len(pvalues)), key=pvalues.__getitem__)


def _check(pvalues: Sequence[float], level: float) -> None:
    check_level(level, "the error level")
    for p in pvalues:
        if not 0.0 <= p <= 1.0:
            raise InputError(f"a p-value lies in [0, 1], got {p}")
