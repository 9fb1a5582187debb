"""What a workspace must hold at the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from steelyard.attempt import Attempt, Change, Diff
from steelyard.errors import InputError
from steelyard.item import Edit, Item
from steelyard.judging import judge
from steelyard.kit import ProbeKit
from steelyard.store import Store, inline
from steelyard.verdict import Evidence, Miss, Verdict
from steelyard.verifiers.files import matches_any
from steelyard.verifiers.registry import bind

BASE = {
    "data/customers.csv": "name,city\nAda,London\nBob,Oslo\nBob,Oslo\n",
    "config/settings.ini": "port = 80\n",
    "tests/test_shop.py": "import shop\n",
    "old.txt": "x\n",
}


def _item(checks: list[dict[str, Any]], **config: Any) -> Item:
    files = {path: inline(text) for path, text in BASE.items()}
    return Item(id="a", input="Q", verifier={"name": "files", "checks": checks, **config}, files=files)


def _judge(
    item: Item, changes: dict[str, str | bytes | None], folder: Path, refused: dict[str, str] | None = None
) -> Verdict:
    store = Store(folder)
    found = {
        path: Change("deleted") if data is None else Change("modified" if path in BASE else "added", store.put(data))
        for path, data in changes.items()
    }
    attempt = Attempt(workspace=Diff(found, refused or {}))
    return judge(item, bind(item), attempt, kit=ProbeKit(store, None)).verdict


ADD_EVE = _item(
    [
        {
            "path": "data/customers.csv",
            "pattern": "^Eve,Paris$",
            "keep": ["name,city", "Ada,London", "Bob,Oslo", "Bob,Oslo"],
        }
    ]
)


@pytest.mark.parametrize(
    ("text", "misses"),
    [
        ("name,city\nAda,London\nBob,Oslo\nBob,Oslo\nEve,Paris\n", []),
        ("name,city\r\nAda,London\r\nBob,Oslo\r\nBob,Oslo\r\nEve,Paris\n", []),
        ("Eve,Paris\nBob,Oslo\nAda,London\nBob,Oslo\nname,city", []),
        (BASE["data/customers.csv"], ["pattern-absent"]),
        ("name,city\nEve,Paris\n", ["line-lost", "line-lost"]),
        ("name,city\nAda,London\nBob,Oslo\nEve,Paris\n", ["line-lost"]),
        ("name,city\nAda,Londonderry\nBob,Oslo\nBob,Oslo\nEve,Paris\n", ["line-lost"]),
        ("name,city\nAda,London\u2028x\nBob,Oslo\nBob,Oslo\nEve,Paris\n", ["line-lost"]),
        (b"\xff\xfe", ["file-unreadable"]),
        ("x" * 300_000, ["file-unreadable"]),
        (None, ["file-missing"]),
    ],
)
def test_the_new_line_must_be_there_and_the_old_lines_must_survive(
    text: str | bytes | None, misses: list[str], tmp_path: Path
) -> None:
    """Kept lines are whole lines and are counted; unreadable is a failure with its reason. [O-2, O-21]"""
    verdict = _judge(ADD_EVE, {"data/customers.csv": text}, tmp_path)
    assert misses == [miss.name for miss in verdict.misses]
    assert verdict.passed is (not misses)


def test_the_untouched_workspace_fails(tmp_path: Path) -> None:
    """Nothing done is not a pass, with no workspace at all as well. [O-7]"""
    assert ["pattern-absent"] == [miss.name for miss in _judge(ADD_EVE, {}, tmp_path).misses]
    judged = judge(ADD_EVE, bind(ADD_EVE), Attempt(), kit=ProbeKit(Store(tmp_path), None))
    assert judged.verdict.passed is False


@pytest.mark.parametrize(
    ("check", "changes", "misses"),
    [
        ({"path": "old.txt", "exists": False}, {"old.txt": None}, []),
        ({"path": "old.txt", "exists": False}, {}, [Miss("file-present", "old.txt")]),
        ({"path": "new.txt"}, {"new.txt": b"\xff"}, []),
        ({"path": "new.txt"}, {}, [Miss("file-missing", "new.txt")]),
        ({"path": "old.txt", "equals": "y\n"}, {"old.txt": "y\n"}, []),
        (
            {"path": "old.txt", "equals": "y\n"},
            {"old.txt": "y"},
            [Miss("text-differs", "old.txt: not the expected text")],
        ),
        ({"path": "old.txt", "absent": ["x"]}, {"old.txt": "xx\n"}, []),
        ({"path": "old.txt", "absent": ["x"]}, {}, [Miss("line-present", "old.txt: x")]),
    ],
)
def test_each_kind_of_check_has_its_miss(
    check: dict[str, Any], changes: dict[str, str | bytes | None], misses: list[Miss], tmp_path: Path
) -> None:
    """Existence, whole text and forbidden lines. [O-6]"""
    assert misses == _judge(_item([check]), changes, tmp_path).misses


ROWS = [["name", "city"], ["Ada", "London"], ["Bob", "Oslo"], ["Bob", "Oslo"]]
OPTIONS = {"server": {"port": "80", "host": "::1"}, "log": {}}
CONSTANTS = {"STOCK": {"desk": 3, "rug": 0}, "LOW": 5, "NAMES": ["a", True]}
PLAIN = "STOCK = {'desk': 3, 'rug': 0}\nLOW = 5\nNAMES = ['a', True]\n"


@pytest.mark.parametrize(
    ("kind", "data", "text", "misses"),
    [
        ("csv", ROWS, "name,city\nAda,London\nBob,Oslo\nBob,Oslo\n", []),
        ("csv", ROWS, '"name","city"\r\nBob,Oslo\r\n\r\n"Bob",Oslo\r\nAda,"London"', []),
        ("csv", ROWS, "Ada,London\nname,city\nBob,Oslo\nBob,Oslo\n", ["data-differs"]),
        ("csv", ROWS, "name,city\nAda,London\nBob,Oslo\n", ["data-differs"]),
        ("csv", ROWS, "name,city\nAda,London\nBob,Oslo\nBob,Oslo\nBob,Oslo\n", ["data-differs"]),
        ("csv", ROWS, "name,city\nAda, London\nBob,Oslo\nBob,Oslo\n", ["data-differs"]),
        ("csv", ROWS, "", ["data-differs"]),
        ("csv", ROWS, 'name,"city\n', ["not-parsed"]),
        ("ini", OPTIONS, "[server]\nport = 80\nhost = ::1\n[log]\n", []),
        ("ini", OPTIONS, "; new\n[log]\n\n[server]\nHost: ::1\nport=80", []),
        ("ini", OPTIONS, "[server]\nport = 80\n[log]\nhost = ::1\n", ["data-differs"]),
        ("ini", OPTIONS, "[DEFAULT]\nport = 80\n[server]\nhost = ::1\n[log]\n", ["data-differs"]),
        ("ini", OPTIONS, "[server]\nport = 80\nhost = ::1\n", ["data-differs"]),
        ("ini", OPTIONS, "[server]\nport = 80\nhost = ::1\nPORT = 80\n[log]\n", ["not-parsed"]),
        ("ini", OPTIONS, "port = 80\n", ["not-parsed"]),
        ("python", CONSTANTS, PLAIN, []),
        ("python", CONSTANTS, '"""Doc."""\nimport os\n\n\ndef f():\n    pass\n\n\n' + PLAIN, []),
        (
            "python",
            CONSTANTS,
            'LOW: int = 5\nNAMES = ["a", True]\nSTOCK = {}\nSTOCK["rug"] = 0\nSTOCK |= {"desk": 3}\n',
            [],
        ),
        ("python", CONSTANTS, PLAIN.replace("'desk': 3, ", "") + "STOCK.update({'rug': 0}, desk=3)\n", []),
        ("python", CONSTANTS, PLAIN + "STOCK = {**STOCK, 'rug': 0} | dict(desk=3)\n", []),
        ("python", CONSTANTS, PLAIN + "STOCK['rug'] = 1\n", ["data-differs"]),
        ("python", CONSTANTS, PLAIN + "NAMES = ['a', 1]\n", ["data-differs"]),
        ("python", CONSTANTS, PLAIN + "LOW = 5.0\n", ["data-differs"]),
        ("python", CONSTANTS, PLAIN + "HIGH = 5\n", ["data-differs"]),
        ("python", CONSTANTS, PLAIN + "HIGH = STOCK\nHIGH['rug'] = 1\n", ["data-differs"]),
        ("python", CONSTANTS, PLAIN + "STOCK['self'] = STOCK\nLOW = STOCK\n", ["data-differs"]),
        ("python", CONSTANTS, PLAIN + "LOW = 0x" + "f" * 6000, ["not-parsed"]),
        ("python", CONSTANTS, PLAIN + "del LOW\n", ["not-parsed"]),
        ("python", CONSTANTS, PLAIN + "if LOW:\n    LOW = 6\n", ["not-parsed"]),
        ("python", CONSTANTS, PLAIN + "globals()['LOW'] = 6\n", ["not-parsed"]),
        ("python", CONSTANTS, PLAIN + "def LOW():\n    pass\n", ["not-parsed"]),
        ("python", CONSTANTS, "from os import LOW\n" + PLAIN, ["not-parsed"]),
        ("python", CONSTANTS, PLAIN + "from os import *\n", ["not-parsed"]),
        ("python", CONSTANTS, PLAIN + "LOW = f()\n", ["not-parsed"]),
        ("python", CONSTANTS, PLAIN + "STOCK[[]] = 1\n", ["not-parsed"]),
        ("python", CONSTANTS, PLAIN + "LOW = " + "-" * 100_000 + "5\n", ["not-parsed"]),
        ("python", CONSTANTS, "LOW =\n", ["not-parsed"]),
    ],
)
def test_a_file_is_compared_by_what_it_says(kind: str, data: Any, text: str, misses: list[str], tmp_path: Path) -> None:
    """Tables, settings and constants count, whatever quotes, order and spacing; Python is never run. [O-6, O-21]"""
    item = _item([{"path": "old.txt", "format": kind, "data": data}])
    verdict = _judge(item, {"old.txt": text}, tmp_path)
    assert misses == [miss.name for miss in verdict.misses]
    assert verdict == _judge(item, {"old.txt": text}, tmp_path)


def test_the_first_difference_is_named_and_the_others_are_counted(tmp_path: Path) -> None:
    """A miss says what was expected and what was found. [O-6]"""
    table = _item([{"path": "old.txt", "format": "csv", "data": ROWS}])
    text = "name,city\nBob,Oslo\nBob,Oslo\nEve,Paris\n"
    assert [Miss("data-differs", "old.txt: row gone: Ada,London, and 1 more")] == _judge(
        table, {"old.txt": text}, tmp_path
    ).misses
    module = _item([{"path": "old.txt", "format": "python", "data": CONSTANTS}])
    assert [Miss("data-differs", "old.txt: STOCK.rug is 1, not 0")] == _judge(
        module, {"old.txt": PLAIN + "STOCK['rug'] = 1\n"}, tmp_path
    ).misses


def test_a_change_outside_the_allowed_paths_is_unexpected(tmp_path: Path) -> None:
    """Every stray path is named, also one that was deleted or could not be collected."""
    item = _item([{"path": "new.txt"}], allow=["*.txt"])
    assert _judge(item, {"new.txt": "x"}, tmp_path).passed
    verdict = _judge(item, {"new.txt": "x", "src/a.txt": "x"}, tmp_path, refused={"link": "a symbolic link"})
    assert [Miss("unexpected-change", "link, src/a.txt")] == verdict.misses
    gone = _judge(item, {"new.txt": "x", "tests/test_shop.py": None}, tmp_path)
    assert [Miss("unexpected-change", "tests/test_shop.py")] == gone.misses


def test_a_checked_file_that_became_a_link_is_missing_and_says_why(tmp_path: Path) -> None:
    """What the collector refused is no file."""
    verdict = _judge(_item([{"path": "old.txt"}]), {}, tmp_path, refused={"old.txt": "a symbolic link"})
    assert [Miss("file-missing", "old.txt: a symbolic link")] == verdict.misses


def test_tampering_fails_or_is_put_back_as_the_item_says(tmp_path: Path) -> None:
    """`fail` names the miss, `restore` judges the original and warns. [O-4, F-17]"""
    check = {"path": "tests/test_shop.py", "pattern": "import shop"}
    changes: dict[str, str | bytes | None] = {"tests/test_shop.py": "pass\n"}
    strict = _item([check], protect=["tests/**"])
    assert Miss("tests-edited", "tests/test_shop.py") in _judge(strict, changes, tmp_path).misses
    lenient = _item([check], protect=["tests/**"], on_tamper="restore")
    verdict = _judge(lenient, changes, tmp_path)
    assert verdict.passed
    assert ["restored: tests/test_shop.py"] == verdict.warnings


def test_planted_edits_belong_to_the_base(tmp_path: Path) -> None:
    """The base that checks see is the one that the model met. [O-3]"""
    item = msgspec.structs.replace(
        _item([{"path": "config/settings.ini", "pattern": "port = 8042"}]),
        edits=[Edit("config/settings.ini", "80", "8042")],
    )
    assert _judge(item, {}, tmp_path).passed


def test_evidence_is_enough_to_decide_again(tmp_path: Path) -> None:
    """Stored evidence is plain JSON and needs no store."""
    bound = bind(ADD_EVE)
    assert bound.verifier.probe is not None
    evidence = bound.verifier.probe(ADD_EVE, Attempt(), ProbeKit(Store(tmp_path), None), bound.config)
    again = msgspec.json.decode(msgspec.json.encode(evidence), type=Evidence)
    assert bound.decide(evidence) == bound.decide(again)


@pytest.mark.parametrize(
    ("checks", "config", "said"),
    [
        ([], {}, "at least one check"),
        ([{"path": "/etc/passwd"}], {}, "relative"),
        ([{"path": "a/../b"}], {}, "relative"),
        ([{"path": "a", "pattern": "("}], {}, "does not compile"),
        ([{"path": "a", "pattern": "x" * 2000}], {}, "2000 characters"),
        ([{"path": "a", "exists": False, "keep": ["x"]}], {}, "no content to check"),
        ([{"path": "a", "keep": ["x\ny"]}], {}, "single lines"),
        ([{"path": "a", "format": "csv"}], {}, "together"),
        ([{"path": "a", "data": {}}], {}, "together"),
        ([{"path": "a", "format": "csv", "data": [["a", 1]]}], {}, "does not fit the format csv"),
        ([{"path": "a", "format": "ini", "data": {"a": "b"}}], {}, "does not fit the format ini"),
        ([{"path": "a", "format": "python", "data": {}}], {}, "data is empty"),
        ([{"path": "a", "exists": False, "format": "ini", "data": {"a": {}}}], {}, "no content to check"),
        ([{"path": "a"}], {"allow": ["/x"]}, "relative"),
        ([{"path": "a", "patern": "x"}], {}, "patern"),
    ],
)
def test_a_config_that_cannot_work_is_refused_when_it_is_loaded(
    checks: list[dict[str, Any]], config: dict[str, Any], said: str
) -> None:
    """Paths, patterns and lines are checked at load. [O-6]"""
    with pytest.raises(InputError, match=said):
        bind(_item(checks, **config))


@pytest.mark.parametrize(
    ("path", "glob", "matches"),
    [
        ("tests/test_a.py", "tests/**", True),
        ("tests/a/b.py", "tests/**", True),
        ("xtests/a.py", "tests/**", False),
        ("conftest.py", "**/conftest.py", True),
        ("a/b/conftest.py", "**/conftest.py", True),
        ("myconftest.py", "**/conftest.py", False),
        ("a/b.py", "*.py", False),
        ("a.py", "?.py", True),
        ("a.py", "a[.]py", False),
        ("a\n.py", "*.py", True),
    ],
)
def test_a_star_stays_in_its_folder_and_two_span_folders(path: str, glob: str, matches: bool) -> None:
    """Globs match whole paths; other characters mean themselves."""
    assert matches is matches_any(path, [glob])


@pytest.mark.parametrize(("extra", "misses"), [(0, ["text-differs"]), (1, ["file-unreadable"])])
def test_a_file_is_read_up_to_the_limit_inclusive(extra: int, misses: list[str], tmp_path: Path) -> None:
    """256 KiB are text, one byte more is not read."""
    text = "x" * (256 * 1024 + extra)
    verdict = _judge(_item([{"path": "old.txt", "equals": "y"}]), {"old.txt": text}, tmp_path)
    assert misses == [miss.name for miss in verdict.misses]


@pytest.mark.parametrize(("n", "shown"), [(120, "x" * 120), (121, "x" * 120 + "...")])
def test_a_long_line_is_cut_in_the_detail(n: int, shown: str, tmp_path: Path) -> None:
    """A hundred and twenty characters are shown whole."""
    verdict = _judge(_item([{"path": "old.txt", "absent": ["x" * n]}]), {"old.txt": "x" * n}, tmp_path)
    assert [Miss("line-present", f"old.txt: {shown}")] == verdict.misses


def test_everything_that_was_put_back_is_named(tmp_path: Path) -> None:
    """The warning lists the paths in order. [O-4]"""
    item = _item([{"path": "old.txt"}], protect=["tests/**"], on_tamper="restore")
    changes: dict[str, str | bytes | None] = {"tests/test_shop.py": "pass\n", "tests/a.py": "x"}
    verdict = _judge(item, changes, tmp_path)
    assert (True, ["restored: tests/a.py, tests/test_shop.py"]) == (verdict.passed, verdict.warnings)
