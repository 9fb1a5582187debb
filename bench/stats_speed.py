"""How fast the statistics are on 10,000 items of 16 rollouts, in CPU seconds and MB, beside scipy and statsmodels.

    python bench/stats_speed.py [--items 10000] [--rollouts 16] [--rounds 3] [--json OUT.json]

The table is made up by a seeded generator: items differ in difficulty, one side passes a little more often. Each job
runs in a process of its own, so that its peak memory is its own; the figure is the median of the rounds, the ratio
that of medians of the same command. scipy's bootstrap and McNemar's test of statsmodels are called as their
documentation shows, in batches where there is a setting for it. Not measured: importing (told apart as `import_s`).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from measure import machine

SEED = 20_240_131
DRAWS = 10_000


def table(items: int, rollouts: int) -> tuple[Any, Any, list[int]]:
    """Outcomes of both sides, shape (items, rollouts), and a group of four items each."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    level = rng.beta(1, 1, (items, 1)) * 0.97
    a, b = rng.random((items, rollouts)) < level, rng.random((items, rollouts)) < level + 0.01
    return a.astype(float), b.astype(float), [i // 4 for i in range(items)]


def _ours_bootstrap(a: Any, b: Any, groups: list[int], *, grouped: bool = False, jitter: bool = False) -> Any:
    import numpy as np

    from steelyard.stats.bootstrap import bootstrap_paired_diff

    if jitter:  # scores with as many values as items, so that nothing can be drawn by counts
        b = b + np.arange(len(b))[:, None] * 1e-9
    found = bootstrap_paired_diff(b, a, groups if grouped else None, n_boot=DRAWS)
    return found.ci_low, found.ci_high


def _scipy_bootstrap(a: Any, b: Any, groups: list[int], *, grouped: bool = False) -> Any:
    import numpy as np
    from scipy import stats

    difference = b.mean(axis=1) - a.mean(axis=1)
    if not grouped:
        how: dict[str, Any] = {"n_resamples": DRAWS, "method": "percentile", "batch": 200, "rng": 1}
        found = stats.bootstrap((difference,), np.mean, **how).confidence_interval
        return found.low, found.high
    sums, sizes = np.bincount(groups, difference), np.bincount(groups).astype(float)

    def ratio(x: Any, y: Any, axis: int) -> Any:
        return x.sum(axis=axis) / y.sum(axis=axis)

    how = {"paired": True, "n_resamples": DRAWS, "method": "percentile", "batch": 200, "rng": 1}
    found = stats.bootstrap((sums, sizes), ratio, **how).confidence_interval
    return found.low, found.high


def _ours_mcnemar(a: Any, b: Any, _: list[int]) -> Any:
    from steelyard.stats.paired import mcnemar

    return mcnemar(b[:, 0].tolist(), a[:, 0].tolist()).pvalue


def _statsmodels_mcnemar(a: Any, b: Any, _: list[int]) -> Any:
    import numpy as np
    from statsmodels.stats.contingency_tables import mcnemar

    cells = np.histogram2d(b[:, 0], a[:, 0], bins=2)[0]
    return mcnemar(cells, exact=True).pvalue


def _ours_sign_flip(a: Any, b: Any, _: list[int]) -> Any:
    from steelyard.stats.paired import sign_flip

    return sign_flip(b.mean(axis=1) - a.mean(axis=1), n_flips=DRAWS - 1).pvalue


def _scipy_sign_flip(a: Any, b: Any, _: list[int]) -> Any:
    import numpy as np
    from scipy import stats

    how: dict[str, Any] = {"permutation_type": "samples", "alternative": "greater", "n_resamples": DRAWS - 1}

    def total(x: Any, axis: int) -> Any:
        return np.abs(x.sum(axis=axis))

    return stats.permutation_test((b.mean(axis=1) - a.mean(axis=1),), total, batch=200, rng=1, **how).pvalue


def _ours_comparison(a: Any, b: Any, groups: list[int]) -> Any:
    from steelyard.compare.figures import Counts, Criteria, Pair, figures

    n = a.shape[1]
    pairs = [
        Pair(f"i{i}", f"g{group}", Counts(int(x), n - int(x)), Counts(int(y), n - int(y)))
        for i, (x, y, group) in enumerate(zip(a.sum(axis=1), b.sum(axis=1), groups, strict=True))
    ]
    found = figures(pairs, Criteria())
    return found.difference, found.word


JOBS: dict[str, tuple[Callable[..., Any], dict[str, bool], str]] = {
    "bootstrap": (_ours_bootstrap, {}, "bootstrap, scipy"),
    "bootstrap, many values": (_ours_bootstrap, {"jitter": True}, "bootstrap, scipy"),
    "bootstrap, groups of 4": (_ours_bootstrap, {"grouped": True}, "bootstrap, groups of 4, scipy"),
    "sign flip": (_ours_sign_flip, {}, "sign flip, scipy"),
    "mcnemar exact": (_ours_mcnemar, {}, "mcnemar exact, statsmodels"),
    "whole comparison": (_ours_comparison, {}, ""),
    "bootstrap, scipy": (_scipy_bootstrap, {}, ""),
    "bootstrap, groups of 4, scipy": (_scipy_bootstrap, {"grouped": True}, ""),
    "sign flip, scipy": (_scipy_sign_flip, {}, ""),
    "mcnemar exact, statsmodels": (_statsmodels_mcnemar, {}, ""),
}


def one(name: str, items: int, rollouts: int) -> dict[str, Any]:
    """One job in this process: a small call first, so that importing is told apart from the work."""
    call, how, _ = JOBS[name]
    start = process_time()
    call(*table(40, rollouts), **how)
    import_s = process_time() - start
    data = table(items, rollouts)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = process_time()
    result = call(*data, **how)
    cpu_s = process_time() - start
    peak_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return {"cpu_s": cpu_s, "import_s": import_s, "peak_mb": peak_mb, "result": result}


def measure(name: str, asked: argparse.Namespace) -> dict[str, Any]:
    """The median of the rounds, each in a process of its own."""
    command = [sys.executable, __file__, "--one", name, "--items", str(asked.items), "--rollouts", str(asked.rollouts)]
    rounds = []
    for _ in range(asked.rounds):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return {"job": name, "missing": done.stderr.strip().splitlines()[-1]}
        rounds.append(json.loads(done.stdout))
    middle = {key: round(median(found[key] for found in rounds), 4) for key in ("cpu_s", "import_s", "peak_mb")}
    return {"job": name, **middle, "result": rounds[0]["result"]}


def main() -> None:
    """Print the table and write it as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--rollouts", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", choices=JOBS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(one(asked.one, asked.items, asked.rollouts)))
        return
    print(f"Python {platform.python_version()}, load {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")
    began = machine()
    found = {name: measure(name, asked) for name in JOBS}
    print(f"{'job':30} {'CPU s':>9} {'peak MB':>8} {'ratio':>7} result")
    for name, (_, _, peer) in JOBS.items():
        row = found[name]
        if "missing" in row:
            print(f"{name:30} {row['missing']}")
            continue
        theirs = found.get(peer, {}).get("cpu_s")
        row["ratio"] = round(row["cpu_s"] / theirs, 4) if theirs else None
        ratio = "-" if row["ratio"] is None else f"{row['ratio']:.3f}"
        print(f"{name:30} {row['cpu_s']:9.4f} {row['peak_mb']:8.1f} {ratio:>7} {row['result']}")
    if asked.json:
        facts = {
            "machine": began,
            "python": platform.python_version(),
            "items": asked.items,
            "rollouts": asked.rollouts,
            "draws": DRAWS,
        }
        asked.json.write_text(json.dumps(facts | {"jobs": list(found.values())}, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
