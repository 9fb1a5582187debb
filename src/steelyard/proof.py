"""Proof: stored witnesses that an item's verifier fails on nothing, on named wrong attempts, and passes on right ones.

Legs, the cheap first; a refuted item stops early: null, reference, spoil, vary, contrast. An item is *proven* when its
null failed, its reference passed, at least one spoil failed as named and nothing contradicts. What could not be tried
makes it *unchecked* with a reason from a closed list; unchecked is never proven.
Witnesses keep attempt, evidence and verdict and travel inside the suite, so a proof is checked again without the
family's code: `decide` re-reads and re-decides, `probe` grades the stored Diffs again, `replay` runs the calls again.
Not covered: A/A and oracle measurements of items that claim to measure.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Literal

import msgspec

from steelyard.attempt import Attempt, Diff, ToolCall
from steelyard.errors import InputError, SandboxUnavailableError
from steelyard.family import Family
from steelyard.item import Item, ask, key
from steelyard.judging import Judged, judge
from steelyard.plugins import author_code
from steelyard.ports import Kit
from steelyard.verdict import Evidence, Verdict
from steelyard.verifiers.contract import Script, Spoil
from steelyard.verifiers.registry import Bound, declared_misses, revision

Leg = Literal["null", "reference", "spoil", "vary", "contrast"]
State = Literal["proven", "refuted", "unchecked"]
Mode = Literal["decide", "probe", "replay"]
NO_SOLVE, NO_SANDBOX, NO_SPOIL = "no-solve", "no-sandbox", "no-spoil"
"""The closed list of reasons for `unchecked` (a fourth, no-grader, comes with LLM graders)."""


class Witness(msgspec.Struct, frozen=True, omit_defaults=True):
    """One stored attempt and the verdict it must get: its leg says passed, or failed with at least one of `misses`.

    `source` says where a reference came from: `solve` worked it out from the question, `target` is the gold itself.
    """

    leg: Leg
    name: str
    attempt: Attempt
    verdict: Verdict
    misses: list[str] = []
    evidence: Evidence | None = None
    calls: list[ToolCall] = []
    source: str = ""

    @property
    def passes(self) -> bool:
        """Whether an attempt of this leg must pass."""
        return self.leg not in ("null", "spoil")

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

    @property
    def solved(self) -> bool:
        """Whether a family worked the reference out from the question, so that the gold itself is re-derived."""
        return any(w.leg == "reference" and w.source == "solve" for w in self.witnesses)

    def covers(self, item: Item) -> bool:
        """Whether this proof is about this ask and key."""
        return (self.ask, self.key) == (ask(item), key(item))


class _Planned(msgspec.Struct, frozen=True):
    leg: Leg
    name: str
    script: Script
    misses: list[str] = []
    source: str = ""


def prove(item: Item, bound: Bound, family: Family | None, kit: Kit) -> Proof:
    """Make an item's witnesses and judge them; what the item or its family does wrong refutes it.

    Without its family an item is tried with the verifier's own rendering of its target, and where the item names a
    family that is not here it stays unchecked: nobody has worked the gold out from the question.
    """
    witnesses: list[Witness] = []
    reasons: list[str] = []
    try:
        for planned in _plan(item, bound, family):
            witness = _witness(item, bound, planned, kit)
            witnesses.append(witness)
            fault = witness.fault or _contrast_fault(item, family, witness) or _sourceless(item, bound, witness)
            if fault:
                return _proof(item, bound, "refuted", [fault], witnesses)
    except SandboxUnavailableError as error:
        reasons.append(f"{NO_SANDBOX}: {error}")
    except InputError as error:
        return _proof(item, bound, "refuted", [str(error)], witnesses)
    else:
        reasons += _untried(item, family, witnesses)
    return _proof(item, bound, "unchecked" if reasons else "proven", reasons, witnesses)


def recheck(
    item: Item, bound: Bound, proof: Proof, kit: Kit, mode: Mode = "decide", only: Collection[Leg] | None = None
) -> Proof:
    """Judge a proof's stored witnesses again (those of the legs in `only`, or all); needs no family code."""
    if not proof.covers(item):
        return _proof(item, bound, "unchecked", ["stale: the item changed since it was proven; prove it again"], [])
    witnesses: list[Witness] = []
    reasons = list(proof.reasons) if proof.state == "unchecked" else []
    try:
        for old in proof.witnesses:
            witness = old if only is not None and old.leg not in only else _again(item, bound, old, kit, mode)
            witnesses.append(witness)
            if witness.fault:
                return _proof(item, bound, "refuted", [witness.fault], witnesses)
    except SandboxUnavailableError as error:
        reasons.append(f"{NO_SANDBOX}: {error}")
    if lacking := {"null", "reference", "spoil"} - {w.leg for w in proof.witnesses}:
        reasons.append(
            f"stale: the stored proof has no {' and no '.join(sorted(lacking))}; prove it again with --fresh"
        )
    # A refuted item stopped early: its witnesses agree now, but the legs after them were never tried.
    if proof.state == "refuted":
        reasons.append("stale: it was refuted before; prove it again with --fresh")
    return _proof(item, bound, "unchecked" if reasons else "proven", reasons, witnesses)


def _untried(item: Item, family: Family | None, witnesses: list[Witness]) -> list[str]:
    """What a whole pass could not try, from the closed list of reasons."""
    legs = {w.leg for w in witnesses}
    reasons = []
    if item.family and family is None:
        reasons.append(f'{NO_SOLVE}: family "{item.family}" is not here; add --family path/to/file.py')
    elif "reference" not in legs:
        reasons.append(NO_SOLVE)
    return reasons + ([] if "spoil" in legs else [NO_SPOIL])


def _proof(item: Item, bound: Bound, state: State, reasons: list[str], witnesses: list[Witness]) -> Proof:
    return Proof(item.id, ask(item), key(item), revision(item, bound), state, reasons, witnesses)


def _plan(item: Item, bound: Bound, family: Family | None) -> Iterator[_Planned]:
    """The attempts to try, in order."""
    yield _Planned("null", "", Script())
    yield from _reference(item, bound, family)
    misses = declared_misses(bound)
    for name, spoil, made in _spoils(item, bound, family):
        wanted = _wanted(spoil, made, bound)
        undeclared = [m for m in wanted if m not in misses]
        if undeclared:
            raise InputError(f'spoil "{name}" expects the miss "{undeclared[0]}", which the verifier never raises')
        yield _Planned("spoil", name, made, list(wanted))
    for name, made in _varies(item, bound, family):
        yield _Planned("vary", name, made)
    for name, contrast in family.contrast.items() if family else ():
        if (script := _made(f"contrast {name}", contrast.make, item)) is not None:
            yield _Planned("contrast", name, script)


def _wanted(spoil: Spoil, made: Script, bound: Bound) -> tuple[str, ...]:
    """The misses of which a spoil must raise one."""
    return spoil.misses if spoil.misses_of is None else spoil.misses_of(made.answer, bound.target, bound.config)


def _reference(item: Item, bound: Bound, family: Family | None) -> Iterator[_Planned]:
    """What `solve` says of the question alone: the target is blanked, so a reference cannot copy it."""
    if family is not None and family.solve is not None:
        solved = _made("solve", family.solve, msgspec.structs.replace(item, target=""))
        if solved is None:
            raise InputError(f"solve of family {family.name} gives no answer to this item")
        yield _Planned("reference", "", solved, source="solve")
    elif bound.verifier.render is not None:
        rendered = _made("render", bound.verifier.render, item.target, bound.config)
        if rendered is not None:
            yield _Planned("reference", "", rendered, source="target")


def _spoils(item: Item, bound: Bound, family: Family | None) -> Iterator[tuple[str, Spoil, Script]]:
    for name, spoil in family.spoil.items() if family else ():
        if (script := _made(f"spoil {name}", spoil.make, item)) is not None:
            yield name, spoil, script
    for name, spoil in bound.verifier.spoil.items():
        if (script := _made(f"spoil {name}", spoil.make, item.target, bound.config, item.prompt)) is not None:
            yield name, spoil, script


def _varies(item: Item, bound: Bound, family: Family | None) -> Iterator[tuple[str, Script]]:
    for name, vary in family.vary.items() if family else ():
        if (script := _made(f"vary {name}", vary, item)) is not None:
            yield name, script
    for name, vary_target in bound.verifier.vary.items():
        if (script := _made(f"vary {name}", vary_target, item.target, bound.config, item.prompt)) is not None:
            yield name, script


def _made(where: str, make: Callable[..., object], *given: object) -> Script | None:
    """What an author's function gives, as a script; its own mistakes are InputErrors that name the place."""
    with author_code(where):
        made = make(*given)
    if made is None or isinstance(made, Script):
        return made
    if isinstance(made, str):
        return Script(answer=made)
    raise InputError(f"{where}: expected text, a Script or None, got {type(made).__name__}")


def _replayed(item: Item, script: Script, kit: Kit) -> Attempt:
    from steelyard.solvers.replay import replay  # brings the tools; who only reads proofs replays nothing

    return replay(item, script, kit)


def _witness(item: Item, bound: Bound, planned: _Planned, kit: Kit) -> Witness:
    attempt = _nothing(item) if planned.leg == "null" else _replayed(item, planned.script, kit)
    judged = judge(item, bound, attempt, kit=kit)
    _refuse_missing_sandbox(judged, bound, kit)
    return Witness(
        planned.leg,
        planned.name,
        _lasting(attempt),
        judged.verdict,
        planned.misses,
        judged.evidence,
        planned.script.calls,
        planned.source,
    )


def _nothing(item: Item) -> Attempt:
    """The untouched item: an empty answer and, where there are files, a pristine workspace."""
    return Attempt(workspace=Diff() if item.files else None)


def _again(item: Item, bound: Bound, old: Witness, kit: Kit, mode: Mode) -> Witness:
    attempt, evidence = (_nothing(item) if old.leg == "null" else old.attempt), old.evidence
    if mode == "replay" and old.calls:
        attempt, evidence = _replayed(item, Script(old.attempt.answer, old.calls), kit), None
    elif mode != "decide":
        evidence = None
    judged = judge(item, bound, attempt, kit=kit, evidence=evidence)
    _refuse_missing_sandbox(judged, bound, kit)
    return msgspec.structs.replace(old, attempt=_lasting(attempt), verdict=judged.verdict, evidence=judged.evidence)


def _lasting(attempt: Attempt) -> Attempt:
    """The attempt without raw tool output: its timings would make two equal proofs differ byte by byte."""
    said = [msgspec.structs.replace(message, raw="") if message.raw else message for message in attempt.messages]
    return msgspec.structs.replace(attempt, messages=said)


def _refuse_missing_sandbox(judged: Judged, bound: Bound, kit: Kit) -> None:
    if bound.probes and judged.verdict.passed is None and not kit.sandbox_name:
        raise SandboxUnavailableError(judged.verdict.note)


def _contrast_fault(item: Item, family: Family | None, witness: Witness) -> str:
    if witness.leg != "contrast" or family is None:
        return ""
    with author_code(f"contrast {witness.name}"):
        differs = family.contrast[witness.name].check(item, witness.attempt)
    if differs:
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
