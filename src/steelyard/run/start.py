"""Start or resume a run: check the suite's proofs, open the folder, make the rollouts, judge, report.

Whatever fails once the folder is this run's leaves failure.json with its stage (prepare, infer, judge, report) and
everything earned so far; what fails before that touches no folder.
Easy to break: talking to the model before the proofs are checked, and writing into another run's folder.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from steelyard.errors import FormatError, InputError, RefusedError
from steelyard.ports import Kit, Model
from steelyard.proof import Proof, recheck
from steelyard.proving import read_proofs, states_by_item
from steelyard.run.engine import Engine, Outcome
from steelyard.run.failure import FAILURE, write_failure
from steelyard.run.journal import Journal
from steelyard.run.judgements import JudgedRun, judge_run
from steelyard.run.plan import (
    HEADER,
    Plan,
    build_header,
    check_identity,
    read_header,
    refuse_other_run,
    write_header,
)
from steelyard.run.stored import folder_errors
from steelyard.suite import Suite
from steelyard.verifiers.registry import revision

Prober = Callable[[Model, Mapping[str, Any]], Awaitable[dict[str, Any]]]
"""Takes a model and what it says of itself; returns what a run keeps of its endpoint. Must not raise for it."""


class Finished(msgspec.Struct, frozen=True):
    """What a run left: how its work ended and, unless nothing was finished, its judgement."""

    folder: Path
    outcome: Outcome
    judged: JudgedRun | None
    dropped_bytes: int


async def start(
    plan: Plan,
    suite: Suite,
    model: Model,
    kit: Kit,
    folder: Path,
    *,
    resume: bool = False,
    told: Callable[[Outcome], None] = lambda _: None,
    probe: Prober | None = None,
) -> Finished:
    """Run `plan` into `folder`; `suite` holds just the items to ask, in order. `probe` is asked once, by a new run."""
    check_folder(folder, resume=resume)
    facts = await model.describe()
    at_once = facts.get("servers", 1) if plan.deterministic else plan.concurrency  # one conversation a server process
    plan = msgspec.structs.replace(plan, model_facts=facts, concurrency=at_once)
    proofs = read_proofs(suite)
    plan = msgspec.structs.replace(plan, proofs=check_proofs(suite, proofs, plan, kit))
    if probe is not None and not (folder / HEADER).exists():
        plan = msgspec.structs.replace(plan, endpoint_probe=await probe(model, facts))
    open_folder(folder, plan, resume=resume)
    with stage(folder, "prepare"):
        journal = Journal(folder)
    try:
        with stage(folder, "infer"):
            outcome = await Engine(plan, suite, model, kit, journal, told).work()
        with stage(folder, "judge"):
            judged = judge_run(folder, suite, kit=kit, proofs=proofs, keep=journal.append_evidence)
    finally:
        journal.close()
    (folder / FAILURE).unlink(missing_ok=True)
    return Finished(folder, outcome, judged, journal.dropped)


def check_proofs(suite: Suite, proofs: dict[str, Proof], plan: Plan, kit: Kit) -> dict[str, int]:
    """Counts of items by proof state; refuses unproven items unless the plan allows them.

    Stored witnesses are decided again where a revision has changed since. Null and reference of every probing item
    are graded again on this machine unless the plan trusts the proofs.
    """
    states = states_by_item(suite, proofs)
    for item in suite.items:
        proof = proofs.get(item.id)
        if states[item.id] != "proven" or proof is None:
            continue
        bound = suite.bound[item.id]
        if bound.probes and not plan.trust_proofs:
            again = recheck(item, bound, proof, kit, "probe", only=("null", "reference"))
        elif proof.revision != revision(item, bound):
            again = recheck(item, bound, proof, kit)
        else:
            continue
        states[item.id] = again.state
        if again.state == "refuted" and not plan.allow_unproven:
            raise RefusedError(f'item "{item.id}" is refuted on this machine: {"; ".join(again.reasons)}')
    unproven = [name for name, state in states.items() if state != "proven"]
    if unproven and not plan.allow_unproven:
        raise RefusedError(
            f'{len(unproven)} of {len(states)} items are not proven (first: "{unproven[0]}", {states[unproven[0]]}); '
            f"do: steelyard prove {suite.path}, or pass --allow-unproven (it is written into the run)"
        )
    return {state: n for state in ("proven", "refuted", "unchecked", "none") if (n := [*states.values()].count(state))}


def check_folder(folder: Path, *, resume: bool) -> None:
    """Refuse a file, a folder of something else, and resuming where there is no run."""
    with folder_errors(folder):
        if (folder / HEADER).exists():
            return
        if folder.exists() and not folder.is_dir():
            raise RefusedError(f"{folder} is a file; choose another --out")
        left = [p.name for p in folder.iterdir() if p.name != FAILURE] if folder.exists() else []
    if left:
        raise RefusedError(f"{folder} already exists and is no run ({left[0]} is in it); choose another --out")
    if resume:
        raise FormatError(folder, None, "there is no run to resume here; leave out --resume")


def open_folder(folder: Path, plan: Plan, *, resume: bool) -> None:
    """Make a new run folder, or check that an existing one is this run and write down what it is resumed with."""
    try:
        if not (folder / HEADER).exists():
            folder.mkdir(parents=True, exist_ok=True)
            write_header(folder, build_header(plan))
            return
        found, new = read_header(folder), build_header(plan)
        check_identity(folder, found)
        refuse_other_run(folder, found.identity, new.identity)
        if not resume:
            raise RefusedError(
                f"{folder} already holds this run; add --resume to go on with it, or choose another --out"
            )
        resumed = resumed_plan(found.plan, plan)
        if resumed != found.plan:
            write_header(folder, msgspec.structs.replace(found, plan=resumed))
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror or error}") from error


def resumed_plan(old: Plan, new: Plan) -> Plan:
    """The plan of a run that is resumed: the suite's place of now, and of proofs and flags what speaks against it."""

    def unproven(plan: Plan) -> int:
        return sum(n for state, n in plan.proofs.items() if state != "proven")

    return msgspec.structs.replace(
        old,
        suite_path=new.suite_path,
        rollouts=max(old.rollouts, new.rollouts),
        proofs=new.proofs if unproven(new) > unproven(old) else old.proofs,
        allow_unproven=old.allow_unproven or new.allow_unproven,
        trust_proofs=old.trust_proofs or new.trust_proofs,
    )


@contextmanager
def stage(folder: Path, name: str) -> Iterator[None]:
    """Leave failure.json with the stage when the block fails; only for a folder that this process has opened."""
    try:
        with folder_errors(folder):
            yield
    except RefusedError:
        raise
    except Exception as error:
        write_failure(folder, name, error)
        raise
