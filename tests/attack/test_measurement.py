"""Attacks 17 to 21: code that lies about time, remembers, recognises the benchmark, defers work or slows the baseline.

These test what a measurement stands on: the clock outside, the fresh session, the same view for every run, the count
of the whole process tree, and a base that the host holds. Amounts of work are asked for in CPU seconds, never in wall
time, so a loaded machine changes nothing.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from steelyard.canonical import sha256_hex
from steelyard.ports import ExecResult, Session
from steelyard.store import Store

Open = Callable[..., Session]
Python = Callable[..., ExecResult]
BURN_MS = 400
COUNTED_MS = 0.9 * BURN_MS  # the clocks tick in steps of up to 10 ms

LIAR = f"""
import sys, time
real = time.process_time
def burn():
    end = real() + {BURN_MS / 1000}
    while real() < end:
        pass
if sys.argv[1] == "lie":
    for name in ("time", "perf_counter", "process_time", "monotonic", "thread_time"):
        setattr(time, name, lambda: 0.0)
        setattr(time, name + "_ns", lambda: 0)
started = time.perf_counter()
burn()
print(round((time.perf_counter() - started) * 1000))
"""


def test_attack_17_a_patched_clock_inside_changes_nothing_outside(opened: Open, python: Python) -> None:
    """A program that stops every clock claims no time at all, and what it burnt is still counted. [O-22]"""
    honest, liar = python(opened(), LIAR, "tell"), python(opened(), LIAR, "lie")
    assert int(honest.output) >= COUNTED_MS
    assert 0 == int(liar.output)
    for result in (honest, liar):
        assert result.cpu_ms is not None
        assert result.cpu_ms >= COUNTED_MS
        assert result.wall_ms >= COUNTED_MS


CACHE = """
import functools, os, sys
PLACES = ["/work/.cache", "/tmp/.cache", "/dev/shm/.cache", os.path.expanduser("~/.cache"), "/var/tmp/.cache"]
@functools.lru_cache
def answer(question):
    for place in PLACES:
        if os.path.exists(place):
            return "from " + place
    for place in PLACES:
        try:
            os.makedirs(os.path.dirname(place), exist_ok=True)
            open(place, "w").write("kept")
        except OSError:
            pass
    return "computed"
print(answer(sys.argv[1]), answer(sys.argv[1]), answer.cache_info().hits)
"""


def test_attack_18_nothing_that_was_kept_is_there_in_the_next_session(
    opened: Open, python: Python, project: Mapping[str, str]
) -> None:
    """Memory and every writable folder start afresh in each session; within one, a cache works. [O-1]"""
    first, second = opened(tree=project), opened(tree=project)
    for session in (first, second):
        assert b"computed computed 1\n" == python(session, CACHE, "q").output
    assert b"from /work/.cache from /work/.cache 1\n" == python(first, CACHE, "q").output
    first.close()
    assert b"computed computed 1\n" == python(opened(tree=project), CACHE, "q").output


SEEN = """
import os, sys
print(sys.argv, sorted(os.environ.items()), os.getcwd(), os.getuid(), os.getpid() < 100, sorted(os.listdir("/")))
print(sorted(os.path.join(folder, name) for folder, _, names in os.walk("/work") for name in names))
print(os.uname().nodename, os.listdir("/tmp"), sys.stdin.read() != "")
"""


def test_attack_19_every_run_sees_the_same_so_that_none_can_be_recognised(
    opened: Open, project: Mapping[str, str]
) -> None:
    """Arguments, environment, names, files and folders are those of every other session; only the input differs."""
    views = {
        opened(tree=project).run(["python3", "-c", SEEN], stdin=secrets.token_hex(8).encode()).output for _ in range(3)
    }
    assert 1 == len(views)
    assert b"/work/shop/prices.py" in views.pop()


MEMORISED = """
import os, sys
numbers = [int(text) for text in sys.stdin.read().split()]
known = {(3, 1, 2): "1 2 3"}
count = len(open("/work/calls").read()) if os.path.exists("/work/calls") else 0
open("/work/calls", "a").write("x")
if sys.argv[1] == "table":
    print(known.get(tuple(numbers), "1 2 3"))
elif sys.argv[1] == "first call":
    print(*(sorted(numbers) if count == 0 else numbers))
else:
    print(*sorted(numbers))
"""


def test_attack_19_a_memorised_answer_is_caught_by_inputs_that_were_not_seen(opened: Open) -> None:
    """A table of the visible example fails on new inputs; what is right on its first call only fails when counted on.

    Inputs come from a seed that never enters the sandbox, and the outputs of every run are checked.
    """
    inputs = ["3 1 2", "9 8 7", "5 2 4 1"]
    wanted = [" ".join(sorted(text.split())) for text in inputs]

    def said(way: str) -> list[str]:
        session = opened()
        runs = [session.run(["python3", "-c", MEMORISED, way], stdin=text.encode()) for text in inputs]
        return [run.output.decode().strip() for run in runs]

    assert wanted == said("honest")
    for way in ("table", "first call"):
        answers = said(way)
        assert wanted[0] == answers[0]
        assert wanted != answers


DEFERRED = f"""
import os, sys, time
def burn():
    end = time.process_time() + {BURN_MS / 1000}
    while time.process_time() < end:
        pass
    open("/work/done", "w").write("done")
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        burn()
    os._exit(0)
if sys.argv[1] == "wait":
    while not os.path.exists("/work/done"):
        time.sleep(0.02)
print("answered")
"""


def test_attack_20_work_in_children_and_daemons_is_counted(opened: Open, python: Python) -> None:
    """CPU that a daemon in a session of its own burns is its command's; without it the command costs less. [O-22]"""
    cheap = python(opened(), "print('answered')")
    dear = python(opened(), DEFERRED, "wait")
    assert (cheap.output, dear.output) == (b"answered\n", b"answered\n")
    assert cheap.cpu_ms is not None
    assert dear.cpu_ms is not None
    assert dear.cpu_ms >= COUNTED_MS


def test_attack_20_work_that_is_put_off_past_the_end_never_happens(opened: Open, python: Python) -> None:
    """What still runs when the command has ended is dead, so its result is never there to be used. [O-22]"""
    session = opened()
    result = python(session, DEFERRED, "leave")
    assert b"answered\n" == result.output
    assert result.leftover_pids >= 1
    time.sleep(2 * BURN_MS / 1000)
    assert [] == session.paths()
    assert b"answered\n" == python(session, DEFERRED, "wait").output
    assert ["done"] == session.paths()


def test_attack_21_a_session_that_edits_its_copy_changes_no_other_session_s_base(
    opened: Open, python: Python, project: Mapping[str, str], store: Store
) -> None:
    """The base is a tree of hashes that the host holds: the next session starts from it, whatever was done. [O-1]"""
    slow = "\nimport time\ntime.sleep(9)\n"
    spoil = f"""
import os
for root in ("/work", "/base"):
    for folder, _, names in os.walk(root):
        for name in names:
            try:
                with open(os.path.join(folder, name), "a") as file: file.write({slow!r})
            except OSError: print("refused", root)
"""
    before = {path: store.get(sha256) for path, sha256 in project.items()}
    agent = opened(tree=project, mounts_ro={"/base": dict(project)})
    assert {b"refused /base"} == set(python(agent, spoil).output.splitlines())
    assert set(project) == set(agent.diff().changes)
    fresh = opened(tree=project)
    for path, sha256 in project.items():
        assert before[path] == store.get(sha256) == fresh.read(path, 100_000)
        assert sha256_hex(before[path]) == sha256


def test_attack_21_a_session_that_was_closed_loads_no_core(opened: Open, python: Python) -> None:
    """An agent's burners are dead before anything else is timed: none is among the machine's processes. [O-22]"""
    mark = f"burner-{secrets.token_hex(8)}"
    burners = "import os\nfor _ in range(2):\n    if os.fork() == 0: os.setsid()\nwhile True: pass"
    session = opened()
    thread = threading.Thread(target=python, args=(session, burners, mark), kwargs={"wall_s": 30})
    thread.start()
    deadline = time.monotonic() + 20
    while not _processes(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert _processes(mark)
    session.close()
    thread.join(20)
    assert [] == _processes(mark)


def _processes(mark: str) -> list[int]:
    """Processes of this machine, sandboxed ones too, that have `mark` as an argument."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            arguments = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if mark.encode() in arguments:
            found.append(int(process.name))
    return found
