"""Write docs/traceability.md: every requirement id with the tests whose docstrings name it, or why it has none.

Run: python scripts/write_traceability.py [--check]
A docstring names ids in brackets at its end: `[T-5] [O-20]`.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "traceability.md"
IDS = [
    *(f"T-{i}" for i in range(1, 43)),
    *(f"O-{i}" for i in range(1, 31)),
    *(f"F-{i}" for i in range(1, 28)),
    *(f"S-{i}" for i in range(1, 32)),
    *(f"G-{i}" for i in range(1, 20)),
]
PROCESS = "a rule for the project, not a behaviour of the program"
LATER = {
    "the life of a suite (pilot, freeze, datasheet, tracker, scan)": [f"T-{i}" for i in (14, 15, 16, 17, 18, 21, 22)]
    + [f"T-{i}" for i in (23, 24, 25, 26, 27, 29, 30, 40, 41, 42)],
    "statistics and comparison": ["T-19", "T-20", "T-35", "T-37", "O-14", "O-15", "O-16", "O-17"],
    "scoring a model in this process": ["T-34"],
    "the orbital oracle, whole": ["T-38", "T-39"],
    "the whole tool-use eval, its code verifier and training traces": [f"O-{i}" for i in (19, 25, 28, 29)]
    + ["S-19", "S-20", "S-21", "S-26"],
    "container performance tasks": [f"F-{i}" for i in range(1, 28) if i != 22],
    "the seven benchmarks and LLM graders": [f"S-{i}" for i in (11, 13, 14, 15, 16, 18, 24, 25, 27, 28, 30, 31)],
    "training rows and rewards": [f"G-{i}" for i in (1, 2, 3, 4, 5, 16, 18, 19)],
    PROCESS: ["T-1", "T-2", "T-36", "S-29", "T-11"],
}


def tests_by_id() -> dict[str, list[str]]:
    """Requirement id -> names of the tests whose docstrings end with it."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for name in re.findall(r"\[([TOFSG]-\d+[a-c]?)\]", ast.get_docstring(node) or ""):
                    found.setdefault(name, []).append(f"{path.relative_to(ROOT / 'tests')}::{node.name}")
    return found


def page_text() -> str:
    """The page, made from the docstrings."""
    found = tests_by_id()
    reasons = {name: reason for reason, names in LATER.items() for name in names}
    lines = ["# Traceability", "", "Made by `make formats` from the docstrings of the tests; not written by hand.", ""]
    lines += ["| id | tests |", "|---|---|"]
    for name in [*IDS, *sorted(set(found) - set(IDS))]:
        tests = found.get(name, [])
        reason = reasons.get(name, "")
        why = reason if reason == PROCESS else f"comes with: {reason}" if reason else "**no test yet**"
        lines.append(f"| {name} | {'<br>'.join(f'`{t}`' for t in tests) or why} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Write the page, or with --check say whether it is current."""
    text = page_text()
    stale = not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text
    if "--check" not in arguments:
        PAGE.write_text(text, encoding="utf-8")
    print(
        f"{text.count('no test yet')} ids without a test or a reason; the page {'was' if stale else 'is'} "
        f"{'stale' if stale else 'current'}"
    )
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
