"""A place in a list of tokens, and the numbers that start there: bases, mixed numbers, repeating decimals.

Easy to break: look-ahead is a fixed number of tokens, which keeps reading linear.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from steelyard.parsing.latex_tokens import Token
from steelyard.parsing.latex_tree import Node, Unreadable, num

MOST_DEPTH = 100


END = Token("end", "")


_MOST_NUMBER = 3000


class Cursor:
    """A place in a list of tokens; `inside` reads what an opening bracket starts."""

    def __init__(self, tokens: list[Token], inside: Callable[[Cursor], Node], matrix: Callable[[Cursor], Node]) -> None:
        self.tokens = tokens
        self.at = 0
        self.depth = 0
        self.bars = 0
        self.in_set = False
        self.inside = inside
        self.matrix = matrix

    @property
    def now(self) -> Token:
        return self.tokens[self.at] if self.at < len(self.tokens) else END

    @property
    def then(self) -> Token:
        return self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else END

    def take(self) -> Token:
        token = self.now
        self.at += 1
        return token

    def takes(self, kind: str, *texts: str) -> bool:
        """Step over a token of this kind and text, where it stands next."""
        token = self.now
        if token.kind == kind and (not texts or token.text in texts):
            self.at += 1
            return True
        return False

    def wants(self, kind: str, text: str) -> None:
        if not self.takes(kind, text):
            raise Unreadable(f"expected {text!r}, got {self.now.text or 'the end'!r}")


def read_number(cursor: Cursor) -> Node:
    """A number in any spelling, with the fraction or the base that belongs to it."""
    token = cursor.take()
    if cursor.now == Token("op", "_"):
        return _in_base(cursor, token.text)
    node = num(decimal(token.text))
    if token.text.isdigit():
        return _mixed(cursor, node)
    return node


def decimal(text: str) -> Fraction:
    """Digits with a dot and an exponent, exactly; raises Unreadable where it would be enormous."""
    body, _, exponent = text.lower().partition("e")
    if len(body) > _MOST_NUMBER or len(exponent.lstrip("+-0")) > 4 or abs(int(exponent or 0)) > _MOST_NUMBER:
        raise Unreadable("a number with too many digits")
    whole, _, decimals = body.partition(".")
    power = int(exponent or 0) - len(decimals)
    digits = int((whole + decimals) or "0")
    return Fraction(digits * 10**power) if power >= 0 else Fraction(digits, 10**-power)


def _mixed(cursor: Cursor, whole: Node) -> Node:
    """A whole number with a fraction of two whole numbers after it."""
    tokens, at = cursor.tokens, cursor.at
    if cursor.now[:2] == ("cmd", "frac"):
        found = _plain_fraction(tokens, at + 1)
        if found is None:
            return whole
        cursor.at = found[1]
        return num(_value(whole) + found[0])
    ahead = tokens[at : at + 3]
    shape = [(t.kind, t.text if t.kind == "op" else "") for t in ahead]
    if (
        shape == [("num", ""), ("op", "/"), ("num", "")]
        and ahead[0].spaced
        and ahead[0].text.isdigit()
        and ahead[2].text.isdigit()
    ):
        bottom_value = decimal(ahead[2].text)
        if bottom_value:
            cursor.at += 3
            return num(_value(whole) + decimal(ahead[0].text) / bottom_value)
    return whole


def _plain_fraction(tokens: list[Token], at: int) -> tuple[Fraction, int] | None:
    """The fraction of two whole numbers whose arguments start at `at`, and where they end; looks 6 tokens ahead."""
    digits: list[str] = []
    while len(digits) < 2:
        ahead = tokens[at : at + 3]
        if not ahead:
            return None
        if ahead[0].kind == "num" and ahead[0].text.isdigit() and len(ahead[0].text) <= 2 - len(digits):
            digits += list(ahead[0].text)
            at += 1
        elif [t.kind for t in ahead] == ["open", "num", "close"] and ahead[0].text == "{" and ahead[1].text.isdigit():
            digits.append(ahead[1].text)
            at += 3
        else:
            return None
    bottom = decimal(digits[1])
    return (decimal(digits[0]) / bottom, at) if bottom else None


def _value(node: Node) -> Fraction:
    return node.value if isinstance(node.value, Fraction) else Fraction(0)


_BASE_WORDS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12,
    "sixteen": 16, "bin": 2, "oct": 8, "dec": 10, "hex": 16,
}  # fmt: skip


def _in_base(cursor: Cursor, digits: str) -> Node:
    """A number whose subscript is its base."""
    cursor.wants("op", "_")
    grouped = cursor.now == Token("open", "{") and cursor.then.kind in ("num", "word", "letters")
    if grouped:
        cursor.take()
    token = cursor.take()
    if grouped:
        cursor.wants("close", "}")
    base = (
        _BASE_WORDS.get(token.text.strip().lower(), 0)
        if token.kind != "num"
        else int(token.text)
        if token.text.isdigit()
        else 0
    )
    if not 2 <= base <= 36 or not digits.isalnum() or len(digits) > 1000:
        raise Unreadable("a subscript that is no base")
    try:
        return num(int(digits, base))
    except ValueError:
        raise Unreadable(f"{digits[:20]} has digits that base {base} lacks") from None


def read_repeating(cursor: Cursor) -> Node:
    """A decimal whose last digits repeat for ever, exactly."""
    text = cursor.take().text
    groups = "".join(c if c.isdigit() or c == "." else " " for c in text).split()
    head = groups[0]
    cycle = "".join(groups[1:])
    whole, _, fixed = head.partition(".")
    if len(head) + len(cycle) > _MOST_NUMBER:
        raise Unreadable("a number with too many digits")
    scale = 10 ** len(fixed)
    value = Fraction(int((whole or "0") + fixed), scale) + Fraction(int(cycle), (10 ** len(cycle) - 1) * scale)
    return num(value)
