"""The toollib family: small jobs at a library's lending desk, drawn without end, to make training traces from.

Item i is the job kind `i mod 16` over a workspace drawn from `Random(f"{seed}/{i}")`, so the first items of a seed
never change. A group is the kind of job: two items of one kind differ in names and numbers only.
Not covered: a fixture that is the same for all items; whoever wants to compare models takes an eval's family.
Easy to break: `solve` works from the drawn workspace and never reads `item.target`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

from steelyard.errors import InputError
from steelyard.families.toollib.desk import drawn
from steelyard.families.toollib.jobs import DRAWS, Job
from steelyard.family import Family, Script, Spoil
from steelyard.item import Item
from steelyard.store import inline

TOOLS = ("read_file", "list_files", "grep", "write_file", "run_tests")
TEST_COMMAND = ("python3", "-m", "unittest", "discover", "-s", "tests")
_KINDS = tuple(DRAWS)


def make(seed: str) -> Iterator[Item]:
    """Jobs without end; the kinds take turns."""
    for index in count():
        yield _item(seed, index)


def solve(item: Item) -> Script:
    """How an expert does the job: calls that read before they write, and the answer."""
    return _job_of(item).solution


def _item(seed: str, index: int) -> Item:
    workspace, _ = drawn(seed, index)
    job = _job(seed, index)
    return Item(
        id=f"desk-{seed}-{index:05d}",
        input=job.prompt,
        target=job.target,
        verifier=job.verifier,
        files={path: inline(text) for path, text in workspace.items()},
        edits=job.edits,
        tools=list(TOOLS),
        environment={"test_command": list(TEST_COMMAND)},
        group=f"desk: {_KINDS[index % len(_KINDS)]}",
        family="toollib",
        domain="tool-use",
        license="CC0-1.0",
        metadata={"kind": job.kind, "seed": seed, "index": index} | ({"derived": True} if job.derived else {}),
    )


def _job(seed: str, index: int) -> Job:
    return DRAWS[_KINDS[index % len(_KINDS)]](*drawn(seed, index))


def _job_of(item: Item) -> Job:
    seed, index = item.metadata.get("seed"), item.metadata.get("index")
    if not isinstance(seed, str) or not isinstance(index, int):
        raise InputError(
            f'item "{item.id}" is not one that the toollib family made: its metadata has no seed and index'
        )
    return _job(seed, index)


def _spoiled(name: str) -> Callable[[Item], Script | None]:
    return lambda item: _job_of(item).spoil.get(name)


def _varied(name: str) -> Callable[[Item], Script | None]:
    return lambda item: _job_of(item).vary.get(name)


toollib = Family(
    name="toollib",
    make=make,
    solve=solve,
    spoil={
        "plausible-guess": Spoil(_spoiled("plausible-guess"), ("token-absent",)),
        "lines-lost": Spoil(_spoiled("lines-lost"), ("line-lost",)),
        "wrong-value": Spoil(_spoiled("wrong-value"), ("pattern-absent",)),
        "example-only": Spoil(_spoiled("example-only"), ("test-failed",)),
    },
    vary={name: _varied(name) for name in ("in-bold", "windows-lines", "other-repair", "other-code")},
)
