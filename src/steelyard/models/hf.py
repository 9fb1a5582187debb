"""Loading weights into this process with transformers: a folder of safetensors, a gguf file, or pulled weights.

A gguf file is turned into safetensors once, in 32-bit floats (the quantised values exactly), next to the pulled
weights in the cache: reading it directly cost 40 CPU seconds for 135M parameters, at every start.
Not covered: downloads (`weights` pulls the named ones), code that comes with a model (never run), pickled weights,
adapters, several devices.
Easy to break: transformers refuses to save what it has read from gguf until the marks of its quantizer are gone.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from filelock import FileLock

from steelyard.canonical import digest
from steelyard.errors import InputError, ModelError, did_you_mean
from steelyard.models.local import BATCH_SIZE, Local
from steelyard.models.weights import WEIGHTS, cache_folder, installed, sha256_of_file
from steelyard.store import write_json

_NOTE = "converted.json"


class _Converted(msgspec.Struct, frozen=True):
    """What a converted folder says of itself; `files` maps each weights file to its sha256."""

    source_sha256: str
    transformers: str
    files: dict[str, str]


def open_local(
    spec: str, *, batch_size: int = BATCH_SIZE, threads: int | None = None, deterministic: bool = False
) -> Local:
    """The model at a path or of a name, ready to generate; takes as long as reading its weights.

    `threads` of torch, for the whole process; `deterministic` answers one call at a time, whatever `batch_size` says.
    InputError for what is not there, ModelError for what cannot be loaded.
    """
    for name, value in (("batch_size", batch_size), ("threads", threads)):
        if value is not None and value < 1:
            raise InputError(f"{name} must be at least 1, got {value}")
    source = _source(spec)
    _check_extra("torch", "transformers")
    # On a busy machine, threads that spin while they wait cost eight times the whole work; read as torch is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    import torch

    if threads is not None:
        torch.set_num_threads(threads)
    converted: dict[str, str] = {}
    if source.is_file():
        sha256 = _known_sha256(source) or sha256_of_file(source)
        folder, by = convert(source, sha256)
        converted = {"converted_by": by}
    else:
        folder, sha256 = source, _sha256_of_folder(source)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model, tokenizer = load(folder, device=device)
    facts = {
        "weights_sha256": sha256,
        "engine": "transformers",
        "engine_version": importlib.metadata.version("transformers"),
        "torch": importlib.metadata.version("torch"),
        "device": torch.cuda.get_device_name() if device == "cuda" else device,
        "dtype": str(model.dtype).removeprefix("torch."),
        "threads": torch.get_num_threads(),
        **converted,
    }
    name = spec if spec in WEIGHTS else source.stem if source.is_file() else source.resolve().name
    return Local(model, tokenizer, name=f"hf:{name}", facts=facts, batch_size=1 if deterministic else batch_size)


def load(folder: Path, *, device: str = "cpu") -> tuple[Any, Any]:
    """(model, tokenizer) of a folder of safetensors; on a CPU in 32-bit floats, else as stored. Nothing is fetched."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    dtype = torch.float32 if device == "cpu" else "auto"
    try:
        with _quiet():
            model: Any = AutoModelForCausalLM.from_pretrained(
                folder, dtype=dtype, local_files_only=True, use_safetensors=True, trust_remote_code=False
            )
            tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise ModelError(f"{folder} cannot be loaded by transformers: {error}") from error
    return model.to(device).eval(), tokenizer


def convert(gguf: Path, sha256: str) -> tuple[Path, str]:
    """The folder of safetensors made from a gguf file, and the version of transformers that made it.

    Made on first use, in the cache; one that does not have its recorded hashes is made again.
    """
    folder = cache_folder() / f"{gguf.name}.hf-{sha256[:12]}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        note = _read_note(folder, sha256)
        if note is None:
            _check_extra("gguf", "accelerate")
            part = Path(tempfile.mkdtemp(prefix=f"{gguf.name}.part-", dir=folder.parent))
            try:
                note = _convert_into(part, gguf, sha256)
                shutil.rmtree(folder, ignore_errors=True)
                part.rename(folder)
            finally:
                shutil.rmtree(part, ignore_errors=True)
    return folder, note.transformers


def _convert_into(folder: Path, gguf: Path, sha256: str) -> _Converted:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    where: dict[str, Any] = {"gguf_file": gguf.name, "local_files_only": True}
    try:
        with _quiet():
            model: Any = AutoModelForCausalLM.from_pretrained(gguf.parent, dtype=torch.float32, **where)
            tokenizer: Any = AutoTokenizer.from_pretrained(gguf.parent, **where)
            model.hf_quantizer = None
            for mark in ("is_quantized", "quantization_method"):
                if mark in vars(model):
                    delattr(model, mark)
            if hasattr(model.config, "quantization_config"):
                del model.config.quantization_config
            model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)
    except (OSError, ValueError, KeyError, ImportError, NotImplementedError) as error:
        raise ModelError(f"{gguf} cannot be converted by transformers: {error}") from error
    note = _Converted(sha256, importlib.metadata.version("transformers"), _hashes(folder))
    write_json(folder / _NOTE, note)
    return note


def _read_note(folder: Path, sha256: str) -> _Converted | None:
    """The note of a conversion that is whole, else None."""
    try:
        note = msgspec.json.decode((folder / _NOTE).read_bytes(), type=_Converted)
        whole = note.source_sha256 == sha256 and note.files == _hashes(folder)
    except (OSError, msgspec.DecodeError):
        return None
    return note if whole else None


def _source(spec: str) -> Path:
    """The gguf file or the folder that `spec` names."""
    if spec in WEIGHTS:
        if path := installed(spec):
            return path
        raise InputError(f"{spec} is not on this machine yet: steelyard models pull {spec}")
    path = Path(spec).expanduser()
    if path.is_file() and path.suffix == ".gguf":
        return path
    if not path.exists():
        raise InputError(f"hf:{spec} is neither a path nor the name of weights{did_you_mean(spec, WEIGHTS)}")
    if path.is_file() or not (path / "config.json").is_file() or not any(path.glob("*.safetensors")):
        raise InputError(
            f"{path} is no model: expected a folder with config.json and *.safetensors files, or a .gguf file"
        )
    return path


def _known_sha256(path: Path) -> str:
    """The pinned hash of weights that were pulled, which were hashed when they came."""
    return next((weights.sha256 for weights in WEIGHTS.values() if installed(weights) == path), "")


def _sha256_of_folder(folder: Path) -> str:
    """The hash of a model's one weights file, or of all their names and hashes."""
    hashes = _hashes(folder)
    return next(iter(hashes.values())) if len(hashes) == 1 else digest(hashes)


def _hashes(folder: Path) -> dict[str, str]:
    return {path.name: sha256_of_file(path) for path in sorted(folder.glob("*.safetensors"))}


def _check_extra(*packages: str) -> None:
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise ModelError(
            f"a model in this process needs {' and '.join(missing)}: pip install 'steelyard[hf]'"
            " (for a CPU alone, install the CPU build of torch first)"
        )


@contextmanager
def _quiet() -> Iterator[None]:
    """No progress bars of transformers, which would draw over a run's own."""
    logging: Any = importlib.import_module("transformers.utils.logging")
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
