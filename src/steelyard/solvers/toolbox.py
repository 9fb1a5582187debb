"""The tools of a workspace job, over one sandbox session: read_file, list_files, grep, write_file, run_tests.

`shell` and `python` are for the items, or the runs, that offer them.

Source: seed 001 and its public upstream, for names and result texts. An error is a result that begins with `error: `
and goes back to the model; only a broken sandbox raises. All calls are synchronous: use a thread from asyncio code.
Not covered: deleting and renaming files, tools that an item defines itself.
Easy to break: running a model's pattern on the host. `grep` runs inside the sandbox under a time limit, because a
hostile regular expression never ends.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from steelyard.attempt import Message
from steelyard.errors import InputError, SandboxFaultError, did_you_mean
from steelyard.item import Item
from steelyard.ports import ExecResult, Session, ToolSpec
from steelyard.solvers.output import cut, normalised, reserved_token
from steelyard.solvers.settings import SolverSettings

DEFAULT_TEST_COMMAND = ("python3", "-m", "unittest", "discover", "-s", "tests")
READ_BYTES = 1024 * 1024
"""The largest file that read_file opens; the output limit cuts far below it."""

_COMMANDS = frozenset({"run_tests", "shell", "python"})
"""Tools whose results are a program's words, which are normalised."""

_IMPORTING = frozenset({"shell", "python"})
_GREP = """
import json, re, sys
asked = json.load(sys.stdin.buffer)
try:
    pattern = re.compile(asked["pattern"])
except (re.error, OverflowError, RecursionError) as error:
    sys.stdout.write(f"invalid pattern: {error}")
    sys.exit(2)
for path in asked["files"]:
    try:
        lines = open(path, encoding="utf-8").read().splitlines()
    except (OSError, UnicodeDecodeError):
        continue
    for number, line in enumerate(lines, 1):
        if pattern.search(line):
            sys.stdout.buffer.write(f"{path}:{number}: {line}\\n".encode("utf-8", "replace"))
"""


class ToolResult(msgspec.Struct, frozen=True):
    """What a call gave: the text for the model, the text before normalising, and whether the tool did its work."""

    content: str
    raw: str
    ok: bool = True

    def message(self, call_id: str = "") -> Message:
        """The tool message; `raw` is kept only where it differs."""
        return Message("tool", self.content, tool_call_id=call_id, raw="" if self.raw == self.content else self.raw)


class _Refusal(Exception):  # noqa: N818 - not an error of this program: its text is the tool's answer
    """A call that cannot be done, in the words that the model gets."""


class Toolbox:
    """An item's tools over one session; the caller opens and closes the session."""

    def __init__(self, session: Session, item: Item, settings: SolverSettings) -> None:
        self._session = session
        self._settings = settings
        self._command = tests_command(item)
        self.specs = tool_specs(item)
        self._tools: dict[str, Callable[..., str]] = {
            "read_file": self._read_file,
            "list_files": self._list_files,
            "grep": self._grep,
            "write_file": self._write_file,
            "run_tests": self._run_tests,
            "shell": self._shell,
            "python": self._python,
        }

    def call(self, name: str, arguments: Mapping[str, str]) -> ToolResult:
        """Run one tool whose arguments were checked against its schema."""
        offered = {spec.name for spec in self.specs}
        if name not in offered:
            raise InputError(f'no tool "{name}" in this toolbox{did_you_mean(name, offered)}')
        try:
            raw = self._tools[name](**arguments)
        except _Refusal as refusal:
            return self._result(f"error: {refusal}", ok=False)
        return self._result(raw, command=name in _COMMANDS)

    def _result(self, raw: str, *, ok: bool = True, command: bool = False) -> ToolResult:
        text = normalised(raw) if command else raw
        limit = self._settings.output_chars
        if reserved_token(text) is not None:
            return ToolResult(
                "error: the result was withheld: it contains a reserved chat token", cut(raw, limit), ok=False
            )
        return ToolResult(cut(text, limit), cut(raw, limit), ok)

    def _read_file(self, path: str) -> str:
        inside = _inside(path)
        try:
            data = self._session.read(inside, READ_BYTES)
        except InputError as error:
            raise _Refusal(f"cannot read {path}: {_reason(error)}") from error
        try:
            return data.decode() or "(empty)"
        except UnicodeDecodeError as error:
            raise _Refusal(f"{path} is not UTF-8 text") from error

    def _list_files(self, path: str = ".") -> str:
        return "\n".join(self._under(path)) or "(empty)"

    def _grep(self, pattern: str, path: str = ".") -> str:
        asked = json.dumps({"pattern": pattern, "files": self._under(path)}).encode()
        done = self._run(["python3", "-I", "-c", _GREP], asked)
        text = done.output.decode("utf-8", "replace")
        if done.why == "exit" and done.rc == 2 and text.startswith("invalid pattern: "):
            raise _Refusal(text)
        if done.why == "output":
            return text
        if done.why != "exit" or done.rc != 0:
            raise _Refusal(f"the search did not finish ({_ending(done, self._settings)})")
        return text.removesuffix("\n") or "no matches"

    def _write_file(self, path: str, content: str) -> str:
        inside = _inside(path)
        try:
            self._session.write(inside, content.encode())
        except UnicodeEncodeError as error:
            raise _Refusal("the content is not valid text") from error
        except InputError as error:
            raise _Refusal(f"cannot write {path}: {_reason(error)}") from error
        return f"wrote {len(content)} characters to {path}"

    def _run_tests(self) -> str:
        return self._said(self._run(self._command))

    def _shell(self, command: str) -> str:
        return self._said(self._run(["/bin/sh", "-c", _sendable(command).decode()]))

    def _python(self, code: str) -> str:
        return self._said(self._run(["python3", "-"], _sendable(code)))

    def _said(self, done: ExecResult) -> str:
        return f"{_ending(done, self._settings)}\n{done.output.decode('utf-8', 'replace')}"

    def _under(self, path: str) -> list[str]:
        inside = _inside(path)
        everything = self._session.paths()
        if inside == ".":
            return everything
        found = [p for p in everything if p == inside or p.startswith(f"{inside}/")]
        if not found:
            raise _Refusal(f"no such file or folder: {path}")
        return found

    def _run(self, argv: list[str], stdin: bytes = b"") -> ExecResult:
        done = self._session.run(argv, stdin=stdin, wall_s=self._settings.tool_timeout_s)
        if done.why == "infra":
            raise SandboxFaultError(f"a tool could not run: {done.output.decode('utf-8', 'replace')[:200]}")
        return done


def tool_specs(item: Item) -> list[ToolSpec]:
    """The tools that an item offers, in its order; InputError names the nearest known tool."""
    for name in item.tools:
        if name not in TOOL_SPECS:
            raise InputError(f'item "{item.id}": no tool "{name}"{did_you_mean(name, TOOL_SPECS)}')
    packages = (item.environment or {}).get("packages")
    known = f" Python packages that can be imported: {', '.join(packages)}." if packages else ""
    return [
        msgspec.structs.replace(spec, description=spec.description + known) if spec.name in _IMPORTING else spec
        for spec in map(TOOL_SPECS.__getitem__, item.tools)
    ]


def tests_command(item: Item) -> list[str]:
    """The command behind run_tests: the item's own, else unittest discovery in tests/."""
    command = (item.environment or {}).get("test_command", list(DEFAULT_TEST_COMMAND))
    if not isinstance(command, list) or not command or not all(isinstance(part, str) for part in command):
        raise InputError(f'item "{item.id}": test_command must be a list of text, got {command!r}')
    return command


def _inside(path: str) -> str:
    """A path relative to the workspace, normal form, `.` for the workspace itself."""
    full = posixpath.normpath(posixpath.join("/work", path))
    if full != "/work" and not full.startswith("/work/"):
        raise _Refusal("path leaves the repository")
    if "\0" in full:
        raise _Refusal("a path has no NUL character")
    return posixpath.relpath(full, "/work")


def _sendable(text: str) -> bytes:
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise _Refusal("the text is not valid Unicode") from error
    if b"\0" in data:
        raise _Refusal("the text holds a NUL character")
    return data


def _ending(done: ExecResult, settings: SolverSettings) -> str:
    if done.why == "timeout":
        return f"stopped after {settings.tool_timeout_s:g} s"
    return f"exit code {done.rc}" if done.rc is not None else f"stopped: {done.why}"


def _reason(error: InputError) -> str:
    return str(error).removeprefix("error: ")


def _spec(name: str, description: str, required: Mapping[str, str], optional: Mapping[str, str]) -> ToolSpec:
    properties = {n: {"type": "string", "description": text} for n, text in {**required, **optional}.items()}
    schema: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
    return ToolSpec(name, description, schema)


_PATH = "A path relative to the repository."
TOOL_SPECS = {
    spec.name: spec
    for spec in (
        _spec("read_file", "Show a text file.", {"path": _PATH}, {}),
        _spec("list_files", "List the files under a folder, with its subfolders.", {}, {"path": _PATH}),
        _spec(
            "grep",
            "Find the lines that match a Python regular expression, shown as file:line: text.",
            {"pattern": "A Python regular expression."},
            {"path": _PATH},
        ),
        _spec(
            "write_file",
            "Write a whole file; what it held before is gone.",
            {"path": _PATH, "content": "The whole new content."},
            {},
        ),
        _spec("run_tests", "Run the repository's tests.", {}, {}),
        _spec(
            "shell",
            "Run a command with /bin/sh in the repository; there is no network.",
            {"command": "The command."},
            {},
        ),
        _spec(
            "python",
            "Run a Python program and show what it prints; every call starts afresh.",
            {"code": "The whole program."},
            {},
        ),
    )
}
"""Every tool by name, as offered to a model."""
