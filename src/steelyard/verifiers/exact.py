"""`exact`: the answer is the target, under a folding that never merges two meanings.

`fold: text` compares as `parsing.fold` describes; `fold: none` compares the answer as it stands, byte for byte.
`read: whole` takes everything outside reasoning blocks; `read: final` takes the answer that the prose commits to.
Not covered: articles, synonyms, number formats: those are other verifiers.
Easy to break: an answer that is longer than the target is not the target.
"""

from __future__ import annotations

from typing import Literal

from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.parsing.fold import fold
from steelyard.parsing.prose import committed, final_part, undecorated, without_reasoning
from steelyard.verdict import PASSED, Reading, Unread, Verdict, failed
from steelyard.verifiers.contract import Config, Spoil, Verifier


class TextConfig(Config, frozen=True):
    """How a text is read and compared."""

    fold: Literal["text", "none"] = "text"
    read: Literal["whole", "final"] = "whole"


def read_text(attempt: Attempt, config: TextConfig) -> Reading | Unread:
    """The text that counts: all of it, or the committed answer."""
    if config.fold == "none" and config.read == "whole":
        part = without_reasoning(attempt.answer)
        if not part.text:
            return Unread(part.reason or "the answer is empty")
        return Reading(part.text, "whole", (part.offset, part.offset + len(part.text)))
    part = final_part(attempt.answer)
    if not part.text.strip():
        return Unread(part.reason or "the answer is empty")
    if config.read == "final":
        best = next(iter(committed(part)), None)
        return Reading(undecorated(best.text), best.rule, best.span) if best else Unread("no answer that says anything")
    start = part.offset + len(part.text) - len(part.text.lstrip())
    text = part.text.strip()
    return Reading(text, "whole", (start, start + len(text)))


def same_text(got: str, want: str, config: TextConfig) -> bool:
    """Whether two texts are the same under the config's folding."""
    return got == want if config.fold == "none" else fold(got) == fold(want)


def check_text(target: str, config: TextConfig) -> None:
    """Refuses a target that an empty answer would meet."""
    if not (target if config.fold == "none" else fold(target)):
        raise InputError(f"expected a target with visible text, got {target!r}")


def _decide(found: Reading, target: str, config: TextConfig) -> Verdict:
    if not isinstance(found.value, str):
        return failed("differs", f"expected text, got {type(found.value).__name__}")
    if same_text(found.value, target, config):
        return PASSED
    return failed("differs", f"expected {target[:200]!r}, got {found.value[:200]!r}")


def _render(target: str, _config: TextConfig) -> str:
    return target


def longer(target: str, _config: Config, _prompt: str) -> str:
    """The target inside a longer text."""
    return f"{target} or something else entirely"


def negated(target: str, _config: Config, _prompt: str) -> str:
    """The target, denied."""
    return f"not {target}"


def echoed(target: str, config: TextConfig, prompt: str) -> str | None:
    """The prompt given back, unless it is the target."""
    return prompt if prompt.strip() and not same_text(prompt, target, config) and config.read == "whole" else None


def upper(target: str, config: TextConfig, _prompt: str) -> str | None:
    """The target in capitals, where that folds back."""
    return target.upper() if config.fold == "text" and same_text(target.upper(), target, config) else None


def stopped(target: str, config: TextConfig, _prompt: str) -> str | None:
    """The target with a full stop."""
    return f"{target}." if config.fold == "text" and not target.rstrip().endswith(".") else None


def spaced(target: str, config: TextConfig, _prompt: str) -> str | None:
    """The target on a line of its own among blank ones."""
    return f"\n {target}\n\n" if config.fold == "text" else None


def boxed(target: str, config: TextConfig, _prompt: str) -> str | None:
    """The target in a box, where the committed answer is read."""
    plain = config.fold == "text" and config.read == "final" and not set(target) & set("\\{}$\n*`")
    return f"So we get \\boxed{{{target}}}." if plain else None


TEXT_VARY = {"full-stop": stopped, "capitals": upper, "blank-lines": spaced, "box": boxed}

VERIFIERS: tuple[Verifier, ...] = (
    Verifier(
        name="exact",
        config=TextConfig,
        misses=("differs",),
        read=read_text,
        decide=_decide,
        check=check_text,
        render=_render,
        spoil={
            "longer-text": Spoil(longer, ("differs",)),
            "negated": Spoil(negated, ("differs",)),
            "prompt-echo": Spoil(echoed, ("differs",)),
        },
        vary=TEXT_VARY,
    ),
)
