"""Suites: load one from a folder or a single JSONL file, its items bound to their verifiers.

A suite folder holds dev.jsonl, test.jsonl, manifest.json, proofs.jsonl and files/ (docs/formats.md owns the layout).
Everything that can be wrong with an item line fails here, with file, line and item. Loading never executes code that
a suite names unless `trust` is given; files that a suite names (`path.py:name` verifiers in item lines, families in
the manifest's provenance) are seen from the suite's folder, never from the current one.
Items of one verifier spec share its config, so a thousand items of one kind cost little more than their lines.
Not covered: making suites (`making`), freezing and seals; a suite is named by the digest of its asks and keys.
Easy to break: the short way of loading an item must refuse nothing itself; what it cannot take goes the careful way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from steelyard.canonical import canonical, canonical_plain, sha256_hex
from steelyard.errors import FormatError, InputError
from steelyard.item import Item, ask, canonical_verifier, check_item, item_from_line, key, key_under, plain_item
from steelyard.plugins import author_code, find_verifier, split_reference
from steelyard.store import Store, inline_content, reference_digest
from steelyard.verifiers import registry
from steelyard.verifiers.contract import Config, Verifier
from steelyard.verifiers.registry import Bound, bind

SPLITS = ("dev", "test")


class Suite(msgspec.Struct, frozen=True):
    """Items with their bound verifiers and asks, in file order. `revision` is a seal or `draft:<digest>`."""

    items: tuple[Item, ...]
    revision: str
    name: str = ""
    path: Path | None = None
    splits: Mapping[str, str] = {}
    bound: Mapping[str, Bound] = {}
    manifest: Mapping[str, Any] = {}
    asks: Mapping[str, str] = {}
    keys: Mapping[str, str] = {}
    """Each item's two hashes by its id, made once for all who hold something against them."""

    def __post_init__(self) -> None:
        if not self.asks:
            msgspec.structs.force_setattr(self, "asks", {item.id: ask(item) for item in self.items})
            msgspec.structs.force_setattr(self, "keys", {item.id: key(item) for item in self.items})

    def split(self, name: str) -> Suite:
        """The same suite with the items of one split; `all` keeps every item."""
        if name == "all":
            return self
        if name not in SPLITS:
            raise InputError(f'no split "{name}"; known: {", ".join(SPLITS)}, all')
        items = tuple(i for i in self.items if self.splits[i.id] == name)
        if not items:
            held = sorted({*self.splits.values()})
            raise InputError(f'{self.path}: split "{name}" is empty; this suite has {", ".join(held)} (--split)')
        return msgspec.structs.replace(self, items=items)

    @property
    def folder(self) -> Path:
        """The folder that everything a suite names is seen from."""
        if self.path is None:
            raise InputError("this suite was not loaded from disk, so it has no folder")
        return self.path if self.path.is_dir() else self.path.parent

    @property
    def files(self) -> Path:
        """Where the contents of the suite's files lie."""
        return self.folder / "files"

    def store(self) -> Store:
        """The suite's files."""
        return Store(self.files)


def load(path: Path | str, *, trust: bool = False) -> Suite:
    """A suite from its folder, or from one JSONL file: split `test` when it is called test.jsonl, else `dev`."""
    path = Path(path)
    sources, reader = _sources(path), _Reader(trust=trust)
    items: list[Item] = []
    splits: dict[str, str] = {}
    bound: dict[str, Bound] = {}
    asks: dict[str, str] = {}
    keys: dict[str, str] = {}
    groups: dict[str, str] = {}
    for source, split in sources:
        for line, data in _lines(source):
            item, its_bound, its_ask, its_key = reader.read(data, source, line)
            if item.id in bound:
                first = _place(sources, item.id)
                raise FormatError(source, line, f'item id "{item.id}" is used twice; first in {first}')
            other = groups.setdefault(item.group, item.id) if len(sources) > 1 else item.id
            if splits.get(other, split) != split:
                raise FormatError(
                    source,
                    line,
                    f'group "{item.group}" is in two splits (also {_place(sources, other)}); a split never parts one',
                )
            items.append(item)
            splits[item.id], bound[item.id] = split, its_bound
            asks[item.id], keys[item.id] = its_ask, its_key
    if not items:
        raise FormatError(path, None, "the suite is empty: no item lines")
    manifest = read_manifest(path)
    return Suite(
        items=tuple(items),
        revision=_revision(zip(asks, asks.values(), keys.values(), strict=True)),
        name=manifest.get("name", path.stem),
        path=path,
        splits=splits,
        bound=bound,
        asks=asks,
        keys=keys,
        manifest=manifest,
    )


def _sources(path: Path) -> list[tuple[Path, str]]:
    """The files that hold a suite's items, with their splits."""
    if path.is_dir():
        sources = [(path / f"{split}.jsonl", split) for split in SPLITS if (path / f"{split}.jsonl").exists()]
        if not sources:
            raise FormatError(path, None, "no dev.jsonl or test.jsonl in this folder; make a suite: steelyard make")
        return sources
    if not path.exists():
        raise FormatError(path, None, "no such suite; make one: steelyard make FAMILY --out DIR")
    return [(path, "test" if path.stem == "test" else "dev")]


def _lines(source: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with source.open("rb") as lines:
            for number, data in enumerate(lines, 1):
                if not data.isspace():
                    yield number, data
    except OSError as error:
        raise FormatError(source, None, f"cannot be read: {error.strerror}") from error


def _place(sources: Sequence[tuple[Path, str]], name: str) -> str:
    """Where an item that was read before stands; looked for only when a message needs it."""
    lines = ((source, line, data) for source, _ in sources for line, data in _lines(source))
    return next(f"{path}:{line}" for path, line, data in lines if item_from_line(data, path, line).id == name)


class _Kind(msgspec.Struct, frozen=True):
    """What items with one verifier spec and one list of choices share: how they are bound, and the spec's JSON."""

    verifier: Verifier
    config: Config
    name: str
    json: bytes


class _Reader:
    """Item lines as bound items with their two hashes; what a kind of items shares is found and checked once."""

    def __init__(self, *, trust: bool) -> None:
        self._trust = trust
        self._kinds: dict[bytes, _Kind] = {}
        self._encode = msgspec.json.Encoder().encode

    def read(self, data: bytes, source: Path, line: int) -> tuple[Item, Bound, str, str]:
        """An item, its bound verifier, its ask and its key; FormatError names what is wrong with it."""
        item = plain_item(data)
        if item is None or item.files or item.edits or item.tools or item.environment or not item.prompt.strip():
            return self._careful(data, source, line)
        kind = self._kinds.get(self._encode((item.verifier, item.choices)))
        if kind is None:
            return self._careful(data, source, line)
        try:
            if kind.verifier.check is not None:
                kind.verifier.check(item.target, kind.config)
            bound = Bound(kind.verifier, kind.config, item.target, kind.name)
            return item, bound, ask(item), key_under(item.target, kind.json)
        except Exception:  # noqa: BLE001  # whatever it is, the careful way meets it again and says where
            return self._careful(data, source, line)

    def _careful(self, data: bytes, source: Path, line: int) -> tuple[Item, Bound, str, str]:
        item = item_from_line(data, source, line)
        bound = _bind(item, source, line, trust=self._trust)
        spec = self._encode((item.verifier, item.choices))
        if len(spec) <= registry.LONGEST_KIND:
            json = canonical(canonical_verifier(item))
            self._kinds[spec] = _Kind(bound.verifier, bound.config, bound.name, json)
        return item, bound, ask(item), key(item)


def _bind(item: Item, source: Path, line: int, *, trust: bool) -> Bound:
    try:
        for name in file_verifiers(item.verifier) if trust else ():
            registry.register(name, *find_verifier(name, source.parent))
        return checked(item, Store(source.parent / "files"))
    except InputError as error:
        raise FormatError(source, line, str(error)) from error


def checked(item: Item, store: Store) -> Bound:
    """The item's verifier, after everything that can be wrong with the item was looked at; errors name the item."""
    try:
        check_item(item)
        _check_edits(item, store)
    except InputError as error:
        raise InputError(f'item "{item.id}": {error}') from error
    if item.tools or item.environment:
        from steelyard.solvers.toolbox import tests_command, tool_specs  # only jobs need it

        tool_specs(item), tests_command(item)
    with author_code(f'item "{item.id}": its verifier'):
        return bind(item)


def _check_edits(item: Item, store: Store) -> None:
    """Setup texts occur once, each after those before it; contents that are not here are looked at when they come."""
    contents: dict[str, bytes] = {}
    for edit in item.edits:
        reference = item.files[edit.path]
        if inline_content(reference) is None and not store.has(reference_digest(reference)):
            continue
        data = contents[edit.path] if edit.path in contents else store.get(reference)
        old = edit.old.encode()
        if not old or data.count(old) != 1:
            raise InputError(f"setup text must occur once in {edit.path}")
        contents[edit.path] = data.replace(old, edit.new.encode())


def file_verifiers(spec: Any) -> Iterator[str]:
    """Names of the form `path.py:name` anywhere in a verifier spec."""
    if isinstance(spec, dict):
        name = spec.get("name")
        if isinstance(name, str) and split_reference(name)[1]:
            yield name
        for value in spec.values():
            yield from file_verifiers(value)
    elif isinstance(spec, list):
        for value in spec:
            yield from file_verifiers(value)


def draft_revision(items: Iterable[Item]) -> str:
    """`draft:<sha256>` over the sorted (id, ask, key) of all items, whatever their split."""
    return _revision((item.id, ask(item), key(item)) for item in items)


def _revision(hashed: Iterable[tuple[str, str, str]]) -> str:
    return "draft:" + sha256_hex(canonical_plain(sorted(hashed)))


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of a suite folder; empty for a bare JSONL file or a folder without one."""
    file = path / "manifest.json"
    if not path.is_dir() or not file.exists():
        return {}
    try:
        manifest: dict[str, Any] = msgspec.json.decode(file.read_bytes(), type=dict[str, Any])
        msgspec.convert(manifest, _Manifest)
    except OSError as error:
        raise FormatError(file, None, f"cannot be read: {error.strerror}") from error
    except msgspec.ValidationError as error:
        raise FormatError(file, None, f"not a manifest: {error}") from error
    except msgspec.DecodeError as error:
        raise FormatError(file, None, f"broken JSON: {error}") from error
    except RecursionError as error:
        raise FormatError(file, None, "lists and objects are nested too deeply") from error
    return manifest


class _Source(msgspec.Struct, frozen=True):
    """One order in a manifest's provenance."""

    family: str = ""
    reference: str = ""


class _Provenance(msgspec.Struct, frozen=True):
    families: list[_Source] = []


class _Manifest(msgspec.Struct, frozen=True):
    """What is read of a manifest, to check its types."""

    name: str = ""
    provenance: _Provenance = _Provenance()
    proofs: dict[str, Any] = {}


def family_references(suite: Suite) -> list[str]:
    """References of the local families that a suite was made from, `path.py[:name]`, as seen from here.

    The manifest holds them relative to the suite's folder. Loading one executes it: only for a trusted suite.
    """
    found = []
    for source in msgspec.convert(suite.manifest, _Manifest).provenance.families:
        path, name = split_reference(source.reference)
        if path:
            found.append(str(suite.folder / path) + (f":{name}" if name else ""))
    return found
