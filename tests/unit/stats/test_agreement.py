"""Cohen's kappa, equivalence, and statistics that need a package which is not there."""

from __future__ import annotations

import subprocess
import sys

import pytest

from steelyard.errors import InputError
from steelyard.stats.agreement import cohen_kappa
from steelyard.stats.tost import tost_paired


def test_kappa_of_the_textbook_table() -> None:
    """20 both yes, 15 both no, 5 and 10 apart: .4 (agreement .7 where .5 is chance). [T-42]"""
    a = ["y"] * 25 + ["n"] * 25
    b = ["y"] * 20 + ["n"] * 5 + ["y"] * 10 + ["n"] * 15
    found = cohen_kappa(a, b)
    assert pytest.approx((0.4, 0.7, 0.5)) == (found.point, found.extra["observed"], found.extra["expected"])


def test_kappa_of_one_label_throughout_is_refused() -> None:
    """Chance agreement is then complete. [T-42]"""
    with pytest.raises(InputError, match="one label throughout"):
        cohen_kappa(["a", "a"], ["a", "a"])
    with pytest.raises(InputError, match="same length are needed, got 1 and 2"):
        cohen_kappa(["a"], ["a", "b"])


def test_equivalence_is_shown_by_many_small_differences_and_not_by_few() -> None:
    """A margin of .05; without any spread the mean decides. [T-37]"""
    many = tost_paired([1.0, 0.0] * 500 + [0.0], [0.0, 1.0] * 500 + [0.0], 0.1)
    few = tost_paired([1.0, 0.0] * 5, [0.0, 1.0] * 5, 0.1)
    assert many.pvalue < 0.05 < few.pvalue
    assert (0.0, 1.0) == (tost_paired([1, 2], [1, 2], 0.1).pvalue, tost_paired([2, 3], [1, 2], 0.1).pvalue)
    with pytest.raises(InputError, match="the margin must be above 0"):
        tost_paired([1, 2], [1, 2], 0.0)


def test_rates_and_mcnemar_need_no_numeric_package_and_others_name_the_extra() -> None:
    """A report runs without numpy and scipy; a bootstrap says what to install. [T-36]"""
    code = """
import sys
sys.modules["numpy"] = sys.modules["scipy"] = sys.modules["scipy.special"] = None
from steelyard.stats.agreement import cohen_kappa
from steelyard.stats.multiple import holm
from steelyard.stats.paired import mcnemar
from steelyard.stats.passk import pass_table
from steelyard.stats.power import mde_mcnemar, required_n_mcnemar
from steelyard.stats.rates import mean_rate
mcnemar([1, 0], [0, 1]), mean_rate([(2, 1)]), holm([0.1]), pass_table({"a": [True]}), cohen_kappa("ab", "ba")
assert (305, True) == (required_n_mcnemar(0.08), mde_mcnemar(300) < 0.0806)
from steelyard.stats.bootstrap import bootstrap_mean
bootstrap_mean([0, 1])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "InputError: this statistic needs numpy: pip install 'steelyard[stats]'" in done.stderr
