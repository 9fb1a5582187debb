"""Items that ask whether a place is open on one day: yes or no, some with a second notice that is about another place.

They are in reach of a model of half a billion parameters, which the four-field items are not; half of the answers are
yes, so a constant answer is right half the time and the floor is .5.
Not covered: days that a notice leaves open to reading, such as the day named by `until`.
Easy to break: wording from which both answers can be argued; a notice says when the place is open *and* closed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from random import Random

from steelyard.errors import InputError
from steelyard.families.trail.notices import CATALOGUE, CLOSURES, Notice
from steelyard.item import Item

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_ASKED = DAYS[1:6]  # days on which a closure that began on Monday can be over or not
VERIFIER = {"name": "yesno"}


def day_items(seed: str) -> Iterator[Item]:
    """Every closure, form, day and wording once, in a seeded order."""
    pool = list(product(CLOSURES, ("through", "weekly"), _ASKED, ("open", "closed"), (False, True)))
    Random(f"{seed}/days").shuffle(pool)
    for notice, form, today, asks, beside in pool:
        name = f"{notice.name}-{form}-{today[:3].lower()}-{asks}" + ("-beside" if beside else "")
        rng = Random(f"{seed}/{name}")
        yield _item(name, notice, form, today, asks, beside, rng)


def answer_of(prompt: str) -> str | None:
    """The right word, worked out from the prompt alone; None for another kind."""
    asked = re.search(r" Is (the .+?) (open|closed) on (\w+)\? Answer yes or no\.$", prompt)
    if asked is None:
        return None
    place, word, today = asked.groups()
    said = re.search(rf"notice says {re.escape(place)} is closed (through|on) (\w+) and (\w+)", prompt)
    if said is None:
        raise InputError(f"no notice about {place} in this prompt: {prompt[:80]!r}")
    if said[1] == "through":
        shut = DAYS.index(today) <= DAYS.index(said[2])
    else:
        shut = today in (said[2], said[3])
    return "yes" if shut == (word == "closed") else "no"


def _item(name: str, notice: Notice, form: str, today: str, asks: str, beside: bool, rng: Random) -> Item:
    answer = rng.choice(("yes", "no"))
    shut = (answer == "yes") == (asks == "closed")
    state = _through(today, shut, rng) if form == "through" else _weekly(today, shut, rng)
    other = rng.choice([n for n in CATALOGUE if n.place != notice.place])
    neighbour = f" The notice beside it says {other.place} is {rng.choice(('open', 'closed'))}." if beside else ""
    return Item(
        id=name,
        input=(
            f"The posted notice says {notice.place} is {state}, because of {notice.reason}.{neighbour} "
            f"Is {notice.place} {asks} on {today}? Answer yes or no."
        ),
        target=answer,
        verifier=VERIFIER,
        group=notice.name,
        family="trail",
        domain="notices",
        difficulty="medium" if beside or form == "weekly" else "easy",
        license="CC0-1.0",
        metadata={"kind": "yesno"},
    )


def _through(today: str, shut: bool, rng: Random) -> str:
    at = DAYS.index(today)
    last = rng.randrange(at, 6) if shut else rng.randrange(at)
    return f"closed through {DAYS[last]} and open from {DAYS[last + 1]} on"


def _weekly(today: str, shut: bool, rng: Random) -> str:
    others = [day for day in DAYS if day != today]
    days = [today, rng.choice(others)] if shut else rng.sample(others, 2)
    first, second = sorted(days, key=DAYS.index)
    return f"closed on {first} and {second} and open on all other days"


def opposite(item: Item) -> str | None:
    """The other word."""
    answer = answer_of(item.prompt)
    return None if answer is None else "no" if answer == "yes" else "yes"


def in_a_sentence(item: Item) -> str | None:
    """The word, and a sentence that says why."""
    answer = answer_of(item.prompt)
    return None if answer is None else f"{answer.capitalize()}, going by the notice."
