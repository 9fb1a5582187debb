"""`order`: the answer puts the target's labels in the target's order.

The target is a JSON list of distinct labels. The answer is a JSON or Python list, numbered lines, or a row
(`B > A > C`, `B, A, C`, `B -> A -> C`, `1) B 2) A 3) C`, `first B, then A and finally C`; with `<` the row is read
backwards; signs may be LaTeX). Labels are folded texts. Words around a row are seen through only where an expected
label is left.
Not covered: ties.
Easy to break: a row of one-letter labels without separators (`BAC`).
"""

from __future__ import annotations

import json
import re
from typing import Any

from steelyard.attempt import Attempt
from steelyard.canonical import canonical_text
from steelyard.errors import InputError
from steelyard.parsing.fold import fold
from steelyard.parsing.lists import items_of, without_words
from steelyard.parsing.prose import final_part
from steelyard.verdict import PASSED, Reading, Unread, Verdict, failed
from steelyard.verifiers.contract import Config, Spoil, Verifier, as_text

_SIGN = r"(?:->|→|⇒|⟶|➔|=>|>|<|←|<-|≻|≺|&[gl]t;|\\(?:to|(?:long)?rightarrow|succ|prec|gt|lt|leftarrow)(?![a-z]))"
_SEPARATOR = re.compile(
    rf"\s*(?:\${_SIGN}\$|{_SIGN}|[,;\n，、；])\s*(?:(?:and then|and finally|and lastly|and|then|next|finally|lastly"
    r"|last|followed by)\s+)?"
    r"|\s+(?:and then|and finally|and lastly|followed by|then|and|before|precedes)\s+",
    re.IGNORECASE,
)
_BACKWARD = re.compile(r"[<≺←]|&lt;|\\(?:prec|lt|leftarrow)(?![a-z])")
_FORWARD = re.compile(r"(?<![<])[>≻→⇒⟶➔]|&gt;|\\(?:succ|gt|to|(?:long)?[rR]ightarrow)(?![a-z])")
_IN_ORDER = re.compile(
    r"\(?(?:in (?:that|this|the given|exactly (?:that|this)) (?:exact |precise |very )?(?:order|sequence)"
    r"|respectively)\)?",
    re.IGNORECASE,
)
_RANKS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "last")
_RANK = re.compile(rf"\b({'|'.join(_RANKS)})\b", re.IGNORECASE)
_LONGEST_ROW = 4_000
_OPENER = re.compile(r"(?:first|firstly|the order is|order)[,:]?\s+", re.IGNORECASE)


def _read(attempt: Attempt, _config: Config) -> Reading | Unread:
    part = final_part(attempt.answer)
    items = items_of(part, _SEPARATOR)
    if items is None:
        return Unread(part.reason or "the answer is empty")
    values = items.values
    if items.rule not in ("json", "python", "lines"):
        shown = part.text[items.span[0] - part.offset : items.span[1] - part.offset]
        ranks = [_RANKS.index(rank.lower()) for rank in _RANK.findall(shown[:_LONGEST_ROW])]
        if ranks != sorted(ranks):
            return Unread("the words of rank are not in their order")
    if not items.typed and values:
        values = [_OPENER.sub("", values[0], count=1) if _OPENER.match(values[0]) else values[0], *values[1:]]
        shown = part.text[items.span[0] - part.offset : items.span[1] - part.offset]
        if items.rule != "lines" and _BACKWARD.search(shown) and not _FORWARD.search(shown):
            values = values[::-1]
    return Reading(values, items.rule, items.span)


def _labels(target: str) -> list[str]:
    """The labels of a target; InputError when it is no JSON list of them."""
    try:
        value = json.loads(target)
    except ValueError as error:
        raise InputError(f"expected a JSON list of labels as target, got {target[:80]!r}: {error}") from error
    if not isinstance(value, list) or not all(isinstance(label, str | int) for label in value):
        raise InputError(f"expected a JSON list of labels as target, got {target[:80]!r}")
    return [as_text(label) for label in value]


def _decide(found: Reading, target: str, _config: Config) -> Verdict:
    wanted = [fold(label) for label in _labels(target)]
    if not isinstance(found.value, list):
        return failed("wrong-elements", f"expected a list, got {type(found.value).__name__}")
    given = [as_text(value) for value in found.value]
    if found.rule not in ("json", "python"):
        given = without_words(given, lambda text: fold(text) in wanted)
        given = given[:-1] if len(given) > 1 and _IN_ORDER.fullmatch(given[-1]) else given
    got = [fold(text) for text in given]
    if len(got) == 1 and len(got[0]) == len(wanted) and all(len(label) == 1 for label in wanted):
        got = list(got[0])
    if got == wanted:
        return PASSED
    if sorted(got) == sorted(wanted):
        return failed("wrong-order", f"expected {wanted}, got {got}"[:400])
    return failed("wrong-elements", f"expected {wanted}, got {got}"[:400])


def _check(target: str, _config: Config) -> None:
    labels = [fold(label) for label in _labels(target)]
    if len(labels) < 2 or len(set(labels)) < len(labels) or "" in labels:
        raise InputError(f"expected at least two distinct labels, got {target[:80]!r}")


def _render(target: str, _config: Config) -> str:
    return target


def _swapped(target: str, _config: Config, _prompt: str) -> str:
    labels: list[Any] = _labels(target)
    return canonical_text([labels[1], labels[0], *labels[2:]])


def _reversed(target: str, _config: Config, _prompt: str) -> str:
    return canonical_text(_labels(target)[::-1])


def _short(target: str, _config: Config, _prompt: str) -> str:
    return canonical_text(_labels(target)[:-1])


def _in_row(separator: str, target: str) -> str | None:
    labels = _labels(target)
    plain = all(re.fullmatch(r"\w+(?:-\w+)*", label) for label in labels)
    return separator.join(labels) if plain else None


def _numbered(target: str, _config: Config, _prompt: str) -> str | None:
    row = _in_row("\n", target)
    return "\n".join(f"{n}. {label}" for n, label in enumerate(row.split("\n"), 1)) if row else None


VERIFIERS: tuple[Verifier, ...] = (
    Verifier(
        name="order",
        misses=("wrong-order", "wrong-elements"),
        read=_read,
        decide=_decide,
        check=_check,
        render=_render,
        spoil={
            "first-two-swapped": Spoil(_swapped, ("wrong-order",)),
            "backwards": Spoil(_reversed, ("wrong-order",)),
            "last-lost": Spoil(_short, ("wrong-elements",)),
        },
        vary={
            "greater-than": lambda target, _config, _prompt: _in_row(" > ", target),
            "commas": lambda target, _config, _prompt: _in_row(", ", target),
            "arrows": lambda target, _config, _prompt: _in_row(" → ", target),
            "numbered": _numbered,
        },
    ),
)
