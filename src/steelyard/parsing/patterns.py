"""Regular expressions that are compiled when they are first used.

Compiling those of one module takes longer than most of what a short command does, and few commands need them all.
Easy to break: handing one to `re` itself, which knows its own patterns only.
"""

from __future__ import annotations

import re
from typing import Any, cast


def late(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """What `re.compile` gives, compiled at the first use of one of its methods; a faulty pattern raises then."""
    return cast("re.Pattern[str]", _Late(pattern, flags))


class _Late:
    def __init__(self, pattern: str, flags: int) -> None:
        self._source = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        """Asked only for names that are not there yet; what was found is kept, so the next use costs nothing."""
        compiled = re.compile(*self._source)
        for method in ("search", "match", "fullmatch", "finditer", "findall", "sub", "split", "pattern"):
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)
