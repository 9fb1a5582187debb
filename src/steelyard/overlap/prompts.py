"""Equal and nearly equal prompts between two sets of items: what was practised must not be what is measured.

Two prompts are *equal* when their words are, whatever the case, the width, the punctuation and the spaces. They are
*nearly equal* when they share at least 0.7 of their words (one word changed in seven), when they share at least 0.6 of
their runs of five words, or when all runs of one stand in the other (a prompt inside a longer one). Shares are
Jaccard's, |A & B| / |A | B|; the limit of runs is that of seed 000's n-gram layer (REQUIREMENTS T-40). Every pair at or
above a limit is found: only pairs that share one of the rarest parts of both are compared, and sets that similar must
(prefix filter: Chaudhuri, Ganti, Kaushik 2006).
Not covered: paraphrases (see embeddings given from outside), files and answers; only what is asked is compared.
Easy to break: a short prompt has no run of five words, so its words decide alone.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from steelyard.errors import RefusedError
from steelyard.item import Item

WORDS_LIMIT = 0.7
RUNS_LIMIT = 0.6
RUN_WORDS = 5
_WORD = re.compile(r"[^\W_]+")
_SHOWN_CHARS = 100

Sets = Sequence[frozenset[str]]
Kind = Literal["equal", "words", "runs", "inside"]


class Near(msgspec.Struct, frozen=True):
    """A pair of prompts: the ids of both items, how they are alike, and the share in [0, 1]."""

    first: str
    second: str
    kind: Kind
    share: float


def words(text: str) -> list[str]:
    """The words of a text in their order, in lower case and narrow width, without punctuation."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def near_prompts(first: Sequence[Item], second: Sequence[Item]) -> list[Near]:
    """Every equal or nearly equal pair between two sets of items, in the order of the first; one line a pair."""
    said = [[words(item.prompt) for item in items] for items in (first, second)]
    bags = [[frozenset(one) for one in side] for side in said]
    runs = [[_runs(one) for one in side] for side in said]
    shares: dict[tuple[int, int], tuple[Kind, float]] = {}
    shares |= dict.fromkeys(_inside(runs[0], runs[1]), ("inside", 1.0))
    shares |= {(i, j): ("inside", 1.0) for j, i in _inside(runs[1], runs[0])}
    shares |= {(i, j): ("runs", share) for i, j, share in _similar(runs[0], runs[1], RUNS_LIMIT)}
    shares |= {(i, j): ("words", share) for i, j, share in _similar(bags[0], bags[1], WORDS_LIMIT)}
    shares |= {(i, j): ("equal", 1.0) for i, j in shares if said[0][i] == said[1][j]}
    return [Near(first[i].id, second[j].id, kind, share) for (i, j), (kind, share) in sorted(shares.items())]


def refuse_near_prompts(first: Sequence[Item], second: Sequence[Item], names: tuple[str, str]) -> None:
    """RefusedError that names both items of the first pair; `names` are those of the two suites."""
    found = near_prompts(first, second)
    if not found:
        return
    pair = found[0]
    by_id = [{item.id: item for item in items} for items in (first, second)]
    how = {
        "equal": "asks the same as",
        "words": f"shares {pair.share:.2f} of its words (limit {WORDS_LIMIT}) with",
        "runs": f"shares {pair.share:.2f} of its runs of {RUN_WORDS} words (limit {RUNS_LIMIT}) with",
        "inside": "stands inside, or holds, what is asked by",
    }
    shown = [_shown(by_id[side][name].prompt) for side, name in enumerate((pair.first, pair.second))]
    more = f"; {len(found)} pairs in all" if len(found) > 1 else ""
    raise RefusedError(
        f'item "{pair.first}" of {names[0]} {how[pair.kind]} "{pair.second}" of {names[1]}{more}: '
        f"{shown[0]!r} and {shown[1]!r}; ask something else, or leave one of them out"
    )


def _shown(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "..."


def _runs(said: list[str]) -> frozenset[str]:
    return frozenset(" ".join(said[at : at + RUN_WORDS]) for at in range(len(said) - RUN_WORDS + 1))


def _inside(left: Sets, right: Sets) -> Iterator[tuple[int, int]]:
    """Pairs (i, j) where all of left[i], which is not empty, stands in right[j]."""
    index: dict[str, list[int]] = defaultdict(list)
    for j, parts in enumerate(right):
        for part in parts:
            index[part].append(j)
    for i, parts in enumerate(left):
        if parts:
            rarest = min(parts, key=lambda part: (len(index.get(part, ())), part))
            yield from ((i, j) for j in index.get(rarest, ()) if parts <= right[j])


def _similar(left: Sets, right: Sets, limit: float) -> Iterator[tuple[int, int, float]]:
    """Pairs (i, j, share) at or above the limit; empty sets are like nothing."""
    seen = Counter(part for parts in (*left, *right) for part in parts)
    index: dict[str, list[int]] = defaultdict(list)
    for j, parts in enumerate(right):
        for part in _rarest(parts, seen, limit):
            index[part].append(j)
    for i, parts in enumerate(left):
        for j in sorted({j for part in _rarest(parts, seen, limit) for j in index.get(part, ())}):
            share = len(parts & right[j]) / len(parts | right[j])
            if share >= limit:
                yield i, j, share


def _rarest(parts: frozenset[str], seen: Counter[str], limit: float) -> list[str]:
    """So many of the rarest parts that a set which shares `limit` of them must share one of these."""
    ranked = sorted(parts, key=lambda part: (seen[part], part))
    return ranked[: len(ranked) - math.ceil(limit * len(ranked)) + 1] if ranked else []
