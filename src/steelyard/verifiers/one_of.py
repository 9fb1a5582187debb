"""`one_of`: the answer is one of several accepted texts.

The texts are `accepts` of the config, else the target as a JSON list of texts. Reading and folding are `exact`'s.
Easy to break: an accepted text that folds to nothing, which an empty answer would meet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from steelyard.errors import InputError
from steelyard.verdict import PASSED, Reading, Verdict, failed
from steelyard.verifiers.contract import Spoil, Verifier
from steelyard.verifiers.exact import TEXT_VARY, TextConfig, check_text, echoed, longer, negated, read_text, same_text


class OneOfConfig(TextConfig, frozen=True):
    """Texts to accept in place of the target's list."""

    accepts: list[str] = msgspec.field(default_factory=list)


def accepted(target: str, config: OneOfConfig) -> list[str]:
    """The accepted texts; InputError when the target is no JSON list of texts."""
    if config.accepts:
        return config.accepts
    try:
        return msgspec.json.decode(target, type=list[str])
    except msgspec.MsgspecError as error:
        raise InputError(f"expected a JSON list of accepted texts as target, got {target[:80]!r}: {error}") from error


def _check(target: str, config: OneOfConfig) -> None:
    texts = accepted(target, config)
    if not texts:
        raise InputError("expected at least one accepted text, got an empty list")
    for text in texts:
        check_text(text, config)


def _decide(found: Reading, target: str, config: OneOfConfig) -> Verdict:
    texts = accepted(target, config)
    if isinstance(found.value, str) and any(same_text(found.value, text, config) for text in texts):
        return PASSED
    return failed("not-accepted", f"expected one of {texts!r}"[:300] + f", got {str(found.value)[:200]!r}")


def _render(target: str, config: OneOfConfig) -> str:
    return accepted(target, config)[0]


def _plain(target: str, _config: OneOfConfig, _prompt: str) -> str:
    return target


Make = Callable[[str, Any, str], str | None]


def _spoiled(make: Make) -> Spoil:
    """A spoil of the first accepted text, unless it is accepted itself."""

    def spoil(target: str, config: OneOfConfig, prompt: str) -> str | None:
        text = make(_render(target, config), config, prompt)
        return None if text is None or any(same_text(text, a, config) for a in accepted(target, config)) else text

    return Spoil(spoil, ("not-accepted",))


def _varied(make: Make) -> Make:
    """A variation of the last accepted text."""

    def vary(target: str, config: OneOfConfig, prompt: str) -> str | None:
        return make(accepted(target, config)[-1], config, prompt)

    return vary


VERIFIERS: tuple[Verifier, ...] = (
    Verifier(
        name="one_of",
        config=OneOfConfig,
        misses=("not-accepted",),
        read=read_text,
        decide=_decide,
        check=_check,
        render=_render,
        spoil={"longer-text": _spoiled(longer), "negated": _spoiled(negated), "prompt-echo": _spoiled(echoed)},
        vary={name: _varied(make) for name, make in {"plain": _plain, **TEXT_VARY}.items()},
    ),
)
