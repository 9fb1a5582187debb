"""failure.json: at which stage a run failed and why; removed when that stage has been done after all."""

from __future__ import annotations

import time
import traceback
from collections.abc import Container
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from steelyard.errors import FormatError
from steelyard.run.stored import read
from steelyard.store import write_json

FAILURE = "failure.json"


class _Failure(msgspec.Struct, frozen=True):
    stage: str


def write_failure(folder: Path, name: str, error: Exception) -> None:
    """Write failure.json: stage, kind of error, its words, the traceback and the time."""
    failure: dict[str, Any] = {
        "stage": name,
        "error": type(error).__name__,
        "message": str(error),
        "traceback": "".join(traceback.format_exception(error)),
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    with suppress(OSError):  # the folder may be what failed; the error itself is raised either way
        write_json(folder / FAILURE, failure)


def clear_failure(folder: Path, stages: Container[str]) -> None:
    """Remove failure.json when what failed at one of these stages has now been done."""
    path = folder / FAILURE
    if path.exists() and _failed_stage(path) in stages:
        path.unlink()


def _failed_stage(path: Path) -> str:
    try:
        return read(path, _Failure, "a failure").stage
    except FormatError:
        return ""
