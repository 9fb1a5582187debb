"""The chat solver, its settings, and what is read from a model's output."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from steelyard.attempt import Message, ModelOutput, Usage
from steelyard.errors import CallError, InputError
from steelyard.ports import Sampling
from steelyard.solvers.chat import chat
from steelyard.solvers.replies import stop_reason, total_usage
from steelyard.solvers.settings import SolverSettings, reply_sampling


def test_the_reply_is_the_answer_and_the_whole_output_is_kept(question, scripted, output):
    """Chat sends the item's messages once and keeps the transcript, the output and the usage. [T-6, O-15]"""
    model = scripted(output("There are 12."))
    attempt = asyncio.run(chat(question, model, Sampling(temperature=0.7), 3, SolverSettings(system="Be brief.")))
    asked = [Message("system", "Be brief."), Message("user", "How many?")]
    assert model.sent == [asked]
    assert model.settings[0]["seed"] == 3
    assert attempt.answer == "There are 12."
    assert attempt.messages == [*asked, Message("assistant", "There are 12.")]
    assert attempt.outputs == [output("There are 12.")]
    assert (attempt.stop, attempt.usage) == ("answer", Usage(10, 5, 15))


@pytest.mark.parametrize(
    ("finish", "stop"),
    [("stop", "answer"), ("length", "length"), ("max_tokens", "length"), ("content_filter", "content_filter")],
)
def test_a_finish_reason_says_why_the_attempt_ended(output, finish, stop):
    """A spent budget is not an answer. [S-9]"""
    assert stop_reason(output("x", finish)) == stop


def test_an_output_without_a_choice_is_an_empty_answer(question, scripted):
    """No text is an empty answer, never a crash. [S-4]"""
    attempt = asyncio.run(chat(question, scripted(ModelOutput("m")), Sampling(), None, SolverSettings()))
    assert (attempt.answer, attempt.stop, attempt.usage) == ("", "answer", None)


def test_a_failed_call_is_no_attempt(question, scripted):
    """Chat lets a failed call through, so that it becomes an error rollout. [O-25]"""
    with pytest.raises(CallError):
        asyncio.run(chat(question, scripted(CallError("late", kind="timeout")), Sampling(), 0, SolverSettings()))


def test_the_sampling_wins_over_the_solvers_token_limit():
    """The limit of a reply is the sampling's where it names one. [O-22]"""
    assert reply_sampling(Sampling(max_tokens=7), SolverSettings()).max_tokens == 7
    assert reply_sampling(Sampling(), SolverSettings()).max_tokens == 512


def test_every_limit_is_written_down_even_at_its_default():
    """A run's identity names all the limits, so a changed default is a changed run. [O-22, O-25]"""
    assert msgspec.to_builtins(SolverSettings()) == {
        "name": "chat",
        "system": None,
        "protocol": "tagged",
        "max_turns": 8,
        "max_new_tokens": 512,
        "context_tokens": 6144,
        "tool_timeout_s": 30.0,
        "output_chars": 4000,
        "offer": [],
        "packages": [],
    }


def test_a_limit_of_zero_is_refused():
    """Limits are checked at construction. [O-22]"""
    with pytest.raises(InputError, match="max_turns must be above 0, got 0"):
        SolverSettings(max_turns=0)


def test_usage_is_unknown_where_one_reply_was_not_counted(output):
    """A sum that lacks a reply would be too low. [O-25]"""
    assert total_usage([output("a"), output("b")]) == Usage(20, 10, 30)
    assert total_usage([output("a"), ModelOutput("m", usage=Usage(1))]) == Usage(11)
    assert total_usage([]) is None
