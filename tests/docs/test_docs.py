"""What the documentation says is true: snippets run, links lead somewhere, commands exist and explain themselves."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from steelyard.cli import COMMANDS
from steelyard.plugins import command_groups
from steelyard.proving import prove_family
from steelyard.suite import load

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def _snippets(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def test_the_family_in_the_guide_proves() -> None:
    """The snippet of docs/writing-a-family.md is a whole family whose items prove."""
    (snippet,) = _snippets(ROOT / "docs" / "writing-a-family.md", "python")
    names: dict[str, Any] = {}
    exec(snippet, names)
    report = prove_family(names["hours"], n=5)
    assert [] == [(p.item, p.reasons) for p in report.proofs if p.state != "proven"]


def test_the_python_of_the_readme_runs(tmp_path: Path, steelyard_command: list[str], monkeypatch: Any) -> None:
    """Seed 000's API as the README shows it, with a client object. [T-32] [T-33]"""
    suite = tmp_path / "suites" / "first"
    subprocess.run([*steelyard_command, "make", "orbital-compare", "--n", "2", "--out", str(suite)], check=True)

    class Completions:
        def create(self, **sent: Any) -> Any:  # noqa: ARG002  # the signature that clients have
            return SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content="A"))])

    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"client": SimpleNamespace(chat=SimpleNamespace(completions=Completions()))}
    (snippet,) = _snippets(ROOT / "README.md", "python")
    exec(snippet, names)
    assert [i.id for i in load(suite).items] == [row["id"] for row in names["rows"]]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_link_of_a_page_leads_to_a_file(page: Path) -> None:
    """Relative links are not broken."""
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [] == [link for link in links if not (page.parent / link).exists()]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_and_is_in_the_docs(command: str, steelyard_command: list[str]) -> None:
    """`steelyard COMMAND --help` works, and some page shows the command."""
    done = subprocess.run([*steelyard_command, command, "--help"], capture_output=True, text=True, check=True)
    assert f"usage: steelyard {command}" in done.stdout
    assert any(f"steelyard {command}" in page.read_text(encoding="utf-8") for page in PAGES)


def test_every_command_that_the_pages_show_exists() -> None:
    """No page names a command that is not there."""
    shown = {
        name for page in PAGES for name in re.findall(r"(?m)(?:^|`)steelyard ([a-z][a-z-]+)", page.read_text("utf-8"))
    }
    assert set() == shown - set(COMMANDS) - set(command_groups())


@pytest.mark.parametrize("script", ["write_verifiers_page.py", "write_traceability.py", "write_revisions.py"])
def test_the_pages_that_are_made_are_current(script: str) -> None:
    """`make formats` makes them from the code and the tests; a stale page fails here."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / script), "--check"], capture_output=True, text=True, check=False
    )
    assert 0 == done.returncode, done.stdout + done.stderr
