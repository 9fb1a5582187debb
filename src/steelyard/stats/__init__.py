"""Statistics: pure functions that name their formula, source and assumption; docs/statistics.md says which one when.

numpy and scipy (the extra `stats`) are loaded by the functions that need them, never by importing this.
"""

from steelyard.stats.agreement import cohen_kappa
from steelyard.stats.bootstrap import bootstrap_mean, bootstrap_paired_diff, bootstrap_statistic
from steelyard.stats.clustered import clustered_mean
from steelyard.stats.intervals import clopper_pearson, exact_difference, paired_difference, rate_se, tango
from steelyard.stats.items import pass_rate_intervals, point_biserial, rasch_difficulty
from steelyard.stats.multiple import benjamini_hochberg, bonferroni, familywise_error, holm
from steelyard.stats.paired import mcnemar, mcnemar_p, mcnemar_test, paired_t, sign_flip
from steelyard.stats.passk import maj_at_k, pass_table, self_consistency
from steelyard.stats.power import (
    mde_mcnemar,
    mde_paired_mean,
    power_mcnemar,
    required_n_mcnemar,
    required_n_paired_mean,
)
from steelyard.stats.rates import mean_rate, pass_at_k, pass_hat_k, wilson
from steelyard.stats.results import Estimate, TestResult
from steelyard.stats.tost import tost_paired

__all__ = [
    "Estimate",
    "TestResult",
    "benjamini_hochberg",
    "bonferroni",
    "bootstrap_mean",
    "bootstrap_paired_diff",
    "bootstrap_statistic",
    "clopper_pearson",
    "clustered_mean",
    "cohen_kappa",
    "exact_difference",
    "familywise_error",
    "holm",
    "maj_at_k",
    "mcnemar",
    "mcnemar_p",
    "mcnemar_test",
    "mde_mcnemar",
    "mde_paired_mean",
    "mean_rate",
    "paired_difference",
    "paired_t",
    "pass_at_k",
    "pass_hat_k",
    "pass_rate_intervals",
    "pass_table",
    "point_biserial",
    "power_mcnemar",
    "rasch_difficulty",
    "rate_se",
    "required_n_mcnemar",
    "required_n_paired_mean",
    "self_consistency",
    "sign_flip",
    "tango",
    "tost_paired",
    "wilson",
]
