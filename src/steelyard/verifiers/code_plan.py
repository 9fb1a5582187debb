"""What a `code` target asks: the cases to run, and how each is decided from what came back.

A target is JSON, one of
- `{"mode": "function", "entry_point": "f", "cases": [{"args": [...], "kwargs": {...}, "expected": ...}]}`
- `{"mode": "stdin", "cases": [{"stdin": "...", "stdout": "..."}]}`
- `{"mode": "assert", "entry_point": "f", "tests": ["assert f(1) == 2", ...]}`, or `tests` as one text, which may be a
  function `check(candidate)`.

Assertions are worked out outside (`oracle`, see `code_asserts`), a case each; a test that does more runs as it stands
in the process of the program (`tests`) and is one case.
Not covered: other languages than Python.
Easy to break: an expected value in what is sent inside.
"""

from __future__ import annotations

import json
import marshal
from functools import cached_property, lru_cache
from typing import Any, Literal

import msgspec

from steelyard.canonical import digest
from steelyard.errors import InputError
from steelyard.verifiers.code_asserts import Assertion, assertions_of
from steelyard.verifiers.code_inside import completed, unbound


class Case(msgspec.Struct, frozen=True):
    """One case: what is sent inside, and what decides it outside."""

    sent: dict[str, Any]
    expected: Any = None
    assertion: Assertion | None = None
    needs: tuple[str, ...] = ()
    """Names that a test reads and does not bind, so that the program would have to."""

    @property
    def steps(self) -> list[list[str]]:
        """The names of what is done inside with each call's result."""
        calls = self.assertion.calls.values() if self.assertion else ()
        return [[name for name, _, _ in call.after] for call in calls]

    @property
    def is_inside(self) -> bool:
        """Whether the process of the program itself decides the case."""
        return bool(self.sent["kind"] == "program")


class Plan(msgspec.Struct, frozen=True, dict=True):
    """The cases of a target; `strength` is `tests` as soon as one of them is decided inside."""

    mode: Literal["function", "stdin", "assert"]
    entry_point: str
    cases: list[Case]

    @cached_property
    def shape(self) -> str:
        """What is asked of each case, but for its inputs: stored evidence of another shape answers other questions."""
        return digest([[case.sent["kind"], *case.steps] for case in self.cases])

    @property
    def suite(self) -> dict[str, Any]:
        """The suite in words: `n_cases`, `io_mode` (fn_call, stdio or assert), `func_name`, `strength`."""
        modes = {"function": "fn_call", "stdin": "stdio", "assert": "assert"}
        named = {"func_name": self.entry_point} if self.entry_point else {}
        return {"n_cases": len(self.cases), "io_mode": modes[self.mode], **named, "strength": self.strength}

    @property
    def strength(self) -> str:
        """`oracle` where every case is decided outside, else `tests`."""
        return "tests" if any(case.is_inside for case in self.cases) else "oracle"


class _Target(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    mode: Literal["function", "stdin", "assert"]
    entry_point: str = ""
    cases: list[dict[str, Any]] = []
    tests: str | list[str] = ""


class _Inputs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    args: list[Any]
    expected: Any
    kwargs: dict[str, Any] = {}


class _Streams(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    stdin: str
    stdout: str


@lru_cache(maxsize=32)
def plan_of(target: str) -> Plan:
    """The plan of a target; InputError says what is wrong with one that is none."""
    try:
        wanted = msgspec.convert(json.loads(target), _Target)
    except (ValueError, msgspec.ValidationError, RecursionError) as error:
        raise InputError(f'verifier "code": a target is {{"mode": ..., "cases" or "tests": ...}}: {error}') from error
    if wanted.mode == "stdin":
        cases = [_streams(case, number) for number, case in enumerate(wanted.cases)]
    elif not all(part.isidentifier() for part in wanted.entry_point.split(".")):
        raise InputError(f'verifier "code": "{wanted.mode}" needs an entry_point, got {wanted.entry_point!r}')
    elif wanted.mode == "function":
        cases = [_function(case, number) for number, case in enumerate(wanted.cases)]
    else:
        try:
            cases = _assert(wanted.tests, wanted.entry_point)
        except InputError as error:
            raise InputError(f'verifier "code": tests: {error}') from error
    if not cases or (wanted.cases and wanted.tests):
        raise InputError(f'verifier "code": "{wanted.mode}" needs {"tests" if wanted.mode == "assert" else "cases"}')
    return Plan(wanted.mode, wanted.entry_point, cases)


def _streams(raw: dict[str, Any], number: int) -> Case:
    try:
        case = msgspec.convert(raw, _Streams)
    except msgspec.ValidationError as error:
        raise InputError(f'verifier "code": case {number}: {error}') from error
    return Case({"kind": "stdin", "stdin": case.stdin.encode("utf-8", "surrogatepass")}, case.stdout)


def _function(raw: dict[str, Any], number: int) -> Case:
    try:
        case = msgspec.convert(raw, _Inputs)
    except msgspec.ValidationError as error:
        raise InputError(f'verifier "code": case {number}: {error}') from error
    return Case(_sent([(tuple(case.args), case.kwargs, [])]), case.expected)


_Call = tuple[tuple[Any, ...], dict[str, Any], list[tuple[str, tuple[Any, ...], dict[str, Any]]]]


def _sent(calls: list[_Call]) -> dict[str, Any]:
    # Format 2 of marshal is the same in every Python 3; each call is unpacked where it is made.
    return {"kind": "calls", "calls": [marshal.dumps(call, 2) for call in calls]}


def _assert(tests: str | list[str], entry_point: str) -> list[Case]:
    """A case for each assertion, where the tests are assertions; else one for a whole test program."""
    texts = [tests] if isinstance(tests, str) else tests
    together = assertions_of("\n".join(texts), entry_point)
    if together is not None:
        return [_asserted(assertion) for assertion in together]
    found = [(text, assertions_of(text, entry_point)) for text in texts if text.strip()]
    if any(assertions is None for _, assertions in found) and not all(_is_one_assert(text) for text, _ in found):
        return [_program("\n".join(texts), entry_point)]
    cases: list[Case] = []
    for text, assertions in found:
        if assertions is None:
            cases.append(_program(text, entry_point))
        else:
            cases += [_asserted(assertion) for assertion in assertions]
    return cases


def _asserted(assertion: Assertion) -> Case:
    calls = [(call.args, call.kwargs, call.after) for call in assertion.calls.values()]
    return Case(_sent(calls), assertion=assertion)


def _is_one_assert(text: str) -> bool:
    return text.lstrip().startswith("assert ") and "\n" not in text.strip()


def _program(text: str, entry_point: str) -> Case:
    is_left = "def check(" in text and "\ncheck(" not in text
    sent = {"kind": "program", "program": completed(text), "check": is_left}
    return Case(sent, needs=unbound(text, entry_point))
