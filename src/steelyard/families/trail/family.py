"""The trail family: invented notices, answered as four fields in a voice, or with yes or no.

`kind` is `mixed` by default, one yes-or-no item and one four-field item in turn: the first are in reach of a very small
model and the second leave room for a good one, so that a suite made without options tells models apart at both ends.
Source: seed 004. Easy to break: an item that depends on how many were taken; every item has its own seeded generator.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, zip_longest

from steelyard.errors import InputError, did_you_mean
from steelyard.families.trail import answers, days
from steelyard.family import Contrast, Family, Spoil
from steelyard.item import Item

KINDS = ("mixed", "fields", "yesno")


def make(seed: str, kind: str = "mixed") -> Iterator[Item]:
    """Items in a seeded order; `kind` is mixed, fields or yesno."""
    if kind not in KINDS:
        raise InputError(f'no kind "{kind}" of trail items{did_you_mean(kind, KINDS)}')
    by_day = days.day_items(seed) if kind != "fields" else iter(())
    fields = answers.field_items(seed) if kind != "yesno" else iter(())
    return (item for item in chain.from_iterable(zip_longest(by_day, fields)) if item is not None)


def solve(item: Item) -> str:
    """The reference answer, worked out from the prompt."""
    fields = answers.fields_of(item)
    if fields is not None:
        return answers.answer_text(fields)
    answer = days.answer_of(item.prompt)
    if answer is None:
        raise InputError(f'item "{item.id}" is not one that the trail family made')
    return answer


trail = Family(
    name="trail",
    make=make,
    solve=solve,
    spoil={
        "wrong-state": Spoil(answers.wrong_state, ("wrong-state",)),
        "wrong-reason": Spoil(answers.wrong_reason, ("wrong-reason",)),
        "made-up-detail": Spoil(answers.made_up_detail, ("unknown-differs",)),
        "denied-mention": Spoil(answers.denied_mention, ("unknown-differs",)),
        "states-ruled-out": Spoil(answers.states_ruled_out, ("states-ruled-out",)),
        "wrong-day": Spoil(days.opposite, ("wrong-side",)),
    },
    vary={
        "negated": answers.negated,
        "reworded": answers.reworded,
        "bare-reason": answers.bare_reason,
        "unknown-reversed": answers.unknown_reversed,
        "keys-reversed": answers.keys_reversed,
        "in-a-sentence": days.in_a_sentence,
    },
    contrast={"wrong-voice": Contrast(answers.other_voice, answers.is_one_trait_away)},
)
