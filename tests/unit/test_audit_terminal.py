"""Text of models never steers the terminal that shows it."""

from __future__ import annotations

import pytest

from steelyard.audit.terminal import cut, one_line, safe


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J\x1b[1mPASSED", r"\x1b[2J\x1b[1mPASSED"),
        ("a\rb", r"a\rb"),
        ("a\r\nb\tc", "a\nb\tc"),
        ("abc\u202edef", r"abc\u202edef"),
        ("\ud800", r"\ud800"),
        ("naïve 数 🙂", "naïve 数 🙂"),
    ],
)
def test_escapes_are_shown_and_not_obeyed(text: str, shown: str) -> None:
    """Control characters, direction overrides and lone surrogates are visible; other text stays."""
    assert shown == safe(text)


def test_long_text_keeps_its_two_ends() -> None:
    """An answer stands at the end more often than at the start."""
    assert "aaa\n[... 991 more characters ...]\naaaaaz" == cut("a" * 999 + "z", 9)
    assert "aaaaaaz" == cut("aaaaaaz", 7)


def test_one_line_has_no_line_break_and_an_end() -> None:
    """White space is folded and the rest cut."""
    assert "a b" == one_line("a\n\n  b")
    assert "aaaaaaa..." == one_line("a" * 1_000_000, 10)
