"""Start or resume a run: check the suite's proofs, open the folder, make the rollouts, judge, report.

Whatever fails leaves failure.json with its stage (prepare, prove, infer, judge, report) and everything earned so far.
Easy to break: talking to the model before the proofs are checked, and writing into another run's folder.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from steelyard.errors import FormatError, InputError, RefusedError
from steelyard.ports import Kit, Model
from steelyard.proof import Proof, recheck
from steelyard.proving import read_proofs, states_by_item
from steelyard.run.engine import Engine, Outcome
from steelyard.run.journal import Journal
from steelyard.run.judgements import JudgedRun, judge_run
from steelyard.run.plan import HEADER, Plan, build_header, read_header, refuse_other_run, write_header
from steelyard.store import write_atomic
from steelyard.suite import Suite
from steelyard.verifiers.registry import revision

FAILURE = "failure.json"


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
) -> Finished:
    """Run `plan` into `folder`; `suite` holds just the items to ask, in order."""
    with stage(folder, "prepare"):
        facts = await model.describe()
        plan = msgspec.structs.replace(
            plan, model_facts=facts, concurrency=1 if plan.deterministic else plan.concurrency
        )
    with stage(folder, "prove"):
        proofs = read_proofs(suite)
        plan = msgspec.structs.replace(plan, proofs=check_proofs(suite, proofs, plan, kit))
    with stage(folder, "prepare"):
        open_folder(folder, plan, resume=resume)
        journal = Journal(folder)
    try:
        with stage(folder, "infer"):
            outcome = await Engine(plan, suite, model, kit, journal, told).work()
        with stage(folder, "judge"):
            judged = judge_run(folder, suite, kit=kit, proofs=proofs)
            for line in judged.evidence:
                journal.append_evidence(line)
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
            legs = [w for w in proof.witnesses if w.leg in ("null", "reference")]
            again = recheck(item, bound, msgspec.structs.replace(proof, witnesses=legs), kit, "probe")
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


def open_folder(folder: Path, plan: Plan, *, resume: bool) -> None:
    """Make a new run folder, or check that an existing one is this run."""
    if not (folder / HEADER).exists():
        left = [p.name for p in folder.iterdir() if p.name != FAILURE] if folder.exists() else []
        if left:
            raise RefusedError(f"{folder} already exists and is no run ({left[0]} is in it); choose another --out")
        if resume:
            raise FormatError(folder, None, "there is no run to resume here; leave out --resume")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_header(folder, build_header(plan))
        except OSError as error:
            raise InputError(f"cannot write to {folder}: {error.strerror}") from error
        return
    found, new = read_header(folder), build_header(plan)
    refuse_other_run(folder, found.identity, new.identity)
    if not resume:
        raise RefusedError(f"{folder} already holds this run; add --resume to go on with it, or choose another --out")
    if plan.rollouts > found.plan.rollouts:
        grown = msgspec.structs.replace(found.plan, rollouts=plan.rollouts)
        write_header(folder, msgspec.structs.replace(found, plan=grown))


@contextmanager
def stage(folder: Path, name: str) -> Iterator[None]:
    """Leave failure.json with the stage when the block fails; a refused folder is left untouched."""
    try:
        yield
    except RefusedError:
        raise
    except Exception as error:
        if (folder / HEADER).exists():
            write_failure(folder, name, error)
        raise


def write_failure(folder: Path, name: str, error: Exception) -> None:
    """Write failure.json: stage, kind of error, its words, the traceback and the time."""
    failure: dict[str, Any] = {
        "stage": name,
        "error": type(error).__name__,
        "message": str(error),
        "traceback": "".join(traceback.format_exception(error)),
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    with suppress(OSError):  # the folder may be what failed; the error itself is raised either way
        write_atomic(folder / FAILURE, msgspec.json.format(msgspec.json.encode(failure), indent=2) + b"\n")
