"""Grounded success: whether a tool result carried the answer that passed."""

from __future__ import annotations

import json

import pytest

from steelyard.attempt import Attempt, Message
from steelyard.grounded import is_grounded
from steelyard.item import Item
from steelyard.verifiers.registry import bind

LAMPS = Item(
    id="lamp-stock",
    input="How many lamps are there?",
    target="12",
    verifier={"name": "token"},
    tools=["read_file", "list_files", "grep", "write_file", "run_tests", "shell", "python"],
)


def call(name: str, **arguments: object) -> str:
    """One tagged call."""
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


def attempt(*turns: tuple[str, str]) -> Attempt:
    """Calls with their results, then the right answer."""
    messages = [Message("user", LAMPS.prompt)]
    for said, result in turns:
        messages += [Message("assistant", said), Message("tool", result)]
    return Attempt(answer="There are 12 lamps.", messages=[*messages, Message("assistant", "There are 12 lamps.")])


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ([(call("grep", pattern="lamp"), "shop/inventory.py:3: 'lamp': 12,")], True),
        ([], False),
        ([(call("grep", pattern="lamp"), "no matches")], False),
        ([(call("grep", pattern="lamp"), "'lamp': 120")], False),
        ([("<tool_call>{broken</tool_call>", "error: tool call is not valid JSON: 12")], False),
        ([(call("read_file", path="x"), "error: cannot read x: 12")], False),
        ([(call("write_file", path="x", content="12"), "wrote 12 characters to x")], False),
        ([(call("write_file", path="x", content="12"), "wrote"), (call("read_file", path="x"), "12")], False),
        ([(call("write_file", path="m", content="12"), "wrote"), (call("read_file", path="./m"), "12")], False),
        ([(call("write_file", path="m", content="12"), "wrote"), (call("read_file", path="/work/m"), "12")], False),
        ([(call("write_file", path="m", content="12"), "wrote"), (call("grep", pattern="1"), "m:1: 12")], False),
        ([(call("write_file", path="12", content=""), "wrote"), (call("list_files"), "12\nshop.py")], False),
        ([(call("write_file", path="m", content="12"), "wrote"), (call("grep", pattern="1"), "a:1: 12")], True),
        ([(call("run_tests"), "exit code 0\n............\nRan 12 tests\n\nOK")], False),
        ([(call("run_tests"), "exit code 1\nAssertionError: 11 != 12\nRan 3 tests")], True),
        ([(call("python", code="print(12)"), "exit code 0\n12\n")], False),
        ([(call("shell", command="echo 12"), "exit code 0\n12\n")], False),
        ([(call("shell", command="cat stock"), "exit code 0\nlamp 12\n")], True),
        ([(call("read_file", path="a"), "nothing"), (call("read_file", path="b"), "lamp = 12")], True),
    ],
)
def test_a_pass_is_grounded_when_a_result_carried_the_answer(turns: list[tuple[str, str]], expected: bool) -> None:
    """A guess, a refused call and the model's own words echoed back do not ground an answer. [O-16]"""
    assert expected is is_grounded(LAMPS, bind(LAMPS), attempt(*turns))


def test_a_workspace_verifier_has_no_grounding() -> None:
    """A pass that is made of changes needs no result that carries it. [O-16]"""
    job = Item(
        id="f", input="?", verifier={"name": "files", "checks": [{"path": "a", "pattern": "b"}]}, tools=["write_file"]
    )
    assert is_grounded(job, bind(job), attempt()) is None
    question = Item(id="q", input="?", target="12", verifier={"name": "token"})
    assert is_grounded(question, bind(question), attempt()) is None
