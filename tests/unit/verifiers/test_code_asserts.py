"""Deciding assertions outside, comparing values of every kind, and tests that no program can pass."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from steelyard.canonical import canonical_text
from steelyard.errors import InputError
from steelyard.verdict import Evidence, Verdict
from steelyard.verifiers.code_asserts import assertions_of, holds
from steelyard.verifiers.code_inside import completed, unbound
from steelyard.verifiers.code_plan import plan_of
from steelyard.verifiers.code_reckoning import Reckoner, check_supported
from steelyard.verifiers.code_values import Rules, decode, same
from steelyard.verifiers.code_work import UnsupportedError
from steelyard.verifiers.registry import bind_spec

WORKED_OUT: list[tuple[str, Any]] = [
    ("'%.2f' % x", 1.234),
    ("'%d items' % x", 3),
    ("'%s: %5d' % (x, 7)", "a"),
    ("'%(a)s' % x", {"a": 1}),
    ("b'%d' % x", 3),
    ("x % 7", -3),
    ("x % 2.5", 7),
    ("{**x}", {"a": 1}),
    ("{**x, 'b': 2}", {"a": 1}),
    ("{'a': 0, **x}", {"a": 1}),
    ("frozenset({1}).issubset(x)", {1, 2}),
    ("x.issubset({1, 2})", frozenset({1})),
    ("x.symmetric_difference({1})", {1, 2}),
    ("x.union([3])", {1}),
    ("x.count(1)", [1, 1]),
    ("x.count(b'a')", b"aba"),
    ("x.split(',')", "a,b"),
    ("x.startswith(b'a')", b"ab"),
    ("','.join(x)", ["a", "b"]),
    ("b','.join(x)", [b"a", b"b"]),
    ("x.index(2)", (1, 2)),
    ("range(5).count(x)", 3),
    ("sorted(x.items())", {"b": 1, "a": 2}),
    ("set(x.keys()) | {'z'}", {"a": 1}),
    ("x.get('b', 0)", {"a": 1}),
    ("x.isalnum() and x.isspace()", "ab1"),
    ("x[1:]", [1, 2, 3]),
    ("x[::-1]", "abc"),
    ("x[-1]", (1, 2)),
    ("[*x, 3]", [1, 2]),
    ("max(*x)", [1, 2]),
    ("max(x, key=len)", ["a", "bb"]),
    ("sorted(x, key=lambda p: (p[1], -p[0]), reverse=True)", [(1, 1), (2, 1)]),
    ("[a + b for a, b in x if a]", [(1, 2), (0, 5)]),
    ("[a for [a, (b, c)] in x]", [(1, (2, 3))]),
    ("{k: v for k, v in zip(x, range(3))}", "abc"),
    ("{n % 2 for n in x}", [1, 2, 3]),
    ("sum(n * n for n in x)", [1, 2]),
    ("any(n > 1 for n in x) or x[5]", [1, 2]),
    ("list(map(lambda n: n + 1, x))", [1, 2]),
    ("list(filter(None, x))", [0, 1]),
    ("list(reversed(x))", [1, 2]),
    ("list(enumerate(x))", "ab"),
    ("round(x, 2)", 3.14159),
    ("pow(x, 3, 5)", 2),
    ("pow(x, 3)", 2),
    ("abs(x) // 2 ** 2 << 0 if x < 0 else 0", -9),
    ("x & 3 | 4 ^ 1", 7),
    ("~x >> 1", 8),
    ("not -x or +x", 0),
    ("1 < x < 3", 2),
    ("x is None", None),
    ("type(x) is list", [1]),
    ("isinstance(x, (int, float))", True),
    ("isinstance(x, int | str)", 1.5),
    ("x in 'abc'", "b"),
    ("x not in [1, 2]", 3),
    ("math.sqrt(x) + math.pi", 4.0),
    ("math.isclose(x, 0.3, rel_tol=1e-9)", 0.1 + 0.2),
    ("copy.deepcopy(x)", [1]),
    ("dict(a=1, b=x)", 2),
    ("str(x) + chr(ord('a'))", [1]),
    ("int(x, 2)", "101"),
    ("x * 3", "ab"),
    ("{x: 1, 'b': 2}", "a"),
    ("x.real", 1j),
    ("x.keys() == {'a'}", {"a": 1}),
]


@pytest.mark.parametrize(("text", "value"), WORKED_OUT)
def test_what_is_let_through_has_the_value_that_it_has_in_python(text: str, value: Any) -> None:
    """An expression is either refused before a value is known, or worked out as Python would. [S-19]"""
    node = ast.parse(text, mode="eval").body
    modules = {"math": __import__("math"), "copy": __import__("copy")}
    expected = eval(text, {**modules, "x": value})
    try:
        check_supported(node, ["x"])
    except UnsupportedError:
        assert text in ("abs(x) // 2 ** 2 << 0 if x < 0 else 0", "x.real")
    else:
        found = Reckoner({"x": value}, None).value(node)
        assert (expected, type(expected)) == (found, type(found))


@pytest.mark.parametrize(
    "text",
    [
        "f'{x:.2f}'",
        "format(x, '.2f')",
        "sqrt(x)",
        "math.factorial(x)",
        "math.nothing(x)",
        "x == math",
        "x == math.sqrt",
        "max(**x)",
        "[a for a, *b in x]",
        "sorted(x, key=lambda a, b=1: a)",
        "x[1:2, 3]",
        "x.append(1)",
        "x << 1",
        "(y := x)",
        "x is [1]",
    ],
)
def test_what_is_not_worked_out_is_refused_before_a_value_is_known(text: str) -> None:
    """An assertion that could never hold outside runs inside instead. [S-19]"""
    with pytest.raises(UnsupportedError):
        check_supported(ast.parse(text, mode="eval").body, ["x"])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'%5000d' % x", 1),
        ("'%*d' % (x, 1)", 10**9),
        ("x % 5", "%9999999d"),
        ("x % 5", "%d" * 101),
        ("x.join(x)", "a" * 5000),
        ("'a' * x", 10**9),
    ],
)
def test_work_without_a_bound_is_refused(text: str, value: Any) -> None:
    """A value that a program chose cannot make the verifier take long or much memory. [S-19]"""
    with pytest.raises(UnsupportedError):
        Reckoner({"x": value}, None).value(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize(
    ("test", "value", "expected"),
    [
        ("assert f(0) != 1", True, False),
        ("assert f(0) != 5", 5.0, False),
        ("assert f(0) != 5", 6, True),
        ("assert not (f(0) == 1)", True, False),
        ("assert not f(0) == 1", 2, True),
        ("assert f(0) not in [1, 2]", True, False),
        ("assert f(0) in [1, 2]", True, False),
        ("assert f(0) in (4, 5)", 5.0, False),
        ("assert f(0) in {4, 5}", 5, True),
        ("assert f(0) in range(6)", 5.0, False),
        ("assert f(0) in {4: 1}", 4, True),
        ("assert f(0) in ['a', None]", None, True),
        ("assert f(0) in 'abc'", "b", True),
        ("assert f(0) in [[1], (1,)]", [True], False),
        ("assert sum(n == 1 for n in f(0)) == 2", [1, 1, True], False),
        ("assert {'a'} == f(0).keys()", {"a"}, True),
    ],
)
def test_a_type_is_held_to_wherever_two_values_are_compared(test: str, value: Any, expected: bool) -> None:
    """`!=`, `not` and `in` hold where both the rules of types and Python's own comparison say so. [S-19]"""
    found = assertions_of(test, "f")
    assert found is not None
    assert [expected] == [holds(assertion, [value], Rules()) for assertion in found]


TOL, EQUAL, JSON = Rules(1e-6), Rules(equal_numbers=True), Rules(as_json=True)


@pytest.mark.parametrize(
    ("got", "want", "rules", "expected"),
    [
        ({(True,)}, {(1,)}, Rules(), False),
        ({(1.0, 2)}, {(1, 2)}, Rules(), False),
        ({(1, 2)}, {(1, 2)}, Rules(), True),
        ({frozenset({True})}, {frozenset({1})}, Rules(), False),
        ({(True,): 1}, {(1,): 1}, Rules(), False),
        ({1.0, 2}, {1, 2}, EQUAL, True),
        ({(1.0, "a")}, {(1, "a")}, EQUAL, True),
        ({True, 2}, {1, 2}, EQUAL, False),
        ({0.1 + 0.2, 5}, {0.3, 5}, TOL, True),
        ({0.1 + 0.2, 6}, {0.3, 5}, TOL, False),
        ({(0.1 + 0.2, "a"), (0.5, "b")}, {(0.3, "a"), (0.5, "b")}, TOL, True),
        ({(0.1 + 0.2, "a")}, {(0.3, "b")}, TOL, False),
        ({float(n) + 1e-9 for n in range(1000)}, {float(n) for n in range(1000)}, TOL, True),
        ({0.1 + 0.2}, {0.3}, Rules(), False),
        ({1: 9, "1": 2}, {"1": 2}, JSON, False),
        ({1: 2}, {"1": 2}, JSON, True),
        ({10**6000: 2}, {"1": 2}, JSON, False),
        (10**400, 1.5, TOL, False),
        ([10**400], [1.5], TOL, False),
        (10**400, float("inf"), TOL, False),
        ({"a": 1}.keys(), {"a"}, Rules(), True),
    ],
)
def test_members_and_keys_are_compared_as_values_are(got: Any, want: Any, rules: Rules, expected: bool) -> None:
    """Exact types, equal numbers and tolerances reach into sets; no number is too large to compare. [S-19]"""
    assert expected is same(got, want, rules)


@pytest.mark.parametrize(
    "text",
    [
        '{"$float":1' + "0" * 400 + "}",
        '{"$complex":[1' + "0" * 400 + ",0]}",
        '{"$complex":[]}',
        '{"$complex":["a",1]}',
        '{"$float":"x"}',
        '{"$int":1.5}',
        '{"$int":null}',
        '{"$tuple":null}',
        '{"$tuple":"ab"}',
        '{"$bytes":{}}',
        '{"$set":[[1]]}',
        '{"$dict":[[1,2,3]]}',
        "[" * 450 + "]" * 450,
        "[" * 100_000,
        "1" + "0" * 5000,
        "NaN",
    ],
)
def test_a_reply_that_no_runner_writes_is_a_failure_of_the_program(text: str) -> None:
    """Whatever stands where a result should be is refused as such, and the verdict is a fail, never a crash. [S-19]"""
    with pytest.raises(InputError):
        decode(text)
    case = {"late": "", "code": 0, "said": f"R[{canonical_text(text)}]", "ms": 1}
    target = {"mode": "function", "entry_point": "f", "cases": [{"args": [], "expected": 1.5}]}
    verdict = _decided(target, case, float_tol=1e-6)
    assert (False, ["crashed"]) == (verdict.passed, [miss.name for miss in verdict.misses])


def _decided(target: dict[str, Any], case: dict[str, Any], unbound: tuple[str, ...] = (), **config: Any) -> Verdict:
    seen = {"rule": "whole", "reason": "", "stopped": "", "why": "exit", "rc": 3, "output_tail": "", "cases": [case]}
    bound = bind_spec({"name": "code", **config}, canonical_text(target))
    verdict = bound.decide(Evidence({**seen, "unbound": list(unbound)}))
    assert isinstance(verdict, Verdict)
    return verdict


@pytest.mark.parametrize(
    ("tests", "words"),
    [
        (["import nosuchmodule", "assert f(1) == 1"], "no nosuchmodule is there"),
        ("import random\ndef test_f():\n    import numpy as np\n    assert f(1) == 1", "no numpy is there"),
        ("import random\nfrom pytest import approx\nassert f(1) == approx(1)", "no pytest is there"),
        (["assert f(1) == 1", "assert 1 == 2"], '"assert 1 == 2" does not hold'),
        (["import random", "assert f(1) == 1", "assert 1 == 2"], '"assert 1 == 2" does not hold'),
        ("for n in [1, 2]:\n    assert n == 1\n    assert f(n) == n", "does not hold, whatever the program does"),
        ("assert f(1) == 1 / 0", '"1 / 0" raises ZeroDivisionError'),
        ("import random\nassert f(1) == 1 / 0", '"1 / 0" raises ZeroDivisionError'),
        ("x = {}\nassert f(1) == x['a']", "raises KeyError"),
        ("assert f(1) == max([])", "raises ValueError"),
        ("def test_f(tmp_path):\n    assert f(1) == 1", "nothing says what its tmp_path is"),
        ("async def test_f():\n    assert f(1) == 1", "nothing runs the coroutine test_f"),
        ("class TestF:\n    def setup_method(self): ...\n    def test_a(self):\n        assert f(1)", "setup methods"),
    ],
)
def test_a_test_that_no_program_can_pass_is_refused_when_it_is_bound(tests: Any, words: str) -> None:
    """An author's own fault is named with its place; a broken grader never counts against a program. [S-19]"""
    target = canonical_text({"mode": "assert", "entry_point": "f", "tests": tests})
    with pytest.raises(InputError, match='verifier "code": tests: ') as caught:
        bind_spec({"name": "code"}, target)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "tests",
    [
        "assert f(1) == 1 or 1 / 0",
        "assert f(1) if f(2) else 1 / 0",
        "assert all(n == [][0] for n in f(1))",
        "import random\ntry:\n    import numpy\nexcept ImportError:\n    pass\nassert f(1) == 1",
        "from solution import f\nassert f(1) == 1",
        "import random\nif False:\n    assert 1 == 2\nassert f(1) == 1",
        "import random\ndef test(x):\n    assert f(x) == x\ntest(1)",
    ],
)
def test_a_test_that_a_program_may_pass_is_not_refused(tests: str) -> None:
    """Only what is worked out whatever a program does can be an author's fault."""
    assert plan_of(canonical_text({"mode": "assert", "entry_point": "f", "tests": tests})).cases


HELPED = {"mode": "assert", "entry_point": "f", "tests": ["assert f(1) == helper(1)"]}


@pytest.mark.parametrize(
    ("said", "unbound", "passed"),
    [
        ("ENameError: name 'helper' is not defined", ("helper",), None),
        ("ENameError: name 'helper' is not defined. Did you mean: 'help'?", ("helper",), None),
        ("ENameError: name 'helper' is not defined", (), False),
        ("ENameError: name 'other' is not defined", ("helper",), False),
        ("Nf", ("helper",), False),
        ("EValueError: name 'helper' is not defined", ("helper",), False),
    ],
)
def test_a_name_that_neither_test_nor_program_has_is_void(
    said: str, unbound: tuple[str, ...], passed: bool | None
) -> None:
    """A test that stumbles over its own name says nothing about the program; the entry point is its own. [S-19]"""
    case = {"late": "", "code": 0, "said": said, "ms": 1}
    assert passed is _decided(HELPED, case, unbound).passed


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("assert f(1) == helper(1)", ("helper",)),
        ("import math as m\nassert f(m.pi) == len([x for x in range(3)])", ()),
        ("from random import *\nassert f(1) == randint(1, 1)", ()),
        ("def g(a, *b, c=1, **d):\n    return a, b, c, d\nassert f(1) == g(1) == Pair(1)", ("Pair",)),
        ("try:\n    f(1)\nexcept ValueError as e:\n    assert e\nwith open('x') as h:\n    h", ()),
        ("match f(1):\n    case [a, *b]:\n        a, b\n    case {'x': c, **d}:\n        c, d", ()),
        ("assert __name__ and candidate and Solution", ()),
    ],
)
def test_names_that_only_the_program_could_bind_are_found(text: str, names: tuple[str, ...]) -> None:
    """Everything that a test binds itself, imports or finds among the builtins is its own."""
    assert names == unbound(text, "f")


CASE = "class T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(f(2), 4)\n"


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("def test_a(): ...", "\ntest_a()\n"),
        ("def test_a(x=1): ...\ndef test_b(candidate): ...", "\ntest_a()\ntest_b(candidate)\n"),
        ("def test_a(): ...\ntest_a()", "test_a(): ...\ntest_a()"),
        ("def test_a(): ...\nfor one in [test_a]:\n    one()", "    one()"),
        ("class TestF:\n    def test_a(self): ...\n    def help(self): ...", "\nTestF().test_a()\n"),
        ("assert f(1)\nimport sys\nsys.exit(0)", "import sys\npass"),
        ("assert f(1)\nexit(1)", "exit(1)"),
        ("from solution import f, g\nassert f(1)", "pass\nassert f(1)"),
        ("from solution import f as a, g as b\nassert a(b)", "a, b = (f, g)\nassert a(b)"),
    ],
)
def test_calls_that_a_framework_would_make_are_made(text: str, end: str) -> None:
    """Test functions that nothing calls run once, and an exit at the end is no early one. [S-19]"""
    assert completed(text).endswith(end)


@pytest.mark.parametrize(
    "end", ["", "unittest.main()\n", "if __name__ == '__main__':\n    unittest.main(exit=False)\n"]
)
def test_classes_of_unittest_run_wherever_main_is_called(end: str) -> None:
    """A test of `unittest` is decided by what its methods did, not by the exit of `main`. [S-19]"""
    text = completed(f"import unittest\n{CASE}{end}")
    assert ("loadTestsFromTestCase" in text, "main()" in text, "exit=False" in text) == (True, False, False)
