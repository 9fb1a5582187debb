"""Write training examples of a scripted expert: one line for every turn of the assistant, in TRL's conversational form.

The expert is each item's proven reference, replayed in the sandbox through the real tools; a trace that does not pass
its own verifier, or that the protocol's parser does not read back, is an error and nothing is written.
--refuse-overlap SUITE refuses when a prompt is equal or nearly equal to one of that suite.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, get_args

import msgspec

from steelyard.cli.sandboxes import add_sandbox_arguments, sandbox_of
from steelyard.errors import InputError, RefusedError
from steelyard.kit import ProbeKit
from steelyard.overlap.prompts import refuse_near_prompts
from steelyard.solvers.settings import Protocol
from steelyard.store import write_atomic
from steelyard.suite import SPLITS, load
from steelyard.traces import suite_traces


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `steelyard traces`."""
    parser.add_argument("suite", metavar="SUITE", help="proven suite: a folder or a JSONL file")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.jsonl", help="new file for the examples")
    parser.add_argument(
        "--protocol", choices=get_args(Protocol), default="tagged", help="how calls are written (default tagged)"
    )
    parser.add_argument("--system", help="system prompt of the runs that the model is trained for")
    parser.add_argument("--split", choices=(*SPLITS, "all"), default="dev", help="split to trace (default dev)")
    parser.add_argument(
        "--refuse-overlap", action="append", default=[], metavar="EVAL_SUITE", help="suite whose prompts must not occur"
    )
    add_sandbox_arguments(parser)
    parser.add_argument("--trust", action="store_true", help="load verifiers from files that the suites name")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Write the examples and say how many there are."""
    if args.out.exists():
        raise RefusedError(f"{args.out} already exists; choose another --out or remove it first")
    suite = load(args.suite, trust=args.trust).split(args.split)
    for path in args.refuse_overlap:
        refuse_near_prompts(suite.items, load(path, trust=args.trust).items, (str(args.suite), path))
    sandbox = sandbox_of(args)
    kit = ProbeKit(suite.store(), sandbox)
    lines: list[bytes] = []
    traces = 0
    for examples in suite_traces(suite, kit, args.protocol, args.system):
        traces += 1
        lines += [msgspec.json.encode(example) + b"\n" for example in examples]
    try:
        write_atomic(args.out, b"".join(lines))
    except OSError as error:
        raise InputError(f"cannot write {args.out}: {error.strerror}") from error
    done: dict[str, Any] = {
        "traces": traces,
        "examples": len(lines),
        "out": str(args.out),
        "against": args.refuse_overlap,
    }
    checked = ", ".join(args.refuse_overlap)
    told = (
        f"no prompt is equal or nearly equal to one of {checked}" if checked else "prompts were compared with no eval"
    )
    print(
        msgspec.json.encode(done).decode()
        if args.json
        else f"{traces} traces, {len(lines)} examples: {args.out}\n{told}"
    )
    return 0
