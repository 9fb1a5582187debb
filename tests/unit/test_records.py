"""Records: one schema for one rollout and many, explicit counts, None dropped, False and 0 kept."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from steelyard.attempt import ModelOutput, Usage
from steelyard.errors import InputError
from steelyard.item import item_from_line
from steelyard.proof import Proof
from steelyard.records import (
    JudgedItem,
    JudgementRecord,
    PredictionRecord,
    PromptRecord,
    build_judgement_record,
    build_prediction_record,
    build_rollout_judgement,
    grader_extra,
    is_judgement_record,
    is_prediction_record,
)
from steelyard.run.journal import EvidenceLine, Rollout

GOLDEN = Path(__file__).parents[2] / "docs" / "formats" / "golden"
TYPES: dict[str, Any] = {
    "prompt": PromptRecord,
    "prediction": PredictionRecord,
    "judgement": JudgementRecord,
    "judged_item": JudgedItem,
    "rollout": Rollout,
    "evidence": EvidenceLine,
    "proof": Proof,
}


def test_the_golden_item_lines_load() -> None:
    """Three item lines stay readable for ever: chat, workspace job, seed format. [T-5] [T-7]"""
    lines = (GOLDEN / "items.jsonl").read_bytes().splitlines()
    assert ["orb-0001", "shop-0001", "seed-0001"] == [item_from_line(x, "golden", i).id for i, x in enumerate(lines)]


@pytest.mark.parametrize("kind", TYPES)
def test_the_golden_record_loads_and_is_written_back_as_it_stands(kind: str) -> None:
    """One of each record: reading and writing give the same bytes. [S-1] [S-5]"""
    data = (GOLDEN / f"{kind}.json").read_bytes().strip()
    assert data == msgspec.json.encode(msgspec.json.decode(data, type=TYPES[kind]))


def test_the_seeds_judgement_without_void_and_error_counts_is_read() -> None:
    """The seed's own record on disk is a judgement with no voids. [S-1]"""
    rollouts = '[{"index":0,"correct":true},{"index":1,"correct":false}]'
    seed = f'{{"reference":"42","rollouts":{rollouts},"n_rollouts":2,"n_correct":1}}'
    record = msgspec.json.decode(seed, type=JudgementRecord)
    assert (2, 1, 0, 0) == (record.n_rollouts, record.n_correct, record.n_void, record.n_errors)


def test_none_is_dropped_and_false_and_zero_survive() -> None:
    """`prediction` None is absent on disk; `extracted` false and counts of 0 stay. [S-4] [S-6]"""
    prediction = msgspec.json.encode(build_prediction_record(["42", None, 0, False]))
    judgement = msgspec.json.encode(build_judgement_record([build_rollout_judgement(0, False)]))
    assert (
        b'{"rollouts":[{"index":0,"extracted":true,"prediction":"42"},{"index":1,"extracted":false},'
        b'{"index":2,"extracted":true,"prediction":0},{"index":3,"extracted":true,"prediction":false}]}'
    ) == prediction
    assert (
        b'{"rollouts":[{"index":0,"correct":false}],"n_rollouts":1,"n_correct":0,"n_void":0,"n_errors":0}' == judgement
    )


def test_counts_are_derived_by_the_builder_and_checked_when_read() -> None:
    """Wrong counts are refused; a void is neither right nor wrong. [S-2]"""
    rollouts = [build_rollout_judgement(i, c) for i, c in enumerate([True, None, False, True])]
    record = build_judgement_record(rollouts, n_errors=2)
    assert (4, 2, 1, 2) == (record.n_rollouts, record.n_correct, record.n_void, record.n_errors)
    with pytest.raises(InputError, match="counts"):
        JudgementRecord(rollouts=rollouts, n_rollouts=4, n_correct=3, n_void=1, n_errors=0)


@pytest.mark.parametrize(
    ("value", "prediction", "judgement"),
    [
        ({"rollouts": []}, True, False),
        ({"rollouts": [], "n_rollouts": 0}, False, True),
        ({"value": {"rollouts": []}}, False, False),
        ([("rollouts", 1)], False, False),
        ("rollouts", False, False),
    ],
)
def test_the_sniffs_exclude_each_other_and_do_not_look_through_a_box(
    value: object, prediction: bool, judgement: bool
) -> None:
    """An empty judgement is a judgement; only mappings are records. [S-7]"""
    assert (prediction, judgement) == (is_prediction_record(value), is_judgement_record(value))


def test_a_graders_whole_output_is_kept_beside_its_grade() -> None:
    """The finish reason tells a spent budget from an empty reply; no type tags. [S-8] [S-9]"""
    spent = ModelOutput("g", [""], ["hm"], ["length"], usage=Usage(5, 9, 14))
    empty = ModelOutput("g", [""], finish_reasons=["stop"])
    extras = [grader_extra("NOT_ATTEMPTED", out) for out in (spent, empty)]
    assert [["length"], ["stop"]] == [e["grader_output"]["finish_reasons"] for e in extras]
    assert "hm" == extras[0]["grader_output"]["reasoning_texts"][0]


def test_the_json_schemas_in_the_docs_are_current() -> None:
    """`make formats` writes them; a changed struct without it fails here."""
    script = GOLDEN.parents[2] / "scripts" / "write_formats.py"
    done = subprocess.run([sys.executable, str(script), "--check"], check=False, capture_output=True, text=True)
    assert (0, "10 schemas, 0 stale\n") == (done.returncode, done.stdout)


@pytest.mark.parametrize("kind", ["prompt", "prediction", "judgement", "judged_item", "rollout", "evidence", "proof"])
def test_a_golden_record_satisfies_its_json_schema(kind: str) -> None:
    """The schemas describe what is on disk, for readers in other languages."""
    name = f"{kind}_record" if kind in ("prompt", "prediction", "judgement") else kind
    schema = json.loads((GOLDEN.parent / "schemas" / f"{name}.json").read_text())
    jsonschema.validate(json.loads((GOLDEN / f"{kind}.json").read_text()), schema)
