"""Write docs/performance.md from bench/results/*.json, and nothing that is not in them.

Run: python scripts/write_performance.py [--check]

Every figure comes from a benchmark that was run; a benchmark without a result is listed as not run. What is said of a
goal that was missed stands in bench/misses.md, which is appended as it is.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "bench" / "results", ROOT / "docs" / "performance.md"
MISSES = ROOT / "bench" / "misses.md"

ORDER = (
    "startup", "runs", "memory", "client", "kill", "stored", "million", "verifiers", "humaneval", "sandboxes", "stats",
    "screening",
)  # fmt: skip

HEAD = """# Performance

Made by `python scripts/write_performance.py` from `bench/results/*.json`; each table names the command that measured \
it. Peers live in environments of their own, made by `bench/setup`.

How to read it: a ratio compares sides that took turns in one run on one machine, by CPU seconds; figures are medians. \
Absolute seconds are orientation only: the machines were shared, the load stands under each table, and CPU seconds of \
a busy machine are up to twice those of a quiet one. `times_ours` is how many times our CPU seconds a side took, \
`ratio` is ours over the peer's. A peer that was not run says so, and no figure is quoted from elsewhere.
"""


def normal(name: str, found: dict[str, Any]) -> dict[str, Any]:
    """A result in the one form, whichever benchmark wrote it."""
    if "rows" in found:
        return found
    old: dict[str, Any] = {"machine": found.get("machine", {}), "notes": []}
    if name == "verifiers":
        job = "verdicts on ordinary model outputs, CPU seconds per 10,000"
        goal = "math <= 5 s, the others < 2 s per 10,000, linear in length"
        return old | {"job": job, "goal": goal, "command": "python bench/graders.py", "rows": found["jobs"]}
    if name == "humaneval":
        job = f"HumanEval's 164 canonical solutions, {found['workers']} workers"
        goal = "<= 1.5 CPU-s in namespaces with a file view"
        rows = [{"times_ours" if key == "ratio" else key: row[key] for key in row} for row in found["judges"]]
        return old | {"job": job, "goal": goal, "command": "python bench/code_speed.py", "rows": rows}
    if name == "stats":
        job = f"statistics on {found['items']:,} items of {found['rollouts']} rollouts, {found['draws']:,} draws"
        rows = [{key: value for key, value in row.items() if key != "result"} for row in found["jobs"]]
        return old | {"job": job, "goal": "", "command": "python bench/stats_speed.py", "rows": rows}
    if name == "screening":
        size = f"{found['ours']['objects']:,} objects, {found['hours']:g} h, {found['threshold_km']:g} km"
        job = f"all-vs-all screening, {size}"
        rows = [
            {"side": "steelyard", "version": "", **found["ours"], "ratio": found["cpu_ratio"]},
            {"side": "astroz", "version": found["packages"]["astroz"], **found["peer"], "ratio": 1.0},
        ]
        notes = [f"{found['matched']:,} events matched, {len(found['unexplained'])} unexplained."]
        command = f"python bench/screening.py {found['catalogue']} --start {found['start']}"
        goal = "<= 1.2 times astroz, answers exactly as sgp4's"
        return old | {"job": job, "goal": goal, "command": command, "rows": rows, "notes": notes}
    raise SystemExit(f"bench/results/{name}.json: no form that this script knows")


def section(name: str) -> str:
    """One benchmark's heading, goal, table and circumstances."""
    path = RESULTS / f"{name}.json"
    if not path.exists():
        return f"## {name}\n\nNot run here: bench/results/{name}.json is missing.\n"
    found = normal(name, json.loads(path.read_text(encoding="utf-8")))
    parts = [f"## {found['job'][0].upper()}{found['job'][1:]}"]
    if found["goal"]:
        parts.append(f"Goal: {found['goal']}.")
    parts.append(table(found["rows"]))
    parts += found["notes"]
    parts.append(f"`{found['command']}`{circumstances(found['machine'])}")
    return "\n\n".join(parts) + "\n"


def circumstances(machine: dict[str, Any]) -> str:
    """The machine and its load in words."""
    if not machine:
        return ""
    load = f"{machine['load_before']} before" + (f", {machine['load_after']} after" if "load_after" in machine else "")
    return (
        f" on {machine['cores']} cores of {machine['cpu']}, {machine['memory_gib']} GiB, {machine['system']}, "
        f"Python {machine['python']}; load {load}."
    )


def table(rows: list[dict[str, Any]]) -> str:
    """Rows as a Markdown table; columns in the order in which they appear."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    columns = [column for column in columns if any(row.get(column) not in ("", None) for row in rows)]
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(_cell(row.get(column)) for column in columns) + " |" for row in rows]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:g}"
    return f"{value:,}" if isinstance(value, int) else str(value).replace("|", "\\|")


def page() -> str:
    """The whole page."""
    misses = MISSES.read_text(encoding="utf-8") if MISSES.exists() else ""
    return "\n".join([HEAD, *map(section, ORDER), misses]).rstrip() + "\n"


def main(arguments: list[str]) -> int:
    """Write the page, or with --check say whether it is out of date."""
    text = page()
    stale = not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text
    if "--check" not in arguments:
        PAGE.write_text(text, encoding="utf-8")
    print("stale" if stale and "--check" in arguments else "current" if not stale else "written")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
