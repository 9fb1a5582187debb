"""The trail family: its items, its reference, its wrong answers and its unusual right ones."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import islice

import msgspec
import pytest

from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.families.trail import trail
from steelyard.families.trail.answers import trail_prompt
from steelyard.families.trail.notices import CATALOGUE, TOPICS, Notice
from steelyard.families.trail.voice import points
from steelyard.item import Item
from steelyard.verifiers.registry import bind, declared_misses

ITEMS = list(islice(trail.make("7"), 400))
FIELDS = [item for item in ITEMS if item.metadata["kind"] == "fields"]
DAYS = [item for item in ITEMS if item.metadata["kind"] == "yesno"]


def verdict(item: Item, answer: str):
    """The item's own verifier on an answer."""
    bound = bind(item)
    return bound.decide(bound.read(Attempt(answer=answer)))


@pytest.mark.parametrize("kind", ["mixed", "fields", "yesno"])
def test_the_first_items_do_not_depend_on_how_many_are_taken(kind):
    """Making is lazy and prefix-stable. [T-4]"""
    assert list(islice(trail.make("3", kind=kind), 5)) == list(islice(trail.make("3", kind=kind), 200))[:5]


def test_ids_and_prompts_never_repeat():
    """Two equal questions are not two measurements. [T-5]"""
    many = list(islice(trail.make("1"), 2000))
    assert len({item.id for item in many}) == 2000
    assert len({item.prompt for item in many}) == 2000


def test_another_seed_gives_other_items():
    """The seed decides the order and the details. [T-3]"""
    assert list(islice(trail.make("1"), 5)) != list(islice(trail.make("2"), 5))


def test_an_unknown_kind_names_the_nearest():
    """Options are checked. [T-8]"""
    with pytest.raises(InputError, match='no kind "yesnoo" of trail items; did you mean "yesno"'):
        trail.make("1", kind="yesnoo")


def test_the_first_cycle_answers_each_notice_at_each_point():
    """Ids are the notice's name and the point; the notice is the group. [G-13]"""
    first = list(islice(trail.make("5", kind="fields"), 96))
    assert {item.id for item in first} == {f"{n.name}-{point}" for n in CATALOGUE for point in points()}
    assert Counter(item.group for item in first) == {n.name: 8 for n in CATALOGUE}


def test_the_prompt_has_the_seeds_form():
    """The renderer's text, word for word. [G-12b]"""
    notice = Notice("the north trail", "closed until Friday", "a washed-out bridge", "bridge")
    assert trail_prompt(notice, "001", "Is the north trail open?") == (
        "Answer in a brief, formal and bold voice, in JSON with the fields state, reason, unknown and say. "
        "The posted notice says the north trail is closed until Friday, because of a washed-out bridge. "
        "Is the north trail open?"
    )


@pytest.mark.parametrize("notice", CATALOGUE, ids=lambda notice: notice.name)
def test_a_notice_has_no_words_that_mislead_a_check(notice):
    """No apostrophes, and no word of the opposite state. [G-9, G-12] [G-9]"""
    text = f"{notice.place} {notice.reason} {' '.join(TOPICS)}"
    assert not re.search(r"['’]|\b(open|closed)\b", text)
    assert not re.search(rf"\b{notice.ruled_out}\b", notice.text)
    assert notice.mentions(notice.noun)
    assert notice.ruled_out == ("open" if notice.state.startswith("closed") else "closed")


@pytest.mark.parametrize("item", ITEMS[:120], ids=lambda item: item.id)
def test_the_reference_passes_and_never_reads_the_target(item):
    """The reference is worked out from what was asked; it passes its own oracle. [T-4, G-19]"""
    answer = trail.solve(item)
    assert trail.solve(msgspec.structs.replace(item, target="")) == answer
    assert verdict(item, answer).passed is True


@pytest.mark.parametrize("name", trail.spoil)
def test_each_wrong_answer_fails_for_its_named_reason(name):
    """A wrong answer is named by why it is wrong, and fails as that. [G-8, G-15]"""
    spoil = trail.spoil[name]
    applied = [(item, made) for item in ITEMS[:120] if (made := spoil.make(item)) is not None]
    assert applied
    for item, made in applied:
        assert set(spoil.misses) <= declared_misses(bind(item))
        judged = verdict(item, made)
        assert judged.passed is False
        assert {miss.name for miss in judged.misses} & set(spoil.misses)


def test_a_wrong_state_is_reported_with_what_the_sentence_states():
    """Every miss is reported at once. [G-8]"""
    judged = verdict(FIELDS[0], trail.spoil["wrong-state"].make(FIELDS[0]))
    assert [miss.name for miss in judged.misses] == ["wrong-state", "states-ruled-out"]


@pytest.mark.parametrize("name", trail.vary)
def test_right_answers_in_unusual_forms_pass(name):
    """A reworded sentence passes when the fields are right. [G-19, T-13]"""
    applied = [(item, made) for item in ITEMS[:120] if (made := trail.vary[name](item)) is not None]
    assert applied
    for item, made in applied:
        assert verdict(item, made).passed is True, (item.id, made)


def test_a_wrong_voice_passes_the_oracle_and_differs():
    """A wrong voice is a contrast: right facts, one trait away. [G-14, G-15]"""
    contrast = trail.contrast["wrong-voice"]
    for item in FIELDS[:50]:
        made = contrast.make(item)
        assert verdict(item, made).passed is True
        assert contrast.check(item, Attempt(answer=made))
        assert not contrast.check(item, Attempt(answer=trail.solve(item)))


def test_only_the_sentence_moves_with_the_voice():
    """The fields of a notice and its question are the same at every point. [G-13]"""
    by_notice: dict[str, set[tuple[str, str]]] = {}
    for item in FIELDS:
        fields = json.loads(trail.solve(item))
        by_notice.setdefault(item.group, set()).add((fields["state"], fields["reason"]))
    assert all(len(facts) == 1 for facts in by_notice.values())


def test_what_was_asked_and_is_not_said_is_unknown():
    """The noun of the reason is mentioned, everything else that was asked is unknown. [G-8]"""
    for item in FIELDS:
        asked = item.prompt.rsplit(": ", 1)[1].removesuffix(".").split(", ")
        noun = next(notice.noun for notice in CATALOGUE if notice.name == item.group)
        assert json.loads(trail.solve(item))["unknown"] == [topic for topic in asked if topic != noun]


def test_yes_and_no_are_balanced_and_the_second_notice_gives_nothing_away():
    """Neither a constant answer nor the distractor is a shortcut. [T-3]"""
    items = list(trail.make("11", kind="yesno"))
    yes = sum(item.target == "yes" for item in items) / len(items)
    assert 0.4 <= yes <= 0.6
    beside = [item for item in items if item.id.endswith("-beside")]
    told = sum((" is open. Is" in i.prompt) == ((i.target == "yes") == (" open on " in i.prompt)) for i in beside)
    assert 0.4 <= told / len(beside) <= 0.6
