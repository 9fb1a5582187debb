"""A lock file is held by one process and freed however that process ends."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from steelyard.run.lock import hold

HOLD = (
    "import sys, time; from pathlib import Path; from steelyard.run.lock import hold; "
    "hold(Path(sys.argv[1])); print('held', flush=True); time.sleep(60)"
)


def test_a_lock_is_refused_to_others_until_it_is_freed(tmp_path: Path) -> None:
    """In one process too: two journals of one folder are two writers."""
    free = hold(tmp_path / ".lock")
    with pytest.raises(BlockingIOError):
        hold(tmp_path / ".lock")
    free()
    hold(tmp_path / ".lock")()
    assert [".lock"] == [path.name for path in tmp_path.iterdir()]


def test_a_killed_process_frees_its_lock(tmp_path: Path) -> None:
    """Nobody has to remove a file by hand after a `kill -9`."""
    argv = [sys.executable, "-c", HOLD, str(tmp_path / ".lock")]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert "held\n" == holder.stdout.readline()
        with pytest.raises(BlockingIOError):
            hold(tmp_path / ".lock")
        holder.send_signal(signal.SIGKILL)
    hold(tmp_path / ".lock")()
