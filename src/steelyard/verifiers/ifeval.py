"""`ifeval`: verifiable instructions, each followed or not.

Source: IFEval (Zhou et al. 2023, arXiv:2311.07911), all 25 kinds. The target is a JSON list of instructions (see
`parsing.instructions.table`). A verdict passes when every instruction is followed; its score is the share that is.
Mode `fixed` asks whether the reply, without reasoning blocks, follows the instruction's English sentence; it needs no
library and draws nothing at random. Mode `reference` gives the verdicts of the published runner of July 2024 on the
raw reply, its faults included; it needs the extra `ifeval-reference` and nltk's `punkt_tab`.
`strictness: loose` takes the best of eight texts (without first or last line, without asterisks). `measures` hold both
verdicts of every instruction as `<index>:<id>:strict` and `:loose`, so that a report can pool raw counts.
Not covered: whether the reply is any good; instructions that contradict one another.
Easy to break: what the runner draws at random is drawn once an instruction, from `seed`, never once a text.
"""

from __future__ import annotations

import json
from typing import Literal

from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.parsing.final import without_reasoning
from steelyard.parsing.instructions.table import Instruction, check_published, follows, instructions, loose_texts
from steelyard.verdict import Miss, Reading, Unread, Verdict
from steelyard.verifiers.contract import Config, Spoil, Verifier


class IfevalConfig(Config, frozen=True):
    """Which reading of the instructions counts, and how forgiving it is."""

    mode: Literal["fixed", "reference"] = "fixed"
    strictness: Literal["strict", "loose"] = "strict"
    seed: int = 0


def _read(attempt: Attempt, config: IfevalConfig) -> Reading | Unread:
    text, offset = attempt.answer, 0
    if config.mode == "fixed":
        part = without_reasoning(attempt.answer)
        if part.reason:
            return Unread(part.reason)
        text, offset = part.text, part.offset
    if not text.strip():
        return Unread("the reply is empty, which follows no instruction")
    return Reading(text, "raw" if config.mode == "reference" else "whole", (offset, offset + len(text)))


def _decide(found: Reading, target: str, config: IfevalConfig) -> Verdict:
    reply = found.value if isinstance(found.value, str) else json.dumps(found.value, ensure_ascii=False)
    measures: dict[str, float] = {}
    misses: list[Miss] = []
    asked = instructions(target)
    for index, one in enumerate(asked):
        wrong = _wrong(one, reply, f"{config.seed}/{index}", config)
        loose = wrong is None or any(
            _wrong(one, text, f"{config.seed}/{index}", config) is None for text in loose_texts(reply)[1:]
        )
        measures[f"{index}:{one.id}:strict"] = float(wrong is None)
        measures[f"{index}:{one.id}:loose"] = float(loose)
        if wrong is not None and not (loose and config.strictness == "loose"):
            misses.append(Miss("instruction-not-followed", f"{index}:{one.id}: {wrong}"))
    measures |= _totals(measures, len(asked))
    return Verdict(not misses, misses, score=1 - len(misses) / len(asked), measures=measures)


def _wrong(one: Instruction, text: str, seed: str, config: IfevalConfig) -> str | None:
    return follows(one, text, seed, published=config.mode == "reference")


def _totals(measures: dict[str, float], n: int) -> dict[str, float]:
    """How many instructions there are, how many are followed, and whether all are, strictly and loosely."""
    totals = {"n": float(n)}
    for name in ("strict", "loose"):
        followed = sum(value for key, value in measures.items() if key.endswith(f":{name}"))
        totals |= {f"n_{name}": followed, name: float(followed == n)}
    return totals


def _check(target: str, config: IfevalConfig) -> None:
    try:
        for index, one in enumerate(instructions(target)):
            if config.mode == "reference":
                check_published(one, f"{config.seed}/{index}")
    except InputError as error:
        raise InputError(f'verifier "ifeval": {error}') from error


def _spoil_blank(_target: str, _config: IfevalConfig, _prompt: str) -> str:
    return " \n\n "


VERIFIERS: tuple[Verifier, ...] = (
    Verifier(
        name="ifeval",
        config=IfevalConfig,
        misses=("instruction-not-followed",),
        read=_read,
        decide=_decide,
        check=_check,
        spoil={"blank": Spoil(_spoil_blank, ("no-answer",))},
    ),
)
