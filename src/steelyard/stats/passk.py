"""Figures of several rollouts from a table of outcomes: pass@k, pass^k, maj@k and self-consistency. Pure.

A table maps an item to its rollouts' outcomes: True or False (1 and 0 are the same), or None where a void or an error
left none. An item with fewer than k outcomes is *short* at k: it is left out of the mean and counted in `n_short`
(decision 7).
Sources: pass@k: Chen et al. 2021, arXiv 2107.03374; pass^k: Yao et al. 2024, arXiv 2406.12045; maj@k: Wang et al. 2022,
arXiv 2203.11171. All assume exchangeable rollouts of an item. Intervals: `bootstrap`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

import msgspec

from steelyard.errors import InputError
from steelyard.stats.rates import over_items

Outcomes = Mapping[str, Sequence[bool | float | None]]
Votes = Mapping[str, Sequence[tuple[Hashable, bool | None]]]


class AtK(msgspec.Struct, frozen=True):
    """One k: mean pass@k and pass^k over the `n_items` items with k outcomes; `n_short` have fewer."""

    k: int
    pass_at_k: float
    pass_hat_k: float
    n_items: int
    n_short: int


def counts(outcomes: Outcomes) -> dict[str, tuple[int, int]]:
    """(n, c) of each item: outcomes that are not None, and how many are true; InputError for any but 0 and 1."""
    table = {}
    for item, found in outcomes.items():
        judged = [one for one in found if one is not None]
        if odd := [one for one in judged if one not in (0, 1)]:
            raise InputError(f'item "{item}": an outcome is True, False, 1, 0 or None, got {odd[0]!r}')
        table[item] = (len(judged), sum(map(bool, judged)))
    return table


def pass_table(outcomes: Outcomes, ks: Sequence[int] = ()) -> list[AtK]:
    """pass@k and pass^k for each k, by default from 1 to the most outcomes of an item.

    InputError where a k is above every item's number of outcomes, and for a table without any.
    """
    found = counts(outcomes)
    most = max((n for n, _ in found.values()), default=0)
    if most == 0:
        raise InputError("no judged rollouts: there is nothing to count")
    table = []
    for k in ks or range(1, most + 1):
        if k < 1:
            raise InputError(f"k must be at least 1, got {k}")
        at, hat, short = over_items(found, k)
        if at is not None and hat is not None:
            table.append(AtK(k, at, hat, len(found) - short, short))
    return table


def majority(votes: Sequence[Hashable]) -> Hashable | None:
    """The one most frequent vote; None when two share the first place or nobody votes. A vote of None is none."""
    first = Counter(vote for vote in votes if vote is not None).most_common(2)
    if not first or (len(first) == 2 and first[0][1] == first[1][1]):
        return None
    return first[0][0]


def maj_at_k(votes: Votes) -> float:
    """Share of items whose majority answer is right, over items with at least one judged rollout.

    Each rollout is (answer, passed). A tie is not a majority, so that item counts as not right; answers that are equal
    as answers should be equal as votes. Rollouts with passed None do not vote.
    """
    judged = [[pair for pair in found if pair[1] is not None] for found in votes.values()]
    judged = [found for found in judged if found]
    if not judged:
        raise InputError("no judged rollouts: there is nothing to vote on")
    right = 0
    for found in judged:
        winner = majority([answer for answer, _ in found])
        right += winner is not None and any(passed for answer, passed in found if answer == winner)
    return right / len(judged)


def self_consistency(votes: Votes) -> float:
    """Mean over items of the share of rollouts that give the item's most frequent answer, in (0, 1].

    An answer that could not be read (None) agrees with nothing but counts among the rollouts.
    """
    shares = []
    for found in votes.values():
        if found:
            frequent = Counter(answer for answer, _ in found if answer is not None).most_common(1)
            shares.append((frequent[0][1] if frequent else 0) / len(found))
    if not shares:
        raise InputError("no rollouts: there is nothing to agree on")
    return sum(shares) / len(shares)
