"""Fourteen jobs whose answer has to be looked up; two of them (counts) are `derived`: no tool prints the answer.

Source: seed 001's fourteen answers (REQUIREMENTS section 4) and its bad check: 123 passed for 12. Version 1 of the
check looks for the target anywhere in the answer, version 2 for a whole token.
Not covered: a guess that happens to be right; it passes, and whether it is grounded is a figure of its own.
Easy to break: a value that also stands in the prompt.
"""

from __future__ import annotations

import ast
import configparser
import csv
from collections.abc import Callable, Sequence

from steelyard.attempt import ToolCall
from steelyard.errors import InputError
from steelyard.families.toolshop.job import CUSTOMERS, INVENTORY, PACKAGE, README, SETTINGS, Job, Make, Workspace, call
from steelyard.verifiers.contract import Script

Value = Callable[[Workspace], str]
_LISTED = [call("list_files")]
_READ_SETTINGS = [call("list_files"), call("read_file", path=SETTINGS)]
_READ_CUSTOMERS = [call("list_files", path="data"), call("read_file", path=CUSTOMERS)]


def setting(section: str, name: str) -> Value:
    """Reads one value of the settings."""

    def value(workspace: Workspace) -> str:
        settings = configparser.ConfigParser()
        settings.read_string(workspace[SETTINGS])
        return settings[section][name]

    return value


def constant(path: str, name: str, key: str = "") -> Value:
    """Reads a module's constant, or one entry of a constant dictionary."""

    def value(workspace: Workspace) -> str:
        for node in ast.parse(workspace[path]).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
                found = ast.literal_eval(node.value)
                return str(found[key] if key else found)
        raise InputError(f"{path} has no {name}")

    return value


def customer(column: str, **known: str) -> Value:
    """Reads one column of the customer of whom another column is known."""
    ((name, wanted),) = known.items()

    def value(workspace: Workspace) -> str:
        return next(row[column] for row in _customers(workspace) if row[name] == wanted)

    return value


def _customers(workspace: Workspace) -> list[dict[str, str]]:
    return list(csv.DictReader(workspace[CUSTOMERS].splitlines()))


def _customer_count(workspace: Workspace) -> str:
    return str(len(_customers(workspace)))


def _test_files(workspace: Workspace) -> str:
    return str(sum(path.startswith("tests/test_") for path in workspace))


def _licence(workspace: Workspace) -> str:
    line = next(line for line in workspace[README].splitlines() if line.startswith("Licence:"))
    return line.partition(":")[2].strip()


def _stock_file(workspace: Workspace) -> str:
    return _file_with(workspace, "STOCK = ")


def _caller_of_prices(workspace: Workspace) -> str:
    return _file_with(workspace, "from shop.prices import").removesuffix(".py")


def _file_with(workspace: Workspace, text: str) -> str:
    """The name of the package's one file that holds a text."""
    (path,) = (path for path, content in workspace.items() if path.startswith("shop/") and text in content)
    return path.rpartition("/")[2]


def _answer(
    job_id: str,
    topic: str,
    prompt: str,
    target: str,
    value: Value,
    look: Sequence[ToolCall],
    says: str,
    guess: str,
    *,
    derived: bool = False,
    difficulty: str = "easy",
) -> Job:
    """A job with the expert's calls and sentence, and a plausible wrong value."""

    def said(form: str) -> Make:
        return lambda workspace: Script(form.format(value(workspace)))

    spoil = {"plausible-guess": lambda _: Script(says.format(guess))}
    if target.isdigit():
        spoil["longer-number"] = said("The number is {}3.")
        spoil["one-more"] = lambda workspace: Script(says.format(int(value(workspace)) + 1))
    return Job(
        id=job_id,
        kind="answer",
        topic=topic,
        prompt=f"{prompt} Reply with one short sentence.",
        difficulty=difficulty,
        verifier={"name": "token"},
        first_verifier={"name": "token", "rules": 1},
        target=target,
        derived=derived,
        solve=lambda workspace: Script(says.format(value(workspace)), list(look)),
        spoil=spoil,
        vary={
            "in-bold": said("I looked it up: it is **{}**, as the files say."),
            "alone": said("{}"),
            "quoted": said('The files say "{}".'),
        },
    )


ANSWERS = (
    _answer(
        "server-port",
        "server",
        "Which port does the shop's server listen on?",
        "8042",
        setting("server", "port"),
        _READ_SETTINGS,
        "The server listens on port {}.",
        "8080",
    ),
    _answer(
        "database-name",
        "database",
        "What is the name of the database that the shop is set up to use?",
        "shop_main",
        setting("database", "name"),
        _READ_SETTINGS,
        "The database is called {}.",
        "shop",
    ),
    _answer(
        "server-timeout",
        "server",
        "After how many seconds does a request to the server time out?",
        "45",
        setting("server", "timeout_s"),
        [call("grep", pattern="timeout", path="config")],
        "A request times out after {} seconds.",
        "30",
    ),
    _answer(
        "package-version",
        "version",
        "Which version of the package shop is this?",
        "1.4.2",
        constant(PACKAGE, "__version__"),
        [call("grep", pattern="__version__")],
        "This is version {}.",
        "1.4.20",
    ),
    _answer(
        "tax-rate",
        "tax",
        "Which tax rate do the shop's settings give, as a decimal number?",
        "0.08",
        setting("prices", "tax_rate"),
        _READ_SETTINGS,
        "The tax rate is {}.",
        "0.19",
    ),
    _answer(
        "customer-count",
        "customers",
        "How many customers are on file?",
        "7",
        _customer_count,
        _READ_CUSTOMERS,
        "There are {} customers on file.",
        "8",
        derived=True,
        difficulty="medium",
    ),
    _answer(
        "customer-city",
        "customers",
        "In which city does the customer Joao Esteves live?",
        "Lisbon",
        customer("city", name="Joao Esteves"),
        _READ_CUSTOMERS,
        "Joao Esteves lives in {}.",
        "Porto",
    ),
    _answer(
        "stock-file",
        "stock",
        "Which Python file holds the number of pieces on the shelf? Give its name with its ending.",
        "inventory.py",
        _stock_file,
        [call("list_files", path="shop"), call("grep", pattern="STOCK", path="shop")],
        "The pieces are counted in {}.",
        "stock.py",
    ),
    _answer(
        "low-stock",
        "low stock",
        "Below how many pieces does the shop call a thing running low when nobody says otherwise?",
        "5",
        constant(INVENTORY, "LOW_STOCK"),
        [call("grep", pattern="LOW_STOCK|running_low", path="shop")],
        "A thing is running low below {} pieces.",
        "10",
        difficulty="medium",
    ),
    _answer(
        "lamp-stock",
        "stock",
        "How many lamps does the shop have in stock?",
        "12",
        constant(INVENTORY, "STOCK", "lamp"),
        [call("grep", pattern="lamp", path="shop")],
        "There are {} lamps in stock.",
        "21",
    ),
    _answer(
        "caller-of-prices",
        "modules",
        "Which other module of the package shop imports a function of prices? Give its bare name, without the package.",
        "cart",
        _caller_of_prices,
        [call("grep", pattern="import", path="shop")],
        "It is the module {}.",
        "inventory",
        difficulty="medium",
    ),
    _answer(
        "test-files",
        "modules",
        "How many files of tests does the repository have?",
        "4",
        _test_files,
        [call("list_files", path="tests")],
        "The repository has {} files of tests.",
        "12",
        derived=True,
    ),
    _answer(
        "licence",
        "readme",
        "Under which licence is the shop published? Give the licence's short identifier.",
        "Apache-2.0",
        _licence,
        [*_LISTED, call("read_file", path=README)],
        "It is published under {}.",
        "MIT",
    ),
    _answer(
        "customer-name",
        "customers",
        "What is the full name of the customer with id 102?",
        "Rina Okafor",
        customer("name", id="102"),
        [call("grep", pattern="^102,", path="data")],
        "The customer is {}.",
        "Lea Fontaine",
    ),
)
"""In the order of the seed's list of answers."""
