"""Judge one attempt: read or probe, decide, and turn a broken grader into a void instead of a wrong answer.

Boundary: this is the only place where a verifier's own exception is caught. A crash of the verifier, a sandbox that
breaks and evidence that cannot be gathered are void; the submission's own crash or time-out is the verifier's to
name as a miss. A void is tried once more; if it repeats while the item's reference still passes, the submission
provoked it: counted apart, and 0.0 as a reward.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from steelyard.attempt import Attempt
from steelyard.errors import SandboxError
from steelyard.item import Item
from steelyard.ports import Kit
from steelyard.verdict import Evidence, Reading, Undecided, Unread, Verdict, void
from steelyard.verifiers.registry import Bound, is_local

PROVOKED = "provoked"
"""Begins the note of a void that the submission provoked."""


CRASHED = "the verifier crashed while"
"""Begins the note of a void that the verifier's own crash made."""


class Judged(msgspec.Struct, frozen=True, omit_defaults=True):
    """What judging one attempt left: a reading or evidence, and the verdict."""

    verdict: Verdict
    reading: Reading | None = None
    unread: str = ""
    evidence: Evidence | None = None


def gather(item: Item, bound: Bound, attempt: Attempt, kit: Kit) -> Evidence | Verdict:
    """What the verifier's probe sees, or a void that says why it saw nothing."""
    probe = bound.verifier.probe
    if probe is None:
        return void(f'"{bound.verifier.name}" has no probe')
    try:
        return probe(item, attempt, kit, bound.config)
    except SandboxError as error:
        return void(f"no evidence: {error}")
    except Exception as error:  # noqa: BLE001  # a grader's crash is void, never a wrong answer
        return void(_crash("probing", error))


def judge(
    item: Item,
    bound: Bound,
    attempt: Attempt,
    *,
    kit: Kit | None = None,
    evidence: Evidence | None = None,
    reference_passes: Callable[[], bool] | None = None,
) -> Judged:
    """The verdict on one attempt, with what it was read from.

    With `evidence` a probing verifier only decides. Without it the kit is asked; without a kit the verdict is void.
    `reference_passes` is called when a void repeats, to tell a provoked void from a broken grader.
    """
    judged = _once(item, bound, attempt, kit, evidence)
    if judged.verdict.passed is None:
        judged = _once(item, bound, attempt, kit, evidence)
        seen = (
            judged.evidence is not None or not bound.probes
        )  # without evidence nothing was judged, so nothing provoked
        if judged.verdict.passed is None and seen and reference_passes is not None and reference_passes():
            note = f"{PROVOKED}: {judged.verdict.note}"
            judged = msgspec.structs.replace(judged, verdict=msgspec.structs.replace(judged.verdict, note=note))
    return judged


def _once(item: Item, bound: Bound, attempt: Attempt, kit: Kit | None, evidence: Evidence | None) -> Judged:
    if bound.probes:
        if evidence is None:
            if kit is None:
                return Judged(void("no evidence is stored and no sandbox was given"))
            found = gather(item, bound, attempt, kit)
            if isinstance(found, Verdict):
                return Judged(found)
            evidence = found
        elif bound.verifier.reread is not None:
            evidence = bound.verifier.reread(attempt, evidence, bound.config)
        return Judged(decide(item, bound, evidence), evidence=evidence)
    try:
        reading = bound.read(attempt)
    except Exception as error:  # noqa: BLE001  # a grader's crash is void, never a wrong answer
        return Judged(void(_crash("reading", error)))
    verdict = decide(item, bound, reading)
    if isinstance(reading, Unread):
        return Judged(verdict, unread=reading.reason)
    return Judged(verdict, reading=reading)


def decide(item: Item, bound: Bound, found: Reading | Unread | Evidence) -> Verdict:
    """The verdict on what was read or seen; a crash, and what cannot be settled, is void."""
    try:
        verdict = bound.decide(found)
        if isinstance(verdict, Undecided) and not isinstance(found, Unread):
            verdict = _settle(item, bound, found)
    except Exception as error:  # noqa: BLE001  # a grader's crash is void, never a wrong answer
        return void(_crash("deciding", error))
    return void(verdict.reason) if isinstance(verdict, Undecided) else verdict


def _settle(item: Item, bound: Bound, found: Reading | Evidence) -> Verdict:
    """The slow decision, in a worker that is killed when it takes too long.

    A verifier from a user's own file is known only in this process, so it settles here.
    """
    if is_local(bound):
        return bound.settle(found)
    from steelyard import workers  # brings processes and threads, for the few verdicts that are slow

    return workers.settle(item.verifier, item.target, item.choices, found)


def _crash(step: str, error: Exception) -> str:
    return f"{CRASHED} {step}: {type(error).__name__}: {error}"
