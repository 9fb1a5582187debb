"""failure.json: written with its stage, and removed by whoever does that stage after all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from steelyard.run.failure import FAILURE, clear_failure, write_failure


@pytest.mark.parametrize(("stages", "left"), [(("judge", "report"), False), (("report",), True)])
def test_only_the_stage_that_was_done_clears_its_failure(tmp_path: Path, stages: tuple[str, ...], left: bool) -> None:
    """A report does not take back that judging failed."""
    write_failure(tmp_path, "judge", ValueError("no"))
    written = json.loads((tmp_path / FAILURE).read_text())
    assert ("judge", "ValueError", "no") == (written["stage"], written["error"], written["message"])
    clear_failure(tmp_path, stages)
    assert left == (tmp_path / FAILURE).exists()


def test_a_damaged_failure_is_left_and_a_missing_one_is_none(tmp_path: Path) -> None:
    """It says of no stage that it failed, so none clears it."""
    clear_failure(tmp_path, ("judge",))
    (tmp_path / FAILURE).write_text("{")
    clear_failure(tmp_path, ("judge",))
    assert "{" == (tmp_path / FAILURE).read_text()
