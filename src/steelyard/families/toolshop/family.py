"""The toolshop family: small jobs in a toy shop that need tools, each graded by a script.

The jobs are a fixed list in a fixed order, so the seed changes nothing; they share one fixture and therefore one group.
Not covered: a contrast. A guessed answer passes without any tool call; whether a pass is grounded in a tool's result is
reported beside the rate.
Source: seed 001. Easy to break: reading `item.target` in `solve`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.errors import InputError, did_you_mean
from steelyard.families.toolshop import attempts
from steelyard.families.toolshop.jobs import JOBS, Job
from steelyard.families.toolshop.shop import fixture, planted
from steelyard.family import Family, Script, Spoil
from steelyard.item import Item
from steelyard.store import inline

KINDS = ("answer", "file", "tests")
TOOLS = ("read_file", "list_files", "grep", "write_file", "run_tests")
TEST_COMMAND = ("python3", "-m", "unittest", "discover", "-s", "tests")


def make(seed: str, kinds: str | Sequence[str] = KINDS) -> Iterator[Item]:  # noqa: ARG001 - every family takes a seed
    """The jobs in their order; `kinds` picks some, as a list or as text with commas."""
    wanted = [kind.strip() for kind in kinds.split(",")] if isinstance(kinds, str) else list(kinds)
    for kind in wanted:
        if kind not in KINDS:
            raise InputError(f'no kind "{kind}" of toolshop jobs{did_you_mean(kind, KINDS)}')
    return (_item(job) for job in JOBS if job.kind in wanted)


def solve(item: Item) -> Script:
    """How an expert does the job: calls that read before they write, and the answer."""
    job = attempts.job_of(item)
    if job is None:
        raise InputError(f'item "{item.id}" is not one that the toolshop family made')
    return job.solve(planted(item.edits))


def _item(job: Job) -> Item:
    planted(job.edits)
    return Item(
        id=job.id,
        input=job.prompt,
        target=job.target,
        verifier=job.verifier,
        files={path: inline(text) for path, text in fixture().items()},
        edits=job.edits,
        tools=list(TOOLS),
        environment={"test_command": list(TEST_COMMAND)},
        group="shop",
        family="toolshop",
        domain="tool-use",
        difficulty=job.difficulty,
        license="CC0-1.0",
        metadata={"kind": job.kind},
    )


toolshop = Family(
    name="toolshop",
    make=make,
    solve=solve,
    spoil={
        "longer-number": Spoil(attempts.longer_number, ("token-absent",)),
        "next-number": Spoil(attempts.next_number, ("token-absent",)),
        "rows-lost": Spoil(attempts.rows_lost, ("line-lost",)),
        "wrong-column": Spoil(attempts.wrong_column, ("pattern-absent",)),
        "written-elsewhere": Spoil(attempts.written_elsewhere, ("pattern-absent",)),
        "bug-left-in": Spoil(attempts.bug_left_in, ("test-failed",)),
        "weakened-test": Spoil(attempts.weakened_test, ("tests-edited",)),
        "deleted-test": Spoil(attempts.deleted_test, ("tests-edited",)),
        "patching-test": Spoil(attempts.patching_test, ("test-failed",)),
        "patching-package": Spoil(attempts.patching_package, ("harness-tampered",)),
        "early-exit": Spoil(attempts.early_exit, ("test-failed", "crashed")),
        "shadow-module": Spoil(attempts.shadow_module, ("test-failed",)),
    },
    vary={
        "in-bold": attempts.in_bold,
        "row-first": attempts.row_first,
        "windows-lines": attempts.windows_lines,
        "other-repair": attempts.other_repair,
    },
)
