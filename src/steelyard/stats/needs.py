"""The numeric packages behind the statistics, loaded when a function first needs them.

Pass rates, their intervals, pass@k, McNemar's test, corrections and kappa are pure Python, so that a report needs
nothing; resampling, exact power, t and beta distributions need numpy and scipy (the extra `stats`).
Easy to break: `scipy.stats` costs a second to import; everything here lives on `scipy.special`.
"""

from __future__ import annotations

import importlib
from typing import Any

from steelyard.errors import InputError


def numpy() -> Any:
    """The numpy module; InputError with the way to get it where it is missing."""
    return _load("numpy")


def special() -> Any:
    """The scipy.special module; InputError with the way to get it where it is missing."""
    return _load("scipy.special")


def _load(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise InputError(f"this statistic needs {package}: pip install 'steelyard[stats]'") from error
