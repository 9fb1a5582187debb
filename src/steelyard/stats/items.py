"""Statistics of single items: pass-rate intervals, point-biserial discrimination, 1PL difficulty.

A table of responses has one row a respondent (a model, or one model's rollout) and one column an item. Difficulty and
discrimination are the words of item response theory: how hard an item is, and how well it separates the able from the
rest. Sources: Wilson 1927; point-biserial: Lord and Novick 1968, Statistical Theories of Mental Test Scores, section
15.5, with the item taken out of the total; 1PL: Rasch 1960, by joint maximum likelihood (Wright and Panchapakesan
1969), which equals a logistic regression on respondents and items.
Easy to break: joint estimates are pushed outward by about L/(L-1) for L items when each item has few responses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from steelyard.errors import InputError
from steelyard.stats.needs import numpy
from steelyard.stats.rates import Interval, wilson
from steelyard.stats.results import check_level


def pass_rate_intervals(counts: Sequence[tuple[int, int]], level: float = 0.95) -> list[Interval | None]:
    """Wilson's interval of each item's pass rate from (n, c); None for an item without judged rollouts."""
    check_level(level)
    found: list[Interval | None] = []
    for n, c in counts:
        if not 0 <= c <= n:
            raise InputError(f"need 0 <= c <= n, got n={n}, c={c}")
        found.append(Interval(*wilson(c / n, n, level), level, "wilson") if n else None)
    return found


def point_biserial(responses: Any) -> list[float | None]:
    """Each item's correlation with the rest of the test, in [-1, 1]; None where either has no spread.

    `responses` has shape (n_respondents, n_items), 0 or 1, NaN where missing; the rest score is the mean over the other
    items that the respondent has. Needs three respondents and two items.
    """
    np = numpy()
    table = np.asarray(responses, float)
    if table.ndim != 2 or table.shape[0] < 3 or table.shape[1] < 2:
        raise InputError(f"discrimination needs a table of 3 respondents and 2 items or more, got {table.shape}")
    known = ~np.isnan(table)
    filled = np.where(known, table, 0.0)
    others = known.sum(axis=1, keepdims=True) - known
    rest = np.where(others > 0, (filled.sum(axis=1, keepdims=True) - filled) / np.maximum(others, 1), np.nan)
    found: list[float | None] = []
    for item in range(table.shape[1]):
        use = known[:, item] & ~np.isnan(rest[:, item])
        x, y = table[use, item], rest[use, item]
        spread = len(x) > 2 and float(x.std()) > 0 and float(y.std()) > 1e-12
        found.append(float(np.corrcoef(x, y)[0, 1]) if spread else None)
    return found


class Rasch(msgspec.Struct, frozen=True):
    """1PL estimates in logits, mean ability 0; an extreme item or respondent is +-inf with an infinite error."""

    difficulty: list[float]
    difficulty_se: list[float]
    ability: list[float]
    iterations: int


def rasch_difficulty(passed: Any, tried: Any) -> Rasch:
    """1PL difficulties with standard errors from counts of shape (n_respondents, n_items).

    P(pass) = 1/(1 + exp(difficulty - ability)); a difficulty of 0 is passed half the time by a respondent of average
    ability. One respondent is enough: then difficulty is -logit(pass rate). Items that all or none pass are left out of
    the fit and come back as -inf or inf. InputError where the estimates do not exist (respondents or items that
    nothing links). Assumes independent rollouts given ability and difficulty, and equal discrimination.
    """
    np = numpy()
    c, n = np.atleast_2d(np.asarray(passed, float)), np.atleast_2d(np.asarray(tried, float))
    if c.shape != n.shape or (c < 0).any() or (c > n).any():
        raise InputError(f"need 0 <= passed <= tried in tables of one shape, got {c.shape} and {n.shape}")
    rows, columns = _fitted(c, n)
    if not rows.any() or not columns.any():
        raise InputError("every item is passed by all or by none: difficulty has no finite estimate")
    theta, b, variance, iterations = _fit(c[np.ix_(rows, columns)], n[np.ix_(rows, columns)])
    difficulty, errors, ability = _extremes(c, n, axis=0), np.full(c.shape[1], np.inf), -_extremes(c, n, axis=1)
    difficulty[columns], errors[columns], ability[rows] = b, np.sqrt(variance), theta
    return Rasch(difficulty.tolist(), errors.tolist(), ability.tolist(), iterations)


def _fitted(c: Any, n: Any) -> tuple[Any, Any]:
    """Which respondents and items are left when extreme ones are taken out, again and again."""
    np = numpy()
    rows, columns = np.ones(c.shape[0], bool), np.ones(c.shape[1], bool)
    while True:
        inside = rows[:, None] & columns[None, :]
        passes, tries = np.where(inside, c, 0), np.where(inside, n, 0)
        keep = [(passes.sum(axis) > 0) & (passes.sum(axis) < tries.sum(axis)) for axis in (1, 0)]
        if (keep[0] == rows).all() and (keep[1] == columns).all():
            return rows, columns
        rows, columns = rows & keep[0], columns & keep[1]


def _extremes(c: Any, n: Any, axis: int) -> Any:
    """Inf for a row or column that nobody passes, -inf for one that all pass, NaN for one without tries."""
    np = numpy()
    passes, tries = c.sum(axis), n.sum(axis)
    return np.where(tries == 0, np.nan, np.where(2 * passes <= tries, np.inf, -np.inf))


def _fit(c: Any, n: Any) -> tuple[Any, Any, Any, int]:
    """Newton's method on both sides at once; the items' block is diagonal, so only the respondents' is solved."""
    np = numpy()
    m = c.shape[0]
    theta, b = np.zeros(m), np.zeros(c.shape[1])
    basis = np.vstack([np.eye(m - 1), -np.ones((1, m - 1))])  # abilities that sum to 0
    for iteration in range(1, 101):
        p = 1 / (1 + np.exp(b[None, :] - theta[:, None]))
        weight, away = n * p * (1 - p), c - n * p
        d = weight.sum(axis=0)
        if not np.isfinite(d).all() or (d < 1e-9).any():
            break
        shared = (weight / d) @ weight.T
        reduced = basis.T @ (np.diag(weight.sum(axis=1)) - shared) @ basis
        try:
            inverse = np.linalg.inv(reduced)
        except np.linalg.LinAlgError:
            break
        step_theta = basis @ inverse @ (basis.T @ (away.sum(axis=1) - weight @ (away.sum(axis=0) / d)))
        step_b = (weight.T @ step_theta - away.sum(axis=0)) / d
        scale = min(1.0, 2.0 / max(1e-12, float(np.abs(step_theta).max(initial=0)), float(np.abs(step_b).max())))
        theta, b = theta + scale * step_theta, b + scale * step_b
        if max(float(np.abs(step_theta).max(initial=0)), float(np.abs(step_b).max())) < 1e-10:
            loading = (weight / d).T @ basis
            return theta, b, 1 / d + np.einsum("ij,jk,ik->i", loading, inverse, loading), iteration
    raise InputError("difficulties have no finite estimate: respondents and items fall into parts that nothing links")
