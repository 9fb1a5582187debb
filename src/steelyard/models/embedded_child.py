"""The child process of `embedded`: llama.cpp's server from xllamacpp, on loopback, until its parent goes.

Settings come as one JSON line on stdin (the key must not show in a process list); one JSON line on the first stdout
says that the import survived, a second one gives the address. Everything else that is printed goes to stderr, which
is the log. Easy to break: ending with the parent. End of stdin is the signal; where a copy of the pipe lives on in
a forked process, the changed parent id is.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from typing import IO, Any

POLL_S = 1.0
CACHE_MIB = 512  # of prompts that are not in a slot; the engine's own default is 8 GiB


def main() -> None:
    """Serve until the parent closes stdin or ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which may finish what is in flight
    settings: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    threading.Thread(target=_end_with_parent, args=(settings["parent_pid"],), daemon=True).start()

    import xllamacpp  # may die of an illegal instruction, and the parent must then know that it was here

    _say(answers, {"imported": True})
    try:
        server = xllamacpp.Server(_params(xllamacpp, settings))
    except RuntimeError as error:
        sys.exit(str(error))  # the engine has written into the log why; a traceback would push that out of sight
    _say(answers, {"address": server.listening_address})
    sys.stdin.buffer.read()
    os._exit(0)  # the engine's own shutdown may wait for a generation that nobody reads any more


def _params(xllamacpp: Any, settings: dict[str, Any]) -> Any:
    params = xllamacpp.CommonParams()
    params.model.path = settings["model_path"]
    params.model_alias = {settings["model_id"]}
    params.api_keys = [settings["api_key"]]
    params.port = 0
    params.n_parallel = settings["slots"]
    params.n_ctx = settings["slots"] * settings["context_tokens"]  # the engine divides it among the slots
    params.cpuparams.n_threads = settings["threads"]
    params.cpuparams_batch.n_threads = settings["threads"]
    params.cache_prompt = not settings["deterministic"]
    params.cache_ram_mib = 0 if settings["deterministic"] else CACHE_MIB
    params.use_jinja = True
    params.ui = False
    params.offline = True
    return params


def _say(answers: IO[str], fact: dict[str, Any]) -> None:
    answers.write(json.dumps(fact) + "\n")
    answers.flush()


def _end_with_parent(parent_pid: int) -> None:
    """Poll the parent id (POSIX); the main thread sees the end of stdin, but not before the model is loaded."""
    while sys.platform == "win32" or os.getppid() == parent_pid:
        time.sleep(POLL_S)
    os._exit(0)


if __name__ == "__main__":
    main()
