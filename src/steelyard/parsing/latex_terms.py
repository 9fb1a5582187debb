r"""Terms of mathematical notation: what stands between relation signs and separators, by recursive descent.

Precedence, loosest first: set operations, sums, products (written or implied, from left to right), signs, powers,
and what follows an operand (`!`, `%`, a degree sign, a subscript, a unit). `2\frac{3}{4}` is a mixed number;
`2^10` is 1024 though LaTeX would print 2 to the 1, then 0; `\sin 2x` takes the whole product.
Not covered: see `latex_tree`.
Easy to break: the depth limit, which keeps hostile nesting from the interpreter's stack, and one token of look-ahead,
which keeps reading linear.
"""

from __future__ import annotations

from collections.abc import Callable

from steelyard.parsing.latex_cursor import MOST_DEPTH, Cursor, decimal, read_number, read_repeating
from steelyard.parsing.latex_tokens import Token
from steelyard.parsing.latex_tree import Node, Unreadable, add, const, fn, mul, neg, num, sym
from steelyard.parsing.latex_units import is_unit_letter, is_unit_word, with_unit

_STARTS = frozenset(["num", "repeating", "sym", "letter", "letters", "const", "func", "cmd", "open", "begin"])
_ALIASES = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arsinh", "arcsinh": "arsinh", "acosh": "arcosh",
    "arccosh": "arcosh", "atanh": "artanh", "arctanh": "artanh", "sgn": "sign",
}  # fmt: skip
_INVERSE = {
    "sin": "arcsin", "cos": "arccos", "tan": "arctan", "cot": "arccot", "sec": "arcsec", "csc": "arccsc",
    "sinh": "arsinh", "cosh": "arcosh", "tanh": "artanh",
}  # fmt: skip
_TRIGONOMETRIC = frozenset(("sin", "cos", "tan", "cot", "sec", "csc"))
_LONGEST_PRODUCT = 3
_PROSE = frozenset((
    "so", "the", "is", "be", "to", "of", "it", "we", "at", "in", "on", "by", "as", "an", "my", "if", "then", "thus",
    "this", "that", "for", "you", "get", "let", "are", "was", "has", "have", "can", "not", "no", "yes", "when",
    "with", "from", "her", "his", "our", "say", "one", "two", "ten", "now", "all", "any", "but", "how", "its", "may",
    "new", "old", "out", "see", "way", "who", "will", "also", "only", "such", "than", "them", "they", "very", "what",
    "your", "were", "been", "does", "each", "find", "form", "gets", "give", "hence", "just", "like", "make", "more",
    "most", "must", "need", "note", "over", "same", "some", "take", "true", "used", "uses", "want", "well", "here",
    "both", "sum", "got", "try", "put", "us", "he", "she", "do", "me", "up", "go", "ok", "six",
))  # fmt: skip


def term(cursor: Cursor) -> Node:
    """A sum, or sets joined by set operations."""
    node = _sum(cursor)
    while cursor.now.kind == "op" and cursor.now.text in ("cup", "cap", "minus"):
        name = {"cup": "union", "cap": "inter", "minus": "minus"}[cursor.take().text]
        node = Node(name, (node, _sum(cursor)))
    return node


def _sum(cursor: Cursor) -> Node:
    cursor.depth += 1
    if cursor.depth > MOST_DEPTH:
        raise Unreadable(f"nested more than {MOST_DEPTH} deep")
    parts = [_product(cursor)]
    while cursor.now.kind == "op" and cursor.now.text in ("+", "-", "pm", "mp"):
        sign = cursor.take().text
        part = _product(cursor)
        parts.append(part if sign == "+" else neg(part) if sign == "-" else Node(sign, (part,)))
    cursor.depth -= 1
    return with_unit(cursor, add(*parts))


def _product(cursor: Cursor) -> Node:
    node = _signed(cursor)
    while True:
        token = cursor.now
        if token.kind == "op" and token.text in ("*", "/"):
            cursor.take()
            right = _signed(cursor)
            node = Node("div", (node, right)) if token.text == "/" else _times(node, right)
        elif token.kind == "op" and token.text in ("over", "choose"):
            cursor.take()
            right = _product(cursor)
            node = Node("div", (node, right)) if token.text == "over" else fn("binom", node, right)
        elif token.kind == "scale":
            node = mul(node, num(int(cursor.take().text)))
        elif _starts_factor(cursor):
            if token.kind in ("num", "repeating") and cursor.tokens[cursor.at - 1][:2] != ("close", ")"):
                raise Unreadable("two operands without an operator")
            node = _times(node, _power(cursor))
        else:
            return node


def _times(left: Node, right: Node) -> Node:
    return Node("mul", (*left.args, right)) if left.op == "mul" else mul(left, right)


def _starts_factor(cursor: Cursor) -> bool:
    token = cursor.now
    if token.kind == "bar":
        return cursor.bars == 0 and token.text == "|"
    if token.kind == "letter" and is_unit_letter(cursor):
        return False
    if token.kind == "letters" and is_unit_word(cursor):
        return False
    return token.kind in _STARTS


def _signed(cursor: Cursor) -> Node:
    signs = 0
    while cursor.now.kind == "op" and cursor.now.text in ("+", "-"):
        signs += cursor.take().text == "-"
    if cursor.now.kind == "op" and cursor.now.text in ("pm", "mp"):
        sign = cursor.take().text
        node = Node(sign, (_power(cursor),))
        while _starts_factor(cursor):  # the sign covers the whole product
            node = Node(sign, (_times(node.args[0], _power(cursor)),))
    else:
        node = _power(cursor)
    return neg(node) if signs % 2 else node


def _power(cursor: Cursor) -> Node:
    node = _postfix(cursor, _operand(cursor))
    if cursor.now.kind == "op" and cursor.now.text == "^":
        cursor.take()
        if _is_degree(cursor):
            return _postfix(cursor, Node("deg", (node,)))
        node = Node("pow", (node, _exponent(cursor)))
        node = _postfix(cursor, node)
        if cursor.now.kind == "op" and cursor.now.text == "^":
            raise Unreadable("two exponents in a row")
    return node


def _is_degree(cursor: Cursor) -> bool:
    """Step over a degree sign in an exponent, in a group or not."""
    if cursor.takes("deg"):
        return True
    rest = cursor.tokens[cursor.at : cursor.at + 3]
    if [t.kind for t in rest] == ["open", "deg", "close"]:
        cursor.at += 3
        return True
    return False


def _exponent(cursor: Cursor) -> Node:
    negative = False
    while cursor.now.kind == "op" and cursor.now.text in ("+", "-"):
        negative ^= cursor.take().text == "-"
    cursor.depth += 1
    if cursor.depth > MOST_DEPTH:
        raise Unreadable(f"nested more than {MOST_DEPTH} deep")
    node = _power(cursor) if cursor.now.text != "{" else _operand(cursor)
    cursor.depth -= 1
    return neg(node) if negative else node


def _postfix(cursor: Cursor, node: Node) -> Node:
    while True:
        token = cursor.now
        if token.kind == "op" and token.text == "!":
            cursor.take()
            if cursor.now == Token("op", "!"):
                raise Unreadable("a double factorial")
            node = Node("fact", (node,))
        elif token.kind == "op" and token.text == "%":
            cursor.take()
            node = Node("div", (node, num(100)))
            if cursor.now.kind in ("num", "repeating"):
                raise Unreadable("a remainder is not worked out")
        elif token.kind == "deg":
            cursor.take()
            node = Node("deg", (node,))
        elif token.kind == "op" and token.text == "'" and node.op == "sym":
            cursor.take()
            node = sym(f"{node.value}'")
        else:
            return node


def _operand(cursor: Cursor) -> Node:
    token = cursor.now
    read = _OPERANDS.get(token.kind)
    if read is None:
        raise Unreadable(f"expected an operand, got {token.text or 'the end'!r}")
    cursor.depth += 1
    if cursor.depth > MOST_DEPTH:
        raise Unreadable(f"nested more than {MOST_DEPTH} deep")
    node = read(cursor)
    cursor.depth -= 1
    return node


def _symbol(cursor: Cursor) -> Node:
    name = cursor.take().text
    return sym(name + _subscript(cursor))


def _subscript(cursor: Cursor) -> str:
    """`_1`, `_{n+1}` as text of a name; empty where there is none."""
    if not cursor.takes("op", "_"):
        return ""
    if not cursor.takes("open", "{"):
        return "_" + cursor.take().text
    parts: list[str] = []
    while not cursor.takes("close", "}"):
        if cursor.now.kind == "end":
            raise Unreadable("a subscript is never closed")
        parts.append(cursor.take().text)
    return "_" + "".join(parts)


def _constant(cursor: Cursor) -> Node:
    name = cursor.take().text
    subscript = _subscript(cursor)
    if subscript and name in ("e", "i"):
        return sym(name + subscript)
    return const(name)


def _letters(cursor: Cursor) -> Node:
    """Letters run together: a product of variables."""
    run = cursor.take().text
    if (len(run) > _LONGEST_PRODUCT and not (len(run) <= 6 and list(run) == sorted(run))) or run.lower() in _PROSE:
        raise Unreadable(f"the word {run[:20]!r} among mathematics")
    last = sym(run[-1] + _subscript(cursor))
    return mul(
        *(const(c) if c in "ei" else sym(c) for c in run[:-1]), last if last.value not in ("e", "i") else const(run[-1])
    )


def _argument(cursor: Cursor) -> Node:
    """The argument of a command: a group, or one digit, letter or command."""
    token = cursor.now
    if token.kind == "num" and len(token.text) > 1 and token.text.isdigit():
        cursor.tokens[cursor.at] = Token("num", token.text[1:])
        return num(int(token.text[0]))
    if token.kind == "letters":
        cursor.tokens[cursor.at] = Token("sym" if len(token.text) == 2 else "letters", token.text[1:])
        return const(token.text[0]) if token.text[0] in "ei" else sym(token.text[0])
    if token.kind == "num":
        cursor.take()
        return num(decimal(token.text))
    if token.kind == "op" and token.text == "-":
        raise Unreadable("a command without its argument")
    return _operand(cursor)


def _command(cursor: Cursor) -> Node:
    name = cursor.take().text
    if name == "frac":
        return Node("div", (_argument(cursor), _argument(cursor)))
    if name == "binom":
        return fn("binom", _argument(cursor), _argument(cursor))
    return _root(cursor)


def _root(cursor: Cursor) -> Node:
    degree = None
    if cursor.now.text == "[" and cursor.now.kind == "open":
        cursor.take()
        degree = term(cursor)
        cursor.wants("close", "]")
    token = cursor.now
    if token.kind in ("num", "letter"):
        body = num(decimal(cursor.take().text)) if token.kind == "num" else _symbol(cursor)
    else:
        body = _argument(cursor)
    return Node("root", (body, degree or num(2)))


def _function(cursor: Cursor) -> Node:
    name = cursor.take().text
    name = _ALIASES.get(name, name)
    base: Node | None = None
    exponent: Node | None = None
    for _ in range(2):
        if cursor.now == Token("op", "_") and base is None:
            cursor.take()
            base = _argument(cursor)
        elif cursor.now == Token("op", "^") and exponent is None:
            cursor.take()
            exponent = _exponent(cursor)
    args = _arguments(cursor)
    if exponent == num(-1) and name in _INVERSE:
        return fn(_INVERSE[name], *args)
    node = _applied(name, base, args)
    return node if exponent is None else Node("pow", (node, exponent))


def _arguments(cursor: Cursor) -> tuple[Node, ...]:
    """What a function is applied to: a bracket, or the product that follows."""
    if cursor.now.kind == "open" and cursor.now.text in ("(", "[", "{", "set"):
        node = cursor.inside(cursor)
        return node.args if node.op in ("tuple", "interval", "set") else (node,)
    if cursor.now.kind == "bar" and cursor.bars == 0:
        return (_operand(cursor),)
    node = _signed(cursor)
    while _starts_factor(cursor) and cursor.now.kind != "func" and cursor.now.text != "(":
        node = _times(node, _power(cursor))
    while (
        cursor.now.kind == "op"
        and cursor.now.text == "/"
        and cursor.then.kind in ("num", "sym", "const")
        and not cursor.now.spaced
    ):
        cursor.take()
        node = Node("div", (node, _power(cursor)))
    return (node,)


def _applied(name: str, base: Node | None, args: tuple[Node, ...]) -> Node:
    if name in ("sqrt", "cbrt") and len(args) == 1:
        return Node("root", (args[0], num(2 if name == "sqrt" else 3)))
    if name == "root" and len(args) == 2:
        return Node("root", args)
    if name == "abs" and len(args) == 1:
        return Node("abs", args)
    if name == "exp" and len(args) == 1:
        return Node("pow", (const("e"), args[0]))
    if name == "factorial" and len(args) == 1:
        return Node("fact", args)
    if name == "binomial" and len(args) == 2:
        return fn("binom", *args)
    if name in ("log", "lg"):
        if len(args) == 2 and base is None:
            return fn("log", args[0], args[1])
        return fn("log", args[0], base or (num(10) if name == "lg" else const("logbase")))
    if base is not None:
        raise Unreadable(f"{name} with a subscript")
    if name in _TRIGONOMETRIC and len(args) == 1:
        return fn(name, _in_radians(args[0]))
    return fn(name, *args)


def _in_radians(node: Node) -> Node:
    """A degree sign is a factor pi/180 inside a trigonometric function."""
    if node.op == "deg":
        return Node("div", (mul(_in_radians(node.args[0]), const("pi")), num(180)))
    return node._replace(args=tuple(_in_radians(a) for a in node.args)) if node.args else node


def _bar(cursor: Cursor) -> Node:
    cursor.take()
    cursor.bars += 1
    node = term(cursor)
    if not cursor.takes("bar"):
        raise Unreadable("an absolute value is never closed")
    cursor.bars -= 1
    return Node("abs", (node,))


def _open(cursor: Cursor) -> Node:
    if cursor.now.text == "|":
        cursor.take()
        node = term(cursor)
        cursor.wants("close", "|")
        return Node("abs", (node,))
    bars, cursor.bars = cursor.bars, 0
    node = cursor.inside(cursor)
    cursor.bars = bars
    return node


def _matrix(cursor: Cursor) -> Node:
    return cursor.matrix(cursor)


_OPERANDS: dict[str, Callable[[Cursor], Node]] = {
    "num": read_number, "repeating": read_repeating, "sym": _symbol, "letter": _symbol, "const": _constant,
    "letters": _letters, "cmd": _command, "func": _function, "bar": _bar, "open": _open, "begin": _matrix,
}  # fmt: skip
