"""What tests of verifiers and families do over and over: judge an answer, and try a verifier's own answers."""

from __future__ import annotations

from steelyard.attempt import Attempt
from steelyard.item import Item
from steelyard.verdict import Unread, Verdict
from steelyard.verifiers.registry import Bound, bind


def verdict_of(judge: Item | Bound, answer: str) -> Verdict:
    """The verdict of an item, or of a bound verifier, on an answer."""
    bound = bind(judge) if isinstance(judge, Item) else judge
    return bound.decide(bound.read(Attempt(answer=answer)))


def reading_of(bound: Bound, answer: str) -> tuple[object, str, tuple[int, int] | None] | None:
    """(value, rule, span) of what is read; None where nothing is."""
    found = bound.read(Attempt(answer=answer))
    return None if isinstance(found, Unread) else (found.value, found.rule, found.span)


def own_answers_are_made_and_judged(bound: Bound, prompt: str, made: dict[str, str | None]) -> None:
    """The rendering, the variations and the spoils are `made`; the first two pass, spoils fail as they name."""
    verifier, target = bound.verifier, bound.target
    assert verifier.render is not None
    right = {"render": verifier.render(target, bound.config)}
    right |= {name: make(target, bound.config, prompt) for name, make in verifier.vary.items()}
    wrong = {name: spoil.make(target, bound.config, prompt) for name, spoil in verifier.spoil.items()}
    assert made == right | wrong
    for name, answer in made.items():
        if answer is None:
            continue
        verdict = verdict_of(bound, answer)
        assert (name, name in right) == (name, verdict.passed)
        if name in wrong:
            spoil, raised = verifier.spoil[name], {miss.name for miss in verdict.misses}
            named = spoil.misses_of(answer, target, bound.config) if spoil.misses_of else spoil.misses
            assert (name, True) == (name, bool(raised & set(named)))
