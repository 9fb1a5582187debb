"""Run a suite against a model, judge the answers and print the report.

MODEL is an embedded model's name (see `steelyard models list`), `scripted:FILE`, or with --base-url the name that an
OpenAI-compatible endpoint knows. The key is read from --api-key-file, else from STEELYARD_API_KEY or OPENAI_API_KEY,
else from a `.env` in this folder.
One Ctrl-C finishes what is in flight, a second one gives it up; `--resume` goes on from what is stored.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from steelyard.cli.progress import Progress
from steelyard.cli.sandboxes import add_sandbox_arguments, sandbox_of
from steelyard.errors import InputError
from steelyard.kit import ProbeKit
from steelyard.models.caps import Capped, Caps, read_price, spent_on
from steelyard.models.keys import find_key
from steelyard.models.open import open_model
from steelyard.models.probe import probe_for_run
from steelyard.ports import Model, Sampling, Sandbox
from steelyard.report import build_report, render_report, write_report
from steelyard.run.engine import Outcome
from steelyard.run.journal import stored_calls
from steelyard.run.judgements import NOT_DETERMINISTIC
from steelyard.run.plan import Plan
from steelyard.run.start import Finished, stage, start
from steelyard.solvers.settings import SolverSettings
from steelyard.store import Store
from steelyard.suite import Suite, load


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `steelyard run`."""
    parser.add_argument("suite", metavar="SUITE", type=Path, help="suite folder or JSONL file")
    parser.add_argument("--model", required=True, metavar="MODEL")
    parser.add_argument(
        "--base-url", action="append", metavar="URL", help="an OpenAI-compatible endpoint; several serve as a pool"
    )
    parser.add_argument("--api-key-file", type=Path, metavar="FILE", help="a file that holds the endpoint's key alone")
    parser.add_argument("--split", default="dev", help="dev, test or all (default dev)")
    parser.add_argument("--rollouts", type=int, default=1, help="attempts at each item; more extend a run (default 1)")
    parser.add_argument("--seed", type=int, default=0, help="rollout i is made with seed S+i (default 0)")
    parser.add_argument("--limit", type=int, help="only the first items")
    parser.add_argument("--out", type=Path, help="run folder (default runs/<suite>-<model>-<time>)")
    parser.add_argument("--resume", action="store_true", help="go on with the run in --out")
    _add_settings(parser)
    parser.add_argument("--allow-unproven", action="store_true", help="run items that are not proven (is recorded)")
    parser.add_argument("--trust-proofs", action="store_true", help="do not grade probing items' proofs here first")
    parser.add_argument("--trust", action="store_true", help="load verifiers from files that the suite names")
    parser.add_argument("--no-probe", action="store_true", help="do not look first at what the endpoint honours")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def _add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--temperature", type=float)
    parser.add_argument("--top-p", type=float)
    parser.add_argument("--top-k", type=int)
    parser.add_argument("--max-new-tokens", type=int, help="tokens of one reply (default 512)")
    parser.add_argument("--stop", action="append", default=[], help="stop text; may be given several times")
    parser.add_argument("--system", help="system prompt")
    parser.add_argument(
        "--extra-body", metavar="JSON", type=_json_object, default={}, help="more fields of every request"
    )
    parser.add_argument(
        "--stream", action="store_true", help="have replies come in pieces, for slow ones behind a gateway"
    )
    parser.add_argument("--solver", choices=("chat", "tools"), help="default: tools where items offer tools")
    parser.add_argument("--protocol", choices=("native", "tagged", "json_action"), default="tagged")
    parser.add_argument("--max-turns", type=int, default=8, help="model calls of one tool job (default 8)")
    parser.add_argument("--context-tokens", type=int, default=6144, help="context of the model (default 6144)")
    parser.add_argument("--tool-timeout", type=float, default=30.0, metavar="S", help="of one call (default 30)")
    parser.add_argument("--output-chars", type=int, default=4000, help="characters of one tool result (default 4000)")
    parser.add_argument("--offer", action="append", default=[], metavar="TOOL", help="a tool beside an item's own")
    parser.add_argument(
        "--package", action="append", default=[], help="a Python package of this environment for offered tools"
    )
    add_sandbox_arguments(parser)
    parser.add_argument("--concurrency", type=int, default=8, help="calls in flight (default 8)")
    parser.add_argument("--deterministic", action="store_true", help="one call a server process, no prompt cache")
    parser.add_argument("--processes", type=int, default=1, help="server processes of an embedded model (default 1)")
    caps = parser.add_argument_group("caps of the whole run; what is in flight when one is reached is kept")
    caps.add_argument(
        "--max-requests", type=int, metavar="N", help="calls of the model; retries of one are not counted"
    )
    caps.add_argument("--max-tokens", type=int, metavar="N", help="of input and output together, over all replies")
    caps.add_argument("--max-cost", type=float, metavar="MONEY", help="needs --prices")
    caps.add_argument("--prices", type=Path, metavar="FILE", help='{"MODEL": {"input": 0.15, "output": 0.6}} a million')


def _json_object(text: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise argparse.ArgumentTypeError(f"expected a JSON object such as {_A_BODY}: {error}") from error


_A_BODY = '{"reasoning_effort": "low"}'


def run(args: argparse.Namespace) -> int:
    """Run, judge, report; exit 0 when every rollout is there, 1 when some failed as errors, 2 when interrupted."""
    whole = load(args.suite, trust=args.trust)
    suite = whole.split(args.split)
    if args.limit:
        suite = msgspec.structs.replace(suite, items=suite.items[: args.limit])
    needs_sandbox = bool(args.offer) or any(item.tools or suite.bound[item.id].probes for item in suite.items)
    sandbox = sandbox_of(args) if needs_sandbox else None
    folder = args.out or Path("runs") / _name(suite, args.model)
    finished = asyncio.run(_run(args, suite, sandbox, folder))
    return _tell(args, finished, whole, folder)


async def _run(args: argparse.Namespace, suite: Suite, sandbox: Sandbox | None, folder: Path) -> Finished:
    model = await _model(args, folder)
    try:
        plan = _plan(args, suite, model, sandbox)
        kit = ProbeKit(Store(folder / "files", others=[suite.files]), sandbox)
        with Progress("rollouts") as progress:
            probe = None if args.no_probe else probe_for_run

            def told(outcome: Outcome) -> None:
                progress.told(outcome.finished, outcome.wanted, f"{outcome.errors} errors")

            return await start(plan, suite, model, kit, folder, resume=args.resume, told=told, probe=probe)
    finally:
        await model.close()


async def _model(args: argparse.Namespace, folder: Path) -> Model:
    """The model that was asked for, under the caps that were given."""
    if (args.extra_body or args.stream) and args.model.startswith(("scripted:", "hf:")):
        raise InputError(f"--extra-body and --stream are for endpoints and embedded models, not for {args.model}")
    options: dict[str, Any] = {"extra_body": args.extra_body, "stream": args.stream}
    if args.base_url:
        options["api_key"] = find_key(args.api_key_file)
    model = await open_model(
        args.model,
        base_url=args.base_url,
        context_tokens=args.context_tokens,
        processes=args.processes,
        deterministic=args.deterministic,
        **options,
    )
    price = read_price(args.prices, model.id) if args.prices else None
    caps = Caps(max_requests=args.max_requests, max_tokens=args.max_tokens, max_cost=args.max_cost, price=price)
    return Capped(model, caps, spent_on(stored_calls(folder))) if caps != Caps(price=price) else model


def _plan(args: argparse.Namespace, suite: Suite, model: Model, sandbox: Sandbox | None) -> Plan:
    has_tools = any(item.tools for item in suite.items)
    return Plan(
        suite_path=str(args.suite.absolute()),
        suite_name=suite.name,
        suite_revision=suite.revision,
        split=args.split,
        model=args.model,
        model_id=model.id,
        endpoint_probe={"skipped": "--no-probe"} if args.no_probe else {},
        solver=SolverSettings(
            name=args.solver or ("tools" if has_tools or args.offer else "chat"),
            system=args.system,
            protocol=args.protocol,
            max_turns=args.max_turns,
            context_tokens=args.context_tokens,
            tool_timeout_s=args.tool_timeout,
            output_chars=args.output_chars,
            offer=args.offer,
            packages=args.package,
        ),
        sampling=Sampling(args.temperature, args.top_p, args.top_k, args.max_new_tokens, args.stop),
        extra_body=args.extra_body,
        seed=args.seed,
        rollouts=args.rollouts,
        sandbox=sandbox.name if sandbox else "",
        deterministic=args.deterministic,
        concurrency=args.concurrency,
        limit=args.limit,
        allow_unproven=args.allow_unproven,
        trust_proofs=args.trust_proofs,
    )


def _tell(args: argparse.Namespace, finished: Finished, suite: Suite, folder: Path) -> int:
    outcome = finished.outcome
    with stage(folder, "report"):
        report = build_report(folder, suite)
        path = write_report(folder, report)
    print(msgspec.json.encode(report).decode() if args.json else render_report(report))
    note = f"run {folder}; report {path}"
    if finished.dropped_bytes:
        note += f"; an unfinished last line of {finished.dropped_bytes} bytes was dropped from the journal"
    if outcome.stopped:
        note += f"\nstopped: {outcome.stopped}"
    elif outcome.interrupted or outcome.errors:
        reason = "interrupted" if outcome.interrupted else f"{outcome.errors} calls failed"
        note += f"\n{reason}; go on with the same command and --out {folder} --resume"
    if finished.judged is not None and not finished.judged.deterministic:
        note += f"\n{NOT_DETERMINISTIC}"
    print(note, file=sys.stderr)
    if outcome.interrupted or outcome.stopped:
        return 2
    return 1 if outcome.errors else 0


def _name(suite: Suite, model: str) -> str:
    slug = re.sub(r"[^A-Za-z0-9.]+", "-", model).strip("-")
    return f"{suite.name}-{slug}-{time.strftime('%Y%m%d-%H%M%S')}"
