"""The toolshop family: forty small jobs in a toy shop that need tools, each graded by a script.

The jobs are a fixed list in a fixed order, so the seed changes nothing. They share one fixture, but not what has to be
found out in it: one group for all would leave nothing to split and nothing to cluster by. A group is therefore the part
of the shop that a job turns on (the customers, the server's settings, one planted bug): jobs of one group need the same
lines, so one of them tells something of the other, and splits keep them together.
`checks=1` gives the first version of the answer and file checks, for judging stored runs under both; the questions are
the same. Its two faults are known, and `prove` refutes them.
Not covered: a contrast. A guessed answer passes without any tool call; whether a pass is grounded in a tool's result is
reported beside the rate.
Source: seed 001. Easy to break: reading `item.target` in `solve`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.errors import InputError, did_you_mean
from steelyard.families.toolshop import attempts
from steelyard.families.toolshop.job import Job
from steelyard.families.toolshop.jobs import JOBS
from steelyard.families.toolshop.shop import fixture, planted
from steelyard.family import Family, Script
from steelyard.item import Item
from steelyard.store import inline

KINDS = ("answer", "file", "tests", "hidden")
CHECKS = (1, 2)
TOOLS = ("read_file", "list_files", "grep", "write_file", "run_tests")
TEST_COMMAND = ("python3", "-m", "unittest", "discover", "-s", "tests")


def make(
    seed: str,  # noqa: ARG001 - every family takes a seed
    kinds: str | Sequence[str] = KINDS,
    checks: int = 2,
) -> Iterator[Item]:
    """The jobs in their order; `kinds` picks some (a list, or text with commas), `checks` says which version checks."""
    wanted = [kind.strip() for kind in kinds.split(",")] if isinstance(kinds, str) else list(kinds)
    for kind in wanted:
        if kind not in KINDS:
            raise InputError(f'no kind "{kind}" of toolshop jobs{did_you_mean(kind, KINDS)}')
    if checks not in CHECKS:
        raise InputError(f"no version {checks!r} of the toolshop checks; known: 1, 2")
    return (_item(job, checks) for job in JOBS if job.kind in wanted)


def solve(item: Item) -> Script:
    """How an expert does the job: calls that read before they write, and the answer."""
    job = attempts.job_of(item)
    if job is None:
        raise InputError(f'item "{item.id}" is not one that the toolshop family made')
    return job.solve(planted(item.edits))


def _item(job: Job, checks: int) -> Item:
    planted(job.edits)
    return Item(
        id=job.id,
        input=job.prompt,
        target=job.target,
        verifier=job.first_verifier if checks == 1 and job.first_verifier else job.verifier,
        files={path: inline(text) for path, text in fixture().items()},
        edits=job.edits,
        tools=list(TOOLS),
        environment={"test_command": list(TEST_COMMAND)},
        group=f"shop: {job.topic}",
        family="toolshop",
        domain="tool-use",
        difficulty=job.difficulty,
        license="CC0-1.0",
        metadata={"kind": job.kind} | ({"derived": True} if job.derived else {}),
    )


toolshop = Family(name="toolshop", make=make, solve=solve, spoil=attempts.SPOIL, vary=attempts.VARY)
