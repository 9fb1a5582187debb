"""Instructions as a verifier: verdicts, measures, modes, and what is refused at load."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.parsing.instructions import libraries
from steelyard.verdict import Reading, Unread, Verdict
from steelyard.verifiers.contract import Config
from steelyard.verifiers.ifeval import VERIFIERS, IfevalConfig
from steelyard.verifiers.registry import Bound

NO_COMMA = {"id": "punctuation:no_comma", "kwargs": {}}
QUOTED = {"id": "startend:quotation", "kwargs": {}}
CAT = {"id": "keywords:frequency", "kwargs": {"keyword": "cat", "frequency": 2, "relation": "less than"}}


def _bound(asked: Any, **config: Any) -> Bound:
    target, settings = json.dumps(asked), IfevalConfig(**config)
    verifier = VERIFIERS[0]
    assert verifier.check is not None
    verifier.check(target, settings)
    return Bound(verifier, settings, target)


def _judge(bound: Bound, reply: str) -> Verdict:
    verdict = bound.decide(bound.read(Attempt(answer=reply)))
    assert isinstance(verdict, Verdict)
    return verdict


def test_a_verdict_holds_every_instruction_and_its_score_is_the_share_followed() -> None:
    """Verdicts of every instruction, strict and loose, are measures that a report can pool. [S-15]"""
    verdict = _judge(_bound([NO_COMMA, QUOTED]), "**No comma**")
    measures = {
        "0:punctuation:no_comma:strict": 1.0,
        "0:punctuation:no_comma:loose": 1.0,
        "1:startend:quotation:strict": 0.0,
        "1:startend:quotation:loose": 0.0,
        "n": 2.0,
        "n_strict": 1.0,
        "strict": 0.0,
        "n_loose": 1.0,
        "loose": 0.0,
    }
    assert (False, 0.5, measures) == (verdict.passed, verdict.score, verdict.measures)
    assert ["instruction-not-followed"] == [miss.name for miss in verdict.misses]
    assert verdict.misses[0].detail.startswith("1:startend:quotation: ")


def test_the_loose_verdict_forgives_a_first_line_and_asterisks() -> None:
    """Strictness decides which verdict counts; both are measured. [S-15]"""
    reply = "Sure, here it is:\n**No comma**"
    strict, loose = (_judge(_bound([NO_COMMA], strictness=s), reply) for s in ("strict", "loose"))
    assert (False, True) == (strict.passed, loose.passed)
    assert strict.measures == loose.measures


def test_the_fixed_mode_reads_what_follows_the_reasoning() -> None:
    """Text inside a reasoning block is not the reply; an open block leaves none. [S-15]"""
    bound = _bound([NO_COMMA])
    assert _judge(bound, "<think>one, two</think>Fine.").passed
    assert ["no-answer"] == [m.name for m in _judge(bound, "<think>one").misses]


def test_the_reference_mode_reads_the_raw_reply_and_keeps_the_runners_faults() -> None:
    """`cat` inside other words counts in the published runner, and reasoning is part of the reply. [S-15]"""
    bound = _bound([CAT], mode="reference")
    assert not _judge(bound, "The cat can concatenate.").passed
    assert _judge(_bound([CAT]), "The cat can concatenate.").passed
    assert not _judge(_bound([NO_COMMA], mode="reference"), "<think>a, b</think>Fine").passed


def test_what_the_runner_draws_is_drawn_once_and_from_the_seed() -> None:
    """A sign that is no letter is replaced by a random letter, the same one for every text and run. [S-15]"""
    sign = {
        "id": "keywords:letter_frequency",
        "kwargs": {"letter": "#", "let_frequency": 1, "let_relation": "at least"},
    }
    found = [[_judge(_bound([sign], mode="reference", seed=s), "qj").passed for s in range(40)] for _ in range(2)]
    assert found[0] == found[1]
    assert {True, False} == set(found[0])
    assert not any(_judge(_bound([sign], seed=s), "qj").passed for s in range(40))


@pytest.mark.parametrize("reply", ["", "  \n"])
@pytest.mark.parametrize("mode", ["fixed", "reference"])
def test_an_empty_reply_fails_in_both_modes(reply: str, mode: str) -> None:
    """An empty reply follows nothing, and is a failure, not a void. [S-15]"""
    assert False is _judge(_bound([NO_COMMA], mode=mode), reply).passed


@pytest.mark.parametrize(
    ("asked", "config", "part"),
    [
        ([{"id": "made:up", "kwargs": {}}], {}, 'unknown id "made:up"'),
        ("not a list", {}, "an instruction is"),
        ([{"id": "keywords:existence", "kwargs": {"keywords": ["("]}}], {"mode": "reference"}, "as a pattern"),
    ],
)
def test_a_target_that_cannot_work_is_refused_when_it_is_loaded(asked: Any, config: dict[str, Any], part: str) -> None:
    """Unknown instructions never pass, and what the published runner cannot run is refused. [S-15]"""
    with pytest.raises(InputError) as error:
        _bound(asked, **config)
    assert part in str(error.value)


def test_the_reference_mode_says_which_extra_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the libraries a target is refused at load, with what helps; fixed mode needs none. [S-15]"""
    asked = [{"id": "change_case:english_capital", "kwargs": {}}]
    libraries._langdetect.cache_clear()
    monkeypatch.setitem(sys.modules, "langdetect", None)
    with pytest.raises(InputError) as error:
        _bound(asked, mode="reference")
    assert "steelyard[ifeval-reference]" in str(error.value)
    assert _judge(_bound(asked), "OK").passed
    libraries._langdetect.cache_clear()


def test_decide_is_pure() -> None:
    """The same reading gives the same verdict, and a value from a field is read as its JSON text. [S-15]"""
    bound = _bound([{"id": "detectable_format:json_format", "kwargs": {}}])
    reading = Reading({"a": 1}, "field")
    assert bound.decide(reading) == bound.decide(reading)
    assert True is bound.verifier.decide(reading, bound.target, bound.config).passed


def test_the_config_refuses_unknown_settings() -> None:
    """The config is a strict struct. [S-15]"""
    assert issubclass(IfevalConfig, Config)


@pytest.mark.parametrize(
    ("mode", "reply", "found"),
    [
        ("fixed", "<think>so</think>Fine", Reading("Fine", "whole", (17, 21))),
        ("reference", "<think>so</think>Fine", Reading("<think>so</think>Fine", "raw", (0, 21))),
        ("fixed", "Fine", Reading("Fine", "whole", (0, 4))),
        ("fixed", "<think>so", Unread("the reasoning block is never closed")),
        ("reference", " \n", Unread("the reply is empty, which follows no instruction")),
    ],
)
def test_a_reading_says_which_text_was_judged_and_where(mode: str, reply: str, found: Reading | Unread) -> None:
    """The span is of the whole reply; the raw reply is read from its start. [S-15]"""
    assert found == _bound([NO_COMMA], mode=mode).read(Attempt(answer=reply))


@pytest.mark.parametrize(
    "reply", ['Sure.\n"Yes.\nNo."', '"Yes.\nNo."\nBye.', 'Sure.\n"Yes.\nNo."\nBye.', '*"Yes.\nNo."*', '*"Yes."\nBye.*']
)
def test_each_forgiven_line_may_go_alone(reply: str) -> None:
    """The first line, the last, both and asterisks are each tried. [S-15]"""
    strict, loose = (_judge(_bound([QUOTED], strictness=s), reply) for s in ("strict", "loose"))
    assert (False, True) == (strict.passed, loose.passed)
    assert (0.0, 1.0) == (strict.score, loose.score)
    assert (0.0, 1.0) == (strict.measures["strict"], strict.measures["loose"])


def test_the_blank_reply_is_its_wrong_answer() -> None:
    """White space alone follows no instruction. [S-15]"""
    bound = _bound([NO_COMMA])
    made = {name: spoil.make(bound.target, bound.config, "") for name, spoil in bound.verifier.spoil.items()}
    assert {"blank": " \n\n "} == made
    assert ["no-answer"] == [miss.name for miss in _judge(bound, str(made["blank"])).misses]


def test_a_text_from_a_field_is_read_as_it_stands() -> None:
    """Only what is no text is turned into JSON, and letters stay as they are. [S-15]"""
    quoted = _bound([QUOTED])
    assert _judge_value(quoted, '"Yes."').passed
    assert not _judge_value(quoted, ["Yes."]).passed
    accent = {"id": "keywords:existence", "kwargs": {"keywords": ["café"]}}
    assert _judge_value(_bound([accent]), {"a": "café"}).passed


def _judge_value(bound: Bound, value: Any) -> Verdict:
    verdict = bound.decide(Reading(value, "field"))
    assert isinstance(verdict, Verdict)
    return verdict
