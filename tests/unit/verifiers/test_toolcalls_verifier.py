"""The calls that a reply makes, as a verifier."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judged import reading_of
from steelyard.attempt import Attempt, ModelOutput, ToolCall
from steelyard.errors import InputError
from steelyard.parsing.toolcalls import render_tool_call
from steelyard.verdict import Reading, Unread, Verdict
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


FOUND: list[tuple[dict[str, object], str, object]] = [
    (
        {},
        '<think>Rome?</think>\n<tool_call>{"name":"f","arguments":{}}</tool_call> x',
        ([{"name": "f", "arguments": {}}], "text", (21, 71)),
    ),
    ({}, " ", None),
    ({}, "<think>f", None),
    ({}, "Nothing to do.", ([], "text", None)),
]


@pytest.mark.parametrize(("config", "answer", "found"), FOUND)
def test_a_reading_says_what_was_found_by_which_rule_and_where(
    config: dict[str, Any], answer: str, found: object
) -> None:
    """The span is of the whole reply, reasoning included; nothing where nothing is committed to. [T-13]"""
    bound = bind_spec({"name": "toolcalls", **config}, "[]")
    assert found == reading_of(bound, answer)


WITNESSES: list[tuple[list[Any], dict[str, Any], dict[str, str | None]]] = [
    (
        [],
        {},
        {
            "render": "None of these tools is needed.",
            "call-broken": "<tool_call>\n{}\n</tool_call>",
            "call-added": '<tool_call>\n{"name": "help", "arguments": {}}\n</tool_call>',
            "argument-added": None,
            "abstained": None,
            "reordered": None,
            "compact": None,
            "in-prose": "Let me do that.\nNone of these tools is needed.\n",
        },
    ),
    (
        [READ],
        {},
        {
            "render": "<READ>",
            "call-broken": '<tool_call>\n{"name": "read", "arguments": {"path": "a.txt"}\n</tool_call>',
            "call-added": "<READ>\n<READ>",
            "argument-added": (
                '<tool_call>\n{"name": "read", "arguments": {"path": "a.txt", "one_more_argument": true}}\n</tool_call>'
            ),
            "abstained": "I cannot do this with the tools I have.",
            "reordered": None,
            "compact": '<tool_call>{"name":"read","arguments":{"path":"a.txt"}}</tool_call>',
            "in-prose": "Let me do that.\n<READ>\n",
        },
    ),
    (
        [READ, STAT],
        {},
        {
            "render": "<READ>\n<STAT>",
            "call-broken": '<tool_call>\n{"name": "read", "arguments": {"path": "a.txt"}\n</tool_call>\n<STAT>',
            "call-added": "<READ>\n<STAT>\n<STAT>",
            "argument-added": (
                '<tool_call>\n{"name": "read", "arguments": '
                '{"path": "a.txt", "one_more_argument": true}}\n</tool_call>'
                "\n<STAT>"
            ),
            "abstained": "I cannot do this with the tools I have.",
            "reordered": "<STAT>\n<READ>",
            "compact": (
                '<tool_call>{"name":"read","arguments":{"path":"a.txt"}}</tool_call>'
                '<tool_call>{"name":"stat","arguments":{"n":1}}</tool_call>'
            ),
            "in-prose": "Let me do that.\n<READ>\n<STAT>\n",
        },
    ),
    (
        [READ, STAT],
        {"unordered": True},
        {
            "render": "<READ>\n<STAT>",
            "call-broken": '<tool_call>\n{"name": "read", "arguments": {"path": "a.txt"}\n</tool_call>\n<STAT>',
            "call-added": "<READ>\n<STAT>\n<STAT>",
            "argument-added": (
                '<tool_call>\n{"name": "read", "arguments": '
                '{"path": "a.txt", "one_more_argument": true}}\n</tool_call>'
                "\n<STAT>"
            ),
            "abstained": "I cannot do this with the tools I have.",
            "reordered": None,
            "compact": (
                '<tool_call>{"name":"read","arguments":{"path":"a.txt"}}</tool_call>'
                '<tool_call>{"name":"stat","arguments":{"n":1}}</tool_call>'
            ),
            "in-prose": "Let me do that.\n<READ>\n<STAT>\n",
        },
    ),
    (
        [READ, READ],
        {},
        {
            "render": "<READ>\n<READ>",
            "call-broken": '<tool_call>\n{"name": "read", "arguments": {"path": "a.txt"}\n</tool_call>\n<READ>',
            "call-added": "<READ>\n<READ>\n<READ>",
            "argument-added": (
                '<tool_call>\n{"name": "read", "arguments": '
                '{"path": "a.txt", "one_more_argument": true}}\n</tool_call>'
                "\n<READ>"
            ),
            "abstained": "I cannot do this with the tools I have.",
            "reordered": None,
            "compact": (
                '<tool_call>{"name":"read","arguments":{"path":"a.txt"}}</tool_call>'
                '<tool_call>{"name":"read","arguments":{"path":"a.txt"}}</tool_call>'
            ),
            "in-prose": "Let me do that.\n<READ>\n<READ>\n",
        },
    ),
]


@pytest.mark.parametrize(("calls", "config", "made"), WITNESSES)
def test_the_verifiers_own_answers_are_made_and_judged(
    calls: list[Any], config: dict[str, Any], made: dict[str, str | None]
) -> None:
    """Renderings and variations pass, spoils fail; None where one does not apply. [T-13]"""
    bound = _bound(calls, **config)
    verifier, target = bound.verifier, bound.target
    assert verifier.render is not None
    right = {"render": verifier.render(target, bound.config)}
    right |= {name: make(target, bound.config, "") for name, make in verifier.vary.items()}
    wrong = {name: spoil.make(target, bound.config, "") for name, spoil in verifier.spoil.items()}
    read, stat = (render_tool_call(call["name"], call["arguments"]) for call in (READ, STAT))
    whole = {name: text and text.replace("<READ>", read).replace("<STAT>", stat) for name, text in made.items()}
    assert whole == right | wrong
    judged = {name: _judge(bound, text) for name, text in whole.items() if text is not None}
    assert {name: name in right for name in judged} == {name: verdict.passed for name, verdict in judged.items()}


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ("{}", {"name": "read", "arguments": {}}),
        ("[]", {"error": "error: arguments must be a JSON object"}),
        ('"x"', {"error": "error: arguments must be a JSON object"}),
    ],
)
def test_a_native_call_is_read_from_the_last_output(arguments: str, found: dict[str, Any]) -> None:
    """What an earlier turn called is no part of the answer; arguments are an object. [O-24]"""
    outputs = [
        ModelOutput("m", tool_calls=[ToolCall(name, text)]) for name, text in (("rm", "{}"), ("read", arguments))
    ]
    reading = _bound([]).read(Attempt(answer="Reading.", outputs=outputs))
    assert Reading([found], "native", None) == reading
    last = _bound([]).read(Attempt(answer="Done.", outputs=[outputs[0], ModelOutput("m")]))
    assert Reading([], "text", None) == last


def test_the_span_reaches_from_the_first_call_to_the_last() -> None:
    """Text between and about the calls is no part of them. [T-13]"""
    one, two = render_tool_call("read", {}), render_tool_call("stat", {})
    reading = _bound([]).read(Attempt(answer=f"<think>x</think>So: {one} and {two}. Done."))
    assert isinstance(reading, Reading)
    start = len("<think>x</think>So: ")
    assert (start, start + len(one) + len(" and ") + len(two)) == reading.span
    assert ["read", "stat"] == [call["name"] for call in reading.value]


@pytest.mark.parametrize(("fenced", "passed"), [(True, True), (False, False)])
def test_fenced_json_is_a_call_unless_the_config_says_no(fenced: bool, passed: bool) -> None:
    """Models without tags write calls in fences. [O-24]"""
    answer = f"```json\n{json.dumps(READ)}\n```"
    assert passed is _judge(_bound([READ], fenced=fenced), answer).passed
    assert _judge(_bound([READ]), answer).passed


def test_a_character_that_json_cannot_keep_is_no_answer() -> None:
    """What could not be stored could not be judged again. [O-24]"""
    call = '<tool_call>{"name": "read", "arguments": {"n": "\\ud800"}}</tool_call>'
    assert ["no-answer"] == [miss.name for miss in _judge(_bound([READ]), call).misses]


def test_each_wrong_call_is_shown_and_a_long_one_is_cut() -> None:
    """Every call out of place has a miss of its own; two hundred characters are shown. [O-24]"""
    long = {"name": "read", "arguments": {"path": "é" * 300}}
    misses = _judge(_bound([READ, STAT]), [long, READ]).misses
    assert ["wrong-call", "wrong-call"] == [miss.name for miss in misses]
    assert (json.dumps(long, ensure_ascii=False)[:200] + "...", json.dumps(READ)) == tuple(m.detail for m in misses)
    assert json.dumps(READ) == _judge(_bound([STAT], unordered=True), [READ]).misses[0].detail


@pytest.mark.parametrize(
    "target",
    ['[{"name": "a", "arguments": {}, "id": 1}]', '[{"name": "a", "arguments": []}]', "[1]", '{"name": "a"}', "null"],
)
def test_a_call_of_a_target_has_a_name_and_an_object_alone(target: str) -> None:
    """More or less than name and arguments is the author's error. [T-8]"""
    with pytest.raises(InputError, match=r'verifier "toolcalls"'):
        bind_spec({"name": "toolcalls"}, target)


@pytest.mark.parametrize(
    ("reply", "reason"), [("<think>[f(a=1)]", "the reasoning block is never closed"), (" \n", "the answer is empty")]
)
def test_an_unread_reply_says_why(reply: str, reason: str) -> None:
    """A cut-off reply is no abstention. [O-24]"""
    assert Unread(reason) == _bound([]).read(Attempt(answer=reply))


@pytest.mark.parametrize(
    ("reply", "rule", "span"),
    [
        ("  [f(a=1)]", "python", (2, 10)),
        ('{"function": {"name": "f", "arguments": {"a": 1}}}', "openai", (0, 50)),
        ('<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>', "text", (0, 59)),
        ("no call", "text", None),
    ],
)
def test_the_form_in_which_a_call_was_found_is_recorded(reply: str, rule: str, span: tuple[int, int] | None) -> None:
    """Tags come first; without them a reply may be OpenAI's JSON or Python calls. [O-24]"""
    found = _bound([]).read(Attempt(answer=reply))
    assert isinstance(found, Reading)
    assert (rule, span) == (found.rule, found.span)
