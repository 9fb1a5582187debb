"""Units after a value: where letters and words that follow an operand are a unit, and taking them in.

Easy to break: `5 m` has a unit, `5m` is a product; words of a sentence are neither.
"""

from __future__ import annotations

from steelyard.parsing.latex_cursor import END, Cursor
from steelyard.parsing.latex_tree import Node, Unreadable
from steelyard.parsing.math_units import UNIT_LETTERS, is_unit_text

_NOT_UNITS = frozenset((
    "or", "and", "not", "if", "when", "where", "is", "are", "was", "be", "times", "more", "less", "than", "plus",
    "minus", "to", "from", "but", "no", "none", "never", "wrong", "incorrect", "false", "only", "as", "because",
    "since", "so", "for", "with", "without", "until", "mod", "equals", "either", "neither", "both",
))  # fmt: skip


_MOST_UNIT_WORDS = 5


def is_unit_letter(cursor: Cursor) -> bool:
    """`5 m`: one letter, parted from the number before it, with nothing more of a term after it."""
    before = cursor.tokens[cursor.at - 1] if cursor.at else END
    return (
        before.kind in ("num", "deg")
        and cursor.now.text in UNIT_LETTERS
        and cursor.then.kind in ("end", "sep", "rel", "word")
    )


def is_unit_word(cursor: Cursor) -> bool:
    """Whether the letters that stand next are a unit of the operand before them."""
    before = cursor.tokens[cursor.at - 1] if cursor.at else END
    token = cursor.now
    if before.kind not in ("num", "close", "repeating") and not (token.spaced and len(token.text) > 2):
        return False
    return is_unit_text(token.text) or (token.spaced and len(token.text) > 2)


def with_unit(cursor: Cursor, node: Node) -> Node:
    """The node with the unit words that follow it, if any."""
    words: list[str] = []
    while len(words) <= 2 * _MOST_UNIT_WORDS:
        token = cursor.now
        if token.kind in ("word", "letters") or (token.kind == "letter" and (words or is_unit_letter(cursor))):
            if token.text.lower() in _NOT_UNITS or set(token.text.lower().split()) & _NOT_UNITS:
                raise Unreadable(f"the word {token.text[:20]!r} after a value")
            words.append(cursor.take().text)
        elif words and token.kind == "op" and token.text == "^" and cursor.then.kind in ("num", "open"):
            cursor.take()
            words.append(f"^{_power(cursor)}")
        elif (
            words
            and token.kind == "op"
            and token.text in ("/", "*")
            and cursor.then.kind in ("word", "letters", "letter", "sym")
        ):
            words.append(cursor.take().text)
            words.append(cursor.take().text)
        else:
            break
    if not words:
        return node
    if len(words) > 2 * _MOST_UNIT_WORDS or sum(len(w.split()) for w in words) > 2 * _MOST_UNIT_WORDS:
        raise Unreadable("a sentence after a value")
    return Node("unit", (node,), " ".join(words))


def _power(cursor: Cursor) -> str:
    """The digits of an exponent, in a group or not."""
    grouped = cursor.takes("open", "{")
    sign = "-" if cursor.takes("op", "-") else ""
    digits = cursor.take()
    if digits.kind != "num" or (grouped and not cursor.takes("close", "}")):
        raise Unreadable("a unit with a power that is no number")
    return sign + digits.text
