"""One process at a time in a run folder: a lock file that the system frees however its holder ends.

By flock(2), which is loaded already where there is one; elsewhere by filelock, which brings asyncio with it: more than
a short command may cost.
Easy to break: removing the file when it is freed, so that two processes hold two files of one name.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

if sys.platform != "win32":
    import fcntl


def hold(path: Path) -> Callable[[], None]:
    """Hold a lock file; what is returned frees it, once. BlockingIOError where another process holds it."""
    if sys.platform == "win32":
        from filelock import FileLock, Timeout  # there is no flock here

        lock = FileLock(path)
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            raise BlockingIOError(f"{path} is held by another process") from error
        return lock.release
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise
    return partial(os.close, handle)
