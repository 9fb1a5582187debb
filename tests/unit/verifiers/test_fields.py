"""JSON answers judged field by field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judged import own_answers_are_made_and_judged
from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.verdict import Miss, Reading, Undecided, Unread, Verdict
from steelyard.verifiers import registry
from steelyard.verifiers.contract import Script, Verifier
from steelyard.verifiers.registry import Bound, bind_spec, declared_misses

TRAIL = {
    "name": "fields",
    "parse": "strict",
    "exactly": True,
    "fields": {
        "state": {"verifier": {"name": "exact", "fold": "none"}, "type": "text"},
        "reason": {"verifier": {"name": "one_of", "fold": "none"}, "type": "text"},
        "unknown": {"miss": "unknown-differs", "type": "texts"},
        "say": {
            "verifier": {"name": "states", "polarity": "not-asserted"},
            "miss": "states-ruled-out",
            "type": "text",
        },
    },
}
TRAIL_TARGET = {"state": "closed until Friday", "reason": ["a washed-out bridge"], "unknown": [], "say": "open"}
RIGHT = {
    "state": "closed until Friday",
    "reason": "a washed-out bridge",
    "unknown": [],
    "say": "The north trail is closed until Friday, because of a washed-out bridge.",
}


def _bound(target: Any, **config: Any) -> Bound:
    return bind_spec({"name": "fields", **config}, json.dumps(target))


def _judge(bound: Bound, answer: Any) -> Verdict:
    return bound.decide(bound.read(Attempt(answer=answer if isinstance(answer, str) else json.dumps(answer))))


def _trail(answer: Any) -> list[str]:
    verdict = _judge(bind_spec(TRAIL, json.dumps(TRAIL_TARGET)), answer)
    assert verdict.passed is (not verdict.misses)
    return [miss.name for miss in verdict.misses]


def test_the_trail_answer_passes() -> None:
    """Seed 004's oracle is one config of fields. [G-8]"""
    assert [] == _trail(RIGHT)


def test_every_miss_of_every_field_is_reported_at_once_in_the_order_of_the_rules() -> None:
    """State, reason, unknown and the ruled-out sentence are all named. [G-8]"""
    wrong = {"state": "open", "reason": "snow", "unknown": ["detour"], "say": "The north trail is open."}
    assert ["wrong-state", "wrong-reason", "unknown-differs", "states-ruled-out"] == _trail(wrong)


@pytest.mark.parametrize(
    ("answer", "detail"),
    [
        ("The trail is closed.", "not JSON"),
        ("", "not JSON"),
        ("null", "fields must be exactly state, reason, unknown, say"),
        ('"text"', "fields must be exactly state, reason, unknown, say"),
        ("[]", "fields must be exactly state, reason, unknown, say"),
        ({"state": "x"}, "fields must be exactly state, reason, unknown, say"),
        ({**RIGHT, "more": 1}, "fields must be exactly state, reason, unknown, say"),
        ({**RIGHT, "say": 3, "unknown": 3}, "state, reason and say are text"),
        ({**RIGHT, "state": None}, "state, reason and say are text"),
        ({**RIGHT, "unknown": "x"}, "unknown is a list of text"),
        ({**RIGHT, "unknown": [1]}, "unknown is a list of text"),
        (f"```json\n{json.dumps(RIGHT)}\n```", "not JSON"),
        ('{"state": "x", ' + json.dumps(RIGHT)[1:], "not JSON"),
    ],
)
def test_what_is_not_an_answer_is_that_miss_alone(answer: Any, detail: str) -> None:
    """The shape errors have the seed's words, in its order, and stand alone. [G-7]"""
    verdict = _judge(bind_spec(TRAIL, json.dumps(TRAIL_TARGET)), answer)
    assert [Miss("not-an-answer", detail)] == verdict.misses


@pytest.mark.parametrize(
    ("target", "answer", "passed"),
    [
        ({"port": 8042}, '```json\n{"port": 8042}\n```\nIt is in the settings.', True),
        ({"a": 1}, "Sure! Here it is: " + '{"a": 1, "b": 2}', True),
        ({"a": 1}, '<think>{"a": 2}</think>{"a": 1}', True),
        ({"a": 2}, '<think>{"a": 2}</think>{"a": 1}', False),
        ({"a": 1}, '<think>{"a": 1}', False),
        ({"a": "<think>x"}, '{"a": "<think>x"}', True),
        ({"a": 2}, '~~{"a": 1}~~ {"a": 2}', True),
        ({"a": "~~b~~"}, 'It is {"a": "~~b~~"}', True),
        ({"n": 1}, '{"n": 1.0}', True),
        ({"n": 1}, '{"n": true}', False),
        ({"n": 1}, '{"n": "1"}', False),
        ({"n": 10**30}, '{"n": ' + str(10**30) + "}", True),
        ({"n": 10**30}, '{"n": ' + str(10**30 + 1) + "}", False),
        ({"a": None}, "{}", False),
        ({"a": {"b": [1, 2]}}, '{"a": {"b": [2, 1]}}', False),
        ({"x": None}, '{"x": NaN}', False),
        ({"a": "\ud800"}, '{"a": "\\ud800"}', True),
    ],
)
def test_without_rules_every_field_of_the_target_must_be_there_and_equal(
    target: Any, answer: str, passed: bool
) -> None:
    """Fences, prose and reasoning do not count, other fields are allowed, types do."""
    assert passed is _judge(_bound(target), answer).passed


def test_a_number_past_4300_digits_is_compared_exactly_and_kept_as_text() -> None:
    """The reading stays storable; the comparison stays exact."""
    bound = bind_spec({"name": "fields"}, '{"n": ' + "9" * 5000 + "}")
    found = bound.read(Attempt(answer='{"n": ' + "9" * 5000 + "}"))
    assert isinstance(found, Reading)
    assert isinstance(found.value, str)
    assert bound.decide(found).passed
    assert not bound.decide(bound.read(Attempt(answer='{"n": ' + "9" * 4999 + "8}"))).passed


def test_a_field_with_a_verifier_gets_text_through_its_read_and_other_values_as_they_are() -> None:
    """A field's text may be prose; a field's number is a number."""
    rules = {"period_min": {"verifier": {"name": "period_min"}, "miss": "out-of-band"}}
    bound = _bound({"period_min": "92.90"}, fields=rules)
    for value in (92.9, 92.95, "92.9 min", "about 92.9 minutes"):
        assert _judge(bound, {"period_min": value}).passed, value
    verdict = _judge(bound, {"period_min": 95})
    assert ["out-of-band"] == [miss.name for miss in verdict.misses]
    assert ["out-of-band"] == [miss.name for miss in _judge(bound, {"period_min": "no idea"}).misses]


def test_a_missing_field_is_its_miss_unless_it_is_optional() -> None:
    """Optional allows absence, not a wrong value."""
    assert [Miss("wrong-a", "missing")] == _judge(_bound({"a": 1}), {}).misses
    bound = _bound({"a": 1}, fields={"a": {"optional": True}})
    assert _judge(bound, {}).passed
    assert [Miss("wrong-a", "2")] == _judge(bound, {"a": 2}).misses


FILES = {"name": "files", "checks": [{"path": "a.txt", "exists": True}]}


@pytest.mark.parametrize(
    ("target", "config", "said"),
    [
        ("[1]", {}, "needs a JSON object as target, got array"),
        ("oops", {}, "needs a JSON object as target"),
        ("{}", {}, "nothing would be checked"),
        ('{"a": 1}', {"fields": {"b": {}}}, 'lacks the ruled field "b"'),
        ('{"a": 1}', {"fields": {"a": {"miss": "Not Kebab"}}}, "kebab-case"),
        ('{"a": 1}', {"fields": {"a": {"verifier": {"name": "nubmer"}}}}, 'field "a": unknown verifier "nubmer"'),
        ('{"a": "x"}', {"fields": {"a": {"verifier": {"name": "number"}}}}, 'field "a": '),
        ('{"a": 1}', {"fields": {"a": {"verifier": {"name": "any", "of": [FILES]}}}}, "probes"),
        ('{"a": 1}', {"fields": {"a": {"optinal": True}}}, "optinal"),
    ],
)
def test_a_config_that_cannot_work_is_refused_when_it_is_loaded(target: str, config: Any, said: str) -> None:
    """The message names the field. [T-8]"""
    with pytest.raises(InputError, match=said):
        bind_spec({"name": "fields", **config}, target)


@pytest.mark.parametrize(
    "bound",
    [
        bind_spec(TRAIL, json.dumps(TRAIL_TARGET)),
        _bound({"a": 1, "b": "x", "c": [1], "d": True, "e": None}),
        _bound({"a": 1, "b": 2}, exactly=True, parse="strict"),
    ],
    ids=["trail", "free", "exactly"],
)
def test_its_own_wrong_answers_fail_as_named_and_its_own_unusual_right_ones_pass(bound: Bound) -> None:
    """Every spoil raises a declared miss, every vary passes."""
    verifier, config = bound.verifier, bound.config
    tried = 0
    for name, spoil in verifier.spoil.items():
        made = spoil.make(bound.target, config, "prompt")
        if made is None:
            continue
        tried += 1
        assert not isinstance(made, Script)
        verdict = _judge(bound, made)
        assert verdict.passed is False, (name, made)
        if spoil.misses:
            assert {miss.name for miss in verdict.misses} & set(spoil.misses), (name, verdict)
    for name, vary in verifier.vary.items():
        form = vary(bound.target, config, "prompt")
        assert form is None or _judge(bound, form).passed, (name, form)
    assert tried >= 4


def test_the_misses_of_its_fields_are_declared_by_the_config() -> None:
    """A spoil may name what the config names."""
    declared = declared_misses(bind_spec(TRAIL, json.dumps(TRAIL_TARGET)))
    assert {"not-an-answer", "wrong-state", "wrong-reason", "unknown-differs", "states-ruled-out"} <= declared


@pytest.mark.shared
def test_the_open_json_cases_are_judged_as_they_should_be(shared: Path) -> None:
    """No row of the kind json-fields is wrong."""
    lines = (shared / "cases" / "open.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["kind"] == "json-fields"]
    assert len(rows) > 20
    wrong = [r["id"] for r in rows if _judge(_bound(r["target"]), r["response"]).passed is not r["expected"]]
    assert [] == wrong


WITNESSES: list[tuple[str, dict[str, Any], str, dict[str, str | None]]] = [
    (
        '{"a": "x", "n": 3, "b": true, "l": [1], "z": null}',
        {},
        "",
        {
            "render": '{"a": "x", "n": 3, "b": true, "l": [1], "z": null}',
            "text-altered": '{"a": "x altered", "n": 3, "b": true, "l": [1], "z": null}',
            "number-shifted": '{"a": "x", "n": 4, "b": true, "l": [1], "z": null}',
            "boolean-flipped": '{"a": "x", "n": 3, "b": false, "l": [1], "z": null}',
            "list-extended": '{"a": "x", "n": 3, "b": true, "l": [1, "one more"], "z": null}',
            "number-as-text": '{"a": "x", "n": "3", "b": true, "l": [1], "z": null}',
            "field-spoiled": None,
            "field-missing": '{"a": "x", "n": 3, "b": true, "l": [1]}',
            "field-added": None,
            "not-json": '{"a": "x", "n": 3, "b": true, "l": [1], "z": null,}',
            "duplicate-key": '{"a": "x", "a": "x", "n": 3, "b": true, "l": [1], "z": null}',
            "in-a-list": '[{"a": "x", "n": 3, "b": true, "l": [1], "z": null}]',
            "reordered": '{"z": null, "l": [1], "b": true, "n": 3, "a": "x"}',
            "spaced": '\n{\n  "a": "x",\n  "n": 3,\n  "b": true,\n  "l": [\n    1\n  ],\n  "z": null\n}\n',
            "fenced": '```json\n{"a": "x", "n": 3, "b": true, "l": [1], "z": null}\n```',
            "in-prose": 'Here it is: {"a": "x", "n": 3, "b": true, "l": [1], "z": null}',
        },
    ),
    (
        '{"a": "x"}',
        {"exactly": True, "parse": "strict"},
        "",
        {
            "render": '{"a": "x"}',
            "text-altered": '{"a": "x altered"}',
            "number-shifted": None,
            "boolean-flipped": None,
            "list-extended": None,
            "number-as-text": None,
            "field-spoiled": None,
            "field-missing": "{}",
            "field-added": '{"a": "x", "one-more-field": 1}',
            "not-json": '{"a": "x",}',
            "duplicate-key": '{"a": "x", "a": "x"}',
            "in-a-list": '[{"a": "x"}]',
            "reordered": None,
            "spaced": '\n{\n  "a": "x"\n}\n',
            "fenced": None,
            "in-prose": None,
        },
    ),
    (
        '{"a": "Rome", "k": "4"}',
        {"fields": {"k": {"verifier": {"name": "number", "unit": "km"}}, "a": {"optional": True}}},
        "",
        {
            "render": '{"k": "4 km", "a": "Rome"}',
            "text-altered": '{"k": "4 km", "a": "Rome altered"}',
            "number-shifted": None,
            "boolean-flipped": None,
            "list-extended": None,
            "number-as-text": None,
            "field-spoiled": '{"k": "5 km", "a": "Rome"}',
            "field-missing": '{"a": "Rome"}',
            "field-added": None,
            "not-json": '{"k": "4 km", "a": "Rome",}',
            "duplicate-key": '{"k": "4 km", "k": "4 km", "a": "Rome"}',
            "in-a-list": '[{"k": "4 km", "a": "Rome"}]',
            "reordered": '{"a": "Rome", "k": "4 km"}',
            "spaced": '\n{\n  "k": "4 km",\n  "a": "Rome"\n}\n',
            "fenced": '```json\n{"k": "4 km", "a": "Rome"}\n```',
            "in-prose": 'Here it is: {"k": "4 km", "a": "Rome"}',
        },
    ),
    (
        '{"t": ["b"], "n": 2}',
        {"fields": {"t": {"verifier": {"name": "set"}, "type": "texts"}}},
        "",
        {
            "render": '{"t": ["b"], "n": 2}',
            "text-altered": None,
            "number-shifted": '{"t": ["b"], "n": 3}',
            "boolean-flipped": None,
            "list-extended": None,
            "number-as-text": '{"t": ["b"], "n": "2"}',
            "field-spoiled": None,
            "field-missing": '{"t": ["b"]}',
            "field-added": None,
            "not-json": '{"t": ["b"], "n": 2,}',
            "duplicate-key": '{"t": ["b"], "t": ["b"], "n": 2}',
            "in-a-list": '[{"t": ["b"], "n": 2}]',
            "reordered": '{"n": 2, "t": ["b"]}',
            "spaced": '\n{\n  "t": [\n    "b"\n  ],\n  "n": 2\n}\n',
            "fenced": '```json\n{"t": ["b"], "n": 2}\n```',
            "in-prose": 'Here it is: {"t": ["b"], "n": 2}',
        },
    ),
    (
        '{"q": "x"}',
        {"fields": {"q": {"optional": True}}},
        "",
        {
            "render": '{"q": "x"}',
            "text-altered": '{"q": "x altered"}',
            "number-shifted": None,
            "boolean-flipped": None,
            "list-extended": None,
            "number-as-text": None,
            "field-spoiled": None,
            "field-missing": None,
            "field-added": None,
            "not-json": '{"q": "x",}',
            "duplicate-key": '{"q": "x", "q": "x"}',
            "in-a-list": '[{"q": "x"}]',
            "reordered": None,
            "spaced": '\n{\n  "q": "x"\n}\n',
            "fenced": '```json\n{"q": "x"}\n```',
            "in-prose": 'Here it is: {"q": "x"}',
        },
    ),
]


@pytest.mark.parametrize(("target", "config", "prompt", "made"), WITNESSES)
def test_the_verifiers_own_answers_are_made_and_judged(
    target: str, config: dict[str, Any], prompt: str, made: dict[str, str | None]
) -> None:
    """Renderings and variations pass, spoils fail; None where one does not apply [T-13]."""
    bound = bind_spec({"name": "fields", **config}, target)
    own_answers_are_made_and_judged(bound, prompt, made)


def test_without_a_plain_answer_no_witness_is_made() -> None:
    """A field whose verifier renders nothing leaves nothing to spoil or to vary. [T-13]"""
    grade = {"name": "grade", "labels": {"x=": "GOOD", "y": "POOR"}, "passing": ["GOOD"]}
    bound = _bound({"g": "", "a": "x", "n": 1}, fields={"g": {"verifier": grade}}, exactly=True)
    verifier, target, config = bound.verifier, bound.target, bound.config
    assert verifier.render is not None
    made = [verifier.render(target, config)]
    made += [make(target, config, "") for make in verifier.vary.values()]
    made += [spoil.make(target, config, "") for spoil in verifier.spoil.values()]
    assert {None} == set(made)


def test_what_a_field_leaves_open_is_left_to_settle(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Deciding never settles by itself: that is a worker's, which can be killed. [T-13]"""
    slow = Verifier(
        name="slow",
        read=lambda attempt, config: Reading(attempt.answer, "whole") if attempt.answer else Unread("empty"),
        decide=lambda found, target, config: Undecided("needs algebra"),
        settle=lambda found, target, config: Verdict(found.value == target),
    )
    monkeypatch.setitem(registry._extra, "slow", (slow, tmp_path))
    bound = _bound({"a": "12"}, fields={"a": {"verifier": {"name": "slow"}}})
    found = bound.read(Attempt(answer='{"a": "12"}'))
    assert Undecided("needs algebra") == bound.decide(found)
    assert isinstance(found, Reading)
    assert bound.settle(found).passed


def test_every_wrong_attempt_names_the_miss_of_the_field_that_it_changed() -> None:
    """A spoil that any failure would satisfy proves little: each raises the miss that it names. [G-15, T-13]"""
    fields = {"state": {"miss": "wrong-state"}, "km": {"verifier": {"name": "number", "atol": 0.1}, "miss": "far-off"}}
    bound = _bound({"state": "closed", "km": "4.8", "open": True, "n": 3}, fields=fields)
    seen = {}
    for name, spoil in bound.verifier.spoil.items():
        made = spoil.make(bound.target, bound.config, "")
        if made is None:
            continue
        wanted = spoil.misses_of(made, bound.target, bound.config) if spoil.misses_of else spoil.misses
        verdict = bound.decide(bound.read(Attempt(answer=made)))
        assert wanted
        assert set(wanted) & {miss.name for miss in verdict.misses}, name
        seen[name] = wanted
    assert ("wrong-state",) == seen["text-altered"]
    assert ("far-off",) == seen["field-spoiled"]
    assert ("wrong-open",) == seen["boolean-flipped"]
