"""The agent loop in its three protocols, with its limits and ends."""

from __future__ import annotations

import asyncio
import json
import threading
import time

import pytest

from steelyard.attempt import Diff, Message, ToolCall, Usage
from steelyard.errors import CallError
from steelyard.item import ask
from steelyard.ports import Sampling
from steelyard.solvers.protocols import system_text
from steelyard.solvers.settings import SolverSettings
from steelyard.solvers.tools import offered, run_tools


def call(name: str, **arguments: str) -> str:
    """One call as a model writes it."""
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def solve(item, model, kit, **settings):
    """One attempt with the tools solver."""
    return asyncio.run(run_tools(item, model, Sampling(), 1, SolverSettings(name="tools", **settings), kit))


def test_a_model_reads_writes_and_answers(job, kit, scripted):
    """Calls are run, their results go back, the answer ends the attempt, and the changes are kept as data. [O-23]"""
    model = scripted(
        "Let me look.\n" + call("read_file", path="notes.txt") + call("grep", pattern="RATE ="),
        call("write_file", path="notes.txt", content="seen"),
        "The rate is 0.08.",
    )
    attempt = solve(job, model, kit)
    assert (attempt.answer, attempt.stop) == ("The rate is 0.08.", "answer")
    assert [m.role for m in attempt.messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
        "tool",
        "assistant",
    ]
    assert attempt.messages[4].content == "shop/prices.py:1: RATE = 0.08"
    changes = attempt.workspace.changes
    assert {path: (c.kind, kit.store.get(c.sha256)) for path, c in changes.items()} == {
        "notes.txt": ("modified", b"seen")
    }
    assert len(attempt.outputs) == 3
    assert attempt.usage == Usage(30, 15, 45)
    assert kit.sessions[0].closed == 1


def test_tagged_results_go_back_as_one_user_message(job, kit, scripted):
    """Without native calls, the results of a turn are one user message with a block a call. [O-24]"""
    model = scripted(call("read_file", path="notes.txt") + call("list_files", path="shop"), "done")
    solve(job, model, kit)
    assert model.sent[1][-1] == Message(
        "user",
        "<tool_response>\n(empty)\n</tool_response>\n<tool_response>\nshop/prices.py\n</tool_response>",
    )
    assert model.settings[0]["tools"] == []
    assert all(f'"{tool}"' in model.sent[0][0].content for tool in job.tools)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("<tool_call>{broken</tool_call>", "error: tool call is not valid JSON: "),
        ('<tool_call>{"name": "x"}</tool_call>', 'error: a tool call must be a JSON object with exactly "name" and '),
        (call("read_flie", path="a"), "error: unknown tool "),
        ('<tool_call>{"name": "read_file", "arguments": []}</tool_call>', "error: arguments must be a JSON object"),
        (call("read_file", file="a"), "error: missing arguments ['path'], unknown arguments ['file']"),
        ('<tool_call>{"name": "read_file", "arguments": {"path": 1}}', "error: every argument must be a string"),
    ],
)
def test_a_bad_call_is_told_to_the_model_and_the_others_still_run(job, kit, scripted, text, error):
    """A bad block becomes that call's tool message. [O-24]"""
    model = scripted(call("list_files", path="shop") + text, "sorry")
    attempt = solve(job, model, kit)
    assert attempt.messages[3].content == "shop/prices.py"
    assert attempt.messages[4].content.startswith(error)
    assert attempt.answer == "sorry"


def test_turns_run_out(job, kit, scripted):
    """A model that never answers is stopped, and what it changed is kept. [O-22, O-25]"""
    model = scripted(*[call("write_file", path="notes.txt", content=str(i)) for i in range(3)])
    attempt = solve(job, model, kit, max_turns=3)
    assert (attempt.answer, attempt.stop, len(attempt.outputs)) == ("", "turns", 3)
    assert kit.store.get(attempt.workspace.changes["notes.txt"].sha256) == b"2"


def test_a_full_context_ends_the_attempt(job, kit, scripted):
    """The endpoint's refusal of a long conversation is an end, not an error. [O-22, O-25]"""
    model = scripted(call("list_files"), CallError("too long", kind="context"))
    attempt = solve(job, model, kit)
    assert (attempt.answer, attempt.stop, attempt.workspace.changes) == ("", "context", {})


def test_a_context_that_is_full_at_once_is_a_failed_call(job, kit, scripted):
    """A first prompt that does not fit was never an attempt, and no session was opened for it. [O-25]"""
    with pytest.raises(CallError):
        solve(job, scripted(CallError("too long", kind="context")), kit)
    assert kit.sessions == []


def test_any_other_failed_call_is_no_attempt(job, kit, scripted):
    """A time-out in the middle is an error rollout. [O-25]"""
    with pytest.raises(CallError):
        solve(job, scripted(call("list_files"), CallError("late", kind="timeout")), kit)
    assert kit.sessions[0].closed == 1


def test_the_context_limit_is_held_against_the_endpoints_count(job, kit, scripted, output):
    """The turn that crosses the limit is the last one. [O-22]"""
    attempt = solve(job, scripted(output(call("list_files"), tokens=(900, 124))), kit, context_tokens=1024)
    assert (attempt.stop, len(attempt.outputs)) == ("context", 1)


def test_a_reply_that_was_cut_ends_with_length(job, kit, scripted, output):
    """A cut reply without a call is not an answer in full. [O-25]"""
    attempt = solve(job, scripted(output("The rate is", "length")), kit)
    assert (attempt.answer, attempt.stop) == ("The rate is", "length")


def test_native_calls_use_the_endpoints_own_form(job, kit, scripted, output):
    """Native tools are offered as tools, calls get ids, results are tool messages. [O-23, O-24]"""
    calls = [ToolCall("read_file", '{"path": "notes.txt"}', "a1"), ToolCall("list_files", "")]
    model = scripted(output("", "tool_calls", calls), "done")
    attempt = solve(job, model, kit, protocol="native")
    assert [spec.name for spec in model.settings[0]["tools"]] == job.tools
    listed = Message("system", "# Files\nnotes.txt\nshop/prices.py\ntests/test_prices.py")
    assert model.sent[0] == [listed, Message("user", "Do it.")]
    assert [(m.role, m.tool_call_id, m.content[:9]) for m in model.sent[1][3:]] == [
        ("tool", "a1", "(empty)"),
        ("tool", "call_0_1", "notes.txt"),
    ]
    assert attempt.answer == "done"


@pytest.mark.parametrize(
    "arguments", ["{broken", '{}, "x": 1', '{}}</tool_call><tool_call>{"name": "list_files"', "[]"]
)
def test_broken_native_arguments_are_an_error_and_are_not_sent_back(job, kit, scripted, output, arguments):
    """A server would fail on its own broken call; the transcript keeps the model's words. [O-24]"""
    model = scripted(output("", "tool_calls", [ToolCall("list_files", arguments, "a")]), "done")
    attempt = solve(job, model, kit, protocol="native")
    assert attempt.messages[3].content.startswith("error: ")
    assert attempt.messages[2].tool_calls[0].arguments == arguments
    assert model.sent[1][2].tool_calls[0].arguments == "{}"


def test_json_actions_are_held_to_a_shape(job, kit, scripted):
    """Every reply is one object, a call or the answer, and the endpoint is given that schema. [O-24]"""
    model = scripted(
        '{"tool": "read_file", "arguments": {"path": "notes.txt"}}',
        "prose",
        '{"tool": "read_file"}',
        '{"tool": 3, "arguments": {}}',
        '{"answer": "it is empty"}',
    )
    attempt = solve(job, model, kit, protocol="json_action")
    results = [m.content for m in attempt.messages if m.role == "tool"]
    assert results[0] == "(empty)"
    assert results[1].startswith('error: a reply must be {"tool": name, "arguments": {...}} or {"answer": text}: ')
    assert results[2] == 'error: a reply must be {"tool": name, "arguments": {...}} or {"answer": text}'
    assert results[3].startswith("error: unknown tool")
    assert (attempt.answer, attempt.stop) == ("it is empty", "answer")
    first, later = (model.settings[i]["format"]["json_schema"]["schema"]["anyOf"] for i in (0, 1))
    assert [s["properties"]["tool"]["const"] for s in first] == job.tools  # nobody has looked yet
    assert later[:-1] == first
    assert later[-1]["required"] == ["answer"]


def test_a_system_message_lists_the_files_that_a_job_begins_with():
    """All of a small repository, the first of a large one, none where there are none. [O-22]"""
    files = [f"f{i:03}" for i in range(102)]
    assert "# Files\nf000\nf001" == system_text("native", None, {}, files[1::-1])
    assert "Be brief.\n\n# Files\nf000" == system_text("native", "Be brief.", {}, files[:1])
    assert str(system_text("native", None, {}, files)).endswith("f099\n... and 2 more, see list_files")
    assert None is system_text("native", None, {})


def test_an_item_without_tools_is_asked_once(question, kit, scripted):
    """A suite may mix questions and jobs; a question opens no sandbox. [O-23]"""
    attempt = solve(question, scripted("12"), kit)
    assert (attempt.answer, attempt.workspace, kit.sessions) == ("12", None, [])


def test_a_cancelled_attempt_closes_its_session(job, kit, scripted):
    """Nothing is left running when a run is stopped. [O-22]"""

    async def cancel() -> None:
        model = scripted(call("list_files"))
        reply, started = model.generate, asyncio.Event()

        async def forever(*args: object, **settings: object) -> object:
            if model.replies:
                return await reply(*args, **settings)
            started.set()
            return await asyncio.sleep(60)

        model.generate = forever
        task = asyncio.create_task(run_tools(job, model, Sampling(), 1, SolverSettings(name="tools"), kit))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert kit.sessions[0].closed == 1


def test_a_session_that_is_still_being_opened_is_closed_after_a_cancel(job, kit, scripted):
    """A cancel during opening leaves no sandbox behind. [O-22]"""
    opened = threading.Event()
    released = threading.Event()
    open_session = kit.session

    def slowly(*args: object) -> object:
        opened.set()
        released.wait(5)
        return open_session(*args)

    kit.session = slowly

    options = (Sampling(), 1, SolverSettings(name="tools"), kit)

    async def cancel() -> None:
        task = asyncio.create_task(run_tools(job, scripted(call("list_files")), *options))
        await asyncio.to_thread(opened.wait, 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        released.set()
        while not (kit.sessions and kit.sessions[0].closed):
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(cancel(), 10))
    assert kit.sessions[0].closed == 1


def test_a_conversation_that_only_talks_opens_no_session(job, kit, scripted):
    """Many conversations hold few sandboxes: one is opened at the first call. [O-22]"""
    attempt = solve(job, scripted("It is 0.08."), kit)
    assert (attempt.answer, attempt.workspace, kit.sessions) == ("It is 0.08.", Diff(), [])


def test_no_more_calls_run_at_once_than_there_are_slots(job, kit, scripted):
    """Six conversations over two slots: never more than two calls at a time. [O-22]"""
    running, most = 0, 0
    open_session = kit.session
    lock = threading.Lock()

    def watched(*args: object) -> object:
        session = open_session(*args)
        run = session.run

        def slowly(*args: object, **limits: object) -> object:
            nonlocal running, most
            with lock:
                running += 1
                most = max(most, running)
            time.sleep(0.05)
            with lock:
                running -= 1
            return run(*args, **limits)

        session.run = slowly
        return session

    kit.session = watched

    async def many() -> None:
        slots = asyncio.Semaphore(2)
        model = [scripted(call("run_tests"), "done") for _ in range(6)]
        settings = SolverSettings(name="tools")
        await asyncio.gather(*(run_tools(job, m, Sampling(), 1, settings, kit, slots) for m in model))

    asyncio.run(many())
    assert most <= 2
    assert len(kit.sessions) == 6


def test_a_run_can_offer_a_tool_that_the_item_does_not_have(question, kit, scripted):
    """The same items with and without tools: the offer belongs to the solver, not to the item's ask. [O-14]"""
    model = scripted(call("python", code="print(6 * 7)"), "42")
    attempt = solve(question, model, kit, offer=["python"])
    assert attempt.messages[3].content == "exit code 0\n42\n"
    assert offered(question, SolverSettings()) == question
    wanted = offered(question, SolverSettings(offer=["python"], packages=["sgp4"]))
    assert (wanted.tools, wanted.environment) == (["python"], {"packages": ["sgp4"]})
    assert ask(wanted) != ask(question)
