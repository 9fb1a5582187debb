"""Family `orbital-malformed`: which element set, or which line, breaks the format; no tool is needed.

Levels: easy = one of eight sets is malformed (a damaged line, swapped lines, or lines of two objects); medium = one of
sixteen lines has a wrong checksum and nothing else; hard = two to four of twenty lines are damaged, some so that only
the checksum shows it, some so that only the columns do. All other lines are sound. The kinds stand in `damage`.
The format is stated in the prompt, so that an answer follows from it and not from what some reader accepts.
Not covered: values that no orbit has, OMM.
Easy to break: a damage that shows on the set's other line too (a catalogue number) has two defensible answers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from random import Random
from typing import Any

import msgspec

from steelyard.errors import InputError
from steelyard.families.orbital import tle
from steelyard.families.orbital.damage import CHECKSUM_KINDS, KINDS, Lines, damaged
from steelyard.families.orbital.population import Population, population
from steelyard.families.orbital.tapes import Tapes, places
from steelyard.family import Family, Spoil
from steelyard.item import Item

NAME = "orbital-malformed"
SETS = {"easy": 8, "medium": 8, "hard": 10}
FIELD = {"easy": "set", "medium": "line", "hard": "lines"}
MOST_DAMAGED = 4
WRONG = "wrong-line"
_SET_KINDS = ("lines-swapped", "lines-of-two-objects")
_COLUMN_KINDS = tuple(kind for kind in KINDS if kind not in CHECKSUM_KINDS)
_VERIFIERS: dict[str, dict[str, Any]] = {
    "set": {"name": "number"},
    "line": {"name": "number"},
    "lines": {"name": "set"},
}

RULES = {
    "no-place": "a drawn line offers no place for the drawn damage, or it would show on the other line as well",
    "not-alone": "reading the printed lines back finds other faults than the ones that were made",
}
"""Every reason for which a damage or a question is refused, in words."""

_FORMAT = (
    "The format: every line has 69 columns, and all columns between two fields are blank. "
    "Line 1: column 1 the digit 1; 3-7 catalogue number (digits, or a letter other than I and O and four digits); "
    "8 classification; 10-17 designator (or blank); 19-20 year; 21-32 day DDD.DDDDDDDD; 34-43 sign or blank, then "
    ".NNNNNNNN; 45-52 and 54-61 sign or blank, five digits, sign, digit; 63 a digit; 65-68 element set number. "
    "Line 2: column 1 the digit 2; 3-7 the same catalogue number; 9-16, 18-25, 35-42 and 44-51 angles NNN.NNNN; 27-33 "
    "eccentricity, seven digits; 53-63 mean motion NN.NNNNNNNN; 64-68 revolution number. Only leading zeros of days, "
    "angles, mean motion and counters may be blank. Column 69 of both lines is the checksum: the sum of the digits in "
    "columns 1 to 68, with 1 for every minus sign and 0 for everything else, modulo 10."
)
_QUESTIONS = {
    "easy": "Exactly one of these sets is malformed: a line breaks the format, or its two lines are in the wrong order "
    'or not of one object. Which set? Answer with one JSON object with the field "set" (its number).',
    "medium": "In exactly one of these lines the checksum does not fit. Which line? "
    'Answer with one JSON object with the field "line" (its number before the bar).',
    "hard": f"Between one and {MOST_DAMAGED} of these lines break the format, by their columns or by their checksum; a "
    "line counts if it is itself damaged. Which lines? "
    'Answer with one JSON object with the field "lines" (a list of their numbers before the bar).',
}
_LINE = re.compile(r"^(\d\d)\|(.*)$", re.MULTILINE)


class Asked(msgspec.Struct, frozen=True):
    """What a prompt gives: the pairs of lines in order, and the level of its question."""

    pairs: list[Lines]
    level: str


def _drawn_from(seed: str, catalogue: str | None, level: str) -> Iterator[Item | str]:
    return _outcomes(seed, population(seed, catalogue, lambda _: True), level)


_TAPES = Tapes(_drawn_from)
make, refusals = _TAPES.make, _TAPES.refusals


def _outcomes(seed: str, source: Population, level: str) -> Iterator[Item | str]:
    for index, difficulty in places(level):
        block = source.block(index, max(SETS.values()))[: SETS[difficulty]]
        if len(block) < SETS[difficulty]:
            return
        rng = Random(f"{seed}/{index}")
        pairs = [tle.write_lines(e) for e in source.shown(block, rng)]
        wanted: list[int] = []
        for made in _damages(rng, pairs, difficulty):
            if isinstance(made, str):
                yield made
            else:
                wanted.append(made)
        text = prompt(Asked(pairs, difficulty))
        if _right(text) != sorted(wanted):
            yield "not-alone"
            continue
        yield Item(
            id=f"{NAME}-{level + '-' if level else ''}{seed}-{index:05d}",
            input=text,
            target=_as_json(difficulty, _right(text)),
            verifier={
                "name": "fields",
                "fields": {FIELD[difficulty]: {"verifier": _VERIFIERS[FIELD[difficulty]], "miss": WRONG}},
            },
            family=NAME,
            domain="format",
            difficulty=difficulty,
            **source.about(block),
        )


def _damages(rng: Random, pairs: list[Lines], level: str) -> Iterator[int | str]:
    """Damage the pairs in place; gives the number of every damaged set or line, and why a draw was refused."""
    if level == "easy":
        place = rng.randrange(len(pairs))
        kind = rng.choice([*_SET_KINDS, *KINDS])
        if kind in _SET_KINDS:
            pairs[place] = _as_set(pairs, place, kind)
        else:
            yield from (one for one in _one_line(rng, pairs, place, (kind,)) if isinstance(one, str))
        yield place + 1
        return
    groups: list[tuple[str, ...]] = [CHECKSUM_KINDS]
    if level == "hard":
        groups = [CHECKSUM_KINDS, _COLUMN_KINDS, *[tuple(KINDS)] * rng.randint(0, MOST_DAMAGED - 2)]
    for place, kinds in zip(rng.sample(range(len(pairs)), len(groups)), groups, strict=True):
        yield from _one_line(rng, pairs, place, kinds)


def _as_set(pairs: Sequence[Lines], place: int, kind: str) -> Lines:
    first, second = pairs[place]
    if kind == "lines-swapped":
        return second, first
    return first, pairs[place - 1][1]


def _one_line(rng: Random, pairs: list[Lines], place: int, kinds: Sequence[str]) -> Iterator[int | str]:
    """Damage one line of a pair, whichever offers a place; gives its number among all lines at last."""
    while True:
        number, kind = rng.choice((1, 2)), rng.choice(kinds)
        line = damaged(rng, pairs[place], number, kind)
        if line is not None:
            pairs[place] = (line, pairs[place][1]) if number == 1 else (pairs[place][0], line)
            yield 2 * place + number
            return
        yield "no-place"


def prompt(asked: Asked) -> str:
    """The text of a question."""
    numbered = [line for pair in asked.pairs for line in pair]
    step = 2 if asked.level == "easy" else 1
    listed = "\n".join(f"{k // step + 1:02d}|{line}" for k, line in enumerate(numbered))
    what = "the number of its set" if asked.level == "easy" else "its number"
    return (
        f"{len(asked.pairs)} two-line element sets; before the bar of every line stands {what}, and column 1 comes "
        f"after the bar:\n{listed}\n\n{_FORMAT}\n\n{_QUESTIONS[asked.level]}"
    )


@lru_cache(maxsize=64)
def read_prompt(text: str) -> Asked:
    """What a prompt gives; InputError when it is not one of this family's."""
    lines = [line for _, line in _LINE.findall(text)]
    level = next((level for level, question in _QUESTIONS.items() if question in text), None)
    if not lines or len(lines) % 2 or level is None:
        raise InputError("the prompt has no pairs of numbered lines with a question about them")
    return Asked(list(zip(lines[::2], lines[1::2], strict=True)), level)


def _right(text: str) -> list[int]:
    """Numbers of the malformed sets or lines, ascending."""
    return _found(read_prompt(text), lambda line_1, line_2: {fault.line for fault in tle.faults(line_1, line_2)})


def _found(asked: Asked, faulty: Callable[[str, str], set[int]]) -> list[int]:
    """Numbers of sets or lines in which `faulty` (of two lines) finds line 1 or 2."""
    if asked.level == "easy":
        return [k for k, pair in enumerate(asked.pairs, 1) if faulty(*pair)]
    return [2 * k + line for k, pair in enumerate(asked.pairs) for line in sorted(faulty(*pair))]


def _as_json(level: str, numbers: list[int]) -> str:
    return json.dumps({FIELD[level]: numbers if level == "hard" else numbers[0]})


def solve(item: Item) -> str:
    """The number of the malformed set or line, or the list of them, as JSON."""
    return _as_json(read_prompt(item.prompt).level, _right(item.prompt))


def _wrong(answer: Callable[[Asked, list[int]], list[int]]) -> Spoil:
    """A spoil by another answer, where it is not the right one after all."""

    def spoiled(item: Item) -> str | None:
        asked, right = read_prompt(item.prompt), _right(item.prompt)
        wrong = answer(asked, right)
        kept = wrong if asked.level == "hard" else wrong[:1]
        return _as_json(asked.level, kept) if kept != right and (kept or asked.level == "hard") else None

    return Spoil(spoiled, (WRONG,))


def _by_reader(faulty: Callable[[str, str], set[int]]) -> Spoil:
    """A spoil by a reader that knows only a part of the format, or knows it wrongly."""
    return _wrong(lambda asked, _: _found(asked, faulty))


def _of_kind(wanted: bool) -> Callable[[str, str], set[int]]:
    """Lines with faults of checksum alone (True), or of columns and length alone."""
    return lambda a, b: {fault.line for fault in tle.faults(a, b) if (fault.kind == "checksum") == wanted}


def _by_checksum(counts: Callable[[str], int]) -> Callable[[str, str], set[int]]:
    """Lines whose last column is not the checksum in which every character counts as `counts` says."""

    def faulty(*lines: str) -> set[int]:
        return {k for k, line in enumerate(lines, 1) if line[68:69] != str(sum(map(counts, line[:68])) % 10)}

    return faulty


def _digit(character: str) -> int:
    return int(character) if character.isdigit() else 0


def _other_line(asked: Asked, right: list[int]) -> list[int]:
    """The other line of the same set."""
    return right if asked.level == "easy" else sorted((n - 1 ^ 1) + 1 for n in right)


def _line_of_its_set(asked: Asked, right: list[int]) -> list[int]:
    """1 or 2: the line's number within its set."""
    return right if asked.level == "easy" else sorted({(n - 1) % 2 + 1 for n in right})


malformed = Family(
    name=NAME,
    make=make,
    solve=solve,
    refusals=refusals,
    spoil={
        "next-one": _wrong(lambda asked, right: [n % len(asked.pairs) + 1 for n in right]),
        "other-line-of-the-set": _wrong(_other_line),
        "line-within-its-set": _wrong(_line_of_its_set),
        "checksum-alone": _by_reader(_of_kind(True)),
        "columns-alone": _by_reader(_of_kind(False)),
        "minus-not-counted": _by_reader(_by_checksum(_digit)),
        "one-missed": _wrong(lambda _, right: right[1:]),
        "one-too-many": _wrong(lambda _, right: [*right, next(n for n in range(1, 99) if n not in right)]),
    },
    vary={
        "as-text": lambda item: (
            None if read_prompt(item.prompt).level == "hard" else re.sub(r"(\d+)", r'"\1"', solve(item))
        ),
        "other-order": lambda item: (
            _as_json("hard", _right(item.prompt)[::-1]) if read_prompt(item.prompt).level == "hard" else None
        ),
        "with-reason": lambda item: f"I checked every line.\n\n```json\n{solve(item)}\n```",
    },
)
