"""A model that may run Python with sgp4 and Skyfield in the sandbox, beside the same model without it.

The model is a real server on loopback: without tools it guesses; with them it writes a program from the prompt alone
and answers with what the program printed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from endpoint_server import EndpointServer, Step, reply
from steelyard.ports import Sandbox

pytestmark = [pytest.mark.bubblewrap, pytest.mark.slow]
for _package in ("sgp4", "skyfield"):
    pytest.importorskip(_package, reason="needs the extra orbital")

Cli = Callable[..., "CompletedProcess[str]"]
EACH = 3
PACKAGES = ("--offer", "python", "--package", "sgp4", "--package", "skyfield")
GUESSES = {
    "miss_distance_km": '{"miss_distance_km": 2.5, "tca": "2026-07-01T12:00:00.0Z"}',
    "rise": '{"rise": "2026-07-01T12:00:00.0Z", "max_elevation_deg": 45.0, "count": 4}',
}
ENCOUNTER = """
import io, json
from datetime import datetime, timedelta
import numpy as np
from sgp4 import omm
from sgp4.api import Satrec, SatrecArray, jday

def read():
    lines = [line for line in SETS.splitlines() if line[:2] in ("1 ", "2 ")]
    if lines:
        return [Satrec.twoline2rv(*lines[k:k + 2]) for k in range(0, len(lines), 2)]
    found = []
    for fields in omm.parse_csv(io.StringIO(SETS)):
        found.append(Satrec())
        omm.initialize(found[-1], fields)
    return found

start, end = (datetime.fromisoformat(t) for t in SPAN)
day, fraction = jday(start.year, start.month, start.day, start.hour, start.minute, start.second)
both = SatrecArray(read())

def distance(seconds):
    error, position, _ = both.sgp4(np.full(len(seconds), day), fraction + seconds / 86400)
    assert not error.any()
    return np.linalg.norm(position[1] - position[0], axis=1)

width, at = 10.0, np.arange(0.0, (end - start).total_seconds() + 1, 10.0)
while width > 1e-4:
    least = at[distance(at).argmin()]
    at, width = np.linspace(least - width, least + width, 41), width / 20
tca = (start + timedelta(seconds=float(least))).isoformat(timespec="milliseconds") + "Z"
print(json.dumps({"miss_distance_km": round(float(distance(at).min()), 4), "tca": tca}))
"""
PASSES = """
import json
from datetime import datetime, timezone
from skyfield.api import EarthSatellite, load, wgs84

ts = load.timescale(builtin=True)
line_1, line_2 = [line for line in SETS.splitlines() if line[:2] in ("1 ", "2 ")]
object_, station = EarthSatellite(line_1, line_2, ts=ts), wgs84.latlon(*SITE[:2], elevation_m=SITE[2])
start, end = (ts.from_datetime(datetime.fromisoformat(t).replace(tzinfo=timezone.utc)) for t in SPAN)
times, events = object_.find_events(station, start, end, altitude_degrees=MASK)
passes = []
for time, event in zip(times, events):
    if event == 0:
        passes.append([time, 0.0])
    if event == 1:
        passes[-1][1] = max(passes[-1][1], (object_ - station).at(time).altaz()[0].degrees)
rise, height = max(passes, key=lambda p: p[1]) if HIGHEST else passes[0]
print(json.dumps({"rise": rise.utc_iso(places=1), "max_elevation_deg": round(height, 3), "count": len(passes)}))
"""


def _program(prompt: str) -> str:
    """What a model that can program writes: the numbers of the prompt, then the method."""
    span = re.search(r"from (\S+)Z to (\S+)Z", prompt)
    assert span
    given = f"SETS = {prompt!r}\nSPAN = {span.groups()!r}\n"
    if "miss_distance_km" in prompt:
        table = re.search(r"^OBJECT_NAME,.*\n(?:.+\n)+", prompt, re.MULTILINE)
        return (f"SETS = {table[0]!r}\nSPAN = {span.groups()!r}\n" if table else given) + ENCOUNTER
    site = re.search(r"latitude (\S+) deg.*longitude (\S+) deg.*height (\S+) m", prompt)
    mask = re.search(r"Minimum elevation: (\d+) deg", prompt)
    assert site
    assert mask
    numbers = [float(x) for x in site.groups()]
    return given + f"SITE, MASK, HIGHEST = {numbers!r}, {mask[1]}, {'Of all passes' in prompt}\n" + PASSES


def _model(body: dict[str, Any]) -> Step:
    """A program when Python is on offer, what it printed when it has run, a guess when there are no tools."""
    messages = body["messages"]
    last = messages[-1]["content"]
    if "<tool_response>" in last:
        printed = [line for line in last.splitlines() if line.startswith("{")]
        return reply(f"The program gives:\n{printed[-1] if printed else last}")
    if "<tool_call>" in messages[0]["content"]:
        call = {"name": "python", "arguments": {"code": _program(last)}}
        return reply(f"I compute it.\n<tool_call>\n{json.dumps(call)}\n</tool_call>")
    return reply(next(guess for field, guess in GUESSES.items() if field in last))


def test_the_same_items_with_and_without_a_python_tool(cli: Cli, tmp_path: Path, bubblewrap: Sandbox) -> None:
    """A program with sgp4 and Skyfield answers what a guess cannot; the two runs are told apart. [T-38, O-16]"""
    few = ("--set", "orbital-encounter.objects=1500")
    cli("make", "orbital-encounter", "orbital-pass", "--n", EACH, *few, "--out", "suite")
    assert f"{2 * EACH} proven" in cli("prove", "suite").stdout
    with EndpointServer(_model) as server:
        asked = ("run", "suite", "--model", "served-model", "--base-url", f"{server.url}/v1")
        cli(*asked, "--out", "guessed")
        cli(*asked, "--solver", "tools", *PACKAGES, "--out", "computed")
    guessed, computed = (json.loads(cli("report", run, "--json").stdout) for run in ("guessed", "computed"))
    assert (0.0, 1.0) == (guessed["score"], computed["score"])
    assert "agent" not in guessed
    agent = computed["agent"]
    assert (2 * EACH, 2 * EACH, 1.0) == (agent["n_attempts"], agent["calls"], agent["valid_call_rate"])
    assert {"answer": 2 * EACH} == agent["stops"]
    assert (2 * EACH, 1.0) == (agent["grounding"]["grounded"], agent["grounding"]["grounded_success"])
    refused = cli("compare", "guessed", "computed", code=2).stderr
    allowed = re.findall(r"--allow (\w+)", refused)
    assert "solver is 'chat' in guessed, 'tools' in computed" in refused
    assert {"solver", "offer", "packages", "sandbox"} == set(allowed)
    words = [word for name in allowed for word in ("--allow", name)]
    compared = json.loads(cli("compare", "guessed", "computed", *words, "--json").stdout)
    assert (0.0, 1.0, 2 * EACH) == (compared["a"]["rate"], compared["b"]["rate"], compared["n_items"])
    assert {"solver": ["chat", "tools"], "offer": [[], ["python"]]}.items() <= compared["allowed"].items()
