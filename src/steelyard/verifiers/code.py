"""`code`: the program in a reply does what its cases ask, run in a sandbox and decided outside of it.

Source: SANDBOX.md (strength `oracle`: inputs go in, values come out, expected values never enter the process of the
program), seed 003 (n_cases and n_passed; REQUIREMENTS S-19 to S-21).
Every case runs in a fresh process; the assertions of one test share a process, as their author ran them.
A passing case ended by itself and returned the expected value, by type, or printed the expected text. What came back
is the evidence; what was expected is held against it afterwards, so judging again runs nothing.
Measures: `n_cases`, and `n_passed`, the cases before the first that failed (with `all_cases`: all that passed).
`n_passed` is missing after a time-out, for then it is not known; both are missing when nothing ran, which is void.
`cpu_ms`, `wall_ms` and `peak_memory_bytes` are those of all cases together, where the sandbox can tell.
Tests that need the process of the program (random inputs, its helpers) have the strength `tests`; a verdict that rests
on one says so.

A target is JSON, in one of three modes:

- calls of a function: `{"mode": "function", "entry_point": "add", "cases": [{"args": [1, 2], "expected": 3}]}`; a case
  may have `"kwargs"`, and `"entry_point": "Solution.add"` is a method. What comes back is compared as JSON: a tuple is
  its list, an integer key its text.
- a script that reads and prints: `{"mode": "stdin", "cases": [{"stdin": "1 2", "stdout": "3"}]}`. White space at
  the end of lines and of the output does not count.
- assertions: `{"mode": "assert", "entry_point": "add", "tests": ["assert add(1, 2) == 3"]}`, or `tests` as one text: a
  function `check(candidate)`, functions `test...()`, classes of `unittest`, loops over known values. What is compared
  must be of the same type, in lists and sets too.

Compared are values of builtin types and the dicts of `collections`. Anything else that a program returns is
`wrong-type`, though Python may call it equal to the expected value: a namedtuple, an enum, a fraction, a decimal, a
range, a view of a dict, an instance of a class of its own, and a value that is nested deeper than 200. Give a test that
makes a plain value of it where such a result is right: `tuple(f(1)) == (1, 2)`, `float(f(1)) == 0.5`.
A test that no program can pass is refused when the suite is loaded: an import of a package, an assertion over literals
that does not hold, a part of an assertion that raises. A test that runs inside and stumbles over a name that neither it
nor the program has is void.
Not covered: other languages than Python; packages beyond the standard library.
Easy to break: counting an early exit as an end, or output as a result.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Literal

import msgspec

from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.item import Item
from steelyard.ports import Kit, Limits
from steelyard.verdict import Evidence, Miss, Verdict, void
from steelyard.verifiers.code_asserts import holds
from steelyard.verifiers.code_plan import Case, Plan, plan_of
from steelyard.verifiers.code_reading import Program, prelude_of, program_of
from steelyard.verifiers.code_running import execute, is_report
from steelyard.verifiers.code_values import Rules, decode, same, same_output
from steelyard.verifiers.contract import Config, Spoil, Verifier

RESIDUAL_RISK = (
    "a test ran in one process with the program, which could still reach into its own result; "
    "assertions over known values are decided outside"
)
_REPORT_BYTES = 4 * 1024 * 1024
_TAIL_CHARS = 1000
_FULL = 0.98  # of the memory that a case may have
_SHOWN_CHARS = 120
_SHOWN_MISSES = 8
_PRELOADED = frozenset(
    (
        *("abc", "bisect", "cmath", "collections", "copy", "dataclasses", "datetime", "decimal", "enum", "fractions"),
        *("functools", "hashlib", "heapq", "itertools", "json", "math", "operator", "random", "re", "statistics"),
        *("string", "typing"),
    )
)
"""Modules that are loaded once for all cases when the program imports them."""
_IMPORTS = re.compile(r"^[ \t]*(?:from[ \t]+(\w+)|import[ \t]+([\w, \t]+))", re.MULTILINE)


class CodeConfig(Config, frozen=True):
    """Limits and comparison.

    `timeout_s` is the time of all cases together, `timeout_per_case_s` of one (default: no limit of its own). Without
    `all_cases` the first case that fails is the last. `float_tol`: |x - y| <= float_tol * max(1, |y|), y expected, for
    floats, in sets too, and for numbers in printed text that are not both integers; 0 is exact. `numbers` says whether
    2 equals 2.0 (`equal`) or not (`typed`). `prompt` is code that the reply completes, or that goes before it.
    `output_bytes` caps what one case may return or print. Memory and processes are the item's own limits
    (`environment`).
    """

    timeout_s: float = 10.0
    timeout_per_case_s: float | None = None
    all_cases: bool = False
    float_tol: float = 0.0
    numbers: Literal["typed", "equal"] = "typed"
    prompt: str = ""
    output_bytes: int = 256 * 1024


def _probe(item: Item, attempt: Attempt, kit: Kit, config: CodeConfig) -> Evidence:
    plan = plan_of(item.target)
    program = program_of(attempt.answer, plan.entry_point, config.prompt)
    words = {word for source in program.sources for word in re.findall(r"\w+", source)}
    if not program.sources:
        return Evidence({"rule": program.rule, "reason": program.reason, "cases": [], "why": "", "stopped": ""})
    result, report = execute(item, kit, _job(plan, program, config))
    report = report if is_report(report, plan.mode) else None
    return Evidence(
        {
            "rule": program.rule,
            "reason": "",
            "cases": report["cases"] if report else None,
            "stopped": report["stopped"] if report else "",
            "why": result.why,
            "rc": result.rc,
            "output_tail": "" if report else result.output.decode(errors="replace")[-_TAIL_CHARS:],
            "strength": plan.strength,
            "shape": plan.shape,
            "unbound": sorted({name for case in plan.cases for name in case.needs} - words),
            "leftover_pids": result.leftover_pids,
            "cpu_ms": result.cpu_ms,
            "wall_ms": result.wall_ms,
            "peak_memory_bytes": result.peak_memory_bytes,
            "memory_bytes": _memory_bytes(item),
        },
        backend=kit.sandbox_name,
    )


def _job(plan: Plan, program: Program, config: CodeConfig) -> dict[str, Any]:
    """What is sent inside; nothing in it says what is right."""
    names = {
        name.strip()
        for source in program.sources
        for one, several in _IMPORTS.findall(source)
        for name in (one or several).split(",")
    }
    return {
        "sources": list(program.sources),
        "entry": plan.entry_point,
        "cases": [case.sent for case in plan.cases],
        "case_s": config.timeout_per_case_s or config.timeout_s,
        "total_s": config.timeout_s,
        "value_bytes": config.output_bytes,
        "report_bytes": max(_REPORT_BYTES, 2 * config.output_bytes),
        "keep_going": config.all_cases,
        "together": plan.mode == "assert",
        "preload": sorted(names & _PRELOADED),
        "prelude": {} if plan.mode == "stdin" else prelude_of(program.sources),
    }


def _memory_bytes(item: Item) -> int:
    limits = (item.environment or {}).get("limits", {})
    return int(limits.get("memory_bytes", Limits().memory_bytes))


def _decide(found: Evidence, target: str, config: CodeConfig) -> Verdict:
    plan, seen = plan_of(target), found.data
    if seen.get("shape", plan.shape) != plan.shape:
        return void("the evidence answers other questions than the target asks; do: steelyard judge RUN --probe")
    verdict = _judged(plan, seen, config)
    if verdict.passed is None:
        return verdict
    costs = {name: float(seen[name]) for name in _COSTS if seen.get(name) is not None}
    return msgspec.structs.replace(verdict, measures={**verdict.measures, **costs})


_COSTS = ("cpu_ms", "wall_ms", "peak_memory_bytes")


def _judged(plan: Plan, seen: dict[str, Any], config: CodeConfig) -> Verdict:
    n = len(plan.cases)
    if seen["why"] == "infra":
        return void(f"the sandbox broke: {seen['output_tail'][-200:]}")
    if seen["reason"]:
        return _failed([Miss("not-code", seen["reason"])], n, 0)
    if seen["cases"] is None:
        return _failed([_no_report(seen)], n, None)
    misses: list[Miss] = []
    passed = 0
    timed_out = False
    for number, case in enumerate(plan.cases):
        if number >= len(seen["cases"]):
            misses.append(_unreached(seen, number, misses))
            timed_out = timed_out or misses[-1].name == "timed-out"
            break
        missing = _missing_name(seen["cases"][number], seen) if case.is_inside else ""
        if missing:
            return void(f"case {number}: the test uses {missing}, which neither it nor the program defines")
        miss = _case_miss(case, seen["cases"][number], seen, plan, config)
        passed += miss is None
        if miss is not None:
            misses.append(Miss(miss.name, f"case {number}: {miss.detail}"))
            if not config.all_cases:
                timed_out = miss.name == "timed-out"
                break
    if misses:
        return _failed(misses, n, None if timed_out else passed, scored=config.all_cases)
    note = RESIDUAL_RISK if plan.strength == "tests" else ""
    score = 1.0 if config.all_cases else None
    return Verdict(True, measures={"n_cases": float(n), "n_passed": float(n)}, note=note, score=score)


def _missing_name(report: dict[str, Any], seen: dict[str, Any]) -> str:
    """The name that a test stumbled over though it is not for the program to define; empty where there is none."""
    found = re.fullmatch(r"ENameError: name '(\w+)' is not defined.*", report["said"])
    return found[1] if found and found[1] in seen.get("unbound", ()) else ""


def _failed(misses: list[Miss], n_cases: int, n_passed: int | None, *, scored: bool = False) -> Verdict:
    measures = {"n_cases": float(n_cases)} | ({} if n_passed is None else {"n_passed": float(n_passed)})
    score = n_passed / n_cases if scored and n_passed is not None else None
    return Verdict(False, misses[:_SHOWN_MISSES], measures=measures, score=score)


def _no_report(seen: dict[str, Any]) -> Miss:
    """The miss of a program that ended the whole run."""
    names = {"timeout": "timed-out", "output": "too-much-output", "oom": "out-of-memory", "disk": "too-much-output"}
    why = "oom" if _is_full(seen) else seen["why"]
    name = names.get(why, "too-many-processes" if why == "pids" else "crashed")
    return Miss(name, f"no report ({seen['why']}, exit code {seen['rc']}): {seen['output_tail'][-200:]}")


def _unreached(seen: dict[str, Any], number: int, before: list[Miss]) -> Miss:
    """The miss of a case that never ran, though the ones before it may have passed."""
    if seen["stopped"] in ("timed-out", "too-much-output"):
        return Miss(seen["stopped"], f"before case {number}: a limit of all cases together")
    return Miss(before[-1].name if before else "crashed", f"case {number} never ran")


def _case_miss(case: Case, report: dict[str, Any], seen: dict[str, Any], plan: Plan, config: CodeConfig) -> Miss | None:
    """What is wrong with one case; None when it passed."""
    broken, why = _broken(case.sent["kind"], report), "oom" if _is_full(seen) else seen["why"]
    if broken is None:
        return _wrong(case, report, plan, config)
    if why == "oom" and broken.name in ("crashed", "exited", "timed-out"):
        return Miss("out-of-memory", broken.detail)
    if why == "pids" and broken.name in ("crashed", "exited", "raised", "timed-out"):
        return Miss("too-many-processes", broken.detail)
    return broken


def _is_full(seen: dict[str, Any]) -> bool:
    """Whether memory ran out; a machine under load may take longer over that than the program's time is."""
    peak, most = seen.get("peak_memory_bytes"), seen.get("memory_bytes")
    return seen["why"] == "oom" or bool(peak and most and peak >= _FULL * most)


_LETTERS = {
    "C": ("not-code", "does not compile: "),
    "N": ("no-entry-point", "the program defines no "),
    "O": ("wrong-type", "returned "),
    "E": ("raised", ""),
    "S": ("exited", "exit code "),
    "T": ("harness-tampered", ""),
}


def _broken(kind: str, report: dict[str, Any]) -> Miss | None:
    """Why a case did not come to its end; None when it did."""
    said, code = report["said"], report["code"]
    if report["late"]:
        return Miss(report["late"], f"after {report['ms']} ms")
    if code < 0:
        return Miss("crashed", f"ended by signal {-code}")
    if said[:1] == "S" and kind == "stdin" and said in ("S0", "SNone", "SFalse"):
        return None
    if said[:1] in _LETTERS:
        name, words = _LETTERS[said[:1]]
        if said.startswith("EMemoryError"):
            name = "out-of-memory"
        if kind == "program" and said.startswith("EAssertionError"):
            name = "wrong-output"
        return Miss(name, words + said[1:])
    if code != 0 or (said[:1] not in ("R", "P") and kind != "stdin"):
        return Miss("exited", f"exit code {code} before the end")
    return None


def _wrong(case: Case, report: dict[str, Any], plan: Plan, config: CodeConfig) -> Miss | None:
    """How what a case gave differs from what it should; None when it does not."""
    rules = Rules(config.float_tol, config.numbers == "equal", plan.mode == "function")
    if case.is_inside:
        return None if report["said"] == "P" else Miss("harness-tampered", "no token")
    if case.sent["kind"] == "stdin":
        if same_output(report["stdout"], case.expected, config.float_tol):
            return None
        return Miss("wrong-output", f"expected {_shown(case.expected)}, got {_shown(report['stdout'])}")
    try:
        values = [decode(text) for text in json.loads(report["said"][1:])]
    except (InputError, ValueError, TypeError, RecursionError):
        return Miss("crashed", "something else was written where results are")
    if len(values) != len(case.sent["calls"]):
        return Miss("crashed", "something else was written where results are")
    if case.assertion is not None:
        right = holds(case.assertion, values, rules)
    else:
        right = same(values[0], case.expected, rules)
    if right:
        return None
    wanted = json.dumps(case.expected) if case.assertion is None else case.assertion.text
    got = _shown(", ".join(map(_written, values)))
    return Miss("wrong-output", f"expected {_shown(wanted)}, got {got}")


def _written(value: Any) -> str:
    try:
        return repr(value)
    except ValueError:  # Python writes no integer of more than 4,300 digits
        return f"a {type(value).__name__} with a number too long to write"


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "...")


def _check(target: str, config: CodeConfig) -> None:
    plan_of(target)
    for name in ("timeout_s", "timeout_per_case_s", "output_bytes"):
        value = getattr(config, name)
        if value is not None and not 0 < value < math.inf:
            raise InputError(f'verifier "code": {name} must be above 0, got {value}')
    if not 0 <= config.float_tol < math.inf:
        raise InputError(f'verifier "code": float_tol must be 0 or more, got {config.float_tol}')


def _defined(target: str, body: str, before: str = "") -> str | None:
    """A program whose entry point does `body`; None where the program is a script."""
    path = plan_of(target).entry_point.split(".")
    if not path[0]:
        return None
    function = f"def {path[-1]}(*args, **kwargs):\n    {body}\n"
    if len(path) > 1:
        function = f"class {path[0]}:\n" + "".join(f"    {line}\n" for line in function.splitlines())
    return f"{before}{function}"


def _spoil_exit(target: str, _config: CodeConfig, _prompt: str) -> str | None:
    return _defined(target, "os._exit(0)", "import os\n\n\n") or "import os\n\nos._exit(1)\n"


def _spoil_equal(target: str, _config: CodeConfig, _prompt: str) -> str | None:
    lies = "class Equal:\n    def __eq__(self, other):\n        return True\n\n\n"
    return _defined(target, "return Equal()", lies)


def _spoil_forged(target: str, _config: CodeConfig, _prompt: str) -> str | None:
    return (
        _defined(target, "raise SystemExit(0)", 'print("1 passed, 0 failed")\n\n\n') or 'print("1 passed, 0 failed")\n'
    )


_RULED_OUT = ("exited", "wrong-output", "wrong-type", "raised", "harness-tampered")

VERIFIERS: tuple[Verifier, ...] = (
    Verifier(
        name="code",
        config=CodeConfig,
        misses=(
            "wrong-output",
            "wrong-type",
            "raised",
            "exited",
            "crashed",
            "timed-out",
            "out-of-memory",
            "too-much-output",
            "too-many-processes",
            "not-code",
            "no-entry-point",
            "harness-tampered",
        ),
        probe=_probe,
        decide=_decide,
        check=_check,
        describe=lambda target, _config: plan_of(target).suite,
        spoil={
            "early-exit": Spoil(_spoil_exit, _RULED_OUT),
            "equal-to-everything": Spoil(_spoil_equal, _RULED_OUT),
            "forged-summary": Spoil(_spoil_forged, _RULED_OUT),
        },
        resources=("steelyard.verifiers.code_runner",),
    ),
)
