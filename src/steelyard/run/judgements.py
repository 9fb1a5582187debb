"""Judge a stored run under today's ruler, keep older judgements, and list every flip.

Reads the journal item by item in suite order, so memory stays flat. The same ruler must give the same bytes: a
difference is reported as a verifier that is not deterministic. Sandboxed items are decided from stored evidence;
evidence that is missing is gathered through the kit, all of it again under `probe`.
Not covered: comparing two runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from steelyard.attempt import Attempt
from steelyard.errors import FormatError, RefusedError
from steelyard.item import Item, ask, messages
from steelyard.judging import Judged, judge
from steelyard.ports import Kit
from steelyard.proof import Proof
from steelyard.records import (
    JudgedItem,
    build_judgement_record,
    build_prediction_record,
    build_prompt_record,
    build_rollout_judgement,
)
from steelyard.run.anomalies import Anomaly, anomalies_of, write_anomalies
from steelyard.run.journal import EvidenceLine, Rollout, RolloutIndex, read_evidence
from steelyard.run.plan import Header, read_header
from steelyard.store import write_atomic
from steelyard.suite import Suite
from steelyard.verdict import Verdict
from steelyard.verifiers import registry

FOLDER = "judgements"
CURRENT = "current.json"


class Flip(msgspec.Struct, frozen=True):
    """A rollout whose verdict differs between two rulers; None is void."""

    item: str
    rollout: int
    before: bool | None
    after: bool | None


class JudgedRun(msgspec.Struct, frozen=True):
    """What judging a run left: its ruler, where the lines lie, and what changed since the last judgement."""

    ruler: str
    path: Path
    judged: int
    flips: list[Flip]
    previous: str
    deterministic: bool
    evidence: list[EvidenceLine]


def judge_run(
    folder: Path,
    suite: Suite,
    *,
    kit: Kit | None = None,
    probe: bool = False,
    proofs: Mapping[str, Proof] | None = None,
) -> JudgedRun:
    """Judge every stored rollout; `suite` must ask exactly what the run asked."""
    header = read_header(folder)
    index = RolloutIndex(folder)
    try:
        items = _items_of(suite, header, index)
        revisions = {item.id: registry.revision(item, suite.bound[item.id]) for item in items}
        ruler = registry.ruler(revisions)
        evidence = {} if probe else read_evidence(folder)
        judge_one = _Judge(suite, revisions, evidence, kit, proofs or {}, system=header.plan.solver.system)
        lines: list[bytes] = []
        anomalies: list[Anomaly] = []
        for item in items:
            line, found = judge_one(item, list(index.of(item.id)))
            lines.append(msgspec.json.encode(line) + b"\n")
            anomalies += found
    finally:
        index.close()
    path = folder / FOLDER / f"{ruler}.jsonl"
    previous = current_ruler(folder)
    data = b"".join(lines)
    deterministic = not path.exists() or path.read_bytes() == data
    flips = flips_between(folder / FOLDER / f"{previous}.jsonl", data) if previous else []
    write_atomic(path, data)
    write_atomic(folder / FOLDER / CURRENT, msgspec.json.encode({"ruler": ruler}) + b"\n")
    write_anomalies(folder, anomalies)
    return JudgedRun(ruler, path, len(lines), flips, previous, deterministic, judge_one.gathered)


class _Judge:
    """Judges one item's rollouts; keeps the evidence that had to be gathered."""

    def __init__(
        self,
        suite: Suite,
        revisions: Mapping[str, str],
        evidence: Mapping[tuple[str, int], EvidenceLine],
        kit: Kit | None,
        proofs: Mapping[str, Proof],
        system: str | None,
    ) -> None:
        self._suite, self._revisions, self._evidence = suite, revisions, evidence
        self._kit, self._proofs, self._system = kit, proofs, system
        self.gathered: list[EvidenceLine] = []

    def __call__(self, item: Item, rollouts: list[Rollout]) -> tuple[JudgedItem, list[Anomaly]]:
        judged = {r.rollout: self._judged(item, r, r.attempt) for r in rollouts if r.attempt is not None}
        predictions = build_prediction_record(
            {r.rollout: _prediction(judged[r.rollout], r) for r in rollouts if r.rollout in judged},
            {"readings": found} if (found := {str(i): _how(j) for i, j in judged.items() if _how(j)}) else None,
        )
        record = build_judgement_record(
            [
                build_rollout_judgement(i, j.verdict.passed, j.verdict.score, _extra(j.verdict))
                for i, j in judged.items()
            ],
            reference=item.target or None,
            n_errors=sum(r.attempt is None for r in rollouts),
        )
        prompt = build_prompt_record(messages(item, self._system), item.target or None)
        line = JudgedItem(item.id, self._revisions[item.id], prompt, predictions, record)
        return line, anomalies_of(item.id, rollouts, predictions)

    def _judged(self, item: Item, rollout: Rollout, attempt: Attempt) -> Judged:
        stored = self._evidence.get((item.id, rollout.rollout))
        if stored is not None and stored.spec != registry.spec_digest(item):
            stored = None  # it answers another spec's questions, so it is gathered again
        judged = judge(
            item,
            self._suite.bound[item.id],
            attempt,
            kit=self._kit,
            evidence=stored.evidence if stored else None,
            reference_passes=lambda: self._reference_passes(item),
        )
        if judged.evidence is not None and stored is None:
            spec = registry.spec_digest(item)
            self.gathered.append(
                EvidenceLine(item.id, rollout.rollout, self._revisions[item.id], spec, judged.evidence)
            )
        return judged

    def _reference_passes(self, item: Item) -> bool:
        """Whether the stored reference still passes under today's verifier."""
        proof = self._proofs.get(item.id)
        witnesses = proof.witnesses if proof is not None and proof.covers(item) else []
        return any(
            judge(item, self._suite.bound[item.id], w.attempt, evidence=w.evidence).verdict.passed is True
            for w in witnesses
            if w.leg == "reference"
        )


def _items_of(suite: Suite, header: Header, index: RolloutIndex) -> list[Item]:
    """The suite's items that the run has rollouts of; refuses a suite that asks something else."""
    by_id = {item.id: item for item in suite.items}
    for name in index.items():
        if name not in by_id:
            raise RefusedError(f'the run has rollouts of item "{name}", which {suite.path} does not have')
        first = next(index.of(name))
        if first.ask != ask(by_id[name]):
            raise RefusedError(
                f'item "{name}" asks something else in {suite.path} than it did in this run '
                f"({header.plan.suite_name}, {header.plan.suite_revision[:18]}); only the judge may change: "
                "run the new suite instead"
            )
    ran = set(index.items())
    return [item for item in suite.items if item.id in ran]


def _prediction(judged: Judged, rollout: Rollout) -> Any:
    """What was read: the answer, or for a workspace job the paths that changed."""
    if judged.reading is not None:
        return judged.reading.value
    if judged.unread or judged.evidence is None:
        return None
    workspace = rollout.attempt.workspace if rollout.attempt else None
    return sorted(workspace.changes) if workspace else []


def _how(judged: Judged) -> dict[str, Any]:
    if judged.reading is not None:
        return {"rule": judged.reading.rule, **({"span": list(judged.reading.span)} if judged.reading.span else {})}
    return {"unread": judged.unread} if judged.unread else {}


def _extra(verdict: Verdict) -> dict[str, Any] | None:
    extra = msgspec.to_builtins(verdict)
    for name in ("passed", "score"):
        extra.pop(name, None)
    return extra or None


def current_ruler(folder: Path) -> str:
    """The ruler of the newest judgement of a run; empty before the first."""
    path = folder / FOLDER / CURRENT
    if not path.exists():
        return ""
    ruler = msgspec.json.decode(path.read_bytes()).get("ruler", "")
    return str(ruler)


def read_judgements(folder: Path, ruler: str = "") -> Iterator[JudgedItem]:
    """The judgements of a run under a ruler (the newest by default), in suite order."""
    ruler = ruler or current_ruler(folder)
    path = folder / FOLDER / f"{ruler}.jsonl"
    if not ruler or not path.exists():
        raise FormatError(folder, None, "this run has not been judged; do: steelyard judge " + str(folder))
    yield from _read(path)


def _read(path: Path) -> Iterator[JudgedItem]:
    decoder = msgspec.json.Decoder(JudgedItem)
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield decoder.decode(line)
            except msgspec.DecodeError as error:
                raise FormatError(path, number, f"not a judgement: {error}") from error


def flips_between(old: Path, new: bytes) -> list[Flip]:
    """Rollouts judged in both whose verdicts differ, in the order of the new lines."""
    if not old.exists():
        return []
    before = {(j.id, r.index): r.correct for j in _read(old) for r in j.feedback_result.rollouts}
    decoder = msgspec.json.Decoder(JudgedItem)
    return [
        Flip(judged.id, r.index, before[judged.id, r.index], r.correct)
        for judged in map(decoder.decode, new.splitlines())
        for r in judged.feedback_result.rollouts
        if (judged.id, r.index) in before and before[judged.id, r.index] != r.correct
    ]
