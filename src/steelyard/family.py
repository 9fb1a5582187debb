"""What a family is: code that makes items of one kind and knows right and wrong attempts at them.

- `make(seed, **options)` is a lazy, prefix-stable iterator: item i depends on `Random(f"{seed}/{i}")` and on nothing
  that was drawn for other items, so the first k items never depend on how many are taken. File contents are inline
  (`store.inline`); the suite writer stores them.
- `solve(item)` is the reference and never reads `item.target`: it computes from what was asked.
- `spoil`, `vary`, `contrast` make wrong attempts, right ones in unusual forms, and passing ones that must differ.

Adding a family is one file and no edit elsewhere: an entry point in the group `steelyard.families`, or `path.py:name`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import msgspec

from steelyard.errors import InputError
from steelyard.item import Item
from steelyard.verifiers.contract import Contrast, Script, Spoil

__all__ = ["Contrast", "Family", "Script", "Spoil"]


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """A frozen record of plain functions. `make`'s keyword arguments are the family's options.

    `refusals(seed, n, **options)` counts, by the name of the rule, what `make` drew and refused before it had n items;
    it takes those of the options that it names.
    """

    name: str
    make: Callable[..., Iterator[Item]]
    solve: Callable[[Item], str | Script] | None = None
    spoil: Mapping[str, Spoil] = {}
    vary: Mapping[str, Callable[[Item], str | Script | None]] = {}
    contrast: Mapping[str, Contrast] = {}
    refusals: Callable[..., Mapping[str, int]] | None = None

    def __post_init__(self) -> None:
        if not self.name:
            raise InputError("a family needs a name")
