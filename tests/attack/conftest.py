"""What every attack uses: each backend that works here, sessions of it, and the two phases of grading.

The attacks are numbered as in the table of attacks; each stands beside an honest control, because a sandbox or a
grader that refuses everything also looks safe. A backend that is not here is skipped with its own sentence, and in CI
that is a failure. A guarantee that a backend does not claim must be refused when it is required (`claimed`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from steelyard.attempt import Attempt
from steelyard.errors import SandboxUnavailableError
from steelyard.item import Item
from steelyard.judging import judge
from steelyard.kit import ProbeKit
from steelyard.ports import ExecResult, Guarantee, Limits, Sandbox, SandboxSpec, Session
from steelyard.store import Store, inline
from steelyard.verdict import Verdict
from steelyard.verifiers.registry import bind
from steelyard.verifiers.tests import RESIDUAL_RISK

BUG = "def discount(price, percent):\n    return price - price * percent / 10\n"
FIX = "def discount(price, percent):\n    return price - price * percent / 100\n"
PROJECT = {
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\n',
    "shop/__init__.py": '"""A small shop."""\n',
    "shop/prices.py": BUG,
    "shop/cart.py": "from shop.prices import discount\n\n\ndef total(prices, percent):\n"
    "    return sum(discount(price, percent) for price in prices)\n",
    "tests/__init__.py": "",
    "tests/test_prices.py": "import unittest\n\nfrom shop.prices import discount\n\n\n"
    "class TestPrices(unittest.TestCase):\n    def test_discount(self):\n"
    "        self.assertEqual(discount(100, 10), 90)\n\n    def test_zero(self):\n"
    "        self.assertEqual(discount(100, 0), 100)\n",
}
HIDDEN = (
    "import unittest\n\nfrom shop.cart import total\n\n\nclass TestCart(unittest.TestCase):\n"
    "    def test_total(self):\n        self.assertEqual(total([100, 50], 20), 120)\n"
)
IDS = (
    "tests.test_prices.TestPrices.test_discount",
    "tests.test_prices.TestPrices.test_zero",
    "tests.test_cart.TestCart.test_total",
)
AGENT = f"""
import os
from pathlib import Path
BUG, FIX = {BUG!r}, {FIX!r}
def put(path, text):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)
def fix(before="", after=""):
    put("shop/prices.py", before + FIX + after)
def keep_bug(before="", after=""):
    put("shop/prices.py", before + BUG + after)
"""


_KINDS = [
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
    pytest.param("docker", marks=pytest.mark.docker),
]


@pytest.fixture(scope="session", params=_KINDS)
def backend(request: pytest.FixtureRequest) -> Sandbox:
    """One backend of this machine; the tests run once for each."""
    found: Sandbox = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def opened(backend: Sandbox, store: Store) -> Iterator[Callable[..., Session]]:
    """Opens sessions and closes them after the test."""
    sessions: list[Session] = []

    def open_session(limits: Limits | None = None, **fields: Any) -> Session:
        sessions.append(backend.open(SandboxSpec(limits=limits or Limits(), **fields), store))
        return sessions[-1]

    yield open_session
    for session in sessions:
        session.close()


@pytest.fixture(scope="session")
def python() -> Callable[..., ExecResult]:
    """Run a Python program in a session."""

    def run(session: Session, code: str, *args: str, wall_s: float = 20) -> ExecResult:
        return session.run(["python3", "-c", code, *args], wall_s=wall_s)

    return run


@pytest.fixture
def claimed(backend: Sandbox, store: Store) -> Callable[[Guarantee], bool]:
    """Whether the backend claims a guarantee here; one that it does not claim is refused when it is required."""

    def ask(guarantee: Guarantee) -> bool:
        if guarantee in backend.caps:
            return True
        with pytest.raises(SandboxUnavailableError, match=guarantee):
            backend.open(SandboxSpec(require=(guarantee,)), store)
        return False

    return ask


@pytest.fixture
def two_phases(backend: Sandbox, store: Store) -> Callable[..., Verdict]:
    """The two phases: a program of the agent's changes an item's files in session A, session G judges what changed."""
    kit = ProbeKit(store, backend)

    def run(item: Item, program: str) -> Verdict:
        session = kit.session(item, kit.base(item))
        try:
            done = session.run(["python3", "-c", AGENT + program])
            assert ("exit", 0) == (done.why, done.rc), done.output
            diff = session.diff()
        finally:
            session.close()
        return judge(item, bind(item), Attempt(workspace=diff), kit=kit).verdict

    return run


@pytest.fixture
def graded(two_phases: Callable[..., Verdict]) -> Callable[..., Verdict]:
    """Both phases over the project.

    The program is Python with `put(path, text)`, `fix()` and `keep_bug()`, the last two with code before and after.
    """

    def run(program: str, **config: Any) -> Verdict:
        verifier = {"name": "tests", "ids": IDS, "hidden": {"tests/test_cart.py": inline(HIDDEN)}, **config}
        files = {path: inline(text) for path, text in PROJECT.items()}
        return two_phases(Item(id="shop", input="Repair it.", verifier=verifier, files=files), program)

    return run


@pytest.fixture
def outcomes(two_phases: Callable[..., Verdict]) -> Callable[..., dict[str, str]]:
    """Both phases over a project of many modules, each rewritten in its own way and tested by its own test.

    Returns, for each of `modules` (name -> what the agent makes of it), the miss of its test or "passed". Tests run in
    processes of their own, so that one module's way cannot be another's excuse.
    """

    def run(modules: dict[str, str]) -> dict[str, str]:
        names = {name: re.sub(r"\W", "_", name) for name in modules}
        files = {"shop/__init__.py": "", "tests/__init__.py": ""}
        for module in names.values():
            files |= {f"shop/{module}.py": BUG, f"tests/test_{module}.py": _TEST.format(module=module)}
        ids = {name: f"tests.test_{module}.T.test" for name, module in names.items()}
        verifier = {"name": "tests", "ids": list(ids.values()), "timeout_s": 60.0}
        environment = {"limits": {"wall_s": 90.0}}
        stored = {path: inline(text) for path, text in files.items()}
        item = Item(id="m", input="Repair.", verifier=verifier, files=stored, environment=environment)
        written = {f"shop/{names[name]}.py": text for name, text in modules.items()}
        verdict = two_phases(item, f"for path, text in {written!r}.items(): put(path, text)")
        missed = {miss.detail.split(":")[0]: miss.name for miss in verdict.misses}
        assert set(missed) <= set(ids.values()), verdict
        assert RESIDUAL_RISK == verdict.note if verdict.passed else missed
        return {name: missed.get(test_id, "passed") for name, test_id in ids.items()}

    return run


_TEST = (
    "import unittest\n\nfrom shop.{module} import discount\n\n\nclass T(unittest.TestCase):\n"
    "    def test(self):\n        self.assertEqual(discount(100, 10), 90)\n"
)


@pytest.fixture
def project(store: Store) -> dict[str, str]:
    """The project as a tree: path -> sha256."""
    return {path: store.put(text) for path, text in PROJECT.items()}
