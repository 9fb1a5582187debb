"""Running a trusted runner in a session, in a copy of a process that has loaded it where it can, and its report.

Sessions of bubblewrap can; others run the same program as a command, with the same result.
Easy to break: giving a runner whose `main` does anything else than its command does.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

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


def report_of(output: bytes, nonce: str) -> dict[str, Any] | None:
    """A runner's report: the JSON of the last line that begins with the nonce; None when it never wrote one."""
    for line in reversed(output.split(b"\n")):
        if line.startswith(nonce.encode() + b" "):
            report: dict[str, Any] = json.loads(line.split(b" ", 1)[1])
            return report
    return None
