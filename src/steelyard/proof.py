"""Proof: stored witnesses that an item's verifier fails on nothing, on named wrong attempts, and passes on right ones.

Legs, the cheap first; a refuted item stops early: null, reference, spoil, vary, contrast. An item is *proven* when its
null failed, its reference passed, at least one spoil failed as named and nothing contradicts. What could not be tried
makes it *unchecked* with a reason from a closed list; unchecked is never proven.
Witnesses keep attempt, evidence and verdict and travel inside the suite, so a proof is checked again without the
family's code: `decide` re-reads and re-decides, `probe` grades the stored Diffs again, `replay` runs the calls again.
Not covered: A/A and oracle measurements of items that claim to measure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from steelyard.attempt import Attempt, Diff, ToolCall
from steelyard.errors import InputError, SandboxUnavailableError
from steelyard.family import Family
from steelyard.item import Item, ask, key
from steelyard.judging import Judged, judge
from steelyard.ports import Kit
from steelyard.solvers.replay import replay
from steelyard.verdict import Evidence, Verdict
from steelyard.verifiers.contract import Script, Spoil
from steelyard.verifiers.registry import Bound, declared_misses, revision

Leg = Literal["null", "reference", "spoil", "vary", "contrast"]
State = Literal["proven", "refuted", "unchecked"]
Mode = Literal["decide", "probe", "replay"]
NO_SOLVE, NO_SANDBOX, NO_SPOIL = "no-solve", "no-sandbox", "no-spoil"
"""The closed list of reasons for `unchecked` (a fourth, no-grader, comes with LLM graders)."""


class Witness(msgspec.Struct, frozen=True, omit_defaults=True):
    """One stored attempt and the verdict it must get: passed, or failed with at least one of `misses`."""

    leg: Leg
    name: str
    passes: bool
    attempt: Attempt
    verdict: Verdict
    misses: list[str] = []
    evidence: Evidence | None = None
    calls: list[ToolCall] = []

    @property
    def fault(self) -> str:
        """What is wrong with the verdict; empty when it is as it must be."""
        where = f"{self.leg} {self.name}".strip()
        got = self.verdict
        if got.passed is None:
            return f"{where}: void ({got.note})"
        if self.passes:
            said = "; ".join(f"{m.name}: {m.detail}" if m.detail else m.name for m in got.misses)
            return "" if got.passed else f"{where}: should pass but failed ({said})"
        if got.passed:
            return f"{where}: should fail but passed"
        raised = [m.name for m in got.misses]
        if self.misses and not set(self.misses) & set(raised):
            return f"{where}: fails, but never as {' or '.join(self.misses)} (raised {', '.join(raised) or 'nothing'})"
        return ""


class Proof(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of proofs.jsonl: the state of an item's proof and its witnesses."""

    item: str
    ask: str
    key: str
    revision: str
    state: State
    reasons: list[str] = []
    witnesses: list[Witness] = []

    @property
    def counts(self) -> dict[str, int]:
        """Witnesses by leg."""
        return {leg: sum(w.leg == leg for w in self.witnesses) for leg in Leg.__args__}  # type: ignore[attr-defined]

    def covers(self, item: Item) -> bool:
        """Whether this proof is about this ask and key."""
        return (self.ask, self.key) == (ask(item), key(item))


class _Planned(msgspec.Struct, frozen=True):
    leg: Leg
    name: str
    passes: bool
    script: Script
    misses: list[str] = []


def prove(item: Item, bound: Bound, family: Family | None, kit: Kit) -> Proof:
    """Make an item's witnesses and judge them; never raises for what the item or its family does wrong."""
    witnesses: list[Witness] = []
    reasons: list[str] = []
    blocked = ""
    try:
        for planned in _plan(item, bound, family, reasons):
            witness = _witness(item, bound, planned, kit)
            witnesses.append(witness)
            fault = witness.fault or _contrast_fault(item, family, witness) or _sourceless(item, bound, witness)
            if fault:
                return _proof(item, bound, "refuted", [fault], witnesses)
    except SandboxUnavailableError as error:
        blocked = f"{NO_SANDBOX}: {error}"
    except InputError as error:
        return _proof(item, bound, "refuted", [str(error)], witnesses)
    reasons += [blocked] if blocked else []
    if not blocked and not any(w.leg == "spoil" for w in witnesses):
        reasons.append(NO_SPOIL)
    return _proof(item, bound, "unchecked" if reasons else "proven", reasons, witnesses)


def recheck(item: Item, bound: Bound, proof: Proof, kit: Kit, mode: Mode = "decide") -> Proof:
    """Judge a proof's stored witnesses again; needs no family code."""
    if not proof.covers(item):
        return _proof(item, bound, "unchecked", ["stale: the item changed since it was proven; prove it again"], [])
    witnesses: list[Witness] = []
    reasons = list(proof.reasons) if proof.state == "unchecked" else []
    try:
        for old in proof.witnesses:
            witness = _again(item, bound, old, kit, mode)
            witnesses.append(witness)
            if witness.fault:
                return _proof(item, bound, "refuted", [witness.fault], witnesses)
    except SandboxUnavailableError as error:
        reasons.append(f"{NO_SANDBOX}: {error}")
    # A refuted item stopped early: its witnesses agree now, but the legs after them were never tried.
    if proof.state == "refuted":
        reasons.append("stale: it was refuted before; prove it again with --fresh")
    return _proof(item, bound, "unchecked" if reasons else "proven", reasons, witnesses)


def _proof(item: Item, bound: Bound, state: State, reasons: list[str], witnesses: list[Witness]) -> Proof:
    return Proof(item.id, ask(item), key(item), revision(item, bound), state, reasons, witnesses)


def _plan(item: Item, bound: Bound, family: Family | None, reasons: list[str]) -> Iterator[_Planned]:
    """The attempts to try, in order; appends to `reasons` what could not be planned."""
    yield _Planned("null", "", passes=False, script=Script())
    reference = _reference(item, bound, family)
    if reference is None:
        reasons.append(NO_SOLVE)
    else:
        yield _Planned("reference", "", passes=True, script=reference)
    misses = declared_misses(bound)
    for name, spoil, made in _spoils(item, bound, family):
        undeclared = [m for m in spoil.misses if m not in misses]
        if undeclared:
            raise InputError(f'spoil "{name}" expects the miss "{undeclared[0]}", which the verifier never raises')
        yield _Planned("spoil", name, passes=False, script=made, misses=list(spoil.misses))
    for name, made in _varies(item, bound, family):
        yield _Planned("vary", name, passes=True, script=made)
    for name, contrast in family.contrast.items() if family else ():
        if (script := _script(contrast.make(item))) is not None:
            yield _Planned("contrast", name, passes=True, script=script)


def _reference(item: Item, bound: Bound, family: Family | None) -> Script | None:
    """What `solve` says of the question alone: the target is blanked, so a reference cannot copy it."""
    if family is not None and family.solve is not None:
        return _script(family.solve(msgspec.structs.replace(item, target="")))
    if bound.verifier.render is None:
        return None
    return _script(bound.verifier.render(item.target, bound.config))


def _spoils(item: Item, bound: Bound, family: Family | None) -> Iterator[tuple[str, Spoil, Script]]:
    for name, spoil in family.spoil.items() if family else ():
        if (script := _script(spoil.make(item))) is not None:
            yield name, spoil, script
    for name, spoil in bound.verifier.spoil.items():
        if (script := _script(spoil.make(item.target, bound.config, item.prompt))) is not None:
            yield name, spoil, script


def _varies(item: Item, bound: Bound, family: Family | None) -> Iterator[tuple[str, Script]]:
    for name, vary in family.vary.items() if family else ():
        if (script := _script(vary(item))) is not None:
            yield name, script
    for name, vary_target in bound.verifier.vary.items():
        if (script := _script(vary_target(item.target, bound.config, item.prompt))) is not None:
            yield name, script


def _script(made: str | Script | None) -> Script | None:
    return Script(answer=made) if isinstance(made, str) else made


def _witness(item: Item, bound: Bound, planned: _Planned, kit: Kit) -> Witness:
    if planned.leg == "null":
        attempt = Attempt(workspace=Diff() if item.files else None)
    else:
        attempt = replay(item, planned.script, kit)
    judged = judge(item, bound, attempt, kit=kit)
    _refuse_missing_sandbox(judged, bound, kit)
    return Witness(
        planned.leg,
        planned.name,
        planned.passes,
        attempt,
        judged.verdict,
        planned.misses,
        judged.evidence,
        planned.script.calls,
    )


def _again(item: Item, bound: Bound, old: Witness, kit: Kit, mode: Mode) -> Witness:
    attempt, evidence = old.attempt, old.evidence
    if mode == "replay" and old.calls:
        attempt, evidence = replay(item, Script(old.attempt.answer, old.calls), kit), None
    elif mode != "decide":
        evidence = None
    judged = judge(item, bound, attempt, kit=kit, evidence=evidence)
    _refuse_missing_sandbox(judged, bound, kit)
    return msgspec.structs.replace(old, attempt=attempt, verdict=judged.verdict, evidence=judged.evidence)


def _refuse_missing_sandbox(judged: Judged, bound: Bound, kit: Kit) -> None:
    if bound.probes and judged.verdict.passed is None and not kit.sandbox_name:
        raise SandboxUnavailableError(judged.verdict.note)


def _contrast_fault(item: Item, family: Family | None, witness: Witness) -> str:
    if witness.leg != "contrast" or family is None or family.contrast[witness.name].check(item, witness.attempt):
        return ""
    return f"contrast {witness.name}: passes, but does not differ as it says"


def _sourceless(item: Item, bound: Bound, witness: Witness) -> str:
    """A tool job whose answer no tool printed could be answered by guessing alone, unless it is `derived`."""
    if witness.leg != "reference" or not item.tools or bound.probes or item.metadata.get("derived"):
        return ""
    wanted = item.target.casefold()
    if any(m.role == "tool" and wanted in m.content.casefold() for m in witness.attempt.messages):
        return ""
    return "reference : no tool output contains the answer; say metadata.derived = true if it must be worked out"
