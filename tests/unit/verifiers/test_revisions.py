"""The code behind a verifier changes only with docs/formats/revisions.json, and that only with its rows met."""

from __future__ import annotations

import ast
import json
import runpy
import shutil
from pathlib import Path
from typing import Any

import pytest

import steelyard
from steelyard.verifiers import registry
from steelyard.verifiers.prove_rows import Fault, RowsReport

SCRIPT = Path(__file__).parents[3] / "scripts" / "write_revisions.py"


def _script(folder: Path) -> tuple[dict[str, Any], Path]:
    """The script's names, writing to a copy of the file."""
    names = runpy.run_path(str(SCRIPT))
    copy = folder / "revisions.json"
    shutil.copy(names["FILE"], copy)
    names["main"].__globals__["FILE"] = copy
    return names, copy


def test_the_code_of_every_verifier_is_the_one_whose_rows_passed(capsys: pytest.CaptureFixture[str]) -> None:
    """A changed verifier must be written down again, which its rows allow or not."""
    code = runpy.run_path(str(SCRIPT))["main"](["--check"])
    assert (0, "docs/formats/revisions.json is current\n") == (code, capsys.readouterr().out)


def test_a_changed_verifier_is_named_with_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Changed, new and gone, each with the command and the place for the effect on scores."""
    names, copy = _script(tmp_path)
    written = json.loads(copy.read_text("utf-8"))
    written["number"]["code"] = "another"
    written["gone"] = written.pop("token")
    copy.write_text(json.dumps(written), "utf-8")
    assert 1 == names["main"](["--check"])
    advice = "run `make formats` after its rows pass; say the effect on scores in changelog/"
    said = [f"gone is gone: {advice}", f"number changed: {advice}", f"token is new: {advice}"]
    assert [f"the code of {one}" for one in said] == capsys.readouterr().out.splitlines()


def test_a_changed_verifier_is_not_written_while_a_row_is_not_met(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file stays as it is, and the row is named."""
    names, copy = _script(tmp_path)
    copy.write_text("{}", "utf-8")
    fault = Fault("rows/exact.jsonl:1", "must pass, got fail", "the target itself")
    names["main"].__globals__["prove_rows"] = lambda name: RowsReport(name, {}, [fault] if name == "exact" else [], [])
    assert 1 == names["main"]([])
    assert "{}" == copy.read_text("utf-8")
    assert "rows/exact.jsonl:1  must pass, got fail (the target itself)" == capsys.readouterr().out.splitlines()[0]


def test_writing_again_changes_nothing(tmp_path: Path) -> None:
    """The file is the same on every machine and every time."""
    names, copy = _script(tmp_path)
    names["main"]([])
    before = copy.read_text("utf-8")
    assert (0, before) == (names["main"]([]), copy.read_text("utf-8"))


def test_imports_are_found_as_the_parser_finds_them() -> None:
    """A revision covers what a verifier's module reaches; its imports are read by a pattern, for speed. [F-6]"""

    def parsed(text: str) -> set[str]:
        found: set[str] = set()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names if alias.name.startswith("steelyard")}
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("steelyard"):
                names = {f"{node.module}.{alias.name}" for alias in node.names}
                found |= {str(node.module)} | {name for name in names if registry._is_module(name)}
        return found

    sources = sorted(Path(steelyard.__file__).parent.rglob("*.py"))
    assert 250 < len(sources)
    wrong = {path for path in sources if parsed(path.read_text()) != set(registry._imported(path.read_text()))}
    assert set() == wrong
