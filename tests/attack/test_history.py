"""Attack 14: a solution that is dug out of version control. A workspace carries an item's files and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import pytest

from steelyard.item import Item
from steelyard.kit import ProbeKit
from steelyard.plugins import family_names, find_family
from steelyard.ports import ExecResult, Sandbox, Session
from steelyard.store import Store, inline

HISTORY = (".git", ".hg", ".svn", "_darcs", ".bzr", ".jj")
LOOK = """
import os, shutil
print(sorted(os.path.relpath(os.path.join(folder, name), "/work")
             for folder, _, names in os.walk("/work") for name in names))
print([folder for folder, names, _ in os.walk("/work") for name in names if name in {".git", ".hg", ".svn"}])
"""


def _made(name: str) -> list[Item]:
    return list(islice(find_family(name).make("attack"), 60))


@pytest.mark.parametrize("name", family_names())
def test_attack_14_a_family_s_workspace_is_exactly_its_item_s_files(name: str, store: Store) -> None:
    """The base tree of every item has the item's paths, none in a version control folder or a pack of one. [O-5]"""
    kit = ProbeKit(store, None)
    for item in _made(name):
        base = kit.base(item)
        assert set(item.files) == set(base), item.id
        for path, sha256 in base.items():
            assert not set(path.split("/")) & set(HISTORY), f"{item.id}: {path}"
            assert not store.get(sha256).startswith((b"PACK", b"# v2 git bundle", b"# v3 git bundle")), path


def test_attack_14_inside_there_is_no_history_unless_the_item_s_files_bring_one(
    backend: Sandbox, store: Store, python: Callable[..., ExecResult]
) -> None:
    """What a session shows in /work and the folders above it is the item's files; an item may bring its own .git."""
    kit = ProbeKit(store, backend)
    plain = next(item for item in _made("toolshop") if item.files)
    own = Item(id="own", input="Q", verifier={"name": "exact"}, files={"a.py": inline("1"), ".git/HEAD": inline("x")})
    for item, folders in ((plain, []), (own, ["/work"])):
        session: Session = kit.session(item, kit.base(item))
        try:
            files, found = python(session, LOOK).output.decode().splitlines()
            above = session.run(["/bin/sh", "-c", "git log --all 2>&1; ls -d /.git /*/.git 2>/dev/null; true"])
        finally:
            session.close()
        assert (str(sorted(item.files)), str(folders)) == (files, found)
        assert b"commit" not in above.output
        assert b"/.git" not in above.output.replace(b"/work/.git", b"")
