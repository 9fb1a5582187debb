"""`math`: the answer says the same as the target: an equal value, set or relation.

Equality is exact (2 pi is not 6.28), value by value, set by set, relation by relation; see `parsing.math_compare`.
A reading's value is the answer's source text. An answer that cannot be read whole equals nothing.
`decide` uses exact rational arithmetic over independent roots and variables, and floats with an error bound where
values differ. What that leaves open `settle` decides by many digits or with sympy, in a worker that can be killed.
`2e-1` may be 0.2 or 2e - 1: it equals what either equals.
Not covered: integrals, sums, limits, piecewise definitions, systems of inequalities in several variables.
Easy to break: symmetry. `decide(a, b) == decide(b, a)` for answers that could be targets.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.parsing.latex import read_math
from steelyard.parsing.latex_tree import Node, Unreadable
from steelyard.parsing.math_answer import find_answer
from steelyard.parsing.math_compare import same
from steelyard.parsing.math_form import form_of
from steelyard.parsing.math_polys import TooBigError, as_rational
from steelyard.parsing.math_scalars import Ask, any3, no_help
from steelyard.parsing.numbers import plain_text
from steelyard.parsing.prose import final_part
from steelyard.verdict import PASSED, Reading, Undecided, Unread, Verdict, failed, void
from steelyard.verifiers.contract import Config, Spoil, Verifier


class MathConfig(Config, frozen=True):
    """Nothing can be set."""


_SHOWN = 120
_MAYBE_EXPONENT = re.compile(r"(?<=\d)e(?=[+-]\d)")


@lru_cache(maxsize=4096)
def _readings(text: str) -> tuple[Node, ...]:
    """What a text can mean, the usual reading first; Unreadable where it means nothing."""
    first = read_math(text)
    if _MAYBE_EXPONENT.search(text):
        return first, read_math(_MAYBE_EXPONENT.sub(" e ", text))
    return (first,)


def _target(target: str) -> tuple[Node, ...]:
    try:
        return _readings(target)
    except Unreadable as reason:
        raise InputError(f'the target must be a mathematical answer, got "{target[:_SHOWN]}": {reason}') from None


def _check(target: str, _config: MathConfig) -> None:
    nodes = _target(target)
    try:
        form_of(nodes[0])
    except ZeroDivisionError:
        raise InputError(f'the target must have a value, got "{target[:_SHOWN]}"') from None
    except TooBigError:
        return  # a large value is one


def _read(attempt: Attempt, _config: MathConfig) -> Reading | Unread:
    part = final_part(attempt.answer)
    if part.reason:
        return Unread(part.reason)
    if not part.text.strip():
        return Unread("the answer is empty")
    found = find_answer(part, attempt.answer)
    if found is None:
        return Unread("no answer is marked, and no formula stands at the end")
    return Reading(found.text, found.rule, found.span)


def _text(value: Any) -> str | None:
    """A reading's value as source text; None for what is no mathematics."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return repr(value)


def _decide(found: Reading, target: str, _config: MathConfig) -> Verdict | Undecided:
    gold = _target(target)
    text = _text(found.value)
    if text is None:
        return failed("unreadable", f"expected mathematics, got {str(found.value)[:_SHOWN]!r}")
    if text == target:
        return PASSED
    verdict = _verdict(text, gold, target, no_help)
    return verdict or Undecided(f"whether {text[:_SHOWN]} equals {target[:_SHOWN]}")


def _verdict(text: str, gold: tuple[Node, ...], target: str, ask: Ask) -> Verdict | None:
    try:
        nodes = _readings(text)
    except Unreadable as reason:
        if gold[0].op == "words" and " ".join(text.strip(" .*").casefold().split()) == gold[0].value:
            return PASSED
        return failed("unreadable", f"{text[:_SHOWN]!r}: {reason}")
    known = any3(same(a, b, ask) for a in nodes for b in gold)
    if known is None:
        return None
    return PASSED if known else failed("not-equal", f"{text[:_SHOWN]} does not equal {target[:_SHOWN]}")


def _settle(found: Reading, target: str, _config: MathConfig) -> Verdict:
    from steelyard.verifiers.symbolic import ask_slowly  # the only place that needs mpmath and sympy

    verdict = _verdict(_text(found.value) or "", _target(target), target, ask_slowly)
    return verdict or void(f"it could not be settled whether {str(found.value)[:_SHOWN]} equals {target[:_SHOWN]}")


def _render(target: str, _config: MathConfig) -> str:
    return f"\\boxed{{{target}}}"


def _wrong(make: Callable[[str], str | None]) -> Spoil:
    """A wrong answer in a box, where what is made can be read and is proven to differ from the target."""

    def spoil(target: str, _config: MathConfig, _prompt: str) -> str | None:
        text = make(target)
        if text is None:
            return None
        verdict = _verdict(text, _target(target), target, no_help)
        return f"\\boxed{{{text}}}" if verdict is not None and verdict.passed is False else None

    return Spoil(spoil, ("not-equal",))


_WHOLE = re.compile(r"-?\d+")
_SCALAR_OPS = frozenset(["num", "sym", "const", "neg", "add", "mul", "div", "pow", "root", "fact", "abs", "fn"])


def _is_scalar(target: str) -> bool:
    return _target(target)[0].op in _SCALAR_OPS


def _negated(target: str) -> str | None:
    return f"-({target})" if _is_scalar(target) else None


def _neighbour(target: str) -> str | None:
    return str(int(target) + 1) if _WHOLE.fullmatch(target) and len(target) < 1000 else None


def _cut_short(target: str) -> str | None:
    return target[:-1] if _WHOLE.fullmatch(target) and len(target.lstrip("-")) > 1 else None


def _turned_round(target: str) -> str | None:
    return target[::-1] if target.isdecimal() else None


def _reciprocal(target: str) -> str | None:
    return f"\\frac{{1}}{{{target}}}" if _is_scalar(target) else None


def _one_more(target: str) -> str | None:
    return f"{target}, 271828" if _target(target)[0].op != "words" else None


def _other_ends(target: str) -> str | None:
    """An interval with one end turned from open to closed or back; a pair becomes an interval."""
    node = _target(target)[0]
    if node.op not in ("interval", "union") and not (node.op == "tuple" and len(node.args) == 2):
        return None
    last = max(target.rfind(")"), target.rfind("]"))
    return target[:last] + {")": "]", "]": ")"}[target[last]] + target[last + 1 :] if last >= 0 else None


def _gives_up(_target_text: str, _config: MathConfig, _prompt: str) -> str:
    return "I could not find the answer."


def _in_display(target: str, _config: MathConfig, _prompt: str) -> str | None:
    return f"So we get\n\\[ \\boxed{{ {target} }} \\]" if "$" not in target else None


def _in_a_sentence(target: str, _config: MathConfig, _prompt: str) -> str | None:
    plain = "$" not in target and "\\[" not in target and "\\(" not in target
    return f"The answer is ${target}$." if plain else None


def _large_fractions(target: str, _config: MathConfig, _prompt: str) -> str | None:
    return f"\\boxed{{{target.replace(chr(92) + 'frac', chr(92) + 'dfrac')}}}" if "\\frac" in target else None


def _as_decimal(target: str, _config: MathConfig, _prompt: str) -> str | None:
    """A scalar that is a fraction as its decimal, where that ends and is not how the target is written."""
    if not _is_scalar(target):
        return None
    try:
        value = as_rational(form_of(_target(target)[0]))
    except TooBigError:
        return None
    if value is None or value.denominator == 1 or value.denominator.bit_length() + value.numerator.bit_length() > 400:
        return None
    text = plain_text(value)
    return f"\\boxed{{{text}}}" if Fraction(text) == value and "/" not in text and text != target else None


VERIFIERS: tuple[Verifier, ...] = (
    Verifier(
        name="math",
        config=MathConfig,
        misses=("not-equal", "unreadable"),
        read=_read,
        decide=_decide,
        settle=_settle,
        check=_check,
        render=_render,
        spoil={
            "negated": _wrong(_negated),
            "neighbour": _wrong(_neighbour),
            "prefix": _wrong(_cut_short),
            "digits-reversed": _wrong(_turned_round),
            "reciprocal": _wrong(_reciprocal),
            "other-ends": _wrong(_other_ends),
            "one-more-value": _wrong(_one_more),
            "gives-up": Spoil(_gives_up, ("not-equal", "unreadable", "no-answer")),
        },
        vary={
            "display-box": _in_display,
            "sentence": _in_a_sentence,
            "large-fractions": _large_fractions,
            "decimal": _as_decimal,
        },
        libraries=("mpmath", "sympy"),
    ),
)
