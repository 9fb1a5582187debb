"""The table of attacks has 31 rows, and each is a fixture here."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ATTACKS = 31


def test_every_attack_of_the_table_is_a_fixture() -> None:
    """attack_01 to attack_31 each name a test, and no other number does. [O-1]"""
    names = [
        node.name
        for path in Path(__file__).parent.glob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
    ]
    numbers = {int(found[1]) for name in names if (found := re.match(r"test_attack_(\d\d)_", name))}
    assert set(range(1, ATTACKS + 1)) == numbers
