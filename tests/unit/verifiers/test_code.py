"""Reading a program out of a reply, comparing values, turning assertions into calls, and deciding on evidence."""

from __future__ import annotations

import json
from typing import Any

import pytest

from steelyard.canonical import canonical_text
from steelyard.errors import InputError
from steelyard.verdict import Evidence, Verdict
from steelyard.verifiers.code_asserts import assertions_of, holds
from steelyard.verifiers.code_plan import plan_of
from steelyard.verifiers.code_reading import prelude_of, program_of
from steelyard.verifiers.code_runner import OtherTypeError, encode
from steelyard.verifiers.code_values import Rules, decode, same, same_output
from steelyard.verifiers.registry import bind_spec

ADD = "def add(a, b):\n    return a + b\n"
FOUR = {"mode": "function", "entry_point": "f", "cases": [{"args": [n], "expected": n} for n in range(4)]}


@pytest.mark.parametrize(
    "reply",
    [
        ADD,
        f"Here:\n```python\n{ADD}```\nDone.",
        f"```\n{ADD}```",
        f"Sure!\n```python\n{ADD.rstrip()}",
        f"~~~py\n{ADD}~~~",
        f"```python\ndef add(a, b):\n    return a - b\n```\nFixed:\n```python\n{ADD}```",
        f"```python\n{ADD}```\nUse it:\n```python\nprint(add(1, 2))\n```\n```\n3\n```",
        f"```bash\npip install x\n```\n```python\n{ADD}```\n```bash\npython x.py\n```",
        f"<think>\n```python\ndef add(a, b): return 0\n```\n</think>\n```python\n{ADD}```",
        f"[BEGIN]\n{ADD}[DONE]\n",
        f"[PYTHON]\n{ADD}[/PYTHON]",
        f"<code>\n{ADD}</code>",
        f"'''python\n{ADD}'''",
        "```python\n" + ADD.replace("\n", "\r\n") + "```",
    ],
)
def test_the_program_of_a_reply_is_found(reply: str) -> None:
    """Fences of any kind, marks and bare code; of several the last that defines the entry point. [S-19]"""
    assert ADD == program_of(reply, "add").sources[0]


@pytest.mark.parametrize(
    ("reply", "reading"),
    [
        ("1. Code:\n\n   ```python\n   def add(a, b):\n       return a + b\n   ```\n", ADD),
        (f"Here is it:\n\n{ADD}\nThis works because addition is built in.\n", ADD),
    ],
)
def test_other_readings_follow_for_the_case_that_the_first_does_not_compile(reply: str, reading: str) -> None:
    """Indentation that all lines share, and prose before and after bare code."""
    assert reading in program_of(reply, "add").sources


def test_no_reading_cuts_a_syntax_error_away() -> None:
    """Only prose is cut: a line that could be code stays. [S-19]"""
    assert (f"{ADD}add(1, 2",) == program_of(f"{ADD}add(1, 2", "add").sources


def test_a_docstring_may_hold_a_fence() -> None:
    """Markdown ends the block there, so the block up to the last fence is the next reading."""
    code = 'def add(a, b):\n    """Adds.\n```\nadd(1, 2)\n```\n    """\n    return a + b\n'
    assert code in program_of(f"```python\n{code}```\n", "add").sources


HELPER, USES = "def plus(a, b):\n    return a + b\n", "def add(a, b):\n    return plus(a, b)\n"


@pytest.mark.parametrize(
    "reply",
    [
        f"````markdown\nHere:\n```python\n{ADD}```\n````",
        f"```md\n```python\n{ADD}```\n```",
        f"<answer>\n{ADD}</answer>",
        f"<answer>\n```python\n{ADD}```\n</answer>",
        f"```python\nadd = 3\n```\n```python\n{ADD}```",
    ],
)
def test_a_block_in_markdown_or_in_an_answer_is_found(reply: str) -> None:
    """A fence of Markdown around a fence of Python is no program. [S-19]"""
    assert ADD == program_of(reply, "add").sources[0]


@pytest.mark.parametrize(
    ("blocks", "source"),
    [
        ([HELPER, USES], f"{HELPER}\n{USES}"),
        ([USES, HELPER], f"{USES}\n{HELPER}"),
        (["import math\nprint(1)\n", "def add(a, b):\n    return math.floor(a) + b\n"], None),
        ([HELPER, ADD], ADD),
        (["total = add(1, 2)\n", "def add(a, b):\n    total = a + b\n    return total\n"], None),
    ],
)
def test_a_program_in_two_blocks_is_joined(blocks: list[str], source: str | None) -> None:
    """A block that calls what only another block defines is joined to it; imports come alone. [S-19]"""
    reply = "\nThen:\n".join(f"```python\n{block}```" for block in blocks)
    wanted = source or ("import math\n" if "math" in blocks[0] else "") + blocks[1]
    assert wanted == program_of(reply, "add").sources[0]


def test_a_class_solution_may_use_what_its_site_has_imported() -> None:
    """Only the names that it mentions, and no other program. [S-19]"""
    source = "class Solution:\n    def f(self, xs: List[int]) -> int:\n        return Counter(xs)[1] + math.inf\n"
    assert {"List": "typing", "Counter": "collections", "inf": "math", "math": ""} == prelude_of((source,))
    assert {} == prelude_of(("def f(xs: List[int]): ...",))


PIECES = [
    "```\n",
    "```python\nx\n",
    "a" * 9,
    "A, ",
    "[BEGIN]",
    "\n    x",
    "'''python\n",
    "x, ",
    "~~~",
    "<code>",
    "for ",
    "def f(",
    "````md\n",
]


PIECES += ["```python\ndef f(x): g(x)\n```\n", "```python\nimport x\n```\n"]


@pytest.mark.parametrize("piece", PIECES)
def test_reading_takes_time_that_grows_with_the_length_alone(piece: str) -> None:
    """A hostile reply of half a megabyte is read as any other; were it quadratic, this test would not end."""
    assert program_of(piece * (500_000 // len(piece)), "add").rule in ("fence", "mark", "whole")


def test_reasoning_that_never_ends_holds_no_program() -> None:
    """Nothing after an open thought is an answer."""
    assert "the reasoning block is never closed" == program_of(f"<think>\n```python\n{ADD}```", "add").reason


@pytest.mark.parametrize(
    ("reply", "source"),
    [
        ("    return a + b\n", "def add(a, b):\n    return a + b\n"),
        (ADD, f"def add(a, b):\n\n{ADD}"),
    ],
)
def test_a_reply_completes_its_prompt_or_stands_after_it(reply: str, source: str) -> None:
    """A body continues the prompt; a repeated signature stands after it and keeps the prompt's imports."""
    assert source == program_of(reply, "add", "def add(a, b):\n").sources[0]


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -3,
        10**400,
        0.1,
        float("inf"),
        "é\n\ud800",
        [1, [2]],
        (1, (2,)),
        {1, 2},
        frozenset({"a"}),
        {"a": 1, "$b": 2},
        {1: "x", (1, 2): None},
        b"\x00\xff",
        2 + 3j,
    ],
)
def test_a_builtin_value_comes_out_as_it_went_in(value: Any) -> None:
    """By type and value, through JSON that can hold neither tuples nor sets."""
    found = decode(encode(value))
    assert (type(value), value) == (type(found), found)


class _Equal:
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class _Text(str):
    __slots__ = ()


@pytest.mark.parametrize("value", [_Equal(), _Text("a"), [_Equal()], {"a": _Text("a")}, iter([1]), len])
def test_a_value_of_another_type_does_not_come_out(value: Any) -> None:
    """An object that equals everything, a subclass of str, a generator and a function are no values."""
    with pytest.raises(OtherTypeError):
        encode(value)


@pytest.mark.parametrize("text", ['{"$dict": [1]}', '{"$x": 1}', '{"$int": 1}', "[" * 5000, "{", '{"$set": [[]]}'])
def test_what_the_runner_never_writes_is_refused(text: str) -> None:
    """Whatever was written in its stead, the judge does not crash."""
    with pytest.raises(InputError):
        decode(text)


JSON, TYPED = Rules(as_json=True), Rules()


@pytest.mark.parametrize(
    ("got", "want", "rules", "expected"),
    [
        (1, 1, TYPED, True),
        (True, 1, TYPED, False),
        (1, True, TYPED, False),
        (2, 2.0, TYPED, False),
        (2, 2.0, Rules(equal_numbers=True), True),
        (True, 1.0, Rules(equal_numbers=True), False),
        ((1, 2), [1, 2], TYPED, False),
        ((1, 2), [1, 2], JSON, True),
        ([1, 2], [1, 2, 3], JSON, False),
        ({1: "a"}, {"1": "a"}, JSON, True),
        ({1: "a"}, {"1": "a"}, TYPED, False),
        ({"b": 1, "a": 2}, {"a": 2, "b": 1}, TYPED, True),
        ({1, 2}, {2, 1}, TYPED, True),
        ({True}, {1}, TYPED, False),
        (0.1 + 0.2, 0.3, TYPED, False),
        (0.1 + 0.2, 0.3, Rules(1e-9), True),
        ([0.1 + 0.2], [0.3], Rules(1e-9), True),
        (float("nan"), float("nan"), Rules(1.0), False),
        (float("nan"), 0.5, Rules(1.0), False),
        (float("inf"), float("inf"), Rules(1e-9), True),
        (float("inf"), 1e308, Rules(1.0), False),
        (1000001, 1000000, Rules(1e-3), False),
    ],
)
def test_values_are_compared_by_type_and_value(got: Any, want: Any, rules: Rules, expected: bool) -> None:
    """Exactly, or by the rules that settings give; a tolerance never makes two integers equal. [S-19]"""
    assert expected is same(got, want, rules)


@pytest.mark.parametrize(
    ("got", "want", "tol", "expected"),
    [
        ("6\n", "6", 0.0, True),
        ("6  \r\n\n\n", "6\n", 0.0, True),
        (" 6", "6", 0.0, False),
        ("1  2", "1 2", 0.0, False),
        ("YES", "Yes", 0.0, False),
        ("1\n\n2", "1\n2", 0.0, False),
        ("1.0", "1", 0.0, False),
        ("1.0", "1", 1e-9, True),
        ("1.000001", "1.0", 1e-6, True),
        ("1.0000011", "1.0", 1e-6, False),
        ("1000000.5", "1000000.0", 1e-6, True),
        ("a 1e-3 b", "a 0.001 b", 1e-6, True),
        ("a 1  2", "a 1 2.0", 1e-6, False),
        ("nan", "0.5", 1.0, False),
        ("1e999999999", "1", 1e-6, False),
        ("x=0.5", "x=0.50", 1e-6, True),
        ("[0.33333333, 1]", "[0.3333333333, 1]", 1e-6, True),
        ("33.33333%", "33.333333%", 1e-4, True),
        ("The mean is 0.50000001.", "The mean is 0.5.", 1e-6, True),
        ("+4", "4", 1e-6, True),
        ("-0.0000001", "0.0", 1e-6, True),
        ("0.5x", "0.5", 1e-6, False),
        ("v1.25", "v1.26", 0.1, False),
        ("1.2.3", "1.2.4", 1.0, False),
        ("3-4.0", "3 -4.0", 1e-6, False),
        ("1000001", "1000000", 1e-5, False),
        ("1000001.0", "1000000", 1e-5, True),
        ("004", "4", 1e-6, False),
    ],
)
def test_printed_text_is_compared_line_by_line(got: str, want: str, tol: float, expected: bool) -> None:
    """White space at the end of lines and of the output does not count; numbers may differ by the tolerance. [S-20]"""
    assert expected is same_output(got, want, tol)


@pytest.mark.parametrize(
    ("test", "values", "expected"),
    [
        ("assert f(1) == 2", [2], True),
        ("assert f(1) == 2", [3], False),
        ("assert (1, 2) == f(x=1), 'why'", [(1, 2)], True),
        ("assert abs(f(1.33) - 1/3) < 1e-6", [0.3333333], True),
        ("import math\nassert math.isclose(f(), math.pi, rel_tol=1e-3)", [3.1416], True),
        ("assert f() is None", [None], True),
        ("assert f()", [""], False),
        ("assert not f() and f(2) != 3", [False, 4], True),
        ("assert sorted(f([1] * 3)) == [1, 1, 1]", [[1, 1, 1]], True),
        ("assert f()[0] in (1, 2) if True else False", [2], True),
        ("assert 1 < f() <= 3", [3], True),
        ("assert len(f()) == 2", [7], False),
        ("assert isinstance(f(), (int, float))", [2.5], True),
        ("assert set(f()) == set((4, 5))", [{5, 4}], True),
        ("assert f() ** 99999999999 == 1", [2], False),
        ("assert f() * 10 == 'a'", ["a" * 200_000], False),
        (
            "METADATA = {}\ndef check(candidate):\n    '''doc'''\n    assert candidate(2) == -1\n    assert True",
            [-1],
            True,
        ),
    ],
)
def test_an_assertion_is_worked_out_from_what_its_calls_returned(test: str, values: list[Any], expected: bool) -> None:
    """The expected value stays outside; what cannot be worked out does not hold. [S-19]"""
    found = assertions_of(test, "f")
    assert found is not None
    assert [expected] == [holds(assertion, values, Rules()) for assertion in found]


@pytest.mark.parametrize(
    "test",
    [
        "assert f(f(1)) == 1",
        "assert g(f(1)) == 1",
        "assert f(1) == X",
        "import random\nassert f(1) == 1",
        "def check(candidate):\n    assert candidate(1) == helper(1)",
        "assert f(10 ** 10 ** 10) == 1",
        "for i in range(10**7):\n    assert f(i) == i",
        "while True:\n    assert f(1) == 1",
        "given = [2, 1]\nf(given)\nassert given == [1, 2]",
        "given = [2, 1]\nassert f(given) is None\nassert given == [1, 2]",
        "given = [2, 1]\nsame = given\nassert f(given) is None\nassert same == [1, 2]",
        "given = []\nassert f(given) == [1]\nassert f(given) == [1, 1]",
        "given = ([],)\nassert f(given, given) == 1",
        "assert f(1).agrees_with(7)",
        "try:\n    f(1)\nexcept ValueError:\n    pass",
        "for x in f(3):\n    assert x > 0",
        "a, b = f(1)\nassert a == b",
        "f = len\nassert f([1]) == 1",
        "x = f(1)\nassert True",
        "assert f(range(3)) == 3",
    ],
)
def test_a_test_that_does_more_than_compare_runs_inside(test: str) -> None:
    """Helpers, nested calls, changed arguments and the like need the program's process: the strength is `tests`."""
    assert None is assertions_of(test, "f")
    assert "tests" == plan_of(canonical_text({"mode": "assert", "entry_point": "f", "tests": test})).strength


UNROLLED = [
    ("for x, y in [(1, 7), (2, 9)]:\n    assert candidate(x) == y", ["candidate(1) == 7", "candidate(2) == 9"]),
    (
        "inputs = [[1], [2]]\nresults = [3, 4]\nfor i, (inp, exp) in enumerate(zip(inputs, results)):\n"
        "    assert f(*inp) == exp",
        ["f(1) == 3", "f(2) == 4"],
    ),
    ("x = 2\nassert f(x) == 3", ["f(2) == 3"]),
    (
        "def check(candidate):\n    for i in range(2):\n        for j in range(2):\n            n = i * 2 + j\n"
        "            assert candidate(i, j) == n\ncheck(f)",
        ["candidate(0, 0) == 0", "candidate(0, 1) == 1", "candidate(1, 0) == 2", "candidate(1, 1) == 3"],
    ),
    ("x = f(1)\nassert x == 1", ["f(1) == 1"]),
    ("x = f(3)\nassert len(x) == 2\nassert x[0] == 1", ["len(f(3)) == 2 and f(3)[0] == 1"]),
    ("def test_a():\n    assert f(1) == 2\ndef test_b():\n    assert f(2) == 3", ["f(1) == 2", "f(2) == 3"]),
    ("def case(x, y):\n    assert f(x) == y\ncase(1, 2)\ncase(2, 3)", ["f(1) == 2", "f(2) == 3"]),
    ("def case(out, y):\n    assert out == y\ncase(f(1), 2)", ["f(1) == 2"]),
    ("assert all(f(x) == y for x, y in [(1, 2), (2, 3)])", ["all([f(1) == 2, f(2) == 3])"]),
    ("assert f(**{'a': 1}) == len([2]) if True else 0", ["f(a=1) == len([2]) if True else 0"]),
    ("s = Solution()\nassert s.f(1) == 2", ["s.f(1) == 2"]),
    ("if __name__ == '__main__':\n    n = 1\n    n += 1\n    assert f(n) == 2", ["f(2) == 2"]),
    ("for k, v in {'a': 1}.items():\n    print(k)\n    assert f(k) == v", ["f('a') == 1"]),
    ("import copy\nx = [1]\nassert f(copy.deepcopy(x)) == sorted(x)", ["f([1]) == sorted([1])"]),
]


@pytest.mark.parametrize(("test", "assertions"), UNROLLED)
def test_loops_and_assignments_over_known_values_are_worked_out_outside(test: str, assertions: list[str]) -> None:
    """An assertion is a case each time round, and the expected values stay outside. [S-19, O-26]"""
    found = assertions_of(test, "f")
    assert found is not None
    assert assertions == [assertion.text for assertion in found]
    assert "oracle" == plan_of(canonical_text({"mode": "assert", "entry_point": "f", "tests": test})).strength


@pytest.mark.parametrize(
    ("test", "steps"),
    [
        ("assert list(f(1)) == [0]", ["list"]),
        ("assert sorted(set(f(1)), reverse=True) == [0]", ["set", "sorted"]),
        ("x = f(1)\nassert sum(x) == 3", ["sum"]),
        ("assert [x for x in f(1) if x > 2] == [3]", ["list"]),
        ("assert ' '.join(map(str, f(3))) == '1 2'", ["list"]),
        ("assert f(1).area() == 2.0", [".area", "()"]),
        ("assert f(1)[0].name == 'a'", ["[]", ".name"]),
        ("assert f(1)(2) == 3", ["()"]),
        ("assert round(f(1), 2) == 1.25", ["round"]),
        ("assert f(1).startswith('a')", []),
        ("assert max(f(1), 7) == 7", []),
        ("x = f(1)\nassert len(x) == 2\nassert sum(x) == 2", []),
        ("assert sorted(f(1), key=lambda pair: pair[1]) == [1]", []),
    ],
)
def test_what_stands_around_a_call_is_done_inside(test: str, steps: list[str]) -> None:
    """A generator becomes a list, an object its attribute; nothing that might tell what is expected goes inside."""
    case = plan_of(canonical_text({"mode": "assert", "entry_point": "f", "tests": test})).cases[0]
    assert [steps] == case.steps


def test_a_plan_describes_its_suite() -> None:
    """How many cases there are, how they are asked and of which function. [S-26]"""
    plans = [FOUR, {"mode": "stdin", "cases": [{"stdin": "1", "stdout": "1"}]}]
    first, second = (plan_of(canonical_text(plan)).suite for plan in plans)
    assert {"n_cases": 4, "io_mode": "fn_call", "func_name": "f", "strength": "oracle"} == first
    assert {"n_cases": 1, "io_mode": "stdio", "strength": "oracle"} == second


def test_nothing_that_is_sent_inside_says_what_is_right() -> None:
    """Neither an expected value nor an expected text is in what a case sends. [S-19]"""
    values = {"mode": "function", "entry_point": "f", "cases": [{"args": [1], "expected": "canary-7"}]}
    streams = {"mode": "stdin", "cases": [{"stdin": "1", "stdout": "canary-7"}]}
    asserts = {"mode": "assert", "entry_point": "f", "tests": ["assert f(1) == 'canary-7'"]}
    loop = "for x, y in [(1, 'canary-7')]:\n    assert f(x) == y"
    loops = {"mode": "assert", "entry_point": "f", "tests": loop}
    for target in (values, streams, asserts, loops):
        assert "canary-7" not in repr(plan_of(canonical_text(target)).cases[0].sent)


def _decided(reports: list[dict[str, Any]] | None, config: dict[str, Any], **seen: Any) -> Verdict:
    data = {"rule": "whole", "reason": "", "cases": reports, "stopped": "", "why": "exit", "rc": 3, "output_tail": ""}
    verdict = bind_spec({"name": "code", **config}, json.dumps(FOUR)).decide(Evidence({**data, **seen}))
    assert isinstance(verdict, Verdict)
    return verdict


def _returned(*values: int) -> list[dict[str, Any]]:
    return [{"late": "", "code": 0, "said": f'R["{value}"]', "ms": 1} for value in values]


LATE = {"late": "timed-out", "code": -9, "said": "", "ms": 1}
NOT_CODE = {"late": "", "code": 0, "said": "CSyntaxError: no", "ms": 1}
ARITY = {"late": "", "code": 0, "said": "ETypeError: f() takes 0 positional arguments but 1 was given", "ms": 1}


@pytest.mark.parametrize(
    ("reports", "config", "seen", "counts"),
    [
        (_returned(0, 1, 2, 3), {}, {}, (4, 4)),
        (_returned(0, 1, 9, 3), {}, {}, (4, 2)),
        (_returned(0, 1, 9, 3), {"all_cases": True}, {}, (4, 3)),
        ([NOT_CODE], {}, {}, (4, 0)),
        ([ARITY], {}, {}, (4, 0)),
        ([*_returned(0, 1), LATE], {}, {}, (4, None)),
        ([*_returned(0, 1), LATE, *_returned(3)], {"all_cases": True}, {}, (4, 3)),
        (_returned(0, 1), {}, {"stopped": "timed-out"}, (4, None)),
        (_returned(0, 9), {}, {"stopped": "timed-out"}, (4, 1)),
        (None, {}, {"why": "timeout"}, (4, None)),
        ([], {}, {"reason": "the reply holds no text"}, (4, 0)),
        (None, {}, {"why": "infra"}, (None, None)),
    ],
)
def test_cases_and_passed_cases_are_counted_on_every_path(
    reports: list[dict[str, Any]] | None,
    config: dict[str, Any],
    seen: dict[str, Any],
    counts: tuple[int | None, int | None],
) -> None:
    """All pass 4 of 4; the index of the first failure; all with `all_cases`; unknown after a time-out. [S-19, S-21]"""
    measures = _decided(reports, config, **seen).measures
    assert counts == (measures.get("n_cases"), measures.get("n_passed"))


def test_the_share_of_passed_cases_is_the_score_where_all_are_run() -> None:
    """Without `all_cases` there is no score: cases after the first failure were never run. [S-21]"""
    assert (0.75, None) == (
        _decided(_returned(0, 1, 9, 3), {"all_cases": True}).score,
        _decided(_returned(0, 1, 9, 3), {}).score,
    )


@pytest.mark.parametrize(
    ("target", "config", "words"),
    [
        ("f", {}, "a target is"),
        ({"mode": "function", "cases": [{"args": [], "expected": 1}]}, {}, "needs an entry_point"),
        (
            {"mode": "function", "entry_point": "f g", "cases": [{"args": [], "expected": 1}]},
            {},
            "needs an entry_point",
        ),
        ({"mode": "function", "entry_point": "f", "cases": []}, {}, "needs cases"),
        ({"mode": "function", "entry_point": "f", "cases": [{"args": []}]}, {}, "missing required field `expected`"),
        ({"mode": "stdin", "cases": [{"stdin": "1"}]}, {}, "missing required field `stdout`"),
        ({"mode": "stdin", "cases": [{"stdin": "1", "stdout": ""}], "float_tol": 1}, {}, "unknown field `float_tol`"),
        ({"mode": "assert", "entry_point": "f", "tests": []}, {}, "needs tests"),
        ({"mode": "assert", "entry_point": "f", "tests": "assert f("}, {}, "tests: no Python"),
        (
            {"mode": "function", "entry_point": "f", "cases": [{"args": [], "expected": 1}, {"args": 1}]},
            {},
            'verifier "code": case 1: Expected `array`',
        ),
        ({"mode": "shell", "cases": []}, {}, "Invalid enum value 'shell'"),
        (FOUR, {"timeout_s": 0}, "timeout_s must be above 0"),
        (FOUR, {"timeout_per_case_s": -1}, "timeout_per_case_s must be above 0"),
        (FOUR, {"float_tol": -1}, "float_tol must be 0 or more"),
    ],
)
def test_an_author_slip_is_refused_when_it_is_bound(target: Any, config: dict[str, Any], words: str) -> None:
    """A target or setting that cannot work says so before anything runs."""
    text = target if isinstance(target, str) else canonical_text(target)
    with pytest.raises(InputError, match=words):
        bind_spec({"name": "code", **config}, text)


def test_memory_that_ran_out_is_told_apart_from_time_that_did() -> None:
    """Under load a kill for memory may come after the program's time is up. [S-19, S-20]"""
    full = {"peak_memory_bytes": 99, "memory_bytes": 100}
    names = [_decided([LATE], {}, **seen).misses[0].name for seen in ({"why": "oom"}, full, {"why": "exit"})]
    assert ["out-of-memory", "out-of-memory", "timed-out"] == names


def test_measures_say_what_the_cases_cost_where_the_sandbox_can_tell() -> None:
    """CPU and wall time in ms, and memory at its peak in bytes. [S-26]"""
    measures = _decided(_returned(0, 1, 2, 3), {}, cpu_ms=12.5, wall_ms=20.0, peak_memory_bytes=None).measures
    assert {"n_cases": 4.0, "n_passed": 4.0, "cpu_ms": 12.5, "wall_ms": 20.0} == measures


def test_evidence_of_other_questions_is_void() -> None:
    """Evidence of a test that was read in another way says nothing about this one. [O-18]"""
    verdict = _decided(_returned(0, 1, 2, 3), {}, shape="other")
    assert (None, {}) == (verdict.passed, verdict.measures)
