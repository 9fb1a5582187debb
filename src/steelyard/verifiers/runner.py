"""Running a trusted runner in a session, in a copy of a process that has loaded it where it can, and its report.

Sessions of bubblewrap can; others run the same program as a command, with the same result.
Easy to break: giving a runner whose `main` does anything else than its command does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

from steelyard.ports import ExecResult, Session

Found = TypeVar("Found")


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

    def run_watched(
        self,
        look: Callable[[int, int, int], Found],
        *,
        flags: Sequence[str],
        module: str,
        entry: str,
        preload: Sequence[str],
        stdin: bytes,
        wall_s: float,
    ) -> tuple[Found, int, ExecResult] | None:
        """Run the function `entry`, which runs code of others in its own process, and have `look` read it."""


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


def run_watched(
    session: Session,
    look: Callable[[int, int, int], Found],
    *,
    flags: Sequence[str],
    module: str,
    entry: str,
    preload: Sequence[str] = (),
    stdin: bytes,
    wall_s: float,
) -> tuple[Found, int, ExecResult] | None:
    """Run `entry()` of a runner, which becomes the process of the code under test; None where only `run_main` works.

    `look` is called when it starts, with three handles: what it writes to handle 3, what it prints, and one that is
    readable when it has ended. When it returns, everything is ended. Gives what it gave, the exit code (-n for signal
    n), and a result that says by `why` whether memory or processes ran out; it holds no output.
    """
    if not isinstance(session, _Copies):
        return None
    return session.run_watched(
        look, flags=flags, module=module, entry=entry, preload=preload, stdin=stdin, wall_s=wall_s
    )


def report_of(output: bytes, nonce: str) -> dict[str, Any] | None:
    """A runner's report: the JSON of the last line that begins with the nonce; None when it never wrote one."""
    for line in reversed(output.split(b"\n")):
        if line.startswith(nonce.encode() + b" "):
            report: dict[str, Any] = json.loads(line.split(b" ", 1)[1])
            return report
    return None
