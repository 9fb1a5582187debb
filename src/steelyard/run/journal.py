"""The journal of a run: one line a finished rollout, appended by one write(2); `kill -9` at any byte loses none.

A torn last line (a kill in the middle of a write) is dropped and said so; a broken line before the end is an error.
An attempt of more than 64 KiB is stored whole under files/ and the line holds its sha256 as `attempt_file`.
A rollout that failed as an error may be followed by a later line of the same rollout: the last one counts.
Easy to break: buffering (a line must be in the kernel when `append` returns) and reading everything into memory.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec

from steelyard.attempt import Attempt, ModelOutput
from steelyard.canonical import digest
from steelyard.errors import FormatError, InputError, RefusedError
from steelyard.item import Item, key
from steelyard.run.lock import hold
from steelyard.run.stored import decode
from steelyard.store import Store
from steelyard.verdict import Evidence

ROLLOUTS = "rollouts.jsonl"
EVIDENCE = "evidence.jsonl"
INLINE_BYTES = 64 * 1024
MOST_ROLLOUTS = 1_000_000
"""Of one item, and so the greatest index that a line may name: a `RolloutIndex` has room for all below it."""
T = TypeVar("T")


class RolloutError(msgspec.Struct, frozen=True):
    """Why a rollout has no attempt: `kind` is the CallError's."""

    kind: str
    message: str


class Rollout(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One finished rollout: an attempt, or the error that prevented it."""

    item: str
    rollout: int
    seed: int
    ask: str
    attempt: Attempt | None = None
    attempt_file: str = ""
    error: RolloutError | None = None
    started: float
    seconds: float


class EvidenceLine(msgspec.Struct, frozen=True):
    """What a probe saw of one rollout, the revision of the judge that probed, and what it was asked about.

    Evidence answers the questions of one key about one attempt (`subject`): for another it must be gathered again;
    under another revision of the same key it is still what was seen.
    """

    item: str
    rollout: int
    revision: str
    subject: str
    evidence: Evidence


def subject(item: Item, attempt: Attempt) -> str:
    """sha256 of what a probe is told: the item's target and verifier, the answer and the workspace changes."""
    return digest({"key": key(item), "answer": attempt.answer, "workspace": attempt.workspace})


class Journal:
    """Append-only lines of a run folder, held by one process at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = Store(folder / "files")
        self._encoder = msgspec.json.Encoder()
        self._rollouts = self._evidence = -1
        self._free: Callable[[], None] | None = None
        try:
            self._free = hold(folder / ".lock")
            self.dropped = drop_torn_line(folder / ROLLOUTS)
            drop_torn_line(folder / EVIDENCE)
            self._rollouts = os.open(folder / ROLLOUTS, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            self._evidence = os.open(folder / EVIDENCE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        except BlockingIOError as error:
            raise RefusedError(f"{folder} is in use by another steelyard process; wait for it or stop it") from error
        except OSError as error:
            self.close()
            raise InputError(f"cannot write to {folder}: {error.strerror or error}") from error

    def append(self, rollout: Rollout) -> None:
        """Write one finished rollout; it is in the kernel when this returns."""
        line = self._encoder.encode(rollout)
        if len(line) > INLINE_BYTES and rollout.attempt is not None:
            sha256 = self.store.put(self._encoder.encode(rollout.attempt))
            line = self._encoder.encode(msgspec.structs.replace(rollout, attempt=None, attempt_file=sha256))
        _write_line(self._rollouts, line)

    def append_evidence(self, line: EvidenceLine) -> None:
        """Write what a probe saw."""
        _write_line(self._evidence, self._encoder.encode(line))

    def close(self) -> None:
        """Release the files and the lock; safe to call twice."""
        for handle in (self._rollouts, self._evidence):
            if handle >= 0:
                os.close(handle)
        self._rollouts = self._evidence = -1
        if self._free is not None:
            self._free()
            self._free = None


def _write_line(handle: int, line: bytes) -> None:
    data = line + b"\n"
    written = os.write(handle, data)
    while written < len(data):  # a short write happens when the disk is nearly full; the rest must follow or fail
        written += os.write(handle, data[written:])


def drop_torn_line(path: Path) -> int:
    """Cut an unfinished last line off a JSONL file; returns how many bytes were dropped."""
    if not path.exists():
        return 0
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        keep, block = size, 65536
        while keep:
            start = max(0, keep - block)
            file.seek(start)
            newline = file.read(keep - start).rfind(b"\n")
            if newline >= 0:
                keep = start + newline + 1
                break
            keep = start
        if keep < size:
            file.truncate(keep)
        return size - keep


class _Aside(msgspec.Struct, frozen=True, gc=False):
    """An attempt of which nothing is read yet."""


class _Where(msgspec.Struct, frozen=True, gc=False):
    item: str
    rollout: Annotated[int, msgspec.Meta(ge=0, le=MOST_ROLLOUTS)]
    ask: str = ""
    attempt: _Aside | None = None
    attempt_file: str = ""
    error: RolloutError | None = None


class RolloutIndex:
    """Where each rollout's line lies: memory grows by an offset a rollout, not by its text.

    `asks` are the items' asks of now; `asked_otherwise` then holds the items of which a line has another one.
    """

    def __init__(self, folder: Path, asks: Mapping[str, str] | None = None) -> None:
        self._path = folder / ROLLOUTS
        self._store = Store(folder / "files")
        self._offsets: dict[str, int | array[int]] = {}
        self.errors: dict[tuple[str, int], RolloutError] = {}
        self.asked_otherwise: set[str] = set()
        decoder, errors = msgspec.json.Decoder(_Where), self.errors
        for number, offset, line in whole_lines(self._path):
            where = decode(decoder, line, self._path, number, "a rollout")
            name, rollout = where.item, where.rollout
            if where.attempt is None and where.error is None and not where.attempt_file:
                raise FormatError(self._path, number, "not a rollout: it needs an attempt, an attempt_file or an error")
            if rollout == 0 and name not in self._offsets:  # the usual case of many
                self._offsets[name] = offset
            else:
                self._put(name, rollout, offset)
            if where.error is not None:
                errors[name, rollout] = where.error
            elif errors:
                errors.pop((name, rollout), None)
            if asks is not None and asks.get(name) != where.ask:
                self.asked_otherwise.add(name)
        self._decoder = msgspec.json.Decoder(Rollout)
        self._file = self._path.open("rb") if self._path.exists() else None

    def _put(self, item: str, rollout: int, offset: int) -> None:
        """A lone rollout 0, the usual case, is a bare offset; several are an array by rollout, -1 where one is not."""
        found = self._offsets.get(item)
        if rollout == 0 and not isinstance(found, array):
            self._offsets[item] = offset
            return
        if not isinstance(found, array):
            found = self._offsets[item] = array("q", [-1 if found is None else found])
        if rollout >= len(found):
            found.extend([-1] * (rollout + 1 - len(found)))
        found[rollout] = offset

    def _places(self, item: str) -> list[int]:
        """The offsets of an item's lines, by rollout."""
        found = self._offsets.get(item)
        if not isinstance(found, array):
            return [] if found is None else [found]
        return [offset for offset in found if offset >= 0]

    def __len__(self) -> int:
        return sum(len(self._places(item)) for item in self._offsets)

    def done(self, item: str, rollout: int) -> bool:
        """Whether an attempt is stored; an error rollout is not done."""
        found = self._offsets.get(item)
        if isinstance(found, array):
            stored = rollout < len(found) and found[rollout] >= 0
        else:
            stored = rollout == 0 and found is not None
        return stored and (item, rollout) not in self.errors

    def items(self) -> list[str]:
        """Ids of the items that have rollouts, in the order of their first line."""
        return list(self._offsets)

    def of(self, item: str) -> Iterator[Rollout]:
        """The rollouts of an item by index, each with its attempt loaded."""
        for offset in self._places(item):
            rollout = self._at(offset, self._decoder)
            if rollout.attempt_file:
                stored = self._store.get(rollout.attempt_file)
                place = self._store.root / rollout.attempt_file[:2] / rollout.attempt_file
                attempt = decode(msgspec.json.Decoder(Attempt), stored, place, None, "an attempt")
                rollout = msgspec.structs.replace(rollout, attempt=attempt)
            yield rollout

    def _at(self, offset: int, decoder: msgspec.json.Decoder[T]) -> T:
        if self._file is None:
            raise FormatError(self._path, None, "the journal is gone")
        self._file.seek(offset)
        line = self._file.readline()
        try:
            return decode(decoder, line, self._path, None, "a rollout")
        except FormatError as error:
            raise FormatError(self._path, _line_number(self._path, offset), error.detail) from error

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def _line_number(path: Path, offset: int) -> int:
    """The number of the line that begins at a byte; counted only when a message needs it."""
    with path.open("rb") as file:
        return 1 + sum(file.read(min(65536, offset - start)).count(b"\n") for start in range(0, offset, 65536))


def whole_lines(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """(line number, byte offset, line) of each finished line; blank ones and an unfinished last one are left out."""
    if not path.exists():
        return
    offset = 0
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.endswith(b"\n") and not line.isspace():
                yield number, offset, line
            offset += len(line)


def stored_calls(folder: Path) -> Iterator[ModelOutput | None]:
    """What a run has called so far: the outputs, and None for each rollout that failed, made again or not."""
    index = RolloutIndex(folder)
    try:
        for item in index.items():
            for rollout in index.of(item):
                yield from rollout.attempt.outputs if rollout.attempt is not None else ()
    finally:
        index.close()
    decoder = msgspec.json.Decoder(_Ended)
    for number, _, line in whole_lines(folder / ROLLOUTS):
        if decode(decoder, line, folder / ROLLOUTS, number, "a rollout").error is not None:
            yield None


class _Ended(msgspec.Struct):
    error: RolloutError | None = None


class EvidenceIndex:
    """The newest evidence of each rollout, read when it is asked for: memory grows by an offset a line."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / EVIDENCE
        self._offsets: dict[tuple[str, int], int] = {}
        self._decoder = msgspec.json.Decoder(EvidenceLine)
        for number, offset, line in whole_lines(self._path):
            seen = decode(self._decoder, line, self._path, number, "evidence")  # damage is told before judging begins
            self._offsets[seen.item, seen.rollout] = offset
        self._file = self._path.open("rb") if self._offsets else None

    def __len__(self) -> int:
        return len(self._offsets)

    def get(self, item: str, rollout: int) -> EvidenceLine | None:
        """What a probe saw last of a rollout; None where nothing is stored."""
        offset = self._offsets.get((item, rollout))
        if offset is None or self._file is None:
            return None
        self._file.seek(offset)
        return decode(self._decoder, self._file.readline(), self._path, None, "evidence")

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
