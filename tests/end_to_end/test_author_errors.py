"""What an author's file does wrong is one line and exit 2, and the commands say what to do next."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from steelyard.cli.dispatch import dispatch

Cli = Callable[..., "CompletedProcess[str]"]
ITEM = 'Item(id=f"i-{seed}", input=f"{seed} {hours}?", target="1", verifier={"name": "number"})'
FAMILY = """import sys
from steelyard import Family, Item
def make(seed, hours=1):
    BODY
family = Family(name="mine", make=make)
"""


def _family(path: Path, body: str = f"yield {ITEM}") -> Path:
    path.write_text(FAMILY.replace("BODY", body), encoding="utf-8")
    return path


@pytest.mark.parametrize("command", [("make", "./mine.py", "--out", "s"), ("prove", "./mine.py")])
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise KeyError('x')", "family \"mine\": make: KeyError: 'x' (mine.py:4)"),
        ("return None", 'family "mine": make must give items, got NoneType'),
        ("yield {'id': 'a'}", 'family "mine": make must yield an Item, got dict'),
        ("yield " + ITEM.replace('"1"', "1"), "Expected `str`, got `int` - at `$.target`"),
        ("yield sys.exit(0)", 'family "mine": make: SystemExit: 0 (mine.py:4)'),
        ("yield Item(id='a')", "TypeError: Missing required argument 'input' (mine.py:4)"),
        ("yield (", "mine.py cannot be loaded: SyntaxError: '(' was never closed (mine.py:4)"),
    ],
)
def test_a_family_that_makes_nothing_good_is_one_line(
    cli: Cli, tmp_path: Path, command: tuple[str, ...], body: str, words: str
) -> None:
    """Exit 2 with family, fault and place; never a traceback, never 0."""
    _family(tmp_path / "mine.py", body)
    (line,) = cli(*command, code=2).stderr.splitlines()
    assert words in line


@pytest.mark.parametrize("first", ["import no_such_package", "import sys; sys.exit(0)", "1 / 0", "x = ("])
def test_a_file_that_cannot_be_imported_is_one_line(cli: Cli, tmp_path: Path, first: str) -> None:
    """Also for --family, and for code that leaves with 0."""
    (tmp_path / "mine.py").write_text(first + "\n")
    cli("make", "orbital-compare", "--n", 1, "--out", "s")
    for command in (["make", "./mine.py", "--out", "x"], ["prove", "s", "--family", "./mine.py"]):
        (line,) = cli(*command, code=2).stderr.splitlines()
        assert "mine.py cannot be loaded: " in line
        assert line.endswith("(mine.py:1)")


def test_a_fault_of_our_own_is_one_line_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    """Exit 2 asks for a report; --debug adds the traceback."""

    def broken(arguments: object) -> int:
        raise ZeroDivisionError("two\nlines")

    monkeypatch.setattr("steelyard.cli.families.run", broken)
    assert 2 == dispatch(["families"], {"families": ""})
    said = "steelyard: internal error: ZeroDivisionError: two lines; --debug shows where, please report it\n"
    assert said == capsys.readouterr().err
    assert 2 == dispatch(["families", "--debug"], {"families": ""})
    assert "Traceback" in capsys.readouterr().err


def test_make_says_when_a_family_has_no_more_and_how_to_prove_a_local_one(cli: Cli, tmp_path: Path) -> None:
    """Repeats end; each order has its line; the next step names the files."""
    _family(tmp_path / "mine.py", f"while True: yield {ITEM}")
    said = cli("make", "./mine.py", "orbital-compare", "orbital-compare", "--n", 2, "--out", "s").stdout.splitlines()
    assert [
        "mine: 1 items (all there are; 2 were asked); 1000 repeated questions left out",
        "orbital-compare: 2 items",
        "orbital-compare: 2 items; 2 repeated questions left out",
    ] == said[:3]
    assert "next: steelyard prove s --family ./mine.py" == said[-1]


def test_a_setting_names_a_family_by_reference_or_by_its_own_name(cli: Cli, tmp_path: Path) -> None:
    """`./mine.py.hours=3` and `mine.hours=3` mean the same."""
    _family(tmp_path / "mine.py")
    for out, named in (("a", "./mine.py"), ("b", "mine")):
        cli("make", "./mine.py", "--set", f"{named}.hours=3", "--out", out)
        assert "0 3?" == json.loads((tmp_path / out / "dev.jsonl").read_text())["input"]
    assert (
        'names family "min"; did you mean "mine"?'
        in cli("make", "./mine.py", "--set", "min.hours=3", "--out", "c", code=2).stderr
    )
    wrong = cli("make", "./mine.py", "--set", "mine.hour=3", "--out", "c", code=2).stderr
    assert "family \"mine\" does not take these options: got an unexpected keyword argument 'hour'" in wrong


@pytest.mark.parametrize("name", ["class", "None", "random", "re", "steelyard", "pytest"])
def test_new_refuses_a_name_that_python_would_misunderstand(cli: Cli, tmp_path: Path, name: str) -> None:
    """Keywords, and modules that the file would hide."""
    assert "choose another name" in cli("new", name, code=2).stderr
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["solve", "make", "Item", "family", "my-crates"])
def test_new_writes_a_family_that_proves_under_any_other_name(cli: Cli, tmp_path: Path, name: str) -> None:
    """Names that the template uses do no harm, and the family is found by its own name."""
    cli("new", name)
    file = name.replace("-", "_")
    assert "2 proven of 2 items" in cli("prove", f"./{file}.py:{name}", "--n", 2).stdout
