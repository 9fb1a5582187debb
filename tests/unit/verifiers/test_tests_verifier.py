"""A project's own tests as a verifier, in a real sandbox, against the exploits that beat simpler graders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from steelyard.attempt import Attempt, Change, Diff
from steelyard.errors import InputError
from steelyard.item import Item
from steelyard.judging import judge
from steelyard.kit import ProbeKit
from steelyard.ports import Sandbox
from steelyard.store import Store, inline
from steelyard.verdict import Evidence, Verdict
from steelyard.verifiers.contract import Script
from steelyard.verifiers.registry import bind
from steelyard.verifiers.tests import RESIDUAL_RISK

BUG = "def discount(price, percent):\n    return price - price * percent / 10\n"
FIX = "def discount(price, percent):\n    return price - price * percent / 100\n"
TESTS = """import unittest
from shop.prices import discount

class TestPrices(unittest.TestCase):
    def test_discount(self):
        self.assertEqual(discount(100, 10), 90)

    def test_zero(self):
        self.assertEqual(discount(100, 0), 100)
"""
BASE = {"shop/__init__.py": "", "shop/prices.py": BUG, "tests/__init__.py": "", "tests/test_prices.py": TESTS}
IDS = ["tests.test_prices.TestPrices.test_discount", "tests.test_prices.TestPrices.test_zero"]
HIDDEN = """import unittest
from shop.prices import discount

class TestHalf(unittest.TestCase):
    def test_half(self):
        self.assertEqual(discount(50, 50), 25)
"""

Judge = Callable[..., Verdict]


def _item(base: dict[str, str] | None = None, **config: Any) -> Item:
    files = {path: inline(text) for path, text in (BASE if base is None else base).items()}
    return Item(id="a", input="Q", verifier={"name": "tests", "ids": IDS, **config}, files=files)


@pytest.fixture
def grade(bubblewrap: Sandbox, store: Store) -> Judge:
    """Judge workspace changes in a fresh bubblewrap session."""
    kit = ProbeKit(store, bubblewrap)

    def run(changes: dict[str, Any], item: Item | None = None, **config: Any) -> Verdict:
        item = item or _item(**config)
        found = {
            path: Change("deleted")
            if text is None
            else Change("modified" if path in item.files else "added", store.put(text))
            for path, text in changes.items()
        }
        return judge(item, bind(item), Attempt(workspace=Diff(found)), kit=kit).verdict

    return run


def _misses(verdict: Verdict) -> set[str]:
    return {miss.name for miss in verdict.misses}


@pytest.mark.bubblewrap
def test_the_untouched_bug_fails_and_the_honest_fix_passes_with_the_residual_risk_said(grade: Judge) -> None:
    """Each failing id is named; a pass says what in-process grading cannot rule out. [O-2, O-7]"""
    verdict = grade({})
    assert [f"{IDS[0]}: AssertionError: 0.0 != 90"] == [miss.detail for miss in verdict.misses]
    verdict = grade({"shop/prices.py": FIX})
    assert (True, RESIDUAL_RISK) == (verdict.passed, verdict.note)


EXPLOITS = {
    "a root-level unittest.py": ({"unittest.py": "class TestCase:\n    run = lambda *a: None\n"}, "test-failed"),
    "a root-level json.py": ({"json.py": "import os\nos._exit(0)\n"}, "test-failed"),
    "os._exit in the package": ({"shop/__init__.py": "import os\nos._exit(0)\n"}, "crashed"),
    "sys.exit in the package": ({"shop/__init__.py": "import sys\nsys.exit(0)\n"}, "test-failed"),
    "an added test that patches asserts": (
        {"tests/test_aaa.py": "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n"},
        "test-failed",
    ),
    "the tested module patches asserts": (
        {"shop/prices.py": "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n" + BUG},
        "harness-tampered",
    ),
    "the code of an assert is swapped": (
        {
            "shop/prices.py": "import unittest\nunittest.TestCase.assertEqual.__code__ = (lambda *a: None).__code__\n"
            + BUG
        },
        "harness-tampered",
    ),
    "the test's own class is patched": (
        {
            "shop/prices.py": "import sys\ndef discount(*a):\n"
            "    type(sys._getframe(1).f_locals['self']).assertEqual = lambda *a: None\n"
        },
        "harness-tampered",
    ),
    "the test's instance is patched": (
        {"shop/prices.py": "import sys\ndef discount(*a):\n  sys._getframe(1).f_locals['self'].assertEqual = print\n"},
        "harness-tampered",
    ),
    "the equality of a type is replaced": (
        {
            "shop/prices.py": "import sys\ndef discount(*a):\n"
            "    sys._getframe(1).f_locals['self']._type_equality_funcs[int] = lambda *a, **k: None\n    return 1\n"
        },
        "harness-tampered",
    ),
    "a builtin is replaced": (
        {"shop/prices.py": "import builtins\nbuiltins.isinstance = lambda *a: True\n" + BUG},
        "harness-tampered",
    ),
    "unittest is replaced in sys.modules": (
        {"shop/prices.py": "import sys, types\nsys.modules['unittest'] = types.ModuleType('unittest')\n" + BUG},
        "harness-tampered",
    ),
    "the test module is replaced in sys.modules": (
        {
            "shop/prices.py": "import sys, types, unittest\nclass TestPrices(unittest.TestCase):\n"
            "    def test_discount(self): pass\n    test_zero = test_discount\n"
            "fake = types.ModuleType('tests.test_prices')\nfake.TestPrices = TestPrices\n"
            "sys.modules['tests.test_prices'] = fake\n" + BUG
        },
        "test-failed",
    ),
    "tests are rewritten while they run": (
        {"shop/prices.py": "open('tests/test_prices.py', 'w').write('import unittest\\n')\n" + BUG},
        "harness-tampered",
    ),
    "a report is forged": (
        {"shop/prices.py": "import os\nprint('Ran 2 tests\\nOK')\nos.write(3, b'passed\\n')\nos._exit(0)\n"},
        "harness-tampered",
    ),
    "the runner is killed": ({"shop/prices.py": "import os\nos.kill(os.getppid(), 9)\n" + FIX}, "test-failed"),
    "sitecustomize and conftest": (
        {"sitecustomize.py": "import os\nos._exit(0)\n", "conftest.py": "1", "x.pth": "import os"},
        "test-failed",
    ),
    "the test file is edited": ({"tests/test_prices.py": "import unittest\n", "shop/prices.py": FIX}, "tests-edited"),
    "the test file is deleted": ({"tests/test_prices.py": None, "shop/prices.py": FIX}, "tests-edited"),
    "memory": ({"shop/prices.py": "x = b'x' * (2 << 30)\n" + FIX}, "crashed"),
}


@pytest.mark.bubblewrap
@pytest.mark.parametrize("exploit", EXPLOITS)
def test_an_exploit_fails_with_its_miss(exploit: str, grade: Judge) -> None:
    """None of the ways around the tests passes. [O-4]"""
    changes, miss = EXPLOITS[exploit]
    verdict = grade(changes)
    assert verdict.passed is False
    assert miss in _misses(verdict)


@pytest.mark.bubblewrap
def test_what_the_submission_cannot_reach_is_refused_by_the_system(grade: Judge) -> None:
    """The runner's memory, descriptors and environment are closed to the code that it runs."""
    for name in ("mem", "fd/0", "fd/1", "environ"):
        code = f"import os\nopen(f'/proc/{{os.getppid()}}/{name}', 'rb').read(1)\n" + FIX
        verdict = grade({"shop/prices.py": code})
        assert "PermissionError" in verdict.misses[0].detail


@pytest.mark.bubblewrap
@pytest.mark.parametrize(
    "code", ["while True: pass\n", "import os\nwhile True: os.write(1, b'x' * 65536)\n"], ids=["loop", "flood"]
)
def test_running_out_of_time_is_the_submissions_failure(code: str, grade: Judge) -> None:
    """A loop and a flood of output are timed out and still reported. [O-22]"""
    verdict = grade({"shop/prices.py": code}, timeout_s=1)
    assert (False, {"timed-out"}) == (verdict.passed, _misses(verdict))


@pytest.mark.bubblewrap
def test_honest_work_that_leaves_something_behind_passes(grade: Judge) -> None:
    """A daemon is ended, a new test of the model's own is left out and said, prints do not matter."""
    daemon = "import os, time\nif os.fork() == 0:\n    time.sleep(100)\n    os._exit(0)\nprint('hello')\n"
    verdict = grade({"shop/prices.py": daemon + FIX, "tests/test_mine.py": "import shop\n", "unittest.py": "1 / 0\n"})
    assert verdict.passed
    assert ["left out: tests/test_mine.py"] == verdict.warnings


@pytest.mark.bubblewrap
def test_a_test_suite_that_uses_what_unittest_offers_is_no_tampering(grade: Judge) -> None:
    """Class fixtures, mocks, patches that are undone, own assertions and settings of the case are ordinary."""
    tests = (
        "import unittest\nfrom unittest import mock\nunittest.TestCase.maxDiff = None\n"
        "class Base(unittest.TestCase):\n    longMessage = False\n"
        "    @classmethod\n    def setUpClass(cls):\n"
        "        cls.make = mock.Mock(return_value=3)\n        cls.kind = int\n"
        "    def setUp(self):\n        self.call = len\n        self.addTypeEqualityFunc(list, 'assertListEqual')\n"
        "    def assertThree(self, value):\n        self.assertEqual(value, 3)\n"
        "class T(Base):\n    def test_all(self):\n        self.assertThree(self.make())\n"
        "        with mock.patch('builtins.open') as fake, mock.patch.object(T, 'assertThree'):\n"
        "            open('x')\n"
        "        fake.assert_called_once()\n        with self.assertRaises(ValueError):\n            int('x')\n"
        "class Later(unittest.IsolatedAsyncioTestCase):\n"
        "    async def test_async(self):\n        self.assertTrue(True)\n"
    )
    item = _item({"t.py": tests}, ids=["t.T.test_all", "t.Later.test_async"], protect=["t.py"])
    assert [] == grade({}, item).misses


@pytest.mark.bubblewrap
def test_edited_tests_are_put_back_when_the_item_says_so(grade: Judge) -> None:
    """`restore` grades with the originals and warns. [F-17]"""
    changes = {"tests/test_prices.py": "import unittest\n"}
    verdict = grade({**changes, "shop/prices.py": FIX}, on_tamper="restore")
    assert (True, ["put back: tests/test_prices.py"]) == (verdict.passed, verdict.warnings)
    assert {"test-failed"} == _misses(grade(changes, on_tamper="restore"))


@pytest.mark.bubblewrap
def test_a_hidden_test_is_laid_over_at_grading_only(grade: Judge) -> None:
    """A file of the model at the hidden test's path is no test. [O-5]"""
    config = {"ids": ["tests.test_half.TestHalf.test_half"], "hidden": {"tests/test_half.py": inline(HIDDEN)}}
    fake = HIDDEN.replace("25", "discount(50, 50)")
    assert grade({"shop/prices.py": FIX}, **config).passed
    assert {"test-failed"} == _misses(grade({"tests/test_half.py": fake}, **config))


@pytest.mark.bubblewrap
def test_a_new_file_that_an_import_would_prefer_to_a_test_is_left_out(grade: Judge) -> None:
    """A package beside the module, or a module beside the tests' folder, shadows nothing."""
    base = {path: text for path, text in BASE.items() if path != "tests/__init__.py"}
    changes = {
        "tests/test_prices/__init__.py": "1 / 0\n",
        "tests.py": "1 / 0\n",
        "tests/__init__.py": "1 / 0\n",
        "tests/test_prices.so": "x",
        "shop/prices.py": FIX,
    }
    assert grade(changes, _item(base, protect=["tests/test_*.py"])).passed


@pytest.mark.bubblewrap
def test_a_folder_named_like_a_standard_module_is_still_the_trees(grade: Judge) -> None:
    """`test` is the tree's `test`, not the standard library's; `src` may be the root of imports."""
    base = {"src/test/test_prices.py": TESTS, "src/shop/prices.py": BUG}
    ids = ["test.test_prices.TestPrices.test_discount"]
    item = _item(base, ids=ids, roots=["src"], protect=["src/test/**"])
    assert grade({"src/shop/prices.py": FIX}, item).passed
    assert {"test-failed"} == _misses(grade({}, item))


@pytest.mark.bubblewrap
def test_a_test_that_is_not_there_is_skipped_or_errs_is_not_passed(grade: Judge) -> None:
    """Every expected id needs its own positive report. [O-2]"""
    tests = (
        "import unittest\nclass T(unittest.TestCase):\n    @unittest.skip('later')\n    def test_skipped(self): pass\n"
        "    @unittest.expectedFailure\n    def test_unexpected(self): pass\n"
        "    def test_sub(self):\n        with self.subTest(i=1):\n            self.fail('no')\n"
        "    def test_err(self): 1 / 0\n    def test_ok(self): pass\nclass U: pass\n"
    )
    names = ["T.test_skipped", "T.test_unexpected", "T.test_sub", "T.test_err", "T.test_ok", "T.test_gone", "U.test_x"]
    item = _item({"t.py": tests}, ids=[f"t.{name}" for name in names] + ["v.T.test_a"], protect=["t.py"])
    misses = {miss.detail.split(":")[0]: miss.name for miss in grade({}, item).misses}
    failed = dict.fromkeys(["t.T.test_skipped", "t.T.test_unexpected", "t.T.test_sub", "t.T.test_err"], "test-failed")
    missing = dict.fromkeys(["t.T.test_gone", "t.U.test_x", "v.T.test_a"], "test-missing")
    assert {**failed, **missing} == misses


@pytest.mark.bubblewrap
def test_its_own_spoils_fail_as_named(grade: Judge) -> None:
    """A shadowed unittest and an emptied test need no knowledge of the project."""
    bound = bind(_item())
    for name, spoil in bound.verifier.spoil.items():
        made = spoil.make("", bound.config, "")
        assert isinstance(made, Script)
        assert _misses(grade(made.changes)) & set(spoil.misses), name


def _evidence(**data: Any) -> Evidence:
    passed = {"results": {test_id: ["passed", ""] for test_id in IDS}, "tampered": [], "dropped": []}
    return Evidence({**passed, "why": "exit", "rc": 0, "output_tail": "", **data})


@pytest.mark.parametrize(
    ("data", "passed", "misses"),
    [
        ({}, True, set()),
        ({"results": None, "why": "infra"}, None, set()),
        ({"results": None, "why": "timeout", "rc": None}, False, {"timed-out"}),
        ({"results": None, "why": "oom"}, False, {"crashed"}),
        ({"results": None}, False, {"crashed"}),
        ({"results": {}}, False, {"test-missing"}),
        ({"results": {IDS[0]: ["passed", ""]}}, False, {"test-missing"}),
        ({"results": {test_id: ["nonsense", ""] for test_id in IDS}}, False, {"harness-tampered"}),
        ({"tampered": ["tests/a.py"]}, False, {"tests-edited"}),
    ],
)
def test_evidence_decides_and_a_broken_sandbox_is_void(
    data: dict[str, Any], passed: bool | None, misses: set[str]
) -> None:
    """No report is a failure with its reason; only the sandbox's own fault is void. [O-2]"""
    verdict = bind(_item()).decide(_evidence(**data))
    assert (passed, misses) == (verdict.passed, _misses(verdict))


def test_without_a_sandbox_the_verdict_is_void(tmp_path: Any) -> None:
    """A missing sandbox says nothing about the submission."""
    item = _item()
    verdict = judge(item, bind(item), Attempt(), kit=ProbeKit(Store(tmp_path), None)).verdict
    assert verdict.passed is None
    assert "sandbox" in verdict.note


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"ids": []}, "needs the ids"),
        ({"ids": ["test_prices"]}, "package.module.Class.method"),
        ({"ids": ["a.B.c; import os"]}, "package.module.Class.method"),
        ({"ids": [IDS[0], IDS[0]]}, "same test id twice"),
        ({"timeout_s": 0}, "timeout_s must be positive"),
        ({"hidden": {"../x.py": inline("")}}, "relative"),
        ({"protect": ["/tests"]}, "relative"),
        ({"on_tamper": "shrug"}, "on_tamper"),
    ],
)
def test_a_config_that_cannot_work_is_refused_when_it_is_loaded(config: dict[str, Any], said: str) -> None:
    """Ids, paths and times are checked at load."""
    with pytest.raises(InputError, match=said):
        bind(_item(**config))


def test_evidence_is_plain_json() -> None:
    """What was seen decides again after a round trip."""
    bound = bind(_item())
    again = msgspec.json.decode(msgspec.json.encode(_evidence()), type=Evidence)
    assert bound.decide(_evidence()) == bound.decide(again)


def test_what_is_left_out_and_what_was_tampered_with_are_told_apart() -> None:
    """Originals and protected files are tampered with, files that steer are dropped, the rest is graded. [O-4]"""
    from steelyard.attempt import Change, Diff
    from steelyard.verifiers.tests import TestsConfig, _graded

    base = {"tests/test_a.py": "1", "a.py": "2", "checks/b.py": "3"}
    diff = Diff(
        {
            path: Change("modified", "9")
            for path in (
                "a.py",
                "tests/test_a.py",
                "tests/new.py",
                "checks/b.py",
                "conftest.py",
                "checks/b.so",
                "docs/x.md",
            )
        },
        {"tests/link": "a symbolic link", "a.lnk": "a symbolic link"},
    )
    config = TestsConfig(ids=("checks.b.T.m",), allow=("*.py",))
    found = _graded(base, diff, config, {"checks.b.T.m": "checks/b.py"})
    assert ["a.py"] == list(found["changes"])
    assert ["checks/b.py", "tests/test_a.py"] == found["tampered"]
    assert ["a.lnk", "checks/b.so", "conftest.py", "docs/x.md", "tests/link", "tests/new.py"] == found["dropped"]
    gone = _graded(base, Diff({}, {"tests/test_a.py": "a symbolic link"}), config, {})
    assert (["tests/test_a.py"], []) == (gone["tampered"], gone["dropped"])


def test_files_that_an_import_would_prefer_are_named_by_globs() -> None:
    """A folder or a compiled file beside the module, and the same beside each of its packages. [O-4]"""
    from steelyard.verifiers.tests import _IMPORTABLE, _shadows

    beside = [f"pkg/test_a.{suffix}" for suffix in _IMPORTABLE]
    package = [f"pkg.{suffix}" for suffix in _IMPORTABLE]
    inits = [f"pkg/__init__.{suffix}" for suffix in _IMPORTABLE]
    assert ["pkg/test_a/**", *beside, *package, *inits] == _shadows("pkg/test_a.py", (".",), {})
    assert ["pkg/test_a/**", *beside, *package] == _shadows("pkg/test_a.py", (".",), {"pkg/__init__.py": "1"})
    assert ["pkg/test_a/**", *beside] == _shadows("pkg/test_a.py", ("pkg",), {})
    assert [*inits, *package] == _shadows("pkg/__init__.py", (".",), {"pkg/__init__.py": "1"})


@pytest.mark.parametrize(("roots", "path"), [((".",), "pkg/test_a.py"), (("src", "."), "src/pkg/test_a.py")])
def test_the_first_expected_test_is_the_one_that_is_emptied(roots: tuple[str, ...], path: str) -> None:
    """The spoil rewrites the module of the first id, under the first root. [O-4]"""
    from steelyard.verifiers.tests import TestsConfig, _spoil_emptied

    script = _spoil_emptied("", TestsConfig(ids=("pkg.test_a.One.test_x", "pkg.test_b.Two.test_y"), roots=roots), "")
    assert [path] == list(script.changes)
    assert "class One(unittest.TestCase):\n    def test_x(self):\n        pass\n" in str(script.changes[path])
