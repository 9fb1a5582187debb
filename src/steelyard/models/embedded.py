"""A model in a child process: llama.cpp's own server (xllamacpp) on loopback, for a first run without a key.

Source: xllamacpp, which is llama.cpp's server in a wheel (docs/decisions/004). The child is also the probe: on a
CPU that the wheel was not built for it dies of an illegal instruction while importing, and that is said in words.
Not covered: GPUs, several server processes, downloads (see `weights`).
Easy to break: reproducibility. `deterministic` means one slot, one thread and no prompt cache; with the default
cache an output depends on the requests before it. OMP_WAIT_POLICY must be set before the engine is loaded.
"""

from __future__ import annotations

import contextlib
import http.client
import importlib.metadata
import importlib.util
import json
import os
import queue
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from steelyard.errors import InputError, ModelError
from steelyard.models.weights import WEIGHTS, installed, sha256_of_file

START_TIMEOUT_S = 300.0
STOP_TIMEOUT_S = 5.0
_LOG_LINES = 12


class EmbeddedServer:
    """A running child; use it as a context manager or call `close`. Made by `start_embedded`."""

    def __init__(
        self, process: subprocess.Popen[bytes], address: str, key: str, settings: dict[str, Any], log: Path
    ) -> None:
        self._process = process
        self._settings = settings
        self.log = log
        self.base_url = f"{address}/v1"
        self.api_key = key

    def __repr__(self) -> str:
        return f"EmbeddedServer({self.model_id!r}, {self.base_url!r})"

    @property
    def model_id(self) -> str:
        return str(self._settings["model_id"])

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def extra_body(self) -> dict[str, Any]:
        """What every request must carry besides its own settings."""
        return {"cache_prompt": False} if self._settings["deterministic"] else {}

    @property
    def describe(self) -> dict[str, Any]:
        """What a run records of this server."""
        return {
            "weights_sha256": self._settings["weights_sha256"],
            "engine": "xllamacpp",
            "engine_version": importlib.metadata.version("xllamacpp"),
            "slots": self._settings["slots"],
            "threads": self._settings["threads"],
            "context_tokens": self._settings["context_tokens"],
            "cache_prompt": not self._settings["deterministic"],
        }

    def close(self) -> None:
        """Stop the child and remove its log; safe to call twice."""
        _stop(self._process)
        self.log.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def start_embedded(
    path_or_name: str | Path,
    *,
    context_tokens: int = 4096,
    slots: int = 4,
    threads: int | None = None,
    deterministic: bool = False,
) -> EmbeddedServer:
    """Serve pulled weights (by name) or a gguf file; returns when it answers.

    `context_tokens` is what each of the `slots` has; `threads` defaults to the CPUs of this process. `deterministic`
    overrides both slots and threads with one. InputError for what is not there, ModelError when the server fails.
    """
    for name, value in (("context_tokens", context_tokens), ("slots", slots), ("threads", threads)):
        if value is not None and value < 1:
            raise InputError(f"{name} must be at least 1, got {value}")
    path, model_id, sha256 = _weights(path_or_name)
    if importlib.util.find_spec("xllamacpp") is None:
        raise ModelError("an embedded model needs the engine: pip install 'steelyard[embedded]'")
    key = secrets.token_urlsafe(24)
    settings = {
        "model_path": str(path.resolve()),
        "model_id": model_id,
        "weights_sha256": sha256,
        "context_tokens": context_tokens,
        "slots": 1 if deterministic else slots,
        "threads": 1 if deterministic else threads or _cpus(),
        "deterministic": deterministic,
    }
    handle, log_name = tempfile.mkstemp(prefix="steelyard-embedded-", suffix=".log")
    log = Path(log_name)
    try:
        process = _spawn(handle, {**settings, "api_key": key, "parent_pid": os.getpid()})
    finally:
        os.close(handle)
    try:
        address = _wait_for_address(process, log)
    except BaseException:
        _stop(process)
        raise
    return EmbeddedServer(process, address, key, settings, log)


def _weights(path_or_name: str | Path) -> tuple[Path, str, str]:
    """(file, model id, sha256) of weights given by name or as a file."""
    if isinstance(path_or_name, str) and path_or_name in WEIGHTS:
        if path := installed(path_or_name):
            return path, path_or_name, WEIGHTS[path_or_name].sha256
        raise InputError(f"{path_or_name} is not on this machine yet: steelyard models pull {path_or_name}")
    path = Path(path_or_name)
    if not path.is_file():
        raise InputError(f"{path} is neither a file nor the name of weights; known: {', '.join(WEIGHTS)}")
    return path, path.stem, sha256_of_file(path)


def _spawn(log_handle: int, settings: dict[str, Any]) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "steelyard.models.embedded_child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log_handle,
        env={**os.environ, "OMP_WAIT_POLICY": "passive"},
    )
    if process.stdin is None:
        raise AssertionError  # asked for above
    with contextlib.suppress(BrokenPipeError):  # a child that is dead already is explained by who waits for it
        process.stdin.write(json.dumps(settings).encode() + b"\n")
        process.stdin.flush()
    return process


def _wait_for_address(process: subprocess.Popen[bytes], log: Path) -> str:
    """The child's address once it answers; ModelError with its last words when it ends or takes too long."""
    facts = _read_facts(process)
    deadline = time.monotonic() + START_TIMEOUT_S
    imported = False
    while True:
        try:
            fact = facts.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise ModelError(
                f"the embedded server was not ready after {START_TIMEOUT_S:.0f} s; {_last_words(log)}"
            ) from None
        if fact is None:
            raise _died(process.wait(), imported, log)
        imported = imported or "imported" in fact
        if address := fact.get("address"):
            break
    while not _is_ready(address):
        if process.poll() is not None:
            raise _died(process.returncode, imported, log)
        if time.monotonic() > deadline:
            raise ModelError(f"the embedded server never left its loading state; {_last_words(log)}")
        time.sleep(0.1)
    return str(address)


def _read_facts(process: subprocess.Popen[bytes]) -> queue.Queue[dict[str, Any] | None]:
    """The child's JSON lines as they come, then None; read on a thread, so that waiting can time out."""
    facts: queue.Queue[dict[str, Any] | None] = queue.Queue()

    def read() -> None:
        for line in process.stdout or ():
            facts.put(json.loads(line))
        facts.put(None)

    threading.Thread(target=read, daemon=True).start()
    return facts


def _is_ready(address: str) -> bool:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=5)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _died(code: int, imported: bool, log: Path) -> ModelError:
    if not imported and sys.platform != "win32" and code == -signal.SIGILL:
        return ModelError(
            "this CPU lacks instructions that the embedded engine needs (AVX2 on x86-64); "
            "use --base-url with a server that runs here"
        )
    doing = "starting the model" if imported else "loading its engine"
    return ModelError(f"the embedded server ended while {doing} (exit code {code}); {_last_words(log)}")


def _last_words(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()[-_LOG_LINES:]
    return f"its log {log} ends:\n" + "\n".join(lines) if lines else f"its log {log} is empty"


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End of stdin asks, then a signal insists."""
    if process.stdin and not process.stdin.closed:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout:
        process.stdout.close()


def _cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
