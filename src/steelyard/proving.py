"""Prove a whole suite: make or recheck every item's proof, find its floor, and write proofs.jsonl.

Sandboxed items are proven a few at a time in threads; results keep suite order. The manifest gets a `proofs` block:
counts by state, the floor, the digest of the proofs without timings, and where they were made.
"""

from __future__ import annotations

import os
import platform
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec

import steelyard
from steelyard.canonical import digest
from steelyard.errors import FormatError, InputError
from steelyard.family import Family
from steelyard.item import Item
from steelyard.kit import ProbeKit
from steelyard.ports import Kit, Sandbox
from steelyard.proof import Mode, Proof, prove, recheck
from steelyard.shortcuts import Floor, shortcut_floor
from steelyard.store import write_atomic, write_json
from steelyard.suite import Suite, load

FILE = "proofs.jsonl"
AT_ONCE = max(2, min(4, os.cpu_count() or 2))
"""Items that are proven at once: each holds a sandbox with processes of its own."""
_AHEAD = 8 * AT_ONCE

Result = TypeVar("Result")


class ProofReport(msgspec.Struct, frozen=True):
    """The proofs of a suite in its order, and its floor."""

    proofs: list[Proof]
    floor: Floor

    @property
    def states(self) -> dict[str, int]:
        """How many items are proven, refuted and unchecked."""
        return {s: sum(p.state == s for p in self.proofs) for s in ("proven", "refuted", "unchecked")}

    @property
    def unsolved(self) -> int:
        """How many references are the target itself, so that only the verifier is proven and not the gold."""
        return sum(not p.solved for p in self.proofs if p.state == "proven")

    @property
    def all_proven(self) -> bool:
        return self.states["proven"] == len(self.proofs)


def prove_suite(
    suite: Suite,
    kit: Kit,
    families: Callable[[str], Family | None],
    *,
    mode: Mode = "decide",
    fresh: bool = False,
    told: Callable[[Proof], None] = lambda _: None,
) -> ProofReport:
    """Recheck stored proofs in `mode`; items without one (or all, when `fresh`) are proven with their family."""
    stored = {} if fresh else read_proofs(suite)

    def one(item: Item) -> Proof:
        old, family = stored.get(item.id), families(item.family)
        if old is not None and old.covers(item):
            if old.state == "refuted" and item.family and family is None:
                return old  # only its family can take the refutation back
            if old.state == "proven" and (family is None or family.solve is None or old.solved):
                return recheck(item, suite.bound[item.id], old, kit, mode)
        return prove(item, suite.bound[item.id], family, kit)

    proofs = []
    for proof in in_threads(one, suite.items, lambda item: suite.bound[item.id].probes or bool(item.tools)):
        told(proof)
        proofs.append(proof)
    return ProofReport(proofs, shortcut_floor(suite.items, suite.bound))


def prove_family(family: Family, *, sandbox: Sandbox | None = None, n: int = 10, seed: str = "0") -> ProofReport:
    """Make a few items of a family and prove them: what `steelyard prove ./mine.py` and a family's own test do."""
    from steelyard.making import Order, make_suite  # who only reads proofs makes no suites

    with tempfile.TemporaryDirectory(prefix="steelyard-prove-") as folder:
        out = Path(folder) / "suite"
        make_suite([Order(family.name, family, n, seed)], out)
        suite = load(out)
        return prove_suite(suite, ProbeKit(suite.store(), sandbox), lambda _: family, fresh=True)


def in_threads(
    work: Callable[[Item], Result], items: Iterable[Item], threaded: Callable[[Item], bool] = lambda _: True
) -> Iterator[Result]:
    """`work` of every item in the items' order, `AT_ONCE` at once in threads where they wait for a sandbox.

    Items that are not `threaded` are worked here, one after another. Only so many are begun ahead of the one that is
    next, so memory does not grow with the number of items.
    """
    from concurrent.futures import ThreadPoolExecutor  # who only reads proofs starts no threads

    pool = ThreadPoolExecutor(max_workers=AT_ONCE)
    begun: deque[Callable[[], Result]] = deque()
    try:
        for item in items:
            begun.append(pool.submit(work, item).result if threaded(item) else partial(work, item))
            if len(begun) == _AHEAD:
                yield begun.popleft()()
        while begun:
            yield begun.popleft()()
    finally:
        pool.shutdown(cancel_futures=True)  # after Ctrl-C only what is being worked right now is waited for


def read_proofs(suite: Suite) -> dict[str, Proof]:
    """Stored proofs by item id; empty when there are none yet."""
    path = proofs_path(suite)
    if path is None or not path.exists():
        return {}
    found: dict[str, Proof] = {}
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                proof = msgspec.json.decode(line, type=Proof)
            except msgspec.DecodeError as error:
                raise FormatError(path, number, f"not a proof: {error}") from error
            found[proof.item] = proof
    return found


def proofs_path(suite: Suite) -> Path | None:
    """Where a suite's proofs lie: in its folder, or beside a bare file as NAME.proofs.jsonl."""
    if suite.path is None:
        return None
    return suite.path / FILE if suite.path.is_dir() else suite.path.with_suffix(".proofs.jsonl")


def write_proofs(suite: Suite, report: ProofReport, sandbox: str) -> Path:
    """Write the proofs and, for a suite folder, the manifest's `proofs` block."""
    path = proofs_path(suite)
    if path is None:
        raise InputError("this suite was not loaded from disk, so its proofs have no place")
    write_atomic(path, b"".join(msgspec.json.encode(proof) + b"\n" for proof in report.proofs))
    if suite.path is not None and suite.path.is_dir():
        manifest = {**suite.manifest, "proofs": proofs_block(report, sandbox)}
        write_json(suite.path / "manifest.json", manifest)
    return path


def keep_proofs(suite: Suite, done: Sequence[Proof]) -> None:
    """Write the proofs of an interrupted pass beside the stored ones of the items that it did not reach."""
    path = proofs_path(suite)
    if path is None:
        return
    merged = {**read_proofs(suite), **{proof.item: proof for proof in done}}
    kept = [merged[item.id] for item in suite.items if item.id in merged]
    write_atomic(path, b"".join(msgspec.json.encode(proof) + b"\n" for proof in kept))


def proofs_block(report: ProofReport, sandbox: str) -> dict[str, Any]:
    """What the manifest says of the proofs."""
    legs: dict[str, int] = {}
    for proof in report.proofs:
        for leg, n in proof.counts.items():
            legs[leg] = legs.get(leg, 0) + n
    return {
        "states": report.states,
        "references_from_target": report.unsolved,
        "witnesses": legs,
        "floor": {"rate": round(report.floor.rate, 6), "baseline": report.floor.baseline},
        "flagged": report.floor.flagged,
        "digest": digest([_timeless(proof) for proof in report.proofs]),
        "made_with": {"steelyard": steelyard.__version__, "python": platform.python_version(), "sandbox": sandbox},
    }


def _timeless(proof: Proof) -> dict[str, Any]:
    """A proof without what changes from run to run: outputs, evidence and its timings."""
    return {
        "item": proof.item,
        "ask": proof.ask,
        "key": proof.key,
        "revision": proof.revision,
        "state": proof.state,
        "witnesses": [[w.leg, w.name, w.passes, w.verdict.passed, w.misses] for w in proof.witnesses],
    }


def states_by_item(suite: Suite, proofs: Mapping[str, Proof]) -> dict[str, str]:
    """Each item's proof state as stored: proven, refuted, unchecked, or `none` when it has no current proof."""
    return {
        item.id: proofs[item.id].state if item.id in proofs and proofs[item.id].covers(item) else "none"
        for item in suite.items
    }
