"""The plan of a run as one frozen object, its identity, and the header that run.json holds.

Identity is what makes two rollouts comparable: suite, model and weights, solver with limits and protocol, system
prompt, sampling, base seed, sandbox, schema series. Resuming refuses another identity, naming the first difference.
Recorded but not identity: address, the endpoint's probe, concurrency, retries, host; engine version and slots join
under `deterministic`.
More rollouts extend a run, so their number is not identity.
"""

from __future__ import annotations

import math
import platform
import sys
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

import steelyard
from steelyard.canonical import digest
from steelyard.errors import FormatError, InputError, RefusedError
from steelyard.item import Item
from steelyard.ports import Sampling
from steelyard.records import SCHEMA_VERSION
from steelyard.run.journal import MOST_ROLLOUTS
from steelyard.run.stored import folder_errors, read
from steelyard.solvers.settings import SolverSettings
from steelyard.store import write_json

if TYPE_CHECKING:
    from steelyard.suite import Suite  # verifiers and all: more than who reads a header needs

HEADER = "run.json"


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a run is told. `model` is the spec that the user gave, `model_id` what answers to it."""

    suite_path: str
    suite_name: str
    suite_revision: str
    split: str
    model: str
    model_id: str
    model_facts: dict[str, Any] = {}
    endpoint_probe: dict[str, Any] = {}
    """What the endpoint was seen to honour when the run began (`models.probe`), or why that is not known."""
    solver: SolverSettings
    sampling: Sampling
    extra_body: dict[str, Any] = {}
    """Fields of every request beside those that `sampling` and `solver` stand for."""
    seed: int = 0
    rollouts: int = 1
    sandbox: str = ""
    deterministic: bool = False
    concurrency: int = 8
    limit: int | None = None
    proofs: dict[str, int] = {}
    allow_unproven: bool = False
    trust_proofs: bool = False

    def __post_init__(self) -> None:
        if self.rollouts < 1 or self.concurrency < 1 or (self.limit is not None and self.limit < 1):
            raise InputError(
                f"rollouts, concurrency and limit must be at least 1, got {self.rollouts}, {self.concurrency} "
                f"and {self.limit}"
            )
        if self.rollouts > MOST_ROLLOUTS:
            raise InputError(f"rollouts must be at most {MOST_ROLLOUTS}, got {self.rollouts}")
        if self.seed < 0:
            raise InputError(f"the base seed must be 0 or more, got {self.seed}")
        check_sampling(self.sampling)


def check_sampling(sampling: Sampling) -> None:
    """Refuse settings that no endpoint can mean: below 0, not finite, top_p above 1, no tokens at all."""
    for name, least, most in _RANGES:
        value = getattr(sampling, name)
        if value is not None and not (math.isfinite(value) and least <= value <= most):
            wanted = f"{least} to {most}" if math.isfinite(most) else f"{least} or more, finite"
            raise InputError(f"{name} must be {wanted}, got {value}")


_RANGES = (("temperature", 0, math.inf), ("top_p", 0, 1), ("top_k", 0, math.inf), ("max_tokens", 1, math.inf))


def items_of_plan(suite: Suite, plan: Plan, ran: Collection[str] = ()) -> list[Item]:
    """The items that a plan asks for: its split and limit of a suite, in suite order.

    Another version of the suite may split its items otherwise; then they are those that ran.
    """
    chosen = [i for i in suite.items if plan.split in ("all", suite.splits.get(i.id))][: plan.limit]
    if set(ran) <= {item.id for item in chosen}:
        return chosen
    return [item for item in suite.items if item.id in ran]


_ENGINE = ("engine", "engine_version", "slots", "context_tokens")


def identity(plan: Plan) -> dict[str, Any]:
    """What a rollout must share with others to be counted with them."""
    facts = plan.model_facts
    same: dict[str, Any] = {
        "suite": plan.suite_revision,
        "split": plan.split,
        "limit": plan.limit,
        "model": plan.model_id,
        "weights": facts.get("weights_sha256"),
        "solver": msgspec.to_builtins(plan.solver),
        "sampling": msgspec.to_builtins(plan.sampling),
        "seed": plan.seed,
        "sandbox": plan.sandbox,
        "deterministic": plan.deterministic,
        "schema": series(SCHEMA_VERSION),
    }
    if plan.extra_body:
        same["extra_body"] = plan.extra_body
    if plan.deterministic:
        same |= {name: facts.get(name) for name in _ENGINE}
    return same


def series(version: str) -> str:
    """The part of a schema version that must agree: the major, or 0.minor before 1."""
    major, _, rest = version.partition(".")
    if not major.isdigit() or not rest.partition(".")[0].isdigit():
        raise InputError(f'not a schema version: "{version}"')
    return major if major != "0" else f"0.{rest.partition('.')[0]}"


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The content of run.json."""

    schema_version: str
    identity: dict[str, Any]
    identity_sha256: str
    plan: Plan
    environment: dict[str, str]
    started: str


def build_header(plan: Plan) -> Header:
    """A header from a plan, stamped with this machine and moment."""
    same = identity(plan)
    return Header(
        schema_version=SCHEMA_VERSION,
        identity=same,
        identity_sha256=digest(same),
        plan=plan,
        environment={
            "steelyard": steelyard.__version__,
            "python": platform.python_version(),
            "platform": sys.platform,
            "machine": platform.machine(),
        },
        started=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    )


def write_header(folder: Path, header: Header) -> None:
    """Write run.json, whole or not at all."""
    write_json(folder / HEADER, header)


def read_header(folder: Path) -> Header:
    """The header of a run folder; a folder of something else is named as such."""
    path = folder / HEADER
    with folder_errors(folder):
        exists = path.exists()
    if not exists:
        raise FormatError(folder, None, f"not a run folder (no {HEADER}); runs are made by: steelyard run")
    header = read(path, Header, "a run header")
    try:
        other = series(header.schema_version) != series(SCHEMA_VERSION)
    except InputError as error:
        raise FormatError(path, None, f"not a run header: {error}") from error
    if other:
        raise RefusedError(
            f"{folder} was written under schema {header.schema_version}, this Steelyard writes {SCHEMA_VERSION}; "
            "start a fresh run"
        )
    return header


def check_identity(folder: Path, header: Header) -> None:
    """Refuse a header whose identity is not the one that its hash was made of."""
    if header.identity_sha256 != digest(header.identity):
        raise FormatError(
            folder / HEADER, None, "identity_sha256 does not match identity: the header was changed; restore it"
        )


def refuse_other_run(folder: Path, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Refuse to mix two runs in one folder, naming the first thing that differs."""
    for name in sorted({*found, *wanted}):
        if found.get(name) != wanted.get(name):
            raise RefusedError(
                f"{folder} holds another run: its {name} is {found.get(name)!r}, this one's is {wanted.get(name)!r}; "
                "choose another --out"
            )
