"""One question or job: the item, its two hashes, its messages, and reading it from a line.

`ask` is what the model meets, `key` is what judges it; difficulty, split, provenance and group are in neither.
`messages(item)` is the only place where an item becomes messages: nothing else renders a prompt.
A line loads unchanged in Inspect's `json_dataset` (`input`, `target`, `id`, `choices`, `files`, `metadata`,
`setup` and `sandbox` have Inspect's meaning). Seed lines (`input` + `question`, string verifier, `tolerance`)
are read too. Not covered: whether the verifier exists and its config is valid, whether tools are known and setup
text is found (`suite` asks for those at load).
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from steelyard.attempt import Message
from steelyard.canonical import canonical, canonical_plain, sha256_hex
from steelyard.errors import FormatError, InputError, did_you_mean
from steelyard.store import reference_digest


class Edit(msgspec.Struct, frozen=True):
    """A planted change: `old` must occur exactly once in `path`."""

    path: str
    old: str
    new: str


class Item(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, forbid_unknown_fields=True):
    """One question or job with its target and its verifier.

    `input` is the whole prompt, text or messages. `target` is text; a structured target is canonical JSON text;
    empty means that the truth is a procedure. `verifier` is `{"name": ..., <config>}`. `files` maps a workspace
    path to a content reference (see `store`). `environment` describes what the job needs beside its files,
    for example `{"test_command": ["python3", "-m", "unittest"]}`.
    """

    id: str
    input: str | list[Message]
    target: str = ""
    verifier: dict[str, Any]
    choices: list[str] | None = None
    files: dict[str, str] = {}
    edits: list[Edit] = []
    setup: str | None = None
    sandbox: Any = None
    tools: list[str] = []
    environment: dict[str, Any] | None = None
    group: str = ""
    family: str = ""
    domain: str = ""
    difficulty: str | None = None
    ref_pass_rate: float | None = None
    provenance: str = ""
    license: str = ""
    metadata: dict[str, Any] = {}

    def __post_init__(self) -> None:
        if not self.id:
            raise InputError("an item needs a non-empty id")
        if not (isinstance(self.verifier.get("name"), str) and self.verifier["name"]):
            raise InputError(f'item "{self.id}": verifier needs a "name"')
        if not self.group:
            msgspec.structs.force_setattr(self, "group", self.id)

    @property
    def prompt(self) -> str:
        """The text that the model is asked: the contents of all messages, joined by blank lines."""
        return self.input if isinstance(self.input, str) else "\n\n".join(m.content for m in self.input)

    @property
    def answer(self) -> str:
        """The gold target, under the name that the seed's API uses."""
        return self.target


def kind_of(item: Item) -> str:
    """The kind of job that an item's family gave it; "" without one."""
    kind = item.metadata.get("kind")
    return kind if isinstance(kind, str) else ""


def messages(item: Item, system: str | None = None) -> list[Message]:
    """The conversation that opens every attempt at `item`."""
    head = [Message("system", system)] if system else []
    body = [Message("user", item.input)] if isinstance(item.input, str) else list(item.input)
    return head + body


class _Ask(msgspec.Struct, frozen=True):
    """What the model meets; all of it is text but for `environment`, which may hold numbers."""

    choices: list[str] | None
    edits: list[Edit]
    environment: dict[str, Any] | None
    files: dict[str, str]
    input: str | list[Message]
    setup: str | None
    tools: list[str]


def ask(item: Item) -> str:
    """sha256 of what the model meets; equal whether files are inline or stored."""
    files = {path: reference_digest(ref) for path, ref in item.files.items()} if item.files else {}
    met = _Ask(item.choices, item.edits, item.environment, files, item.input, item.setup, item.tools)
    return sha256_hex(canonical_plain(met) if item.environment is None else canonical(met))


def key(item: Item) -> str:
    """sha256 of what judges the item."""
    return key_under(item.target, canonical(canonical_verifier(item)))


def key_under(target: str, verifier: bytes) -> str:
    """The key of an item with this target whose canonical verifier has this canonical JSON."""
    return sha256_hex(b'{"target":' + canonical_plain(target) + b',"verifier":' + verifier + b"}")


def canonical_verifier(item: Item) -> dict[str, Any]:
    """The verifier spec with every hidden file's reference replaced by its sha256."""
    return with_hidden(item.verifier, reference_digest)


def with_hidden(spec: dict[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    """A verifier spec with the references of its `hidden` files changed, those of composed children too."""
    return {
        name: {path: change(ref) for path, ref in value.items()}
        if name == "hidden" and isinstance(value, dict)
        else [with_hidden(child, change) if isinstance(child, dict) else child for child in value]
        if name == "of" and isinstance(value, list)
        else value
        for name, value in spec.items()
    }


def check_item(item: Item) -> None:
    """Refuse an empty prompt and paths that no workspace can have; InputError names the place inside the item."""
    if not item.prompt.strip():
        raise InputError("the prompt is empty")
    for path in item.files:
        _check_path("files", path)
    for edit in item.edits:
        _check_path("edits", edit.path)
        if edit.path not in item.files:
            raise InputError(f"setup text is for {edit.path}{did_you_mean(edit.path, item.files)}")
    for path in _hidden_paths(item.verifier):
        _check_path("hidden", path)


def _check_path(field: str, path: str) -> None:
    leaves = path == ".." or path.startswith(("/", "../"))
    if path in ("", ".") or leaves or "\0" in path or posixpath.normpath(path) != path:
        raise InputError(f'{field}: a path is relative, without "..", ".", "//" and NUL, got {path[:80]!r}')


def _hidden_paths(spec: dict[str, Any]) -> Iterator[str]:
    """The paths of a verifier's `hidden` files, those of composed children too."""
    for name, value in spec.items():
        if name == "hidden" and isinstance(value, dict):
            yield from value
        elif name == "of" and isinstance(value, list):
            for child in value:
                if isinstance(child, dict):
                    yield from _hidden_paths(child)


_TOO_DEEP = "lists and objects are nested too deeply"
_FIELDS = frozenset(field.name for field in msgspec.structs.fields(Item))


def item_from_dict(raw: Any, path: Path | str, line: int | None = None) -> Item:
    """An item from a decoded JSON object; seed lines are understood; errors name file, line and item."""
    if not isinstance(raw, dict):
        raise FormatError(path, line, f"expected a JSON object, got {type(raw).__name__}")
    name = f'item "{raw["id"]}": ' if isinstance(raw.get("id"), str) else ""
    raw = _from_seed(raw, path, line, name)
    unknown = sorted(set(raw) - _FIELDS)
    if unknown:
        raise FormatError(path, line, f'{name}unknown field "{unknown[0]}"{did_you_mean(unknown[0], _FIELDS)}')
    missing = [field for field in ("id", "input", "verifier") if field not in raw]
    if missing:
        raise FormatError(path, line, f'{name}missing field "{missing[0]}"')
    try:
        item = msgspec.convert(raw, Item)
        ask(item), key(item)
    except RecursionError as error:
        raise FormatError(path, line, f"{name}{_TOO_DEEP}") from error
    except (msgspec.ValidationError, InputError) as error:
        raise FormatError(path, line, f"{name}{error}") from error
    return item


def item_from_line(data: bytes | str, path: Path | str, line: int) -> Item:
    """An item from one JSONL line."""
    try:
        raw = msgspec.json.decode(data)
    except msgspec.DecodeError as error:
        raise FormatError(path, line, f"broken JSON: {error}") from error
    except RecursionError as error:
        raise FormatError(path, line, _TOO_DEEP) from error
    return item_from_dict(raw, path, line)


_DECODER = msgspec.json.Decoder(Item)


def plain_item(data: bytes) -> Item | None:
    """An item from a line as Steelyard writes it, several times faster; None for whatever `item_from_line` must see.

    Its hashes have not been made yet, so that references of its files may still be none.
    """
    try:
        return _DECODER.decode(data)
    except (msgspec.MsgspecError, InputError, RecursionError):
        return None


def _from_seed(raw: dict[str, Any], path: Path | str, line: int | None, name: str) -> dict[str, Any]:
    """Seed 000's line as ours: question joined to input, verifier text as an object, tolerance into it."""
    raw = dict(raw)
    if "question" in raw:
        question, given = raw.pop("question"), raw.get("input")
        if not isinstance(question, str) or not isinstance(given, str | None):
            raise FormatError(path, line, f"{name}question and input must be text")
        raw["input"] = f"{given}\n\n{question}" if given else question
        raw.setdefault("verifier", "exact")
    if isinstance(raw.get("verifier"), str):
        raw["verifier"] = {"name": raw["verifier"]}
    if "tolerance" in raw:
        tolerance, spec = raw.pop("tolerance"), raw.get("verifier")
        if not isinstance(tolerance, dict) or set(tolerance) - {"atol", "rtol"} or not isinstance(spec, dict):
            raise FormatError(path, line, f'{name}tolerance must be {{"atol": ..., "rtol": ...}}, got {tolerance!r}')
        raw["verifier"] = {**spec, **tolerance}
    if isinstance(raw.get("target"), bool | int | float):
        raise FormatError(path, line, f"{name}target must be text, got {raw['target']!r}; quote it")
    return raw
