"""Grounded success: the item's own verifier passes on a tool result that the model saw before it answered.

Source: seed 001 (O-16: a pass with at least one valid call whose result carries the answer). A right answer that no
tool result carries was known, guessed or stood in the prompt; it still passes, and is counted apart (decision 17).
A result does not count when it only gives back the model's own words: what write_file says, lines about files that
the model wrote, and a shell or python call that carries the answer in its own text.
Not covered: items whose verifier probes the workspace. Their pass is made of changes, so the question does not arise
and the answer is None. A model that launders its guess through a program (`echo 41''27`) is not caught: the figure
describes honest work and is no reward. An answer worked out from several results, none of which carries it, counts as
ungrounded.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Sequence

from steelyard.attempt import Attempt
from steelyard.item import Item
from steelyard.judging import judge
from steelyard.solvers.settings import Protocol
from steelyard.transcripts import Exchange, exchanges, valid_results
from steelyard.verifiers.registry import Bound

_PROGRAMS = frozenset({"shell", "python"})
_COUNTS = re.compile(r"^Ran \d+ tests?\b.*$|^exit code \d+$", re.MULTILINE)


def is_grounded(item: Item, bound: Bound, attempt: Attempt, protocol: Protocol = "tagged") -> bool | None:
    """Whether a tool result carried the answer; None where the verifier judges the workspace or no tool was offered."""
    if bound.probes or not item.tools:
        return None
    return carries_answer(item, bound, exchanges(item, attempt, protocol))


def carries_answer(item: Item, bound: Bound, made: Sequence[Exchange]) -> bool:
    """Whether one of the results passes the item's verifier and is not the model's own text."""
    written: set[str] = set()
    for exchange in valid_results(made):
        call = exchange.call
        if call.name == "write_file":
            written.add(_inside(call.arguments.get("path", "")))
        elif call.name in _PROGRAMS and _passes(item, bound, json.dumps(call.arguments, ensure_ascii=False)):
            continue
        elif _passes(item, bound, _of_others(exchange, written)):
            return True
    return False


def _of_others(exchange: Exchange, written: set[str]) -> str:
    """The part of a result that is not about files that the model wrote."""
    result, call = exchange.result or "", exchange.call
    if call.name == "read_file":
        return "" if _inside(call.arguments.get("path", "")) in written else result
    if call.name == "run_tests":
        return _COUNTS.sub("", result)  # how many tests ran is nobody's answer, but may look like one
    if call.name in ("grep", "list_files"):
        return "\n".join(line for line in result.split("\n") if line.split(":")[0] not in written)
    return result


def _inside(path: object) -> str:
    return posixpath.relpath(posixpath.normpath(posixpath.join("/work", str(path))), "/work")


def _passes(item: Item, bound: Bound, text: str) -> bool:
    return judge(item, bound, Attempt(answer=text)).verdict.passed is True
