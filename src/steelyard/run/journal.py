"""The journal of a run: one line a finished rollout, appended by one write(2); `kill -9` at any byte loses none.

A torn last line (a kill in the middle of a write) is dropped and said so; a broken line before the end is an error.
An attempt of more than 64 KiB is stored whole under files/ and the line holds its sha256 as `attempt_file`.
A rollout that failed as an error may be followed by a later line of the same rollout: the last one counts.
Easy to break: buffering (a line must be in the kernel when `append` returns) and reading everything into memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from steelyard.attempt import Attempt, ModelOutput
from steelyard.canonical import digest
from steelyard.errors import FormatError, InputError, RefusedError
from steelyard.item import Item, key
from steelyard.run.stored import decode
from steelyard.store import Store
from steelyard.verdict import Evidence

ROLLOUTS = "rollouts.jsonl"
EVIDENCE = "evidence.jsonl"
INLINE_BYTES = 64 * 1024
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
        from filelock import FileLock, Timeout  # not needed to read a run

        self.folder = folder
        self.store = Store(folder / "files")
        self._lock = FileLock(folder / ".lock")
        self._encoder = msgspec.json.Encoder()
        self._rollouts = self._evidence = -1
        try:
            self._lock.acquire(timeout=0)
            self.dropped = drop_torn_line(folder / ROLLOUTS)
            drop_torn_line(folder / EVIDENCE)
            self._rollouts = os.open(folder / ROLLOUTS, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            self._evidence = os.open(folder / EVIDENCE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        except Timeout as error:  # is an OSError too, so it comes first
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
        self._lock.release()


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


class _Where(msgspec.Struct, frozen=True, gc=False):
    item: str
    rollout: int
    attempt: msgspec.Raw = msgspec.Raw()
    attempt_file: str = ""
    error: RolloutError | None = None

    def __post_init__(self) -> None:
        if self.error is None and not self.attempt_file and bytes(self.attempt) in (b"", b"null"):
            raise InputError("it needs an attempt, an attempt_file or an error")


class RolloutIndex:
    """Where each rollout's line lies: memory grows by an offset a rollout, not by its text."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / ROLLOUTS
        self._store = Store(folder / "files")
        self._offsets: dict[str, int | dict[int, int]] = {}
        self.errors: dict[tuple[str, int], RolloutError] = {}
        decoder = msgspec.json.Decoder(_Where)
        for number, offset, line in whole_lines(self._path):
            where = decode(decoder, line, self._path, number, "a rollout")
            self._put(where.item, where.rollout, offset)
            self.errors.pop((where.item, where.rollout), None)
            if where.error is not None:
                self.errors[where.item, where.rollout] = where.error
        self._decoder = msgspec.json.Decoder(Rollout)
        self._file = self._path.open("rb") if self._path.exists() else None

    def _put(self, item: str, rollout: int, offset: int) -> None:
        """A lone rollout 0, the usual case, is kept as a bare offset: a dict an item would weigh more than the rest."""
        found = self._offsets.get(item)
        if rollout == 0 and not isinstance(found, dict):
            self._offsets[item] = offset
        elif isinstance(found, dict):
            found[rollout] = offset
        else:
            self._offsets[item] = {rollout: offset} if found is None else {0: found, rollout: offset}

    def _places(self, item: str) -> dict[int, int]:
        found = self._offsets.get(item, {})
        return {0: found} if isinstance(found, int) else found

    def __len__(self) -> int:
        return sum(1 if isinstance(found, int) else len(found) for found in self._offsets.values())

    def done(self, item: str, rollout: int) -> bool:
        """Whether an attempt is stored; an error rollout is not done."""
        return rollout in self._places(item) and (item, rollout) not in self.errors

    def items(self) -> list[str]:
        """Ids of the items that have rollouts, in the order of their first line."""
        return list(self._offsets)

    def of(self, item: str) -> Iterator[Rollout]:
        """The rollouts of an item by index, each with its attempt loaded."""
        for _, offset in sorted(self._places(item).items()):
            rollout = self._at(offset, self._decoder)
            if rollout.attempt_file:
                stored = self._store.get(rollout.attempt_file)
                place = self._store.root / rollout.attempt_file[:2] / rollout.attempt_file
                attempt = decode(msgspec.json.Decoder(Attempt), stored, place, None, "an attempt")
                rollout = msgspec.structs.replace(rollout, attempt=attempt)
            yield rollout

    def asked(self, item: str) -> str:
        """The ask of an item's first rollout, without reading its attempt; the item must have one."""
        return self._at(min(self._places(item).items())[1], _ASKED).ask

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


class _Asked(msgspec.Struct, frozen=True, gc=False):
    ask: str


_ASKED = msgspec.json.Decoder(_Asked)


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
            if line.endswith(b"\n") and line.strip():
                yield number, offset, line
            offset += len(line)


def stored_outputs(folder: Path) -> Iterator[ModelOutput]:
    """Every model output that a run has paid for so far; none where there is no journal yet."""
    index = RolloutIndex(folder)
    try:
        for item in index.items():
            for rollout in index.of(item):
                yield from rollout.attempt.outputs if rollout.attempt is not None else ()
    finally:
        index.close()


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
