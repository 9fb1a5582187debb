"""Judge a stored run under today's ruler, keep older judgements, and list every flip.

Reads the journal item by item in suite order and writes each line as it comes, so memory stays flat. The same ruler
must give the same verdicts: a difference is reported as a verifier that is not deterministic. Sandboxed items are
decided from stored evidence; what is missing is gathered through the kit, all of it again under `probe`. Where it
cannot be gathered the rollout is void, or under `need_evidence` the whole judgement is refused and the old one stays.
Not covered: comparing two runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from steelyard.attempt import Attempt, Tree
from steelyard.errors import RefusedError, SandboxUnavailableError
from steelyard.item import Item, messages
from steelyard.judging import Judged, judge
from steelyard.ports import Kit, Session
from steelyard.proof import Proof
from steelyard.proving import read_proofs, states_by_item
from steelyard.records import (
    JudgedItem,
    PredictionRecord,
    PromptRecord,
    RolloutJudgement,
    RolloutPrediction,
    build_judgement_record,
)
from steelyard.run.anomalies import Anomaly, anomalies_of, write_anomalies
from steelyard.run.flips import Changes, Flip, Place
from steelyard.run.journal import EvidenceIndex, EvidenceLine, Rollout, RolloutIndex, subject
from steelyard.run.judged import CURRENT, FOLDER, Current, path_of, read_current
from steelyard.run.plan import Header, items_of_plan, read_header
from steelyard.run.stored import replacing
from steelyard.store import Store, write_atomic
from steelyard.suite import Suite
from steelyard.verdict import PASSED, Verdict
from steelyard.verifiers import registry
from steelyard.verifiers.registry import Bound

NOT_DETERMINISTIC = "NOT DETERMINISTIC: the same ruler gave another verdict; a verifier depends on more than its input"


class JudgedRun(msgspec.Struct, frozen=True):
    """What judging a run left: its ruler, where the lines lie, and what changed since the last judgement.

    `unreadable` says why the last judgement could not be compared; the flips are then unknown.
    """

    ruler: str
    path: Path
    judged: int
    flips: list[Flip]
    previous: str
    deterministic: bool
    unreadable: str = ""


def judge_run(
    folder: Path,
    suite: Suite,
    *,
    kit: Kit | None = None,
    probe: bool = False,
    proofs: Mapping[str, Proof] | None = None,
    need_evidence: bool = False,
    keep: Callable[[EvidenceLine], None] = lambda _: None,
    index: RolloutIndex | None = None,
    told: Callable[[JudgedItem], None] = lambda _: None,
) -> JudgedRun:
    """Judge every stored rollout; `suite` must ask exactly what the run asked.

    Evidence that had to be gathered goes to `keep` at once, so that nothing that ends this process loses it. `told`
    gets each line as it is written. `index`, if there is one already, was made with the suite's asks and stays open.
    Raises RefusedError, leaving the old judgement as it is, when `need_evidence` and a rollout has none and no sandbox
    can gather it.
    """
    header = read_header(folder)
    proofs = read_proofs(suite) if proofs is None else proofs
    with ExitStack() as stack:
        if index is None:
            index = RolloutIndex(folder, suite.asks)
            stack.callback(index.close)
        items = items_of_run(suite, header, index)
        revisions = registry.revisions(items, suite.bound)
        ruler = registry.ruler(revisions)
        evidence = None if probe else EvidenceIndex(folder)
        if evidence is not None:
            stack.callback(evidence.close)
        judge_one = _Judge(suite, revisions, evidence, kit, proofs, keep, system=header.plan.solver.system)
        changes = Changes(lambda r: path_of(folder, r), lambda: _to_compare(folder, ruler), ruler, folder)
        stack.callback(changes.close)
        path = path_of(folder, ruler)
        anomalies: list[Anomaly] = []
        encode = msgspec.json.Encoder().encode
        with replacing(path) as out:
            for item in items:
                judged, found = judge_one(item, list(index.of(item.id)))
                line = encode(judged)
                changes.add(judged, line, judge_one.fresh)
                told(judged)
                anomalies += found
                out.write(line)
                out.write(b"\n")
            if need_evidence:
                judge_one.refuse_lacking()
            changes.finish()
    current = _current(ruler, suite, items_of_plan(suite, header.plan, revisions), proofs)
    if changes.previous != ruler:
        current = msgspec.structs.replace(current, previous=changes.previous)
    write_atomic(folder / FOLDER / CURRENT, msgspec.json.encode(current) + b"\n")
    write_anomalies(folder, anomalies)
    return JudgedRun(
        ruler,
        path,
        len(items),
        changes.flips,
        changes.previous,
        changes.deterministic,
        changes.unreadable,
    )


def _current(ruler: str, suite: Suite, items: list[Item], proofs: Mapping[str, Proof]) -> Current:
    states = [*states_by_item(msgspec.structs.replace(suite, items=tuple(items)), proofs).values()]
    return Current(
        ruler=ruler,
        suite_name=suite.name,
        suite_path=str(suite.path.absolute()) if suite.path else "",
        suite_revision=suite.revision,
        proofs={s: n for s in ("proven", "refuted", "unchecked", "none") if (n := states.count(s))},
    )


class _Watched:
    """A kit that remembers why it had no session to give. Implements `ports.Kit`."""

    def __init__(self, kit: Kit) -> None:
        self._kit, self.reason = kit, ""

    @property
    def store(self) -> Store:
        return self._kit.store

    @property
    def sandbox_name(self) -> str:
        return self._kit.sandbox_name

    def base(self, item: Item) -> Tree:
        return self._kit.base(item)

    def session(self, item: Item, tree: Tree, mounts_ro: Mapping[str, Mapping[str, str]] | None = None) -> Session:
        try:
            return self._kit.session(item, tree, mounts_ro)
        except SandboxUnavailableError as error:
            self.reason = str(error)
            raise


class _Judge:
    """Judges one item's rollouts; hands the evidence that had to be gathered to `keep`."""

    def __init__(
        self,
        suite: Suite,
        revisions: Mapping[str, str],
        evidence: EvidenceIndex | None,
        kit: Kit | None,
        proofs: Mapping[str, Proof],
        keep: Callable[[EvidenceLine], None],
        system: str | None,
    ) -> None:
        self._suite, self._revisions, self._evidence = suite, revisions, evidence
        self._kit = None if kit is None else _Watched(kit)
        self._proofs, self._keep, self._system = proofs, keep, system
        self.fresh: set[Place] = set()
        """Rollouts whose evidence was not stored, or not asked for."""
        self._lacking: list[Place] = []
        self._reason = ""

    def __call__(self, item: Item, rollouts: list[Rollout]) -> tuple[JudgedItem, list[Anomaly]]:
        bound = self._suite.bound[item.id]
        predictions: list[RolloutPrediction] = []
        judgements: list[RolloutJudgement] = []
        readings: dict[str, dict[str, Any]] = {}
        for rollout in rollouts:
            if rollout.attempt is None:
                continue
            number, judged = rollout.rollout, self._judged(item, bound, rollout, rollout.attempt)
            value, verdict = _prediction(judged, rollout.attempt), judged.verdict
            predictions.append(RolloutPrediction(number, value is not None, value))
            judgements.append(RolloutJudgement(number, verdict.passed, verdict.score, _extra(verdict)))
            if how := _how(judged):
                readings[str(number)] = how
        describe = bound.verifier.describe
        procedure = describe(item.target, bound.config) if describe is not None else None
        record = build_judgement_record(
            judgements,
            reference=None if procedure else item.target or None,
            n_errors=len(rollouts) - len(judgements),
            extra=procedure,
        )
        read = PredictionRecord(predictions, {"readings": readings} if readings else None)
        prompt = PromptRecord(messages(item, self._system), item.target or None)
        line = JudgedItem(item.id, self._revisions[item.id], prompt, read, record)
        return line, anomalies_of(item.id, rollouts, read)

    def _judged(self, item: Item, bound: Bound, rollout: Rollout, attempt: Attempt) -> Judged:
        if not bound.probes:
            return judge(item, bound, attempt, reference_passes=lambda: self._reference_passes(item))
        stored = self._evidence.get(item.id, rollout.rollout) if self._evidence is not None else None
        if stored is not None and stored.subject != subject(item, attempt):
            stored = None  # it answers other questions, or is about another attempt, so it is gathered again
        if self._kit is not None:
            self._kit.reason = ""
        judged = judge(
            item,
            bound,
            attempt,
            kit=self._kit,
            evidence=stored.evidence if stored else None,
            reference_passes=lambda: self._reference_passes(item),
        )
        if stored is None:
            self.fresh.add((item.id, rollout.rollout))
            reason = "none was given" if self._kit is None else self._kit.reason
            if reason:
                self._lacking.append((item.id, rollout.rollout))
                self._reason = self._reason or reason
        if judged.evidence is not None and stored is None:
            about = subject(item, attempt)
            self._keep(EvidenceLine(item.id, rollout.rollout, self._revisions[item.id], about, judged.evidence))
        return judged

    def refuse_lacking(self) -> None:
        """Refuse a judgement in which a rollout is void only because no sandbox could gather its evidence."""
        if self._lacking:
            (item, number), n = self._lacking[0], len(self._lacking)
            raise RefusedError(
                f'{n} {"rollout lacks" if n == 1 else "rollouts lack"} evidence (first: "{item}" [{number}]) and '
                f"gathering it needs a sandbox; {self._reason}"
            )

    def _reference_passes(self, item: Item) -> bool:
        """Whether the stored reference still passes under today's verifier."""
        proof = self._proofs.get(item.id)
        witnesses = proof.witnesses if proof is not None and proof.covers(item) else []
        return any(
            judge(item, self._suite.bound[item.id], w.attempt, evidence=w.evidence).verdict.passed is True
            for w in witnesses
            if w.leg == "reference"
        )


def items_of_run(suite: Suite, header: Header, index: RolloutIndex) -> list[Item]:
    """The suite's items that the run has rollouts of; `index` was made with the suite's asks.

    Refuses a suite that asks something else.
    """
    known, ran = {item.id for item in suite.items}, index.items()
    for name in ran:
        if name not in known:
            raise missing_item(name, suite)
        if name in index.asked_otherwise:
            raise RefusedError(
                f'item "{name}" asks something else in {suite.path} than it did in this run '
                f"({header.plan.suite_name}, {header.plan.suite_revision[:18]}); only the judge may change: "
                "run the new suite instead"
            )
    has_run = set(ran)
    return [item for item in suite.items if item.id in has_run]


def missing_item(name: str, suite: Suite) -> RefusedError:
    """The refusal of a suite that lacks an item of the run."""
    return RefusedError(
        f'the run has rollouts of item "{name}", which {suite.path} does not have; '
        "give the suite that was run with --suite DIR"
    )


def _prediction(judged: Judged, attempt: Attempt) -> Any:
    """What was read: the answer, or for a workspace job the paths that changed."""
    if judged.reading is not None:
        return judged.reading.value
    if judged.unread or judged.evidence is None:
        return None
    return sorted(attempt.workspace.changes) if attempt.workspace else []


def _how(judged: Judged) -> dict[str, Any]:
    if judged.reading is not None:
        return {"rule": judged.reading.rule, **({"span": list(judged.reading.span)} if judged.reading.span else {})}
    return {"unread": judged.unread} if judged.unread else {}


def _extra(verdict: Verdict) -> dict[str, Any] | None:
    if verdict is PASSED:
        return None
    extra = msgspec.to_builtins(verdict)
    for name in ("passed", "score"):
        extra.pop(name, None)
    return extra or None


def _to_compare(folder: Path, ruler: str) -> str:
    """The ruler that a new judgement is held against: the newest other one, else its own earlier one; "" at first."""
    current = read_current(folder)
    if current is None:
        return ""
    return current.ruler if current.ruler != ruler else current.previous or ruler
