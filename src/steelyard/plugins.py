"""Families and commands by entry point or `path/to/file.py:name`.

Two doors, the same for built-in families and anyone else's: the entry-point groups `steelyard.families` and
`steelyard.commands`, and a file that the user names on the command line. A file that only a *suite* names is never
executed unless the user passes --trust.
Easy to break: scanning installed packages on the way to `--help`; nothing here runs at import.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from steelyard.errors import InputError, did_you_mean
from steelyard.family import Family
from steelyard.verifiers.contract import Verifier

FAMILIES = "steelyard.families"
COMMANDS = "steelyard.commands"


@cache
def _entry_points(group: str) -> dict[str, importlib.metadata.EntryPoint]:
    return {point.name: point for point in importlib.metadata.entry_points(group=group)}


def family_names() -> list[str]:
    """Names of installed families, sorted; none is imported."""
    return sorted(_entry_points(FAMILIES))


def is_file_reference(reference: str) -> bool:
    """Whether a reference is `path.py` or `path.py:name`, not an installed name."""
    return reference.partition(".py")[1] == ".py" and reference.partition(".py")[2][:1] in ("", ":")


def find_family(reference: str) -> Family:
    """A family by installed name, `path.py:name`, or `path.py` when it defines one family only."""
    if is_file_reference(reference):
        return _family_from_file(reference)
    point = _entry_points(FAMILIES).get(reference)
    if point is None:
        raise InputError(f'no family "{reference}"{did_you_mean(reference, family_names())}')
    try:
        found = point.load()
    except ImportError as error:
        raise InputError(f'family "{reference}" needs a package that is not here: {error}') from error
    if not isinstance(found, Family):
        raise InputError(f'entry point "{reference}" ({point.value}) is not a Family')
    return found


def _family_from_file(reference: str) -> Family:
    path, _, name = reference.partition(".py:") if ".py:" in reference else (reference[:-3], "", "")
    module = load_file(Path(path + ".py"))
    families = {key: value for key, value in vars(module).items() if isinstance(value, Family)}
    if name:
        chosen = [f for key, f in families.items() if name in (key, f.name)]
        if not chosen:
            raise InputError(f'{path}.py defines no family "{name}"{did_you_mean(name, families)}')
        return chosen[0]
    if len({id(f) for f in families.values()}) != 1:
        raise InputError(f"{path}.py defines {len(families)} families; name one: {path}.py:NAME")
    return next(iter(families.values()))


def find_verifier(reference: str) -> tuple[Verifier, Path]:
    """A verifier from `path.py:name`; executes the file, so the caller must have been trusted to."""
    path, _, name = reference.partition(".py:")
    source = Path(path + ".py")
    found = vars(load_file(source)).get(name)
    if not isinstance(found, Verifier):
        raise InputError(f'{source} defines no verifier "{name}"')
    return found, source


def load_file(path: Path) -> ModuleType:
    """Execute a Python file as a module of its own name; running it twice gives the same module."""
    path = path.resolve()
    if not path.is_file():
        raise InputError(f"no such file: {path}")
    name = f"steelyard_file_{path.stem}_{abs(hash(str(path)))}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"not a Python file: {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def command_groups() -> dict[str, Callable[[], Callable[[Any], None]]]:
    """Command groups that families bring: name -> a loader of its `add_commands(parser)`."""
    return {name: point.load for name, point in _entry_points(COMMANDS).items()}
