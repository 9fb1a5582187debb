"""Python packages of the host's environment that a session shows read-only, so that tools may import them.

A distribution brings what it requires, as far as that is installed. Only the folders and modules that it installed are
shown, never the whole site-packages: the rest may hold solutions and hidden tests.
Not covered: programs, data outside of site-packages, editable installs; a Python inside of another version than this
one cannot load compiled packages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.errors import InputError

if TYPE_CHECKING:
    from importlib.metadata import Distribution

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
NOT_HERE = "{backend} cannot show Python packages ({names}); use bubblewrap, or an image that has them"


def host_paths(names: Iterable[str]) -> dict[str, Path]:
    """Name inside the packages folder -> path on the host; InputError for a distribution that is not installed."""
    from importlib.metadata import Distribution, PackageNotFoundError  # a scan that most sessions do without

    found: dict[str, Path] = {}
    seen: set[str] = set()
    todo = [(name, True) for name in names]
    while todo:
        name, asked = todo.pop()
        if _normal(name) in seen:
            continue
        seen.add(_normal(name))
        try:
            distribution = Distribution.from_name(name)
        except PackageNotFoundError as error:
            if asked:
                raise InputError(f'the package "{name}" is not installed here: pip install {name}') from error
            continue
        found |= _tops(distribution)
        todo += [(wanted, False) for wanted in _required(distribution.requires or ())]
    return found


def _tops(distribution: Distribution) -> dict[str, Path]:
    tops: dict[str, Path] = {}
    for file in distribution.files or ():
        top = str(file).split("/")[0]
        if top not in ("..", "__pycache__", "") and not top.endswith(".pth"):
            path = Path(str(distribution.locate_file(top)))
            if path.exists():
                tops[top] = path
    return tops


def _required(lines: Iterable[str]) -> list[str]:
    return [found[0] for line in lines if "extra ==" not in line and (found := _NAME.match(line))]


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
