"""The pages on statistics, sizing and comparing: every Python block runs, every console block shows what is printed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from steelyard.cli import main

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(python|bash|console)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def _shown(text: str) -> str:
    """A printed text as a page shows it: rulers, which move with every verifier, are cut."""
    return re.sub(r"ruler [0-9a-f]{12}", "ruler …", text).rstrip("\n")


def _holds(printed: str, shown: str) -> bool:
    """Whether the printed text is the shown one; a line of `…` stands for any lines."""
    pieces = [re.escape(piece) for piece in re.split(r"^…$\n?", shown.rstrip("\n") + "\n", flags=re.MULTILINE)]
    return re.fullmatch("(?:.*\n)*?".join(pieces), _shown(printed) + "\n") is not None


@pytest.mark.parametrize("page", ["statistics", "sizing", "comparing"])
def test_the_blocks_of_a_page_run_and_print_what_it_shows(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In order, in one folder; bash blocks only have to succeed. [T-19] [T-20] [T-37] [O-17]"""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    names: dict[str, Any] = {}
    for language, block in BLOCK.findall((DOCS / f"{page}.md").read_text(encoding="utf-8")):
        if language == "python":
            exec(block, names)
        elif language == "bash":
            assert [0] * len(block.splitlines()) == [main(line.split()[1:]) for line in block.splitlines()]
        else:
            command, _, shown = block.partition("\n")
            capsys.readouterr()
            assert 0 == main(command.split()[2:])
            printed = capsys.readouterr().out
            assert _holds(printed, shown), printed
