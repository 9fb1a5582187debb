"""How far a command is: a bar on a terminal, a plain line every ten seconds elsewhere; both on stderr."""

from __future__ import annotations

import sys
import time
from typing import Any, Self

EVERY_S = 10.0


class Progress:
    """One count on its way to a total, in `unit`s; a `with` block closes the bar. Downloads count in `MB`."""

    def __init__(self, unit: str, name: str = "") -> None:
        self._unit, self._name = unit, name
        self._bar: Any = None
        self._last = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def told(self, done: float, total: float, more: str = "") -> None:
        """Show that `done` of `total` is done (0: not known), and what `more` there is to say."""
        if sys.stderr.isatty():
            if self._bar is None:
                from tqdm import tqdm  # only a terminal needs it

                form = "{l_bar}{bar}| {n:.0f}/{total:.0f} [{elapsed}<{remaining}{postfix}]" if total else None
                self._bar = tqdm(
                    total=total or None,
                    unit=self._unit,
                    desc=self._name or None,
                    file=sys.stderr,
                    bar_format=form,
                )
            self._bar.n = done
            self._bar.set_postfix_str(more, refresh=True)
        elif time.monotonic() - self._last >= EVERY_S or done == total:
            self._last = time.monotonic()
            name = f"{self._name}: " if self._name else ""
            of = f"/{total:.0f}" if total else ""
            print(
                f"{name}{done:.0f}{of} {self._unit}{more and ', ' + more}",
                file=sys.stderr,
            )
