"""Write docs/formats/revisions.json: rules and a digest of the sources behind every verifier.

Writing is refused while any verifier fails one of its rows, so a change of what a verifier means lands together with
rows that pass. Versions of libraries are in an item's revision, not here: this file is the same on every machine.

Run: python scripts/write_revisions.py [--check]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from steelyard.verifiers.prove_rows import prove_rows
from steelyard.verifiers.registry import MODULES, find, source_digest

FILE = Path(__file__).parents[1] / "docs" / "formats" / "revisions.json"


def changes(written: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What differs between the file and the code, one sentence a verifier."""
    found = []
    for name in sorted(written.keys() | now.keys()):
        if written.get(name) == now.get(name):
            continue
        what = "is new" if name not in written else "is gone" if name not in now else "changed"
        advice = "run `make formats` after its rows pass; say the effect on scores in changelog/"
        found.append(f"the code of {name} {what}: {advice}")
    return found


def main(arguments: list[str]) -> int:
    """Write the file, or with --check say which verifiers changed since; 1 where one did or a row is not met."""
    written = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    now = {name: {"rules": find(name).rules, "code": source_digest(name)} for name in sorted(MODULES)}
    changed = changes(written, now)
    if "--check" in arguments:
        print("\n".join(changed) or "docs/formats/revisions.json is current")
        return 1 if changed else 0
    faults = [fault for name in now for fault in prove_rows(name).faults]
    if faults:
        print("\n".join(f"{fault.place}  {fault.reason} ({fault.why})" for fault in faults))
        print("docs/formats/revisions.json is left as it is: every verifier must meet its rows first")
        return 1
    FILE.write_text(json.dumps(now, indent=2) + "\n", encoding="utf-8")
    print(f"docs/formats/revisions.json: {len(changed)} of {len(now)} verifiers changed")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
