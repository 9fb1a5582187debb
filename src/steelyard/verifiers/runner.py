"""Running a trusted runner in a session: in a copy of a process that has loaded it, where the session can do that.

Sessions of bubblewrap can; others run the same program as a command, with the same result.
Easy to break: giving a runner whose `main` does anything else than its command does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from steelyard.ports import ExecResult, Session


@runtime_checkable
class _Copies(Protocol):
    """A session that can run a program in a copy of a process that has loaded it."""

    def run_main(
        self,
        argv: Sequence[str],
        *,
        flags: Sequence[str],
        module: str,
        preload: Sequence[str] = (),
        stdin: bytes = b"",
        wall_s: float | None = None,
    ) -> ExecResult:
        """Run `argv`, or `main()` of the file `module` under the same interpreter `flags`."""


def run_main(
    session: Session,
    argv: Sequence[str],
    *,
    flags: Sequence[str],
    module: str,
    preload: Sequence[str] = (),
    stdin: bytes,
    wall_s: float,
) -> ExecResult:
    """Run a runner for at most `wall_s` seconds: `main()` of the mounted file `module`, or `argv` for the same alone.

    `flags` are the interpreter's; `preload` names modules of the standard library that are worth loading beforehand.
    """
    if isinstance(session, _Copies):
        return session.run_main(argv, flags=flags, module=module, preload=preload, stdin=stdin, wall_s=wall_s)
    return session.run(argv, stdin=stdin, wall_s=wall_s)
