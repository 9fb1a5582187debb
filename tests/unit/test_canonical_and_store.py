"""Canonical JSON, hashes, references and the content-addressed store."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.canonical import canonical, digest
from steelyard.errors import FormatError, InputError
from steelyard.store import Store, inline, reference_digest, stored_reference, write_atomic

_LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()


def test_canonical_json_sorts_keys_and_keeps_text_unescaped() -> None:
    """One value has one canonical form."""
    assert b'{"a":[1,1.5,null],"b":"\xc3\xa9"}' == canonical({"b": "é", "a": [1, 1.5, None]})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"x": "\ud800"}, object()])
def test_what_has_no_canonical_form_is_refused(value: object) -> None:
    """NaN, infinity, lone surrogates and objects have no hash."""
    with pytest.raises(InputError, match="no canonical JSON"):
        canonical(value)


@given(st.recursive(_LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12))
def test_the_fast_way_and_the_slow_way_write_the_same_bytes(value: object) -> None:
    """Whatever a value holds, its canonical JSON is what Python's own encoder writes of it."""
    slow = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert slow == canonical(value)


def test_an_int_and_a_float_have_different_digests() -> None:
    """1 and 1.0 are different canonical values."""
    assert digest(1) != digest(1.0)


def test_all_three_forms_of_a_reference_stand_for_the_same_content(tmp_path: Path) -> None:
    """A data URI, a hash and a stored path name the same bytes."""
    sha256 = hashlib.sha256(b"port = 8042\n").hexdigest()
    store = Store(tmp_path)
    store.put("port = 8042\n")
    forms = [inline("port = 8042\n"), sha256, stored_reference(sha256)]
    assert [(sha256, b"port = 8042\n")] * 3 == [(reference_digest(f), store.get(f)) for f in forms]


@pytest.mark.parametrize(
    "reference", ["", "abc", "../../etc/passwd", "files/ab/zz", "data:text/plain,hi", "data:;base64,$"]
)
def test_what_is_no_reference_is_refused(reference: str) -> None:
    """Only the three forms are references; a path out of the store is none."""
    with pytest.raises(InputError):
        reference_digest(reference)


def test_content_that_does_not_match_its_name_is_refused(tmp_path: Path) -> None:
    """A changed file is told, not used."""
    store = Store(tmp_path)
    sha256 = store.put(b"right")
    (tmp_path / sha256[:2] / sha256).write_bytes(b"wrong")
    with pytest.raises(FormatError, match="does not match its sha256"):
        store.get(sha256)


def test_a_store_reads_from_others_and_writes_to_its_own_root(tmp_path: Path) -> None:
    """A run's store sees the suite's files and adds to its own."""
    sha256 = Store(tmp_path / "suite").put(b"base")
    both = Store(tmp_path / "run", others=[tmp_path / "suite"])
    assert b"base" == both.get(sha256)
    both.put(b"base")
    both.put(b"mine")
    assert 1 == len([p for p in (tmp_path / "run").rglob("*") if p.is_file()])


def test_a_failed_atomic_write_leaves_the_old_file_and_no_litter(tmp_path: Path) -> None:
    """Whole or nothing."""
    target = tmp_path / "x.json"
    write_atomic(target, "old")
    with pytest.raises(TypeError):
        write_atomic(target, 3)  # type: ignore[arg-type]
    assert (["x.json"], "old") == ([p.name for p in tmp_path.iterdir()], target.read_text())
