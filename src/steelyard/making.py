"""Make a suite from families: items taken by order, checked as if they were read, written with their manifest.

An item whose ask was seen before is left out and counted: two equal questions are not two measurements. No group stands
in two splits. File contents that families yield inline are stored under files/. Nothing is ever written over.
Not covered: loading (`suite`), proving; what is made here is a draft, named by the digest of its asks and keys.
"""

from __future__ import annotations

import inspect
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

import steelyard
from steelyard.errors import InputError, RefusedError
from steelyard.family import Family
from steelyard.item import Item, ask, key, with_hidden
from steelyard.plugins import author_code, is_file_reference, split_reference
from steelyard.records import SCHEMA_VERSION
from steelyard.store import Store, stored_reference, write_atomic, write_json
from steelyard.suite import SPLITS, checked, draft_revision

REPEATS = 1000
"""Repeated questions in a row after which a family has no more to give."""


class Order(msgspec.Struct, frozen=True):
    """How many items of which family: `reference` is what the user wrote, `options` go to the family's `make`."""

    reference: str
    family: Family
    n: int
    seed: str = "0"
    options: dict[str, Any] = {}


class Taken(msgspec.Struct, frozen=True):
    """What one order gave: `n` items of the `asked`; repeated questions left out, and refusals by rule.

    `elsewhere` counts items left out because their group stands in a split that has all it was to have.
    """

    family: str
    asked: int
    n: int
    repeated: int
    refused: dict[str, int] = {}
    elsewhere: int = 0


class Made(msgspec.Struct, frozen=True):
    """What `make_suite` wrote, one count an order."""

    path: Path
    revision: str
    orders: list[Taken]


def make_suite(orders: Sequence[Order], out: Path, *, name: str = "", split: str = "dev", dev: int = 0) -> Made:
    """Make a draft suite in a new folder; file contents that families yield inline are stored under files/.

    With split `test`, `dev` items of each order come first and go to dev, then the order's n to test; no group is in
    both splits, so an item of a group whose split is full is left out and counted.
    An item whose ask was seen before is left out and counted: two equal questions are not two measurements.
    The manifest names a local family by its path relative to `out`, so that it is found from wherever it is read.
    """
    if split not in SPLITS:
        raise InputError(f'no split "{split}"; known: {", ".join(SPLITS)}')
    if dev and split == "dev":
        raise InputError("dev items beside others need the split test")
    refuse_existing(out)
    items: dict[str, Item] = {}
    asked: set[str] = set()
    homes: dict[str, str] = {}
    try:
        taken = [_take(order, _room(order, split, dev), Store(out / "files"), items, asked, homes) for order in orders]
    except BaseException:
        shutil.rmtree(out / "files", ignore_errors=True)  # the folder is as it was, so the next try is not refused
        raise
    if not items:
        raise InputError("no items were made; ask for more with --n")
    by_split = {s: [item for item in items.values() if homes[item.group] == s] for s in SPLITS}
    for one, found in by_split.items():
        if found:
            write_items(out / f"{one}.jsonl", found)
    manifest = _manifest(name or out.name, by_split, _provenance(orders, taken, dev, out))
    write_json(out / "manifest.json", manifest)
    return Made(out, manifest["revision"], taken)


def _room(order: Order, split: str, dev: int) -> dict[str, int]:
    """How many items of an order each split is to have, in the order in which they are filled."""
    return {"dev": dev, split: order.n} if dev else {split: order.n}


def _take(
    order: Order, room: dict[str, int], store: Store, items: dict[str, Item], asked: set[str], homes: dict[str, str]
) -> Taken:
    """Add an order's items to `items` (by id), their asks to `asked`, their groups' splits to `homes`.

    `room` is used up; a family may run out of new questions before.
    """
    wanted = sum(room.values())
    n = repeated = elsewhere = in_a_row = 0
    patience = REPEATS + len(items)  # an earlier order of the same family and seed gave its first items already
    for item in _make(order) if wanted else ():
        met = ask(item)
        home = homes.get(item.group) or next(split for split, free in room.items() if free)
        if met in asked or not room[home]:
            repeated, elsewhere = repeated + (met in asked), elsewhere + (met not in asked)
            in_a_row += 1
            if in_a_row == patience:
                break
            continue
        if item.id in items:
            first, second = items[item.id].family, item.family
            raise InputError(f'item id "{item.id}" is made by "{first}" and again by "{second}"; ids must differ')
        item = _stored(item, store)
        checked(item, store)
        items[item.id] = item
        asked.add(met)
        homes[item.group] = home
        room[home] -= 1
        n, in_a_row = n + 1, 0
        if n == wanted:
            break
    return Taken(order.family.name, wanted, n, repeated, _refused(order, n), elsewhere)


def _refused(order: Order, n: int) -> dict[str, int]:
    """What the family refused on the way to n items."""
    refusals = order.family.refusals
    if refusals is None or not n:
        return {}
    taken = inspect.signature(refusals).parameters
    options = {name: value for name, value in order.options.items() if name in taken}
    with author_code(f'family "{order.family.name}": refusals'):
        return dict(refusals(order.seed, n, **options))


_END = object()


def _make(order: Order) -> Iterator[Item]:
    """What a family makes, each item as it will be read again; whatever the family does wrong is an InputError."""
    name = f'family "{order.family.name}"'
    with author_code(f"{name}: make"):
        try:
            inspect.signature(order.family.make).bind(order.seed, **order.options)
        except TypeError as error:
            raise InputError(f"{name} does not take these options: {error}") from error
        made = order.family.make(order.seed, **order.options)
    if not isinstance(made, Iterable):
        raise InputError(f"{name}: make must give items, got {type(made).__name__}")
    items = iter(made)
    while True:
        with author_code(f"{name}: make"):
            item = next(items, _END)
        if item is _END:
            return
        yield _readable(item, order.family.name)


def _readable(item: object, family: str) -> Item:
    """An item that a family made, if its line can be written and read."""
    if not isinstance(item, Item):
        raise InputError(f'family "{family}": make must yield an Item, got {type(item).__name__}')
    try:
        item = item if item.family else msgspec.structs.replace(item, family=family)
        item = msgspec.json.decode(msgspec.json.encode(item), type=Item)
        ask(item), key(item)
    except (msgspec.MsgspecError, InputError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InputError(f'family "{family}": item "{getattr(item, "id", "")}": {error}') from error
    return item


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


def _provenance(orders: Sequence[Order], taken: Sequence[Taken], dev: int, out: Path) -> list[dict[str, Any]]:
    return [
        {"family": o.family.name, "reference": _seen_from(o.reference, out), "seed": o.seed, "n": t.n}
        | ({"dev": dev} if dev else {})
        | ({"options": o.options} if o.options else {})
        for o, t in zip(orders, taken, strict=True)
    ]


def _seen_from(reference: str, folder: Path) -> str:
    """A local family's reference with its path relative to `folder`; installed names as they are."""
    if not is_file_reference(reference):
        return reference
    path, name = split_reference(reference)
    relative = Path(os.path.relpath(Path(path).resolve(), folder.resolve())).as_posix()
    return f"{relative}:{name}" if name else relative


def _manifest(name: str, items: Mapping[str, Sequence[Item]], families: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "name": name,
        "version": "draft",
        "revision": draft_revision(item for found in items.values() for item in found),
        "counts": {split: len(found) for split, found in items.items()},
        "provenance": {
            "steelyard": steelyard.__version__,
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "families": families,
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
