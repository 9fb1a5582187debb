"""`set`: the answer names exactly the elements of the target, in any order.

The target is a JSON list. The answer is a JSON or Python list, list lines, or a row parted by commas, semicolons or
`and`, in braces or not. In a list as code values are typed (`1` is `1.0`, but neither `"1"` nor `true`); in prose every
element is a text. Texts are folded as `exact` does. With `multiset` it counts how often each element stands. Words
around a row, and words for the empty set, are seen through only where what is expected is left.
Easy to break: an element that holds `and` or a comma: what is expected decides whether it is parted.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from steelyard.attempt import Attempt
from steelyard.canonical import canonical_text
from steelyard.errors import InputError
from steelyard.parsing.fold import fold
from steelyard.parsing.lists import items_of, without_words
from steelyard.parsing.prose import final_part
from steelyard.verdict import Miss, Reading, Unread, Verdict, failed
from steelyard.verifiers.contract import Config, Spoil, Verifier, as_text


class SetConfig(Config, frozen=True):
    """Whether repetitions count."""

    multiset: bool = False


_SEPARATOR = re.compile(r"\s*[,;\n，、；]\s*(?:(?:and|or|&)\s+)?")
_AND = re.compile(r"\s+(?:and|&|or|und|et|y)\s+|\s*&\s*", re.IGNORECASE)
_PROSE = "prose"
_LONGEST_EMPTY = 240
_LONGEST_ELEMENT = 4_000
_EMPTY = re.compile(
    r"(?:.{0,80}\b(?:is|are|be|answer|equals|=)[ :]+)?(?:just |simply |therefore |thus )?"
    r"(?:(?:the |an |a )?(?:empty|null)(?: (?:set|list|collection))?|∅|\\emptyset|\\varnothing|nothing"
    r"|(?:there (?:are|is|exists?) )?(?:none(?: of (?:them|these|those))?|no (?:such )?\w+(?: \w+)?))"
    r"(?: (?:here|at all|exists?|qualif\w+|match\w*|appl\w+|satisf\w+ .{1,60}))?",
    re.IGNORECASE,
)
_NOT_EMPTY = re.compile(
    r"\b(?:not|non|never|idea|clue|answer|information|data|doubt|question|longer)\b|n['’]t\b|non-", re.IGNORECASE
)


def _read(attempt: Attempt, _config: SetConfig) -> Reading | Unread:
    part = final_part(attempt.answer)
    items = items_of(part, _SEPARATOR)
    if items is None:
        return Unread(part.reason or "the answer is empty")
    rule = items.rule if items.typed else f"{_PROSE}-{items.rule}"
    return Reading(items.values, rule, items.span)


def elements(target: str) -> list[Any]:
    """The elements of a target; InputError when it is no JSON list."""
    try:
        value = json.loads(target)
    except ValueError as error:
        raise InputError(f"expected a JSON list as target, got {target[:80]!r}: {error}") from error
    if not isinstance(value, list):
        raise InputError(f"expected a JSON list as target, got {target[:80]!r}")
    return value


_Key = tuple[str, Any]


def typed(value: Any) -> _Key:
    """A JSON value in the form in which two are the same: numbers by value, texts folded, the rest as it stands."""
    if isinstance(value, bool) or value is None:
        return type(value).__name__, value
    if isinstance(value, int | float):
        return "number", Fraction(value)
    if isinstance(value, str):
        return "text", fold(value)
    return "json", canonical_text(value)


def untyped(value: Any) -> _Key:
    """The same for an answer in prose, where everything is text."""
    return "text", fold(as_text(value))


def _decide(found: Reading, target: str, config: SetConfig) -> Verdict:
    if not isinstance(found.value, list):
        return failed("missing-element", f"expected a list, got {type(found.value).__name__}")
    wanted = elements(target)
    if found.rule.startswith(_PROSE):
        want = list(map(untyped, wanted))
        got = [] if not want and _says_empty(found.value) else list(_parted(found.value, frozenset(want)))
    else:
        want, got = list(map(typed, wanted)), list(map(typed, found.value))
    missing, extra = _differences(want, got, config)
    misses = [Miss("missing-element", str(key[1])[:200]) for key in missing]
    misses += [Miss("extra-element", str(key[1])[:200]) for key in extra]
    return Verdict(not misses, misses)


def _differences(want: list[_Key], got: list[_Key], config: SetConfig) -> tuple[list[_Key], list[_Key]]:
    """What is missing and what is extra, in order."""
    if config.multiset:
        wanted, given = Counter(want), Counter(got)
        return list((wanted - given).elements()), list((given - wanted).elements())
    once, found = dict.fromkeys(want), dict.fromkeys(got)
    return [key for key in once if key not in found], [key for key in found if key not in once]


def _says_empty(values: list[str]) -> bool:
    """Whether the one text of a row says that there is no element (`the empty set`, `there are none`)."""
    text = values[0].strip("$ ") if len(values) == 1 else ""
    said = _EMPTY.fullmatch(text[:_LONGEST_EMPTY])
    return said is not None and _NOT_EMPTY.search(text) is None


def _parted(values: list[str], want: frozenset[_Key]) -> Iterable[_Key]:
    """Elements of prose, parted at `and` unless they are expected as they stand."""

    def known(text: str) -> bool:
        return len(text) <= _LONGEST_ELEMENT and untyped(text) in want

    pieces: list[str] = []
    for value in without_words(values, known):
        pieces += (
            [value]
            if len(value) > _LONGEST_ELEMENT or known(value)
            else [piece for piece in _AND.split(value) if piece.strip()]
        )
    return map(untyped, without_words(pieces, known))


def _check(target: str, config: SetConfig) -> None:
    wanted = elements(target)
    if not config.multiset and len({typed(value) for value in wanted}) < len(wanted):
        raise InputError(f'expected distinct elements (or "multiset": true), got {target[:80]!r}')


def _render(target: str, _config: SetConfig) -> str:
    return target


def _all_but_one(target: str, _config: SetConfig, _prompt: str) -> str | None:
    wanted = elements(target)
    return canonical_text(wanted[1:]) if wanted else None


def _one_more(target: str, _config: SetConfig, _prompt: str) -> str:
    return canonical_text([*elements(target), "something else entirely"])


def _doubled(target: str, config: SetConfig, _prompt: str) -> str | None:
    wanted = elements(target)
    return canonical_text([*wanted, wanted[0]]) if config.multiset and wanted else None


def _plain(target: str) -> list[str] | None:
    """The elements as texts, where a row of them reads back."""
    texts = [as_text(value) for value in elements(target)]
    safe = len(texts) > 1 and all(re.fullmatch(r"\w+(?:[ -]\w+)*", text) and not _AND.search(text) for text in texts)
    return texts if safe else None


def _reversed(target: str, _config: SetConfig, _prompt: str) -> str:
    return canonical_text(elements(target)[::-1])


def _fenced(target: str, _config: SetConfig, _prompt: str) -> str:
    return f"```json\n{target}\n```"


def _row(target: str, _config: SetConfig, _prompt: str) -> str | None:
    texts = _plain(target)
    return f"The elements are: {', '.join(texts[:-1])} and {texts[-1]}." if texts else None


def _bullets(target: str, _config: SetConfig, _prompt: str) -> str | None:
    texts = _plain(target)
    return "\n".join(f"- {text}" for text in texts) if texts else None


VERIFIERS: tuple[Verifier, ...] = (
    Verifier(
        name="set",
        config=SetConfig,
        misses=("missing-element", "extra-element"),
        read=_read,
        decide=_decide,
        check=_check,
        render=_render,
        spoil={
            "element-lost": Spoil(_all_but_one, ("missing-element",)),
            "element-added": Spoil(_one_more, ("extra-element",)),
            "element-doubled": Spoil(_doubled, ("extra-element",)),
        },
        vary={"reversed": _reversed, "fenced": _fenced, "row": _row, "bullets": _bullets},
    ),
)
