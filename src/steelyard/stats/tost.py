"""Equivalence by two one-sided tests: whether a paired difference is shown to lie within a margin.

Source: Schuirmann 1987, J. Pharmacokinet. Biopharm. 15, 657-680. At level alpha it rejects "the difference is at least
the margin" exactly where the 1 - 2*alpha t interval lies inside (-margin, margin). Assumes independent pairs, near
normal or many; with groups, give the groups' differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from steelyard.errors import InputError
from steelyard.stats.needs import numpy, special
from steelyard.stats.results import TestResult


def tost_paired(a: Sequence[float], b: Sequence[float], margin: float) -> TestResult:
    """The larger p of the two one-sided paired t tests; small means equivalent within +-margin.

    The effect is mean(a) - mean(b) in the units of the data; `extra` holds both p-values. Without any spread p is 0.0
    where the mean lies inside the margin, else 1.0. Needs two pairs and a margin above 0.
    """
    if len(a) != len(b) or len(a) < 2:
        raise InputError(
            f"equivalence needs two lists of the same length, two pairs or more, got {len(a)} and {len(b)}"
        )
    if not margin > 0:
        raise InputError(f"the margin must be above 0, got {margin}")
    np = numpy()
    differences = np.asarray(a, float) - np.asarray(b, float)
    n, mean = len(differences), float(differences.mean())
    se = float(differences.std(ddof=1)) / sqrt(n)
    extra = {"margin": margin, "df": n - 1}
    if se == 0.0:
        p = float(abs(mean) >= margin)
        return TestResult("tost", 0.0, p, mean, "tost_paired_t", n, extra | {"p_lower": p, "p_upper": p})
    above, below = (mean + margin) / se, (mean - margin) / se
    lower, upper = float(special().stdtr(n - 1, -above)), float(special().stdtr(n - 1, below))
    statistic = above if lower >= upper else below
    return TestResult(
        "tost", statistic, max(lower, upper), mean, "tost_paired_t", n, extra | {"p_lower": lower, "p_upper": upper}
    )
