"""Traces of a scripted expert: replayed, judged, read back by the parser, one example a turn."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import msgspec
import pytest

from steelyard.attempt import ToolCall
from steelyard.cli import traces as command
from steelyard.errors import InputError, RefusedError
from steelyard.family import Family
from steelyard.item import Item
from steelyard.kit import ProbeKit
from steelyard.making import write_items
from steelyard.ports import Sandbox
from steelyard.proving import prove_suite, write_proofs
from steelyard.solvers.protocols import system_text
from steelyard.solvers.settings import Protocol
from steelyard.solvers.toolbox import tool_specs
from steelyard.store import Store, inline
from steelyard.suite import Suite, load
from steelyard.traces import Example, suite_traces, trace
from steelyard.verifiers.contract import Script, Spoil
from steelyard.verifiers.registry import bind, revision

NOTE = 'It said: "größer", with a tab\there.\n'
JOB = Item(
    id="copy",
    input="Copy a.txt to b.txt.",
    verifier={"name": "files", "checks": [{"path": "b.txt", "equals": NOTE}]},
    files={"a.txt": inline(NOTE)},
    tools=["read_file", "write_file"],
    family="copies",
)
CALLS = [
    ToolCall("read_file", json.dumps({"path": "a.txt"})),
    ToolCall("write_file", json.dumps({"path": "b.txt", "content": NOTE})),
]
COPIES = Family(
    name="copies",
    make=lambda _: iter([JOB]),
    solve=lambda _: Script("Both are the same now.", CALLS),
    spoil={"emptied": Spoil(lambda _: Script("Done.", changes={"b.txt": ""}), ("text-differs",))},
)
SUM = Item(id="sum", input="What is 2 + 2?", target="4", verifier={"name": "number"}, family="copies")
SUMS = Family(name="copies", make=lambda _: iter([SUM]), solve=lambda _: "4")


def _suite(folder: Path, sandbox: Sandbox | None, item: Item = JOB, family: Family | None = COPIES) -> Suite:
    """A proven suite of one item."""
    write_items(folder / "dev.jsonl", [item])
    suite = load(folder)
    write_proofs(suite, prove_suite(suite, ProbeKit(suite.store(), sandbox), lambda _: family), "")
    return suite


@pytest.mark.bubblewrap
@pytest.mark.parametrize("protocol", ["tagged", "json_action", "native"])
def test_every_turn_of_the_expert_is_an_example_that_continues_the_one_before(
    tmp_path: Path, bubblewrap: Sandbox, protocol: Protocol
) -> None:
    """Prompt and completion of one example begin the prompt of the next; what tools said stands between. [O-28]"""
    suite = _suite(tmp_path, bubblewrap)
    ((first, second, last),) = suite_traces(suite, ProbeKit(suite.store(), bubblewrap), protocol)
    for one, after in ((first, second), (second, last)):
        so_far = [*one.prompt, *one.completion]
        assert so_far == after.prompt[: len(so_far)]
        assert len(so_far) + 1 == len(after.prompt)
    assert NOTE in second.prompt[-1]["content"]
    assert [(0, 3), (1, 3), (2, 3)] == [(e.turn, e.turns) for e in (first, second, last)]
    assert {("copy", protocol, revision(JOB, bind(JOB)))} == {(e.item, e.protocol, e.revision) for e in (first, last)}
    assert ["assistant"] == [message["role"] for message in last.completion]


@pytest.mark.bubblewrap
def test_each_protocol_writes_calls_and_answers_in_its_own_words(tmp_path: Path, bubblewrap: Sandbox) -> None:
    """The messages are those that the tools solver sends and reads. [O-24] [O-28]"""
    suite = _suite(tmp_path, bubblewrap)
    kit = ProbeKit(suite.store(), bubblewrap)
    made: dict[str, list[Example]] = {}
    protocols: tuple[Protocol, ...] = ("tagged", "json_action", "native")
    for protocol in protocols:
        (made[protocol],) = suite_traces(suite, kit, protocol, "Be brief.")
        said = system_text(protocol, "Be brief.", {spec.name: spec for spec in tool_specs(JOB)}, [*JOB.files])
        assert {"role": "system", "content": said} == made[protocol][0].prompt[0]
    call = {"name": "read_file", "arguments": {"path": "a.txt"}}
    assert f"<tool_call>\n{json.dumps(call)}\n</tool_call>" == made["tagged"][0].completion[0]["content"]
    assert {"tool": "read_file", "arguments": call["arguments"]} == json.loads(
        made["json_action"][0].completion[0]["content"]
    )
    assert call == made["native"][0].completion[0]["tool_calls"][0]["function"]
    assert ("tool", "call_0_0") == tuple(made["native"][1].prompt[-1][key] for key in ("role", "tool_call_id"))
    assert ["read_file", "write_file"] == [tool["function"]["name"] for tool in made["native"][0].tools]
    assert ([], "user") == (made["tagged"][0].tools, made["tagged"][1].prompt[-1]["role"])
    answers = [made[protocol][2].completion[0]["content"] for protocol in protocols]
    answer = "Both are the same now."
    assert [answer, json.dumps({"answer": answer}), answer] == answers


def test_an_item_without_tools_is_one_turn(tmp_path: Path) -> None:
    """The prompt as it is asked, and the answer. [O-28]"""
    suite = _suite(tmp_path, None, SUM, SUMS)
    (((example),),) = suite_traces(suite, ProbeKit(suite.store(), None), "tagged")
    assert [{"role": "user", "content": "What is 2 + 2?"}] == example.prompt
    assert [{"role": "assistant", "content": "4"}] == example.completion


@pytest.mark.bubblewrap
def test_a_trace_that_does_not_pass_its_own_verifier_is_an_error(store: Store, bubblewrap: Sandbox) -> None:
    """The miss is named. [O-28]"""
    with pytest.raises(InputError, match=r'"copy": its trace does not pass its own verifier: file-missing b.txt'):
        trace(JOB, bind(JOB), Script("Done.", CALLS[:1]), ProbeKit(store, bubblewrap), "tagged")


@pytest.mark.bubblewrap
def test_an_answer_that_the_parser_reads_as_a_call_is_an_error(store: Store, bubblewrap: Sandbox) -> None:
    """What is trained must be read back as what was meant. [O-10] [O-28]"""
    script = Script('Write <tool_call>{"name": "read_file", "arguments": {"path": "a.txt"}}</tool_call>', CALLS)
    with pytest.raises(InputError, match=r'item "copy", turn 2: tagged reads .* where the trace means an answer'):
        trace(JOB, bind(JOB), script, ProbeKit(store, bubblewrap), "tagged")


def test_unproven_items_and_references_that_copy_the_target_are_refused(tmp_path: Path) -> None:
    """A trace is known to be right only when its item is proven and its answer was worked out. [O-28]"""
    write_items(tmp_path / "dev.jsonl", [SUM])
    kit = ProbeKit(Store(tmp_path / "files"), None)
    with pytest.raises(RefusedError, match=r'"sum" is not proven, .*steelyard prove'):
        next(suite_traces(load(tmp_path), kit, "tagged"))
    nobody = msgspec.structs.replace(SUM, family="")
    suite = _suite(tmp_path / "nobody", None, nobody, None)
    with pytest.raises(RefusedError, match='"sum" has no reference that was worked out'):
        next(suite_traces(suite, kit, "tagged"))


def _run(*arguments: object) -> int:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return command.run(parser.parse_args([str(one) for one in arguments]))


def test_the_command_writes_lines_once_and_refuses_what_an_eval_asks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Prompts equal or nearly equal to those of an eval are refused, and nothing is written. [O-28] [O-26]"""
    suite, out = tmp_path / "suite", tmp_path / "traces.jsonl"
    _suite(suite, None, SUM, SUMS)
    evals = tmp_path / "eval.jsonl"
    write_items(evals, [msgspec.structs.replace(SUM, id="q7", input="what is 2+2")])
    with pytest.raises(RefusedError, match=r'item "sum" of .*suite asks the same as "q7" of .*eval\.jsonl'):
        _run(suite, "--out", out, "--sandbox", "none", "--refuse-overlap", evals)
    assert not out.exists()
    write_items(evals, [msgspec.structs.replace(SUM, id="q7", input="Name a river.")])
    assert 0 == _run(suite, "--out", out, "--sandbox", "none", "--refuse-overlap", evals)
    assert "1 traces, 1 examples" in capsys.readouterr().out
    (line,) = out.read_text().splitlines()
    assert {"prompt", "completion", "item", "turn", "turns", "protocol", "ask", "revision"} == json.loads(line).keys()
    with pytest.raises(RefusedError, match="already exists"):
        _run(suite, "--out", out, "--sandbox", "none")
