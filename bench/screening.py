"""What screening a catalogue costs beside an independent engine's own screening, and whether both find the same.

    python bench/screening.py CATALOGUE --start 2024-11-01T00:00Z [--hours 24] [--threshold-km 5] [--json OUT.json]

Each side runs in a process of its own, one after the other, on objects that are loaded before the clock starts.
Ours is `screening.screen` (sieve astroz, judged by sgp4), the peer is `astroz.screen` with steps of 30 s. The figures
are CPU seconds, their ratio, and the peak of resident memory of each process. Then every event is looked up on the
other side. A disagreement is explained where it can be: pairs that we name apart, and distances that straddle the
threshold.
Not measured: loading the file, printing.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
import tempfile
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from time import process_time
from typing import Any

from measure import machine

from steelyard.families.orbital.catalogue import load_catalogue
from steelyard.families.orbital.screening import screen
from steelyard.families.orbital.sieves import omm_text

SAME_S = 1.0
STRADDLES_KM = 0.001
Event = tuple[int, int, float, float]  # catalogue numbers in order, minutes, km


def main() -> int:
    """Run both sides and write the comparison; 1 when an event has no counterpart and no explanation."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("catalogue", type=Path)
    parser.add_argument("--start", required=True, type=datetime.fromisoformat)
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--threshold-km", type=float, default=5.0)
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--side", choices=("ours", "peer"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        sys.stdout.write(json.dumps(_ours(arguments) if arguments.side == "ours" else _peer(arguments)))
        return 0
    began = machine()
    ours, peer = (_run(side) for side in ("ours", "peer"))
    found = _compared(ours.pop("events"), peer.pop("events"), ours.pop("apart"), arguments.threshold_km)
    report = {
        "machine": began,
        "catalogue": arguments.catalogue.name,
        "start": arguments.start.isoformat(),
        "hours": arguments.hours,
        "threshold_km": arguments.threshold_km,
        "python": platform.python_version(),
        "packages": {name: version(name) for name in ("sgp4", "astroz", "numpy")},
        "ours": ours,
        "peer": peer,
        "cpu_ratio": round(ours["cpu_s"] / peer["cpu_s"], 3),
        **found,
    }
    text = json.dumps(report, indent=2)
    print(text)
    if arguments.json:
        arguments.json.write_text(text + "\n", encoding="utf-8")
    return 1 if found["unexplained"] else 0


def _run(side: str) -> dict[str, Any]:
    with tempfile.TemporaryFile() as out:
        subprocess.run([sys.executable, __file__, *sys.argv[1:], "--side", side], stdout=out, check=True)
        out.seek(0)
        return dict(json.loads(out.read()))


def _cost(began: float) -> dict[str, Any]:
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"cpu_s": round(process_time() - began, 2), "peak_mib": round(peak_mib, 1)}


def _ours(arguments: argparse.Namespace) -> dict[str, Any]:
    objects = load_catalogue(arguments.catalogue).objects
    began = process_time()
    found = screen(objects, arguments.start, arguments.hours, arguments.threshold_km, sieve="astroz")
    return {
        **_cost(began),
        "objects": len(objects),
        "n_events": len(found.events),
        "n_apart": len(found.together),
        "failed": len(found.failed),
        "events": [(*sorted((e.a, e.b)), e.after_min, e.distance_km) for e in found.events],
        "apart": [sorted((t.nearest.a, t.nearest.b)) for t in found.together],
    }


def _peer(arguments: argparse.Namespace) -> dict[str, Any]:
    import astroz  # the peer alone needs it here

    objects = load_catalogue(arguments.catalogue).objects
    began = process_time()
    constellation = astroz.Constellation(omm_text(objects))
    found = astroz.screen(
        constellation,
        arguments.hours * 60,
        threshold=arguments.threshold_km,
        step=0.5,
        start_time=arguments.start,
    )
    cost = _cost(began)
    numbers = [objects[n - 1].norad_id for n in constellation.satnums]
    rows = zip(found.i, found.j, found.time, found.distance, strict=True)
    events = [(*sorted((numbers[i], numbers[j])), float(t), float(d)) for i, j, t, d in rows]
    return {**cost, "n_events": len(events), "events": events}


def _compared(ours: list[Event], peer: list[Event], apart: list[list[int]], threshold_km: float) -> dict[str, Any]:
    """How many events have a counterpart, the largest differences, and what the others are."""
    waiting: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for a, b, minute, distance_km in peer:
        waiting.setdefault((a, b), []).append((minute, distance_km))
    matched, most_km, most_s, alone = 0, 0.0, 0.0, []
    for a, b, minute, distance_km in ours:
        rest = waiting.get((a, b), [])
        near = min(rest, key=lambda one: abs(one[0] - minute), default=None)
        if near is None or abs(near[0] - minute) * 60 > SAME_S:
            alone.append((a, b, minute, distance_km))
            continue
        rest.remove(near)
        matched += 1
        most_km = max(most_km, abs(near[1] - distance_km))
        most_s = max(most_s, abs(near[0] - minute) * 60)
    named = {(a, b) for a, b in apart}
    left = [(a, b, *one) for (a, b), rest in waiting.items() for one in rest]
    others = [one for one in left if one[:2] not in named] + alone
    straddling = [one for one in others if abs(one[3] - threshold_km) < STRADDLES_KM]
    return {
        "matched": matched,
        "most_difference_km": round(most_km, 6),
        "most_difference_s": round(most_s, 4),
        "peer_events_of_pairs_named_apart": sum(one[:2] in named for one in left),
        "straddling_the_threshold": straddling,
        "unexplained": [one for one in others if one not in straddling],
    }


if __name__ == "__main__":
    sys.exit(main())
