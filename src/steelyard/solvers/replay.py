"""The replay solver: a scripted attempt, made with the real parser, the real tools and the real sandbox.

This is how a reference, a wrong attempt and an unusual right one become attempts. Calls are written as a model would
write them and must parse to exactly one valid call each; a tool that errors is the script's fault. `changes` are laid
over the base as data and need no sandbox.
Not covered: scripts that want an error from a tool.
Easy to break: letting a script skip the parser; then a job that no model can do would be proven.
"""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.attempt import Attempt, Change, Diff, Message, ToolCall, Tree
from steelyard.errors import InputError
from steelyard.item import Item, messages
from steelyard.parsing.json_prose import strict_json
from steelyard.parsing.toolcalls import parse_tool_calls, render_tool_call
from steelyard.ports import Kit
from steelyard.solvers.settings import SolverSettings
from steelyard.solvers.toolbox import Toolbox
from steelyard.store import Store
from steelyard.verifiers.contract import Script


def replay(item: Item, script: Script, kit: Kit | None = None) -> Attempt:
    """The attempt that a script describes; InputError names the call that does not parse or that errors."""
    if not script.calls and not script.changes and not item.files:
        return Attempt(answer=script.answer, stop="answer")
    if kit is None:
        raise InputError(f'item "{item.id}": a script for a workspace needs a kit')
    said: list[Message] = []
    diff = Diff()
    if script.calls:
        said, diff = _replayed(item, script.calls, kit)
        said.append(Message("assistant", script.answer))
    if script.changes:
        made = laid_over(kit.base(item), script.changes, kit.store)
        diff = Diff({**diff.changes, **made.changes}, diff.refused)
    return Attempt(answer=script.answer, messages=said, workspace=diff, stop="answer")


def laid_over(base: Tree, changes: Mapping[str, bytes | str | None], store: Store) -> Diff:
    """Changes as a Diff against `base`; contents go to the store; deleting what is not there is an InputError."""
    made: dict[str, Change] = {}
    for path, content in sorted(changes.items()):
        if content is None:
            if path not in base:
                raise InputError(f'a script deletes "{path}", which the base does not have')
            made[path] = Change("deleted")
            continue
        data = content.encode() if isinstance(content, str) else content
        sha256 = store.put(data)
        if base.get(path) != sha256:
            made[path] = Change("modified" if path in base else "added", sha256, len(data))
    return Diff(made)


def _replayed(item: Item, calls: list[ToolCall], kit: Kit) -> tuple[list[Message], Diff]:
    session = kit.session(item, kit.base(item))
    try:
        toolbox = Toolbox(session, item, SolverSettings(name="replay"))
        said = messages(item)
        for call in calls:
            said += _exchange(item, toolbox, call)
        return said, session.diff()
    finally:
        session.close()


def _exchange(item: Item, toolbox: Toolbox, call: ToolCall) -> tuple[Message, Message]:
    """The assistant message that writes the call, and the tool's answer."""
    where = f'item "{item.id}": the script\'s call of {call.name}'
    arguments = strict_json(call.arguments)
    if not isinstance(arguments, dict):
        raise InputError(f"{where} has arguments that are not a JSON object: {call.arguments[:80]!r}")
    written = render_tool_call(call.name, arguments)
    parsed = parse_tool_calls(written, {spec.name: spec for spec in toolbox.specs})
    if len(parsed) != 1 or parsed[0].error:
        raise InputError(f"{where} must parse to one valid call, got {[p.error or p.name for p in parsed]}")
    result = toolbox.call(parsed[0].name, parsed[0].arguments)
    if not result.ok:
        raise InputError(f"{where} failed: {result.content}")
    return Message("assistant", written), result.message()
