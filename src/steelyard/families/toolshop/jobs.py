"""Every job in the shop, in the order in which `make` yields them: 14 answers, 9 files, 9 bugs, 8 new behaviours.

The kinds take turns, so that the first four jobs are one of each kind.
Source: seed 001, its counts and values; the wording is this project's own.
Easy to break: an id that is used twice.
"""

from __future__ import annotations

from itertools import zip_longest

from steelyard.families.toolshop.answers import ANSWERS
from steelyard.families.toolshop.bugs import BUGS
from steelyard.families.toolshop.changes import CHANGES
from steelyard.families.toolshop.features import FEATURES
from steelyard.families.toolshop.job import Job

JOBS: tuple[Job, ...] = tuple(job for turn in zip_longest(ANSWERS, CHANGES, BUGS, FEATURES) for job in turn if job)
JOB_BY_ID = {job.id: job for job in JOBS}
