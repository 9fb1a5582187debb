"""The toollib family: drawn jobs at another fixture than the evals', each with a proven reference."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import msgspec
import pytest

from steelyard.errors import InputError
from steelyard.families.toollib import toollib
from steelyard.item import ask
from steelyard.overlap.prompts import near_prompts
from steelyard.plugins import family_names, find_family
from steelyard.ports import Sandbox
from steelyard.proving import prove_family

ITEMS = list(islice(toollib.make("0"), 48))


def test_items_of_a_seed_never_change_and_never_repeat() -> None:
    """The first items do not depend on how many are taken; three rounds of 16 kinds ask 48 things. [O-28]"""
    assert ITEMS[:20] == list(islice(toollib.make("0"), 20))
    assert 48 == len({ask(item) for item in ITEMS})
    assert 16 == len({item.group for item in ITEMS})
    assert {item.group for item in ITEMS[:16]} == {item.group for item in ITEMS[16:32]}
    assert {"answer", "file", "tests", "hidden"} == {item.metadata["kind"] for item in ITEMS}


@pytest.mark.parametrize("item", ITEMS[:16], ids=lambda item: item.group)
def test_the_expert_reads_before_it_writes_and_never_reads_the_target(item: object) -> None:
    """The prompt does not hold the answer, and the reference works from the drawn files. [T-4] [O-28]"""
    assert isinstance(item, type(ITEMS[0]))
    script = toollib.solve(item)
    assert script == toollib.solve(msgspec.structs.replace(item, target="", verifier={"name": "token"}))
    names = [call.name for call in script.calls]
    assert names
    assert "write_file" not in names or {"read_file", "grep"} & set(names[: names.index("write_file")])
    assert not item.target or item.target not in item.prompt


def test_an_item_of_another_family_is_refused() -> None:
    """The reference draws its job again from what the item says of itself. [O-6]"""
    with pytest.raises(InputError, match="metadata has no seed and index"):
        toollib.solve(msgspec.structs.replace(ITEMS[0], metadata={}))


def test_no_prompt_is_near_one_of_another_installed_family() -> None:
    """Training never meets what an eval asks. [O-28]"""
    for name in family_names():
        other = find_family(name)
        if other.name != toollib.name:
            assert [] == near_prompts(ITEMS, list(islice(other.make("0"), 40))), name


@pytest.mark.bubblewrap
def test_a_round_of_jobs_is_proven(bubblewrap: Sandbox, tmp_path: Path) -> None:
    """All 16 kinds: null fails, the replayed reference passes, wrong attempts fail as named. [O-7] [O-10] [O-28]"""
    report = prove_family(toollib, sandbox=bubblewrap, n=16, seed="t")
    assert [] == [(p.item, p.reasons) for p in report.proofs if p.state != "proven"]
    assert 16 == len(report.proofs)
