"""The voice of a notice: eight points, one mark a trait, and reading the point back."""

from __future__ import annotations

from itertools import product

import pytest

from steelyard.errors import InputError
from steelyard.families.trail.notices import CATALOGUE
from steelyard.families.trail.seed_revision import repr_revision
from steelyard.families.trail.voice import describe, hamming, neighbours, point_of, points, say_at, voice_of


def test_there_are_eight_points_of_three_bits():
    """Length, register and certainty have two levels each. [G-6]"""
    assert points() == ["000", "001", "010", "011", "100", "101", "110", "111"]
    assert describe("000") == "brief, formal and cautious"
    assert describe("101") == "detailed, formal and bold"


def test_a_point_has_three_neighbours_one_trait_away():
    """Neighbours differ in one trait. [G-6, G-14]"""
    assert neighbours("001") == ["000", "011", "101"]
    assert hamming("000", "111") == 3
    with pytest.raises(ValueError, match="zip"):
        hamming("00", "111")


SAYS = {
    "000": "The notice says the north trail is closed until Friday, because of a washed-out bridge.",
    "001": "The north trail is closed until Friday, because of a washed-out bridge.",
    "011": "The north trail's closed until Friday, because of a washed-out bridge.",
    "111": (
        "The north trail's closed until Friday, because of a washed-out bridge. "
        "Check the posted notice before you set out."
    ),
}


@pytest.mark.parametrize(("point", "say"), SAYS.items())
def test_each_trait_leaves_its_mark(point, say):
    """The sentences of the seed's example notice, word for word. [G-12]"""
    assert say_at("the north trail", "closed until Friday", "a washed-out bridge", point) == say


def test_an_unknown_topic_is_said_in_the_register_of_the_point():
    """A casual voice contracts with a curly apostrophe. [G-12]"""
    assert say_at("the lot", "open", "a thaw", "001", ["detour"]).endswith(" The notice does not mention a detour.")
    assert say_at("the lot", "open", "a thaw", "011", ["detour"]).endswith(" The notice doesn’t mention a detour.")


@pytest.mark.parametrize(("point", "unknown"), list(product(points(), [(), ("detour",), ("fee", "map")])))
def test_every_point_is_read_back_from_its_sentence(point, unknown):
    """voice_of inverts say_at at all eight points, with and without unknown topics. [G-12]"""
    for notice in CATALOGUE:
        assert voice_of(say_at(notice.place, notice.state, notice.reason, point, unknown)) == point


@pytest.mark.parametrize("point", points())
def test_a_prompts_voice_is_read_back(point):
    """The point that a prompt asks for is read from its words. [G-4]"""
    assert point_of(f"Answer in a {describe(point)} voice, in JSON.") == point


@pytest.mark.parametrize("prompt", ["Answer in a loud voice.", "", "Answer in a brief, casual and formal voice"])
def test_a_prompt_in_no_voice_of_the_design_is_refused(prompt):
    """A voice that is not one of the eight is an error. [G-4]"""
    with pytest.raises(InputError, match="the prompt names no voice of this design"):
        point_of(prompt)


def test_the_seeds_revisions_are_reproduced():
    """The repr hash of the seed, before and after widening the reason. [G-17]"""
    reasons = ["a washed-out bridge"]
    assert repr_revision("closed until Friday", reasons, "open") == "58154e40"
    assert repr_revision("closed until Friday", [*reasons, "the bridge washed out"], "open") == "1293086d"
