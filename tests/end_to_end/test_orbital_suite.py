"""A whole orbital suite through the command line: both splits, synthetic and real, and the pictures of the docs."""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from conftest import ROOT
from steelyard.suite import load

pytestmark = pytest.mark.slow
pytest.importorskip("sgp4", reason="needs the extra orbital")

Cli = Callable[..., "CompletedProcess[str]"]
DYNAMIC = ("conjunction", "encounter", "partner")
FAMILIES = [
    f"orbital-{name}"
    for name in (*DYNAMIC, "pass", "decay", "correlation", "malformed", "altitude", "period", "compare")
]
TEST, DEV = 4, 2


def _made(cli: Cli, *options: str) -> None:
    few = [word for name in DYNAMIC for word in ("--set", f"orbital-{name}.objects=1500")]
    cli("make", *FAMILIES, "--test", TEST, "--dev", DEV, *few, *options, "--out", "suite")
    whole = len(FAMILIES) * (TEST + DEV)
    assert f"{whole} proven of {whole} items" in cli("prove", "suite").stdout


def _checked(folder: Path) -> set[str]:
    """Counts by family and split are what was asked and no group is in both splits; gives the licences."""
    suite = load(folder)
    counts = Counter((suite.splits[item.id], item.family) for item in suite.items)
    expected = {(split, name): n for name in FAMILIES for split, n in (("test", TEST), ("dev", DEV))}
    assert expected == counts
    groups = {split: {item.group for item in suite.split(split).items} for split in ("dev", "test")}
    assert set() == groups["dev"] & groups["test"]
    return {item.license for item in suite.items}


def test_ten_families_make_both_splits_from_the_synthetic_sky(cli: Cli, tmp_path: Path) -> None:
    """Every gold is computed again, no group is parted, and the items are free. [T-38]"""
    _made(cli)
    assert {"CC0-1.0"} == _checked(tmp_path / "suite")


@pytest.mark.shared
def test_ten_families_make_both_splits_from_a_real_catalogue(cli: Cli, tmp_path: Path, shared: Path) -> None:
    """As many from provider elements, which carry no licence and show no name or designator. [T-38, T-39]"""
    catalogue = shared / "data" / "orbital" / "celestrak_on_orbit_2024-11-01.csv"
    _made(cli, *[word for name in FAMILIES for word in ("--set", f"{name}.catalogue={catalogue}")])
    assert {""} == _checked(tmp_path / "suite")
    prompts = json.dumps([item.prompt for item in load(tmp_path / "suite").items])
    for remembered in ("STARLINK", "COSMOS", "FENGYUN", "ISS (", " DEB", "R/B"):
        assert remembered not in prompts


def test_the_pictures_are_what_the_script_draws() -> None:
    """docs/pictures holds the script's bytes."""
    path = ROOT / "scripts" / "draw_orbital.py"
    spec = importlib.util.spec_from_file_location("draw_orbital", path)
    assert spec
    assert spec.loader
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    drawn = {"encounter.svg": script.encounter(), "pass.svg": script.sky_pass()}
    kept = {name: (ROOT / "docs" / "pictures" / name).read_text(encoding="utf-8") for name in drawn}
    assert drawn == kept
