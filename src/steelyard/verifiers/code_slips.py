"""Faults of an author that no program can make good, found in an assertion before anything runs.

Not covered: what raises inside of a comprehension, or behind an `and`, an `or` or a condition.
Easy to break: refusing what a program could pass; only parts that are always worked out count.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from steelyard.errors import InputError
from steelyard.verifiers.code_calls import results_of
from steelyard.verifiers.code_reckoning import Reckoner
from steelyard.verifiers.code_work import Steps

_SHOWN_CHARS = 80


def _has_no_result(node: ast.expr) -> bool:
    return not results_of(node)


def check_constants(test: ast.expr, steps: Steps, is_constant: Callable[[ast.expr], bool] = _has_no_result) -> None:
    """Raise InputError where a constant part raises; UnsupportedError where it cannot be known.

    Only parts that are worked out whatever the program does.
    """
    if isinstance(test, ast.Constant | ast.Lambda | ast.Name | ast.Slice):
        return
    if not is_constant(test) or isinstance(test, ast.Starred):
        for part in _certain(test):
            check_constants(part, steps, is_constant)
        return
    try:
        Reckoner({}, None, steps).value(test)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise InputError(f"{shown(test)} raises {type(error).__name__}: {error}, whatever the program does") from error


def _certain(node: ast.expr) -> list[ast.expr]:
    """The parts of an expression that are always worked out, and in no names of its own."""
    if isinstance(node, ast.BoolOp):
        return node.values[:1]
    if isinstance(node, ast.IfExp):
        return [node.test]
    if isinstance(node, ast.Compare):
        return [node.left, node.comparators[0]]
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
        return [node.generators[0].iter]
    if isinstance(node, ast.Lambda):
        return []
    if isinstance(node, ast.Call):
        owner = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        return [*owner, *node.args, *(word.value for word in node.keywords)]
    return [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]


def shown(node: ast.AST) -> str:
    """Code in an error, in quotes and not too long."""
    text = " ".join(ast.unparse(node).split())
    return f'"{text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "..."}"'
