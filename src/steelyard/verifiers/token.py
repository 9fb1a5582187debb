"""`token`: the target stands in the answer as a whole token.

The rule is seed 001's second one, with thousands separators ignored on both sides and a `v` before versions; see
`parsing.tokens`. Text in reasoning blocks, struck-out text and run-ons do not count. `rules: 1` is the seed's first
rule, the target anywhere in the answer in any case: kept to judge old runs with, and refuted by its own wrong attempts.
Not covered: whether the answer denies the token (`states` reads that), or how the model came to it.
Easy to break: `12` stands neither in `123`, `12.5`, `12-pack` nor in `12,000`.
"""

from __future__ import annotations

from typing import Literal

from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.parsing.prose import final_part
from steelyard.parsing.tokens import holds
from steelyard.verdict import PASSED, Reading, Unread, Verdict, failed
from steelyard.verifiers.contract import Config, Spoil, Verifier, as_text


class TokenConfig(Config, frozen=True):
    """Which rule says that the target stands in the answer."""

    rules: Literal[1, 2] = 2


def _read(attempt: Attempt, _config: Config) -> Reading | Unread:
    part = final_part(attempt.answer)
    if not part.text.strip():
        return Unread(part.reason or "the answer is empty")
    return Reading(part.text, "whole", (part.offset, part.offset + len(part.text)))


def _decide(found: Reading, target: str, config: TokenConfig) -> Verdict:
    text = as_text(found.value)
    if config.rules == 1:
        inside = target.casefold() in text.casefold()
        return PASSED if inside else failed("token-absent", f"{target!r} does not stand in the answer")
    if holds(text, target):
        return PASSED
    return failed("token-absent", f"{target!r} does not stand in the answer as a whole token")


def _check(target: str, _config: Config) -> None:
    if not target.strip():
        raise InputError(f"expected a target with a token in it, got {target!r}")


def _render(target: str, _config: Config) -> str:
    return target


def _with(form: str, target: str) -> str | None:
    """`form` filled in, unless the target stands in it even so."""
    text = form.format(target)
    return None if holds(text, target) else text


VERIFIERS: tuple[Verifier, ...] = (
    Verifier(
        name="token",
        config=TokenConfig,
        misses=("token-absent",),
        read=_read,
        decide=_decide,
        check=_check,
        render=_render,
        spoil={
            "inside-longer-token": Spoil(
                lambda target, _config, _prompt: _with("It is {}3.", target), ("token-absent",)
            ),
            "part-of-compound": Spoil(
                lambda target, _config, _prompt: _with("It is a {}-pack.", target), ("token-absent",)
            ),
            "thousand-times": Spoil(
                lambda target, _config, _prompt: _with("It is {},000.", target) if target.isdigit() else None,
                ("token-absent",),
            ),
            "prompt-echo": Spoil(
                lambda target, _config, prompt: None if not prompt.strip() or holds(prompt, target) else prompt,
                ("token-absent",),
            ),
        },
        vary={
            "sentence": lambda target, _config, _prompt: f"The answer is {target}.",
            "bold": lambda target, _config, _prompt: f"It is **{target}**.",
            "code": lambda target, _config, _prompt: f"It is `{target}`.",
            "capitals": lambda target, _config, _prompt: target.upper(),
            "thousands": lambda target, _config, _prompt: (
                f"It is {int(target):,}."
                if target.isascii() and target.isdigit() and target[0] != "0" and len(target) > 3
                else None
            ),
        },
    ),
)
