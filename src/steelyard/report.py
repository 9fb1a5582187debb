"""The report of a judged run: one dictionary, printed for a person or written as report.json.

Every figure prints its denominator: the headline is passed / (passed + failed) with its n, and bounds whenever a void
or an error exists. Keys follow seed 003's report (score, pass@1, pass@k, pass^k, n, k, n_short, ...); a key that does
not apply is left out, never zeroed; a run without judged rollouts keeps the keys with null.
Not covered: comparing two runs (pass rates of two runs side by side are not a comparison).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from operator import attrgetter
from pathlib import Path
from statistics import stdev
from typing import Any

import msgspec

import steelyard
from steelyard.item import Item, kind_of
from steelyard.judging import PROVOKED
from steelyard.records import JudgedItem, RolloutJudgement
from steelyard.run.anomalies import read_anomalies
from steelyard.run.journal import RolloutIndex
from steelyard.run.judged import Current, JudgedOutcomes, Outcome, read_current, read_judgements, read_outcomes
from steelyard.run.judgements import items_of_run, missing_item
from steelyard.run.plan import Plan, items_of_plan, read_header
from steelyard.shortcuts import floor_of_run
from steelyard.stats.rates import bounds, mean_rate, over_items
from steelyard.store import write_json
from steelyard.suite import Suite

FILE = "report.json"
_SEEDS_SHOWN = 8


class Tally(msgspec.Struct, gc=False):
    """One item's rollouts under one ruler."""

    item: Item
    passed: int
    failed: int
    void: int
    provoked: int
    errors: int

    @property
    def judged(self) -> int:
        return self.passed + self.failed


class Tallies:
    """Each item's counts, and (judged, passed) of each rollout index over all items; takes judgement lines as they are.

    Raises what `missing_item` gives for a line of an item that the suite does not have.
    """

    def __init__(self, suite: Suite, lines: Iterable[JudgedOutcomes] = ()) -> None:
        self._suite, self._by_id = suite, {item.id: item for item in suite.items}
        self.items: list[Tally] = []
        self.by_rollout: dict[int, tuple[int, int]] = {}
        for line in lines:
            self.add(line)

    def add(self, line: JudgedItem | JudgedOutcomes) -> None:
        """Count one line."""
        item, record = self._by_id.get(line.id), line.feedback_result
        if item is None:
            raise missing_item(line.id, self._suite)
        provoked = sum(_note(one).startswith(PROVOKED) for one in record.rollouts) if record.n_void else 0
        failed = record.n_rollouts - record.n_correct - record.n_void
        self.items.append(Tally(item, record.n_correct, failed, record.n_void, provoked, record.n_errors))
        for one in record.rollouts:
            if one.correct is not None:
                n, passed = self.by_rollout.get(one.index, (0, 0))
                self.by_rollout[one.index] = (n + 1, passed + one.correct)


def _note(one: RolloutJudgement | Outcome) -> str:
    """The note of a void; empty for a verdict."""
    if one.correct is not None or one.extra is None:
        return ""
    return one.extra.note if isinstance(one, Outcome) else str(one.extra.get("note", ""))


def build_report(
    folder: Path,
    suite: Suite,
    k: int | None = None,
    *,
    index: RolloutIndex | None = None,
    counted: Tallies | None = None,
) -> dict[str, Any]:
    """The report of a run's newest judgement; `k` for pass@k and pass^k, by default the run's rollouts.

    `suite` must have every item of the run, with the same questions. A `k` that is given must not be more than every
    item's judged rollouts (InputError); the default one may be. Who has just judged the run may give the `index` and
    the lines that were `counted`, which are read from the folder otherwise.
    """
    header = read_header(folder)
    plan = header.plan
    with ExitStack() as stack:
        if index is None:
            index = RolloutIndex(folder, suite.asks)
            stack.callback(index.close)
        ran = items_of_run(suite, header, index)
        agent = _agent_figures(folder, suite, index, plan) if plan.solver.name == "tools" else None
    counted = counted or Tallies(suite, read_outcomes(folder))
    current, tallies = read_current(folder), counted.items
    items = items_of_plan(suite, plan, [item.id for item in ran])
    anomalies = read_anomalies(folder)
    if k is not None:
        over_items({t.item.id: (t.judged, t.passed) for t in tallies}, k)  # raises where k is above every n
    k = k or plan.rollouts
    report: dict[str, Any] = {
        "score_key": "pass@1",
        "denominator_policy": "judged",
        **_rates(tallies, k),
        "n_items": len(tallies),
        "n_rollouts_wanted": len(items) * plan.rollouts,
        "n_rollouts_finished": sum(t.judged + t.void + t.errors for t in tallies),
        "n_unextracted": anomalies.counts["extraction_failure"],
        "n_truncated": anomalies.counts["truncated_output"],
        "n_empty": anomalies.counts["empty_output"],
        "by_domain": _strata(tallies, attrgetter("domain"), k),
        "by_difficulty": _strata(tallies, attrgetter("difficulty"), k),
        "by_family": _strata(tallies, attrgetter("family"), k),
        "by_kind": _strata(tallies, kind_of, k),
        **_seeds(counted.by_rollout, plan.seed),
        "floor": _floor(folder, suite, items),
        "proofs": plan.proofs,
        "allow_unproven": plan.allow_unproven,
        "trust_proofs": plan.trust_proofs,
        "suite": {"name": plan.suite_name, "revision": plan.suite_revision, "split": plan.split},
        "judged_with": _judged_with(current),
        "ruler": current.ruler if current else "",
        "model": {"id": plan.model_id, "spec": plan.model, "facts": plan.model_facts},
        "settings": _settings(plan),
        "error_kinds": _error_kinds(index),
        "versions": {"steelyard": steelyard.__version__, "schema": header.schema_version, **header.environment},
    }
    return report | ({"agent": agent} if agent is not None else {})


def _agent_figures(folder: Path, suite: Suite, index: RolloutIndex, plan: Plan) -> dict[str, Any]:
    from steelyard.agents import agent_figures  # brings the tool solver and asyncio: only what was made with tools pays

    return agent_figures(read_judgements(folder), suite, index, plan)


def _seeds(by_rollout: dict[int, tuple[int, int]], base: int) -> dict[str, Any]:
    """pass@1 of each seed and, over two seeds or more, their sample standard deviation (O-25)."""
    rates = [passed / n for _, (n, passed) in sorted(by_rollout.items())]
    seeds = [{"seed": base + index, "score": passed / n, "n": n} for index, (n, passed) in sorted(by_rollout.items())]
    return {"by_seed": seeds, "seed_stdev": stdev(rates)} if len(rates) > 1 else {"by_seed": seeds}


def _judged_with(current: Current | None) -> dict[str, Any]:
    if current is None:
        return {}
    return {"name": current.suite_name, "revision": current.suite_revision, "proofs": current.proofs}


def _settings(plan: Plan) -> dict[str, Any]:
    return {
        "solver": msgspec.to_builtins(plan.solver),
        "sampling": msgspec.to_builtins(plan.sampling),
        "seed": plan.seed,
        "rollouts": plan.rollouts,
        "sandbox": plan.sandbox,
        "deterministic": plan.deterministic,
    }


def _floor(folder: Path, suite: Suite, items: Sequence[Item]) -> dict[str, Any] | None:
    """The floor of the items asked; the manifest's is the whole suite's, so it holds only when all were asked."""
    stored = suite.manifest.get("proofs", {}).get("floor")
    if stored and len(items) == len(suite.splits):
        return dict(stored)
    if not items:
        return None
    rate, baseline = floor_of_run(folder, suite, items)
    return {"rate": rate, "baseline": baseline}


def write_report(folder: Path, report: dict[str, Any]) -> Path:
    """Write report.json."""
    write_json(folder / FILE, report)
    return folder / FILE


def _rates(tallies: Sequence[Tally], k: int) -> dict[str, Any]:
    """Headline, interval, bounds and counts of some items."""
    passed, judged = sum(t.passed for t in tallies), sum(t.judged for t in tallies)
    unknown = sum(t.void + t.errors for t in tallies)
    rates: dict[str, Any] = {
        "score": passed / judged if judged else None,
        "n": judged,
        "k": k,
        "n_passed": passed,
        "fails": judged - passed,
        "n_void": sum(t.void for t in tallies),
        "n_provoked": sum(t.provoked for t in tallies),
        "n_errors": sum(t.errors for t in tallies),
        "n_scored_rollouts": judged,
    }
    if unknown:
        rates["bounds"] = bounds(passed, judged, unknown)
    rates["pass@1"] = rates["score"]
    rates["avg@n"] = rates["score"]
    rates["interval"] = None
    if judged:
        counts = [(t.judged, t.passed) for t in tallies]
        rates["interval"] = msgspec.to_builtins(mean_rate(counts, [t.item.group for t in tallies]))
    rates |= _at_k(tallies, k)
    return rates


def _at_k(tallies: Sequence[Tally], k: int) -> dict[str, Any]:
    counts = {t.item.id: (t.judged, t.passed) for t in tallies}
    short = sum(n < k for n, _ in counts.values())
    if short == len(counts):  # no item has k judged rollouts: nothing can be said at this k
        return {"pass@k": None, "n_short": short} | ({"pass^k": None} if k > 1 else {})
    at, hat, short = over_items(counts, k)
    return {"pass@k": at, "n_short": short} | ({"pass^k": hat} if k > 1 else {})


def _strata(tallies: Sequence[Tally], label: Callable[[Item], str | None], k: int) -> dict[str, Any]:
    """The rates of items by their label, the labels sorted; items without one are left out."""
    labelled: dict[str, list[Tally]] = {}
    for tally in tallies:
        if name := label(tally.item):
            labelled.setdefault(name, []).append(tally)
    return {name: _rates(labelled[name], k) for name in sorted(labelled)}


def _error_kinds(index: RolloutIndex) -> dict[str, int]:
    kinds = [error.kind for error in index.errors.values()]
    return {kind: kinds.count(kind) for kind in sorted(set(kinds))}


def render_report(report: dict[str, Any]) -> str:
    """The report as lines for a terminal."""
    return "\n".join(_lines(report))


def _lines(report: dict[str, Any]) -> Iterable[str]:
    suite, settings = report["suite"], report["settings"]
    yield f"suite     {suite['name']} ({suite['split']})  {short(suite['revision'])}"
    yield f"model     {report['model']['id']}  solver {settings['solver']['name']}  seed {settings['seed']}"
    sampling = ", ".join(f"{name} {value}" for name, value in settings["sampling"].items()) or "the endpoint's defaults"
    yield f"sampling  {sampling}"
    yield f"ruler     {short(report['ruler'])}"
    yield f"proofs    {_proofs(report)}"
    yield from _judged_line(report)
    yield ""
    yield f"pass@1    {_headline(report)}"
    if report["k"] > 1:
        known = (
            f"{report['pass@k']:.3f}   pass^{report['k']} {report['pass^k']:.3f}"
            if report["pass@k"] is not None
            else "-"
        )
        yield f"pass@{report['k']:<5}{known}   over items with {report['k']} judged rollouts, {report['n_short']} short"
    if report["floor"]:
        yield f"floor     {report['floor']['rate']:.3f}   {report['floor']['baseline']} (a shortcut that does no work)"
    yield (
        f"counts    {report['n_passed']} passed, {report['fails']} failed, {report['n_void']} void"
        + (f" ({report['n_provoked']} provoked)" if report["n_provoked"] else "")
        + f", {report['n_errors']} errors; {report['n_unextracted']} unextracted, {report['n_truncated']} truncated, "
        f"{report['n_empty']} empty"
    )
    if report["error_kinds"]:
        yield "errors    " + ", ".join(f"{kind} {n}" for kind, n in report["error_kinds"].items())
    if report["n_rollouts_finished"] < report["n_rollouts_wanted"]:
        yield f"partial   {report['n_rollouts_finished']} of {report['n_rollouts_wanted']} rollouts: use --resume"
    if "seed_stdev" in report:
        rates = ", ".join(f"{one['score']:.3f}" for one in report["by_seed"][:_SEEDS_SHOWN])
        more = "" if len(report["by_seed"]) <= _SEEDS_SHOWN else ", ..."
        yield f"seeds     {rates}{more}   sample standard deviation {report['seed_stdev']:.3f}"
    yield from _agent(report.get("agent"))
    for title in ("family", "domain", "kind", "difficulty"):
        yield from _table(title, report[f"by_{title}"])


def _agent(agent: dict[str, Any] | None) -> Iterable[str]:
    """The figures of an agent run."""
    if agent is None or not agent["n_attempts"]:
        return
    rate = "-" if agent["valid_call_rate"] is None else f"{agent['valid_call_rate']:.3f}"
    stops = ", ".join(f"{name or 'unknown'} {n}" for name, n in agent["stops"].items())
    yield (
        f"calls     {agent['valid_calls']} of {agent['calls']} valid ({rate}), "
        f"{agent['tool_errors']} refused by tools; "
        f"{agent['mean_turns']:.1f} turns a rollout; protocol {agent['protocol']}"
    )
    yield f"stops     {stops}"
    if agent["input_tokens"] is None:
        yield "tokens    unknown: the endpoint does not say"
    else:
        some = f" ({agent['n_without_token_counts']} rollouts not counted)" if agent["n_without_token_counts"] else ""
        yield f"tokens    {agent['input_tokens']} in, {agent['output_tokens']} out{some}"
    ground = agent["grounding"]
    if ground["n"]:
        yield (
            f"grounded  {ground['grounded']} of {ground['passed']} passes are carried by a tool result: "
            f"{ground['grounded_success']:.3f} beside {ground['success']:.3f}   n={ground['n']} answer jobs"
            + (f"; {ground['n_derived']} derived ones left out" if ground["n_derived"] else "")
        )


def _headline(rates: dict[str, Any]) -> str:
    if rates["score"] is None:
        return "no judged rollouts"
    low, high = rates["interval"]["low"], rates["interval"]["high"]
    text = f"{rates['score']:.3f}   n={rates['n']}   95 % [{low:.3f}, {high:.3f}]"
    if "bounds" in rates:
        text += (
            f"   bounds [{rates['bounds'][0]:.3f}, {rates['bounds'][1]:.3f}] with voids and errors counted both ways"
        )
    return text


def _table(title: str, strata: dict[str, Any]) -> Iterable[str]:
    if not strata:
        return
    width = max(len(name) for name in strata)
    yield ""
    yield f"by {title}"
    for name, rates in strata.items():
        yield f"  {name:<{width}}  {_headline(rates)}"


def _judged_line(report: dict[str, Any]) -> Iterable[str]:
    """What the run was judged with, where that is not what it was made with."""
    judged, suite = report["judged_with"], report["suite"]
    if not judged.get("revision") or (judged["revision"], judged["proofs"]) == (suite["revision"], report["proofs"]):
        return
    yield f"judged with {short(judged['revision'])}  {judged['name']}; proofs {_states(judged['proofs'])}"


def _states(proofs: dict[str, int]) -> str:
    return ", ".join(f"{n} {state}" for state, n in proofs.items()) or "none"


def _proofs(report: dict[str, Any]) -> str:
    said = _states(report["proofs"])
    flags = [flag for flag in ("allow_unproven", "trust_proofs") if report[flag]]
    return said + "".join(f"  (--{flag.replace('_', '-')})" for flag in flags)


def short(identifier: str) -> str:
    """The first digits of a revision or ruler, enough to tell two apart by eye."""
    kind, colon, hexadecimal = identifier.rpartition(":")
    return f"{kind}{colon}{hexadecimal[:12]}"
