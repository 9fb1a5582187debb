"""A wheel builds from the sources, holds its data files, and works in an environment of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def _call(*argv: object, cwd: Path) -> str:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "COV_"))}
    done = subprocess.run([*map(str, argv)], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_wheel_works_elsewhere(tmp_path: Path) -> None:
    """Built, installed with its declared dependencies alone, it makes, proves and runs families and a shop."""
    _call(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", tmp_path, ROOT, cwd=tmp_path)
    (wheel,) = tmp_path.glob("steelyard-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "steelyard/py.typed" in names
    assert "steelyard/templates/family.py.txt" in names
    assert not [name for name in names if name.startswith("tests/")]
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    _call(python, "-m", "pip", "install", "-q", wheel, cwd=tmp_path)
    steelyard = tmp_path / "env" / "bin" / "steelyard"
    assert "toolshop" in _call(steelyard, "families", cwd=tmp_path)
    _call(steelyard, "make", "orbital-extreme", "trail", "toolshop", "--n", 2, "--out", "suite", cwd=tmp_path)
    _call(steelyard, "new", "crates", cwd=tmp_path)
    assert "10 proven of 10 items" in _call(steelyard, "prove", "./crates.py", cwd=tmp_path)
    (tmp_path / "s.jsonl").write_text('{"id": "a", "input": "1+1?", "target": "2", "verifier": {"name": "number"}}\n')
    (tmp_path / "r.jsonl").write_text('{"reply": "2"}\n')
    _call(steelyard, "prove", "s.jsonl", cwd=tmp_path)
    assert "1.000" in _call(steelyard, "run", "s.jsonl", "--model", "scripted:r.jsonl", "--out", "run", cwd=tmp_path)
