"""The kit: base trees with planted edits, and sessions with the item's setup and limits."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.canonical import sha256_hex
from steelyard.errors import InputError, SandboxFaultError, SandboxUnavailableError
from steelyard.item import Edit, Item
from steelyard.kit import ProbeKit, limits_of
from steelyard.ports import Limits, Sandbox
from steelyard.sandbox.process import ProcessSandbox
from steelyard.store import Store, inline

PRICES = "def cut(price, percent):\n    return price - price * percent / 100\n"


def _item(**fields: Any) -> Item:
    return Item(
        id="job", input="Fix it.", verifier={"name": "tests"}, files={"shop/prices.py": inline(PRICES)}, **fields
    )


@pytest.fixture
def kit(bubblewrap: Sandbox, store: Store) -> ProbeKit:
    """A kit over bubblewrap."""
    return ProbeKit(store, bubblewrap)


def test_the_base_is_the_files_with_the_edits_planted(store: Store) -> None:
    """One bug is planted by exact replacement, and contents are stored. [O-3]"""
    edit = Edit("shop/prices.py", "percent / 100", "percent / 10")
    tree = ProbeKit(store, None).base(_item(edits=[edit]))
    planted = PRICES.replace("percent / 100", "percent / 10")
    assert {"shop/prices.py": sha256_hex(planted.encode())} == tree
    assert planted.encode() == store.get(tree["shop/prices.py"])


def test_edits_are_planted_one_after_another(store: Store) -> None:
    """A second edit of a file sees the first. [O-3]"""
    edits = [Edit("shop/prices.py", "/ 100", "/ 10"), Edit("shop/prices.py", "/ 10\n", "/ 11\n")]
    tree = ProbeKit(store, None).base(_item(edits=edits))
    assert store.get(tree["shop/prices.py"]).endswith(b"percent / 11\n")


@pytest.mark.parametrize("old", ["nowhere", "price", ""])
def test_an_edit_must_occur_exactly_once(store: Store, old: str) -> None:
    """Text that is missing, repeated or empty is refused. [O-3]"""
    with pytest.raises(InputError, match=r'item "job": setup text must occur once in shop/prices\.py'):
        ProbeKit(store, None).base(_item(edits=[Edit("shop/prices.py", old, "x")]))


def test_an_edit_of_an_unknown_file_is_refused_with_the_nearest(store: Store) -> None:
    """The path is helped to. [O-3]"""
    with pytest.raises(InputError, match=r'did you mean "shop/prices\.py"'):
        ProbeKit(store, None).base(_item(edits=[Edit("shop/price.py", "a", "b")]))


def test_without_a_sandbox_there_is_no_session(store: Store) -> None:
    """The refusal names the item and the option. [O-11]"""
    kit = ProbeKit(store, None)
    assert "" == kit.sandbox_name
    with pytest.raises(SandboxUnavailableError, match=r'item "job" needs a sandbox.*--sandbox'):
        kit.session(_item(), {})


@pytest.mark.bubblewrap
def test_every_session_starts_from_the_base(kit: ProbeKit) -> None:
    """What one session does is not in the next. [O-1]"""
    item = _item()
    for _ in range(2):
        session = kit.session(item, kit.base(item))
        assert ["shop/prices.py"] == session.paths()
        session.run(["rm", "-r", "shop"])
        assert ["deleted"] == [change.kind for change in session.diff().changes.values()]
        session.close()
    assert kit.sandbox_name.startswith("bubblewrap ")


@pytest.mark.bubblewrap
def test_hidden_tests_are_mounted_beside_the_workspace(kit: ProbeKit) -> None:
    """The grading session sees them, the workspace does not hold them. [O-5]"""
    item = _item()
    session = kit.session(item, kit.base(item), {"/tests": {"test_cut.py": kit.store.put("secret")}})
    assert b"secret" == session.run(["cat", "/tests/test_cut.py"]).output
    assert ["shop/prices.py"] == session.paths()
    session.close()


@pytest.mark.bubblewrap
def test_setup_runs_on_the_untouched_base_before_the_changes_are_laid_over(kit: ProbeKit) -> None:
    """An agent's files cannot steer the setup of the session that grades them. [O-1]"""
    item = _item(setup="cp shop/prices.py seen && echo made > made")
    base = dict(kit.base(item))
    changed = {"new.txt": kit.store.put("new"), "made": kit.store.put("kept by the agent")}
    session = kit.session(item, changed)
    assert ["made", "new.txt", "seen"] == session.paths()
    assert PRICES.encode() == session.read("seen", 1000)
    assert b"kept by the agent" == session.read("made", 1000)
    session.close()
    assert base == kit.base(item)


@pytest.mark.bubblewrap
def test_a_setup_that_fails_is_a_fault_with_its_output(kit: ProbeKit) -> None:
    """It says nothing about the attempt. [O-1]"""
    item = _item(setup="echo no such tool; exit 4")
    with pytest.raises(SandboxFaultError, match=r'item "job": setup failed \(exit code 4\): no such tool'):
        kit.session(item, kit.base(item))


@pytest.mark.bubblewrap
def test_the_item_s_limits_bind_its_sessions(kit: ProbeKit) -> None:
    """Limits stand in the item's environment. [O-22]"""
    for limits, argv, why in [({"output_bytes": 100}, ["yes"], "output"), ({"wall_s": 0.3}, ["sleep", "9"], "timeout")]:
        session = kit.session(_item(environment={"limits": limits}), {})
        assert why == session.run(argv, wall_s=20).why
        session.close()


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"wall": 3}, 'unknown limit "wall"; did you mean "wall_s"'),
        ({"pids": "many"}, "limits: Expected `int`"),
        ({"pids": 0}, 'limit "pids" must be above 0, got 0'),
        ([], "limits must be an object"),
    ],
)
def test_limits_that_make_no_sense_are_refused(limits: Any, message: str) -> None:
    """The item and the nearest name are named. [O-22]"""
    with pytest.raises(InputError, match=f'item "job": {message}'):
        limits_of(_item(environment={"limits": limits}))
    assert Limits() == limits_of(_item())


def test_an_unsafe_backend_that_was_allowed_gives_sessions(store: Store) -> None:
    """The caller has said so; the name goes into the record. [O-22]"""
    kit = ProbeKit(store, ProcessSandbox(allow_unsafe=True))
    session = kit.session(_item(), kit.base(_item()))
    assert ["shop/prices.py"] == session.paths()
    session.close()
    assert "unsafe-process" == kit.sandbox_name
