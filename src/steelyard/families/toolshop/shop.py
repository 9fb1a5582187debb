"""The fixture: a small Python package called `shop`, stored as package data and read as text by path.

Every file of it is stored with the further suffix `.txt`, so that installers do not compile it and linters, type
checkers and test collectors do not take it for this project's own code.
Source: seed 001 (prices, a cart, stock counts, text, a config file, customers, 12 tests), written anew.
Easy to break: the texts that planted bugs replace must each stand exactly once in their file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType

from steelyard.errors import InputError
from steelyard.item import Edit

SUFFIX = ".txt"


@cache
def fixture() -> Mapping[str, str]:
    """The fixture's files: path -> text, in the order of their paths."""
    root = files(__package__) / "fixture"
    return MappingProxyType(dict(sorted(_texts(root, ""))))


def planted(edits: Sequence[Edit]) -> dict[str, str]:
    """The fixture with bugs planted; a text that does not stand exactly once is an InputError."""
    workspace = dict(fixture())
    for edit in edits:
        found = workspace.get(edit.path, "").count(edit.old)
        if found != 1:
            raise InputError(f"{edit.path}: the text {edit.old!r} must stand there once, found {found} times")
        workspace[edit.path] = workspace[edit.path].replace(edit.old, edit.new)
    return workspace


@cache
def ids_of_tests() -> tuple[str, ...]:
    """The fixture's tests, named from the repository's root: `tests.<module>.<class>.<method>`."""
    found = []
    for path, text in fixture().items():
        if path.startswith("tests/"):
            module = path.removesuffix(".py").replace("/", ".")
            classes = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
            found += [
                f"{module}.{one.name}.{test.name}"
                for one in classes
                for test in one.body
                if isinstance(test, ast.FunctionDef) and test.name.startswith("test_")
            ]
    return tuple(sorted(found))


def _texts(folder: Traversable, prefix: str) -> Iterator[tuple[str, str]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _texts(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(SUFFIX):
            yield prefix + entry.name.removesuffix(SUFFIX), entry.read_text(encoding="utf-8")
