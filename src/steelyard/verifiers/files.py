"""`files`: what a workspace must hold at the end, read from the base tree and the attempt's changes.

Source: seed 001 (file tasks and their `keep` lines; REQUIREMENTS O-6, O-21) and decision 15 on tampering.
No sandbox is needed: the base is data, the Diff is data, contents are in the store. The probe stores the final text
of the checked files and the names of everything that changed; deciding is pure. `keep` compares whole lines and
counts them: a line that stood twice must stand twice. `format` and `data` compare what a file says, however it is
written; Python is read and never run.
Not covered: binary content (say `exists`), file modes, what a program would do with the file (see `tests`); of Python
what runs in class bodies, decorators and default values.
Easy to break: a file that cannot be read as text is a failure with its reason, never a crash.
"""

from __future__ import annotations

import ast
import configparser
import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, Literal

import msgspec

from steelyard.attempt import Attempt, Diff, lay_over
from steelyard.errors import InputError
from steelyard.item import Item
from steelyard.ports import Kit
from steelyard.verdict import Evidence, Miss, Verdict
from steelyard.verifiers.contract import Config, Verifier

Format = Literal["csv", "ini", "python"]
MAX_FILE_BYTES = 256 * 1024
_PATTERN_CHARS = 1000
_SHOWN_CHARS = 120
_UNPLAIN = "line {}: only plain constants can be read without running it"


class FileCheck(Config, frozen=True):
    """What one path must be at the end.

    `pattern` is searched line by line (`^` and `$` are a line's ends); `equals` is the whole text; `exists` false
    means that the file must be gone; `keep` lists lines that must survive, `absent` lines that must not stand there.
    `data` is all that the file says, read as `format`: `csv` is a list of rows of text (the first stays first, the
    others in any order), `ini` is section to option to text, `python` is every constant of the module by name.
    """

    path: str
    pattern: str | None = None
    equals: str | None = None
    exists: bool = True
    keep: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    format: Format | None = None
    data: Any = None


class FilesConfig(Config, frozen=True):
    """Checks by path; `allow` globs say what may change at all (empty: anything), `protect` globs what may not."""

    checks: list[FileCheck]
    allow: tuple[str, ...] = ()
    protect: tuple[str, ...] = ()
    on_tamper: Literal["fail", "restore"] = "fail"


def matches_any(path: str, globs: Iterable[str]) -> bool:
    """Whether a relative path matches one of the globs: `*` stays within a folder, `**` spans folders."""
    return any(_glob(glob).fullmatch(path) for glob in globs)


def glob_error(glob: str) -> str:
    """Why a glob or a path can never match a workspace path; empty when it can."""
    if not glob or glob.startswith("/") or "\\" in glob or any(part in ("", ".", "..") for part in glob.split("/")):
        return f'a path or glob is relative with forward slashes and no "." or "..", got "{glob}"'
    return ""


_GLOB_PARTS = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")
_GLOB_MEANING = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


@cache
def _glob(glob: str) -> re.Pattern[str]:
    parts = (_GLOB_MEANING.get(part) or re.escape(part) for part in _GLOB_PARTS.findall(glob))
    return re.compile("".join(parts), re.DOTALL)


def _probe(item: Item, attempt: Attempt, kit: Kit, config: FilesConfig) -> Evidence:
    base = kit.base(item)
    diff = attempt.workspace or Diff()
    tampered = sorted(path for path in diff.changes if matches_any(path, config.protect))
    if config.on_tamper == "restore":
        diff = Diff({path: change for path, change in diff.changes.items() if path not in tampered}, diff.refused)
    tree = lay_over(base, diff)
    texts = {check.path: _text(kit, tree.get(check.path)) for check in config.checks}
    changed = sorted({*diff.changes, *diff.refused})
    return Evidence({"files": texts, "changed": changed, "tampered": tampered, "refused": dict(diff.refused)})


def _text(kit: Kit, sha256: str | None) -> dict[str, Any]:
    """A file's final text, or why it has none."""
    if sha256 is None:
        return {"missing": True}
    data = kit.store.get(sha256)
    if len(data) > MAX_FILE_BYTES:
        return {"unreadable": f"{len(data)} bytes, more than {MAX_FILE_BYTES}"}
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError as error:
        return {"unreadable": f"not UTF-8 at byte {error.start}"}


def _decide(found: Evidence, _target: str, config: FilesConfig) -> Verdict:
    tampered: list[str] = found.data["tampered"]
    misses: list[Miss] = []
    warnings: list[str] = []
    if tampered and config.on_tamper == "fail":
        misses.append(Miss("tests-edited", ", ".join(tampered)))
    elif tampered:
        warnings.append(f"restored: {', '.join(tampered)}")
    for check in config.checks:
        misses += _check_one(check, found.data["files"][check.path], found.data["refused"].get(check.path))
    if config.allow:
        stray = [path for path in found.data["changed"] if path not in tampered and not matches_any(path, config.allow)]
        if stray:
            misses.append(Miss("unexpected-change", ", ".join(stray)))
    return Verdict(not misses, misses, warnings)


def _check_one(check: FileCheck, seen: dict[str, Any], refused: str | None) -> list[Miss]:
    if refused is not None:
        name = "file-missing" if check.exists else "file-present"
        return [Miss(name, f"{check.path}: {refused}")]
    if not check.exists:
        return [] if "missing" in seen else [Miss("file-present", check.path)]
    if "missing" in seen:
        return [Miss("file-missing", check.path)]
    if "unreadable" in seen:
        return [Miss("file-unreadable", f"{check.path}: {seen['unreadable']}")] if _reads(check) else []
    return [Miss(name, f"{check.path}: {_shown(detail)}") for name, detail in _text_misses(check, seen["text"])]


def _text_misses(check: FileCheck, text: str) -> Iterable[tuple[str, str]]:
    # Only line feeds end a line: other separators would let a lost line hide inside another one.
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if check.equals is not None and text != check.equals:
        yield "text-differs", "not the expected text"
    if check.pattern is not None and not re.search(check.pattern, text, re.MULTILINE):
        yield "pattern-absent", check.pattern
    for line in Counter(check.keep) - Counter(lines):
        yield "line-lost", line
    for line in check.absent:
        if line in lines:
            yield "line-present", line
    if check.format is not None:
        yield from _data_misses(check.format, check.data, text)


def _reads(check: FileCheck) -> bool:
    """Whether a check asks for anything of the file's text."""
    return bool(check.pattern is not None or check.equals is not None or check.format or check.keep or check.absent)


def _data_misses(kind: Format, expected: Any, text: str) -> Iterable[tuple[str, str]]:
    try:
        seen = data_of(kind, text)
        differences = list(_row_differences(expected, seen) if kind == "csv" else _differences(expected, seen))
    except ValueError as error:  # a number of too many digits to be shown is one as well
        yield "not-parsed", f"as {kind}: {error}"
        return
    if differences:
        more = f", and {len(differences) - 1} more" if len(differences) > 1 else ""
        yield "data-differs", f"{differences[0]}{more}"


def data_of(kind: Format, text: str) -> Any:
    """What a file says: rows of text, options of text by section, or a module's constants by name.

    Raises ValueError for text that is not of the format, and for Python whose constants only running it would tell.
    """
    try:
        return _READERS[kind](text)
    except (csv.Error, configparser.Error, SyntaxError, TypeError, RecursionError, MemoryError) as error:
        raise ValueError(" ".join(str(error).split()) or type(error).__name__) from error


def _csv_data(text: str) -> list[list[str]]:
    return [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]


def _ini_data(text: str) -> dict[str, dict[str, str]]:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    return {name: dict(section) for name, section in parser.items() if name != parser.default_section or section}


def _python_data(text: str) -> dict[str, Any]:
    """The constants of a module as they stand after its last statement, for statements that say them plainly."""
    found: dict[str, Any] = {}
    defined: set[str] = set()
    for node in ast.parse(text).body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Import() | ast.ImportFrom():
                for name in _defines(node):
                    if name in found or name in defined or name == "*":
                        raise ValueError(f"line {node.lineno}: what {name} is cannot be told")
                    defined.add(name)
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                continue
            case _:
                _follow(node, found)
                if clash := defined & found.keys():
                    raise ValueError(f"line {node.lineno}: {min(clash)} is defined twice")
    return found


def _defines(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [alias.asname or alias.name.partition(".")[0] for alias in node.names]
    return [node.name]


def _follow(node: ast.stmt, found: dict[str, Any]) -> None:
    """Do to `found` what a plain statement about constants does; a ValueError for every other statement."""
    match node:
        case ast.Assign(targets=targets, value=value):
            result = _value(value, found)
            for target in targets:
                _assign(target, result, found)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            _assign(target, _value(value, found), found)
        case ast.AugAssign(target=ast.Name(id=name), op=ast.BitOr(), value=value) if isinstance(found.get(name), dict):
            found[name].update(_dictionary([value], [], found))
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="update"), args=args, keywords=keywords)
        ) if isinstance(found.get(name), dict):
            found[name].update(_dictionary(args, keywords, found))
        case _:
            raise ValueError(_UNPLAIN.format(node.lineno))


def _assign(target: ast.expr, value: Any, found: dict[str, Any]) -> None:
    match target:
        case ast.Name(id=name):
            found[name] = value
        case ast.Subscript(value=ast.Name(id=name), slice=key) if isinstance(found.get(name), dict):
            found[name][_value(key, found)] = value
        case _:
            raise ValueError(_UNPLAIN.format(target.lineno))


def _value(node: ast.expr, found: dict[str, Any]) -> Any:
    """The value of a literal, of a name that is known, and of dictionaries put together from such."""
    match node:
        case ast.Name(id=name) if name in found:
            return found[name]
        case ast.Call(func=ast.Name(id="dict"), args=args, keywords=keywords) if "dict" not in found:
            return _dictionary(args, keywords, found)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _dictionary([left], [], found) | _dictionary([right], [], found)
        case ast.Dict(keys=keys, values=values):
            result: dict[Any, Any] = {}
            for key, value in zip(keys, values, strict=True):
                if key is None:
                    result.update(_dictionary([value], [], found))
                else:
                    result[_value(key, found)] = _value(value, found)
            return result
        case _:
            try:
                return ast.literal_eval(node)
            except ValueError as error:  # its words hold an address, and a verdict repeats word for word
                raise ValueError(_UNPLAIN.format(node.lineno)) from error


def _dictionary(args: list[ast.expr], keywords: list[ast.keyword], found: dict[str, Any]) -> dict[Any, Any]:
    """What `dict(...)` gives for arguments that are dictionaries and named values."""
    result: dict[Any, Any] = {}
    for node in args:
        value = _value(node, found)
        if len(args) > 1 or not isinstance(value, dict):
            raise ValueError(f"line {node.lineno}: only a dictionary can be read here")
        result.update(value)
    for keyword in keywords:
        value = _value(keyword.value, found)
        result.update({keyword.arg: value} if keyword.arg is not None else dict(value))
    return result


_READERS: Mapping[Format, Callable[[str], Any]] = {"csv": _csv_data, "ini": _ini_data, "python": _python_data}


def _row_differences(expected: list[list[str]], seen: list[list[str]]) -> Iterable[str]:
    if seen[:1] != expected[:1]:
        yield f"the first row is not {','.join(expected[0])}"
    wanted, found = (Counter(tuple(row) for row in rows[1:]) for rows in (expected, seen))
    yield from (f"row gone: {','.join(row)}" for row in wanted - found)
    yield from (f"row too many: {','.join(row)}" for row in found - wanted)


def _differences(expected: dict[str, Any], seen: dict[str, Any], inside: str = "") -> Iterable[str]:
    """Where two mappings differ: names that are gone, names too many, and values that are not of one type and equal."""
    for name, old in expected.items():
        new = seen.get(name)
        if name not in seen:
            yield f"{inside}{name} is gone"
        elif isinstance(old, dict) and isinstance(new, dict):
            yield from _differences(old, new, f"{inside}{name}.")
        elif not _same(old, new):
            # Names for dictionaries inside one another can make a text that never ends.
            yield f"{inside}{name} is {type(new).__name__ if isinstance(new, dict) else repr(new)}, not {old!r}"
    yield from (f"{inside}{name} is too many" for name in seen if name not in expected)


def _same(one: Any, other: Any) -> bool:
    """Equality that tells True from 1 and 1 from 1.0, inside lists as well."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return bool(one == other)


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "..."


def _check(_target: str, config: FilesConfig) -> None:
    if not config.checks:
        raise InputError('verifier "files" needs at least one check')
    for check in config.checks:
        _check_config(check)
    for glob in (*config.allow, *config.protect):
        if error := glob_error(glob):
            raise InputError(f'verifier "files": {error}')


def _check_config(check: FileCheck) -> None:
    where = f'verifier "files": check of "{check.path}"'
    if error := glob_error(check.path):
        raise InputError(f"{where}: {error}")
    if not check.exists and _reads(check):
        raise InputError(f"{where}: a file that must not exist has no content to check")
    if any("\n" in line or "\r" in line for line in (*check.keep, *check.absent)):
        raise InputError(f"{where}: keep and absent hold single lines")
    _check_data(where, check)
    if check.pattern is None:
        return
    if len(check.pattern) > _PATTERN_CHARS:
        raise InputError(f"{where}: a pattern of {len(check.pattern)} characters, more than {_PATTERN_CHARS}")
    try:
        re.compile(check.pattern, re.MULTILINE)
    except re.error as broken:
        raise InputError(f"{where}: the pattern does not compile: {broken}") from broken


_DATA_TYPES: Mapping[Format, Any] = {"csv": list[list[str]], "ini": dict[str, dict[str, str]], "python": dict[str, Any]}


def _check_data(where: str, check: FileCheck) -> None:
    if (check.format is None) != (check.data is None):
        raise InputError(f"{where}: format and data are given together or not at all")
    if check.format is None:
        return
    try:
        data = msgspec.convert(check.data, _DATA_TYPES[check.format])
    except msgspec.ValidationError as error:
        raise InputError(f"{where}: data does not fit the format {check.format}: {error}") from error
    if not data:
        raise InputError(f"{where}: data is empty; say what the file must hold")


VERIFIERS: tuple[Verifier, ...] = (
    Verifier(
        name="files",
        config=FilesConfig,
        misses=(
            "pattern-absent",
            "text-differs",
            "line-lost",
            "line-present",
            "not-parsed",
            "data-differs",
            "file-missing",
            "file-present",
            "file-unreadable",
            "unexpected-change",
            "tests-edited",
        ),
        probe=_probe,
        decide=_decide,
        check=_check,
    ),
)
