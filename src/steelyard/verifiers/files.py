"""`files`: what a workspace must hold at the end, read from the base tree and the attempt's changes.

Source: seed 001 (file tasks and their `keep` lines; REQUIREMENTS O-6, O-21) and decision 15 on tampering.
No sandbox is needed: the base is data, the Diff is data, contents are in the store. The probe stores the final text
of the checked files and the names of everything that changed; deciding is pure. `keep` compares whole lines and
counts them: a line that stood twice must stand twice.
Not covered: binary content (say `exists`), file modes, what a program would do with the file (see `tests`).
Easy to break: a file that cannot be read as text is a failure with its reason, never a crash.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Any, Literal

from steelyard.attempt import Attempt, Diff, lay_over
from steelyard.errors import InputError
from steelyard.item import Item
from steelyard.ports import Kit
from steelyard.verdict import Evidence, Miss, Verdict
from steelyard.verifiers.contract import Config, Verifier

MAX_FILE_BYTES = 256 * 1024
_PATTERN_CHARS = 1000
_SHOWN_CHARS = 120


class FileCheck(Config, frozen=True):
    """What one path must be at the end.

    `pattern` is searched line by line (`^` and `$` are a line's ends); `equals` is the whole text; `exists` false
    means that the file must be gone; `keep` lists lines that must survive, `absent` lines that must not stand there.
    """

    path: str
    pattern: str | None = None
    equals: str | None = None
    exists: bool = True
    keep: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


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
        needed = check.pattern is not None or check.equals is not None or check.keep or check.absent
        return [Miss("file-unreadable", f"{check.path}: {seen['unreadable']}")] if needed else []
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
    if not check.exists and (check.pattern is not None or check.equals is not None or check.keep or check.absent):
        raise InputError(f"{where}: a file that must not exist has no content to check")
    if any("\n" in line or "\r" in line for line in (*check.keep, *check.absent)):
        raise InputError(f"{where}: keep and absent hold single lines")
    if check.pattern is None:
        return
    if len(check.pattern) > _PATTERN_CHARS:
        raise InputError(f"{where}: a pattern of {len(check.pattern)} characters, more than {_PATTERN_CHARS}")
    try:
        re.compile(check.pattern, re.MULTILINE)
    except re.error as broken:
        raise InputError(f"{where}: the pattern does not compile: {broken}") from broken


VERIFIERS: tuple[Verifier, ...] = (
    Verifier(
        name="files",
        config=FilesConfig,
        misses=(
            "pattern-absent",
            "text-differs",
            "line-lost",
            "line-present",
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
