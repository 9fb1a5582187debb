"""Tool output: normal form, reserved tokens, limits."""

from __future__ import annotations

import pytest

from steelyard.sandbox.scratch import PREFIX
from steelyard.solvers.output import cut, normalised, reserved_token


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("Ran 12 tests in 0.003s\n\nOK", "Ran 12 tests in 0.000s\n\nOK"),
        ("Ran 1 test in 10.250s", "Ran 1 test in 0.000s"),
        ("=== 3 passed, 1 warning in 0.12s ===", "=== 3 passed, 1 warning in 0.00s ==="),
        ("<Cart object at 0x7f21a8d0>", "<Cart object at 0x0>"),
        ("\x1b[31mFAIL\x1b[0m", "FAIL"),
        ("    return a + b\n           ~~^~~\nTypeError", "    return a + b\nTypeError"),
        ("a ^ b stays, and so does 0x1f, and 1.5s", "a ^ b stays, and so does 0x1f, and 1.5s"),
    ],
)
def test_what_differs_between_equal_runs_is_replaced(text, same):
    """Timings, addresses, colours and version-dependent traceback marks do not reach the model. [O-27, O-30]"""
    assert normalised(text) == same


def test_a_temporary_folder_reads_as_work():
    """The path of the real workspace does not reach the model. [O-30]"""
    assert normalised(f'File "/tmp/{PREFIX}x_1/work/shop/a.py", line 3') == 'File "/work/shop/a.py", line 3'
    assert normalised("/home/me/work/a.py") == "/home/me/work/a.py"


def test_normalising_twice_changes_nothing_more():
    """Normal output is already normal. [O-30]"""
    once = normalised("Ran 2 tests in 0.5s\n  ^^^\n0xdeadbeef")
    assert normalised(once) == once


@pytest.mark.parametrize(
    "token", ["<|im_end|>", "<|endoftext|>", "<|eot_id|>", "</tool_call>", "<think>", "<end_of_turn>", "[/INST]"]
)
def test_the_words_of_a_chat_template_are_found(token):
    """A result with a reserved token could end the model's turn. [O-24]"""
    assert reserved_token(f"a {token} b") == token


@pytest.mark.parametrize("text", ["a < b | c > d", "<div>", "x <| y", "[INSTALL]", ""])
def test_ordinary_text_has_no_reserved_token(text):
    """Code and markup are shown as they are. [O-24]"""
    assert reserved_token(text) is None


def test_long_output_says_how_much_is_missing():
    """Output is cut at the limit, and the rest is counted. [O-22]"""
    assert cut("abcdef", 4) == "abcd\n[truncated 2 characters]"
    assert cut("abcd", 4) == "abcd"
