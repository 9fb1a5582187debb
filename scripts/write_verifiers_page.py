"""Write the table of docs/verifiers.md from the verifiers themselves: settings, misses, spoils and varies.

Run: python scripts/write_verifiers_page.py [--check]
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import msgspec

from steelyard.verifiers.registry import ALIASES, MODULES, find

PAGE = Path(__file__).parents[1] / "docs" / "verifiers.md"
MARK = "<!-- made by `make formats` from here on -->\n"


def made_text() -> str:
    """The part of the page that is made."""
    parts = [MARK]
    for name in sorted(MODULES):
        verifier = find(name)
        module = importlib.import_module(f"steelyard.verifiers.{MODULES[name]}")
        about = (module.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")
        settings = [_setting(field) for field in msgspec.structs.fields(verifier.config)]
        parts.append(f"\n## {name}\n\n{about}\n\n")
        parts.append(f"- settings: {', '.join(settings) or 'none'}\n")
        parts.append(f"- misses: {', '.join(f'`{m}`' for m in verifier.misses)}\n")
        parts.append(
            f"- looks at: {'the answer' if verifier.read else 'the workspace or several verifiers (probes)'}\n"
        )
        if verifier.spoil:
            parts.append(f"- generic spoils: {', '.join(verifier.spoil)}\n")
        if verifier.vary:
            parts.append(f"- generic varies: {', '.join(verifier.vary)}\n")
    parts.append("\n## Aliases of seed 000\n\n")
    parts += [f"- `{alias}` = `{msgspec.json.encode(preset).decode()}`\n" for alias, preset in sorted(ALIASES.items())]
    return "".join(parts)


def _setting(field: msgspec.structs.FieldInfo) -> str:
    if field.default is not msgspec.NODEFAULT:
        return f"`{field.encode_name}` (default `{field.default!r}`)"
    if field.default_factory is not msgspec.NODEFAULT:
        return f"`{field.encode_name}` (default `{field.default_factory()!r}`)"
    return f"`{field.encode_name}` (required)"


def main(arguments: list[str]) -> int:
    """Write the page, or with --check say whether it is current."""
    head = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    text = head + made_text()
    stale = PAGE.read_text(encoding="utf-8") != text
    if "--check" not in arguments:
        PAGE.write_text(text, encoding="utf-8")
    print(f"docs/verifiers.md {'was stale' if stale else 'is current'}")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
