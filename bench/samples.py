"""Trivial samples for run benchmarks: `What is 6 times 7? (#i)`, judged by `exact`, as each side wants its files."""

from __future__ import annotations

import json
from pathlib import Path

ANSWER = "42"


def write_suite(path: Path, n: int, verifier: str = "exact") -> Path:
    """Our item lines."""
    lines = (
        {"id": f"q{i:07}", "input": question(i), "target": ANSWER, "verifier": {"name": verifier}} for i in range(n)
    )
    return _write(path, lines)


def write_questions(path: Path, n: int) -> Path:
    """`{"question", "answer"}` lines, which the peers read."""
    return _write(path, ({"question": question(i), "answer": ANSWER} for i in range(n)))


def question(i: int) -> str:
    """The i-th question."""
    return f"What is 6 times 7? (#{i})"


def _write(path: Path, lines: object) -> Path:
    with path.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(line) + "\n" for line in lines)  # type: ignore[attr-defined]
    return path
