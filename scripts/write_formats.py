"""Write the JSON Schemas of everything that Steelyard stores to docs/formats/schemas (a test compares them).

Run: python scripts/write_formats.py [--check]
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from steelyard.item import Item
from steelyard.proof import Proof
from steelyard.records import SCHEMA_VERSION, JudgedItem, JudgementRecord, PredictionRecord, PromptRecord
from steelyard.run.anomalies import Anomalies
from steelyard.run.journal import EvidenceLine, Rollout
from steelyard.run.plan import Header

FOLDER = Path(__file__).parents[1] / "docs" / "formats" / "schemas"
TYPES: dict[str, type] = {
    "item": Item,
    "proof": Proof,
    "run": Header,
    "rollout": Rollout,
    "evidence": EvidenceLine,
    "prompt_record": PromptRecord,
    "prediction_record": PredictionRecord,
    "judgement_record": JudgementRecord,
    "judged_item": JudgedItem,
    "anomalies": Anomalies,
}


def schema_text(name: str) -> str:
    """The JSON Schema of one stored type, as it is written."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$comment": f"schema_version {SCHEMA_VERSION}"}
    schema |= msgspec.json.schema(TYPES[name])
    return msgspec.json.format(msgspec.json.encode(schema, order="sorted"), indent=2).decode() + "\n"


def main(arguments: list[str]) -> int:
    """Write the schemas, or with --check say which are out of date."""
    stale = []
    for name in TYPES:
        path, text = FOLDER / f"{name}.json", schema_text(name)
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if "--check" not in arguments:
            FOLDER.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    print(f"{len(TYPES)} schemas, {len(stale)} {'stale' if '--check' in arguments else 'written'}")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
