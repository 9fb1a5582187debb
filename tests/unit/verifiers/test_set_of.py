"""`set`: exactly the elements of the target, in any order."""

import pytest

from judged import own_answers_are_made_and_judged, reading_of
from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.verdict import Reading
from steelyard.verifiers.registry import bind_spec


def verdict(answer: str, target: str, **config: object):
    """The verdict on an answer."""
    bound = bind_spec({"name": "set", **config}, target)
    return bound.decide(bound.read(Attempt(answer=answer)))


@pytest.mark.parametrize(
    "answer",
    [
        '["b", "a", "c d"]',
        '```json\n["a", "b", "c d"]\n```',
        'Here it is: ["a","b","c d"]',
        "a, b, c d",
        "a, b and c d",
        "A; B; C D.",
        "- a\n- c d\n- b",
        "1. a\n2. b\n3. c d",
        "The elements are: a, b, and c d.",
        "Answer: b, c d, a",
        "**a, b, c d**",
        "a\nb\nc d",
        "<think>a, x</think>c d, b, a",
        "I found these:\n\n* `a`\n* `b`\n* `c d`\n",
        "a, b, b, c d",
    ],
)
def test_the_same_elements_in_any_order_and_form_pass(answer):
    """JSON, list lines and rows are read [T-1, T-3]."""
    assert verdict(answer, '["a", "b", "c d"]').passed


@pytest.mark.parametrize(
    ("answer", "misses"),
    [
        ('["a"]', {"missing-element"}),
        ('["a", "b", "c"]', {"extra-element"}),
        ('["a", "x"]', {"missing-element", "extra-element"}),
        ("a", {"missing-element"}),
        ("a, b, and more", {"extra-element"}),
        ("[]", {"missing-element"}),
        ("", {"no-answer"}),
        ("<think>a, b", {"no-answer"}),
    ],
)
def test_lost_and_added_elements_are_named(answer, misses):
    """Each lost and each added element is a miss of its own [T-3]."""
    assert misses == {miss.name for miss in verdict(answer, '["a", "b"]').misses}


def test_json_elements_are_typed():
    """1 is 1.0, but neither true nor "1" [T-3]."""
    assert verdict("[1.0, 2]", "[1, 2]").passed
    assert not verdict("[true, 2]", "[1, 2]").passed
    assert not verdict('["1", "2"]', "[1, 2]").passed
    assert verdict("1, 2", "[1, 2]").passed


def test_a_field_value_is_typed():
    """A JSON value from a field is compared as it stands [G-8]."""
    bound = bind_spec({"name": "set"}, '["detour"]')
    assert bound.decide(Reading(["detour"], "field")).passed
    assert not bound.decide(Reading("detour", "field")).passed
    assert not bound.decide(Reading([], "field")).passed


def test_an_element_may_hold_and():
    """What is expected decides whether `and` parts [T-3]."""
    assert verdict("Chad, Trinidad and Tobago", '["Trinidad and Tobago", "Chad"]').passed


def test_a_multiset_counts():
    """With `multiset` each repetition counts [T-3]."""
    assert verdict('["a", "a"]', '["a", "a"]', multiset=True).passed
    assert not verdict('["a"]', '["a", "a"]', multiset=True).passed
    with pytest.raises(InputError, match="distinct"):
        bind_spec({"name": "set"}, '["a", "A"]')


def test_an_empty_set_is_met_by_an_empty_list_only():
    """Nothing said is no answer; `[]` is one [T-3]."""
    assert verdict("[]", "[]").passed
    assert not verdict("", "[]").passed


@pytest.mark.parametrize("target", ["a, b", '{"a": 1}', ""])
def test_a_target_that_is_no_list_is_refused(target):
    """The author's error is found when the suite is loaded [T-8]."""
    with pytest.raises(InputError, match="JSON list"):
        bind_spec({"name": "set"}, target)


WITNESSES: list[tuple[str, dict[str, object], str, dict[str, str | None]]] = [
    (
        '["b","a","c d"]',
        {},
        "Name the lake.",
        {
            "render": '["b","a","c d"]',
            "element-lost": '["a","c d"]',
            "element-added": '["b","a","c d","something else entirely"]',
            "element-doubled": None,
            "reversed": '["c d","a","b"]',
            "fenced": '```json\n["b","a","c d"]\n```',
            "row": "The elements are: b, a and c d.",
            "bullets": "- b\n- a\n- c d",
        },
    ),
    (
        '["b","b"]',
        {"multiset": True},
        "Name the lake.",
        {
            "render": '["b","b"]',
            "element-lost": '["b"]',
            "element-added": '["b","b","something else entirely"]',
            "element-doubled": '["b","b","b"]',
            "reversed": '["b","b"]',
            "fenced": '```json\n["b","b"]\n```',
            "row": "The elements are: b and b.",
            "bullets": "- b\n- b",
        },
    ),
    (
        '["b"]',
        {"multiset": False},
        "Name the lake.",
        {
            "render": '["b"]',
            "element-lost": "[]",
            "element-added": '["b","something else entirely"]',
            "element-doubled": None,
            "reversed": '["b"]',
            "fenced": '```json\n["b"]\n```',
            "row": None,
            "bullets": None,
        },
    ),
    (
        '["rock and roll","jazz"]',
        {},
        "Name the lake.",
        {
            "render": '["rock and roll","jazz"]',
            "element-lost": '["jazz"]',
            "element-added": '["rock and roll","jazz","something else entirely"]',
            "element-doubled": None,
            "reversed": '["jazz","rock and roll"]',
            "fenced": '```json\n["rock and roll","jazz"]\n```',
            "row": None,
            "bullets": None,
        },
    ),
    (
        "[1,2]",
        {},
        "Name the lake.",
        {
            "render": "[1,2]",
            "element-lost": "[2]",
            "element-added": '[1,2,"something else entirely"]',
            "element-doubled": None,
            "reversed": "[2,1]",
            "fenced": "```json\n[1,2]\n```",
            "row": "The elements are: 1 and 2.",
            "bullets": "- 1\n- 2",
        },
    ),
    (
        '["a, b","c"]',
        {},
        "Name the lake.",
        {
            "render": '["a, b","c"]',
            "element-lost": '["c"]',
            "element-added": '["a, b","c","something else entirely"]',
            "element-doubled": None,
            "reversed": '["c","a, b"]',
            "fenced": '```json\n["a, b","c"]\n```',
            "row": None,
            "bullets": None,
        },
    ),
]


@pytest.mark.parametrize(("target", "config", "prompt", "made"), WITNESSES)
def test_the_verifiers_own_answers_are_made_and_judged_as_named(target, config, prompt, made):
    """Renderings and variations pass, spoils fail as they name; None where one does not apply [T-13]."""
    bound = bind_spec({"name": "set", **config}, target)
    own_answers_are_made_and_judged(bound, prompt, made)


READ: list[tuple[dict[str, object], str, object]] = [
    ({}, '<think>Rome?</think>\nFound: ["a"]', (["a"], "json", (28, 33))),
    ({}, "<think>Rome?</think>\na, b", (["a", "b"], "prose-last-line", (21, 25))),
    ({}, "- a\n- b", (["a", "b"], "prose-lines", (2, 7))),
    ({}, " ", None),
    ({}, "<think>a", None),
]


@pytest.mark.parametrize(("config", "answer", "found"), READ)
def test_a_reading_says_what_was_found_by_which_rule_and_where(config, answer, found):
    """The span is of the whole reply, reasoning included; nothing where nothing is committed to. [T-13]"""
    bound = bind_spec({"name": "set", **config}, '["a","b"]')
    assert found == reading_of(bound, answer)


@pytest.mark.parametrize(
    ("value", "misses"),
    [
        ("b", [("missing-element", "expected a list, got str")]),
        (["b", "b", "A"], []),
        (["a"], [("missing-element", "b")]),
        ([None, "a", "b"], [("extra-element", "None")]),
        ([True, "a", "b"], [("extra-element", "True")]),
        ([["b"], "a", "b"], [("extra-element", '["b"]')]),
        ([0.5, "a"], [("missing-element", "b"), ("extra-element", "1/2")]),
    ],
)
def test_each_miss_names_its_element(value, misses):
    """Values of every JSON type are told apart and shown; none but lists are sets. [T-3]"""
    found = bind_spec({"name": "set"}, '["a", "b"]').decide(Reading(value, "field"))
    assert misses == [(miss.name, miss.detail) for miss in found.misses]
    assert found.passed is not bool(misses)


@pytest.mark.parametrize("target", ["[]", "[null, false, 0]", '["1", 1]', "[[1], [2]]"])
def test_values_of_different_types_are_different_elements(target):
    """A target of distinct elements is taken, whatever their types. [T-3]"""
    assert verdict(target, target).passed


def test_nothing_is_lost_or_doubled_of_an_empty_target():
    """The witnesses that need an element are left out. [T-13]"""
    bound = bind_spec({"name": "set", "multiset": True}, "[]")
    made = {name: spoil.make("[]", bound.config, "") for name, spoil in bound.verifier.spoil.items()}
    assert {"element-lost": None, "element-added": '["something else entirely"]', "element-doubled": None} == made


def test_the_first_element_is_the_one_that_is_doubled():
    """One element of a multiset stands once too often. [T-3]"""
    bound = bind_spec({"name": "set", "multiset": True}, '["a","b"]')
    assert '["a","b","a"]' == bound.verifier.spoil["element-doubled"].make('["a","b"]', bound.config, "")
