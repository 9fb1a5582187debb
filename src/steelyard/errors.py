"""The error vocabulary, one class a boundary.

Theory: an error is sorted by *who can do something about it*, not by where it was noticed.

- `InputError`: an argument or an author's value is wrong; raised at construction or load.
- `FormatError`: a file on disk does not say what it should; carries the place (path, line).
- `RefusedError`: the request was understood and is declined (unproven items, another run's folder);
  the message names the command or the flag that helps.
- `CallError`: one model call failed after its retries; it becomes an error rollout and the run goes on.
- `PermanentError`: the endpoint would answer every call the same way (401, 404, not an API); the run stops
  with the endpoint's own words.
- `SandboxUnavailableError`: a backend cannot give what was required on this machine, and says why.
- `SandboxFaultError`: the sandbox itself broke (infra): neither pass nor fail, so the judge makes it void.

A grader's crash is none of these: `judging` turns it into a void verdict and never lets it pass.
Every message holds what was expected, what was found, where, and the next step.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


class SteelyardError(Exception):
    """An expected failure: the CLI prints its one line and exits 2."""


class InputError(SteelyardError):
    """An argument or an author's value is wrong."""


class FormatError(SteelyardError):
    """A file does not say what it should; `place` is `path` or `path:line`."""

    def __init__(self, path: Path | str, line: int | None, message: str) -> None:
        self.path = str(path)
        self.line = line
        self.detail = message
        super().__init__(f"{self.place}: {message}")

    @property
    def place(self) -> str:
        return self.path if self.line is None else f"{self.path}:{self.line}"


class RefusedError(SteelyardError):
    """Understood and declined; the message says what would be accepted."""


class ModelError(SteelyardError):
    """Talking to a model failed."""


class CallError(ModelError):
    """One call failed after its retries; `kind` is a kebab-case reason such as `timeout`."""

    def __init__(self, message: str, *, kind: str) -> None:
        self.kind = kind
        super().__init__(message)


class PermanentError(ModelError):
    """Every further call would fail the same way; `kind` is `connection` when nothing answers at that address."""

    def __init__(self, message: str, *, kind: str = "") -> None:
        self.kind = kind
        super().__init__(message)


class CapReachedError(ModelError):
    """The run may not spend more; what is in flight is finished and kept."""


class SandboxError(SteelyardError):
    """Something about isolation."""


class SandboxUnavailableError(SandboxError):
    """A backend cannot give the required guarantees on this machine."""


class SandboxFaultError(SandboxError):
    """The sandbox broke while it was in use; says nothing about the code inside."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`; did you mean "x"?` for the nearest of `known`, else the list of what is known (or nothing)."""
    import difflib  # only on the way to an error message

    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if near:
        return f'; did you mean "{near[0]}"?'
    return f"; known: {', '.join(names)}" if names else ""
