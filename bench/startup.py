"""What `--help` costs: CPU seconds and memory from the start of the process to its end.

    python bench/startup.py [--rounds 5]

Beside it: a bare interpreter, `inspect --help`, and lm-eval's `--help` and `ls tasks`. Byte code is there for all.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from measure import cost, in_turns, machine, python_of, save, table, version_of

STEELYARD = Path(sys.executable).parent / "steelyard"
ENV = {"PYTHONDONTWRITEBYTECODE": "", "HF_HUB_OFFLINE": "1"}


def main() -> None:
    """Run all sides in turns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    inspect, lm_eval = python_of("inspect"), python_of("lm-eval")
    commands: dict[str, list[str | Path]] = {
        "steelyard --help": [STEELYARD, "--help"],
        "python -c pass": [sys.executable, "-c", "pass"],
        "inspect --help": [inspect.parent / "inspect", "--help"],
        "lm-eval --help": [lm_eval.parent / "lm-eval", "--help"],
        "lm-eval ls tasks": [lm_eval.parent / "lm-eval", "ls", "tasks"],
    }
    there = {name: argv for name, argv in commands.items() if Path(argv[0]).exists()}
    began = machine()
    for argv in there.values():
        cost(argv, ENV)  # so that byte code is there
    found = in_turns({name: lambda argv=argv: cost(argv, ENV) for name, argv in there.items()}, asked.rounds)
    versions = {"inspect --help": version_of(inspect, "inspect-ai")}
    versions |= dict.fromkeys(("lm-eval --help", "lm-eval ls tasks"), version_of(lm_eval, "lm_eval"))
    missing: dict[str, list[object]] = {name: [] for name in commands if name not in there}
    rows = table(found | missing, "steelyard --help", versions)  # type: ignore[operator]
    save("startup", began, "start-up: --help", "<= 0.08 CPU-s, <= 25 MiB", rows)


if __name__ == "__main__":
    os.environ["PYTHONDONTWRITEBYTECODE"] = ""
    main()
