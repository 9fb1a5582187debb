"""Choosing a backend by name. `auto` takes bubblewrap or nothing: it never falls back to something weaker.

A backend's module is loaded when it is chosen: most runs need none.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from steelyard.errors import InputError, SandboxUnavailableError, did_you_mean
from steelyard.ports import Guarantee, Sandbox, SandboxSpec, Session
from steelyard.store import Store

UNSAFE = "unsafe-process"
KINDS = ("auto", "bubblewrap", "docker", UNSAFE, "none")


def open_sandbox(kind: str = "auto", *, allow_unsafe: bool = False, image: str | None = None) -> Sandbox | None:
    """The backend of that name, or None for `none`; `image` is for docker: a recipe's name or any local image.

    `auto` is probed when it is first needed, so that work without a sandbox does not wait for one or fail for want of
    one; `bubblewrap` and `docker` are probed now and raise SandboxUnavailableError when they do not work here.
    """
    if kind == "auto":
        return AutoSandbox(_bubblewrap)
    if kind == "bubblewrap":
        return _bubblewrap()
    if kind == "docker":
        from steelyard.sandbox.docker import DEFAULT_IMAGE, DockerSandbox

        return DockerSandbox(image or DEFAULT_IMAGE)
    if kind == UNSAFE:
        from steelyard.sandbox.process import ProcessSandbox

        return ProcessSandbox(allow_unsafe=allow_unsafe)
    if kind == "none":
        return None
    raise InputError(f"unknown sandbox {kind!r}{did_you_mean(kind, KINDS)}")


def _bubblewrap() -> Sandbox:
    from steelyard.sandbox.probe import find_bubblewrap

    return find_bubblewrap()


def default_require(sandbox: Sandbox) -> tuple[Guarantee, ...]:
    """What a job requires unless it says more; of the backend that was allowed as unsafe, no more than it has."""
    usual = SandboxSpec().require
    return tuple(g for g in usual if g in sandbox.caps) if sandbox.name == UNSAFE else usual


class AutoSandbox:
    """A backend that is found when it is first needed; without one, opening a session says why there is none."""

    def __init__(self, find: Callable[[], Sandbox]) -> None:
        self._find = find
        self._lock = threading.Lock()
        self._found: Sandbox | None = None
        self._reason = ""

    @property
    def name(self) -> str:
        """The found backend's name; "" without one."""
        found = self._look()
        return found.name if found else ""

    @property
    def caps(self) -> frozenset[Guarantee]:
        """The found backend's guarantees; none without one."""
        found = self._look()
        return found.caps if found else frozenset()

    def open(self, spec: SandboxSpec, store: Store) -> Session:
        """A fresh session of the found backend; raises SandboxUnavailableError with the reason without one."""
        found = self._look()
        if found is None:
            raise SandboxUnavailableError(self._reason)
        return found.open(spec, store)

    def _look(self) -> Sandbox | None:
        with self._lock:
            if self._found is None and not self._reason:
                try:
                    self._found = self._find()
                except SandboxUnavailableError as error:
                    self._reason = str(error)
            return self._found
