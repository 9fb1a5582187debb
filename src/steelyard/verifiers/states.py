"""`states`: the answer asserts a phrase, or (`polarity: not-asserted`) never does.

`phrase` defaults to the target. `rules: 2` reads clauses (see `parsing.negation`); `rules: 1` is seed 004's window of
three words, blind spot included. Text in reasoning blocks, struck-out text and run-ons do not count.
Not covered: paraphrases: only the phrase itself is sought, as a whole token in any case.
Easy to break: with `not-asserted` a reply that never mentions the phrase passes; an empty one is no answer and fails.
"""

from __future__ import annotations

from typing import Literal

from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.parsing.negation import asserted_phrase, found, stated_in_window, words
from steelyard.parsing.prose import final_part
from steelyard.verdict import PASSED, Reading, Unread, Verdict, failed
from steelyard.verifiers.contract import Config, Spoil, Verifier


class StatesConfig(Config, frozen=True):
    """What must, or must never, be asserted, and by which rules that is read."""

    phrase: str = ""
    polarity: Literal["asserted", "not-asserted"] = "asserted"
    rules: Literal[1, 2] = 2


def _read(attempt: Attempt, config: StatesConfig) -> Reading | Unread:
    part = final_part(attempt.answer)
    if not part.text.strip():
        return Unread(part.reason or "the answer is empty")
    return Reading(part.text, f"rules-{config.rules}", (part.offset, part.offset + len(part.text)))


def _decide(found_text: Reading, target: str, config: StatesConfig) -> Verdict:
    phrase = config.phrase or target
    if not isinstance(found_text.value, str):
        miss = "not-stated" if config.polarity == "asserted" else "states-ruled-out"
        return failed(miss, f"expected text, got {type(found_text.value).__name__}")
    if config.rules == 1:
        stated, stands = stated_in_window(found_text.value, phrase), bool(found(found_text.value, phrase))
    else:
        stands, stated = asserted_phrase(found_text.value, phrase)
    if config.polarity == "not-asserted":
        return failed("states-ruled-out", phrase) if stated else PASSED
    if stated:
        return PASSED
    return failed("not-stated", f"{phrase!r} is {'never asserted' if stands else 'absent'}")


def _check(target: str, config: StatesConfig) -> None:
    phrase = config.phrase or target
    if not phrase.strip() or (config.rules == 1 and not words(phrase)):
        raise InputError(f"expected a phrase with at least one word, got {phrase!r}; an empty one stands everywhere")


def _render(target: str, config: StatesConfig) -> str:
    phrase = config.phrase or target
    return f"It is {phrase}." if config.polarity == "asserted" else f"It is not {phrase}."


def _denied(target: str, config: StatesConfig, _prompt: str) -> str | None:
    return f"It is not {config.phrase or target}." if config.polarity == "asserted" else None


def _in_a_word(target: str, config: StatesConfig, _prompt: str) -> str | None:
    return f"It is un{config.phrase or target}ly so." if config.polarity == "asserted" else None


def _asserted(target: str, config: StatesConfig, _prompt: str) -> str | None:
    return f"It is {config.phrase or target}." if config.polarity == "not-asserted" else None


def _bold(target: str, config: StatesConfig, _prompt: str) -> str | None:
    return f"It is **{config.phrase or target}**." if config.polarity == "asserted" else None


def _capitals(target: str, config: StatesConfig, _prompt: str) -> str | None:
    return _render(target, config).upper()


def _after_a_denial(target: str, config: StatesConfig, _prompt: str) -> str | None:
    phrase = config.phrase or target
    return f"It is not something else; it is {phrase}." if config.polarity == "asserted" and config.rules > 1 else None


VERIFIERS: tuple[Verifier, ...] = (
    Verifier(
        name="states",
        rules=2,
        config=StatesConfig,
        misses=("not-stated", "states-ruled-out"),
        read=_read,
        decide=_decide,
        check=_check,
        render=_render,
        spoil={
            "denied": Spoil(_denied, ("not-stated",)),
            "inside-longer-word": Spoil(_in_a_word, ("not-stated",)),
            "asserted": Spoil(_asserted, ("states-ruled-out",)),
        },
        vary={"bold": _bold, "capitals": _capitals, "after-a-denial": _after_a_denial},
    ),
)
