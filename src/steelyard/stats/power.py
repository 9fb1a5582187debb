"""How many items a paired comparison needs, its power, and the smallest effect that a given n detects.

Units: `delta` is the difference of two pass rates in (0, 1], `discordant` the share of items on which the two sides
differ (psi), so a difference can never exceed it. All tests are two-sided at `alpha`.
Sources: asymptotic: Connor 1987, Biometrics 43, 207-211 (requirement T-19's equation 7.11). Exact and mid-p: power of
the conditional tests, averaged over the number of discordant pairs ~ Binomial(n, psi). Paired mean: equation 7.10.
Assumes independent items: groups or a poor guess of psi make every figure here optimistic.
"""

from __future__ import annotations

from math import ceil, sqrt
from statistics import NormalDist
from typing import Any, Literal, get_args

from steelyard.errors import InputError, did_you_mean
from steelyard.stats.needs import numpy, special
from steelyard.stats.results import check_level

PowerMethod = Literal["asymptotic", "exact", "midp"]
MOST_ITEMS = 10_000_000
"""Above this an exact size is refused: the asymptotic one differs by less than a thousandth."""


def required_n_mcnemar(
    delta: float, discordant: float = 0.25, alpha: float = 0.05, power: float = 0.80, method: PowerMethod = "asymptotic"
) -> int:
    """Items with which McNemar's test finds a paired difference `delta` with `power`.

    asymptotic: ceil((z_{1-alpha/2} sqrt(psi) + z_{power} sqrt(max(0, psi - delta^2)))^2 / delta^2). exact and midp: the
    smallest n whose power is reached; these need delta <= discordant (InputError) and scipy.
    """
    size = _asymptotic_n(delta, discordant, alpha, power)
    if _known(method) == "asymptotic":
        return ceil(size)
    _check_possible(delta, discordant)
    if size > MOST_ITEMS:
        raise InputError(f"about {size:.3g} items: too many to size {method}; use the asymptotic figure")
    high = ceil(size)
    while power_mcnemar(high, delta, discordant, alpha, method) < power:
        high = ceil(high * 1.05) + 1
    low = 0
    while high - low > 1:
        middle = (low + high) // 2
        reached = power_mcnemar(middle, delta, discordant, alpha, method) >= power
        low, high = (low, middle) if reached else (middle, high)
    return high


def _asymptotic_n(delta: float, discordant: float, alpha: float, power: float) -> float:
    _check_rates(delta, discordant)
    z_alpha, z_power = _quantiles(alpha, power)
    return (z_alpha * sqrt(discordant) + z_power * sqrt(max(0.0, discordant - delta**2))) ** 2 / delta**2


def power_mcnemar(
    n: int, delta: float, discordant: float = 0.25, alpha: float = 0.05, method: PowerMethod = "asymptotic"
) -> float:
    """Chance that McNemar's test on n items rejects, in [0, 1], when the true difference is `delta`."""
    _check_rates(delta, discordant)
    _check_possible(delta, discordant)
    if n < 1:
        raise InputError(f"n must be at least 1, got {n}")
    check_level(alpha, "alpha")
    if _known(method) != "asymptotic":
        return _conditional_power(n, delta, discordant, alpha, method)
    z_alpha, spread = NormalDist().inv_cdf(1 - alpha / 2), sqrt(max(0.0, discordant - delta**2))
    away = delta * sqrt(n) - z_alpha * sqrt(discordant)
    return NormalDist().cdf(away / spread) if spread else float(away >= 0)


def _conditional_power(n: int, delta: float, discordant: float, alpha: float, method: PowerMethod) -> float:
    """Sum over m discordant pairs of P(m) * P(the test rejects | m)."""
    np, sp = numpy(), special()
    spread = 9 * sqrt(n * discordant * (1 - discordant)) + 9  # beyond it lies less than 1e-15
    m = np.arange(max(1, int(n * discordant - spread)), min(n, int(n * discordant + spread) + 1) + 1)
    weight = sp.bdtr(m, n, discordant) - sp.bdtr(m - 1, n, discordant)
    critical = _critical(m, alpha, method)
    share = (discordant + delta) / (2 * discordant)
    known = np.maximum(critical, 0)
    rejects = sp.bdtr(known, m, share) + sp.bdtr(known, m, 1 - share)
    return float((weight * np.where(critical >= 0, rejects, 0.0)).sum())


def _critical(m: Any, alpha: float, method: PowerMethod) -> Any:
    """For each m, the largest count k <= m/2 at which the test still rejects; -1 where it never does."""
    np, sp = numpy(), special()
    z = NormalDist().inv_cdf(1 - alpha / 2)
    guess = np.floor(m / 2 - z * np.sqrt(m) / 2).astype(int)
    found = np.full(len(m), -1)
    for step in range(-4, 5):
        k = guess + step
        inside = np.clip(k, 0, m)
        p = 2 * sp.bdtr(inside, m, 0.5)
        if method == "midp":
            p = p - (sp.bdtr(inside, m, 0.5) - np.where(inside > 0, sp.bdtr(np.maximum(inside - 1, 0), m, 0.5), 0.0))
        found = np.where((k >= 0) & (2 * k < m) & (p <= alpha), np.maximum(found, k), found)
    return found


def mde_mcnemar(
    n: int, discordant: float = 0.25, alpha: float = 0.05, power: float = 0.80, method: PowerMethod = "asymptotic"
) -> float | None:
    """The minimum detectable effect: the smallest difference that n items find with `power`.

    None where not even a difference of `discordant`, the largest that there can be, is found.
    """
    check_level(power, "power")
    if power_mcnemar(n, discordant, discordant, alpha, method) < power:
        return None
    low, high = 0.0, discordant
    for _ in range(60 if method == "asymptotic" else 30):
        middle = (low + high) / 2
        if power_mcnemar(n, middle, discordant, alpha, method) < power:
            low = middle
        else:
            high = middle
    return high


def required_n_paired_mean(delta: float, sd_diff: float, alpha: float = 0.05, power: float = 0.80) -> int:
    """Items with which a paired test of means finds `delta`: ceil(((z_{1-alpha/2} + z_{power}) sd / delta)^2).

    `sd_diff` is the standard deviation of the items' differences; both in the units of the score. Normal approximation.
    """
    if delta <= 0 or sd_diff <= 0:
        raise InputError(f"delta and sd_diff must be above 0, got {delta} and {sd_diff}")
    return max(1, ceil((sum(_quantiles(alpha, power)) * sd_diff / delta) ** 2))


def mde_paired_mean(se: float, alpha: float = 0.05, power: float = 0.80, clusters: int | None = None) -> float:
    """The minimum detectable difference of means from its standard error: (z_{1-alpha/2} + z_{power}) * se.

    With `clusters` g the first quantile is that of the expanded bootstrap, t on g - 1 degrees of freedom times
    sqrt(g/(g - 1)): few clusters detect less.
    """
    if se < 0:
        raise InputError(f"a standard error is 0 or more, got {se}")
    z_alpha, z_power = _quantiles(alpha, power)
    if clusters is not None:
        if clusters < 2:
            raise InputError(f"two clusters are needed, got {clusters}")
        z_alpha = float(special().stdtrit(clusters - 1, 1 - alpha / 2)) * sqrt(clusters / (clusters - 1))
    return (z_alpha + z_power) * se


def _quantiles(alpha: float, power: float) -> tuple[float, float]:
    normal = NormalDist()
    return normal.inv_cdf(1 - check_level(alpha, "alpha") / 2), normal.inv_cdf(check_level(power, "power"))


def _known(method: str) -> str:
    if method not in get_args(PowerMethod):
        raise InputError(f'no sizing for the test "{method}"{did_you_mean(method, get_args(PowerMethod))}')
    return method


def _check_rates(delta: float, discordant: float) -> None:
    if not 0 < delta <= 1 or not 0 < discordant <= 1:
        raise InputError(f"delta and discordant must lie in (0, 1], got {delta} and {discordant}")


def _check_possible(delta: float, discordant: float) -> None:
    if delta > discordant:
        raise InputError(
            f"a difference of {delta:g} cannot come from a discordant rate of {discordant:g}: it is at most that rate"
        )
