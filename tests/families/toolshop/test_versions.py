"""Two versions of the checks over one stored run: the flips are listed, and nothing else changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from steelyard.ports import Sandbox
from steelyard.suite import load

Cli = Callable[..., "CompletedProcess[str]"]


def _write(path: str, content: str) -> str:
    call = json.dumps({"name": "write_file", "arguments": {"path": path, "content": content}})
    return f"<tool_call>\n{call}\n</tool_call>"


@pytest.mark.bubblewrap
def test_a_run_under_the_first_checks_is_judged_under_the_second_and_exactly_three_rollouts_flip(
    cli: Cli, tmp_path: Path, bubblewrap: Sandbox
) -> None:
    """Seed 001's three: 123 for 12 lamps, and twice a customer file with only the new row. [O-18] [O-20] [O-21]"""
    for version in (1, 2):
        make = ("make", "toolshop", "--n", 40, "--set", "toolshop.kinds=answer,file")
        cli(*make, "--set", f"toolshop.checks={version}", "--out", f"v{version}")
    suite = load(tmp_path / "v1")
    asked = {item.id: item.prompt for item in suite.items}
    rows = suite.store().get(suite.items[0].files["data/customers.csv"]).decode()
    new = "108,Noor Haddad,Porto,2025\n"
    replies = [
        {"contains": asked["lamp-stock"], "seed": 0, "reply": "The number of lamps in stock is 123."},
        {"contains": asked["lamp-stock"], "seed": 1, "reply": "There are 12 lamps."},
        {"contains": asked["server-port"], "reply": "The server uses port 8080."},
        {"contains": asked["customer-city"], "reply": "In LISBON."},
        {"contains": asked["add-customer"], "seed": 2, "reply": _write("data/customers.csv", rows + new)},
        {"contains": asked["add-customer"], "reply": _write("data/customers.csv", "id,name,city,since\n" + new)},
        {"reply": "I do not know."},
    ]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in replies))
    run = ("run", "v1", "--model", "scripted:r.jsonl", "--rollouts", 3, "--seed", 0, "--out", "run", "--allow-unproven")
    cli(*run, "--solver", "tools")
    assert 2 + 3 + 3 == json.loads(cli("report", "run", "--json").stdout)["n_passed"]
    stored = (tmp_path / "run" / "rollouts.jsonl").read_bytes()
    judged = json.loads(cli("judge", "run", "--suite", "v2", "--sandbox", "none", "--json").stdout)
    flips = [(flip["item"], flip["rollout"], flip["before"], flip["after"]) for flip in judged["flips"]]
    assert [("add-customer", 0, True, False), ("add-customer", 1, True, False), ("lamp-stock", 0, True, False)] == flips
    assert stored == (tmp_path / "run" / "rollouts.jsonl").read_bytes()
    assert 2 == len(list((tmp_path / "run" / "judgements").glob("*.jsonl")))
    assert 2 + 3 + 3 - 3 == json.loads(cli("report", "run", "--json").stdout)["n_passed"]


def test_the_first_checks_are_refuted_by_their_own_wrong_attempts(cli: Cli) -> None:
    """What the seed found by reading transcripts, a proof says before the first run. [O-20]"""
    cli("make", "toolshop", "--n", 40, "--set", "toolshop.kinds=answer", "--set", "toolshop.checks=1", "--out", "v1")
    said = cli("prove", "v1", code=1).stdout
    assert "lamp-stock: spoil longer-number: should fail but passed" in said
