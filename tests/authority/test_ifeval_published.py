"""Mode `reference` against the published runner's own verdicts on real replies.

Authority: google-research instruction_following_eval of July 2024 on the 541 GPT-4 responses that it ships, instruction
by instruction; and the published verdicts of GPT-4o (2024-08-06). Read from the shared folder, never copied.
Named disagreements: key 1122 asks for `#` and 1129 for `!`, which the runner replaces by a random letter, drawn anew
for the loose verdict; key 2785 of the GPT-4o file was asked for one placeholder, of today's data for three.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from steelyard.parsing.instructions.table import check_published, follows, instructions, loose_texts

pytestmark = [pytest.mark.shared, pytest.mark.slow]
pytest.importorskip("langdetect", reason="needs the extra ifeval-reference")
nltk = pytest.importorskip("nltk", reason="needs the extra ifeval-reference")

SEED = 2
"""A seed whose draws are those behind the stored verdicts of the GPT-4 responses."""

PUBLISHED_GPT4 = (77.08, 83.69, 79.67, 85.61)
PUBLISHED_GPT4O = (84.10, 88.61, 87.80, 91.25)
"""Prompt strict, instruction strict, prompt loose, instruction loose, in per cent."""

RANDOM_LETTER = {("1122", "keywords:letter_frequency"), ("1129", "keywords:letter_frequency")}
OTHER_PROMPT = {("2785", "detectable_content:number_placeholders")}


@pytest.fixture(scope="module")
def data(shared: Path) -> Path:
    """The folder of benchmark files; skipped without the trained Punkt."""
    try:
        nltk.data.find("tokenizers/punkt_tab/english/")
    except LookupError:
        pytest.skip("needs nltk's punkt_tab in a folder named by NLTK_DATA")
    return shared / "data" / "benchmarks"


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _judge(row: dict[str, Any], reply: str) -> tuple[list[bool], list[bool]]:
    target = json.dumps({"instruction_id_list": row["instruction_id_list"], "kwargs": row["kwargs"]})
    strict, loose = [], []
    for index, one in enumerate(instructions(target)):
        seed = f"{SEED}/{index}"
        check_published(one, seed)
        strict.append(follows(one, reply, seed, published=True) is None)
        loose.append(any(follows(one, text, seed, published=True) is None for text in loose_texts(reply)))
    return strict, loose


def _figures(strict: list[list[bool]], loose: list[list[bool]]) -> tuple[float, ...]:
    found = []
    for lists in (strict, loose):
        flat = [one for verdicts in lists for one in verdicts]
        found += [sum(map(all, lists)) / len(lists), sum(flat) / len(flat)]
    return tuple(round(100 * share, 2) for share in found)


def test_every_instruction_of_the_gpt_4_responses_is_judged_as_published(data: Path) -> None:
    """834 instructions, strict and loose, agree one by one, hence the published four figures. [S-15]"""
    asked = {row["key"]: row for row in _rows(data / "ifeval_input_data.jsonl")}
    by_prompt = {row["prompt"]: key for key, row in asked.items()}
    stored = {row["key"]: row for row in _rows(data / "ifeval_gpt4_reference_verdicts.jsonl")}
    wrong, strict, loose = [], [], []
    for row in _rows(data / "ifeval_gpt4_responses.jsonl"):
        key = by_prompt.get(row["prompt"], 2785)  # the one prompt whose text differs between the files
        found = _judge(asked[key], row["response"])
        strict.append(found[0])
        loose.append(found[1])
        if found != (stored[key]["strict"], stored[key]["loose"]):
            wrong.append(key)
    assert [] == wrong
    assert PUBLISHED_GPT4 == _figures(strict, loose)


def test_the_gpt_4o_responses_differ_only_where_the_runner_draws_or_another_prompt_was_asked(data: Path) -> None:
    """Every other instruction agrees, and the stored verdicts give the published four figures. [S-15]"""
    asked = {row["prompt"]: row for row in _rows(data / "ifeval_input_data.jsonl")}
    [other] = [row for row in asked.values() if row["key"] == 2785]
    rows = _rows(data / "ifeval_gpt-4o-2024-08-06_responses_verdicts.jsonl")
    differ = set()
    for row in rows:
        item = asked.get(row["prompt"], other)
        found = _judge(item, row["response"])
        for at, name in enumerate(row["instruction_id_list"]):
            if (found[0][at], found[1][at]) != (row["strict"][at], row["loose"][at]):
                differ.add((str(item["key"]), name))
    assert OTHER_PROMPT <= differ <= OTHER_PROMPT | RANDOM_LETTER
    assert PUBLISHED_GPT4O == _figures([row["strict"] for row in rows], [row["loose"] for row in rows])
