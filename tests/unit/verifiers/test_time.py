"""The time verifier: instants, zones, scales and bands in seconds."""

from __future__ import annotations

from typing import Any

import pytest

from judged import own_answers_are_made_and_judged, reading_of
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


READ: list[tuple[dict[str, object], str, object]] = [
    ({}, "<think>Rome?</think>\nIt is 2024-05-01T12:30:05Z.", ("2024-05-01T12:30:05Z", "last-line", (27, 47))),
    ({}, "Answer: 2024-05-01T12:30:05", ("2024-05-01T12:30:05Z", "label", (8, 27))),
    ({"assume_utc": False}, "2024-05-01T12:30:05", None),
    ({}, "2024-05-01T12:30:05 TT", ("2024-05-01T12:30:05 TT", "last-line", (0, 22))),
    ({}, " ", None),
    ({}, "no date", None),
    ({}, "from 2024-05-01T12:30:05Z to 2024-05-01T12:30:06Z", None),
    ({}, "2024-05-01T12:30:05Z and then 2024-05-01T12:31:06Z", None),
    ({}, "Answer: see below.\n\n2024-05-01T12:30:05Z", ("2024-05-01T12:30:05Z", "last-line", (20, 40))),
    ({}, "Answer: 2024-05-01T12:30:05Z, then 2024-05-02T12:30:05Z", ("2024-05-01T12:30:05Z", "label", (8, 28))),
    (
        {},
        "It is 2024-05-01T12:30:05Z, which is 2024-05-01T14:30:05+02:00",
        ("2024-05-01T12:30:05Z", "last-line", (37, 62)),
    ),
    ({}, "**2024-05-01T12:30:05Z** or so, and **2024-05-03T12:30:05Z** later", None),
    ({}, "Answer: none\n\n2024-05-01T12:30:05Z", None),
    ({}, "Answer: from 2024-05-01T12:30:05Z to 2024-05-01T12:30:05Z", ("2024-05-01T12:30:05Z", "label", (37, 57))),
    (
        {},
        "starting at 2024-05-01T12:30:05Z it is 2024-05-02T12:30:05Z",
        ("2024-05-02T12:30:05Z", "last-line", (39, 59)),
    ),
    ({}, "(2024-05-01T12:30:05Z) 2024-05-02T12:30:05Z", ("2024-05-02T12:30:05Z", "last-line", (23, 43))),
    ({}, "from 2024-05-01T12:30:05Z", ("2024-05-01T12:30:05Z", "last-line", (5, 25))),
    ({"assume_utc": False}, "2024-05-01T12:30:05 TT", ("2024-05-01T12:30:05 TT", "last-line", (0, 22))),
    ({}, "2024-05-01T12:30:05Z - 2024-05-01T12:30:06Z", None),
    ({}, "Answer: 2024-05-01T12:30:05Z or 2024-05-01T12:30:06Z", None),
    ({}, "<think>x", None),
    ({}, "a 2024-05-01T12:30:05Z, b 2024-05-02T12:30:05Z, c 2024-05-03T12:30:05Z", None),
]


@pytest.mark.parametrize(("config", "answer", "found"), READ)
def test_a_reading_says_what_was_found_by_which_rule_and_where(
    config: dict[str, Any], answer: str, found: object
) -> None:
    """The span is of the whole reply, reasoning included; nothing where nothing is committed to. [T-13]"""
    bound = bind_spec({"name": "time", **config}, "2024-05-01T12:30:05Z")
    assert found == reading_of(bound, answer)


WITNESSES: list[tuple[str, dict[str, Any], str, dict[str, str | None]]] = [
    (
        "2009-02-10T16:55:59.8Z",
        {},
        "When on 2009-02-10?",
        {
            "render": "2009-02-10T16:55:59.8Z",
            "after-band": "2009-02-10T16:55:59.801Z",
            "before-band": "2009-02-10T16:55:59.799Z",
            "another-day": "2009-02-11T16:55:59.8Z",
            "utc-tt-mixup": "2009-02-10T16:57:05.984Z",
            "date-only": "2009-02-10",
            "prompt-echoed": "When on 2009-02-10?",
            "space-and-utc": "2009-02-10 16:55:59.8 UTC",
            "basic-format": "20090210T165559.8Z",
            "time-first": "16:55:59.8 UTC on 2009-02-10",
            "offset": "2009-02-10T18:55:59.8+02:00",
            "bold": "The time of closest approach is **2009-02-10T16:55:59.8Z**.",
            "box": "\\boxed{2009-02-10T16:55:59.8Z}",
            "fenced": '```json\n{"answer": "2009-02-10T16:55:59.8Z"}\n```',
            "full-stop": "2009-02-10T16:55:59.8Z.",
        },
    ),
    (
        "2009-02-10T16:55:59.8Z",
        {"atol_s": 100.0},
        "It was at 2009-02-10T16:55:00Z.",
        {
            "render": "2009-02-10T16:55:59.8Z",
            "after-band": "2009-02-10T16:57:40.8Z",
            "before-band": "2009-02-10T16:54:18.8Z",
            "another-day": "2009-02-11T16:55:59.8Z",
            "utc-tt-mixup": None,
            "date-only": "2009-02-10",
            "prompt-echoed": None,
            "space-and-utc": "2009-02-10 16:55:59.8 UTC",
            "basic-format": "20090210T165559.8Z",
            "time-first": "16:55:59.8 UTC on 2009-02-10",
            "offset": "2009-02-10T18:55:59.8+02:00",
            "bold": "The time of closest approach is **2009-02-10T16:55:59.8Z**.",
            "box": "\\boxed{2009-02-10T16:55:59.8Z}",
            "fenced": '```json\n{"answer": "2009-02-10T16:55:59.8Z"}\n```',
            "full-stop": "2009-02-10T16:55:59.8Z.",
        },
    ),
    (
        "1969-12-31T23:59:59.999Z",
        {"assume_utc": False},
        "",
        {
            "render": "1969-12-31T23:59:59.999Z",
            "after-band": "1970-01-01T00:00:00Z",
            "before-band": "1969-12-31T23:59:59.998Z",
            "another-day": "1970-01-01T23:59:59.999Z",
            "utc-tt-mixup": None,
            "date-only": "1969-12-31",
            "prompt-echoed": None,
            "space-and-utc": "1969-12-31 23:59:59.999 UTC",
            "basic-format": "19691231T235959.999Z",
            "time-first": "23:59:59.999 UTC on 1969-12-31",
            "offset": "1970-01-01T01:59:59.999+02:00",
            "bold": "The time of closest approach is **1969-12-31T23:59:59.999Z**.",
            "box": "\\boxed{1969-12-31T23:59:59.999Z}",
            "fenced": '```json\n{"answer": "1969-12-31T23:59:59.999Z"}\n```',
            "full-stop": "1969-12-31T23:59:59.999Z.",
        },
    ),
    (
        "2024-05-01T12:30:05Z",
        {"atol_s": 17.0},
        "At 2024-05-02T12:30:05Z?",
        {
            "render": "2024-05-01T12:30:05Z",
            "after-band": "2024-05-01T12:30:22.17Z",
            "before-band": "2024-05-01T12:29:47.83Z",
            "another-day": "2024-05-02T12:30:05Z",
            "utc-tt-mixup": "2024-05-01T12:31:14.184Z",
            "date-only": "2024-05-01",
            "prompt-echoed": "At 2024-05-02T12:30:05Z?",
            "space-and-utc": "2024-05-01 12:30:05 UTC",
            "basic-format": "20240501T123005Z",
            "time-first": "12:30:05 UTC on 2024-05-01",
            "offset": "2024-05-01T14:30:05+02:00",
            "bold": "The time of closest approach is **2024-05-01T12:30:05Z**.",
            "box": "\\boxed{2024-05-01T12:30:05Z}",
            "fenced": '```json\n{"answer": "2024-05-01T12:30:05Z"}\n```',
            "full-stop": "2024-05-01T12:30:05Z.",
        },
    ),
]


@pytest.mark.parametrize(("target", "config", "prompt", "made"), WITNESSES)
def test_the_verifiers_own_answers_are_made_and_judged(
    target: str, config: dict[str, Any], prompt: str, made: dict[str, str | None]
) -> None:
    """Renderings and variations pass, spoils fail; None where one does not apply [T-13]."""
    bound = bind_spec({"name": "time", **config}, target)
    own_answers_are_made_and_judged(bound, prompt, made)


@pytest.mark.parametrize(
    ("answer", "atol_s", "miss"),
    [
        ("2009-02-10T16:57:05.984Z", 0.0, "wrong-scale"),
        ("2009-02-10T16:54:53.616Z", 0.0, "wrong-scale"),
        ("2009-02-10T16:56:33.8Z", 0.0, "wrong-scale"),
        ("2009-02-10T16:56:34.3Z", 0.0, "wrong-scale"),
        ("2009-02-10T16:56:34.301Z", 0.0, "wrong-time"),
        ("2009-02-10T16:56:33.8Z", 8.499, "wrong-scale"),
        ("2009-02-10T16:56:42.2Z", 8.499, "wrong-scale"),
        ("2009-02-10T16:56:33.8Z", 8.5, "wrong-time"),
        ("2009-02-10T16:57:05.984Z", 16.5, "wrong-scale"),
        ("2009-02-10T16:57:05.984Z", 16.546, "wrong-time"),
        ("2009-02-10T16:56:30Z", 0.0, "wrong-time"),
    ],
)
def test_an_error_of_a_scales_offset_is_named_where_the_band_can_tell(answer: str, atol_s: float, miss: str) -> None:
    """34 s are TAI - UTC and 66.184 s TT - UTC in 2009, half a second or the band about, in either direction [T-12]."""
    assert [miss] == [m.name for m in _verdict(answer, atol_s=atol_s).misses]


def test_before_leap_seconds_no_error_is_a_scales() -> None:
    """TAI - UTC is known from 1972 on [T-12]."""
    bound = _bind("1965-01-01T00:00:00Z")
    wrong = bound.decide(bound.read(Attempt(answer="1965-01-01T00:00:32.184Z")))
    assert ["wrong-time"] == [m.name for m in wrong.misses]


def test_a_field_in_another_scale_is_in_the_wrong_scale() -> None:
    """A time of a JSON field says its scale itself [T-12]."""
    for scale in ("TT", "TAI", "GPS"):
        verdict = _bind().decide(Reading(f"2009-02-10T16:55:59.8 {scale}", "field"))
        assert ["wrong-scale"] == [m.name for m in verdict.misses]


@pytest.mark.parametrize(("atol_s", "made"), [(16.5, "2009-02-10T16:57:05.984Z"), (16.546, None), (20.0, None)])
def test_the_mixed_up_scale_is_a_witness_where_the_band_can_tell(atol_s: float, made: str | None) -> None:
    """A quarter of the offset is the widest band that still tells the scales apart [T-12]."""
    bound = _bind(atol_s=atol_s)
    assert made == bound.verifier.spoil["utc-tt-mixup"].make(TARGET, bound.config, "")


@pytest.mark.parametrize(("answer", "scale"), [("2009-02-10T16:57:05.984Z", "TT"), ("2009-02-10T16:56:33.8Z", "TAI")])
def test_the_detail_of_a_wrong_scale_names_it(answer: str, scale: str) -> None:
    """Which scale was taken for UTC is what helps to mend it [T-12]."""
    assert f"that is {scale} - UTC" in _verdict(answer).misses[0].detail
