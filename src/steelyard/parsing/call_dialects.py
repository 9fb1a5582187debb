"""Tool calls in two forms without tags: OpenAI's JSON, and Python calls such as `[get(city="Rome"), stop()]`.

Sources: the chat completions format of OpenAI (`tool_calls`, `function`, arguments as JSON text) and the prompt format
of the Berkeley function calling leaderboard (a list of Python calls with keyword arguments).
A form counts only where it is the whole reply or the only fenced block of it; a call that prose speaks of is prose.
Values are literals, of which `true`, `false` and `null` are some; a tuple is a list. Nothing is ever evaluated.
Not covered: positional arguments (a call that has some is malformed, or prose where it is not in a list).
Easy to break: `sqrt(16)` and `f(x) = x` are answers, not calls.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from steelyard.errors import InputError
from steelyard.parsing.json_prose import fenced_blocks, strict_json
from steelyard.parsing.toolcalls import ParsedCall

_LONGEST = 20_000
_OPENS_CALL = re.compile(r"(\[\s{0,20})?[A-Za-z_][\w.]{0,80}\((?=\s{0,20}(?:\)|[A-Za-z_]\w{0,60}\s{0,4}=[^=]|(\S)))")
_PROSE_AFTER = re.compile(r"\)[,.:]?\s{1,3}[A-Za-z=+*/-]")
_WORDS = {"true": True, "false": False, "null": None}
_SHAPE = 'error: a tool call must be a JSON object with exactly "name" and "arguments"'


def untagged_calls(text: str) -> tuple[str, list[ParsedCall]]:
    """The rule (`openai` or `python`) and the calls of a reply without tags; no rule where it makes none."""
    blocks = list(fenced_blocks(text))
    start, end = blocks[0][:2] if len(blocks) == 1 else (0, len(text))
    if blocks and len(blocks) != 1:
        return "", []
    raw = text[start:end]
    start += len(raw) - len(raw.lstrip())
    body = raw.strip()
    if len(body) > _LONGEST:
        return "", []
    span = (start, start + len(body))
    if body[:1] in ("{", "[") and '"name"' in body and (calls := _openai(body, span)):
        return "openai", calls
    calls = _python(body, span)
    return ("python" if calls else ""), calls


def _openai(body: str, span: tuple[int, int]) -> list[ParsedCall]:
    """The calls of a JSON value that is one call, a list of calls, or a message with `tool_calls`."""
    try:
        value = strict_json(body)
    except InputError as error:
        broken = '"function"' in body or '"arguments"' in body
        return [ParsedCall(error=f"error: tool call is not valid JSON: {error}", span=span)] if broken else []
    if isinstance(value, dict) and isinstance(value.get("tool_calls"), list):
        value = value["tool_calls"]
    listed = value if isinstance(value, list) else [value]
    if not all(isinstance(one, dict) and ("function" in one or one.keys() == {"name", "arguments"}) for one in listed):
        return []
    return [_one(one.get("function", one), span) for one in listed]


def _one(value: Any, span: tuple[int, int]) -> ParsedCall:
    if not isinstance(value, dict) or value.keys() != {"name", "arguments"} or not isinstance(value["name"], str):
        return ParsedCall(error=_SHAPE, span=span)
    arguments = value["arguments"]
    if isinstance(arguments, str):
        try:
            arguments = strict_json(arguments)
        except InputError as error:
            return ParsedCall(error=f"error: tool call is not valid JSON: {error}", span=span)
    if not isinstance(arguments, dict):
        return ParsedCall(value["name"], error="error: arguments must be a JSON object", span=span)
    return ParsedCall(value["name"], arguments, span=span)


def _python(body: str, span: tuple[int, int]) -> list[ParsedCall]:
    """The calls of a text that is Python calls, in lines or a list; an error where it is one that does not parse."""
    opens = _OPENS_CALL.match(body)
    if opens is None or (opens[1] is None and opens[2]):
        return []
    try:
        tree = ast.parse(body.removesuffix(".")).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if opens[1] is None and _PROSE_AFTER.search(body):
            return []
        return [ParsedCall(error=f"error: tool call is not a Python call: {_reason(error)}", span=span)]
    terms = [line.value for line in tree if isinstance(line, ast.Expr)]
    nodes = terms[0].elts if len(terms) == 1 and isinstance(terms[0], ast.List) else terms
    if len(terms) != len(tree) or not all(isinstance(node, ast.Call) for node in nodes):
        return []
    return [_python_call(node, span) for node in nodes if isinstance(node, ast.Call)]


def _reason(error: Exception) -> str:
    return error.msg if isinstance(error, SyntaxError) else "it is nested too deep"


def _python_call(node: ast.Call, span: tuple[int, int]) -> ParsedCall:
    name = _dotted(node.func)
    if not name:
        return ParsedCall(error="error: tool call is not a Python call: its name is no name", span=span)
    names = [keyword.arg for keyword in node.keywords]
    if node.args or None in names or len(set(names)) < len(names):
        return ParsedCall(name, error="error: every argument must be named, and once", span=span)
    try:
        arguments = {str(keyword.arg): _literal(keyword.value) for keyword in node.keywords}
    except (InputError, RecursionError) as error:
        reason = str(error) if isinstance(error, InputError) else "an argument is nested too deep"
        return ParsedCall(name, error=f"error: {reason}", span=span)
    return ParsedCall(name, arguments, span=span)


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _literal(node: ast.expr) -> Any:
    """The JSON value of a literal; InputError where it is none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int | float | None):
        return node.value
    if isinstance(node, ast.Name) and node.id in _WORDS:
        return _WORDS[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        value = node.operand.value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return -value
    if isinstance(node, ast.List | ast.Tuple):
        return [_literal(one) for one in node.elts]
    if isinstance(node, ast.Dict):
        return {_key(key): _literal(one) for key, one in zip(node.keys, node.values, strict=True)}
    raise InputError("an argument is no literal")


def _key(node: ast.expr | None) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise InputError("a name in an argument is no text")
