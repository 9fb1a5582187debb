"""Attacks 9 to 12 and 19 against the strength `oracle`: what is right never enters the program's process.

Hostile and honest ways are cases of one program, each in a fresh process: every hostile case fails and every honest
one passes, whatever ran before it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from steelyard.attempt import Attempt
from steelyard.item import Item
from steelyard.judging import judge
from steelyard.kit import ProbeKit
from steelyard.ports import Sandbox
from steelyard.store import Store
from steelyard.verdict import Verdict
from steelyard.verifiers.registry import bind

Asked = Callable[..., Verdict]
Ways = Callable[[dict[str, str], dict[str, str]], dict[str, str]]
FIX = "def discount(price, percent):\n    return price - price * percent / 100\n"
CASES = [
    {"args": [100, 10], "expected": 90.0},
    {"args": [100, 0], "expected": 100.0},
    {"args": [250, 20], "expected": 200.0},
]


@pytest.fixture
def asked(backend: Sandbox, store: Store) -> Asked:
    """Judge a program on inputs that are sent in, by values that stay outside."""
    kit = ProbeKit(store, backend)

    def run(program: str, target: dict[str, Any] | None = None, **config: Any) -> Verdict:
        target = target or {"mode": "function", "entry_point": "discount", "cases": CASES}
        verifier = {"name": "code", **config}
        item = Item(id="discount", input="Write discount.", target=json.dumps(target), verifier=verifier)
        return judge(item, bind(item), Attempt(answer=f"```python\n{program}\n```"), kit=kit).verdict

    return run


@pytest.fixture
def ways(asked: Asked) -> Ways:
    """Each way is the body of `discount(price, percent)`, and a case of its own; "passed" or the miss of each."""

    def run(hostile: dict[str, str], honest: dict[str, str]) -> dict[str, str]:
        bodies = {**hostile, **honest}
        cases = [{"args": [way, 100, 10], "expected": 90.0} for way in [*bodies, next(iter(honest))]]
        program = (
            f"BODIES = {bodies!r}\ndef discount(way, price, percent):\n    space = {{}}\n"
            "    exec(BODIES[way], space)\n    return space['discount'](price, percent)\n"
        )
        target = {"mode": "function", "entry_point": "discount", "cases": cases}
        verdict = asked(program, target, all_cases=True, timeout_s=60.0)
        missed = {int(miss.detail.split(":")[0].removeprefix("case ")): miss.name for miss in verdict.misses}
        assert len(honest) + 1 == verdict.measures["n_passed"], verdict
        return {way: missed.get(number, "passed") for number, way in enumerate(bodies)}

    return run


BUG = "def discount(price, percent):\n    return price - price * percent / 10\n"
PATCHES = {
    "assertions": "import unittest\nunittest.TestCase.assertEqual = lambda *a, **k: None\n",
    "builtins": "import builtins\nbuiltins.AssertionError = KeyboardInterrupt\nbuiltins.type = lambda *a: int\n"
    "builtins.isinstance = lambda *a: True\nbuiltins.repr = lambda *a: '0.0'\n",
    "json and marshal": "import json, marshal\njson.dumps = lambda *a, **k: '[90.0]'\n"
    "marshal.loads = lambda *a: 1 / 0\n",
    "the way out": "import os\nos.write = lambda *a: 0\nos._exit = lambda *a: None\n",
    "the runner": "import sys\nmain = sys.modules['__main__']\nfor name in ('same', 'holds', '_run_case', '_do'):\n"
    "    setattr(main, name, lambda *a, **k: True)\n",
    "later processes": "open('/work/sitecustomize.py', 'w').write('raise SystemExit')\n",
}


def test_attack_09_patching_the_process_of_the_oracle_passes_nothing(ways: Ways) -> None:
    """There is no judge in there to patch; a program may patch what it likes and be right. [S-19]"""
    uses = "from unittest import mock\nwith mock.patch('builtins.print'):\n    print('quiet')\n"
    found = ways({name: code + BUG for name, code in PATCHES.items()}, {"honest": FIX, "honest mock": uses + FIX})
    assert {"honest", "honest mock"} == {name for name, outcome in found.items() if outcome == "passed"}


LIES = {
    "equal to everything": "class Yes:\n    def __eq__(self, other):\n        return True\n"
    "def discount(*a):\n    return Yes()\n",
    "a float that lies": "class Yes(float):\n    def __eq__(self, other):\n        return True\n"
    "    __hash__ = float.__hash__\n    def __repr__(self):\n        return '90.0'\n"
    "def discount(*a):\n    return Yes(1)\n",
    "a text that lies": "class Yes(str):\n    def __eq__(self, other):\n        return True\n"
    "    __hash__ = str.__hash__\ndef discount(*a):\n    return Yes('90.0')\n",
    "a length that lies": "class Yes(list):\n    def __len__(self):\n        return 0\n    def __iter__(self):\n"
    "        return iter(())\ndef discount(*a):\n    return Yes([1])\n",
    "a class that lies": "class Yes:\n    __class__ = float\n    def __float__(self):\n        return 90.0\n"
    "def discount(*a):\n    return Yes()\n",
    "not a number": "def discount(*a):\n    return float('nan')\n",
    "another type": "def discount(price, percent):\n    return str(price - price * percent / 100)\n",
    "true for one": "def discount(*a):\n    return True\n",
}


def test_attack_10_only_builtin_values_come_out_and_the_type_counts(ways: Ways) -> None:
    """Objects with an equality of their own never reach a comparison; inside a program they are ordinary. [S-19]"""
    inner = (
        "class Price(float):\n    def __eq__(self, other):\n        return float(self) == float(other)\n"
        "def discount(price, percent):\n    return float(Price(price - price * percent / 100))\n"
    )
    found = ways(LIES, {"honest": inner})
    assert ["honest"] == [name for name, outcome in found.items() if outcome == "passed"]


SECRET = "canary-lantern-88213"
SEARCH = r"""
import gc, glob, os, re, sys
MARK = re.compile(rb"canary-[a-z]+-\d+")
def hunt(deep):
    texts = []
    frame = sys._getframe()
    while frame:
        texts += [repr(frame.f_locals), repr(frame.f_globals), repr(frame.f_code.co_consts)]
        frame = frame.f_back
    for thing in gc.get_objects():
        try:
            texts.append(repr(thing)[:100_000])
        except Exception:
            pass
    found = [match for text in texts for match in MARK.findall(text.encode(errors="replace"))]
    parent = f"/proc/{os.getppid()}"
    places = ["/proc/self/environ", "/proc/self/cmdline", parent + "/environ", parent + "/mem",
              *([parent + "/fd/0"] if deep else []), "/proc/1/environ", "/proc/1/cmdline"]
    for folder in ("/work", "/steelyard", "/tmp"):
        places += glob.glob(folder + "/**", recursive=True)
    for place in places:
        try:
            handle = os.open(place, os.O_RDONLY | os.O_NONBLOCK)
            found += MARK.findall(os.read(handle, 5_000_000))
        except OSError:
            pass
    for handle in range(64):
        try:
            os.set_blocking(handle, False)
            found += MARK.findall(os.read(handle, 65536))
        except OSError:
            pass
    return found
"""


def test_attack_11_what_is_expected_is_nowhere_in_the_program_s_reach(asked: Asked) -> None:
    """Frames, objects, descriptors, files and the parent's memory do not hold it; an input is found. [S-19]"""
    hunter = SEARCH + "def word(hint, deep):\n    return b' '.join(hunt(deep)).decode() or 'nothing'\n"
    for deep in (False, True):  # deep: the rest of the runner's own input too, without which it cannot report
        target = {"mode": "function", "entry_point": "word", "cases": [{"args": ["lantern", deep], "expected": SECRET}]}
        verdict = asked(hunter, target)
        assert verdict.passed is False
        assert "'nothing'" in verdict.misses[0].detail or deep, verdict
        assert SECRET not in verdict.misses[0].detail.partition(", got ")[2]
    told = "def word(hint, deep):\n    return hunt(deep)[0].decode()\n"
    given = {"mode": "function", "entry_point": "word", "cases": [{"args": [SECRET, False], "expected": SECRET}]}
    assert asked(SEARCH + told, given).passed


def test_attack_11_printed_output_has_no_expected_text_in_reach(asked: Asked) -> None:
    """The same for programs that read and print; one that makes the text from its input passes. [S-19]"""
    target = {"mode": "stdin", "cases": [{"stdin": "lantern\n", "stdout": SECRET + "\n"}]}
    hunter = SEARCH + "hint = input()\nprint(b' '.join(hunt(False)).decode() or 'nothing')\n"
    verdict = asked(hunter, target)
    assert verdict.passed is False
    assert "nothing" in verdict.misses[0].detail
    assert asked("print(f'canary-{input()}-88213')\n", target).passed


FORGE = (
    "import os\ndef forge():\n    for handle in range(3, 256):\n"
    "        for line in (b'P\\n', b'R[\"90.0\"]', b'passed\\n'):\n"
    "            try:\n                os.write(handle, line)\n            except OSError:\n                break\n"
    "    for place in ('/work/result.json', '/tmp/result.json', '/steelyard/report.json'):\n        try:\n"
    "            open(place, 'w').write('{\"passed\": true}')\n        except OSError:\n            pass\n"
)


FORGED = {
    "an exit hook": "import atexit\natexit.register(forge)\n",
    "a thread": "import threading\nthreading.Thread(target=forge, daemon=True).start()\n",
    "a child": "import os\nif os.fork() == 0:\n    os.setsid()\n    forge()\n    os._exit(0)\n",
    "at once and gone": "forge()\nimport os\nos._exit(0)\n",
    "a summary": "print('{\"cases\": [], \"passed\": true}')\nprint('3 passed in 0.01s')\nraise SystemExit(0)\n",
}


def test_attack_12_a_result_that_is_written_over_passes_nothing(ways: Ways) -> None:
    """From an exit hook, a thread, a child, or before leaving; what an honest program leaves behind is ended. [S-19]"""
    ends = (
        "import atexit, threading, time\natexit.register(print, 'bye')\n"
        "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    )
    found = ways({name: FORGE + way + BUG for name, way in FORGED.items()}, {"honest": ends + FIX})
    assert ["honest"] == [name for name, outcome in found.items() if outcome == "passed"]


def test_attack_12_killing_the_runner_passes_nothing(asked: Asked) -> None:
    """Without a report nothing has passed; the repair alone does. [S-19]"""
    assert asked("import os\nos.kill(os.getppid(), 9)\n" + FIX).passed is False
    assert asked(FIX).passed


def test_attack_19_a_program_that_knows_the_visible_example_only_fails_on_other_inputs(asked: Asked) -> None:
    """A table, and a count of calls kept in memory or in a file, are caught; each case has a fresh process. [S-19]"""
    table = "def discount(price, percent):\n    return {(100, 10): 90.0, (100, 0): 100.0}.get((price, percent), 0.0)\n"
    count = (
        "import os\ncalls = 0\ndef discount(price, percent):\n    global calls\n    calls += 1\n"
        "    seen = os.path.exists('/work/calls')\n    open('/work/calls', 'a').write('x')\n"
        "    return 0.0 if seen or calls > 1 else price - price * percent / 100\n"
    )
    for program in (table, count):
        verdict = asked(program)
        assert verdict.passed is False
        assert {"wrong-output"} == {miss.name for miss in verdict.misses}
    assert asked(FIX).passed
