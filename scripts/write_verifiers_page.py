"""Write docs/verifiers.md and a page for each verifier from the code, its rows and the measured error rates.

The examples of a page are the rows that `steelyard verifiers NAME --prove` judges, so they are true. Measured rates
come from docs/formats/measured.json: {kind: {"n", "false_negatives", "false_positives", "peers": {name: the same}}}.

Run: python scripts/write_verifiers_page.py [--check]
"""

from __future__ import annotations

import importlib
import json
import re
import sys
import typing
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from steelyard.verdict import Reading
from steelyard.verifiers.contract import NO_ANSWER, Verifier, as_text
from steelyard.verifiers.prove_rows import Outcome, Row, judge_row, rows_of
from steelyard.verifiers.registry import ALIASES, MODULES, find

DOCS = Path(__file__).parents[1] / "docs"
INDEX = DOCS / "verifiers.md"
FOLDER = DOCS / "verifiers"
MEASURED = DOCS / "formats" / "measured.json"
MARK = "<!-- made by `make formats` from here on -->\n"
SHARED = ("final", "prose", "fold")
PARSING = {
    "choice": ("letters",),
    "exact": (),
    "fields": ("json_prose",),
    "grade": ("grades", "grade_labels"),
    "ifeval": ("instructions.table",),
    "math": ("math_answer", "latex", "math_meaning", "math_compare"),
    "number": ("one_number", "quantities", "units"),
    "order": ("lists",),
    "set": ("lists",),
    "states": ("negation",),
    "time": ("times",),
    "token": ("tokens",),
    "toolcalls": ("toolcalls",),
    "yesno": ("negation",),
}
"""Verifier -> the modules of `steelyard.parsing` whose rules decide what it reads, beside the shared ones."""
KINDS = {
    "exact": "exact",
    "number": "numeric",
    "math": "math",
    "choice": "mcq",
    "token": "answer-token",
    "states": "negation",
    "ifeval": "ifeval",
    "fields": "json-fields",
    "toolcalls": "tool-call",
    "grade": "judge-reply",
    "code": "code",
}
"""Verifier -> the kind of grader case that measures it."""
SHOWN_CHARS = 220


def pages() -> dict[Path, str]:
    """Every made page with its text."""
    head = INDEX.read_text(encoding="utf-8").partition(MARK)[0]
    made = {INDEX: head + index_text()}
    return made | {FOLDER / f"{name}.md": page_text(name) for name in sorted(MODULES)}


def index_text() -> str:
    """The made part of the index: a table of the verifiers, the rules of reading that they share, and aliases."""
    parts = [MARK, "\n| name | what passing means | looks at |\n|---|---|---|\n"]
    for name in sorted(MODULES):
        looks = "the answer" if find(name).read else "evidence"
        parts.append(f"| [{name}](verifiers/{name}.md) | {_cell(_about(name))} | {looks} |\n")
    parts.append("\n## How a reply is read\n\nThe modules that every verifier of prose shares, in their own words.\n")
    parts += [f"\n### {name}\n\n{_prose(_doc(f'parsing.{name}'))}" for name in SHARED]
    parts.append("\n## Aliases of seed 000\n\n")
    parts += [f"- `{alias}` = `{as_text(preset)}`\n" for alias, preset in sorted(ALIASES.items())]
    return "".join(parts)


def page_text(name: str) -> str:
    """The page of one verifier."""
    verifier = find(name)
    doc = _doc(f"verifiers.{MODULES[name]}")
    rows = rows_of(name)
    judged = [(row, judge_row(name, row)) for row in rows if not row.known and row.must != "not-crash"]
    raised = {miss.name for _, outcome in judged for miss in outcome.verdict.misses}
    parts = [f"<!-- made by `make formats` -->\n# {name}\n\n{_prose(doc)}", _settings(verifier)]
    parts.append(_misses(verifier, unread=NO_ANSWER in raised))
    if verifier.read:
        parts.append("\n## Reading\n\n[How a reply is read](../verifiers.md#how-a-reply-is-read), and of its own:\n")
        parts += [f"\n**{part}.** {_prose(_doc(f'parsing.{part}'))}" for part in PARSING.get(name, ())]
        if not PARSING.get(name):
            parts[-1] = "\n## Reading\n\nSee [how a reply is read](../verifiers.md#how-a-reply-is-read).\n"
    common = _common_settings(rows)
    if common:
        parts.append(f"\n## Examples\n\nSettings, where none are shown: {_code(as_text(common))}.\n")
    for title, must in (("Accepted", "pass"), ("Refused", "fail"), ("Void", "void")):
        parts += _examples(title, [(row, outcome) for row, outcome in judged if row.must == must], common)
    parts += _measured(name, rows)
    return "".join(parts)


def _doc(module: str) -> str:
    return (importlib.import_module(f"steelyard.{module}").__doc__ or "").strip()


def _about(name: str) -> str:
    return _doc(f"verifiers.{MODULES[name]}").split("\n\n")[0].replace("\n", " ")


def _prose(doc: str) -> str:
    """A docstring as Markdown; what is easy to break is for those who change the code, not for readers."""
    lines: list[str] = []
    for line in re.split(r"\n(?=Easy to break)", doc)[0].splitlines():
        before = lines[-1] if lines else ""
        entry, in_list = _ENTRY.match(line), _ENTRY.match(before) or before.startswith("  ")
        if line and before and (_OPENER.match(line) or (bool(entry) != bool(in_list) and not line.startswith("  "))):
            lines.append("")
        lines.append(line)
    return "\n".join(lines) + "\n"


_ENTRY = re.compile(r"\d+\. |- ")
_OPENER = re.compile(r"(?:Not covered|Sources?(?: [\w ]+)?|Kept|Folded|Rules?(?: \([\w ]+\))?|Reading)\b[^:\n]{0,20}:")


def _settings(verifier: Verifier) -> str:
    structs = list(_structs(verifier.config))
    if not structs[0][1].__struct_fields__:
        return "\n## Settings\n\nNone.\n"
    return "\n## Settings\n" + "".join(_struct_table(title, struct) for title, struct in structs)


def _structs(config: type[msgspec.Struct], title: str = "") -> Iterator[tuple[str, type[msgspec.Struct]]]:
    """A config and the structs that its fields hold."""
    yield title, config
    for field in msgspec.structs.fields(config):
        for inner in _leaves(field.type):
            if isinstance(inner, type) and issubclass(inner, msgspec.Struct):
                yield from _structs(inner, field.encode_name)


def _leaves(kind: Any) -> Iterator[Any]:
    arguments = typing.get_args(kind)
    if not arguments:
        yield kind
    for one in arguments:
        yield from _leaves(one)


def _struct_table(title: str, struct: type[msgspec.Struct]) -> str:
    head = f"\n### Each of `{title}`\n" if title else ""
    rows = "".join(
        f"| `{field.encode_name}` | {_code(_type(field.type))} | {_default(field)} |\n"
        for field in msgspec.structs.fields(struct)
    )
    about = " ".join(line.strip() for line in (struct.__doc__ or "").strip().splitlines()).replace("  ", " ")
    return f"{head}\n{about}\n\n| setting | type | default |\n|---|---|---|\n{rows}"


def _type(kind: Any) -> str:
    text = kind.__name__ if isinstance(kind, type) and not typing.get_args(kind) else str(kind)
    text = re.sub(r"\b(?:\w+\.)+(?=\w)", "", text)
    text = re.sub(r"Optional\[(.*)\]$", r"\1 | None", text)
    return re.sub(r"Literal\[([^\]]*)\]", lambda found: found[1].replace(", ", " | "), text)


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.default is not msgspec.NODEFAULT:
        return _code(json.dumps(field.default))
    if field.default_factory is not msgspec.NODEFAULT:
        return _code(json.dumps(field.default_factory()))
    return "required"


def _misses(verifier: Verifier, *, unread: bool) -> str:
    names = [f"- `{miss}`\n" for miss in verifier.misses]
    if unread:
        names.insert(0, f"- `{NO_ANSWER}`: nothing could be read, with the reason\n")
    if verifier.misses_from is not None:
        names.append("- those that the settings name, and those of the verifiers inside\n")
    return "\n## Misses\n\n" + "".join(names)


def _common_settings(rows: list[Row]) -> dict[str, Any]:
    """The settings of most rows, where every row has some."""
    if not all(row.config for row in rows):
        return {}
    text, n = Counter(as_text(row.config) for row in rows).most_common(1)[0]
    found: dict[str, Any] = json.loads(text)
    return found if 2 * n > len(rows) else {}


def _examples(title: str, judged: list[tuple[Row, Outcome]], common: dict[str, Any]) -> list[str]:
    """A table of the rows that fit in one."""
    shown = [(row, outcome) for row, outcome in judged if len(_given(row)) + len(as_text(row.target)) <= SHOWN_CHARS]
    if not shown:
        return []
    if shown[0][0].evidence is not None:
        columns = ["evidence", "target and settings", "verdict", "why"]
    else:
        columns = ["answer", "target", {"pass": "read as", "fail": "miss", "void": "note"}[shown[0][0].must], "why"]
    lines = [f"\n## {title}\n\n", _table_row(columns), _table_row(["---"] * len(columns))]
    for row, outcome in shown:
        cells = [_code(_given(row)), _target(row, common), _result(row, outcome), _cell(row.why)]
        lines.append(_table_row(cells))
    return lines


def _table_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _given(row: Row) -> str:
    if row.evidence is not None:
        return as_text(row.evidence)
    native = "".join(f"{call.name}({call.arguments})" for call in row.calls)
    return row.text if not native else f"{row.text}[native call: {native}]"


def _target(row: Row, common: dict[str, Any]) -> str:
    parts = [_code(as_text(row.target))] if row.target != "" else []
    if row.config and row.config != common:
        parts.append(f"with {_code(as_text(row.config))}")
    return " ".join(parts)


def _result(row: Row, outcome: Outcome) -> str:
    if row.must == "fail":
        return _cell(", ".join(f"`{name}`" for name in dict.fromkeys(miss.name for miss in outcome.verdict.misses)))
    if row.must == "void":
        return _cell(outcome.verdict.note)
    if not isinstance(outcome.found, Reading):
        return "passes"
    value = as_text(outcome.found.value)
    return f"{_code(value)}, {outcome.found.rule}" if value != row.text and len(value) <= 40 else outcome.found.rule


def _measured(name: str, rows: list[Row]) -> Iterable[str]:
    counts = Counter("known" if row.known else row.must for row in rows)
    said = {
        "pass": "must pass",
        "fail": "must fail",
        "void": "must be void",
        "not-crash": "are hostile and must only not crash the verifier",
        "known": "show a fault that is known and not mended yet",
    }
    listed = "; ".join(f"{counts[must]} {text}" for must, text in said.items() if counts[must])
    yield f"\n## Measured\n\n`steelyard verifiers {name} --prove` judges {len(rows)} rows: {listed}.\n"
    kind = KINDS.get(name, "")
    found = json.loads(MEASURED.read_text(encoding="utf-8")).get(kind) if MEASURED.exists() else None
    if not found:
        return
    yield f"\nOn the grader cases of kind `{kind}`, inputs that graders in public use get wrong:\n\n"
    yield "| grader | n | false negatives | false positives |\n|---|---|---|---|\n"
    for grader, figures in {f"Steelyard `{name}`": found, **found.get("peers", {})}.items():
        cells = [str(figures.get(key, "")) for key in ("n", "false_negatives", "false_positives")]
        yield _table_row([grader, *cells])


def _code(text: str) -> str:
    """Text in a code span that a table cell can hold; what cannot be seen is spelled out."""
    if not text:
        return "(empty)"
    seen = "".join(_visible(character) for character in text).replace("|", "\\|")
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", seen)), default=0))
    pad = " " if len(ticks) > 1 or seen.startswith(" ") else ""
    return f"{ticks}{pad}{seen}{pad}{ticks}"


def _visible(character: str) -> str:
    if character == "\n":
        return "⏎"
    hidden = character != " " and unicodedata.category(character) in ("Cc", "Cf", "Zs", "Zl", "Zp", "Mn")
    return f"\\u{ord(character):04x}" if hidden else character


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def main(arguments: list[str]) -> int:
    """Write the pages, or with --check say which are out of date; pages of verifiers that are gone are removed."""
    made = pages()
    stale = [path for path, text in made.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    gone = [path for path in FOLDER.glob("*.md") if path not in made]
    if "--check" not in arguments:
        FOLDER.mkdir(exist_ok=True)
        for path in stale:
            path.write_text(made[path], encoding="utf-8")
        for path in gone:
            path.unlink()
    print(
        f"{len(made)} pages of verifiers, {len(stale) + len(gone)} {'stale' if '--check' in arguments else 'written'}"
    )
    return 1 if (stale or gone) and "--check" in arguments else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
