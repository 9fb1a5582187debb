"""The kit that a probe and an agent's solver are handed: contents, the item's base tree, and fresh sessions.

An item's `environment` may hold `{"limits": {...}}` with the names of `ports.Limits`, and `{"packages": [...]}` with
Python distributions. `setup` runs once in every fresh session, on the untouched base; what the tree changes is laid
over afterwards, so that files an agent changed cannot steer the setup of the session that grades them.
What setup makes belongs to the base of the session's Diff, so it is not among the agent's changes.
Easy to break: planting an edit twice, or in a text that occurs more than once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from steelyard.attempt import Tree
from steelyard.errors import InputError, SandboxFaultError, SandboxUnavailableError, did_you_mean
from steelyard.item import Edit, Item
from steelyard.ports import Limits, Sandbox, SandboxSpec, Session
from steelyard.sandbox.choose import default_require
from steelyard.store import Store

_SHOWN_CHARS = 2000  # of a failed setup's output
_LIMITS = frozenset(field.name for field in msgspec.structs.fields(Limits))


class ProbeKit:
    """Handles for one suite or run; safe to use from several threads."""

    def __init__(self, store: Store, sandbox: Sandbox | None) -> None:
        self._store = store
        self._sandbox = sandbox

    @property
    def store(self) -> Store:
        """Contents of the suite's, the run's and the proofs' files."""
        return self._store

    @property
    def sandbox_name(self) -> str:
        """Backend and version, for the evidence; "" without one."""
        return self._sandbox.name if self._sandbox else ""

    def base(self, item: Item) -> Tree:
        """The untouched workspace, path -> sha256: the item's files with its edits planted."""
        tree = {path: self._store.put_reference(reference) for path, reference in item.files.items()}
        for edit in item.edits:
            tree[edit.path] = self._store.put(self._planted(item, edit, tree))
        return tree

    def session(self, item: Item, tree: Tree, mounts_ro: Mapping[str, Mapping[str, str]] | None = None) -> Session:
        """A fresh session over `tree` with the item's limits, after its setup.

        Raises SandboxUnavailableError without a sandbox and SandboxFaultError when the setup fails.
        """
        if self._sandbox is None:
            raise SandboxUnavailableError(f'item "{item.id}" needs a sandbox and there is none; try --sandbox auto')
        first = dict(self.base(item) if item.setup else tree)
        spec = SandboxSpec(
            tree=first,
            mounts_ro={place: dict(files) for place, files in (mounts_ro or {}).items()},
            packages=packages_of(item),
            limits=limits_of(item),
            require=default_require(self._sandbox),
        )
        session = self._sandbox.open(spec, self._store)
        try:
            if item.setup:
                _set_up(item, item.setup, session)
                session.mark()
                self._lay_over(session, first, tree)
        except BaseException:
            session.close()
            raise
        return session

    def _planted(self, item: Item, edit: Edit, tree: Tree) -> bytes:
        if edit.path not in tree:
            raise InputError(f'item "{item.id}": setup text is for {edit.path}{did_you_mean(edit.path, tree)}')
        data, old = self._store.get(tree[edit.path]), edit.old.encode()
        if not old or data.count(old) != 1:
            raise InputError(f'item "{item.id}": setup text must occur once in {edit.path}')
        return data.replace(old, edit.new.encode())

    def _lay_over(self, session: Session, first: Tree, tree: Tree) -> None:
        """Bring a session from `first` to `tree` without touching anything else."""
        gone = sorted(set(first) - set(tree))
        if gone and session.run(["rm", "-f", "--", *gone]).rc != 0:
            raise SandboxFaultError(f"could not remove {gone[0]} from a fresh workspace")
        for path, sha256 in sorted(tree.items()):
            if first.get(path) != sha256:
                session.write(path, self._store.get(sha256))


def packages_of(item: Item) -> tuple[str, ...]:
    """The Python distributions that an item's environment asks for; anything but a list of names is an InputError."""
    given: Any = (item.environment or {}).get("packages", [])
    if not isinstance(given, list) or not all(isinstance(name, str) and name for name in given):
        raise InputError(f'item "{item.id}": packages must be a list of names, got {given!r}')
    return tuple(given)


def limits_of(item: Item) -> Limits:
    """The limits that an item's environment gives; unknown names and wrong values are an InputError."""
    given: Any = (item.environment or {}).get("limits", {})
    if not isinstance(given, dict):
        raise InputError(f'item "{item.id}": limits must be an object, got {given!r}')
    for name in given:
        if name not in _LIMITS:
            raise InputError(f'item "{item.id}": unknown limit "{name}"{did_you_mean(name, _LIMITS)}')
    try:
        limits = msgspec.convert(given, Limits)
    except msgspec.ValidationError as error:
        raise InputError(f'item "{item.id}": limits: {error}') from error
    for name in sorted(_LIMITS):
        if getattr(limits, name) <= 0:
            raise InputError(f'item "{item.id}": limit "{name}" must be above 0, got {getattr(limits, name)}')
    return limits


def _set_up(item: Item, setup: str, session: Session) -> None:
    result = session.run(["/bin/sh", "-c", setup])
    if result.why != "exit" or result.rc != 0:
        said = result.output.decode(errors="replace")[-_SHOWN_CHARS:].strip()
        end = f"exit code {result.rc}" if result.why == "exit" else result.why
        raise SandboxFaultError(f'item "{item.id}": setup failed ({end}): {said}')
