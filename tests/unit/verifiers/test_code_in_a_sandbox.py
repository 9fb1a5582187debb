"""The `code` verifier in a real sandbox: honest programs in every shape, and those that cheat, break or never end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from steelyard.attempt import Attempt
from steelyard.canonical import canonical_text
from steelyard.item import Item
from steelyard.judging import Judged, judge
from steelyard.kit import ProbeKit
from steelyard.ports import Sandbox
from steelyard.store import Store
from steelyard.verifiers.code import RESIDUAL_RISK
from steelyard.verifiers.registry import bind

pytestmark = pytest.mark.bubblewrap

ASSERT = {"mode": "assert", "entry_point": "add", "tests": ["assert add(1, 2) == 3", "assert add(-1, 1) == 0"]}
LOOP = {"mode": "assert", "entry_point": "add", "tests": "for i in range(3):\n    assert add(i, i) == 2 * i"}
DRAWN = {"mode": "assert", "entry_point": "add", "tests": "import random\n" + str(LOOP["tests"])}
STDIN = {"mode": "stdin", "cases": [{"stdin": "3\n1 2 3\n", "stdout": "6\n"}, {"stdin": "1\n5\n", "stdout": "5\n"}]}
CALLS = {
    "mode": "function",
    "entry_point": "add",
    "cases": [{"args": [n, 1], "expected": n + 1} for n in range(3)],
}
ADD = "def add(a, b):\n    return a + b\n"
SUM = "n = int(input())\nprint(sum(map(int, input().split())))\n"
MAIN = "def main():\n    n = input()\n    print(sum(map(int, input().split())))\n"
BINARY = "import sys\nd = sys.stdin.buffer.read().split()\nsys.stdout.buffer.write(b'%d' % sum(map(int, d[1:])))"
GREEDY = "def add(a, b):\n    kept = []\n    while True:\n        kept.append(bytearray(10**7))\n"

Grade = Callable[..., Judged]


@pytest.fixture
def grade(bubblewrap: Sandbox, store: Store) -> Grade:
    """Judge a reply in a fresh session."""
    kit = ProbeKit(store, bubblewrap)

    def run(reply: str, target: dict[str, Any], limits: dict[str, int] | None = None, **config: Any) -> Judged:
        item = Item(
            id="a",
            input="Q",
            target=canonical_text(target),
            verifier={"name": "code", "timeout_s": 5.0, **config},
            environment={"limits": limits or {}},
        )
        return judge(item, bind(item), Attempt(answer=reply), kit=kit)

    return run


@pytest.mark.parametrize(
    ("reply", "target"),
    [
        (ADD, CALLS),
        (ADD, ASSERT),
        (ADD, LOOP),
        (ADD, DRAWN),
        ("class Solution:\n    def add(self, a, b):\n        return a + b\n", CALLS),
        ("from __future__ import annotations\ndef add(a: Nothing, b: 'X') -> None:\n    return a + b\n", ASSERT),
        ("from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\nadd = lambda a, b: P(a + b).x", ASSERT),
        (f"{ADD}if __name__ == '__main__':\n    raise SystemExit(1)\n", ASSERT),
        ("import sys, os\nsys.stdout.close()\nos.close(2)\n" + ADD, ASSERT),
        ("import os, time\nif os.fork() == 0:\n    time.sleep(60)\n    os._exit(0)\n" + ADD, ASSERT),
        ("print('x' * 100_000)\n" + ADD, ASSERT),
        (SUM, STDIN),
        (SUM + "exit()\n", STDIN),
        ("print(sum(map(int, open(0).read().split()[1:])))", STDIN),
        ("import os\nprint(sum(map(int, os.read(0, 10**6).split()[1:])))", STDIN),
        (BINARY, STDIN),
        ("import sys\nprint('noise', file=sys.stderr)\n" + SUM, STDIN),
        (MAIN + "if __name__ == '__main__':\n    main()", STDIN),
        (MAIN + "import threading\nthreading.Thread(target=main).start()", STDIN),
        (MAIN + "import atexit\natexit.register(main)", STDIN),
    ],
)
def test_an_honest_program_passes(grade: Grade, reply: str, target: dict[str, Any]) -> None:
    """Functions, methods, scripts, binary streams, threads, exit handlers and processes left behind. [S-19]"""
    verdict = grade(reply, target).verdict
    assert (True, []) == (verdict.passed, verdict.misses)
    assert verdict.measures["n_cases"] == verdict.measures["n_passed"]


CHEATS = {
    "an object that equals all": "class E:\n    def __eq__(s, o):\n        return True\nadd = lambda a, b: E()\n",
    "a text that does": "class E(str):\n    def __eq__(s, o):\n        return True\nadd = lambda a, b: E('x')\n",
    "a forged summary": "print('3 passed, 0 failed')\ndef add(a, b):\n    return a - b - 1\n",
    "an early exit": "import os\nos._exit(0)\n",
    "an exit in the call": "import os\ndef add(a, b):\n    os._exit(0)\n",
    "SystemExit": "def add(a, b):\n    raise SystemExit(0)\n",
    "an exit handler": "import atexit, os\natexit.register(lambda: os.write(1, b'3'))\ndef add(a, b):\n    return 9\n",
    "a replaced AssertionError": "import builtins\nbuiltins.AssertionError = KeyError\ndef add(a, b):\n    return 9\n",
    "every open handle": "import os\ndef add(a, b):\n    return 9\nfor fd in range(3, 100):\n    try:\n"
    "        os.write(fd, b'P\\nR[\"9\"]\\n')\n    except OSError:\n        pass\n",
    "the first process's stdout": "import os\ndef add(a, b):\n    open('/proc/1/fd/1', 'w').write('passed')\n"
    "    os._exit(0)\n",
    "the parent's end": "import os\nos.kill(os.getppid(), 9)\n" + ADD,
}


@pytest.mark.parametrize("target", [ASSERT, LOOP, DRAWN], ids=["oracle", "loop", "tests"])
@pytest.mark.parametrize("name", CHEATS)
def test_a_program_that_cheats_fails(grade: Grade, name: str, target: dict[str, Any]) -> None:
    """What beat graders that compare inside the program's process. [O-26]"""
    assert False is grade(CHEATS[name], target).verdict.passed


PAIRS = "for x, y in [(1, 7), (2, 9), (3, 4)]:\n    assert candidate(x) == y"
ZIPPED = (
    "inputs = [[1], [2], [3]]\nresults = [7, 9, 4]\n"
    "for i, (inp, exp) in enumerate(zip(inputs, results)):\n    assert f(*inp) == exp"
)
WALKS = """import sys
def f(x):
    frame = sys._getframe()
    while frame:
        for names in (frame.f_locals, frame.f_globals):
            for name in ('y', 'exp'):
                if name in names:
                    return names[name]
        frame = frame.f_back
"""
READERS = {
    "frames": WALKS,
    "names of the test": "def f(x):\n    return globals()['results'][x - 1]\n",
    "constants of the test": "import sys\ndef f(x):\n    return sys._getframe(1).f_code.co_consts[-1]\n",
    "the token's pipe": "import os\ndef f(x):\n    os.write(60, b'P' + os.read(61, 64) + b'\\n')\n    os._exit(0)\n",
}


@pytest.mark.parametrize(
    "tests", [PAIRS, ZIPPED, f"def check(candidate):\n    {PAIRS.replace(chr(10), chr(10) + '    ')}"]
)
@pytest.mark.parametrize("name", READERS)
def test_a_program_does_not_find_what_a_loop_expects(grade: Grade, name: str, tests: str) -> None:
    """The expected values of a loop over known values stay outside, as those of a plain assertion do. [O-26]"""
    verdict = grade(READERS[name], {"mode": "assert", "entry_point": "f", "tests": tests}).verdict
    assert (False, 3.0, 0.0) == (verdict.passed, verdict.measures["n_cases"], verdict.measures["n_passed"])


def test_what_a_test_defines_inside_is_in_no_name_of_the_program(grade: Grade) -> None:
    """Where a test must run inside, its names are not the program's. [O-26]"""
    tests = f"import random\n{ZIPPED}"
    verdict = grade(READERS["names of the test"], {"mode": "assert", "entry_point": "f", "tests": tests}).verdict
    assert ["raised"] == [miss.name for miss in verdict.misses]


def test_a_loop_counts_a_case_each_time_round(grade: Grade) -> None:
    """Of four, a failure of the third leaves two passed. [S-19]"""
    target = {"mode": "assert", "entry_point": "f", "tests": "for i in range(4):\n    assert f(i) == 2 * i"}
    verdict = grade("def f(n):\n    return 2 * n if n < 2 else 0\n", target).verdict
    assert (4.0, 2.0) == (verdict.measures["n_cases"], verdict.measures["n_passed"])


CLASSY = "class P:\n    def __init__(self, n): self.n = n\n    def twice(self): return 2 * self.n\n"


@pytest.mark.parametrize(
    ("body", "test"),
    [
        ("return range(3)", "assert list(f(1)) == [0, 1, 2]"),
        ("yield from (2, 1)", "assert sorted(f(1)) == [1, 2]"),
        ("return map(abs, (1, -2))", "assert tuple(f(1)) == (1, 2)"),
        ("from collections import deque\n    return deque((1, 2))", "assert len(f(1)) == 2"),
        ("yield 4", "x = f(1)\nassert sum(x) == 4"),
        ("yield 4", "assert all(x > 3 for x in f(1))"),
        ("return P(4)", "assert f(1).n == 4 and f(1).twice() == 8"),
        ("return lambda y: y + 1", "assert f(1)(2) == 3"),
        ("return [len, 3]", "assert f(1)[1] == 3"),
        ("return 3.2000000001", "assert abs(f(1) - 3.2) < 1e-6"),
    ],
)
def test_a_result_that_is_no_plain_value_passes_where_the_test_makes_one_of_it(
    grade: Grade, body: str, test: str
) -> None:
    """Generators, ranges, functions and objects, as the author of the test means them. [S-19]"""
    reply = f"{CLASSY}def f(x):\n    {body}\n"
    assert grade(reply, {"mode": "assert", "entry_point": "f", "tests": test}).verdict.passed


def test_a_class_solution_needs_no_imports_of_its_site(grade: Grade) -> None:
    """Names of typing and the like are there for a `class Solution`, and for nothing else. [S-19]"""
    reply = "class Solution:\n    def add(self, a: List[int], b: Optional[int]) -> int:\n        return a + b\n"
    assert grade(reply, CALLS).verdict.passed
    plain = "def add(a: List[int], b):\n    return a + b\n"
    assert ["raised"] == [miss.name for miss in grade(plain, CALLS).verdict.misses]


def test_a_verdict_says_what_its_cases_cost(grade: Grade) -> None:
    """CPU and wall time and the peak of memory are among the measures. [S-26]"""
    measures = grade(ADD, CALLS).verdict.measures
    assert {"n_cases", "n_passed", "cpu_ms", "wall_ms"} <= measures.keys()


SEARCH = """
import gc, sys
def add():
    found = [str(o) for o in gc.get_objects()]
    frame = sys._getframe()
    while frame:
        found += [str(v) for v in (*frame.f_locals.values(), *frame.f_globals.values())]
        frame = frame.f_back
    for path in ("/proc/self/environ", "/proc/self/cmdline", "/proc/1/cmdline", "/proc/self/maps"):
        found.append(open(path).read())
    start = "".join(found).find("cana" + "ry-")
    return "".join(found)[start:start + 9]
"""


def test_an_expected_value_is_nowhere_in_the_process_of_the_program(grade: Grade) -> None:
    """Frames, every object that the collector knows, the environment: none holds what is right. [O-26]"""
    for target in (
        {"mode": "function", "entry_point": "add", "cases": [{"args": [], "expected": "canary-7f"}]},
        {"mode": "assert", "entry_point": "add", "tests": "def check(c):\n    assert c() == 'canary-7f'"},
    ):
        assert ["wrong-output"] == [miss.name for miss in grade(SEARCH, target).verdict.misses]


@pytest.mark.parametrize(
    ("reply", "target", "miss"),
    [
        ("def add(a, b):\n    return a - b\n", ASSERT, "wrong-output"),
        ("def add(a, b):\n    yield 3\n", ASSERT, "wrong-type"),
        ("def add(a, b):\n    raise KeyError(a)\n", ASSERT, "raised"),
        ("def add(a):\n    return a\n", CALLS, "raised"),
        ("import os\nos._exit(0)\n", ASSERT, "exited"),
        (SUM + "raise SystemExit(1)\n", STDIN, "exited"),
        ("import os\nos.abort()\n", ASSERT, "crashed"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n", STDIN, "crashed"),
        ("while True:\n    pass\n", ASSERT, "timed-out"),
        ("import signal, time\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\ntime.sleep(60)\n", STDIN, "timed-out"),
        (GREEDY, ASSERT, "out-of-memory"),
        ("held = [0] * 10**11\n", ASSERT, "out-of-memory"),
        ("while True:\n    print('x' * 1000)\n", STDIN, "too-much-output"),
        ("def add(a, b):\n    return 'x' * 10**6\n", ASSERT, "too-much-output"),
        ("import os\ndef add(a, b):\n    while True:\n        os.fork()\n", ASSERT, "too-many-processes"),
        (ADD + "add(1, 2", ASSERT, "not-code"),
        ("I cannot do this.", ASSERT, "not-code"),
        ("(" * 100_000, ASSERT, "not-code"),
        ("def plus(a, b):\n    return a + b\n", ASSERT, "no-entry-point"),
        ("def add(a, b):\n    x = []\n    x.append(x)\n    return x\n", ASSERT, "wrong-type"),
    ],
)
def test_every_way_to_fail_has_its_own_miss(grade: Grade, reply: str, target: dict[str, Any], miss: str) -> None:
    """Time, memory, output, exits, signals and processes are told apart. [S-19, S-20]"""
    limits = {"memory_bytes": 128 * 1024 * 1024, "pids": 16}
    timeout_s = 1.0 if miss == "timed-out" else 10.0
    assert [miss] == [m.name for m in grade(reply, target, limits, timeout_s=timeout_s).verdict.misses]


TESTED = (
    "def test_add():\n    assert add(1, 2) == 3\n    try:\n        add(1, 'a')\n    except TypeError:\n        pass\n"
)
IN_CLASS = "class TestAdd:\n    def test_add(self):\n        assert add(1, 2) == 3\n"
UNITTEST = (
    "import unittest\nclass T(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n"
)
GUARDED = "import random\nif __name__ == '__main__':\n    assert add(1, 2) == 3\n"


@pytest.mark.parametrize(
    "tests",
    [
        TESTED,
        IN_CLASS,
        UNITTEST,
        f"{UNITTEST}unittest.main()\n",
        f"{UNITTEST}if __name__ == '__main__':\n    unittest.main(exit=False)\n",
        GUARDED,
        "import sys\nassert add(1, 2) == 3\nsys.exit(0)\n",
        "from solution import add\nassert add(1, 2) == 3\n",
        "import random\nfrom solution import add as plus\nassert plus(1, 2) == 3\n",
    ],
)
def test_a_test_in_the_words_of_a_framework_tells_right_from_wrong(grade: Grade, tests: str) -> None:
    """What pytest and unittest would call is called, and decides. [S-19]"""
    target = {"mode": "assert", "entry_point": "add", "tests": tests}
    wrong = "def add(a, b):\n    return a - b\n"
    skips = "import unittest\ndef add(a, b):\n    raise unittest.SkipTest('later')\n"
    leaves = "import sys\ndef add(a, b):\n    sys.exit(0)\n"
    assert [True, False, False, False] == [grade(r, target).verdict.passed for r in (ADD, wrong, skips, leaves)]


GROWS = "def add(a):\n    a.append(1)\n    return a\n"


def test_an_argument_that_two_calls_share_is_one_object(grade: Grade) -> None:
    """A program that changes its argument is judged by what its test says, in one process. [S-19]"""
    target = {"mode": "assert", "entry_point": "add", "tests": "x = []\nassert add(x) == [1]\nassert add(x) == [1, 1]"}
    copies = "def add(a):\n    return [*a, 1]\n"
    assert [True, False] == [grade(reply, target).verdict.passed for reply in (GROWS, copies)]


@pytest.mark.parametrize(
    "test",
    [
        "assert {'a'} == add(0).keys()",
        "assert 'a' in add(0).keys()",
        "held = add(0).keys()\nassert sorted(held) == ['a']",
        "assert add(0).items() == {('a', 1)}",
        "assert [v for v in add(0).values()] == [1]",
        "assert add(0).keys() | {'b'} == {'a', 'b'}",
        "assert len(add(0).keys()) == 1",
        "assert add(0).keys() == {'a': 2}.keys()",
        "assert all(key == 'a' for key in add(0).keys())",
        "assert {**add(0)} == {'a': 1}",
        "assert '%(a)d items' % add(0) == '1 items'",
        "assert frozenset({'a'}).issuperset(add(0))",
    ],
)
def test_what_a_test_does_with_a_dict_is_worked_out(grade: Grade, test: str) -> None:
    """Views of a dict come out as values, and the assertion is decided outside. [S-19]"""
    target = {"mode": "assert", "entry_point": "add", "tests": test}
    found = [grade(f"def add(x):\n    return {value}\n", target).verdict for value in ("{'a': 1}", "{'b': 2, 'c': 3}")]
    assert [(True, ""), (False, "")] == [(verdict.passed, verdict.note) for verdict in found]


@pytest.mark.parametrize(
    ("reply", "passed"),
    [
        (ADD, None),
        ("def add(a, b):\n    return helper(a, b)\n", False),
        (f"{ADD}def helper(a):\n    return 3\n", True),
        ("def plus(a, b):\n    return a + b\n", False),
    ],
)
def test_a_name_that_nothing_defines_is_the_fault_of_the_test(grade: Grade, reply: str, passed: bool | None) -> None:
    """Void where only the test knows the name; the program's failure where it mentions it, or lacks the function."""
    target = {"mode": "assert", "entry_point": "add", "tests": ["assert add(1, 2) == helper(1)"]}
    assert passed is grade(reply, target).verdict.passed


BREAKS_AT_1 = "def add(a, b):\n    if a == 1:\n        {}\n    return a + b\n"


@pytest.mark.parametrize(
    ("body", "config", "counts"),
    [
        ("pass", {}, (3, 3)),
        ("return 9", {}, (3, 1)),
        ("return 9", {"all_cases": True}, (3, 2)),
        ("raise ValueError", {"all_cases": True}, (3, 2)),
        ("import os; os._exit(0)", {"all_cases": True}, (3, 2)),
        ("while True: pass", {"timeout_per_case_s": 0.5}, (3, None)),
        ("while True: pass", {"timeout_per_case_s": 0.5, "all_cases": True}, (3, 2)),
        ("while True: pass", {"timeout_s": 1.0, "all_cases": True}, (3, None)),
    ],
)
@pytest.mark.parametrize("mode", ["function", "assert"])
def test_cases_before_and_after_a_failure_are_counted(
    grade: Grade, mode: str, body: str, config: dict[str, Any], counts: tuple[int, int | None]
) -> None:
    """The first failure is the last case unless all are asked for; a time-out leaves it unknown. [S-19, S-21]"""
    tests = [f"assert add({n}, 1) == {n + 1}" for n in range(3)]
    target = CALLS if mode == "function" else {"mode": "assert", "entry_point": "add", "tests": tests}
    measures = grade(BREAKS_AT_1.format(body), target, **config).verdict.measures
    assert counts == (measures["n_cases"], measures.get("n_passed"))


def test_every_case_is_a_fresh_process_but_the_assertions_of_one_test_share_one(grade: Grade) -> None:
    """State that a call leaves behind is gone at the next case, and stays within a test, as its author ran it."""
    counts = "seen = []\ndef add(a, b):\n    seen.append(a)\n    return len(seen)\n"
    once = {"mode": "function", "entry_point": "add", "cases": [{"args": [0, 0], "expected": 1}] * 2}
    rising = {"mode": "assert", "entry_point": "add", "tests": ["assert add(0, 0) == 1", "assert add(0, 0) == 2"]}
    assert (True, True) == (grade(counts, once).verdict.passed, grade(counts, rising).verdict.passed)


def test_a_pass_that_rests_on_a_test_inside_says_so(grade: Grade) -> None:
    """The residual risk of the strength `tests` is in the note; `oracle` has none. [O-26]"""
    assert (RESIDUAL_RISK, "") == (grade(ADD, DRAWN).verdict.note, grade(ADD, LOOP).verdict.note)


def test_the_evidence_holds_what_came_back_and_decides_again_without_a_sandbox(grade: Grade) -> None:
    """A corrected expected value judges the stored evidence anew. [O-18]"""
    evidence = grade(ADD, CALLS).evidence
    assert evidence is not None
    assert ['R["1"]', 'R["2"]', 'R["3"]'] == [case["said"] for case in evidence.data["cases"]]
    other = {**CALLS, "cases": [{"args": [n, 1], "expected": 1} for n in range(3)]}
    item = Item(id="a", input="Q", target=canonical_text(other), verifier={"name": "code"})
    verdict = judge(item, bind(item), Attempt(answer=""), evidence=evidence).verdict
    assert (False, 1.0) == (verdict.passed, verdict.measures["n_passed"])


def test_without_a_sandbox_the_verdict_is_void_and_says_why(store: Store) -> None:
    """Nothing ran, so nothing is counted. [S-19]"""
    item = Item(id="a", input="Q", target=canonical_text(CALLS), verifier={"name": "code"})
    verdict = judge(item, bind(item), Attempt(answer=ADD), kit=ProbeKit(store, None)).verdict
    assert (None, {}) == (verdict.passed, verdict.measures)
    assert 'no evidence: item "a" needs a sandbox and there is none; try --sandbox auto' == verdict.note


@pytest.mark.parametrize(
    "program",
    [
        "import sys, io\nsys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding='utf-8')\nprint(4)",
        "import sys\nsys.stdout.reconfigure(encoding='utf-8')\nprint(4)",
        "import sys, io\nsys.stdout = io.TextIOWrapper(sys.stdout.detach())\nprint(4)",
        "out = open(1, 'w')\nout.write('4\\n')",
        "out = open('/dev/stdout', 'w')\nprint(4, file=out)",
        "import sys, io\nout = sys.stdout\nsys.stdout = io.StringIO()\nprint(5)\nout.write('4\\n')",
        "class Late:\n    def __del__(self):\n        print(4)\nlate = Late()",
    ],
)
def test_whatever_way_a_program_prints_is_read(program: str, grade: Grade) -> None:
    """Streams that are wrapped anew, never closed or printed to at the very end; right answers all. [S-19]"""
    verdict = grade(program, {"mode": "stdin", "cases": [{"stdin": "", "stdout": "4\n"}]}).verdict
    assert (True, []) == (verdict.passed, verdict.misses)
