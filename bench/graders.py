"""How fast the verifiers judge ordinary model outputs, in CPU seconds per 10,000, with peers beside them.

    python bench/graders.py [--n 2000] [--rounds 3] [--peers PYTHON] [--json OUT.json]

Replies are made up by a seeded generator (a few sentences of working, then an answer in one of the usual forms), so
the figures can be had anywhere; with STEELYARD_SHARED set, real outputs are judged as well. Each round runs ourselves
and then the peer on the same rows; the figure is the median of the rounds, the ratio that of medians. A peer runs in
the environment of `--peers` (default: bench/.envs/graders), and where that lacks it, the table says so.
Not measured: starting the interpreter, importing, the symbolic worker (rows left undecided are counted instead).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, NamedTuple

from measure import machine, python_of

from steelyard.attempt import Attempt
from steelyard.verdict import Undecided
from steelyard.verifiers.registry import Bound, bind_spec

HERE = Path(__file__).parent
SEED = 20_240_131


class Row(NamedTuple):
    """A reply with what judges it."""

    reply: str
    target: str
    spec: dict[str, Any]


class Job(NamedTuple):
    """Rows for one verifier, and the peer that can judge them too."""

    name: str
    rows: list[Row]
    peer: str = ""


_WORKING = (
    "First we look at what is given.", "There are {a} boxes with {b} items each.", "So we multiply {a} by {b}.",
    "That gives {a} x {b} = {c} in all.", "Some of them are not needed, so we leave {b} out.",
    "This agrees with what the question says about the total.", "Now we can compare the remaining values.",
    "Let $x$ be the number of boxes, then $x = {a}$.", "We also know that the rate stays the same.",
    "Option (B) looks tempting, but it ignores the second step.", "However, the units have to be converted first.",
)  # fmt: skip
_ENDS = (
    "The answer is {}.",
    "Answer: {}",
    "**{}**",
    "So the final answer is {}.",
    "Therefore, the answer is \\boxed{{{}}}.",
)
_WORDS = ("Paris", "Oslo", "Lima", "Quito", "Accra", "Hanoi", "Dakar", "Tunis")


def _working(rng: random.Random) -> str:
    a, b = rng.randint(2, 90), rng.randint(2, 90)
    lines = [rng.choice(_WORKING).format(a=a, b=b, c=a * b) for _ in range(rng.randint(4, 14))]
    return "".join(line + rng.choice((" ", " ", "\n")) for line in lines)


def _end(rng: random.Random, answer: str) -> str:
    return rng.choice(_ENDS).format(answer)


def _number(rng: random.Random) -> Row:
    target = rng.choice((str(rng.randint(1, 9999)), f"{rng.uniform(0, 500):.2f}"))
    return Row(_working(rng) + "\n" + _end(rng, target), target, {"name": "number"})


def _choice(rng: random.Random) -> Row:
    letter = rng.choice("ABCD")
    reply = _working(rng) + "\n" + _end(rng, rng.choice((letter, f"({letter})")))
    return Row(reply, letter, {"name": "choice", "choices": list(_WORDS[:4])})


def _math(rng: random.Random) -> Row:
    a, b = rng.randint(2, 40), rng.randint(2, 40)
    target = rng.choice(
        (str(a), rf"\frac{{{a}}}{{{b}}}", rf"{a}\sqrt{{{b}}}", f"({a}, {b})", f"x^2+{a}x-{b}", rf"{a}\pi")
    )
    return Row(f"{_working(rng)}\nTherefore the answer is $\\boxed{{{target}}}$.", target, {"name": "math"})


def _text(name: str) -> Any:
    def make(rng: random.Random) -> Row:
        city = rng.choice(_WORDS)
        reply = city if name == "exact" else f"{_working(rng)}\nThe place is {city}, as the map says."
        return Row(reply, city, {"name": name})

    return make


def _fields(rng: random.Random) -> Row:
    value = {"city": rng.choice(_WORDS), "count": rng.randint(1, 99), "open": rng.random() < 0.5}
    text = json.dumps(value)
    return Row(
        rng.choice((text, f"Here it is:\n```json\n{text}\n```", f"The result is {text}.")), text, {"name": "fields"}
    )


def _toolcalls(rng: random.Random) -> Row:
    call = {"name": "look_up", "arguments": {"city": rng.choice(_WORDS), "n": rng.randint(1, 9)}}
    reply = f"{_working(rng)}\n<tool_call>\n{json.dumps(call)}\n</tool_call>"
    return Row(reply, json.dumps([call]), {"name": "toolcalls"})


def _time(rng: random.Random) -> Row:
    target = f"2024-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}T{rng.randint(0, 23):02}:{rng.randint(0, 59):02}:00Z"
    return Row(_working(rng) + "\n" + _end(rng, target), target, {"name": "time"})


def _names(name: str) -> Any:
    def make(rng: random.Random) -> Row:
        cities = rng.sample(_WORDS, 4)
        shown = rng.choice((json.dumps(cities), "\n".join(f"- {city}" for city in cities), ", ".join(cities)))
        return Row(f"{_working(rng)}\nThe list is:\n{shown}", json.dumps(cities), {"name": name})

    return make


def _yesno(rng: random.Random) -> Row:
    target = rng.choice(("yes", "no"))
    return Row(_working(rng) + "\n" + _end(rng, target), target, {"name": "yesno"})


def _grade(rng: random.Random) -> Row:
    labels = {"A": "CORRECT", "B": "INCORRECT"}
    return Row(f"{_working(rng)}\nGrade: A", "CORRECT", {"name": "grade", "labels": labels})


_MADE = {
    "exact": _text("exact"), "number": _number, "choice": _choice, "math": _math, "token": _text("token"),
    "states": _text("states"), "fields": _fields, "toolcalls": _toolcalls, "time": _time, "set": _names("set"),
    "order": _names("order"), "yesno": _yesno, "grade": _grade,
}  # fmt: skip
_PEER_OF = {"math": "math-verify", "choice": "mcq-regex"}


def jobs(n: int) -> Iterator[Job]:
    """The made-up rows of each verifier, then the real outputs where they are to be had."""
    for name, make in _MADE.items():
        rng = random.Random(f"{SEED}/{name}")
        yield Job(name, [make(rng) for _ in range(n)], _PEER_OF.get(name, ""))
    folder = os.environ.get("STEELYARD_SHARED")
    if folder and (data := Path(folder) / "data" / "benchmarks").is_dir():
        yield Job("number, GSM8K", list(_gsm8k(data / "gsm8k_model_solutions.jsonl")))
        yield Job("choice, MMLU-Pro", list(_mmlu_pro(data / "mmlu_pro_llama31_8b_1000.jsonl")), "mcq-regex")
        yield Job("math, MATH-500", list(_math_500(data / "math50x8_qwen_outputs.jsonl")), "math-verify")


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _gsm8k(path: Path) -> Iterator[Row]:
    for row in _lines(path):
        target = row["ground_truth"].rsplit("A:", 1)[1].strip()
        for model in ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification"):
            yield Row(row[model]["solution"], target, {"name": "number"})


def _mmlu_pro(path: Path) -> Iterator[Row]:
    for row in islice(_lines(path), 300):  # the peer's second pattern takes a minute over all 1,000
        yield Row(row["generated_text"], row["answer"], {"name": "choice", "choices": row["options"]})


def _math_500(path: Path) -> Iterator[Row]:
    for row in _lines(path):
        yield from (Row(reply, row["answer"], {"name": "math"}) for reply in row["responses"])


def measure(job: Job, rounds: int, peers: Path) -> dict[str, Any]:
    """CPU seconds per 10,000 of binding, reading and deciding, and the peer's on the same rows."""
    ours, theirs, right, undecided, version = [], [], 0, 0, ""
    _judge(job.rows[:200])
    for _ in range(rounds):
        used, right, undecided = _judge(job.rows)
        ours.append(10_000 * used / len(job.rows))
        peer = _peer(job, peers) if job.peer else None
        if peer:
            theirs.append(10_000 * peer["cpu_s"] / peer["rows"])
            version = f"{job.peer} {peer['version']}, {peer['right']} right"
    return {
        "verifier": job.name,
        "rows": len(job.rows),
        "mean_chars": round(sum(len(row.reply) for row in job.rows) / len(job.rows)),
        "right": right,
        "undecided": undecided,
        "s_per_10k": round(median(ours), 3),
        "peer": version or (f"{job.peer} not in {peers}" if job.peer else ""),
        "peer_s_per_10k": round(median(theirs), 3) if theirs else None,
        "ratio": round(median(ours) / median(theirs), 3) if theirs else None,
    }


def _judge(rows: list[Row]) -> tuple[float, int, int]:
    """CPU seconds, how many are right, how many are left undecided."""
    right = undecided = 0
    start = process_time()
    for row in rows:
        bound: Bound = bind_spec(row.spec, row.target)
        verdict = bound.decide(bound.read(Attempt(answer=row.reply)))
        undecided += isinstance(verdict, Undecided)
        right += not isinstance(verdict, Undecided) and verdict.passed is True
    return process_time() - start, right, undecided


def _peer(job: Job, python: Path) -> dict[str, Any] | None:
    """What the peer says of the same rows; None where its environment is not there or lacks it."""
    if not python.exists():
        return None
    rows = "".join(json.dumps({"reply": row.reply, "target": row.target}) + "\n" for row in job.rows)
    command = [str(python), str(HERE / "graders_peer.py"), job.peer]
    done = subprocess.run(command, input=rows, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{job.peer}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    """Print the table and write it as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=2000, help="made-up rows for each verifier")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", type=Path, default=python_of("graders"))
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    print(f"Python {platform.python_version()}, load {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")
    print(
        f"{'verifier':18} {'rows':>6} {'chars':>6} {'right':>6} {'undec':>5} {'s/10k':>7} {'peer':>7} {'ratio':>6} peer"
    )
    began, found = machine(), []
    for job in jobs(asked.n):
        one = measure(job, asked.rounds, asked.peers)
        found.append(one)
        peer_s, ratio = (f"{one[key]:.2f}" if one[key] is not None else "-" for key in ("peer_s_per_10k", "ratio"))
        print(
            f"{one['verifier']:18} {one['rows']:6} {one['mean_chars']:6} {one['right']:6} {one['undecided']:5}"
            f" {one['s_per_10k']:7.2f} {peer_s:>7} {ratio:>6} {one['peer']}",
            flush=True,
        )
    if asked.json:
        asked.json.write_text(
            json.dumps({"machine": began, "python": platform.python_version(), "jobs": found}, indent=2) + "\n", "utf-8"
        )


if __name__ == "__main__":
    main()
