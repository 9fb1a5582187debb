"""Families and commands by entry point or `path/to/file.py:name`.

Two doors, the same for built-in families and anyone else's: the entry-point groups `steelyard.families` and
`steelyard.commands`, and a file that the user names on the command line. A file that only a *suite* names is never
executed unless the user passes --trust. Whatever such code does wrong is one line that says where (`author_code`).
Easy to break: scanning installed packages on the way to `--help`; nothing here runs at import.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from steelyard.errors import InputError, SteelyardError, did_you_mean
from steelyard.family import Family
from steelyard.verifiers.contract import Verifier

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

FAMILIES = "steelyard.families"
COMMANDS = "steelyard.commands"
_FILE_MODULE = "steelyard_file_"
_REFERENCE = re.compile(r"(.*\.py)(?::([^/:]*))?", re.DOTALL)


@contextmanager
def author_code(where: str) -> Iterator[None]:
    """Run an author's code: an exception or a SystemExit in it becomes `where: Type: message (file.py:line)`.

    The place is the innermost frame inside a file that the user named, else the innermost of all. KeyboardInterrupt
    and the errors of this program pass as they are.
    """
    try:
        yield
    except SteelyardError:
        raise
    except (Exception, SystemExit) as error:
        frames = [(f, line) for f, line in traceback.walk_tb(error.__traceback__)][2:]  # less the two of this `with`
        users = [(f, line) for f, line in frames if str(f.f_globals.get("__name__")).startswith(_FILE_MODULE)]
        places = [f"{Path(f.f_code.co_filename).name}:{line}" for f, line in users or frames]
        said = str(error)
        if isinstance(error, SyntaxError) and error.filename and Path(error.filename).is_file():
            said, places = error.msg, [f"{Path(error.filename).name}:{error.lineno}"]
        said = " ".join(f"{where}: {type(error).__name__}: {said}".split()).removesuffix(":")
        raise InputError(said + (f" ({places[-1]})" if places else "")) from error


@cache
def _entry_points(group: str) -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # slow to load, and only who names an installed family needs it

    return {point.name: point for point in entry_points(group=group)}


def family_names() -> list[str]:
    """Names of installed families, sorted; none is imported."""
    return sorted(_entry_points(FAMILIES))


def split_reference(reference: str) -> tuple[str, str]:
    """The path and the name of `path.py:name` or `path.py` (no name); ("", "") for anything else."""
    match = _REFERENCE.fullmatch(reference)
    return (match[1], match[2] or "") if match else ("", "")


def is_file_reference(reference: str) -> bool:
    """Whether a reference is `path.py` or `path.py:name`, not an installed name."""
    return split_reference(reference)[0] != ""


def find_family(reference: str) -> Family:
    """A family by installed name, `path.py:name`, or `path.py` when it defines one family only."""
    if is_file_reference(reference):
        return _family_from_file(*split_reference(reference))
    point = _entry_points(FAMILIES).get(reference)
    if point is None:
        raise InputError(f'no family "{reference}"{did_you_mean(reference, family_names())}')
    with author_code(f'family "{reference}" ({point.value}) cannot be loaded'):
        try:
            found = point.load()
        except ImportError as error:
            raise InputError(f'family "{reference}" needs a package that is not here: {error}') from error
    if not isinstance(found, Family):
        raise InputError(f'entry point "{reference}" ({point.value}) is not a Family')
    return found


def _family_from_file(path: str, name: str) -> Family:
    """A family of a file, by its variable, else by its own name; without a name the only one there."""
    families = {key: value for key, value in vars(load_file(Path(path))).items() if isinstance(value, Family)}
    if not families:
        raise InputError(f"{path} defines no family; it needs one, such as family = Family(name=..., make=...)")
    if name:
        named = {family.name: family for family in families.values()} | families
        if name not in named:
            raise InputError(f'{path} defines no family "{name}"{did_you_mean(name, named)}')
        return named[name]
    if len({id(f) for f in families.values()}) != 1:
        names = ", ".join(families)
        raise InputError(f"{path} defines {len(families)} families ({names}); name one: {path}:NAME")
    return next(iter(families.values()))


def find_verifier(reference: str, folder: Path | None = None) -> tuple[Verifier, Path]:
    """A verifier from `path.py:name`, a relative path seen from `folder` (default: here).

    It executes the file, so the caller must have been trusted to.
    """
    path, name = split_reference(reference)
    source = (folder or Path()) / path
    members = vars(load_file(source))
    found = members.get(name)
    if not isinstance(found, Verifier):
        known = [key for key, value in members.items() if isinstance(value, Verifier)]
        raise InputError(f'{source} defines no verifier "{name}"{did_you_mean(name, known)}')
    return found, source


def load_file(path: Path) -> ModuleType:
    """Execute a Python file as a module of its own name; running it twice gives the same module."""
    given, path = path, path.resolve()
    if not path.is_file():
        raise InputError(f"no such file: {path}")
    name = f"{_FILE_MODULE}{path.stem}_{abs(hash(str(path)))}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"not a Python file: {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with author_code(f"{given} cannot be loaded"):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def command_groups() -> dict[str, Callable[[], Callable[[Any], None]]]:
    """Command groups that families bring: name -> a loader of its `add_commands(parser)`."""
    return {name: point.load for name, point in _entry_points(COMMANDS).items()}
