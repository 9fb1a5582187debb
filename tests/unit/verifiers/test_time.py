"""The time verifier: instants, zones, scales and bands in seconds."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.verdict import Reading, Verdict
from steelyard.verifiers.registry import Bound, bind_spec

TARGET = "2009-02-10T16:55:59.8Z"  # Iridium 33 and Cosmos 2251


def _bind(target: str = TARGET, **config: Any) -> Bound:
    return bind_spec({"name": "time", **config}, target)


def _verdict(answer: str, **config: Any) -> Verdict:
    bound = _bind(**config)
    return bound.decide(bound.read(Attempt(answer=answer)))


@pytest.mark.parametrize(
    "answer",
    [
        "2009-02-10T16:55:59.8Z",
        "2009-02-10T16:55:59.800Z",
        "2009-02-10T16:55:59,8Z",
        "2009-02-10 16:55:59.8 UTC",
        "2009-02-10 16:55:59.8",
        "2009-02-10T18:55:59.8+02:00",
        "2009-02-10T11:55:59.8-0500",
        "2009-02-10T11:55:59.8−05:00",
        "2009-041T16:55:59.8Z",
        "2009/02/10 16:55:59.8 GMT",
        "10 Feb 2009 16:55:59.8 UTC",
        "10 February 2009, 16:55:59.8 (UTC)",
        "February 10, 2009 at 4:55:59.8 PM UTC",
        "The TCA is **2009-02-10T16:55:59.8Z**.",
        "\\boxed{2009-02-10T16:55:59.8Z}",
        '```json\n{"tca": "2009-02-10T16:55:59.8Z"}\n```',
        "From epoch 2009-02-09T00:00:00Z on, the closest approach is at 2009-02-10T16:55:59.8Z.",
        "Closest approach at 2009-02-10T16:55:59.8Z (screened from 2009-02-10T00:00:00Z).",
        "Answer: 2009-02-10T16:55:59.8Z\nThe window ends 2009-02-11T00:00:00Z.",
        "First guess 2009-02-10T12:00:00Z. Final answer: 2009-02-10T16:55:59.8Z",
    ],
)
def test_an_instant_is_read_in_any_common_notation(answer: str) -> None:
    """ISO with T or a space, offsets, month names and clock halves name the same instant [T-12]."""
    assert True is _verdict(answer).passed


@pytest.mark.parametrize(
    ("answer", "miss"),
    [
        ("2009-02-10T16:55:58.8Z", "wrong-time"),
        ("2009-02-10T16:55:59.8+01:00", "wrong-time"),
        ("2009-02-11T16:55:59.8Z", "wrong-time"),
        ("2009-02-10T04:55:59.8Z", "wrong-time"),
        ("2009-02-10T16:57:05.984Z", "wrong-scale"),
        ("2009-02-10T16:56:33.8Z", "wrong-scale"),
        ("2009-02-10T16:57:05.984 TT", "wrong-scale"),
        ("16:55:59.8", "no-answer"),
        ("2009-02-10", "no-answer"),
        ("2009-02-30T16:55:59.8Z", "no-answer"),
        ("2009-02-10T25:55:59.8Z", "no-answer"),
        ("between 2009-02-10T16:55:59.8Z and 2009-02-10T16:56:59.8Z", "no-answer"),
        ("2009-02-10T16:55:59.8Z or 2009-02-10T17:55:59.8Z", "no-answer"),
        ("2009-02-10T16:55:59.8Z to 2009-02-10T17:55:59.8Z", "no-answer"),
        ("I cannot tell", "no-answer"),
        ("", "no-answer"),
    ],
)
def test_a_wrong_time_says_why(answer: str, miss: str) -> None:
    """Off by TAI - UTC or TT - UTC is a wrong scale; a range or a date alone is no answer [T-12]."""
    assert [miss] == [m.name for m in _verdict(answer).misses]


def test_the_band_is_inclusive_and_exact() -> None:
    """0.2 s of tolerance takes 0.2 s and not 0.201 s [T-12]."""
    assert True is _verdict("2009-02-10T16:56:00.0Z", atol_s=0.2).passed
    assert False is _verdict("2009-02-10T16:56:00.001Z", atol_s=0.2).passed


def test_a_time_without_zone_counts_only_where_utc_is_assumed() -> None:
    """`assume_utc` decides about times without a zone, from prose and from JSON alike [T-12]."""
    bound = _bind(assume_utc=False)
    assert ["no-answer"] == [m.name for m in _verdict("2009-02-10 16:55:59.8", assume_utc=False).misses]
    assert False is bound.decide(Reading("2009-02-10T16:55:59.8", "field")).passed
    assert True is bound.decide(Reading("2009-02-10T16:55:59.8Z", "field")).passed


def test_a_leap_second_is_the_second_after_it() -> None:
    """23:59:60 is read as 00:00:00 of the next day [T-12]."""
    bound = _bind("2017-01-01T00:00:00Z")
    assert True is bound.decide(bound.read(Attempt(answer="2016-12-31T23:59:60Z"))).passed


@pytest.mark.parametrize("value", [True, 5, 1.5, None, ["2009-02-10T16:55:59.8Z"], "yesterday"])
def test_a_json_value_that_is_no_time_fails(value: Any) -> None:
    """Only text can name an instant [T-12]."""
    assert ["wrong-time"] == [m.name for m in _bind().decide(Reading(value, "field")).misses]


@pytest.mark.parametrize(
    ("target", "config"),
    [("soon", {}), ("", {}), ("2009-02-10", {}), ("2009-02-10T16:55:59 TT", {}), (TARGET, {"atol_s": -1.0}),
     (TARGET, {"atol_s": float("inf")}), (TARGET, {"window": 1})],
)  # fmt: skip
def test_a_bad_target_or_config_is_refused_at_load(target: str, config: dict[str, Any]) -> None:
    """The target is an instant in UTC and the tolerance is finite and not negative [T-8]."""
    with pytest.raises(InputError):
        _bind(target, **config)


@pytest.mark.parametrize("config", [{}, {"atol_s": 1.0}, {"atol_s": 60.0}, {"assume_utc": False}])
@pytest.mark.parametrize("target", [TARGET, "2024-05-01T12:30:05Z", "1969-12-31T23:59:59.999Z"])
def test_every_variation_passes_and_every_spoil_fails_as_named(target: str, config: dict[str, Any]) -> None:
    """The verifier's own witnesses hold for each kind of config [T-13]."""
    bound = _bind(target, **config)
    verifier, prompt = bound.verifier, "When do objects 24946 and 22675 meet on 2009-02-10?"
    assert verifier.render is not None
    answers = {name: make(target, bound.config, prompt) for name, make in verifier.vary.items()}
    answers["render"] = verifier.render(target, bound.config)
    wrong = {n for n, a in answers.items() if a is not None and not bound.decide(bound.read(Attempt(answer=a))).passed}
    assert set() == wrong
    for name, spoil in verifier.spoil.items():
        answer = spoil.make(target, bound.config, prompt)
        if answer is not None:
            verdict = bound.decide(bound.read(Attempt(answer=str(answer))))
            assert (name, False) == (name, verdict.passed)
            assert (name, True) == (name, bool({miss.name for miss in verdict.misses} & set(spoil.misses)))


def test_a_megabyte_of_digits_and_colons_is_no_answer() -> None:
    """Hostile text ends in a verdict [T-13]."""
    for piece in ("2009-02-10T16:", "1:", "9", "2009-", "10 Feb 2009 "):
        assert ["no-answer"] == [m.name for m in _verdict(piece * (1_000_000 // len(piece))).misses]
