"""Agreement of two raters beyond chance: Cohen's kappa. Pure.

Source: Cohen 1960, Educ. Psychol. Meas. 20, 37-46; standard error by Fleiss, Cohen and Everitt 1969, Psychol. Bull.
72, 323-327. Assumes that the subjects are independent and that both raters use the same labels.
Not covered: more than two raters, ordered labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from math import sqrt
from statistics import NormalDist

from steelyard.errors import InputError
from steelyard.stats.results import Estimate, check_level


def cohen_kappa(a: Sequence[Hashable], b: Sequence[Hashable], level: float = 0.95) -> Estimate:
    """Kappa = (p_o - p_e)/(1 - p_e) of two label lists of equal length, in [-1, 1], with a large-sample interval.

    `extra` holds observed and expected agreement and the standard error. InputError when the lists are empty or of
    different length, or when both raters give one and the same label throughout (chance agreement is then 1).
    """
    check_level(level)
    if len(a) != len(b) or not a:
        raise InputError(f"two label lists of the same length are needed, got {len(a)} and {len(b)}")
    n = len(a)
    pairs, rows, columns = Counter(zip(a, b, strict=True)), Counter(a), Counter(b)
    observed = sum(count for (x, y), count in pairs.items() if x == y) / n
    expected = sum(rows[label] * columns[label] for label in rows) / n**2
    if expected == 1.0:
        raise InputError("both raters give one label throughout, so kappa is not defined")
    kappa = (observed - expected) / (1 - expected)
    agree = sum(
        count / n * (1 - (rows[x] + columns[x]) / n * (1 - kappa)) ** 2 for (x, y), count in pairs.items() if x == y
    )
    differ = (1 - kappa) ** 2 * sum(
        count / n * ((columns[x] + rows[y]) / n) ** 2 for (x, y), count in pairs.items() if x != y
    )
    variance = agree + differ - (kappa - expected * (1 - kappa)) ** 2
    se = sqrt(max(0.0, variance) / n) / (1 - expected)
    half = NormalDist().inv_cdf(0.5 + level / 2) * se
    extra = {"observed": observed, "expected": expected, "se": se}
    low, high = max(-1.0, kappa - half), min(1.0, kappa + half)
    return Estimate("kappa", kappa, low, high, level, "cohen kappa, Fleiss-Cohen-Everitt", n, extra=extra)
