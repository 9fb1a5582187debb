"""The calls that a reply makes, as a verifier."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from steelyard.attempt import Attempt, ModelOutput, ToolCall
from steelyard.errors import InputError
from steelyard.parsing.toolcalls import render_tool_call
from steelyard.verdict import Verdict
from steelyard.verifiers.registry import Bound, bind_spec

READ = {"name": "read", "arguments": {"path": "a.txt"}}
STAT = {"name": "stat", "arguments": {"n": 1}}


def _bound(calls: Any, **config: Any) -> Bound:
    return bind_spec({"name": "toolcalls", **config}, json.dumps(calls))


def _judge(bound: Bound, answer: Any, outputs: list[ModelOutput] | None = None) -> Verdict:
    text = answer if isinstance(answer, str) else "\n".join(render_tool_call(c["name"], c["arguments"]) for c in answer)
    return bound.decide(bound.read(Attempt(answer=text, outputs=outputs or [])))


@pytest.mark.parametrize(
    ("wanted", "given", "config", "passed"),
    [
        ([READ], [READ], {}, True),
        ([READ, STAT], [READ, STAT], {}, True),
        ([READ, STAT], [STAT, READ], {}, False),
        ([READ, STAT], [STAT, READ], {"unordered": True}, True),
        ([READ, READ], [READ], {"unordered": True}, False),
        ([READ, READ, STAT], [READ, STAT, STAT], {"unordered": True}, False),
        ([STAT], [{"name": "stat", "arguments": {"n": 1.0}}], {}, True),
        ([STAT], [{"name": "stat", "arguments": {"n": True}}], {}, False),
        ([STAT], [{"name": "stat", "arguments": {"n": "1"}}], {}, False),
        ([STAT], [{"name": "stat", "arguments": {"n": 1, "m": None}}], {}, False),
        ([STAT], [{"name": "stat", "arguments": {}}], {}, False),
        ([STAT], "I cannot do this.", {}, False),
        ([], "I cannot do this.", {}, True),
        ([], "2 < 3", {}, True),
        ([], "No `<tool_call>` is needed.", {}, True),
        ([], "", {}, False),
        ([], [READ], {}, False),
    ],
)
def test_calls_are_compared_by_name_and_by_typed_arguments(
    wanted: Any, given: Any, config: dict[str, Any], passed: bool
) -> None:
    """Order counts unless the config says otherwise; an abstention is text without a call."""
    verdict = _judge(_bound(wanted, **config), given)
    assert (passed, passed) == (verdict.passed, not verdict.misses)


@pytest.mark.parametrize(
    "answer",
    [
        '<tool_call>\n<tool_call name="math.solve" arguments={"a": 1}/>\n</tool_call>',
        '<tool_call>{"name": "read", "argum',
        '{"a": 1}</tool_call>',
        "Let me see. <tool_ca",
        '```json\n{"name": "read", "arguments": {"path": "a.txt"}\n```',
        '{"name": "read", "arguments": {"path": "a.txt"',
        '[TOOL_CALLS] [{"name": "read"}]',
        render_tool_call("read", {}) + "<tool_call>",
    ],
)
def test_a_call_that_is_not_whole_is_malformed_and_never_an_abstention(answer: str) -> None:
    """The miss has the parser's words. [O-24]"""
    verdict = _judge(_bound([]), answer)
    assert verdict.passed is False
    assert {"malformed-call"} == {miss.name for miss in verdict.misses}
    assert all(miss.detail.startswith("error: ") for miss in verdict.misses)


def test_calls_in_the_reasoning_do_not_count() -> None:
    """What was thought of was not called; reasoning that never ends leaves no answer."""
    thought = f"<think>{render_tool_call('rm', {})}</think>"
    assert _judge(_bound([READ]), thought + render_tool_call("read", {"path": "a.txt"})).passed
    assert _judge(_bound([]), thought + "Nothing to do.").passed
    assert ["no-answer"] == [miss.name for miss in _judge(_bound([]), "<think>hm").misses]


def test_native_calls_count_before_the_text() -> None:
    """An endpoint that parses calls has said what they are; broken arguments are malformed."""
    good = ModelOutput("m", tool_calls=[ToolCall("read", '{"path": "a.txt"}')])
    bad = ModelOutput("m", tool_calls=[ToolCall("read", '{"path": ')])
    assert _judge(_bound([READ]), "Reading.", [good]).passed
    assert ["malformed-call"] == [miss.name for miss in _judge(_bound([READ]), "", [bad]).misses]


@pytest.mark.parametrize("target", ["{}", "x", '[{"name": "a"}]', '[{"name": 1, "arguments": {}}]'])
def test_a_target_that_is_no_list_of_calls_is_refused(target: str) -> None:
    """An abstention is [], not an empty target. [T-8]"""
    with pytest.raises(InputError, match="toolcalls"):
        bind_spec({"name": "toolcalls"}, target)


@pytest.mark.parametrize("calls", [[READ], [READ, STAT], []])
def test_its_own_wrong_answers_fail_as_named_and_its_own_right_ones_pass(calls: Any) -> None:
    """Reference, spoils and unusual forms."""
    bound = _bound(calls)
    verifier = bound.verifier
    assert verifier.render is not None
    reference = verifier.render(bound.target, bound.config)
    assert _judge(bound, reference).passed
    for name, spoil in verifier.spoil.items():
        made = spoil.make(bound.target, bound.config, "")
        assert made is None or {m.name for m in _judge(bound, made).misses} & set(spoil.misses), name
    for name, vary in verifier.vary.items():
        form = vary(bound.target, bound.config, "")
        assert form is None or _judge(bound, form).passed, name


@pytest.mark.shared
def test_the_open_tool_call_cases_are_judged_as_they_should_be(shared: Path) -> None:
    """No row of the kind tool-call is wrong, rows of policy aside."""
    lines = (shared / "cases" / "open.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [r for r in map(json.loads, lines) if r["kind"] == "tool-call" and not r.get("policy_dependent")]
    assert len(rows) > 10
    wrong = [
        r["id"]
        for r in rows
        if _judge(_bound(r["target"]["calls"], unordered=r.get("unordered", False)), r["response"]).passed
        is not r["expected"]
    ]
    assert [] == wrong
