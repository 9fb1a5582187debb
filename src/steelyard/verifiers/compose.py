"""`all` and `any`: several verifiers on one attempt.

Source: DESIGN section 5. `all` fails if any fails, else is void if any is; `any` passes if any passes, else is void.
Each spec may carry its own `target`; without one it gets the item's. Where all children read, so do they; where one
probes, they probe, and the evidence holds that child's evidence beside the readings of the others, which are made
again from the attempt when the evidence is decided again. Unread by all children is unread; by some, their miss.
Not covered: weights, k of n.
Easy to break: the order of `of`, which pairs evidence with verifiers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.item import Item
from steelyard.ports import Kit
from steelyard.verdict import Evidence, Reading, Undecided, Unread, Verdict, all_of, any_of
from steelyard.verifiers.contract import Config, Verifier, as_text
from steelyard.verifiers.registry import Bound, bind_spec, configure

_Combine = Callable[[Sequence[Verdict]], Verdict]


class ComposeConfig(Config, frozen=True):
    """The specs of the verifiers to combine, in order."""

    of: list[dict[str, Any]]
    choices: list[str] | None = None
    """The item's choices, handed to the children that take some."""


def _bound(target: str, config: ComposeConfig) -> list[Bound]:
    return [bind_spec(_spec(one), as_text(one.get("target", target)), config.choices) for one in config.of]


def _spec(one: dict[str, Any]) -> dict[str, Any]:
    """A child's spec without its target, as a new dict."""
    return {name: value for name, value in one.items() if name != "target"}


def _probes(config: ComposeConfig) -> bool:
    return any(Bound(*configure(_spec(one), config.choices), "").probes for one in config.of)


def _part(attempt: Attempt, one: dict[str, Any], choices: list[str] | None) -> dict[str, Any]:
    """What a child that reads finds in the answer."""
    found = Bound(*configure(_spec(one), choices), "").read(attempt)
    return {"unread": found.reason} if isinstance(found, Unread) else {"reading": msgspec.to_builtins(found)}


def _read(attempt: Attempt, config: ComposeConfig) -> Reading | Unread:
    parts = [_part(attempt, one, config.choices) for one in config.of]
    if all("unread" in part for part in parts):
        return Unread("; ".join(part["unread"] for part in parts))
    return Reading({"of": parts}, "composed")


def _probe(item: Item, attempt: Attempt, kit: Kit, config: ComposeConfig) -> Evidence:
    parts: list[dict[str, Any]] = []
    backends: list[str] = []
    for one, child in zip(config.of, _bound(item.target, config), strict=True):
        if not child.probes or child.verifier.probe is None:
            parts.append(_part(attempt, one, config.choices))
            continue
        seen = child.verifier.probe(item, attempt, kit, child.config)
        parts.append({"evidence": msgspec.to_builtins(seen)})
        backends.append(seen.backend)
    return Evidence({"of": parts}, backend=next(filter(None, backends), ""))


def _reread(attempt: Attempt, evidence: Evidence, config: ComposeConfig) -> Evidence:
    """The same evidence with its readings made again, so that a better `read` is used on a stored run."""
    parts = evidence.data.get("of", [])
    if len(parts) != len(config.of):
        return evidence
    again = [
        part if "evidence" in part else _part(attempt, one, config.choices)
        for part, one in zip(parts, config.of, strict=True)
    ]
    return msgspec.structs.replace(evidence, data={"of": again})


def _judged(found: Reading | Evidence, target: str, config: ComposeConfig, settle: bool) -> list[Verdict | Undecided]:
    """One verdict a child; none is undecided with `settle`."""
    children = _bound(target, config)
    parts = found.data["of"] if isinstance(found, Evidence) else found.value["of"]
    if len(parts) != len(children):
        raise InputError(f"evidence of {len(parts)} verifiers for {len(children)}; probe again")
    return [_child(child, _found(part), settle) for child, part in zip(children, parts, strict=True)]


def _child(child: Bound, found: Reading | Unread | Evidence, settle: bool) -> Verdict | Undecided:
    verdict = child.decide(found)
    if settle and isinstance(verdict, Undecided) and not isinstance(found, Unread):
        return child.settle(found)
    return verdict


def _found(part: dict[str, Any]) -> Reading | Unread | Evidence:
    if "evidence" in part:
        return msgspec.convert(part["evidence"], Evidence)
    if "unread" in part:
        return Unread(part["unread"])
    return msgspec.convert(part["reading"], Reading)


def _deciding(combine: _Combine) -> Callable[[Reading | Evidence, str, ComposeConfig], Verdict | Undecided]:
    def decide(found: Reading | Evidence, target: str, config: ComposeConfig) -> Verdict | Undecided:
        judged = _judged(found, target, config, settle=False)
        undecided = next((one for one in judged if isinstance(one, Undecided)), None)
        return undecided or combine([one for one in judged if isinstance(one, Verdict)])

    return decide


def _settling(combine: _Combine) -> Callable[[Reading | Evidence, str, ComposeConfig], Verdict]:
    def settle(found: Reading | Evidence, target: str, config: ComposeConfig) -> Verdict:
        judged = _judged(found, target, config, settle=True)
        return combine([one for one in judged if isinstance(one, Verdict)])

    return settle


def _check(target: str, config: ComposeConfig) -> None:
    if not config.of:
        raise InputError('verifiers "all" and "any" need at least one spec in "of"')
    for place, one in enumerate(config.of):
        try:
            bind_spec(_spec(one), as_text(one.get("target", target)), config.choices)
        except InputError as error:
            raise InputError(f"of[{place}]: {error}") from error


def _children(config: ComposeConfig) -> list[dict[str, Any]]:
    return [_spec(one) for one in config.of]


def _misses_from(config: ComposeConfig, target: str) -> list[str]:
    """What the children's own configs name; the misses that their verifiers declare are found without this."""
    named: list[str] = []
    for child in _bound(target, config):
        if child.verifier.misses_from is not None:
            named += child.verifier.misses_from(child.config, child.target)
    return named


def _render(target: str, config: ComposeConfig) -> str | None:
    """The first answer that a child renders; whether the others accept it is what proving finds out."""
    for child in _bound(target, config):
        text = child.verifier.render(child.target, child.config) if child.verifier.render else None
        if text is not None:
            return text
    return None


def _composed(name: str, combine: _Combine) -> Verifier:
    return Verifier(
        name=name,
        config=ComposeConfig,
        read=_read,
        probe=_probe,
        probes=_probes,
        reread=_reread,
        decide=_deciding(combine),
        settle=_settling(combine),
        check=_check,
        render=_render,
        children=_children,
        misses_from=_misses_from,
    )


VERIFIERS: tuple[Verifier, ...] = (_composed("all", all_of), _composed("any", any_of))
