"""Attack 31: an answer that stands in the prompt or is guessed. It passes, but that no tool gave it is told apart."""

from __future__ import annotations

import asyncio
import json

import pytest

from steelyard.attempt import Attempt
from steelyard.grounded import is_grounded
from steelyard.item import Item
from steelyard.judging import judge
from steelyard.kit import ProbeKit
from steelyard.models.scripted import Scripted
from steelyard.ports import Sampling, Sandbox
from steelyard.solvers.settings import SolverSettings
from steelyard.solvers.tools import run_tools
from steelyard.store import Store, inline
from steelyard.verifiers.registry import bind


def _call(name: str, **arguments: str) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def _item(prompt: str) -> Item:
    return Item(
        id="lamps",
        input=prompt,
        target="4127",
        verifier={"name": "token"},
        files={"stock.csv": inline("lamp,4127\nchair,9\n"), "notes.txt": inline("nothing here\n")},
        tools=["read_file", "list_files", "grep", "write_file", "shell"],
    )


def _attempt(backend: Sandbox, store: Store, item: Item, *replies: str) -> Attempt:
    settings = SolverSettings(name="tools", protocol="tagged")
    return asyncio.run(run_tools(item, Scripted(list(replies)), Sampling(), 1, settings, ProbeKit(store, backend)))


ASKED = "How many lamps are in stock?"
UNGROUNDED = {
    "guessed": (ASKED, ["4127"]),
    "in the prompt": (f"{ASKED} Last week it was 4127.", ["Still 4127."]),
    "a look at something else": (ASKED, [_call("read_file", path="notes.txt"), "4127"]),
    "a call that was refused": (ASKED, [_call("read_file", path="4127"), "4127"]),
    "a call that could not be read": (ASKED, ["<tool_call>{4127}</tool_call>", "4127"]),
    "its own file": (
        ASKED,
        [_call("write_file", path="4127", content="4127"), _call("read_file", path="4127"), "4127"],
    ),
    "its own echo": (ASKED, [_call("shell", command="echo 4127"), "4127"]),
}


@pytest.mark.parametrize("way", UNGROUNDED)
def test_attack_31_a_right_answer_that_no_tool_gave_passes_and_is_not_grounded(
    way: str, backend: Sandbox, store: Store
) -> None:
    """Raw success counts it, grounded success does not. [O-16]"""
    prompt, replies = UNGROUNDED[way]
    item = _item(prompt)
    attempt = _attempt(backend, store, item, *replies)
    assert judge(item, bind(item), attempt).verdict.passed is True
    assert is_grounded(item, bind(item), attempt) is False


@pytest.mark.parametrize(
    "look",
    [_call("read_file", path="stock.csv"), _call("grep", pattern="lamp"), _call("shell", command="cat stock.csv")],
)
def test_attack_31_an_answer_that_a_tool_gave_is_grounded(look: str, backend: Sandbox, store: Store) -> None:
    """The honest way: a call whose result carries the answer, then the answer. [O-16]"""
    item = _item(ASKED)
    attempt = _attempt(backend, store, item, look, "There are 4127 lamps.")
    assert judge(item, bind(item), attempt).verdict.passed is True
    assert is_grounded(item, bind(item), attempt) is True
