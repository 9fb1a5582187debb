"""Which wrong attempts a job of each kind is tried with and what they must fail as, and right ones in unusual forms.

Source: seed 001 and the exploits of tests as a judge. The attempts themselves stand with the jobs.
Not covered: a guess that happens to be right. It passes without a tool call, and whether it is grounded is a figure of
its own, so it is neither a wrong attempt nor a contrast.
"""

from __future__ import annotations

from collections.abc import Callable

from steelyard.families.toolshop.job import Job
from steelyard.families.toolshop.jobs import JOB_BY_ID, JOBS
from steelyard.families.toolshop.shop import planted
from steelyard.family import Spoil
from steelyard.item import Item
from steelyard.verifiers.contract import Script

_MISSES = {
    "longer-number": ("token-absent",),
    "one-more": ("token-absent",),
    "plausible-guess": ("token-absent",),
    "rows-lost": ("data-differs", "line-lost", "pattern-absent"),
    "wrong-value": ("data-differs", "pattern-absent"),
    "written-elsewhere": ("data-differs", "file-missing"),
    "other-file-gone": ("unexpected-change",),
    "other-file-changed": ("unexpected-change",),
    "row-twice": ("data-differs",),
    "row-too-many": ("data-differs",),
    "row-changed": ("data-differs",),
    "row-quoted": ("data-differs",),
    "wrong-section": ("data-differs",),
    "last-section": ("data-differs",),
    "set-back": ("data-differs",),
    "set-back-otherwise": ("data-differs",),
    "not-plain": ("not-parsed",),
    "entry-too-many": ("pattern-absent",),
    "version-too-many": ("pattern-absent",),
    "weakened-test": ("tests-edited",),
    "deleted-test": ("tests-edited",),
    "patching-test": ("test-failed",),
    "patching-package": ("harness-tampered",),
    "early-exit": ("test-failed", "crashed"),
    "shadow-module": ("test-failed",),
    "example-only": ("test-failed",),
    "feature-missing": ("test-failed",),
}


def job_of(item: Item) -> Job | None:
    """The job that an item was made from."""
    return JOB_BY_ID.get(item.id)


def _tried(name: str, leg: str) -> Callable[[Item], Script | None]:
    """The attempt of that name at an item's job, over the workspace as the model meets it; None where it has none."""

    def made(item: Item) -> Script | None:
        job = job_of(item)
        make = None if job is None else (job.spoil if leg == "spoil" else job.vary).get(name)
        return None if make is None else make(planted(item.edits))

    return made


SPOIL = {name: Spoil(_tried(name, "spoil"), misses) for name, misses in _MISSES.items()}
VARY = {name: _tried(name, "vary") for name in dict.fromkeys(name for job in JOBS for name in job.vary)}
