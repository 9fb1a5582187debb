"""Packages of this environment inside a session: what is asked for, with what it requires, and nothing else."""

from __future__ import annotations

import pytest

from steelyard.errors import InputError
from steelyard.ports import Sandbox, SandboxSpec
from steelyard.sandbox.packages import host_paths
from steelyard.store import Store


def test_a_distribution_brings_what_it_requires() -> None:
    """Its requirements come too: sgp4, numpy, jplephem and certifi of skyfield; extras are not taken. [T-38]"""
    found = host_paths(["skyfield"])
    assert {"skyfield", "sgp4", "numpy", "jplephem", "certifi"} <= set(found)
    assert "pandas" not in found
    assert all(path.exists() for path in found.values())


def test_a_package_that_is_not_installed_is_named() -> None:
    """The next step is in the message. [T-38]"""
    with pytest.raises(InputError, match="pip install no-such-package"):
        host_paths(["no-such-package"])


@pytest.mark.bubblewrap
def test_a_session_imports_what_was_asked_for_and_nothing_else(bubblewrap: Sandbox, store: Store) -> None:
    """The model's Python gets sgp4 and numpy; the environment's other packages stay hidden. [T-38]"""
    session = bubblewrap.open(SandboxSpec(packages=("sgp4", "numpy")), store)
    try:
        code = b"import sgp4, numpy\nprint(numpy.arange(3).sum(), sgp4.__file__)\nimport msgspec\n"
        seen = session.run(["python3", "-"], stdin=code)
    finally:
        session.close()
    assert seen.output.startswith(b"3 /packages/sgp4/")
    assert b"No module named 'msgspec'" in seen.output


@pytest.mark.bubblewrap
def test_packages_cannot_be_changed(bubblewrap: Sandbox, store: Store) -> None:
    """They are shown read-only. [T-38]"""
    session = bubblewrap.open(SandboxSpec(packages=("sgp4",)), store)
    try:
        seen = session.run(["/bin/sh", "-c", "echo x > /packages/sgp4/own.py; ls /packages"])
    finally:
        session.close()
    assert b"Read-only file system" in seen.output
    assert "own.py" not in {path.name for path in host_paths(["sgp4"])["sgp4"].iterdir()}
