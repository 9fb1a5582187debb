"""Reading one mathematical answer, whole: LaTeX, plain ASCII or Unicode, into an expression tree.

`read_math(text)` gives the tree or raises Unreadable; nothing is ever evaluated and no prefix is read for the whole.
Statements are relations joined by commas, `or` and `and`; `x=1, 2` belongs together. A bracket with two entries is a
tuple or an interval, which is decided when it is compared. What stands before an implication arrow is derivation.
Not covered: see `latex_tree`.
Easy to break: `{...}` groups in LaTeX and is a set in plain text; a comma inside tells them apart.
"""

from __future__ import annotations

import re
from functools import lru_cache

from steelyard.parsing.latex_cursor import MOST_DEPTH, Cursor
from steelyard.parsing.latex_spelling import LONGEST
from steelyard.parsing.latex_terms import term
from steelyard.parsing.latex_tokens import Token, tokens
from steelyard.parsing.latex_tree import Node, Unreadable, const, depth, mul, sym

_MOST_TOKENS = 2000
_RELATIONS = frozenset(("=", "<", ">", "<=", ">=", "!=", "in", "~", ":"))
_MATRICES = frozenset(
    ("matrix", "pmatrix", "bmatrix", "Bmatrix", "vmatrix", "Vmatrix", "smallmatrix", "psmallmatrix", "array")
)
_SYSTEMS = frozenset(("cases", "aligned", "align", "gathered", "split", "rcases"))
_PLAIN_WORDS = re.compile(r"[^\W\d_](?:[^\W\d_]|[ .,'’/&-])*", re.UNICODE)
_STYLE = re.compile(
    r"\\(?:text|mbox|textrm|textbf|textit|textsf|texttt|mathrm|mathbf|operatorname|boxed|fbox)\s*\{([^{}\\$]*)\}"
)
_QUOTES = re.compile(r"[\"“”„«»`*$]|\\[()\[\]]|\\ |(?<=[A-Za-z])\\,(?=[A-Za-z])")
_NAMED_FIGURE = re.compile(r"\\(angle|triangle|overline)(?:\s{1,3}|\s{0,3}\{)([A-Z]{1,4})\b\}?")
r"""`\angle ABC`, `\overline{AB}`: a name, not a product."""
_TEXT_GROUP = re.compile(r"[\s$]*\\(?:text|mbox|textrm|textbf|textit)\s?\{([^{}\\$]{2,200})\}[\s$.]*")
_LETTER = re.compile(r"[^\W\d_]")


@lru_cache(maxsize=4096)
def read_math(text: str) -> Node:
    """The expression tree of a text that is mathematics, or words, from its start to its end; else Unreadable."""
    if len(text) > LONGEST:
        raise Unreadable(f"longer than {LONGEST} characters")
    words = plain_words(text)
    try:
        found = _tokens(text)
        node = _whole(found)
    except Unreadable:
        words = words or _text_group(text)
        if words:
            return Node("words", (), words)
        raise
    if words and not any(t.kind in ("func", "sep") for t in found):
        kinds = {t.kind for t in found}
        if kinds <= {"letters"} and len(found) == 1:
            return Node("words", (node,), words)
        if kinds <= {"letters", "word", "letter", "sym", "const"} and (len(found) > 1 or "word" in kinds):
            return Node("words", (), words)
    return node


def _tokens(text: str) -> list[Token]:
    found = tokens(text)
    if not found:
        raise Unreadable("nothing in it")
    if len(found) > _MOST_TOKENS:
        raise Unreadable(f"more than {_MOST_TOKENS} symbols")
    return found


def plain_words(text: str) -> str:
    """The text as folded words where it holds words alone, of which one has two letters; else empty."""
    if "\\" in text or "$" in text or "*" in text or '"' in text:
        text = _NAMED_FIGURE.sub(r"\1 \2", text)
        for _ in range(3):
            text = _STYLE.sub(r"\1", text)
        text = _QUOTES.sub("", text)
    text = text.strip().strip("()[]").strip().rstrip(".!").strip()
    if not _PLAIN_WORDS.fullmatch(text) or sum(1 for _ in _LETTER.finditer(text)) < 2:
        return ""
    return " ".join(text.casefold().split())


def _text_group(text: str) -> str:
    r"""The folded content of a text that is one `\text{...}` with words in it (`\text{June 20}`); else empty."""
    group = _TEXT_GROUP.fullmatch(text)
    return " ".join(group[1].casefold().split()) if group and _LETTER.search(group[1]) else ""


def _whole(found: list[Token]) -> Node:
    cut = max((n + 1 for n, t in enumerate(found) if t == ("rel", "implies", t.spaced)), default=0)
    cursor = Cursor(found[cut:], _inside, _matrix)
    node = statement(cursor)
    if cursor.now.kind != "end":
        raise Unreadable(f"{cursor.now.text!r} is left over")
    if depth(node) > MOST_DEPTH:
        raise Unreadable(f"nested more than {MOST_DEPTH} deep")
    return node


def statement(cursor: Cursor) -> Node:
    """Relations joined by separators, up to a token that is neither."""
    parts = [relation(cursor)]
    kinds: list[str] = []
    while cursor.now.kind in ("sep", "row"):
        token = cursor.take()
        kind = token.text if token.kind == "sep" else ","
        if cursor.now.kind == "sep" and cursor.now.text in ("and", "or"):
            kind = cursor.take().text
        if cursor.now.kind == "end":
            raise Unreadable("a separator with nothing after it")
        kinds.append(kind)
        parts.append(relation(cursor))
    if not kinds:
        return parts[0]
    return Node(
        "list", tuple(parts), "or" if "or" in kinds else "and" if "and" in kinds and set(kinds) == {"and"} else ","
    )


def relation(cursor: Cursor) -> Node:
    """Terms joined by relation signs."""
    if cursor.now.kind == "rel" and cursor.now.text in ("~", "="):
        cursor.take()  # `= 5`, `\approx 3.1`: the left side was said before
    parts = [_member(cursor)]
    signs: list[str] = []
    while cursor.takes("op", "&"):
        pass
    clock = True
    while cursor.now.kind == "rel" and cursor.now.text in _RELATIONS:
        if cursor.now.text == ":":
            if cursor.in_set:
                break
            clock = clock and len(cursor.then.text) == 2
        signs.append(cursor.take().text)
        if cursor.now == Token("rel", "=") and signs[-1] in ("<", ">"):
            signs[-1] += cursor.take().text
        while cursor.takes("op", "&"):
            pass
        parts.append(_member(cursor))
    if not signs:
        return parts[0]
    if set(signs) == {":"}:
        return Node("ratio", tuple(parts), "clock" if clock else "")
    if ":" in signs:
        raise Unreadable("a ratio inside a relation")
    return Node("rel", tuple(parts), " ".join(signs))


def _member(cursor: Cursor) -> Node:
    token = cursor.now
    if token.kind in ("sym", "letter") and (call := _call(cursor)):
        return call
    if token[:2] == ("cmd", "frac") and _is_derivative(cursor):
        return sym("dy/dx")
    if token.kind == "word" or (token.kind == "letters" and cursor.then.kind in ("rel", "letters", "word")):
        words = []
        while cursor.now.kind in ("word", "letters", "letter"):
            words.append(cursor.take().text)
        if cursor.now.kind == "rel" and words:
            if token.kind != "word" and len(words) > 1:
                raise Unreadable(f"the words {' '.join(words)[:30]!r} before a relation")
            return sym(words[0]) if len(words[0]) > 3 or token.kind == "word" else _product(words[0])
        if token.kind == "word" and cursor.now.kind in ("sep", "end", "close"):
            return Node("words", (), " ".join(" ".join(words).casefold().split()))
        raise Unreadable(f"the word {words[0][:20]!r} among mathematics")
    return term(cursor)


def _call(cursor: Cursor) -> Node | None:
    """`f(x)`, `f(x, y)` or `f'(x)` before an equals sign, which no product of variables is taken for."""
    tokens, at = cursor.tokens, cursor.at + 1
    while at < cursor.at + 4 and at < len(tokens) and tokens[at][:2] == ("op", "'"):
        at += 1
    name = cursor.now.text + "'" * (at - cursor.at - 1)
    if at >= len(tokens) or tokens[at][:2] != ("open", "("):
        return None
    at += 1
    args: list[Node] = []
    while len(args) < 4 and at + 1 < len(tokens) and tokens[at].kind in ("sym", "letter"):
        args.append(sym(tokens[at].text))
        at += 2
        if tokens[at - 1][:2] != ("sep", ","):
            break
    if not args or tokens[at - 1][:2] != ("close", ")") or at >= len(tokens) or tokens[at][:2] != ("rel", "="):
        return None
    cursor.at = at
    return Node("fn", tuple(args), name)


def _is_derivative(cursor: Cursor) -> bool:
    r"""Step over `\frac{dy}{dx}` before an equals sign: a name, as `f'(x)` is."""
    ahead = cursor.tokens[cursor.at : cursor.at + 8]
    if [t.kind for t in ahead] != ["cmd", "open", "letters", "close", "open", "letters", "close", "rel"]:
        return False
    if any(len(ahead[n].text) != 2 or ahead[n].text[0] != "d" for n in (2, 5)) or ahead[7].text != "=":
        return False
    cursor.at += 7
    return True


def _product(letters: str) -> Node:
    return mul(*(const(c) if c in "ei" else sym(c) for c in letters))


def _inside(cursor: Cursor) -> Node:
    """What an opening bracket starts, up to its closing one."""
    cursor.depth += 1
    opening = cursor.take().text
    if opening == "set":
        node = _set(cursor)
    elif opening in ("floor", "ceil"):
        body = term(cursor)
        cursor.wants("close", opening)
        node = Node("fn", (body,), opening)
    else:
        node = _bracket(cursor, opening)
    cursor.depth -= 1
    return node


def _bracket(cursor: Cursor, opening: str) -> Node:
    if cursor.now.kind == "close":
        if opening == "{" and cursor.take().text == "}":
            raise Unreadable("an empty group")
        raise Unreadable("an empty bracket")
    closers = {"(": (")", "]"), "[": ("]", ")", "["), "{": ("}",), "<": ("<",), "]": ("[", "]")}[opening]
    if opening == "{" and cursor.now.kind == "rel":
        cursor.take()
    if opening == "[" and cursor.now.kind == "begin":
        return _wrapped_matrix(cursor, "]")
    if opening == "(" and cursor.now.kind == "begin":
        return _wrapped_matrix(cursor, ")")
    node = statement(cursor)
    closing = cursor.take()
    if closing.text not in closers or closing.kind != "close":
        raise Unreadable(f"{opening!r} is closed by {closing.text or 'nothing'!r}")
    if node.op != "list":
        if closing.text == closers[0]:
            return node
        raise Unreadable("a bracket with one entry and two kinds of ends")
    return _listed(node, opening, closing.text)


def _wrapped_matrix(cursor: Cursor, closer: str) -> Node:
    """A matrix in brackets of its own, or a term that only starts with one."""
    node = term(cursor)
    cursor.wants("close", closer)
    return node


def _listed(node: Node, opening: str, closing: str) -> Node:
    if opening == "{":
        return Node("set", node.args)
    if node.value in ("or", "and") or any(a.op == "rel" for a in node.args):
        if opening == "(" and closing == ")":
            return node
        raise Unreadable("statements in a bracket")
    if opening == "<":
        return Node("tuple", node.args)
    if len(node.args) == 2:
        if opening + closing == "()":
            return Node("tuple", node.args)
        return Node("interval", node.args, ("(" if opening == "]" else opening) + closing)
    if opening + closing in ("()", "[]"):
        return Node("tuple", node.args)
    raise Unreadable("more than two entries in an interval")


def _set(cursor: Cursor) -> Node:
    if cursor.takes("close", "set"):
        return const("empty")
    bars, cursor.bars = cursor.bars, 1
    cursor.in_set = True
    first = relation(cursor)
    cursor.bars, cursor.in_set = bars, False
    if cursor.now.kind == "bar" or cursor.now[:2] == ("rel", ":"):
        cursor.take()
        condition = statement(cursor)
        cursor.wants("close", "set")
        return Node("builder", (first, condition))
    parts = [first]
    while cursor.now.kind == "sep":
        cursor.take()
        parts.append(relation(cursor))
    if not cursor.takes("close", "set") and not cursor.takes("close", "}"):
        raise Unreadable("a set is never closed")
    return Node("set", tuple(parts))


def _system(cursor: Cursor, kind: str) -> Node:
    """Relations one under the other; `&` only aligns them."""
    parts: list[Node] = []
    while cursor.now.kind not in ("close_env", "end"):
        while cursor.takes("op", "&"):
            pass
        parts.append(relation(cursor))
        while cursor.takes("row") or cursor.takes("op", "&") or cursor.takes("sep", ","):
            pass
    if cursor.take()[:2] != ("close_env", kind) or not parts:
        raise Unreadable("a system is never closed")
    return parts[0] if len(parts) == 1 else Node("list", tuple(parts), "and")


def _matrix(cursor: Cursor) -> Node:
    r"""`\begin{pmatrix} a & b \\ c & d \end{pmatrix}`; a `vmatrix` is a determinant."""
    kind = cursor.take().text
    if kind in _SYSTEMS:
        return _system(cursor, kind)
    if kind not in _MATRICES:
        raise Unreadable(f"the environment {kind[:20]}")
    if kind == "array" and cursor.takes("open", "{"):
        while not cursor.takes("close", "}"):
            if cursor.take().kind == "end":
                raise Unreadable("an array is never closed")
    rows: list[Node] = []
    row = [term(cursor)]
    while True:
        if cursor.takes("op", "&"):
            row.append(term(cursor))
        elif cursor.takes("row"):
            rows.append(Node("row", tuple(row)))
            if cursor.now.kind == "close_env":
                break
            row = [term(cursor)]
        else:
            rows.append(Node("row", tuple(row)))
            break
    if cursor.take()[:2] != ("close_env", kind):
        raise Unreadable("a matrix is never closed")
    if len({len(r.args) for r in rows}) != 1:
        raise Unreadable("a matrix with rows of different lengths")
    matrix = Node("matrix", tuple(rows))
    return Node("fn", (matrix,), "det") if kind in ("vmatrix", "Vmatrix") else matrix
