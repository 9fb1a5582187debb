"""Inspect's own json_dataset loads our item lines: input, target, id, choices and files arrive whole. [T-7]."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from steelyard.item import Item
from steelyard.making import write_items
from steelyard.store import Store, inline, stored_reference
from steelyard.suite import load

SCRIPT = """
import json, sys
from inspect_ai.dataset import json_dataset
rows = []
for sample in json_dataset(sys.argv[1]):
    given = sample.input
    messages = given if isinstance(given, str) else [[m.role, m.text] for m in given]
    files = {p: (open(v).read() if v.startswith("/") else v) for p, v in (sample.files or {}).items()}
    rows.append({"id": sample.id, "input": messages, "target": sample.target, "choices": sample.choices,
                 "files": files, "setup": sample.setup})
print("ROWS" + json.dumps(rows))
"""


@pytest.mark.inspect
def test_inspects_own_loader_reads_our_lines_whole(tmp_path: Path, inspect_python: str) -> None:
    """Text and message inputs, targets, choices and stored files arrive as they were written. [T-7]"""
    store = Store(tmp_path / "files")
    content = "name,city\nAda,Lisbon\né\u2028\n"
    items = [
        Item(id="a", input="Line one\n\nline two é", target="B", choices=["x", "y"], verifier={"name": "choice"}),
        Item(
            id="b",
            input=[{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],  # type: ignore[list-item]
            target="8042",
            verifier={"name": "token"},
            files={"data/customers.csv": stored_reference(store.put_reference(inline(content)))},
            setup="true",
            tools=["read_file"],
        ),
    ]
    write_items(tmp_path / "dev.jsonl", items)
    assert 2 == len(load(tmp_path).items)
    done = subprocess.run(
        [inspect_python, "-c", SCRIPT, str(tmp_path / "dev.jsonl")],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "INSPECT_TRACE_FILE": str(tmp_path / "trace.log")},
    )
    rows = json.loads(done.stdout.split("ROWS")[1])
    first = {
        "id": "a",
        "input": "Line one\n\nline two é",
        "target": "B",
        "choices": ["x", "y"],
        "files": {},
        "setup": None,
    }
    second = {
        "id": "b",
        "input": [["system", "s"], ["user", "u"]],
        "target": "8042",
        "choices": None,
        "files": {"data/customers.csv": content},
        "setup": "true",
    }
    assert [first, second] == rows
