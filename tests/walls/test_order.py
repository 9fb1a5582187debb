"""The house has one order, written in docs/architecture.md; imports go one way."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "steelyard"
HEAVY = [
    "msgspec",
    "numpy",
    "sgp4",
    "xllamacpp",
    "wreq",
    "scipy",
    "asyncio",
    "importlib.metadata",
    "tqdm",
    "torch",
    "transformers",
    "polars",
    "pandas",
    "dotenv",
    "astroz",
]


def _order() -> list[str]:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    block = re.search(r"```order\n(.*?)```", text, re.DOTALL)
    assert block, "docs/architecture.md needs an ```order block"
    return block[1].split()


ORDER = _order()


def _room(module: str) -> str:
    return module.split(".")[1] if module.count(".") else "__init__"


def _imports(path: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "steelyard":
            found += [f"steelyard.{alias.name}" for alias in node.names if not alias.name.startswith("_")]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.append(node.module)
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
    return [name for name in found if name.split(".")[0] == "steelyard"]


def _module(path: Path) -> str:
    parts = path.relative_to(SRC.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = [p for p in sorted(SRC.rglob("*.py")) if "fixture" not in p.parts]


def test_every_module_has_a_place_in_the_order() -> None:
    """The list in docs/architecture.md names every room, and nothing that is not there."""
    rooms = {_room(_module(path)) for path in FILES} - {"__init__", "__main__"}
    assert (set(), set()) == (rooms - set(ORDER), set(ORDER) - rooms)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SRC)))
def test_a_module_imports_only_what_stands_before_it(path: Path) -> None:
    """No import points forward in the order."""
    room = _room(_module(path))
    if room in ("__init__", "__main__"):
        return
    forward = [name for name in _imports(path) if name != "steelyard" and ORDER.index(_room(name)) > ORDER.index(room)]
    assert [] == forward


def test_no_family_imports_another() -> None:
    """Families are neighbours: none knows another."""
    crossing = []
    for path in FILES:
        if "families" not in path.parts or path.parent.name == "steelyard":
            continue
        own = path.relative_to(SRC / "families").parts[0].removesuffix(".py")
        for name in _imports(path):
            parts = name.split(".")
            if parts[1:2] == ["families"] and len(parts) > 2 and parts[2] != own:
                crossing.append(f"{path.relative_to(SRC)} imports {name}")
    assert [] == crossing


def test_no_module_outside_families_names_a_family() -> None:
    """A built-in family comes in by the same door as anyone else's."""
    families = {p.stem for p in (SRC / "families").iterdir() if not p.name.startswith("_")}
    naming = [
        f"{path.relative_to(SRC)}: {name}"
        for path in FILES
        if "families" not in path.relative_to(SRC).parts
        for name in families
        if re.search(rf"\b{name}\b", _code(path))
    ]
    assert [] == naming


def _code(path: Path) -> str:
    """A module's code without docstrings and comments."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            node.value.value = ""
    return ast.unparse(tree)


@pytest.mark.parametrize("statement", ["import steelyard", "from steelyard.cli import main; main(['--help'])"])
def test_a_light_path_loads_no_heavy_package(statement: str) -> None:
    """`import steelyard` and `--help` load no package that is not needed for them, and scan no installed ones."""
    code = f"import sys; {statement}; print('LOADED', [m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "LOADED []" == done.stdout.splitlines()[-1]


def test_help_costs_at_most_a_tenth_of_a_cpu_second() -> None:
    """`steelyard --help` starts within 0.1 CPU-seconds beyond a bare interpreter's own start."""
    import resource

    def cpu(code: str) -> float:
        best = 9.0
        for _ in range(5):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return best

    assert cpu("from steelyard.cli import main; main(['--help'])") - cpu("pass") <= 0.1


def test_every_test_says_in_a_docstring_what_it_shows() -> None:
    """A test is a sentence, and a line that states the behaviour."""
    silent = [
        f"{path.relative_to(ROOT)}::{node.name}"
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and not ast.get_docstring(node)
    ]
    assert [] == silent
