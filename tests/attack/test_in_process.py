"""Attacks 9 to 12: code under test that goes for the judge in its own process.

Under the strength `tests` some are caught, and those that cannot be are said in the note of every pass. The strength
`oracle` (verifier `code`) has no judge in that process, and refuses them all. Honest twins pass under both.
"""

from __future__ import annotations

from collections.abc import Callable

Outcomes = Callable[[dict[str, str]], dict[str, str]]
BUG = "def discount(price, percent):\n    return price - price * percent / 10\n"
FIX = "def discount(price, percent):\n    return price - price * percent / 100\n"

PATCHED = {
    "an assertion": "import unittest\nunittest.TestCase.assertEqual = lambda *a, **k: None\n",
    "the code of an assertion": "import unittest\n"
    "unittest.TestCase.assertEqual.__code__ = (lambda *a, **k: None).__code__\n",
    "the failure": "import unittest\nunittest.TestCase.failureException = type('E', (BaseException,), {})\n"
    "unittest.TestCase.fail = lambda *a, **k: None\n",
    "the run": "import unittest\nunittest.TestCase.run = lambda self, result=None: result.addSuccess(self)\n",
    "the result": "import unittest\nunittest.TestResult.addFailure = lambda *a, **k: None\n",
    "the outcome": "import unittest.case\nunittest.case._Outcome.testPartExecutor = lambda *a, **k: None\n",
    "the builtins": "import builtins\nbuiltins.AssertionError = KeyboardInterrupt\n",
    "the module": "import sys, types\nsys.modules['unittest'] = types.ModuleType('unittest')\n",
    "the test case": "import sys\ndef discount(*a):\n"
    "    type(sys._getframe(1).f_locals['self']).assertEqual = lambda *a, **k: None\n",
}
ALWAYS_EQUAL = (
    "class Yes(int):\n    def __eq__(self, other):\n        return True\n    def __ne__(self, other):\n"
    "        return False\n    __hash__ = int.__hash__\n    def __radd__(self, other):\n        return self\n"
)
WALKS = (
    "import sys\ndef discount(price, percent):\n    frame = sys._getframe(1)\n    while frame:\n"
    "        for value in list(frame.f_locals.values()) + list(frame.f_code.co_consts):\n"
    "            if type(value) is int and value in (90, 100, 120):\n                return value\n"
    "        frame = frame.f_back\n    return 0\n"
)
OVERWRITES = (
    "import atexit, os, threading, time\ndef forge():\n    for handle in range(3, 64):\n        try:\n"
    "            os.write(handle, b'passed\\n')\n        except OSError:\n            pass\n"
    "    for name in ('result.json', '../result.json', '/tmp/result.json', '/steelyard/report.json'):\n        try:\n"
    "            open(name, 'w').write('{\"passed\": true}')\n        except OSError:\n            pass\n"
)
FORGES_BY_FRAME = (
    "import os, sys\nframe = sys._getframe()\nwhile frame:\n    token = frame.f_locals.get('token')\n"
    "    if isinstance(token, str):\n        os.write(3, (token + ' passed \\n').encode())\n        os._exit(0)\n"
    "    frame = frame.f_back\n"
)


def test_attack_09_a_patched_framework_is_noticed(outcomes: Outcomes) -> None:
    """Assertions, results, builtins and the test's own class are compared with what they were. [O-4]"""
    uses = (
        "import unittest\nfrom unittest import mock\nclass Own(unittest.TestCase):\n    maxDiff = None\n"
        "with mock.patch('builtins.print') as quiet:\n    print('x')\n"
    )
    hostile = {name: code if "def discount" in code else code + BUG for name, code in PATCHED.items()}
    found = outcomes({**hostile, "honest": uses + FIX})
    assert "passed" == found.pop("honest")
    assert set(found.values()) <= {"harness-tampered", "test-failed"}


SWAPS = (
    "import sys, types, unittest\nclass TestCase(unittest.TestCase):\n    {}\n"
    "fake = types.ModuleType('unittest')\nfake.TestCase = TestCase\nframe = sys._getframe()\nwhile frame:\n"
    "    if str(frame.f_globals.get('__name__')).startswith('tests.test_'):\n"
    "        frame.f_globals['unittest'] = fake\n    frame = frame.f_back\n"
)
SWAPPED = {
    "no assertion": "def assertEqual(self, *a, **k): pass",
    "an assertion for some": "def assertEqual(self, a, b, m=None): a < 1 or super().assertEqual(a, b, m)",
    "a builtin": "assertEqual = print",
    "a descriptor": "import functools; assertEqual = functools.partialmethod(lambda *a: None)",
    "a property": "assertEqual = property(lambda self: lambda a, b: None if a < 1 else self.fail())",
    "another run": "def run(self, result=None): result.testsRun += 1; result.addSuccess(self)",
    "another call": "def _callTestMethod(self, method): pass",
    "a lookup": "def __getattribute__(self, name):\n        found = super().__getattribute__(name)\n"
    "        return (lambda *a: None) if name == 'assertEqual' else found",
    "another test": "def __init_subclass__(cls): cls.test = lambda self: None",
}


def test_attack_09_another_test_case_in_the_place_of_the_framework_s(outcomes: Outcomes) -> None:
    """What the framework calls of a test's class must be the tests' own or the interpreter's. [O-4]"""
    found = outcomes({**{name: SWAPS.format(code) + BUG for name, code in SWAPPED.items()}, "honest": FIX})
    assert "passed" == found.pop("honest")
    assert {"harness-tampered"} == set(found.values())


def test_attack_10_objects_that_lie_about_equality(outcomes: Outcomes) -> None:
    """An `__eq__` that is always true beats assertions in its own process; each pass says so (`outcomes`). [O-4]"""
    own = "class Price(float):\n    def __eq__(self, other):\n        return float(self) == float(other)\n"
    found = outcomes(
        {
            "always": ALWAYS_EQUAL + "def discount(*a):\n    return Yes()\n",
            "a length": "class Yes(list):\n    def __len__(self):\n        return 90\n"
            "def discount(*a):\n    return Yes()\n",
            "honest": FIX + own + "first = discount\ndef discount(*a):\n    return Price(first(*a))\n",
        }
    )
    assert ("passed", "test-failed") == (found["honest"], found["a length"])


def test_attack_11_what_is_found_in_frames(outcomes: Outcomes) -> None:
    """Constants of the test and the means to report are in its process; every pass says so (`outcomes`). [O-4]"""
    looks = "import inspect, traceback\nwhere = [f.name for f in traceback.extract_stack()]\nnow = inspect.stack()\n"
    found = outcomes({"constants": WALKS, "a report": FORGES_BY_FRAME + BUG, "honest": looks + FIX})
    assert "passed" == found["honest"]


def test_attack_12_a_result_cannot_be_overwritten(outcomes: Outcomes) -> None:
    """From an exit hook, a thread or at import: nothing that can be written to is the result. [O-4]"""
    ends = (
        "import atexit, threading, time\natexit.register(print, 'bye')\n"
        "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    )
    ways = {
        "an exit hook": "atexit.register(forge)\n",
        "a thread": "threading.Thread(target=forge, daemon=True).start()\n",
        "at import": "forge()\n",
        "at import and gone": "forge()\nos._exit(0)\n",
    }
    found = outcomes({**{name: OVERWRITES + way + BUG for name, way in ways.items()}, "honest": ends + FIX})
    assert "passed" == found.pop("honest")
    assert set(found.values()) <= {"harness-tampered", "test-failed"}
