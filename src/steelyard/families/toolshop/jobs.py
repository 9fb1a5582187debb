"""The jobs in the shop: what is asked, how it is judged, and how an expert does it.

Source: seed 001. Three kinds so far: `answer` (a value that has to be looked up), `file` (an edit of a data file) and
`tests` (a planted bug). An expert reads before it writes, works the answer out from the files, and never knows the key.
Not covered: hidden tests, and the rest of the seed's forty jobs.
Easy to break: a job whose key stands in its prompt.
"""

from __future__ import annotations

import ast
import configparser
import json
from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

from steelyard.attempt import ToolCall
from steelyard.errors import InputError
from steelyard.families.toolshop.shop import fixture, ids_of_tests
from steelyard.item import Edit
from steelyard.verifiers.contract import Script

Kind = Literal["answer", "file", "tests"]
Workspace = Mapping[str, str]
SETTINGS, CUSTOMERS = "config/settings.ini", "data/customers.csv"
INVENTORY, PRICES = "shop/inventory.py", "shop/prices.py"
NEW_ROW = "108,Noor Haddad,Porto,2025"


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One job. `solve` gets the workspace as the model meets it; `target` is given as in the seed's list."""

    id: str
    kind: Kind
    prompt: str
    difficulty: str
    verifier: dict[str, Any]
    solve: Callable[[Workspace], Script]
    target: str = ""
    edits: list[Edit] = []


def _call(name: str, **arguments: str) -> ToolCall:
    return ToolCall(name, json.dumps(arguments))


def port(workspace: Workspace) -> str:
    """The server's port, read from the settings."""
    settings = configparser.ConfigParser()
    settings.read_string(workspace[SETTINGS])
    return settings["server"]["port"]


def stock(workspace: Workspace, name: str) -> str:
    """How many pieces of a thing the inventory starts with."""
    for node in ast.parse(workspace[INVENTORY]).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "STOCK":
            return str(ast.literal_eval(node.value)[name])
    raise InputError(f"{INVENTORY} has no STOCK")


def _solve_port(workspace: Workspace) -> Script:
    calls = [_call("list_files"), _call("read_file", path=SETTINGS)]
    return Script(f"The server listens on port {port(workspace)}.", calls)


def _solve_lamps(workspace: Workspace) -> Script:
    calls = [_call("grep", pattern="lamp", path="shop")]
    return Script(f"There are {stock(workspace, 'lamp')} lamps in stock.", calls)


def _solve_customer(workspace: Workspace) -> Script:
    text = f"{workspace[CUSTOMERS]}{NEW_ROW}\n"
    calls = [_call("read_file", path=CUSTOMERS), _call("write_file", path=CUSTOMERS, content=text)]
    return Script("The customer is in the file.", calls)


def _solve_discount(workspace: Workspace) -> Script:
    fixed = workspace[PRICES].replace(_DISCOUNT.new, _DISCOUNT.old)
    calls = [
        _call("run_tests"),
        _call("read_file", path=PRICES),
        _call("write_file", path=PRICES, content=fixed),
        _call("run_tests"),
    ]
    return Script("The discount divided by 10 and now divides by 100.", calls)


_DISCOUNT = Edit(PRICES, "percent / 100", "percent / 10")
_BUG = "A test of this shop fails. Find the bug in the package shop and repair it; leave the tests as they are."

JOBS = (
    Job(
        id="server-port",
        kind="answer",
        prompt="Which port does the shop's server listen on? Reply with one short sentence.",
        difficulty="easy",
        target="8042",
        verifier={"name": "token"},
        solve=_solve_port,
    ),
    Job(
        id="lamp-stock",
        kind="answer",
        prompt="How many lamps does the shop have in stock? Reply with one short sentence.",
        difficulty="easy",
        target="12",
        verifier={"name": "token"},
        solve=_solve_lamps,
    ),
    Job(
        id="add-customer",
        kind="file",
        prompt=(
            f"Add a customer to {CUSTOMERS}: id 108, name Noor Haddad, city Porto, customer since 2025. "
            "Keep all the other rows."
        ),
        difficulty="medium",
        verifier={
            "name": "files",
            "checks": [
                {"path": CUSTOMERS, "pattern": rf"^{NEW_ROW}\s*$", "keep": fixture()[CUSTOMERS].splitlines()},
            ],
        },
        solve=_solve_customer,
    ),
    Job(
        id="fix-discount",
        kind="tests",
        prompt=_BUG,
        difficulty="hard",
        verifier={"name": "tests", "ids": list(ids_of_tests()), "protect": ["tests/**"], "on_tamper": "fail"},
        edits=[_DISCOUNT],
        solve=_solve_discount,
    ),
)
"""Every job, in the order in which `make` yields them."""
