"""Files that a user names: references, families and verifiers in them, and what they do wrong said in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from steelyard.errors import InputError, RefusedError
from steelyard.plugins import author_code, find_family, find_verifier, is_file_reference, load_file, split_reference

FAMILY = "from steelyard import Family\n{name} = Family(name={text!r}, make=lambda seed: iter(()))\n"


def _file(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("reference", "path", "name"),
    [
        ("wrong.py", "wrong.py", ""),
        ("./my.python/x/wrong.py", "./my.python/x/wrong.py", ""),
        ("./my.python/x/wrong.py:crates", "./my.python/x/wrong.py", "crates"),
        ("a.py/b.py:my-crates", "a.py/b.py", "my-crates"),
        ("a.pyx", "", ""),
        ("my.python/suite", "", ""),
        ("a.py/suite", "", ""),
        ("orbital-compare", "", ""),
    ],
)
def test_a_file_reference_ends_in_py_or_in_py_and_a_name(reference: str, path: str, name: str) -> None:
    """`.py` elsewhere in a path says nothing."""
    assert ((path, name), bool(path)) == (split_reference(reference), is_file_reference(reference))


@pytest.mark.parametrize("name", ["", ":family", ":my-crates"])
def test_a_family_is_found_by_its_variable_and_by_its_own_name(tmp_path: Path, name: str) -> None:
    """In a folder whose name has `.py` too."""
    path = _file(tmp_path / "my.python" / "crates.py", FAMILY.format(name="family", text="my-crates"))
    assert "my-crates" == find_family(f"{path}{name}").name


def test_a_file_without_its_family_says_what_it_has(tmp_path: Path) -> None:
    """None, several, and the nearest name."""
    none = _file(tmp_path / "none.py", "x = 1\n")
    two = _file(tmp_path / "two.py", FAMILY.format(name="one", text="uno") + FAMILY.format(name="two", text="dos"))
    with pytest.raises(InputError, match="defines no family; it needs one"):
        find_family(str(none))
    with pytest.raises(InputError, match=r"defines 2 families \(one, two\); name one: .*two.py:NAME"):
        find_family(str(two))
    with pytest.raises(InputError, match=r'defines no family "unno"; did you mean "uno"\?'):
        find_family(f"{two}:unno")


def test_a_verifier_is_seen_from_the_folder_that_is_given(tmp_path: Path) -> None:
    """A relative path is not looked up in the current folder."""
    _file(tmp_path / "vv.py", "from steelyard.verifiers.registry import find\nv = find('exact')\n")
    verifier, source = find_verifier("vv.py:v", tmp_path)
    assert ("exact", tmp_path / "vv.py") == (verifier.name, source)
    with pytest.raises(InputError, match=r'vv.py defines no verifier "w"'):
        find_verifier("vv.py:w", tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1\nraise ValueError('two\\nlines')\n", "ValueError: two lines (bad.py:2)"),
        ("assert False\n", "AssertionError (bad.py:1)"),
        ("x = (\n", "SyntaxError: '(' was never closed (bad.py:1)"),
        ("\nimport no_such_package\n", "ModuleNotFoundError: No module named 'no_such_package' (bad.py:2)"),
        ("import sys\nsys.exit(0)\n", "SystemExit: 0 (bad.py:2)"),
        ("import json\njson.loads('{')\n", "(bad.py:2)"),
        ("def f():\n    return f()\nf()\n", "RecursionError: maximum recursion depth exceeded (bad.py:2)"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_one_line_with_its_place(tmp_path: Path, text: str, words: str) -> None:
    """The innermost frame inside the file, also when the fault came out of a library."""
    path = _file(tmp_path / "bad.py", text)
    with pytest.raises(InputError) as caught:
        load_file(path)
    (line,) = str(caught.value).splitlines()
    assert line.startswith(f"{path} cannot be loaded: ")
    assert line.endswith(words)


def test_our_own_errors_and_the_interrupt_pass_through_author_code() -> None:
    """Only what the author's code did is turned."""
    for error in (RefusedError("as it is"), KeyboardInterrupt()):
        with pytest.raises(type(error)) as caught, author_code("somewhere"):
            raise error
        assert error is caught.value
    with (
        pytest.raises(InputError, match=r"^somewhere: JSONDecodeError: .* \(decoder.py:\d+\)$"),
        author_code("somewhere"),
    ):
        json.loads("{")
