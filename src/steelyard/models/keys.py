"""Where an endpoint's key comes from: a file that is named, the environment, or `.env` in the working folder.

The environment wins over `.env`, as everywhere. Of `.env` only the variables of KEY_VARIABLES are read, nothing is put
into the environment, and so no child process inherits a key.
Easy to break: a key in a message. Errors here name places, never contents.
"""

from __future__ import annotations

import os
from pathlib import Path

from steelyard.errors import InputError

KEY_VARIABLES = ("STEELYARD_API_KEY", "OPENAI_API_KEY")


def find_key(file: Path | None = None, folder: Path | None = None) -> str:
    """The key for an endpoint; "" when there is none anywhere. InputError for a named file without a key in it."""
    if file is not None:
        return _from_file(file)
    own = (os.environ.get(name, "").strip() for name in KEY_VARIABLES)
    return next((key for key in own if key), "") or _from_dotenv((folder or Path.cwd()) / ".env")


def _from_file(file: Path) -> str:
    try:
        key = file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise InputError(f"cannot read the key file {file}: {why}") from error
    if not key or len(key.split()) > 1:
        raise InputError(f"the key file {file} must hold one key and nothing else")
    return key


def _from_dotenv(path: Path) -> str:
    if not path.is_file():
        return ""
    from dotenv import dotenv_values  # only where there is such a file

    try:
        values = dotenv_values(path, interpolate=False)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {path}: {type(error).__name__}") from error
    return next((key for name in KEY_VARIABLES if (key := (values.get(name) or "").strip())), "")
