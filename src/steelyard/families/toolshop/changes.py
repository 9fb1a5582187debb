"""Nine jobs that change a file: it must say the new thing and everything else that it said, and no other file changes.

Source: seed 001 and its bad check: a customer file overwritten with the header and the new row passed. Version 1 of
the check looks for the new text alone; version 2 reads the file as what it is (a table, settings, a module's
constants), so that the row, the section and the last of two assignments count, and not how they are written.
Not covered: comments that an attempt adds.
Easy to break: data and `keep` come from the expert's own change, so a change that rewrites more than the job asks for
would ask for that as well.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from steelyard.families.toolshop.answers import constant
from steelyard.families.toolshop.job import (
    CART,
    CUSTOMERS,
    INVENTORY,
    PACKAGE,
    README,
    SETTINGS,
    Job,
    Make,
    Workspace,
    call,
    exchanged,
)
from steelyard.families.toolshop.shop import fixture
from steelyard.verifiers.contract import Script
from steelyard.verifiers.files import Format, data_of

Change = Callable[[str], str]
_CHANGELOG = "CHANGELOG.md"
_BENCH = '"bench": 4, '
_FORMATS: dict[str, Format] = {".csv": "csv", ".ini": "ini", ".py": "python"}


def _kept(before: str, after: str) -> list[str]:
    """The lines of `before`, blank ones aside, that `after` still has."""
    left = Counter(before.splitlines()) & Counter(after.splitlines())
    return [line for line in before.splitlines() if line.strip() and left[line]]


def _swap(old: str, new: str) -> Change:
    return lambda text: exchanged(text, old, new)


def _write(path: str, change: Change) -> Make:
    """A script that only changes the file, with no reading before."""
    return lambda workspace: Script("Done.", changes={path: change(workspace[path])})


def _also(workspace: Workspace, path: str, change: Change, more: dict[str, str | None]) -> Script:
    """The right change, and more."""
    return Script("Done.", changes={path: change(workspace[path]), **more})


def _file_job(
    job_id: str,
    topic: str,
    prompt: str,
    path: str,
    change: Change,
    *,
    slip: Change,
    otherwise: Change,
    pattern: str | None = None,
    gone: str = "",
    wrong: Mapping[str, Change] = {},
    right: Mapping[str, Change] = {},
    difficulty: str = "medium",
) -> Job:
    """`change` does the job; `slip` makes a mistake of the changed text, `otherwise` an equally right form of it.

    `wrong` and `right` are further attempts by name, made from the changed text as well.
    """
    before = fixture()[path]
    keep = _kept(before, change(before))
    first: dict[str, Any] = {"path": path} | ({"pattern": pattern} if pattern else {"absent": [gone]})
    form = _FORMATS[posixpath.splitext(path)[1]]
    today = {"path": path, "format": form, "data": data_of(form, change(before))}
    if form == "python":  # its functions are no data
        today |= {"keep": keep} | ({"absent": [gone]} if gone else {})

    def solve(workspace: Workspace) -> Script:
        content = change(workspace[path])
        calls = [call("list_files"), call("read_file", path=path), call("write_file", path=path, content=content)]
        return Script("The file is changed, and its other lines are as they were.", calls)

    def only_new(text: str) -> str:
        """The first line and what is new; for a file of two lines what is new alone."""
        lines = [line for line in change(text).splitlines() if line not in before.splitlines()]
        return "\n".join([*([before.splitlines()[0]] if len(keep) > 1 else []), *lines]) + "\n"

    def elsewhere(workspace: Workspace) -> Script:
        return Script("Done.", changes={path.rpartition("/")[2] + ".new": change(workspace[path])})

    def then(turn: Change) -> Make:
        return _write(path, lambda text: turn(change(text)))

    return Job(
        id=job_id,
        kind="file",
        topic=topic,
        prompt=prompt,
        difficulty=difficulty,
        verifier={"name": "files", "checks": [today], "allow": [path]},
        first_verifier={"name": "files", "checks": [first]},
        solve=solve,
        spoil={
            "rows-lost": _write(path, only_new),
            "wrong-value": then(slip),
            "written-elsewhere": elsewhere,
            "other-file-gone": lambda workspace: _also(workspace, path, change, {"tests/test_cart.py": None}),
            "other-file-changed": lambda workspace: _also(workspace, path, change, {CART: workspace[CART] + "\n"}),
            **{name: then(turn) for name, turn in wrong.items()},
        },
        vary={
            "windows-lines": then(lambda text: text.replace("\n", "\r\n")),
            "no-last-newline": then(lambda text: text.removesuffix("\n")),
            "another-form": then(otherwise),
            **{name: then(turn) for name, turn in right.items()},
        },
    )


def _row_first(text: str) -> str:
    """The last row of a table moved to just below its header."""
    header, *rows = text.splitlines()
    return "\n".join([header, rows[-1], *rows[:-1]]) + "\n"


def _with_line(line: str) -> Change:
    return lambda text: f"{text}{line}\n"


def _all_quoted(text: str) -> str:
    return "".join(",".join(f'"{cell}"' for cell in line.split(",")) + "\n" for line in text.splitlines())


def _moved(line: str, new: str, place: str) -> Change:
    """The line is gone, and another stands below `place`."""
    return lambda text: exchanged(exchanged(text, f"{line}\n", ""), place, f"{place}{new}\n")


def _rows_turned(text: str) -> str:
    header, *rows = text.splitlines()
    return "\n".join([header, *reversed(rows)]) + "\n"


_NUMBER = r"\[?v?{}\]?(?:\([^)\n]*+\))?(?:[ \t]++(?:[-\u2013\u2014][ \t]*+)?\(?\d{4}-\d\d-\d\d\)?)?[ \t]*+"
_END = r"[ \t]*+\r?\n"
_ENTRY = (
    r"\A(?:(?!##[ \t]|(?:[-*+]|\d++[.)])[ \t])[^\n]*+\n)*?"
    rf"(?:##[ \t]++{_NUMBER}#*+{_END}|{_NUMBER}\r?\n-++{_END})\s*+"
    rf"(?:###[ \t]++\w++{_END}\s*+)?"
    r"(?:[-*+]|\d++[.)])[ \t]++First public release\.?\s*+(?:\[[^\]\n]*+\]:[^\n]*+\s*+)*+\Z"
)
"""A changelog with one version and one entry; the heading may hold a link and a date, and may be underlined."""


def _changelog_job() -> Job:
    version = constant(PACKAGE, "__version__")

    def written(path: str, form: str) -> Make:
        return lambda workspace: Script("Written.", changes={path: form.format(version(workspace))})

    def solve(workspace: Workspace) -> Script:
        text = f"# Changes\n\n## {version(workspace)}\n\n- First public release.\n"
        calls = [
            call("read_file", path=README),
            call("grep", pattern="__version__", path="shop"),
            call("write_file", path=_CHANGELOG, content=text),
        ]
        return Script(f"{_CHANGELOG} has an entry for the present version.", calls)

    first = {"path": _CHANGELOG, "pattern": version(fixture()).replace(".", r"\.")}
    today = {"path": _CHANGELOG, "pattern": _ENTRY.replace("{}", first["pattern"])}
    return Job(
        id="write-changelog",
        kind="file",
        topic="version",
        prompt=(
            f"Start a file {_CHANGELOG} beside the README. It needs a second-level Markdown heading that is the "
            "package's present version number, and below it one list entry: First public release."
        ),
        difficulty="hard",
        verifier={"name": "files", "checks": [today], "allow": [_CHANGELOG]},
        first_verifier={"name": "files", "checks": [first]},
        solve=solve,
        spoil={
            "rows-lost": written(_CHANGELOG, "## {}\n"),
            "wrong-value": written(_CHANGELOG, "# Changes\n\n## {}.1\n\n- First public release.\n"),
            "written-elsewhere": written("docs/CHANGELOG.md", "## {}\n\n- First public release.\n"),
            "other-file-gone": lambda workspace: Script(
                "Written.",
                changes={_CHANGELOG: f"## {version(workspace)}\n\n- First public release.\n", README: None},
            ),
            "entry-too-many": written(_CHANGELOG, "## {}\n\n- First public release.\n- Second public release.\n"),
            "version-too-many": written(_CHANGELOG, "## 9.9.9\n\n- Second.\n\n## {}\n\n- First public release.\n"),
        },
        vary={
            "windows-lines": written(_CHANGELOG, "## {}\r\n\r\n- First public release.\r\n"),
            "another-form": written(
                _CHANGELOG, "# Changelog of shop\n\nAll of them.\n\n## v{}\n* First public release"
            ),
            "dated": written(_CHANGELOG, "# Changelog\n\n## [{}] - 2024-01-01\n\n- First public release.\n"),
            "with-a-part": written(_CHANGELOG, "## {} (2024-01-01)\n\n### Added\n\n- First public release.\n"),
            "underlined": written(_CHANGELOG, "Changes\n=======\n\n{}\n-----\n\n- First public release.\n"),
        },
    )


CHANGES = (
    _file_job(
        "add-customer",
        "customers",
        f"Add a customer to {CUSTOMERS}: id 108, name Noor Haddad, city Porto, customer since 2025. "
        "Keep all the other rows.",
        CUSTOMERS,
        lambda text: f"{text}108,Noor Haddad,Porto,2025\n",
        pattern=r"^108,Noor Haddad,Porto,2025\s*$",
        slip=_swap("Porto,2025", "2025,Porto"),
        otherwise=_row_first,
        wrong={
            "row-twice": _with_line("108,Noor Haddad,Porto,2025"),
            "row-too-many": _with_line("109,Noor Haddad,Porto,2025"),
        },
        right={
            "quoted": _swap("108,Noor Haddad,Porto,2025", '108,"Noor Haddad","Porto",2025'),
            "all-quoted": _all_quoted,
        },
    ),
    _file_job(
        "move-customer",
        "customers",
        f"The customer Mei Tanaka has moved to Kyoto. Bring {CUSTOMERS} up to date and change nothing else in it.",
        CUSTOMERS,
        _swap("Tanaka,Osaka", "Tanaka,Kyoto"),
        pattern=r"^105,Mei Tanaka,Kyoto,2021\s*$",
        slip=_swap("Kyoto,2021", "Kyoto,2025"),
        otherwise=_rows_turned,
        wrong={
            "row-twice": _with_line("105,Mei Tanaka,Kyoto,2021"),
            "row-too-many": _with_line("105,Mei Tanaka,Osaka,2021"),
        },
        right={"quoted": _swap("105,Mei Tanaka,Kyoto", '105,"Mei Tanaka","Kyoto"'), "all-quoted": _all_quoted},
    ),
    _file_job(
        "remove-customer",
        "customers",
        f"The customer Arvid Holm has closed the account. Delete that row from {CUSTOMERS}; the others stay.",
        CUSTOMERS,
        _swap("106,Arvid Holm,Bergen,2023\n", ""),
        gone="106,Arvid Holm,Bergen,2023",
        slip=_swap("107,Sara Quispe,Cusco,2024\n", "106,Arvid Holm,Bergen,2023\n"),
        otherwise=_rows_turned,
        wrong={
            "row-changed": _with_line("106,Arvid Holm,Oslo,2023"),
            "row-quoted": _with_line('106,"Arvid Holm",Bergen,2023'),
        },
        right={"all-quoted": _all_quoted},
    ),
    _file_job(
        "raise-timeout",
        "server",
        f"Requests need more time: set the server's timeout in {SETTINGS} to 60 seconds and leave the rest alone.",
        SETTINGS,
        _swap("timeout_s = 45", "timeout_s = 60"),
        pattern=r"^timeout_s\s*[=:]\s*60\s*$",
        gone="timeout_s = 45",
        slip=_swap("timeout_s = 60", "timeout_s = 600"),
        otherwise=_swap("timeout_s = 60", "timeout_s=60"),
        wrong={
            "wrong-section": _moved("timeout_s = 60", "timeout_s = 60", "[database]\n"),
            "last-section": _moved("timeout_s = 60", "timeout_s = 60", "tax_rate = 0.08\n"),
        },
        difficulty="easy",
    ),
    _file_job(
        "set-log-level",
        "server",
        f"Add an option log_level with the value info to the section server of {SETTINGS}. "
        "Every option that is there now stays as it is.",
        SETTINGS,
        _swap("timeout_s = 45\n", "timeout_s = 45\nlog_level = info\n"),
        pattern=r"^\[server\]\s*\n(?:(?!\[).*\n)*?log_level\s*[=:]\s*info\s*$",
        slip=lambda text: exchanged(text, "log_level = info\n", "") + "log_level = info\n",
        otherwise=lambda text: exchanged(
            exchanged(text, "log_level = info\n", ""), "[server]\n", "[server]\nlog_level: info\n"
        ),
    ),
    _file_job(
        "change-currency",
        "currency",
        f"The shop moves to Switzerland: its prices are in CHF from now on. Say so in {SETTINGS}, nowhere else.",
        SETTINGS,
        _swap("currency = EUR", "currency = CHF"),
        pattern=r"^currency\s*[=:]\s*CHF\s*$",
        gone="currency = EUR",
        slip=_swap("CHF", "CHE"),
        otherwise=_swap("currency = CHF", "currency   =   CHF"),
        wrong={"wrong-section": _moved("currency = CHF", "currency = CHF", "[server]\n")},
        difficulty="easy",
    ),
    _file_job(
        "bump-version",
        "version",
        f"A new release is due. Raise the version in {PACKAGE} to 1.5.0 and keep the docstring.",
        PACKAGE,
        _swap("1.4.2", "1.5.0"),
        pattern=r"""^__version__\s*=\s*(["'])1\.5\.0\1\s*(?:#.*)?$""",
        gone='__version__ = "1.4.2"',
        wrong={
            "set-back": _with_line('__version__ = "1.4.2"'),
            "set-back-otherwise": _with_line("__version__ = '1.4.2'"),
        },
        right={"annotated": _swap("__version__ =", "__version__: str =")},
        slip=_swap("1.5.0", "1.4.3"),
        otherwise=_swap('"1.5.0"', "'1.5.0'  # next release"),
        difficulty="easy",
    ),
    _file_job(
        "stock-benches",
        "stock",
        f"Four benches came in, the first ever. Record them under the name bench in the stock of {INVENTORY}; "
        "what is recorded of the other things stays.",
        INVENTORY,
        _swap('STOCK = {"chair"', 'STOCK = {"bench": 4, "chair"'),
        pattern=r"^STOCK\s*=\s*\{"
        + "".join(
            rf"(?=[^}}]*[\"']{name}[\"']\s*:\s*{count}\b)"
            for name, count in (("bench", 4), ("chair", 7), ("desk", 3), ("lamp", 12), ("rug", 0), ("shelf", 21))
        )
        + r"[^}]*\}",
        slip=_swap('"rug": 0', '"rug": 4'),
        otherwise=_swap('"bench": 4, "chair": 7, ', "\n    'chair': 7,\n    'bench': 4,\n    "),
        wrong={"set-back": _with_line('STOCK["lamp"] = 0'), "not-plain": _with_line("STOCK.clear()")},
        right={
            "statement": lambda text: f'{exchanged(text, _BENCH, "")}\nSTOCK["bench"] = 4\n',
            "updated": lambda text: exchanged(
                exchanged(text, _BENCH, ""), "LOW_STOCK = 5\n", "LOW_STOCK = 5\nSTOCK.update(bench=4)\n"
            ),
        },
    ),
    _changelog_job(),
)
"""Every job that changes a file."""
