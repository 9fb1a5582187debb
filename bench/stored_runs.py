"""Stored runs of any size without a model: the run folder that `steelyard run` would have left, journal and header.

    python bench/stored_runs.py FOLDER --items 10000 [--rollouts 1] [--pass-rate 0.6]

FOLDER gets suite.jsonl and run/. Answers are right or wrong by a seeded draw; every fiftieth call failed as an error.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import msgspec
from samples import ANSWER, question, write_suite

from steelyard.attempt import Attempt, Message, ModelOutput, Usage
from steelyard.item import Item, ask
from steelyard.ports import Sampling
from steelyard.run.journal import Rollout, RolloutError
from steelyard.run.plan import Plan, build_header, write_header
from steelyard.solvers.settings import SolverSettings
from steelyard.suite import load

SEED = 20_240_131


def write_run(folder: Path, items: int, rollouts: int = 1, pass_rate: float = 0.6, run: str = "run") -> Path:
    """Write the suite (once) and one run; returns the run's folder."""
    suite_path = folder / "suite.jsonl"
    if not suite_path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_suite(suite_path, items)
    suite = load(suite_path)
    target = folder / run
    target.mkdir()
    plan = Plan(
        suite_path=str(suite_path.absolute()), suite_name=suite.name, suite_revision=suite.revision, split="dev",
        model="bench", model_id="bench", solver=SolverSettings(), sampling=Sampling(max_tokens=16), rollouts=rollouts,
        concurrency=128, proofs={"none": items}, allow_unproven=True,
    )  # fmt: skip
    write_header(target, build_header(plan))
    rng, encoder = random.Random(f"{SEED}/{run}"), msgspec.json.Encoder()
    asks = [ask(item) for item in suite.items]
    with (target / "rollouts.jsonl").open("wb", buffering=1 << 20) as out:
        for number in range(rollouts):
            for i, item in enumerate(suite.items):
                line = _rollout(item, i, number, asks[i], rng, pass_rate)
                out.write(encoder.encode(line) + b"\n")
    return target


def _rollout(item: Item, i: int, number: int, asked: str, rng: random.Random, pass_rate: float) -> Rollout:
    facts = {"item": item.id, "rollout": number, "seed": number, "ask": asked, "started": 1.7e9 + i, "seconds": 0.05}
    if i % 50 == 49 and number == 0:
        return Rollout(**facts, error=RolloutError("timeout", "gave no whole reply within 30.0 s"))
    answer = ANSWER if rng.random() < pass_rate else "41"
    usage = Usage(20, 3, 23)
    output = ModelOutput(
        "bench", [answer], finish_reasons=["stop"], usage=usage, request={"model": "bench", "max_tokens": 16},
        seconds=0.05, response_id="chatcmpl-1",
    )  # fmt: skip
    talk = [Message("user", question(i)), Message("assistant", answer)]
    return Rollout(**facts, attempt=Attempt(answer, talk, [output], stop="answer", usage=usage))


def main() -> None:
    """Write one run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--rollouts", type=int, default=1)
    parser.add_argument("--pass-rate", type=float, default=0.6)
    asked = parser.parse_args()
    print(write_run(asked.folder, asked.items, asked.rollouts, asked.pass_rate))


if __name__ == "__main__":
    main()
