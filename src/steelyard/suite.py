"""Suites: load one from a folder or a single JSONL file, and make one from families.

A suite folder holds dev.jsonl, test.jsonl, manifest.json, proofs.jsonl and files/ (docs/formats.md owns the layout).
Everything that can be wrong with an item line fails here, with file, line and item. Loading never executes code that
a suite names unless `trust` is given.
Not covered: freezing and seals; a suite made here is a draft, named by the digest of its asks and keys.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

import steelyard
from steelyard.canonical import digest
from steelyard.errors import FormatError, InputError, RefusedError
from steelyard.family import Family
from steelyard.item import Item, ask, item_from_line, key, with_hidden
from steelyard.plugins import find_verifier
from steelyard.records import SCHEMA_VERSION
from steelyard.store import Store, stored_reference, write_atomic
from steelyard.verifiers import registry
from steelyard.verifiers.registry import Bound, bind

SPLITS = ("dev", "test")


class Suite(msgspec.Struct, frozen=True):
    """Items with their bound verifiers, in file order. `revision` is a seal or `draft:<digest>`."""

    items: tuple[Item, ...]
    revision: str
    name: str = ""
    path: Path | None = None
    splits: Mapping[str, str] = {}
    bound: Mapping[str, Bound] = {}
    manifest: Mapping[str, Any] = {}

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
    def files(self) -> Path:
        """Where the contents of the suite's files lie."""
        if self.path is None:
            raise InputError("this suite was not loaded from disk, so it has no files")
        return (self.path if self.path.is_dir() else self.path.parent) / "files"

    def store(self) -> Store:
        """The suite's files."""
        return Store(self.files)


def load(path: Path | str, *, trust: bool = False) -> Suite:
    """A suite from its folder, or from one JSONL file of items (all taken as `dev`)."""
    path = Path(path)
    if path.is_dir():
        sources = [(path / f"{split}.jsonl", split) for split in SPLITS if (path / f"{split}.jsonl").exists()]
        if not sources:
            raise FormatError(path, None, "no dev.jsonl or test.jsonl in this folder; make a suite: steelyard make")
    elif path.exists():
        sources = [(path, "test" if path.stem == "test" else "dev")]
    else:
        raise FormatError(path, None, "no such suite; make one: steelyard make FAMILY --out DIR")
    items: list[Item] = []
    splits: dict[str, str] = {}
    bound: dict[str, Bound] = {}
    places: dict[str, str] = {}
    for source, split in sources:
        for line, item in _lines(source):
            if item.id in places:
                raise FormatError(source, line, f'item id "{item.id}" is used twice; first in {places[item.id]}')
            places[item.id] = f"{source}:{line}"
            bound[item.id] = _bind(item, source, line, trust=trust)
            splits[item.id] = split
            items.append(item)
    if not items:
        raise FormatError(path, None, "the suite is empty: no item lines")
    manifest = read_manifest(path)
    return Suite(
        items=tuple(items),
        revision=draft_revision(items),
        name=manifest.get("name", path.stem),
        path=path,
        splits=splits,
        bound=bound,
        manifest=manifest,
    )


def _lines(source: Path) -> Iterator[tuple[int, Item]]:
    try:
        with source.open("rb") as lines:
            for number, data in enumerate(lines, 1):
                if data.strip():
                    yield number, item_from_line(data, source, number)
    except OSError as error:
        raise FormatError(source, None, f"cannot be read: {error.strerror}") from error


def _bind(item: Item, source: Path, line: int, *, trust: bool) -> Bound:
    for name in file_verifiers(item.verifier):
        if trust:
            registry.register(name, *find_verifier(name))
    try:
        return bind(item)
    except InputError as error:
        raise FormatError(source, line, str(error)) from error


def file_verifiers(spec: Any) -> Iterator[str]:
    """Names of the form `path.py:name` anywhere in a verifier spec."""
    if isinstance(spec, dict):
        name = spec.get("name")
        if isinstance(name, str) and ".py:" in name:
            yield name
        for value in spec.values():
            yield from file_verifiers(value)
    elif isinstance(spec, list):
        for value in spec:
            yield from file_verifiers(value)


def draft_revision(items: Iterable[Item]) -> str:
    """`draft:<sha256>` over the sorted (id, ask, key) of all items, whatever their split."""
    return "draft:" + digest(sorted((i.id, ask(i), key(i)) for i in items))


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of a suite folder; empty for a bare JSONL file or a folder without one."""
    file = path / "manifest.json"
    if not path.is_dir() or not file.exists():
        return {}
    try:
        manifest: dict[str, Any] = msgspec.json.decode(file.read_bytes(), type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise FormatError(file, None, f"broken JSON: {error}") from error
    return manifest


class Order(msgspec.Struct, frozen=True):
    """How many items of which family: `reference` is what the user wrote, `options` go to the family's `make`."""

    reference: str
    family: Family
    n: int
    seed: str = "0"
    options: dict[str, Any] = {}


class Made(msgspec.Struct, frozen=True):
    """What `make_suite` wrote: items by family, and repeated asks that were left out."""

    path: Path
    revision: str
    counts: dict[str, int]
    repeated: dict[str, int]


def make_suite(orders: Sequence[Order], out: Path, *, name: str = "", split: str = "dev") -> Made:
    """Make a draft suite in a new folder; file contents that families yield inline are stored under files/.

    An item whose ask was seen before is left out and counted: two equal questions are not two measurements.
    """
    if split not in SPLITS:
        raise InputError(f'no split "{split}"; known: {", ".join(SPLITS)}')
    refuse_existing(out)
    store = Store(out / "files")
    items: list[Item] = []
    counts: dict[str, int] = {}
    repeated: dict[str, int] = {}
    seen: dict[str, str] = {}
    for order in orders:
        taken = 0
        for item in _make(order):
            if taken == order.n:
                break
            item = _stored(item, store)
            met = ask(item)
            if met in seen:
                repeated[order.family.name] = repeated.get(order.family.name, 0) + 1
                continue
            bind(item)
            seen[met] = item.id
            items.append(item)
            taken += 1
        counts[order.family.name] = taken
    if not items:
        raise InputError("no items were made; ask for more with --n")
    ids = [item.id for item in items]
    if len(set(ids)) != len(ids):
        raise InputError(f'families made the id "{next(i for i in ids if ids.count(i) > 1)}" twice')
    write_items(out / f"{split}.jsonl", items)
    manifest = _manifest(name or out.name, split, items, orders, counts)
    write_atomic(out / "manifest.json", msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")
    return Made(out, manifest["revision"], counts, repeated)


def _make(order: Order) -> Iterator[Item]:
    try:
        made = order.family.make(order.seed, **order.options)
    except TypeError as error:
        raise InputError(f'family "{order.family.name}" does not take these options: {error}') from error
    for item in made:
        yield item if item.family else msgspec.structs.replace(item, family=order.family.name)


def _stored(item: Item, store: Store) -> Item:
    def stored(reference: str) -> str:
        return stored_reference(store.put_reference(reference))

    return msgspec.structs.replace(
        item,
        files={path: stored(reference) for path, reference in item.files.items()},
        verifier=with_hidden(item.verifier, stored),
    )


def write_items(path: Path, items: Iterable[Item]) -> None:
    """Item lines, whole file or nothing."""
    write_atomic(path, b"".join(msgspec.json.encode(item) + b"\n" for item in items))


def _manifest(
    name: str, split: str, items: Sequence[Item], orders: Sequence[Order], counts: Mapping[str, int]
) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "name": name,
        "version": "draft",
        "revision": draft_revision(items),
        "counts": {s: len(items) if s == split else 0 for s in SPLITS},
        "provenance": {
            "steelyard": steelyard.__version__,
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "families": [
                {"family": o.family.name, "reference": o.reference, "seed": o.seed, "n": counts[o.family.name]}
                | ({"options": o.options} if o.options else {})
                for o in orders
            ],
        },
    }


def refuse_existing(out: Path) -> None:
    """Nothing is ever written over: `out` must be new or an empty folder that can be written."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise RefusedError(f"{out} already exists; choose another --out or remove it first")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to {out}: {error.strerror}") from error
