"""Items that ask for a notice as four fields in a voice, and right and wrong answers to them.

An answer is a JSON object: the state, the reason, what was asked and the notice does not say, and the sentence for the
visitor. Only the sentence moves with the voice; the oracle asks of it only that it never states what is ruled out.
Source: seed 004. Everything below the renderer reads the prompt, never the target.
Easy to break: asking for something with no one right answer. The prompt therefore says to use the notice's own words,
lists what may stand in `unknown`, and keeps the sentence to the posted state: "open again on Monday" is true of a place
that is closed until Monday, and still states what the notice rules out today.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from random import Random
from typing import Any

from steelyard.attempt import Attempt
from steelyard.canonical import canonical_text
from steelyard.errors import InputError
from steelyard.families.trail.notices import CATALOGUE, TOPICS, Notice, read_notice
from steelyard.families.trail.voice import describe, hamming, neighbours, point_of, points, say_at, voice_of
from steelyard.item import Item

VERIFIER: dict[str, Any] = {
    "name": "fields",
    "exactly": True,
    "fields": {
        "state": {"type": "text", "verifier": {"name": "exact", "fold": "none"}, "miss": "wrong-state"},
        "reason": {"type": "text", "verifier": {"name": "one_of"}, "miss": "wrong-reason"},
        "unknown": {"type": "texts", "verifier": {"name": "set", "multiset": True}, "miss": "unknown-differs"},
        "say": {
            "type": "text",
            "verifier": {"name": "states", "polarity": "not-asserted"},
            "miss": "states-ruled-out",
        },
    },
}
"""Seed 004's oracle as one verifier spec."""


def trail_prompt(notice: Notice, point: str, question: str) -> str:
    """The catalogue's own renderer; nothing serves these notices, so no serving log holds them."""
    return (
        f"Answer in a {describe(point)} voice, in JSON with the fields state, reason, unknown and say. "
        f"{notice.text} {question}"
    )


def field_items(seed: str) -> Iterator[Item]:
    """Every notice at every point in a seeded order, then again with other topics, until the topics are used up."""
    pool = [(notice, point) for notice in CATALOGUE for point in points()]
    Random(f"{seed}/fields").shuffle(pool)
    for cycle in range(min(len(_topic_sets(notice)) for notice in CATALOGUE)):
        for notice, point in pool:
            rng = Random(f"{seed}/{notice.name}/{point}")
            sets = _topic_sets(notice)
            rng.shuffle(sets)
            yield _item(notice, point, sets[cycle], cycle, rng)


def fields_of(item: Item) -> dict[str, Any] | None:
    """The right fields, worked out from the prompt alone, in the voice that it asks for; None for another kind."""
    if not is_fields(item):
        return None
    _, state, reason = read_notice(item.prompt)
    return {
        "state": state,
        "reason": reason,
        "unknown": _unknown(item.prompt),
        "say": _say(item, point_of(item.prompt)),
    }


def is_fields(item: Item) -> bool:
    """Whether the item asks for the four fields."""
    return item.prompt.startswith("Answer in a ")


def answer_text(fields: dict[str, Any]) -> str:
    """Fields as a model is asked to write them."""
    return json.dumps(fields, ensure_ascii=False)


def _item(notice: Notice, point: str, topics: Sequence[str], cycle: int, rng: Random) -> Item:
    topics = list(topics)
    rng.shuffle(topics)
    question = (
        f"Is {notice.place} open? Give state and reason in the notice's own words. "
        "In say, tell a visitor this state, not what comes after it. "
        f"In unknown, list those of these that the notice does not mention: {', '.join(topics)}."
    )
    unknown = [topic for topic in topics if topic != notice.noun]
    target = {"state": notice.state, "reason": notice.accepted, "unknown": unknown, "say": notice.ruled_out}
    return Item(
        id=f"{notice.name}-{point}" + (f"-q{cycle}" if cycle else ""),
        input=trail_prompt(notice, point, question),
        target=canonical_text(target),
        verifier=VERIFIER,
        group=notice.name,
        family="trail",
        domain="notices",
        difficulty="hard",
        license="CC0-1.0",
        metadata={"kind": "fields", "point": point},
    )


def _topic_sets(notice: Notice) -> list[tuple[str, ...]]:
    """What one question asks about: up to two things that are not said, with or without one that is."""
    unsaid = [topic for topic in TOPICS if not notice.mentions(topic)]
    some = [subset for size in (0, 1, 2) for subset in combinations(unsaid, size)]
    return [*[(notice.noun, *subset) for subset in some], *[subset for subset in some if subset]]


def _unknown(prompt: str) -> list[str]:
    asked = re.search(r"that the notice does not mention: (.+)\.$", prompt)
    if asked is None:
        raise InputError(f"the prompt lists no topics: {prompt[-80:]!r}")
    notice = Notice(*read_notice(prompt), noun="")
    return [topic for topic in asked[1].split(", ") if not notice.mentions(topic)]


def _say(item: Item, point: str) -> str:
    place, state, reason = read_notice(item.prompt)
    return say_at(place, state, reason, point, _unknown(item.prompt))


def _with(item: Item, **changes: Any) -> str | None:
    fields = fields_of(item)
    return None if fields is None else answer_text({**fields, **changes})


# Wrong answers.


def wrong_state(item: Item) -> str | None:
    """The opposite state, in the field and in the sentence."""
    fields = fields_of(item)
    if fields is None:
        return None
    place = read_notice(item.prompt)[0]
    state = "open" if fields["state"].startswith("closed") else "closed"
    return answer_text({**fields, "state": state, "say": f"{place[0].upper()}{place[1:]} is {state}."})


def wrong_reason(item: Item) -> str | None:
    """Another notice's reason."""
    fields = fields_of(item)
    if fields is None:
        return None
    other = next(notice.reason for notice in CATALOGUE if notice.reason != fields["reason"])
    return answer_text({**fields, "reason": other})


def made_up_detail(item: Item) -> str | None:
    """A detail that the notice never gave, told as a fact and dropped from `unknown`."""
    fields = fields_of(item)
    if fields is None or not fields["unknown"]:
        return None
    said, *rest = fields["unknown"]
    return answer_text({**fields, "unknown": rest, "say": f"{_say(item, '001')} There is a {said} near the gate."})


def denied_mention(item: Item) -> str | None:
    """Something that the notice does mention, listed as unknown."""
    fields = fields_of(item)
    if fields is None:
        return None
    return answer_text({**fields, "unknown": [*fields["unknown"], fields["reason"].split()[-1]]})


def states_ruled_out(item: Item) -> str | None:
    """Every field right, and a sentence that says the opposite."""
    place, state, _ = read_notice(item.prompt)
    opposite = "open" if state.startswith("closed") else "closed"
    return _with(item, say=f"The notice says {place} is {opposite} today.")


# Right answers in unusual forms.


def negated(item: Item) -> str | None:
    """The ruled-out state, but denied."""
    place, state, _ = read_notice(item.prompt)
    return _with(item, say=f"No, {place} is not {'open' if state.startswith('closed') else 'closed'}.")


def reworded(item: Item) -> str | None:
    """A sentence that shares hardly a word with the reference."""
    closed = read_notice(item.prompt)[1].startswith("closed")
    return _with(item, say="Please stay away for now." if closed else "Come and visit whenever you like.")


def bare_reason(item: Item) -> str | None:
    """The reason without its article."""
    fields = fields_of(item)
    bare = re.sub(r"^an? ", "", fields["reason"]) if fields else ""
    return _with(item, reason=bare) if fields and bare != fields["reason"] else None


def unknown_reversed(item: Item) -> str | None:
    """The unknown topics in another order."""
    fields = fields_of(item)
    return _with(item, unknown=fields["unknown"][::-1]) if fields and len(fields["unknown"]) > 1 else None


def keys_reversed(item: Item) -> str | None:
    """The four fields in another order."""
    fields = fields_of(item)
    return answer_text(dict(reversed(fields.items()))) if fields else None


# Passing answers that must differ.


def other_voice(item: Item) -> str | None:
    """The same facts at the first neighbouring point."""
    return _with(item, say=_say(item, neighbours(point_of(item.prompt))[0])) if is_fields(item) else None


def is_one_trait_away(item: Item, attempt: Attempt) -> bool:
    """Whether the sentence reads back as a neighbour of the point that was asked for."""
    say = json.loads(attempt.answer)["say"]
    return hamming(voice_of(say), point_of(item.prompt)) == 1
