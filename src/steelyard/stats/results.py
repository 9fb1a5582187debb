"""What a statistic returns: an estimate or a test that carries its method, size and seed with it.

Source: seed 000's evalstats (requirement T-37). A number without its method and seed cannot be checked by anyone.
"""

from __future__ import annotations

from typing import Any

import msgspec

from steelyard.errors import InputError


class Estimate(msgspec.Struct, frozen=True):
    """A point estimate with its interval [ci_low, ci_high] at `level`; `n` is the number of observations."""

    name: str
    point: float
    ci_low: float
    ci_high: float
    level: float
    method: str
    n: int
    n_boot: int | None = None
    seed: int | None = None
    extra: dict[str, Any] = {}

    def as_mlflow(self) -> dict[str, float]:
        """Metrics for a tracker: `<name>.point`, `<name>.ci_low` and `<name>.ci_high`."""
        return {f"{self.name}.{part}": getattr(self, part) for part in ("point", "ci_low", "ci_high")}

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain data."""
        return dict(msgspec.to_builtins(self))


class TestResult(msgspec.Struct, frozen=True):
    """A two-sided test: its statistic, p-value, and the estimated effect in the units of the data."""

    __test__ = False  # the name begins like a test class, and pytest would collect it

    name: str
    statistic: float
    pvalue: float
    effect: float
    method: str
    n: int
    extra: dict[str, Any] = {}

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain data."""
        return dict(msgspec.to_builtins(self))


def check_level(level: float, name: str = "level") -> float:
    """A confidence level, alpha or power strictly between 0 and 1; InputError otherwise."""
    if not 0.0 < level < 1.0:
        raise InputError(f"{name} must lie strictly between 0 and 1, got {level}")
    return level
