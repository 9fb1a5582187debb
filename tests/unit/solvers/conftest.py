"""A kit whose sessions are plain folders, and a model with scripted replies: trusted code only, no isolation."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from steelyard.attempt import Change, Diff, Message, ModelOutput, ToolCall, Tree, Usage
from steelyard.canonical import sha256_hex
from steelyard.errors import InputError
from steelyard.item import Item
from steelyard.ports import ExecResult, Sampling, ToolSpec
from steelyard.sandbox.launch import BASE_ENV
from steelyard.store import Store, inline


class FolderSession:
    """A session over a folder of the host."""

    def __init__(self, root: Path, tree: Tree, store: Store) -> None:
        self.root, self.tree, self.store, self.closed = root, tree, store, 0
        root.mkdir()
        for path, sha256 in tree.items():
            self.write(path, store.get(sha256))

    def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", wall_s: float | None = None, cwd: str = "/work"
    ) -> ExecResult:
        """The command in the folder; its time-out is reported, not raised."""
        assert cwd == "/work"
        try:
            done = subprocess.run(
                list(argv),
                cwd=self.root,
                env={**os.environ, **BASE_ENV},
                input=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=wall_s,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            return ExecResult("timeout", None, error.output or b"")
        return ExecResult("exit", done.returncode, done.stdout)

    def read(self, path: str, max_bytes: int) -> bytes:
        """A regular file of the folder."""
        if not (self.root / path).is_file():
            raise InputError("not a regular file")
        return (self.root / path).read_bytes()[:max_bytes]

    def write(self, path: str, data: bytes) -> None:
        """A file of the folder, with its parents."""
        if (self.root / path).is_dir():
            raise InputError("is a folder")
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(data)

    def paths(self) -> list[str]:
        """Every file below the folder."""
        return sorted(str(p.relative_to(self.root)) for p in self.root.rglob("*") if p.is_file())

    def diff(self) -> Diff:
        """What differs from the tree."""
        now = {path: (self.root / path).read_bytes() for path in self.paths()}
        changes = {path: Change("deleted") for path in self.tree if path not in now}
        for path, data in now.items():
            if self.tree.get(path) != sha256_hex(data):
                changes[path] = Change("modified" if path in self.tree else "added", self.store.put(data), len(data))
        return Diff(changes)

    def close(self) -> None:
        """Count the calls and remove the folder."""
        self.closed += 1
        shutil.rmtree(self.root, ignore_errors=True)


class FolderKit:
    """A kit that opens folder sessions and remembers them."""

    def __init__(self, root: Path) -> None:
        self.store = Store(root / "store")
        self.root, self.sessions, self._numbers = root, [], itertools.count()
        self.sandbox_name = "folder"

    def base(self, item: Item) -> Tree:
        """The item's files with its edits planted."""
        texts = {path: self.store.get(ref).decode() for path, ref in item.files.items()}
        for edit in item.edits:
            texts[edit.path] = texts[edit.path].replace(edit.old, edit.new)
        return {path: self.store.put(text) for path, text in texts.items()}

    def session(
        self, _item: Item, tree: Tree, mounts_ro: Mapping[str, Mapping[str, str]] | None = None
    ) -> FolderSession:
        """A new folder with the tree in it."""
        assert not mounts_ro
        session = FolderSession(self.root / f"work{next(self._numbers)}", tree, self.store)
        self.sessions.append(session)
        return session


class ScriptedModel:
    """Replies in order; an exception in the script is raised. What was sent is kept."""

    def __init__(self, *replies: str | ModelOutput | Exception) -> None:
        self.replies, self.sent, self.settings = list(replies), [], []

    @property
    def id(self) -> str:
        """The model's name."""
        return "scripted"

    async def describe(self) -> dict[str, Any]:
        """Nothing is known of it."""
        return {}

    async def generate(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        *,
        seed: int | None = None,
        tools: Sequence[ToolSpec] = (),
        response_format: Mapping[str, Any] | None = None,
    ) -> ModelOutput:
        """The next reply."""
        self.sent.append(list(messages))
        self.settings.append({"sampling": sampling, "seed": seed, "tools": list(tools), "format": response_format})
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, ModelOutput) else said(reply)

    async def close(self) -> None:
        """Nothing to release."""


def said(text: str, finish: str = "stop", calls: Sequence[ToolCall] = (), tokens: tuple[int, int] = (10, 5)) -> Any:
    """A model's output with one choice."""
    usage = Usage(tokens[0], tokens[1], sum(tokens))
    return ModelOutput("scripted", [text], finish_reasons=[finish], tool_calls=list(calls), usage=usage)


FILES = {
    "shop/prices.py": "RATE = 0.08\n\ndef tax(x):\n    return x * RATE\n",
    "tests/test_prices.py": (
        "import unittest\nfrom shop.prices import tax\n\n"
        "class T(unittest.TestCase):\n    def test_tax(self):\n        self.assertEqual(tax(100), 8)\n"
    ),
    "notes.txt": "",
}
TOOLS = ["read_file", "list_files", "grep", "write_file", "run_tests"]


@pytest.fixture
def job() -> Item:
    """A small workspace job with every tool."""
    return Item(
        id="job",
        input="Do it.",
        target="0.08",
        verifier={"name": "token"},
        files={path: inline(text) for path, text in FILES.items()},
        tools=TOOLS,
    )


@pytest.fixture
def question() -> Item:
    """An item without a workspace."""
    return Item(id="q", input="How many?", target="12", verifier={"name": "token"})


@pytest.fixture
def kit(tmp_path: Path) -> FolderKit:
    """A kit over this test's folder."""
    return FolderKit(tmp_path)


@pytest.fixture
def scripted() -> Callable[..., ScriptedModel]:
    """Makes a model from its replies."""
    return ScriptedModel


@pytest.fixture
def output() -> Callable[..., ModelOutput]:
    """Makes a model's output."""
    return said
