"""Scripted attempts: calls through the real parser and tools, changes as data."""

from __future__ import annotations

import pytest

from steelyard.attempt import Attempt, Change, Diff, ToolCall
from steelyard.canonical import sha256_hex
from steelyard.errors import InputError
from steelyard.solvers.replay import replay
from steelyard.verifiers.contract import Script


def test_an_answer_alone_needs_nothing(question):
    """A script for a question is its answer. [O-7]"""
    assert replay(question, Script("12")) == Attempt(answer="12", stop="answer")


def test_calls_go_through_the_parser_and_the_tools(job, kit):
    """Reference calls are written as a model writes them, run for real, and leave their changes as data. [O-7, O-10]"""
    calls = [
        ToolCall("read_file", '{"path": "shop/prices.py"}'),
        ToolCall("write_file", '{"path": "notes.txt", "content": "</tool_call> is text here"}'),
    ]
    attempt = replay(job, Script("0.08", calls), kit)
    assert [m.role for m in attempt.messages] == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    assert "RATE = 0.08" in attempt.messages[2].content
    assert attempt.messages[-1].content == attempt.answer == "0.08"
    assert list(attempt.workspace.changes) == ["notes.txt"]
    assert kit.sessions[0].closed == 1


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (ToolCall("read_file", '{"path": "nowhere.txt"}'), "call of read_file failed: error: cannot read nowhere.txt"),
        (ToolCall("raed_file", '{"path": "a"}'), "call of raed_file must parse to one valid call"),
        (ToolCall("read_file", "[1]"), "call of read_file has arguments that are not a JSON object"),
    ],
)
def test_a_script_whose_call_does_not_work_is_refused(job, kit, call, error):
    """A reference call must parse to one valid call and must not error. [O-10]"""
    with pytest.raises(InputError, match=error):
        replay(job, Script("", [call]), kit)
    assert kit.sessions[0].closed == 1


def test_changes_are_laid_over_without_a_session(job, kit):
    """Wrong attempts at workspace jobs are data; no sandbox is opened for them. [O-7]"""
    attempt = replay(job, Script("x", changes={"notes.txt": "n", "new.txt": b"1", "shop/prices.py": None}), kit)
    assert attempt.workspace == Diff(
        {
            "new.txt": Change("added", sha256_hex(b"1"), 1),
            "notes.txt": Change("modified", sha256_hex(b"n"), 1),
            "shop/prices.py": Change("deleted"),
        }
    )
    assert kit.store.get(sha256_hex(b"n")) == b"n"
    assert kit.sessions == []


def test_a_change_to_the_same_content_is_no_change(job, kit):
    """A Diff lists what differs. [O-7]"""
    assert replay(job, Script("x", changes={"notes.txt": ""}), kit).workspace == Diff()


def test_deleting_what_is_not_there_is_refused(job, kit):
    """A script that deletes a file of another item is wrong. [O-10]"""
    with pytest.raises(InputError, match=r'deletes "gone\.txt"'):
        replay(job, Script("x", changes={"gone.txt": None}), kit)


def test_a_workspace_item_without_changes_has_a_pristine_workspace(job, kit):
    """An answer without any work is graded on the untouched repository. [O-7]"""
    assert replay(job, Script("x"), kit).workspace == Diff()


def test_calls_and_changes_can_go_together(job, kit):
    """Changes lie over what the calls left. [O-7]"""
    calls = [ToolCall("write_file", '{"path": "a.txt", "content": "1"}')]
    attempt = replay(job, Script("x", calls, {"a.txt": "2", "b.txt": "3"}), kit)
    assert {path: kit.store.get(c.sha256) for path, c in attempt.workspace.changes.items()} == {
        "a.txt": b"2",
        "b.txt": b"3",
    }
